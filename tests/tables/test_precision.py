from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow
import pytest

from skeval import Context, shared
from skeval.diagnostic import BoundaryAdherence
from skeval.fidelity import KSComplement, TVComplement
from skeval.privacy import ExactMatchShare, IdenticalMatchShare, NewRowShare
from skeval.tables.precision import at_precision, coarsest, rounded_to, stored_precision

SINGLE, HALF = np.dtype("float32"), np.dtype("float16")


def cents(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "price": np.round(rng.gamma(2.0, 50.0, n_rows), 2),
            "gap": rng.integers(0, 20, n_rows) / 10 - 0.2,
            "income": np.round(rng.lognormal(14.0, 1.0, n_rows), 2),  # cents that float32 merges
        }
    )


def as_arrow_single(frame):
    return frame.astype(pd.ArrowDtype(pyarrow.float32()))


STORAGES = {
    "float32": lambda frame: frame.astype("float32"),
    "float16 in part": lambda frame: frame.astype({"gap": "float16", "price": "float32"}),
    "nullable": lambda frame: frame.astype("Float32"),
    "arrow": as_arrow_single,
    "computed in float32, held as float64": lambda frame: frame.astype("float32").astype("float64"),
}


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    "metric",
    [ExactMatchShare(n_permutations=9), IdenticalMatchShare(), KSComplement(), BoundaryAdherence()],
    ids=lambda metric: type(metric).__name__,
)
def test_a_copy_in_coarser_storage_is_a_copy(metric, storage):
    train, holdout = cents(), cents(seed=1)
    copy = STORAGES[storage](train)
    metric.fit(train, holdout)
    assert metric.score(copy) == metric.score(train) == 1.0


@pytest.mark.parametrize("storage", STORAGES)
def test_no_row_of_a_copy_in_coarser_storage_is_new(storage):
    train = cents()
    assert NewRowShare().fit(train).score(STORAGES[storage](train)) == 0.0


def test_real_rows_in_coarser_storage_than_the_synthetic_ones():
    train, holdout = cents(), cents(seed=1)
    metric = ExactMatchShare(n_permutations=9).fit(train.astype("float32"), holdout)
    assert metric.score(train) == 1.0
    result = metric.evaluate(holdout)
    assert result.value == result.baseline


def test_fresh_rows_score_alike_in_both_storages():
    train, fresh = cents(), cents(seed=2)
    metric = KSComplement().fit(train)
    in_float64, in_float32 = (metric.evaluate(t) for t in (fresh, fresh.astype("float32")))
    assert in_float32.details["columns"]["gap"] == in_float64.details["columns"]["gap"]
    assert in_float32.value == pytest.approx(in_float64.value, abs=1e-3)


def test_sums_that_round_to_one_float32_are_one_value():
    train = pd.DataFrame({"x": np.array([0.3 - 0.2])})
    synthetic = pd.DataFrame({"x": np.array([0.2 - 0.1], dtype="float32")})
    assert KSComplement().fit(train).score(synthetic) == 1.0


def test_bounds_of_the_user_are_read_at_the_storage_of_the_column():
    train = pd.DataFrame({"x": [0.0, 0.05, 0.1]})
    metric = BoundaryAdherence(upper={"x": 0.1}).fit(train)
    assert metric.score(train.astype("float32")) == 1.0


@pytest.mark.parametrize("storage", ["float32", "nullable", "arrow"])
def test_categories_of_float32_have_their_own_digits_as_label(storage):
    train = pd.DataFrame({"rate": [0.1, 0.2, 0.7, 1.0] * 5})
    metric = TVComplement().fit(train, schema={"rate": "categorical"})
    coarse = STORAGES[storage](train)
    assert metric.score(coarse) == metric.score(coarse.astype("category")) == 1.0


def test_work_on_the_real_rows_is_shared_by_tables_of_one_storage():
    runs = []

    @shared
    def total(context):
        runs.append(1)
        return float(context.train["price"].sum())

    context, coarse = Context.of(cents()), cents(seed=1).astype("float32")
    for rows in (coarse, coarse.iloc[:50]):
        total(context.with_synthetic(rows))
    assert len(runs) == 1
    total(context.with_synthetic(cents(seed=1)))
    assert len(runs) == 2  # the real rows as they were given
    pd.testing.assert_frame_equal(context.train, cents().round(2), check_exact=True)


def test_short_numbers_tell_nothing_of_the_storage():
    frame = pd.DataFrame({"whole": [1.0, 2.0], "half": [0.5, 0.25], "tenth": [0.1, 0.25]})
    assert stored_precision(frame, frame) == {}
    assert stored_precision(frame.astype({"whole": "int64"}), frame) == {}


def test_the_coarsest_storage_counts():
    assert coarsest([{"x": SINGLE, "y": SINGLE}, {"x": HALF}]) == {"x": HALF, "y": SINGLE}


def test_values_beyond_the_range_of_the_storage_stay():
    values = np.array([1e300, -1e300, 0.1, np.inf, np.nan])
    expected = [1e300, -1e300, float(np.float32(0.1)), np.inf, np.nan]
    np.testing.assert_array_equal(rounded_to(values, SINGLE), expected)


def test_what_does_not_change_is_not_copied():
    frame = pd.DataFrame({"x": [1.0, np.nan, 0.5]})
    assert at_precision(frame, {"x": SINGLE}) is frame


def test_rounding_errors_make_no_values():
    """0.3 - 0.2 and 0.2 - 0.1 are one value where train has one decimal."""
    train = pd.DataFrame({"x": [0.3 - 0.2] * 5 + [0.7] * 5})
    synthetic = pd.DataFrame({"x": [0.2 - 0.1] * 5 + [0.7] * 5})
    assert KSComplement().fit(train).score(synthetic) == 1.0
    assert ExactMatchShare().fit(train).score(synthetic) == 1.0
    whole = pd.DataFrame({"x": [1, 2, 3, 4]})
    inverted = whole + np.array([[0.0], [4e-16], [0.0], [-9e-16]])
    assert (inverted != whole).any(axis=None)
    assert KSComplement().fit(whole).score(inverted) == 1.0


@pytest.mark.parametrize(
    ("values", "places"),
    [([1.0, 2.0], 0), ([0.25, np.nan, np.inf], 2), ([1e300, 1.0], None), ([np.pi], None)],
)
def test_decimals_of_a_column(values, places):
    from skeval.tables.precision import few_decimals

    few = few_decimals(np.array(values))
    assert (few and few.places) == places


def test_what_has_the_decimals_or_is_far_from_them_stays():
    train = pd.DataFrame({"x": [0.1, 0.25, 1e4], "n": [1.0, np.nan, 2.0]})
    synthetic = pd.DataFrame({"x": [0.1001, 0.25, np.inf], "n": [1.5, 2.0, -0.0]})
    context = Context.of(train).with_synthetic(synthetic)
    pd.testing.assert_frame_equal(context.train, train, check_exact=True)
    pd.testing.assert_frame_equal(context.synthetic, synthetic, check_exact=True)
