from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from skeval.stats.intervals import clopper_pearson
from skeval.stats.roc import (
    Areas,
    advantage_threshold,
    auc,
    auc_interval,
    auc_p_value,
    clustered_delong,
    delong,
    label_tests,
    median_accuracy,
    points_to_draw,
    rates_at,
    roc_curve,
    threshold_at,
    tpr_at_fpr,
)

IN, OUT = np.array([0.8, 0.6, 0.4]), np.array([0.7, 0.3, 0.2])


def scores_of_normals():
    rs = np.random.RandomState(0)
    return rs.normal(1, 1, 1000), rs.normal(0, 1, 1000)


@pytest.fixture(scope="module")
def normal() -> tuple[np.ndarray, np.ndarray]:
    """1000 scores of N(1, 1), then 1000 of N(0, 1)."""
    return scores_of_normals()


def area_under(curve):
    return np.diff(curve.fpr) @ (curve.tpr[1:] + curve.tpr[:-1]) / 2


@pytest.mark.parametrize(("alpha", "tpr"), [(0.1, 0.359), (0.01, 0.099), (0.001, 0.049)])
def test_rates_of_two_normals(normal, alpha, tpr):
    assert tpr_at_fpr(*normal, alpha) == tpr


def test_the_curve_has_the_area(normal):
    curve = roc_curve(*normal)
    assert area_under(curve) == pytest.approx(auc(*normal))
    assert auc(*normal) == pytest.approx(0.752246, abs=1e-6)


def brute_tpr(positives, negatives, alpha):
    """The largest rate over all thresholds, scores taken one by one."""
    return max(
        (positives >= threshold).mean()
        for threshold in [*positives, *negatives, np.inf]
        if (negatives >= threshold).sum() <= np.floor(negatives.size * alpha + 1e-9)
    )


@pytest.mark.parametrize("seed", range(5))
def test_ties_are_called_alike(seed):
    rng = np.random.default_rng(seed)
    positives, negatives = (
        rng.integers(0, 6, 40).astype(float),
        rng.integers(0, 5, 30).astype(float),
    )
    for alpha in (0.05, 0.1, 0.3, 0.9):
        assert tpr_at_fpr(positives, negatives, alpha) == brute_tpr(positives, negatives, alpha)
    curve = roc_curve(positives, negatives)
    assert area_under(curve) == pytest.approx(auc(positives, negatives))


def test_one_negative_is_more_than_the_rate_allows():
    scores = np.arange(10.0)
    assert np.isnan(tpr_at_fpr(scores, scores, 0.05))
    assert np.isnan(threshold_at(scores, scores, 0.05))
    assert tpr_at_fpr(scores, scores, 0.1) == 0.1


def test_a_rate_of_three_tenths_allows_three_of_ten():
    positives, negatives = np.full(5, 7.0), np.arange(10.0)  # 10 * 0.3 is 2.9999999999999996
    assert tpr_at_fpr(positives, negatives, 0.3) == 1.0


def test_all_scores_equal():
    ones = np.ones(20)
    assert tpr_at_fpr(ones, ones, 0.1) == 0.0
    assert median_accuracy(ones, ones) == 0.5
    assert advantage_threshold(ones, ones) == np.inf
    (rate,), advantage = label_tests(ones, ones, [0.1], n_permutations=19, seed=0)
    assert rate.p_value == advantage.p_value == 1.0


def test_thresholds_are_kept_to():
    learnt = np.array([3.0, 2.0, 2.0, 1.0]), np.array([2.0, 1.0, 0.0, 0.0])
    assert threshold_at(*learnt, 0.25) == 2.0
    assert advantage_threshold(*learnt) == 2.0  # as good as 1.0, and the higher one
    called = rates_at(*learnt, 2.0)
    assert (called.tpr, called.fpr) == (0.75, 0.25)
    assert called.intervals() == (clopper_pearson(3, 4), clopper_pearson(1, 4))


