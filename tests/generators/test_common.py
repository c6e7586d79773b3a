"""What all generators promise: columns, dtypes, seeds, odd tables, an estimator's manners."""

from __future__ import annotations

import datetime
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import skeval.generators
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, SkevalError
from skeval.generators import (
    Bootstrap,
    GaussianCopula,
    IndependentMarginals,
    MondrianAnonymization,
    RandomForestImputation,
    SequentialCART,
)
from tests.snapshots import raises

LARGEST = np.int64(2**63 - 1)
GENERATORS = {
    "Bootstrap": Bootstrap(),
    "GaussianCopula": GaussianCopula(),
    "IndependentMarginals": IndependentMarginals(),
    "MondrianAnonymization": MondrianAnonymization(1),
    "RandomForestImputation": RandomForestImputation(0.7, n_estimators=3, min_samples_leaf=2),
    "SequentialCART": SequentialCART(),
}
RESAMPLING = ["Bootstrap", "IndependentMarginals"]
LEARNING = ["GaussianCopula", "MondrianAnonymization", "RandomForestImputation", "SequentialCART"]


def made(name: str, random_state: int | None = 0) -> Any:
    return clone(GENERATORS[name]).set_params(random_state=random_state)


def sampled(name: str, column: Any, n: int = 400) -> pd.Series:
    table = pd.DataFrame({"x": column, "other": np.arange(len(column)) % 7})
    return made(name).fit(table).sample(n)["x"]


def columns_of_every_dtype() -> dict[str, pd.Series]:
    rng = np.random.default_rng(0)
    k, x = rng.integers(0, 9, 60), rng.normal(size=60)
    words = pd.Series(k.astype(str))
    dates = pd.Series(pd.date_range("2024-03-28", periods=60, freq="7h")).astype("datetime64[ns]")
    hours = pd.Series(pd.to_timedelta(k, unit="h"))
    whole = {
        "int8": pd.Series(k, dtype="int8"),
        "uint64": pd.Series(k.astype("uint64") + np.uint64(2**63)),
        "int64 far apart": pd.Series(np.where(k > 4, LARGEST - k, k - LARGEST)),
        "float32": pd.Series(x, dtype="float32"),
        "float64": pd.Series(x),
        "bool": pd.Series(k > 4),
        "Int64": pd.Series(k, dtype="Int64"),
        "datetime64[s]": dates.astype("datetime64[s]"),
        "complex": pd.Series(x.round(1) + 1j),
    }
    holed = {
        "boolean": pd.Series(k > 4, dtype="boolean"),
        "UInt8": pd.Series(k, dtype="UInt8"),
        "Float64": pd.Series(x, dtype="Float64"),
        "str": words,
        "string": words.astype("string"),
        "object": words.astype(object),
        "category": words.astype("category"),
        "ordered": pd.Series(pd.Categorical(k, categories=range(12), ordered=True)),
        "datetime64[ns]": dates,
        "zoned": dates.dt.tz_localize("UTC").dt.tz_convert("Europe/Paris"),
        "timedelta64": hours,
        "period": dates.dt.to_period("D"),
        "date": dates.dt.date.astype(object),
        "interval": pd.Series(pd.cut(x, 4)),
    }
    holes = pd.Series(rng.random(60) < 0.2)
    return whole | {name: column.mask(holes) for name, column in holed.items()}


def arrow_columns() -> dict[str, pd.Series]:
    dates = pd.Series(pd.date_range("2024-03-28", periods=60, freq="h")).astype("datetime64[us]")
    typed = {
        pa.int32(): pd.Series(np.arange(60) % 9),
        pa.float64(): pd.Series(np.arange(60) / 8),
        pa.string(): pd.Series(np.arange(60) % 9).astype(str),
        pa.bool_(): pd.Series(np.arange(60) % 2 == 0),
        pa.timestamp("us"): dates,
        pa.timestamp("us", "Europe/Paris"): dates.dt.tz_localize("UTC"),
        pa.date32(): dates.dt.date.astype(object),
        pa.duration("us"): dates - dates.iloc[0],
    }
    holes = pd.Series(np.arange(60) % 5 == 0)
    return {
        str(kind): column.astype(pd.ArrowDtype(kind)).mask(holes) for kind, column in typed.items()
    }


