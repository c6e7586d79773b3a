from __future__ import annotations

import numpy as np
import pytest

from skeval.diagnostic.columns import ShareTally, mean_of_bands
from skeval.stats.intervals import wilson


def tallied(valid, counted=None):
    """The tally of a matrix of cells, one column a column."""
    tally = ShareTally(len(valid))
    for j in range(valid.shape[1]):
        if counted is None:
            tally.add(f"x{j}", valid[:, j])
        else:
            tally.add(f"x{j}", valid[:, j] & counted[:, j], counted[:, j])
    return tally


def mean_share(tally):
    return float(np.mean(list(tally.shares.values())))


@pytest.mark.parametrize("k", [0, 1, 7, 20])
def test_one_column_has_wilsons_interval(k):
    valid = np.arange(20) < k
    tally = ShareTally(20)
    tally.add("x", valid)
    assert tally.shares == {"x": k / 20}
    assert tally.interval() == pytest.approx(wilson(k, 20))
    counted = ShareTally(30)
    counted.add("x", np.append(valid, [False] * 10), np.arange(30) < 20)
    assert counted.interval() == pytest.approx(wilson(k, 20))


def test_columns_that_fail_together_are_one():
    rows = np.random.default_rng(0).random(200) < 0.9
    together = tallied(np.column_stack([rows] * 5))
    assert together.interval() == pytest.approx(wilson(rows.sum(), 200))


def test_independent_columns_narrow_the_interval():
    cells = np.random.default_rng(0).random((400, 8)) < 0.7
    tally = tallied(cells)
    low, high = tally.interval()
    one = wilson(400 * mean_share(tally), 400)
    assert low <= mean_share(tally) <= high
    assert high - low < 0.5 * (one[1] - one[0])


def test_the_variance_is_that_of_the_rows():
    """With many rows the four that are thought added do not matter."""
    rng = np.random.default_rng(0)
    cells = rng.random((50_000, 4)) < [0.3, 0.5, 0.5, 0.9]
    cells[:, 2] = cells[:, 1]
    low, high = tallied(cells).interval()
    expected = 2 * 1.96 * cells.mean(axis=1).std() / np.sqrt(50_000)
    assert high - low == pytest.approx(expected, rel=0.01)


def test_uneven_columns_against_brute_force():
    rng = np.random.default_rng(0)
    share, seen = np.array([0.5, 0.9]), np.array([0.2, 1.0])
    values, widths = [], []
    for _ in range(300):
        tally = tallied(rng.random((2_000, 2)) < share, rng.random((2_000, 2)) < seen)
        low, high = tally.interval()
        values.append(mean_share(tally))
        widths.append(high - low)
    assert np.mean(widths) == pytest.approx(2 * 1.96 * np.std(values), rel=0.1)


def test_no_column_and_no_violation():
    assert ShareTally(5).interval() is None
    assert tallied(np.ones((50, 3), dtype=bool)).interval() == pytest.approx(wilson(50, 50))
    assert tallied(np.zeros((50, 3), dtype=bool)).interval() == pytest.approx(wilson(0, 50))


def test_mean_of_bands():
    assert mean_of_bands([(0.1, 0.3)]) == (0.1, 0.3)
    assert mean_of_bands([(0.0, 0.2), (0.5, 1.0)]) == pytest.approx((0.25, 0.6))


def draw_independent(rng, n):
    return rng.random((n, 10)) < 0.9, 0.9


def draw_together(rng, n):
    return np.repeat(rng.random((n, 1)) < 0.95, 10, axis=1), 0.95


def draw_one_bad_column(rng, n):
    share = np.r_[0.5, np.ones(9)]
    return rng.random((n, 10)) < share, share.mean()


def draw_rare_rows(rng, n):
    """Few cells fail alone, and one row in n fails as a whole: often it is not seen."""
    cells = (rng.random((n, 10)) > 1e-3) & (rng.random((n, 1)) > 1 / n)
    return cells, (1 - 1e-3) * (1 - 1 / n)


@pytest.mark.calibration
@pytest.mark.parametrize("n", [50, 300])
@pytest.mark.parametrize(
    "draw", [draw_independent, draw_together, draw_one_bad_column, draw_rare_rows]
)
def test_intervals_of_the_mean_hold_the_truth(draw, n):
    rng = np.random.default_rng(0)
    held = []
    for _ in range(1000):
        cells, truth = draw(rng, n)
        low, high = tallied(cells).interval()
        held.append(low <= truth <= high)
    assert np.mean(held) >= 0.945
