"""Agreement of importances: by hand, beside scipy, and of what is not defined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from skeval.utility.importance import (
    AGREEMENTS,
    agreement,
    as_shares,
    mass_overlap,
    rank_correlation,
    top_overlap,
)

A, B = np.array([[0.5, 0.3, 0.2]]), np.array([[0.4, 0.4, 0.2]])


def test_shares():
    found = as_shares(np.array([[2.0, 1.0, -5.0, 1.0], [0.0, -1.0, 1e-15, 0.0]]))
    assert found.tolist() == [[0.5, 0.25, 0.0, 0.25], [0.0] * 4]


def test_by_hand():
    assert mass_overlap(A, B) == pytest.approx([0.9])
    assert np.abs(A - B).mean() == pytest.approx(0.0667, abs=5e-5)
    assert top_overlap(A, B, 1) == pytest.approx([0.5])  # either of two that tie
    assert top_overlap(A, B, 2) == pytest.approx([1.0])
    assert top_overlap(A, np.array([[0.1, 0.2, 0.7]]), 1) == [0.0]
    assert rank_correlation(A, B) == pytest.approx([0.866025], abs=1e-6)
    assert rank_correlation(A, A[:, ::-1]) == pytest.approx([-1.0])


def test_many_rows_beside_scipy():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (2, 40, 8)).astype(float)
    expected = [spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]
    assert rank_correlation(a, b) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_ties_share_the_last_places(k):
    """Among all ways to break ties the mean membership is what each entry has."""
    rng = np.random.default_rng(k)
    values = rng.integers(0, 3, (1, 6)).astype(float)
    taken = np.zeros(6)
    for _ in range(4000):
        taken[np.argsort(-(values[0] + 1e-6 * rng.random(6)))[:k]] += 1 / 4000
    others = np.eye(6)[[0]]
    overlap = top_overlap(values, others, 1) if k == 1 else None
    assert overlap is None or overlap == pytest.approx(taken[0], abs=0.03)
    assert top_overlap(values, values, k) == pytest.approx([1.0])
    by_hand = np.minimum(taken, taken[::-1]).sum() / k
    assert top_overlap(values, values[:, ::-1], k) == pytest.approx([by_hand], abs=0.06)


@pytest.mark.parametrize("statistic", AGREEMENTS)
def test_what_goes_by_nothing(statistic):
    some, none = np.array([[0.6, 0.4, 0.0]]), np.zeros((1, 3))
    assert np.isnan(agreement(none, some, statistic, 2))
    assert agreement(some, none, statistic, 2) == [0.0]
    assert agreement(some, some, statistic, 2) == pytest.approx([1.0])
    alike = np.full((1, 3), 1 / 3)
    assert np.isnan(agreement(alike, some, statistic, 2)[0]) == (statistic == "spearman")
    assert (agreement(some, alike, statistic, 2)[0] == 0.0) == (statistic == "spearman")
