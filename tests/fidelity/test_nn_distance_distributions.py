"""Distances to the nearest row, within tables and between them, by brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from skeval import Context
from skeval.datasets import make_mixed
from skeval.fidelity import NNDistanceDistributions
from skeval.fidelity.nn_distance_distributions import quantile_levels
from skeval.reporting.displays.distances import DistancesDisplay

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(200, random_state=seed) for seed in range(3))


@pytest.mark.parametrize("n_levels", [1000, 3])
def test_distances_are_those_of_brute_force(n_levels):
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame(rng.integers(0, n_levels, (60, 2)).astype(float), columns=["x", "y"])
        for _ in range(3)
    ]
    # tables of few levels share rows, which fit would warn of
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    result = NNDistanceDistributions().evaluate_context(context)
    train, holdout, synthetic = (table.to_numpy() for table in tables)
    span = np.ptp(np.vstack([train, holdout]), axis=0)

    def to_nearest(query, reference, itself=False):
        gaps = np.minimum(1, np.abs(query[:, None] - reference) / span).mean(axis=2)
        if itself:
            np.fill_diagonal(gaps, np.inf)
        return gaps.min(axis=1)

    expected = {
        "train to train": to_nearest(train, train, True),
        "synthetic to synthetic": to_nearest(synthetic, synthetic, True),
        "synthetic to train": to_nearest(synthetic, train),
        "holdout to train": to_nearest(holdout, train),
        "synthetic to holdout": to_nearest(synthetic, holdout),
    }
    levels = result.details["quantiles"]["levels"]
    np.testing.assert_allclose(levels, [0.33, 0.5, 0.67])
    for name, distances in expected.items():
        np.testing.assert_allclose(
            result.details["quantiles"][name], np.quantile(distances, levels), atol=1e-9
        )
    ks = ks_2samp(
        expected["train to train"].round(9),
        expected["synthetic to synthetic"].round(9),
        method="asymp",
    ).statistic
    assert result.value == pytest.approx(ks, abs=1e-9)


def test_distributions_without_holdout():
    details = NNDistanceDistributions().fit(TRAIN).evaluate(SYNTHETIC).details
    assert set(details["histogram"]["shares"]) == {
        "train to train",
        "synthetic to synthetic",
        "synthetic to train",
    }


def test_sizes_are_matched_within_tables():
    few = NNDistanceDistributions().fit(TRAIN).evaluate(SYNTHETIC.iloc[:50])
    assert few.details["n_rows_within"] == 50
    many = NNDistanceDistributions().fit(TRAIN).evaluate(pd.concat([HOLDOUT, SYNTHETIC]))
    assert many.details["n_rows_within"] == 200
    assert many.value < 0.2


def test_mode_collapse_is_seen():
    collapsed = SYNTHETIC.iloc[:20].sample(200, replace=True, random_state=0)
    result = NNDistanceDistributions().fit(TRAIN, HOLDOUT).evaluate(collapsed)
    assert result.value > 0.9
    assert result.baseline < 0.2


def test_distances_need_a_column_that_can_be_measured():
    table = pd.DataFrame({"note": [f"a remark of more than five words, {i}" for i in range(20)]})
    context = Context.of(table, schema={"note": "text"}).with_synthetic(table)
    assert np.isnan(NNDistanceDistributions().evaluate_context(context).value)


@pytest.mark.parametrize("n_rows", [20, 21, 60, 100, 999, 1000, 5000])
def test_quantiles_tell_no_single_distance(n_rows):
    levels = quantile_levels(n_rows)
    assert 0.5 in levels
    beyond = np.concatenate([[0.0], levels, [1.0]])
    assert np.diff(beyond).min() * n_rows >= 10 - 1e-9
    np.testing.assert_allclose(levels, 1 - levels[::-1])


def test_details_of_small_tables_are_coarse():
    few = NNDistanceDistributions().fit(TRAIN).evaluate(SYNTHETIC.iloc[:19])
    assert few.details["quantiles"]["levels"].tolist() == [0.5]
    assert np.isnan(few.details["quantiles"]["train to train"]).all()
    assert len(few.details["histogram"]["edges"]) == 5
    DistancesDisplay(few).plot()
    twenty = NNDistanceDistributions().fit(TRAIN).evaluate(SYNTHETIC.iloc[:20])
    assert twenty.details["quantiles"]["levels"].tolist() == [0.5]
    assert np.isfinite(twenty.details["quantiles"]["train to train"]).all()
    full = NNDistanceDistributions().fit(TRAIN).evaluate(SYNTHETIC)
    assert len(full.details["histogram"]["edges"]) == 21


@pytest.mark.slow
def test_large_tables_are_compared_by_samples():
    train, holdout, synthetic = np.random.default_rng(0).normal(size=(3, 260_000, 1))
    tables = [pd.DataFrame(rows, columns=["x"]) for rows in (train, holdout, synthetic)]
    result = NNDistanceDistributions().fit(*tables[:2]).evaluate(tables[2])
    assert result.details["n_rows_within"] == 250_000
    assert 0.0 < result.value < 0.006  # the level of noise of two samples of this size
