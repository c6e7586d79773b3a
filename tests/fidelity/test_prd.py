from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.preprocessing import FunctionTransformer

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.fidelity import ClassifierPRD
from skeval.fidelity.prd import (
    PRDCurve,
    area_under,
    curve_of_histograms,
    curve_of_scores,
    max_f_beta,
    slopes,
)
from skeval.steps.clusters import cluster_histograms
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, FRESH = (make_mixed(200, random_state=seed) for seed in range(3))
QUICK = {"n_runs": 3, "n_angles": 101}


def modes(*centres, n=300, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2)) + 30.0 * np.repeat(centres, n // len(centres))[:, None]
    return pd.DataFrame(rows, columns=["a", "b"])


def test_the_value_and_its_parts():
    result = PRDCurve(**QUICK).fit(TRAIN, HOLDOUT).evaluate(FRESH)
    details = result.details
    precision, recall = details["precision"], details["recall"]
    assert precision.shape == recall.shape == (101,)
    assert precision[50] == pytest.approx(recall[50])
    assert details["f_beta"] == max_f_beta(precision, recall, 8)
    assert details["f_beta_inv"] == max_f_beta(precision, recall, 1 / 8)
    assert result.value == (details["f_beta"] + details["f_beta_inv"]) / 2
    of_holdout = details["holdout"]
    assert result.baseline == (of_holdout["f_beta"] + of_holdout["f_beta_inv"]) / 2
    assert result.value == pytest.approx(result.baseline, abs=0.05)
    area = PRDCurve(**QUICK, headline="auc").fit(TRAIN).score(FRESH)
    assert area == details["auc"] == area_under(precision, recall)


def test_lost_and_invented_modes():
    lost = PRDCurve(**QUICK).fit(modes(0, 1)).evaluate(modes(0, seed=1)).details
    invented = PRDCurve(**QUICK).fit(modes(0)).evaluate(modes(0, 1, seed=1)).details
    assert lost["recall"].max() == pytest.approx(0.5, abs=0.02)
    assert lost["precision"].max() == 1.0
    assert invented["precision"].max() == pytest.approx(0.5, abs=0.02)
    assert invented["recall"].max() == pytest.approx(1.0, abs=0.02)
    assert lost["f_beta"] < 0.6 < 0.9 < lost["f_beta_inv"]
    assert invented["f_beta_inv"] < 0.6 < 0.9 < invented["f_beta"]
    apart = PRDCurve(**QUICK).fit(modes(0)).evaluate(modes(1, seed=1))
    assert apart.value == 0.0


def test_copies_score_one():
    assert PRDCurve(**QUICK).fit(TRAIN).score(TRAIN) == pytest.approx(1.0, abs=1e-9)


def test_few_distinct_rows_are_their_own_clusters():
    train, synthetic = (pd.DataFrame({"x": list(letters)}) for letters in ("aabb" * 6, "abbb" * 6))
    details = PRDCurve(n_clusters=5).fit(train).evaluate(synthetic).details
    assert details["n_clusters"] == 2
    assert details["precision"][500] == pytest.approx(0.75)


def test_histograms_are_shares_of_equal_samples():
    context = Context.of(TRAIN).with_synthetic(FRESH[:70])
    found = cluster_histograms(context, 6, 4, True)
    assert found.shape == (4, 2, 6)
    assert found.sum(axis=2) == pytest.approx(np.ones((4, 2)))
    assert np.round(found * 70, 9).tolist() == np.round(found * 70).tolist()
    assert cluster_histograms(context, 6, 4, True) is found
    assert not np.array_equal(cluster_histograms(context, 6, 4, True, seed=1), found)


def test_unequal_sizes():
    metric = PRDCurve(**QUICK).fit(TRAIN)
    assert metric.evaluate(FRESH[:70]).details["n_rows"] == {"train": 70, "synthetic": 70}
    with warns(MetricWarning):
        PRDCurve(**QUICK, balance=False).fit(TRAIN).score(FRESH[:70])
    sampled = PRDCurve(**QUICK, max_rows=50).fit(TRAIN).evaluate(FRESH)
    assert sampled.details["n_rows"] == {"train": 50, "synthetic": 50}


def test_order_changes_nothing():
    metric = PRDCurve(**QUICK)
    value = metric.fit(TRAIN).score(FRESH)
    mixed = [table.sample(frac=1, random_state=i) for i, table in enumerate((TRAIN, FRESH))]
    assert metric.fit(mixed[0]).score(mixed[1]) == pytest.approx(value, abs=1e-9)
    turned = [table[table.columns[::-1]] for table in mixed]
    assert metric.fit(turned[0]).score(turned[1]) == pytest.approx(value, abs=1e-9)


def test_columns_and_spaces():
    names = ["age", "visits"]
    chosen = PRDCurve(**QUICK, columns=names).fit(TRAIN).score(FRESH)
    assert chosen == PRDCurve(**QUICK).fit(TRAIN[names]).score(FRESH[names])
    raw = PRDCurve(**QUICK, space=FunctionTransformer()).fit(modes(0, 1))
    assert raw.score(modes(0, 1, seed=1)) > 0.9
    with raises(InvalidParameterError):
        PRDCurve(space="gower").fit(TRAIN)


def test_too_few_rows():
    metric = PRDCurve().fit(TRAIN)
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(FRESH[:19]))


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize(
    "change",
    [{"age": np.inf}, {"age": np.nan}, {"age": 1e300}, {"city": "elsewhere"}, {"city": None}],
    ids=str,
)
def test_odd_tables(change):
    train = TRAIN.assign(constant=1.0, empty=np.nan)
    synthetic = FRESH.assign(constant=1.0, empty=np.nan, **change)
    assert 0.0 <= PRDCurve(**QUICK).fit(train).score(synthetic) <= 1.0