EVERY_DTYPE = columns_of_every_dtype()
# each generator meets each dtype, and of few rows each of both, paired in turn
SIZED = [(60, dtype, name) for dtype in EVERY_DTYPE for name in GENERATORS]
SIZED += [
    (n_rows, dtype, [*GENERATORS][(i + n_rows) % len(GENERATORS)])
    for n_rows in (3, 1)
    for i, dtype in enumerate(EVERY_DTYPE)
]
every = pytest.mark.parametrize("name", GENERATORS)


def test_every_public_generator_is_tested() -> None:
    # one needs a domain, the other a generator: they have tests of their own
    others = {"DPHistogram", "GeneratorAdapter"}
    assert set(GENERATORS) == set(skeval.generators.__all__) - others


@pytest.mark.parametrize(("n_rows", "dtype", "name"), SIZED)
def test_dtypes_are_kept(n_rows: int, dtype: str, name: str) -> None:
    train = EVERY_DTYPE[dtype].head(n_rows)
    x = sampled(name, train)
    assert x.dtype == train.dtype
    if name != "RandomForestImputation":  # where being missing may be predicted
        assert x.isna().mean() == pytest.approx(train.isna().mean(), abs=0.08)
    known, new = train.dropna(), x.dropna()
    if train.dtype.kind in "iufMm" and len(known):
        assert known.min() <= new.min() <= new.max() <= known.max()
    else:
        assert set(new) <= set(known)


@every
class TestDtypes:
    def test_arrow(self, name: str) -> None:
        for dtype, train in arrow_columns().items():
            x = sampled(name, train)
            assert x.dtype == train.dtype, dtype
            assert 0.0 < x.isna().mean() < 0.28
            assert train.min() <= x.min() <= x.max() <= train.max()

    def test_all_at_once(self, name: str) -> None:
        train = pd.DataFrame(EVERY_DTYPE)
        synthetic = made(name).fit(train).sample(30)
        assert synthetic.dtypes.equals(train.dtypes)
        assert synthetic.columns.equals(train.columns)

    def test_large_numbers_keep_their_digits(self, name: str) -> None:
        x = sampled(name, np.array([2**62 + 1, 2**62 + 3]))
        assert set(x) <= {2**62 + 1, 2**62 + 3}

    def test_infinite_and_huge_values(self, name: str) -> None:
        x = sampled(name, np.array([-np.inf, -1.7e308, 0.5, 1.7e308, np.inf, np.inf]))
        assert x.notna().all()
        assert np.isinf(x).any()

    def test_values_of_mixed_types(self, name: str) -> None:
        values = [1, "a", 2.5, (1, 2), datetime.date(2024, 1, 1)]
        assert set(sampled(name, pd.Series(values * 4, dtype=object))) == set(values)

    def test_sparse(self, name: str) -> None:
        train = pd.Series(pd.arrays.SparseArray([0.0, 0.0, 1.0, 2.0] * 5))
        assert sampled(name, train).dtype == train.dtype

    @pytest.mark.parametrize("dtype", ["float64", "Int64", "datetime64[ns]", "object", "category"])
    def test_all_missing(self, name: str, dtype: str) -> None:
        x = sampled(name, pd.Series([None] * 5, dtype=dtype))
        assert x.isna().all()
        assert (x.dtype, len(x)) == (dtype, 400)


@every
class TestSeeds:
    def test_same_seed_same_rows(self, name: str) -> None:
        train = make_mixed()
        a, b = (made(name, 3).fit(train).sample(50) for _ in range(2))
        pd.testing.assert_frame_equal(a, b)

    def test_seed_of_the_draw_goes_first(self, name: str) -> None:
        generator = made(name, 3).fit(make_mixed())
        pd.testing.assert_frame_equal(generator.sample(50), generator.sample(50, random_state=3))
        assert not generator.sample(50).equals(generator.sample(50, random_state=4))

    def test_none_draws_anew(self, name: str) -> None:
        generator = made(name, None).fit(make_mixed())
        assert not generator.sample(50).equals(generator.sample(50))

    def test_global_generator_is_left_alone(self, name: str) -> None:
        before = np.random.get_state()[1].copy()
        made(name, None).fit(make_mixed()).sample(10)
        assert np.array_equal(before, np.random.get_state()[1])


