"""Calibration errors: values by hand, ties, weights, and what intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from skeval.stats.intervals import difference_interval, inflated_interval
from skeval.utility.calibration import (
    calibration_error,
    equal_mass_bins,
    expected_if_calibrated,
    reliability_curve,
)


def error(confidences, hits, n_bins=10, weights=None):
    weights = np.ones((1, len(confidences))) if weights is None else weights
    return calibration_error(np.array(confidences), np.array(hits, dtype=bool), weights, n_bins)


def by_hand(confidences, hits, n_bins):
    """Sorted rows in like numbers; for confidences without ties."""
    order = np.argsort(confidences)
    parts = np.array_split(order, n_bins)
    return sum(abs(confidences[p].mean() - hits[p].mean()) * p.size for p in parts) / order.size


def test_values_by_hand():
    assert error([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 1], 2) == pytest.approx([0.2])
    assert error([0.5] * 4, [0, 1, 0, 1]) == pytest.approx([0.0])
    assert error([1.0] * 4, [0, 0, 0, 0]) == pytest.approx([1.0])
    assert error([0.9, 0.6, 0.3], [1, 1, 0], 1) == pytest.approx([abs(0.6 - 2 / 3)])


def test_bins_of_equal_numbers():
    rng = np.random.default_rng(0)
    p = rng.random(200)
    hits = rng.random(200) < p
    bins = equal_mass_bins(p)
    assert np.bincount(bins).tolist() == [20] * 10
    assert all(p[bins == k].max() < p[bins == k + 1].min() for k in range(9))
    assert error(p, hits) == pytest.approx([by_hand(p, hits, 10)])


def test_ties_stay_together():
    bins = equal_mass_bins(np.array([0.1] * 6 + [0.2, 0.3, 0.4, 0.5]), 5)
    assert bins.tolist() == [1] * 6 + [3, 3, 4, 4]
    assert np.unique(equal_mass_bins(np.full(50, 0.3))).size == 1


def test_the_order_of_rows_is_ignored():
    rng = np.random.default_rng(0)
    p = rng.random(100).round(1)
    hits, order = rng.random(100) < p, rng.permutation(100)
    assert error(p, hits) == pytest.approx(error(p[order], hits[order]))


def test_weights_count_rows_in_the_bins_of_all_rows():
    rng = np.random.default_rng(0)
    p = rng.random(40)
    hits = rng.random(40) < p
    weights = np.vstack([np.ones(40), rng.integers(0, 3, 40)])
    bins = equal_mass_bins(p)
    sums = np.bincount(bins, weights[1] * (p - hits), minlength=10)
    assert error(p, hits, weights=weights)[1] == pytest.approx(
        np.abs(sums).sum() / weights[1].sum()
    )
    assert error(p, hits, weights=weights)[0] == pytest.approx(error(p, hits)[0])


def test_what_chance_gives():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    found = [error(p, rng.random(500) < p)[0] for _ in range(300)]
    assert expected_if_calibrated(p) == pytest.approx(np.mean(found), rel=0.05)
    assert expected_if_calibrated(np.array([0.0, 1.0])) == 0.0


def test_curve():
    curve = reliability_curve(np.array([0.1, 0.3, 0.6, 0.8, 0.9]), np.array([0, 1, 0, 1, 1]) > 0, 2)
    assert curve["n_rows"].tolist() == [2, 3]
    assert curve["predicted"] == pytest.approx([0.2, 23 / 30])
    assert curve["observed"] == pytest.approx([0.5, 2 / 3])
    few = reliability_curve(
        np.array([0.1, 0.3, 0.6, 0.8, 0.9]), np.array([0, 1, 0, 1, 1]) > 0, 2, 3
    )
    assert np.isnan(few["observed"]).tolist() == [True, False]


def test_curve_of_one_confidence():
    curve = reliability_curve(np.full(30, 0.4), np.arange(30) < 15)
    assert {name: values.tolist() for name, values in curve.items()} == {
        "predicted": [pytest.approx(0.4)],
        "observed": [0.5],
        "n_rows": [30],
    }


Z = np.random.default_rng(9).normal(size=200_000)


def bent(slope, shift=0.0):
    return lambda z: expit(slope * z + shift)


def mean_error(p, truth):
    sums = np.bincount(equal_mass_bins(p), p - truth, minlength=10)
    return np.abs(sums).sum() / p.size


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [200, 1000])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (bent(1.5), bent(1.4)),
        (bent(3.0), bent(1.5)),
        (bent(2.0), bent(1.5)),
        (bent(1.5, 0.5), bent(1.5)),
        (bent(3.0), bent(3.0, 0.3)),
    ],
)
def test_coverage(n_rows, first, second):
    """Where quantiles of bootstrap differences hold the true one in 0 to 98% of cases."""
    law, rng, n_runs = bent(1.5), np.random.default_rng(0), 150
    truth = [mean_error(model(Z), law(Z)) for model in (first, second)]
    held = np.zeros(2)
    for _ in range(n_runs):
        z = rng.normal(size=n_rows)
        hits = rng.random(n_rows) < law(z)
        drawn = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), 200)
        weights = np.vstack([np.ones(n_rows), drawn])
        errors = [error(model(z), hits, weights=weights) for model in (first, second)]
        low, high = inflated_interval(errors[0])
        held[0] += low <= truth[0] <= high
        low, high = difference_interval(*errors)
        held[1] += low <= truth[0] - truth[1] <= high
    assert (held / n_runs >= (0.88, 0.82)).all(), held / n_runs
