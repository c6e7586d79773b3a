from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from skeval import Context
from skeval.datasets import make_mixed
from skeval.privacy import MembershipInference
from skeval.privacy.attacks.membership.rates import (
    bayes_precision,
    groups_by_outlyingness,
    precision_at,
)
from skeval.stats.intervals import clopper_pearson
from skeval.stats.roc import auc, auc_p_value
from skeval.steps.leak_advice import outlyingness
from skeval.steps.members import member_scores


def frame(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])


def outlyingness_of_all(context, space="gower"):
    rows = (np.arange(context.n_rows(role)) for role in ("train", "holdout"))
    return outlyingness(context, space, None, *rows)


def test_outlyingness_is_the_mean_distance_to_five_others():
    rng = np.random.default_rng(0)
    train, holdout = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
    context = Context.of(frame(train), frame(holdout))
    pool = np.concatenate([train, holdout])
    scaled = pool / np.ptp(pool, axis=0)
    near = np.sort(cdist(scaled, scaled, "cityblock") / 3, axis=1)[:, 1:6].mean(axis=1)
    of_train, of_holdout = outlyingness_of_all(context)
    np.testing.assert_allclose(np.concatenate([of_train, of_holdout]), near, atol=1e-9)
    back = outlyingness_of_all(Context.of(frame(holdout), frame(train)))
    np.testing.assert_allclose(back[1], of_train)  # labels play no part


def test_groups_are_tenths_and_tails():
    rng = np.random.default_rng(0)
    members, others, apart = rng.normal(size=600), rng.normal(size=400), rng.normal(size=1000)
    groups = groups_by_outlyingness(members, others, (apart[:600], apart[600:]))
    assert len(groups) == 13
    assert [g["n_members"] + g["n_others"] for g in groups] == [100] * 10 + [50, 20, 10]
    top = groups[9]
    cut = np.sort(apart)[900]
    inside = members[apart[:600] >= cut], others[apart[600:] >= cut]
    assert top["auc"] == auc(*inside)
    assert top["p_value"] == auc_p_value(*inside)
    assert all(g["interval"][0] <= g["auc"] <= g["interval"][1] for g in groups)


def test_small_tables_have_fewer_groups():
    rng = np.random.default_rng(0)
    for n, expected in ((8, 0), (15, 3), (24, 4), (50, 10)):
        members, others, apart = (rng.normal(size=size) for size in (n, n, 2 * n))
        found = groups_by_outlyingness(members, others, (apart[:n], apart[n:]))
        assert len(found) <= expected
        assert (len(found) > 0) == (expected > 0)


def test_equally_common_rows_stay_together():
    members, others = np.arange(60.0), np.arange(60.0)
    assert (
        groups_by_outlyingness(members, others, (np.zeros(60), np.zeros(60)))[0]["n_members"] == 60
    )


@pytest.mark.slow
def test_a_leak_of_outlying_rows_is_found():
    """The 60 most unusual of 1000 training rows are copied."""
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (rng.normal(size=(1000, 4)) for _ in range(3))
    far = np.argsort(-(train**2).sum(axis=1))[:60]
    synthetic[:60] = train[far]
    context = Context.of(frame(train), frame(holdout)).with_synthetic(frame(synthetic))
    result = MembershipInference("distance").evaluate_context(context)
    outliers = result.details["outliers"]
    assert result.value < 0.58
    assert outliers["worst"]["up_to"] == 1.0
    assert outliers["worst"]["above"] >= 0.9
    assert outliers["p_value"] < 1e-6
    assert outliers["largest_auc"] > 0.7
    scores = member_scores(context, "distance")
    assert auc(scores.members, scores.others) == result.value


@pytest.mark.slow
def test_nothing_is_found_where_nothing_leaks():
    tables = [make_mixed(300, random_state=seed) for seed in range(3)]
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    assert (
        MembershipInference("distance").evaluate_context(context).details["outliers"]["p_value"]
        > 0.05
    )


def test_a_hidden_leak_is_said():
    rng = np.random.default_rng(3)
    train, holdout, synthetic = (rng.normal(size=(1000, 4)) for _ in range(3))
    synthetic[:12] = train[np.argsort(-(train**2).sum(axis=1))[:12]]
    metric = MembershipInference("distance", fpr=0.1).fit(frame(train), frame(holdout))
    result = metric.evaluate_context(metric.context_.with_synthetic(frame(synthetic)))
    assert result.p_value >= 0.025
    assert result.details["outliers"]["p_value"] < 0.025
    assert "farthest from other rows (the outermost" in str(result.warnings[-1])


def test_one_column_and_two_rows():
    context = Context.of(pd.DataFrame({"x": [0.0, 1.0]}), pd.DataFrame({"x": [2.0]}))
    of_train, of_holdout = outlyingness_of_all(context)
    assert of_train.tolist() == [0.75, 0.5]
    assert of_holdout.tolist() == [0.75]


@pytest.mark.parametrize("space", ["euclidean"])
def test_other_spaces(space):
    tables = [make_mixed(60, random_state=seed) for seed in range(2)]
    of_train, of_holdout = outlyingness_of_all(Context.of(*tables), space)
    assert np.isfinite(of_train).all()
    assert len(of_holdout) == 60


def test_precision_of_two_normals():
    rs = np.random.RandomState(0)
    normal = rs.normal(1, 1, 1000), rs.normal(0, 1, 1000)
    precision, interval = precision_at(*normal, 100)
    assert precision == 0.91
    assert interval == clopper_pearson(91, 100)


def test_precision_counts_ties_by_their_share():
    positives, negatives = np.array([5.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0])
    precision, (low, high) = precision_at(positives, negatives, 2)  # one hit, and 2 of 3 tie
    assert precision == pytest.approx((1 + 2 / 3) / 2)
    assert (low, high) == (clopper_pearson(1, 2)[0], clopper_pearson(2, 2)[1])


def test_precision_by_bayes():
    assert bayes_precision(0.4, 0.1, 0.5) == pytest.approx(0.8)
    assert bayes_precision(0.4, 0.0, 0.01) == 1.0
    assert np.isnan(bayes_precision(0.0, 0.0, 0.5))


def test_precision_where_all_scores_tie():
    ones = np.ones(20)
    assert precision_at(ones, ones, 5)[0] == 0.5
    assert precision_at(ones, ones, 40)[0] == 0.5