@every
class TestEdges:
    def test_one_row(self, name: str) -> None:
        train = make_mixed(1)
        synthetic = made(name).fit(train).sample(5)
        pd.testing.assert_frame_equal(synthetic, train.iloc[[0] * 5].reset_index(drop=True))

    def test_constant_columns(self, name: str) -> None:
        constant = {"a": 3, "b": "x", "c": 0.1, "d": True}
        train = pd.DataFrame({key: [value] * 9 for key, value in constant.items()}).assign(
            e=range(9)
        )
        synthetic = made(name).fit(train).sample(100)
        assert {key: set(synthetic[key]) for key in constant} == {
            key: {value} for key, value in constant.items()
        }

    def test_only_constant_columns(self, name: str) -> None:
        train = pd.DataFrame({"a": [1.5] * 4, "b": ["x"] * 4})
        pd.testing.assert_frame_equal(made(name).fit(train).sample(4), train)

    @pytest.mark.parametrize("column", [range(9), list("aabbccddd"), [None, 1.5] * 4])
    def test_one_column(self, name: str, column: Any) -> None:
        train = pd.DataFrame({"a": column})
        synthetic = made(name).fit(train).sample(4)
        assert synthetic.shape == (4, 1)
        assert synthetic.dtypes.equals(train.dtypes)

    def test_odd_indices_and_names(self, name: str) -> None:
        names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])
        train = pd.DataFrame([[1, 2.5], [3, 4.5]], index=[7, 7], columns=names)
        synthetic = made(name).fit(train).sample(3)
        assert synthetic.columns.equals(names)
        assert synthetic.index.equals(pd.RangeIndex(3))
        twice = pd.DataFrame([[1, "u"], [2, "v"]], columns=["a", "a"])
        assert made(name).fit(twice).sample(3).columns.to_list() == ["a", "a"]

    def test_index_does_not_matter(self, name: str) -> None:
        train = make_mixed(50)
        odd = train.set_axis(np.arange(50) // 2 * 1.5, axis=0)
        pd.testing.assert_frame_equal(*(made(name).fit(t).sample(60) for t in (train, odd)))

    def test_training_table_is_left_alone(self, name: str) -> None:
        train = make_mixed()
        before = train.copy(deep=True)
        made(name).fit(train).sample(10)
        pd.testing.assert_frame_equal(train, before)

    def test_later_changes_of_the_training_table_do_not_matter(self, name: str) -> None:
        train = make_mixed(50)
        generator = made(name).fit(train)
        before = generator.sample(20)
        train["age"] = 0
        train.loc[:, "income"] = -1.0
        pd.testing.assert_frame_equal(generator.sample(20), before)


@every
class TestEstimator:
    def test_fit_returns_self(self, name: str) -> None:
        generator = made(name)
        assert generator.fit(make_mixed(20)) is generator

    def test_clone_and_pickle(self, name: str) -> None:
        generator = made(name, 5).fit(make_mixed(50))
        assert clone(generator).get_params() == generator.get_params()
        assert not [attribute for attribute in vars(clone(generator)) if attribute.endswith("_")]
        loaded = pickle.loads(pickle.dumps(generator))
        pd.testing.assert_frame_equal(loaded.sample(20), generator.sample(20))

    def test_refit_forgets(self, name: str) -> None:
        generator = made(name).fit(make_mixed(50)).fit(pd.DataFrame({"a": [1, 2, 3]}))
        fresh = made(name).fit(pd.DataFrame({"a": [1, 2, 3]}))
        pd.testing.assert_frame_equal(generator.sample(9), fresh.sample(9))

    def test_unfitted(self, name: str) -> None:
        with raises(NotFittedError):
            made(name).sample(3)

    @pytest.mark.parametrize("n", [0, -2, 2.5, "10", True])
    def test_no_number_of_rows(self, name: str, n: object) -> None:
        with raises(InvalidParameterError):
            made(name).fit(make_mixed(20)).sample(n)

    @pytest.mark.parametrize("table", [pd.DataFrame(), pd.DataFrame({"a": []}), [[1, 2]]])
    def test_no_table(self, name: str, table: object) -> None:
        with raises(SkevalError):
            made(name).fit(table)


class TestUnhashable:
    TABLE = pd.DataFrame({"a": [[1], [2]], "b": [1, 2], "c": [{}, {}]})

    @pytest.mark.parametrize("name", LEARNING)
    def test_cannot_be_learnt(self, name: str) -> None:
        with raises(SkevalError):
            made(name).fit(self.TABLE)

    @pytest.mark.parametrize("name", RESAMPLING)
    def test_can_be_drawn(self, name: str) -> None:
        synthetic = made(name).fit(self.TABLE).sample(20)
        assert all(value in ([1], [2]) for value in synthetic["a"])