def test_random_labels_reach_a_rate_by_chance():
    rng = np.random.default_rng(0)
    negatives, same = rng.normal(size=200), rng.normal(size=150)
    (rate, lost), greatest = label_tests(same, negatives, [0.1, 0.001], n_permutations=199, seed=1)
    assert rate.observed == tpr_at_fpr(same, negatives, 0.1)
    assert rate.mean == pytest.approx(0.1, abs=0.01)
    assert rate.p_value > 0.01
    assert lost.observed == 0.0
    curve = roc_curve(same, negatives)
    assert greatest.observed == pytest.approx((curve.tpr - curve.fpr).max())
    few = np.concatenate([same, np.full(10, 9.0)])
    (found,), _ = label_tests(few, negatives, [0.01], n_permutations=199, seed=1)
    assert found.p_value == 1 / 200


def test_the_band_is_of_each_rate():
    curve = roc_curve(np.array([3.0, 2.0, 1.0]), np.array([2.5, 0.0]))
    low, high = curve.band(np.arange(len(curve.tpr)))
    expected = [clopper_pearson(int(k), 3) for k in curve.true_positives]
    np.testing.assert_allclose(np.stack([low, high], axis=1), expected)


def test_thinned_curves_are_short_and_whole():
    rng = np.random.default_rng(0)
    positives, negatives = rng.normal(size=5000), rng.normal(size=4000)
    curve = roc_curve(positives, negatives)
    kept = points_to_draw(curve)
    assert len(kept) <= 200
    assert curve.fpr[kept[-1]] == curve.tpr[kept[-1]] == 1.0
    assert curve.fpr[kept[0]] == 0.0
    for alpha in (0.001, 0.01, 0.1):  # the grid may miss the rate by its own step
        at = curve.fpr[kept] <= alpha
        expected = tpr_at_fpr(positives, negatives, alpha)
        assert curve.tpr[kept][at][-1] == pytest.approx(expected, abs=0.02)
    tiny = roc_curve(np.array([1.0]), np.array([0.0]))
    assert points_to_draw(tiny).tolist()[-1] == 2


def test_a_small_sample_by_hand():
    assert auc(IN, OUT) == pytest.approx(7 / 9)
    assert delong(IN, OUT).standard_error == pytest.approx(0.2484520, abs=5e-8)


def test_a_large_sample():
    found = delong(*scores_of_normals())
    assert found.value == pytest.approx(0.752246, abs=5e-7)
    assert found.standard_error == pytest.approx(0.0107310, abs=5e-8)
    low, high = found.interval
    assert 0.73 < low < found.value < high < 0.775


@pytest.mark.parametrize("seed", range(5))
def test_ties_count_half_as_for_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    positives, negatives = rng.integers(0, 5, 30), rng.integers(0, 4, 17)
    labels = np.repeat([1, 0], [30, 17])
    expected = roc_auc_score(labels, np.concatenate([positives, negatives]))
    assert auc(positives, negatives) == pytest.approx(expected)
    assert auc(negatives, positives) == pytest.approx(1 - expected)


def test_delong_is_its_definition():
    positives, negatives = np.array([3.0, 1.0, 2.0, 2.0]), np.array([2.0, 0.0, 1.0])
    wins = (positives[:, None] > negatives) + 0.5 * (positives[:, None] == negatives)
    variance = wins.mean(1).var(ddof=1) / 4 + wins.mean(0).var(ddof=1) / 3
    assert delong(positives, negatives).standard_error == pytest.approx(np.sqrt(variance))


def test_the_interval_at_the_edges():
    assert auc_interval(1.0, 0.0, 50, 50) == (pytest.approx(0.92888, abs=5e-6), 1.0)
    assert auc_interval(0.0, 0.0, 50, 80) == (0.0, pytest.approx(1 - 0.92888, abs=5e-6))
    assert auc_interval(0.7, 0.0, 5, 5) == (0.7, 0.7)
    narrow, wide = (auc_interval(0.7, 0.05, 50, 50, level) for level in (0.9, 0.99))
    assert wide[0] < narrow[0] < 0.7 < narrow[1] < wide[1]