EXACT = 32.5 / 33
# shares of train, of synthetic; F8, F1/8, middle, area
KNOWN = [
    ([1, 0], [0.5, 0.5], 0.984829, 0.503863, 0.5, 0.5),
    ([0.5, 0.5], [1, 0], 0.503863, 0.984829, 0.5, 0.5),
    ([0.5, 0.5, 0], [0, 0.5, 0.5], 0.5, 0.5, 0.5, 0.25),
    ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 0.977404, 0.977404, 0.7, 0.793258),
    ([1, 0], [0, 1], 0.0, 0.0, 0.0, 0.0),
    ([0.5, 0.5], [0.5, 0.5], 1.0, 1.0, 1.0, 1.0),
]


@pytest.mark.parametrize(("real", "synthetic", "f", "f_inv", "middle", "area"), KNOWN)
def test_known_histograms(real, synthetic, f, f_inv, middle, area):
    precision, recall = curve_of_histograms(np.array(real), np.array(synthetic))
    assert max_f_beta(precision, recall, 8) == pytest.approx(f, abs=1e-6)
    assert max_f_beta(precision, recall, 1 / 8) == pytest.approx(f_inv, abs=1e-6)
    assert precision[500] == pytest.approx(middle)
    assert recall[500] == pytest.approx(middle)
    assert area_under(precision, recall) == pytest.approx(area, abs=1e-5)


def test_lost_and_invented_modes_by_clusters():
    invented = curve_of_histograms(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    assert (invented[0].max(), invented[1].max()) == pytest.approx((0.5, 1.0))
    assert max_f_beta(*invented, 8) == pytest.approx(EXACT, abs=1e-4)


def test_exchanged_histograms_exchange_the_axes():
    a, b = np.random.default_rng(0).dirichlet(np.ones(6), size=2)
    precision, recall = curve_of_histograms(a, b)
    other_precision, other_recall = curve_of_histograms(b, a)
    assert precision == pytest.approx(other_recall[::-1], abs=1e-6)
    assert recall == pytest.approx(other_precision[::-1], abs=1e-6)
    assert precision[500] == pytest.approx(1 - np.abs(a - b).sum() / 2)
    assert (np.diff(precision) >= 0).all()
    assert (np.diff(recall) <= 1e-12).all()


def test_the_f_score_of_points():
    precision, recall = [1, 1, 0, 0, 0.5, 1, 0.5], [1, 0, 1, 0, 0.5, 0.5, 1]
    points = list(zip(precision, recall, strict=True))
    for beta, last in ((1.0, (2 / 3, 2 / 3)), (2.0, (5 / 9, 5 / 6))):
        found = [max_f_beta(np.array([p]), np.array([r]), beta) for p, r in points]
        assert found == pytest.approx([1, 0, 0, 0, 0.5, *last])


SCORED_TRAIN, SCORED_HOLDOUT, SYNTHETIC = (make_mixed(300, random_state=seed) for seed in range(3))


def test_two_normals():
    rng = np.random.default_rng(0)
    train, holdout, made = (pd.DataFrame({"x": rng.normal(m, 1, 10_000)}) for m in (0, 0, 1))
    found = ClassifierPRD(n_angles=201).fit(train, holdout).evaluate(made)
    precision, recall = found.details["precision"], found.details["recall"]
    slopes = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 201))
    theory = slopes * norm.sf(0.5 + np.log(slopes)) + norm.cdf(np.log(slopes) - 0.5)
    assert precision == pytest.approx(theory, abs=0.03)
    assert precision[100] == pytest.approx(0.6171, abs=0.02)
    assert recall[100] == pytest.approx(precision[100])
    assert found.details["real_rows"] == "holdout"


