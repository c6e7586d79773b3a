"""Likelihood ratios, on generators whose leak is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.generators import Bootstrap
from skeval.privacy.attacks.shadow.game import Execution
from skeval.privacy.attacks.shadow.likelihood_ratio import (
    LikelihoodRatioMIA,
    Models,
    Moments,
    likelihood_ratio,
    moments,
    offline_score,
    pooled_targets,
    record_scores,
    scores_of_halves,
)
from skeval.reporting import ROCDisplay
from skeval.stats.roc import auc, auc_p_value, delong
from skeval.steps.neighbors import nearest
from tests.snapshots import raises

TRAIN, HOLDOUT = make_mixed(60, random_state=0), make_mixed(50, random_state=1)
RELEASE = Bootstrap().fit(TRAIN).sample(70, random_state=2)
CONTEXT = Context.of(TRAIN, HOLDOUT).with_synthetic(RELEASE)
SCORES = ("neg_distance", "query", "log_density")


class Independent:
    """A generator that looks at nothing."""

    def fit(self, table):
        return self

    def sample(self, n, random_state=None):
        rows = np.random.default_rng(random_state).normal(size=(n, 3))
        return pd.DataFrame(rows, columns=list("abc"))


class Copying:
    """A generator without a name of its own, as `repr` shows it."""

    def fit(self, table):
        self.rows = table
        return self

    def sample(self, n, random_state=None):
        return self.rows.sample(n, replace=True, random_state=random_state, ignore_index=True)


def evaluate(context=CONTEXT, **settings):
    metric = LikelihoodRatioMIA(Bootstrap(), **{"n_models": 8, **settings})
    return metric.fit_context(context.real).evaluate_context(context)


def models(n_models=8, score="neg_distance"):
    return scores_of_halves(CONTEXT, Models(Bootstrap(), n_models, 70, 0, Execution()), score)


# --------------------------------------------------------------------------------------- halves


@pytest.mark.parametrize("n_models", [8, 9])
def test_each_row_is_in_as_many_halves_as_it_is_not(n_models):
    _, inside = models(n_models)
    assert inside.shape == (n_models, 110)
    assert (inside.sum(axis=1) == 55).all()
    assert (inside[:8].sum(axis=0) == 4).all()
    assert (inside[0] ^ inside[1]).all()
    assert not np.array_equal(inside[0], inside[2])


def test_rows_that_were_drawn_are_at_no_distance():
    scores, inside = models()
    present = scores == 0.0
    assert not (present & ~inside).any()
    # 55 rows and 70 draws
    expected = 1 - (1 - 1 / 55) ** 70
    assert present[inside].mean() == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("score", SCORES)
def test_rows_are_scored_train_first(score):
    scores = record_scores(CONTEXT, score)
    assert scores.shape == (110,)
    assert np.isfinite(scores).all()
    members, others = scores[:60], scores[60:]
    assert auc(members, others) > 0.6


def test_distances_are_those_of_the_screens():
    distances = [nearest(CONTEXT, role, "synthetic")[0][:, 0] for role in ("train", "holdout")]
    assert np.array_equal(record_scores(CONTEXT, "neg_distance"), -np.concatenate(distances))


def test_pooled_targets_do_not_go_by_table():
    actual = pooled_targets(CONTEXT, "achilles", 30, 0)
    assert actual.size == 30
    assert (np.diff(actual) > 0).all()
    assert 0 < (actual < 60).sum() < 30


# -------------------------------------------------------------------------------------- results


@pytest.mark.parametrize("mode", ["online", "offline"])
@pytest.mark.parametrize("variance", ["global", "per_record"])
def test_the_value_is_the_auc_on_the_release(mode, variance):
    result, (scores, inside) = evaluate(mode=mode, variance=variance), models()
    known = moments(scores, inside, per_record=variance == "per_record")
    judge = likelihood_ratio if mode == "online" else offline_score
    ratios = judge(record_scores(CONTEXT, "neg_distance"), known)
    area = delong(ratios[:60], ratios[60:])
    assert (result.value, result.interval) == (area.value, area.interval)
    assert result.p_value == auc_p_value(ratios[:60], ratios[60:]) < 1e-4
    assert result.baseline == 0.5
    assert len(result.warnings) == (variance == "per_record")
    plain = record_scores(CONTEXT, "neg_distance")
    assert result.details["uncalibrated_auc"] == auc(plain[:60], plain[60:])


def test_copies_are_found_as_often_as_they_were_drawn():
    result = evaluate(n_models=16)
    presence = 1 - (1 - 1 / 60) ** 70
    assert result.value == pytest.approx(0.5 + presence / 2, abs=0.06)
    over = result.details["models"]
    presence = 1 - (1 - 1 / 55) ** 70
    assert over["auc"] == pytest.approx(0.5 + presence / 2, abs=0.04)
    assert over["interval"][0] <= over["auc"] <= over["interval"][1]
    assert over["tpr_at_fpr"][0]["tpr"] > 0.4


@pytest.mark.parametrize("score", SCORES)
def test_every_score_finds_copies(score):
    result = evaluate(record_score=score)
    assert result.value > 0.65
    assert result.details["models"]["auc"] > 0.65


def test_a_curve_to_draw():
    result = evaluate(fpr=[0.1, 0.001])
    first, last = result.details["tpr_at_fpr"]
    assert 0.0 < first["tpr"] <= 1.0
    assert first["interval"][0] <= first["tpr"] <= first["interval"][1]
    assert first["p_value"] < 0.05
    assert np.isnan(last["tpr"])
    frame = ROCDisplay(result).frame()
    assert (frame["point"] == "at most 0.1").sum() == 1
    ROCDisplay(result).plot()


def test_the_most_exposed_rows_alone():
    result = evaluate(targets="achilles", n_targets=30)
    assert result.details["n_members"] + result.details["n_others"] == 30
    assert result.value > 0.6
    few = evaluate(targets="achilles", n_targets=1)
    assert np.isnan(few.value)
    assert "fewer than two train rows" in str(few.warnings[0])


def test_rows_of_train_are_held_against_the_holdout():
    result = evaluate(targets=[5, 3])
    assert result.details["n_members"] == 2
    assert result.details["n_others"] == len(HOLDOUT)
    assert evaluate(targets=range(len(TRAIN))).value == evaluate().value
    with raises(InvalidParameterError):
        evaluate(targets=[len(TRAIN)])
    with raises(InvalidParameterError):
        evaluate(targets=[1, 1])


def test_it_tells_what_it_costs():
    metric = LikelihoodRatioMIA(Bootstrap(), n_models=64, max_fits=63)
    assert metric.estimate_cost() == 64
    with raises(InvalidParameterError):
        metric.fit(TRAIN, HOLDOUT)
    with raises(InvalidParameterError):
        LikelihoodRatioMIA(Bootstrap(), n_models=2).fit(TRAIN, HOLDOUT)


def test_a_density_of_few_rows_is_not_defined():
    few = CONTEXT.real.with_synthetic(RELEASE.head(5))
    result = evaluate(few, record_score="log_density")
    assert np.isnan(result.value)
    assert "10 synthetic rows" in str(result.warnings[0])


# ------------------------------------------------------------------------------------- formulas

RNG = np.random.default_rng(0)
DRAWN = RNG.normal(size=(8, 5))
LEARNED = np.repeat([[True], [False]], 4, axis=0).reshape(8, 1) ^ (RNG.random((1, 5)) < 0.5)


def test_by_hand():
    one = np.ones(1)
    known = Moments(2 * one, one, 0 * one, one)
    assert likelihood_ratio(np.array([1.5]), known).tolist() == [1.0]
    assert offline_score(np.array([1.5]), known).tolist() == [1.5]


def test_it_is_a_ratio_of_normal_densities():
    known = moments(DRAWN, LEARNED, per_record=True)
    x = RNG.normal(size=5)
    expected = norm.logpdf(x, known.mean_in, known.sd_in)
    expected -= norm.logpdf(x, known.mean_out, known.sd_out)
    assert likelihood_ratio(x, known) == pytest.approx(expected)


def test_moments_of_each_record():
    known = moments(DRAWN, LEARNED, per_record=True)
    for j in range(5):
        own, others = DRAWN[LEARNED[:, j], j], DRAWN[~LEARNED[:, j], j]
        assert known.mean_in[j] == pytest.approx(own.mean())
        assert known.sd_in[j] == pytest.approx(own.std(ddof=1))
        assert known.mean_out[j] == pytest.approx(others.mean())
        assert known.sd_out[j] == pytest.approx(others.std(ddof=1))


def test_one_spread_of_all_records():
    known = moments(DRAWN, LEARNED, per_record=False)
    own = np.concatenate([DRAWN[m, j] - DRAWN[m, j].mean() for j, m in enumerate(LEARNED.T)])
    assert known.sd_in == pytest.approx(np.sqrt((own**2).sum() / (own.size - 5)))


@pytest.mark.parametrize("per_record", [True, False])
def test_groups_are_left_out(per_record):
    groups = np.array([0, 1, 2, 3, 0, 1, 2, 3])
    estimates = moments(DRAWN, LEARNED, per_record=per_record, left_out=groups)
    for model in range(8):
        kept = groups != groups[model]
        # the minimum spread over all models is much smaller than these
        alone = moments(DRAWN[kept], LEARNED[kept], per_record=per_record)
        for name in ("mean_in", "sd_in", "mean_out", "sd_out"):
            assert getattr(estimates, name)[model] == pytest.approx(getattr(alone, name))


def test_records_in_another_order_have_the_same_bits():
    order = np.array([3, 0, 4, 1, 2])
    for per_record in (True, False):
        first = moments(DRAWN, LEARNED, per_record=per_record)
        second = moments(DRAWN[:, order], LEARNED[:, order], per_record=per_record)
        assert np.array_equal(first.sd_in[order], second.sd_in)


def test_scores_that_do_not_vary_have_a_least_spread():
    scores = np.where(LEARNED, 1.0, 0.0)
    known = moments(scores, LEARNED, per_record=True)
    assert (known.sd_in > 0).all()
    assert np.isfinite(likelihood_ratio(np.zeros(5), known)).all()
    constant = moments(np.ones((8, 5)), LEARNED, per_record=False)
    assert likelihood_ratio(np.ones(5), constant).tolist() == [0.0] * 5


# ------------------------------------------------------------------------------------- slow runs


@pytest.mark.calibration
@pytest.mark.parametrize("mode", ["online", "offline"])
def test_without_a_leak_nothing_is_found(mode):
    results = []
    for seed in range(150):
        rs = np.random.RandomState(seed)
        tables = [pd.DataFrame(rs.normal(size=(60, 3)), columns=list("abc")) for _ in range(3)]
        context = Context.of(*tables[:2]).with_synthetic(tables[2])
        metric = LikelihoodRatioMIA(Independent(), n_models=8, mode=mode, random_state=seed)
        results.append(metric.fit_context(context.real).evaluate_context(context))
    values = [one.value for one in results]
    assert np.mean(values) == pytest.approx(0.5, abs=0.015)
    assert np.mean([one.p_value < 0.05 for one in results]) <= 0.1
    assert np.mean([one.interval[0] <= 0.5 <= one.interval[1] for one in results]) >= 0.9
    over = [one.details["models"] for one in results]
    assert np.mean([one["auc"] for one in over]) == pytest.approx(0.5, abs=0.01)
    assert np.mean([one["interval"][0] <= 0.5 <= one["interval"][1] for one in over]) >= 0.9