def test_one_row_leaves_no_error():
    found = delong(np.array([1.0]), np.array([0.0, 0.5]))
    assert found.value == 1.0
    assert np.isnan(found.standard_error)
    assert found.interval == (0.0, 1.0)


def test_the_test():
    ordered = np.arange(3.0)
    assert auc_p_value(ordered + 3, ordered) == pytest.approx(1 / 20)
    assert auc_p_value(ordered, ordered + 3, "less") == pytest.approx(1 / 20)
    assert auc_p_value(ordered, ordered + 3) == pytest.approx(1.0)
    assert auc_p_value(np.ones(30), np.ones(40)) == 1.0


@pytest.mark.slow
def test_the_interval_covers():
    covered = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        low, high = delong(rng.normal(1, 1, 60), rng.normal(0, 1, 40)).interval
        covered.append(low <= 0.7602499 <= high)
    assert 0.93 <= np.mean(covered) <= 0.975


def test_clusters_of_one_row_are_rows():
    rng = np.random.default_rng(0)
    members, others = rng.normal(0.3, 1, 40), rng.normal(size=30)
    whose = np.arange(40), 40 + np.arange(30)
    alone, clustered = delong(members, others), clustered_delong(members, others, *whose)
    assert clustered.value == alone.value
    assert clustered.standard_error == pytest.approx(alone.standard_error)
    assert clustered.interval[0] < alone.interval[0]  # by Student's quantile


def test_clusters_on_both_sides_by_hand():
    """Two rows of one person on both sides: the covariance of what they score counts."""
    area = clustered_delong(np.array([1.0, 3.0]), np.array([0.0, 2.0]), np.arange(2), np.arange(2))
    above, below = np.array([0.5, 1.0]) - 0.75, np.array([1.0, 0.5]) - 0.75
    variance = 2 * (above @ above + below @ below) / 4 + 2 * (above @ below) / 4
    assert area.standard_error == pytest.approx(np.sqrt(variance))


def test_one_cluster_has_no_interval():
    area = clustered_delong(np.ones(3), np.zeros(3), np.zeros(3, int), np.arange(1, 4))
    assert np.isnan(area.standard_error)
    assert area.interval == (0.0, 1.0)


def test_areas_of_several_scores_against_all_labels():
    labels = np.array([True, True, True, True, False, False, False, False, False])
    scores = np.array(
        [[5.0, 9, 1], [4, 7, 1], [3, np.nan, 1], [1, np.nan, 1], [3, 8, 1], [2, 7, 1], [0, 5, 1],
         [0, np.nan, 1], [6, np.nan, 1]]
    )  # fmt: skip
    areas = Areas.from_scores(scores, labels)
    # two of the five rows, and two of the four, that have the second score or lack it
    inside, beyond = np.flatnonzero(areas.strata == 0), np.flatnonzero(areas.strata > 0)
    every = np.zeros((9, 60), dtype=bool)
    pairs = [(a, b) for a in combinations(inside, 2) for b in combinations(beyond, 2)]
    for column, (a, b) in zip(every.T, pairs, strict=True):
        column[[*a, *b]] = True
    sums = areas.ranks.T @ every
    np.testing.assert_allclose(areas.mean, sums.mean(axis=1))
    np.testing.assert_allclose(areas.spread, sums.std(axis=1), atol=1e-12)
    observed = areas.deviations(labels[:, None])[:, 0]
    assert observed[2] == 0.0  # all rows tie
    for score in (0, 1):
        column = scores[:, score]
        has = ~np.isnan(column)
        expected = auc(column[labels & has], column[~labels & has])
        assert areas.area(score, observed[score]) == pytest.approx(expected)
    test = areas.test(labels, [every])
    largest = areas.deviations(every).max(axis=0)
    assert test.observed == observed.max()
    assert test.p_value == (1 + (largest >= observed.max() - 1e-9).sum()) / 61