def test_what_is_missing_and_what_is_made_up():
    old = SCORED_TRAIN["age"] > SCORED_TRAIN["age"].median()
    missing, made_up = SCORED_TRAIN[~old], SYNTHETIC.assign(age=SYNTHETIC["age"] + 600)
    fewer = ClassifierPRD().fit(make_mixed(300, random_state=5), None).evaluate(missing)
    assert fewer.details["f_beta_inv"] > fewer.details["f_beta"] + 0.1  # precise, little recall
    wrong = ClassifierPRD().fit(SCORED_TRAIN, SCORED_HOLDOUT).evaluate(made_up)
    assert wrong.value < 0.2


def test_scores_are_those_of_the_curve():
    found = (
        ClassifierPRD(n_angles=101, beta=4).fit(SCORED_TRAIN, SCORED_HOLDOUT).evaluate(SYNTHETIC)
    )
    curve = found.details["precision"], found.details["recall"]
    scores = [max_f_beta(*curve, beta) for beta in (4, 0.25)]
    assert [found.details[name] for name in ("f_beta", "f_beta_inv")] == pytest.approx(scores)
    assert found.value == pytest.approx(np.mean(scores))
    assert found.value > 0.95
    assert found.baseline == 1.0


def test_one_unseen_row_is_not_enough():
    metric = ClassifierPRD(test_size=0.01).fit(SCORED_TRAIN.iloc[:20])
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(SYNTHETIC.iloc[:20]))


SLOPES = np.array([0.25, 1.0, 4.0])
THEORY = SLOPES * norm.sf(0.5 + np.log(SLOPES)) + norm.cdf(np.log(SLOPES) - 0.5)


def normal(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(1.0, 1.0, size=n)


def least_risk(real, synthetic, slope):
    """Return the least of ``slope * FP + FN`` over the thresholds of a score."""
    thresholds = np.append(-np.inf, np.sort(np.concatenate([real, synthetic])))
    false_positives = 1.0 - np.searchsorted(np.sort(real), thresholds, side="right") / real.size
    false_negatives = np.searchsorted(np.sort(synthetic), thresholds, side="right") / synthetic.size
    return (slope * false_positives + false_negatives).min()


def test_two_normals_by_scores():
    assert pytest.approx([0.2327, 0.6171, 0.9308], abs=5e-5) == THEORY
    found = [least_risk(*normal(20_000, 0), slope) for slope in SLOPES]
    assert found == pytest.approx([0.2322, 0.6077, 0.9231], abs=0.015)
    assert found == pytest.approx(THEORY, abs=0.01)


def test_halves_undo_the_bias_of_the_minimum():
    halves = [(normal(40, seed), normal(40, seed + 1000)) for seed in range(150)]
    apart = [curve_of_scores([pair], 3)[0][1] for pair in halves]
    together = [least_risk(*pair[0], 1.0) for pair in halves]
    assert np.mean(together) < THEORY[1] - 0.02
    assert np.mean(apart) >= THEORY[1] - 0.01


def test_the_middle_is_one_minus_the_distance():
    scored = normal(4000, 3), normal(4000, 4)
    precision, recall = curve_of_scores([scored], 101)
    assert precision[50] == pytest.approx(THEORY[1], abs=0.02)
    assert recall[50] == pytest.approx(precision[50])
    assert (precision <= np.minimum(slopes(101), 1.0) + 1e-12).all()
    assert (recall <= 1.0).all()
    assert (recall >= 0.0).all()


def test_the_same_and_the_disjoint():
    same = np.full(20, 0.5), np.full(20, 0.5)
    precision, recall = curve_of_scores([(same, same)], 101)
    assert (precision[50], recall[50]) == pytest.approx((1.0, 1.0))
    assert max_f_beta(precision, recall, 8.0) == pytest.approx(1.0)
    apart = np.zeros(20), np.ones(20)
    assert max_f_beta(*curve_of_scores([(apart, apart)], 101), 8.0) == 0.0


def test_the_better_classifier_counts():
    useless = np.full(20, 0.5), np.full(20, 0.5)
    good = np.zeros(20), np.ones(20)
    for models in ([useless, good], [good, useless]):
        precision, _ = curve_of_scores([(one, one) for one in models], 11)
        assert precision.max() == 0.0


def test_f_scores_of_known_points():
    p, r = np.array([1, 1, 0, 0, 0.5, 1, 0.5]), np.array([1, 0, 1, 0, 0.5, 0.5, 1])
    one = [max_f_beta(p[[i]], r[[i]], 1.0) for i in range(7)]
    assert one == pytest.approx([1, 0, 0, 0, 0.5, 2 / 3, 2 / 3])
    two = [max_f_beta(p[[i]], r[[i]], 2.0) for i in range(7)]
    assert two[-2:] == pytest.approx([5 / 9, 5 / 6])
