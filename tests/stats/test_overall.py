from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skeval.stats.overall import bounded_score, calibrated_score, weighted_mean

INF = float("inf")
UNIT = st.floats(0.0, 1.0)
NUMBER = st.floats(-1e6, 1e6)
MEANS = ("arithmetic", "geometric", "min")


@pytest.mark.parametrize(
    ("value", "bounds", "up", "score"),
    [
        (0.25, (0, 1), True, 0.25),
        (0.25, (0, 1), False, 0.75),
        (-0.5, (-1, 2), False, 5 / 6),
        (10.0, (0, 100), True, 0.1),
        (1.5, (0, 1), True, 1.0),  # bounds that are not kept
        (1.5, (0, 1), False, 0.0),
    ],
)
def test_bounded_by_hand(value, bounds, up, score):
    assert bounded_score(value, bounds, greater_is_better=up) == (pytest.approx(score), "")


@pytest.mark.parametrize("bounds", [(0, INF), (-INF, 1), (-INF, INF), (1, 1)])
@pytest.mark.parametrize("up", [True, False])
def test_without_bounds_there_is_no_score(bounds, up):
    score, reason = bounded_score(0.5, bounds, greater_is_better=up)
    assert math.isnan(score)
    assert "not bounded" in reason


@pytest.mark.parametrize(
    ("value", "baseline", "bounds", "up", "score", "scale"),
    [
        (0.45, 0.9, (0, 1), True, 0.5, "baseline"),
        (0.95, 0.9, (0, 1), True, 1.0, "baseline"),
        (0.0, 0.9, (0, 1), True, 0.0, "baseline"),
        (0.75, 0.5, (0, 1), False, 0.5, "baseline"),  # a classifier that guesses is the best
        (0.18, 0.5, (0, 1), False, 1.0, "baseline"),  # and no better where it is fooled by copies
        (0.5, 0.0, (-1, 1), False, 0.5, "baseline"),
        (0.57, 1.14, (0, INF), True, 0.5, "baseline"),  # a ratio of distances: the worst is 0
        (INF, 1.0, (0, INF), True, 1.0, "baseline"),
        (5.0, 3.0, (1, INF), True, 1.0, "baseline"),
        (0.04, 0.01, (0, INF), False, 0.25, "ratio"),
        (0.0, 0.01, (0, INF), False, 1.0, "ratio"),
        (INF, 0.01, (0, INF), False, 0.0, "ratio"),
    ],
)
def test_calibrated_by_hand(value, baseline, bounds, up, score, scale):
    found = calibrated_score(value, baseline, bounds, greater_is_better=up)
    assert found == (pytest.approx(score), scale, "")


@pytest.mark.parametrize(
    ("baseline", "bounds", "up", "why"),
    [
        (0.0, (0, 1), True, "worst value already"),
        (1.0, (0, 1), False, "worst value already"),
        (1.0, (1, INF), True, "worst value already"),
        (0.0, (0, INF), False, "fresh real rows have 0"),
        (0.1, (-INF, INF), False, "scale no zero"),
        (0.1, (-1, INF), False, "scale no zero"),
        (-3.0, (-INF, 0), True, "scale no zero"),
        (INF, (0, INF), True, "infinite"),
    ],
)
def test_what_cannot_be_calibrated_says_why(baseline, bounds, up, why):
    score, scale, reason = calibrated_score(0.3, baseline, bounds, greater_is_better=up)
    assert math.isnan(score)
    assert scale == ""
    assert why in reason


@settings(deadline=None)
@given(UNIT, UNIT, st.floats(0.01, 0.99), st.booleans())
def test_fresh_rows_score_1_the_worst_value_0_and_better_is_never_less(a, b, baseline, up):
    def score(value):
        found, _, reason = calibrated_score(value, baseline, (0.0, 1.0), greater_is_better=up)
        assert not reason
        return found

    assert score(baseline) == 1.0
    assert score(0.0 if up else 1.0) == 0.0
    low, high = sorted((a, b))
    assert 0.0 <= score(low if up else high) <= score(high if up else low) <= 1.0


@settings(deadline=None)
@given(UNIT, st.floats(0.01, 0.99), NUMBER, st.floats(1e-3, 1e3), st.booleans())
def test_neither_unit_nor_direction_matters(value, baseline, shift, unit, up):
    expected, *_ = calibrated_score(value, baseline, (0.0, 1.0), greater_is_better=up)
    moved = [shift + unit * x for x in (value, baseline, 0.0, 1.0)]
    found, *_ = calibrated_score(moved[0], moved[1], tuple(moved[2:]), greater_is_better=up)
    turned, *_ = calibrated_score(-value, -baseline, (-1.0, 0.0), greater_is_better=not up)
    assert found == pytest.approx(expected, abs=1e-4)
    assert turned == pytest.approx(expected)


@settings(deadline=None)
@given(st.floats(0.0, 1e6), st.floats(1e-6, 1e6), st.floats(1e-3, 1e3))
def test_ratios_have_no_unit(value, baseline, unit):
    expected, *_ = calibrated_score(value, baseline, (0.0, INF), greater_is_better=False)
    found, *_ = calibrated_score(unit * value, unit * baseline, (0.0, INF), greater_is_better=False)
    assert found == pytest.approx(expected)
    assert 0.0 <= found <= 1.0


@pytest.mark.parametrize(
    ("mean", "expected"), [("arithmetic", 0.7), ("geometric", 0.1**0.3), ("min", 0.1)]
)
def test_weighted_means_by_hand(mean, expected):
    found = weighted_mean(np.array([1.0, 0.1]), np.array([7.0, 3.0]), mean)
    assert found == pytest.approx(expected + (0.03 if mean == "arithmetic" else 0.0))


def test_one_zero_is_the_geometric_mean():
    scores, weights = np.array([1.0, 0.0]), np.array([1e9, 1e-9])
    assert weighted_mean(scores, weights, "geometric") == 0.0
    assert weighted_mean(scores, weights, "arithmetic") == pytest.approx(1.0)


@pytest.mark.parametrize("mean", MEANS)
def test_the_mean_of_nothing(mean):
    assert math.isnan(weighted_mean(np.array([]), np.array([]), mean))


@settings(deadline=None)
@given(st.lists(st.tuples(UNIT, st.floats(1e-3, 1e3)), min_size=1, max_size=8), st.data())
def test_means_are_in_order_and_ignore_the_order_and_the_unit_of_weights(pairs, data):
    scores, weights = np.array(pairs).T
    arithmetic, geometric, least = (weighted_mean(scores, weights, mean) for mean in MEANS)
    assert least <= geometric <= arithmetic * (1 + 1e-12) + 1e-300
    assert arithmetic <= scores.max()
    order = np.array(data.draw(st.permutations(range(len(pairs)))))
    for mean in MEANS:
        shuffled = weighted_mean(scores[order], 1e-200 * weights[order], mean)
        assert shuffled == pytest.approx(weighted_mean(scores, weights, mean))
