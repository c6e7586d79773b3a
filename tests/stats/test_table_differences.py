"""Differences of two values against the same real rows."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.stats.sampling_intervals import linearize_halves
from skeval.stats.table_differences import Sampled, independent_interval, paired_interval


@pytest.mark.parametrize("root", [False, True])
def test_intervals_of_halves_hold_the_truth_as_often_as_they_say(root):
    rng, held = np.random.default_rng(0), 0
    n, n_trials = 400, 300

    def sampled(mean):
        rows = rng.normal(mean, 1.0, n)
        of = (lambda x: np.mean(x) ** 2) if root else np.mean
        orders = [rng.permutation(n) for _ in range(5)]
        halves = [[of(rows[o[: n // 2]]), of(rows[o[n // 2 :]])] for o in orders]
        value = float(of(rows))
        halves = np.array(halves)
        return Sampled(value, linearize_halves(value, halves) if root else halves, "halves")

    truth = 3.0 if root else 1.0
    for _ in range(n_trials):
        low, high = paired_interval(sampled(2.0), sampled(1.0))
        held += low <= truth <= high
    assert held / n_trials > 0.92


def test_the_noise_of_the_rows_that_both_were_tested_on_cancels():
    shared = np.random.default_rng(0).normal(size=1000)
    first, second = (Sampled(m, m + shared, "rows") for m in (0.2, 0.1))
    low, high = paired_interval(first, second)
    assert low == pytest.approx(0.1)
    assert high == pytest.approx(0.1)


def test_what_is_not_defined_has_no_interval():
    nothing = Sampled(float("nan"), np.zeros((5, 2)), "halves")
    assert paired_interval(nothing, nothing) is None
    lost = Sampled(0.5, np.full(10, np.nan), "rows")
    assert paired_interval(lost, lost) is None
    assert independent_interval(0.5, None, 0.5, (0.0, 1.0)) is None
    assert independent_interval(0.5, (0.0, np.inf), 0.5, (0.0, 1.0)) is None


def test_more_pairs_need_wider_intervals():
    narrow = independent_interval(0.6, (0.5, 0.7), 0.5, (0.4, 0.6))
    wide = independent_interval(0.6, (0.5, 0.7), 0.5, (0.4, 0.6), confidence=1 - 0.05 / 3)
    assert wide[0] < narrow[0] < 0.1 < narrow[1] < wide[1]
    assert narrow == pytest.approx((0.1 - np.hypot(0.1, 0.1), 0.1 + np.hypot(0.1, 0.1)))
