"""What holds for every metric over pairs of columns: properties, odd tables, the floor."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import MetricWarning
from skeval.fidelity import (
    ContingencySimilarity,
    CorrelationRatioDifference,
    CorrelationSimilarity,
    CramersVDifference,
    KSComplement,
    MixedAssociationDifference,
    MutualInformationDifference,
    PhikMatrixDifference,
    TheilsUDifference,
    TVComplement,
)
from skeval.steps.samples import permuted_in_place

METRICS = [
    CorrelationSimilarity(),
    CorrelationSimilarity("spearman"),
    CorrelationSimilarity("kendall"),
    ContingencySimilarity(),
    ContingencySimilarity(nan="drop"),
    CramersVDifference(),
    TheilsUDifference(),
    CorrelationRatioDifference(),
    MutualInformationDifference(),
    PhikMatrixDifference(floor=True),
    MixedAssociationDifference(),
    MixedAssociationDifference(norm="fro"),
    MixedAssociationDifference("spearman", "theils_u", "cramers_v", signed=False),
]
TRAIN, FRESH = make_mixed(400, random_state=0), make_mixed(400, random_state=1)
REAL, BESIDE = Context.of(TRAIN), Context.of(TRAIN, FRESH)  # read once
every_metric = pytest.mark.parametrize("metric", METRICS, ids=str)


def gain(metric, synthetic):
    """Return the score such that more is better."""
    return metric.tags.sign * metric.fit_context(REAL).score(synthetic)


def shuffled(table, share=1.0, seed=0):
    """Return the table with a share of the rows shuffled column by column."""
    rng = np.random.default_rng(seed)
    n = round(share * len(table))
    changed = table.copy()
    for name in table.columns:
        order = np.concatenate([rng.permutation(n), np.arange(n, len(table))])
        changed[name] = table[name].take(order).array
    return changed


@every_metric
def test_train_itself_is_best(metric):
    best = 1.0 if metric.tags.greater_is_better else 0.0
    assert metric.fit_context(REAL).score(TRAIN) == pytest.approx(best, abs=1e-12)


@every_metric
def test_shuffled_columns_degrade_pairs_and_no_marginal(metric):
    changed = shuffled(TRAIN)
    for marginal in (KSComplement(), TVComplement()):
        assert marginal.fit_context(REAL).score(changed) == 1.0
    assert gain(metric, changed) < gain(metric, FRESH)


@every_metric
def test_the_more_rows_are_shuffled_the_worse(metric):
    gains = [gain(metric, shuffled(TRAIN, share)) for share in (0.0, 0.25, 0.5, 1.0)]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < gains[0]


@every_metric
def test_row_order_means_nothing(metric):
    again = FRESH.sample(frac=1.0, random_state=0)
    assert gain(metric, again) == pytest.approx(gain(metric, FRESH), abs=1e-12)


@every_metric
def test_roles_can_be_exchanged_where_cells_do_not_depend_on_train(metric):
    """Differences of associations are symmetric in train and synthetic."""
    names = ["city", "plan", "member"]
    if isinstance(metric, CorrelationSimilarity | CorrelationRatioDifference):
        names = ["age", "income", "joined", *names]
    there, back = (
        metric.fit(first[names]).score(second[names])
        for first, second in ((TRAIN, FRESH), (FRESH, TRAIN))
    )
    assert there == pytest.approx(back)


@every_metric
@pytest.mark.slow
def test_odd_columns_give_a_number(metric):
    odd = TRAIN.assign(
        constant=1.0,
        same="same",
        flag=[True, False] * 200,
        text_dates=TRAIN["joined"].dt.strftime("%Y-%m-%d"),
        few=np.where(np.arange(400) < 3, TRAIN["age"], np.nan),
        empty=np.nan,
    )
    synthetic = odd.assign(city="Nowhere", plan=None, flag=True, few=np.nan, visits=0)
    with pytest.warns(MetricWarning):
        result = metric.fit(odd).evaluate(synthetic)
    low, high = metric.tags.bounds
    assert low <= result.value <= high
    assert result.value != (1.0 if metric.tags.greater_is_better else 0.0)
    assert result.details["n_used"] <= result.details["n_total"]


@every_metric
def test_two_synthetic_rows(metric):
    train, fresh = (t[["age", "visits", "member", "plan"]] for t in (TRAIN, FRESH))
    with warnings.catch_warnings():  # corrected for bias, two rows have no V
        warnings.simplefilter("ignore", MetricWarning)
        assert np.isfinite(metric.fit(train).score(fresh.iloc[[0, 3]]))


@every_metric
def test_the_baseline_is_that_of_the_holdout(metric):
    result = metric.fit_context(BESIDE).evaluate(TRAIN)
    assert result.baseline == metric.fit_context(REAL).score(FRESH)


@pytest.mark.slow
@every_metric
def test_the_floor_is_that_of_shuffled_columns(metric):
    expected = metric.fit_context(REAL).score(permuted_in_place(REAL, 400).synthetic)
    result = metric.fit_context(BESIDE).evaluate(FRESH)
    assert result.details["floor"] == expected
    assert result.details["calibrated"] == pytest.approx(1.0)
    bare = type(metric)(**{**metric.get_params(), "floor": False})
    details = bare.fit_context(BESIDE).evaluate(FRESH).details
    assert not {"floor", "calibrated"} & set(details)


@every_metric
@pytest.mark.slow
def test_calibrated_values(metric):
    """0 for shuffled columns, above 1 for copies."""
    fitted = metric.fit_context(BESIDE)
    assert fitted.evaluate(TRAIN).details["calibrated"] > 1.0
    none = [fitted.evaluate(shuffled(TRAIN, seed=seed)).details["calibrated"] for seed in range(3)]
    assert np.mean(none) == pytest.approx(0.0, abs=0.25)


@pytest.mark.slow
@every_metric
def test_floor_and_baseline_are_of_one_size(metric):
    fitted = metric.fit(TRAIN, FRESH.iloc[:150])
    result = fitted.evaluate(FRESH)
    smaller = result.details["at_baseline_size"]
    real = Context.of(TRAIN, ordered=True)  # as `fit` reads it
    floor = metric.evaluate_context(permuted_in_place(real, 150)).value
    assert result.details["floor"] == floor
    expected = (smaller["value"] - floor) / (result.baseline - floor)
    found = result.details["calibrated"]
    assert np.isnan(found) or found == pytest.approx(expected)


@pytest.mark.slow
@every_metric
def test_columns_without_association_have_nothing_to_calibrate(metric):
    rng = np.random.default_rng(0)
    positions = []
    for _ in range(10):
        free, fresh = (
            pd.DataFrame(
                {
                    "x": rng.normal(size=200),
                    "y": rng.normal(size=200),
                    "c": rng.choice(list("abc"), 200),
                    "d": rng.choice(list("pq"), 200),
                }
            )
            for _ in range(2)
        )
        positions.append(metric.fit(free, fresh).evaluate(fresh).details["calibrated"])
    assert np.isnan(positions).sum() >= 7  # in a few tables, the floor is far enough by chance


@pytest.mark.slow
def test_without_a_holdout_only_a_known_ceiling_calibrates():
    details = ContingencySimilarity().fit(TRAIN).evaluate(FRESH).details
    expected = (ContingencySimilarity().fit(TRAIN).score(FRESH) - details["floor"]) / (
        details["ceiling_value"] - details["floor"]
    )
    assert details["calibrated"] == pytest.approx(expected)
    details = CramersVDifference().fit(TRAIN).evaluate(FRESH).details
    assert details["floor"] > 0.0
    assert "calibrated" not in details


def test_phi_k_measures_its_floor_on_request_only():
    assert "floor" not in PhikMatrixDifference().fit_context(BESIDE).evaluate(FRESH).details
    result = PhikMatrixDifference(floor=True).fit_context(BESIDE).evaluate(FRESH)
    assert result.summary.endswith("of the way from shuffled columns to the baseline.")


def test_without_bins_numbers_are_skipped_by_all_that_cut_them():
    for kind in (CramersVDifference, TheilsUDifference, MutualInformationDifference):
        details = kind(n_bins=None).fit_context(REAL).evaluate(FRESH).details
        assert details["names"] == ["city", "plan", "member"], kind
