"""All attacks blended: what generators leak, and that a blend of nothing is nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from skeval import Context
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError
from skeval.generators import Bootstrap, SequentialCART
from skeval.privacy import StackedMembershipInference
from skeval.privacy.attacks.shadow.game import Execution
from skeval.privacy.attacks.shadow.likelihood_ratio import Models, fits_of_halves
from skeval.privacy.attacks.shadow.stacked_membership import (
    attacked_pool,
    normal_scores,
    pooled_scores,
    scores_of_worlds,
    stacked_scores,
)
from skeval.reporting import ROCDisplay
from skeval.stats.roc import auc, tpr_at_fpr
from skeval.steps.members import ATTACKS, member_scores
from tests.calibrations import Claim, all_hold, rates_of
from tests.snapshots import raises

TRAIN, HOLDOUT = make_mixed(60, random_state=0), make_mixed(50, random_state=1)
RELEASE = Bootstrap().fit(TRAIN).sample(70, random_state=2)
CONTEXT = Context.of(TRAIN, HOLDOUT).with_synthetic(RELEASE)
CHEAP = ["distance", "ratio", "levatt"]


def evaluate(context=CONTEXT, generator=None, **settings):
    settings = {"attacks": CHEAP, "n_models": 8, **settings}
    metric = StackedMembershipInference(generator or Bootstrap(), **settings)
    return metric.fit_context(context.real).evaluate_context(context)


def cells(table):
    return [str(row) for row in table.to_numpy(dtype=object).tolist()]


def test_members_of_a_copying_generator_are_found():
    result = evaluate()
    assert result.value > 0.7
    assert result.p_value < 0.001
    assert result.interval[0] < result.value < result.interval[1]
    assert result.baseline == 0.5
    details = result.details
    assert set(details["attacks"]) == {"stacked", *CHEAP}
    assert (details["n_members"], details["n_others"], details["n_fits"]) == (60, 25, 8)
    assert [rate["fpr"] for rate in details["tpr_at_fpr"]] == [0.1, 0.01, 0.001]
    assert details["tpr_at_fpr"][0]["tpr"] > 0.3
    assert np.isnan(details["tpr_at_fpr"][2]["tpr"])
    assert details["curve"]["auc"] == result.value
    assert "The best individual attack" in result.summary
    assert ROCDisplay(result).plot() is not None


@pytest.mark.slow
def test_all_attacks_that_can_be_run_are_blended():
    result = evaluate(attacks="all")
    assert set(result.details["attacks"]) == {"stacked", *ATTACKS}
    few = Context.of(TRAIN, HOLDOUT[:12]).with_synthetic(RELEASE)
    skipped = evaluate(few, attacks="all").details["skipped"]
    assert set(skipped) == {"domias", "classifier"}


def test_no_reference_row_is_attacked_or_learned_from():
    pool = attacked_pool(CONTEXT, 0.5, None, 0)
    assert sorted(pool.members) == list(range(60))
    assert sorted([*pool.others, *pool.reference]) == list(range(50))
    seen = []

    class Recording(Bootstrap):
        def fit(self, table):
            seen.append(cells(table))
            return super().fit(table)

    models = Models(Recording(), 8, 70, 0, Execution())
    scores, inside = scores_of_worlds(CONTEXT, models, ("distance",), pool)
    assert not any(set(rows) & set(cells(HOLDOUT.iloc[pool.reference])) for rows in seen)
    assert scores.shape == (8, 1, 85)
    assert inside.sum(axis=0).tolist() == [4] * 85
    assert (inside[::2] != inside[1::2]).all()
    rows = cells(TRAIN.iloc[pool.members])
    for model, known in enumerate(seen):
        assert [row in known for row in rows] == inside[model, :60].tolist()


def test_a_sample_is_nested_in_all_rows():
    every, some = (attacked_pool(CONTEXT, 0.5, n, 0) for n in (None, 20))
    assert every.members[-20:].tolist() == some.members.tolist()
    assert every.others[-20:].tolist() == some.others.tolist()
    assert every.reference.tolist() == some.reference.tolist()
    details = evaluate(max_rows=20).details
    assert (details["n_members"], details["n_others"]) == (20, 20)
    by_all, by_some = (pooled_scores(CONTEXT, ("distance",), p, 0)[0] for p in (every, some))
    np.testing.assert_allclose(by_all[40:60], by_some[:20])


def test_scores_are_those_of_the_attacks():
    pool = attacked_pool(CONTEXT, 0.5, None, 0)
    (scores,) = pooled_scores(CONTEXT, ("levatt",), pool, 0)
    plain = member_scores(CONTEXT, "levatt")
    assert scores[:60].tolist() == plain.members[pool.members].tolist()
    assert scores[60:].tolist() == plain.others[pool.others].tolist()


@pytest.mark.parametrize("attack", ["ratio", "domias", "classifier"])
def test_positions_of_holdout_rows_are_as_good_a_reference_as_the_rows(attack):
    places = attacked_pool(CONTEXT, 0.5, None, 0).reference
    rows = CONTEXT.holdout.iloc[places].reset_index(drop=True)
    scores = [member_scores(CONTEXT, attack, reference=given) for given in (places, rows)]
    assert scores[0].members.tolist() == scores[1].members.tolist()
    assert scores[0].others.tolist() == scores[1].others.tolist()


def test_halves_share_no_row():
    fits, inside = fits_of_halves(np.array([1, 3, 4, 6]), 4, 0)
    assert inside.shape == (4, 7)
    assert [sorted(fit.rows) for fit in fits] == [np.flatnonzero(row).tolist() for row in inside]
    assert sorted([*fits[0].rows, *fits[1].rows]) == [1, 3, 4, 6]


def test_ranks_are_of_each_table():
    scores = np.array([[1.0, 2.0, 3.0], [10.0, 30.0, 20.0]])
    first, second = normal_scores(scores)
    assert first.tolist() == second[[0, 2, 1]].tolist()
    assert first[1] == 0.0


def worlds(rng, n_models, n_rows, shifts):
    """Scores that are higher where a row was in by `shifts`, one for each attack."""
    inside = np.repeat(rng.random((n_models // 2, n_rows)) < 0.5, 2, axis=0)
    inside[1::2] ^= True
    usual = 3.0 * rng.normal(size=(1, len(shifts), n_rows))  # some rows are near any table
    noise = rng.normal(size=(n_models, len(shifts), n_rows))
    return usual + noise + inside[:, None, :] * np.array(shifts)[None, :, None], inside


@pytest.mark.slow
def test_a_blend_finds_more_than_each_attack_and_leaves_out_noise():
    rng = np.random.default_rng(0)
    scores, inside = worlds(rng, 18, 600, [1.5, 1.5, 0.0])
    released, member = scores[0], inside[0]
    blended = stacked_scores(released, scores[2:], inside[2:], None, 0)
    singly = [auc(one[member], one[~member]) for one in released]
    assert max(singly) < 0.7
    assert auc(blended[member], blended[~member]) > 0.85
    forest = RandomForestClassifier(50, min_samples_leaf=20)
    blended = stacked_scores(released, scores[2:], inside[2:], forest, 0)
    assert auc(blended[member], blended[~member]) > 0.8


def test_a_table_does_not_teach_its_own_means():
    """Scores of pure noise teach nothing: leaked means would be learned, and fail on the release."""
    rng = np.random.default_rng(0)
    scores, inside = worlds(rng, 10, 400, [0.0, 0.0])
    blended = stacked_scores(scores[0], scores[2:], inside[2:], None, 0)
    assert abs(auc(blended[inside[0]], blended[~inside[0]]) - 0.5) < 0.1


@pytest.mark.slow
def test_a_default_tree_generator_leaks_more_than_any_single_attack_sees():
    train, holdout = make_mixed(300, random_state=3), make_mixed(300, random_state=4)
    release = SequentialCART().fit(train).sample(300, random_state=5)
    metric = StackedMembershipInference(SequentialCART()).fit(train, holdout)
    attacks = metric.evaluate(release).details["attacks"]
    stacked = attacks.pop("stacked")["auc"]
    assert stacked > max(one["auc"] for one in attacks.values()) + 0.03


def test_the_order_of_rows_and_the_number_of_jobs_do_not_matter():
    value = evaluate().value
    shuffled = [t.sample(frac=1.0, random_state=i) for i, t in enumerate((TRAIN, HOLDOUT))]
    assert evaluate(n_jobs=2).value == value
    again = Context.of(*shuffled).with_synthetic(RELEASE)
    assert evaluate(again).value == pytest.approx(value, abs=1e-9)


def test_what_cannot_be_attacked():
    metric = StackedMembershipInference(Bootstrap(), n_models=30, max_fits=20)
    with raises(InvalidParameterError):
        metric.fit(TRAIN, HOLDOUT)
    for wrong in ("distance", [], ["guess"]):
        with raises(InvalidParameterError):
            StackedMembershipInference(Bootstrap(), wrong).fit(TRAIN, HOLDOUT)
    small = Context.of(TRAIN, HOLDOUT[:2]).with_synthetic(RELEASE)
    assert np.isnan(evaluate(small).value)
    only = evaluate(Context.of(TRAIN, HOLDOUT[:12]).with_synthetic(RELEASE), attacks=["domias"])
    assert np.isnan(only.value)
    assert only.details["skipped"] == {
        "domias": "domias requires at least 10 reference rows, got 6."
    }


@pytest.mark.calibration
def test_nothing_is_found_in_releases_that_know_nothing():
    """Up to 200 tables: the test rejects as often as it says, though the generator itself copies."""

    def outcome(seed):
        rng = np.random.default_rng(seed)
        train, holdout, release = (
            pd.DataFrame(
                {"a": rng.normal(size=n), "b": rng.poisson(3.0, n), "c": rng.choice(list("uvw"), n)}
            )
            for n in (60, 80, 60)
        )
        result = evaluate(Context.of(train, holdout).with_synthetic(release), fpr=0.1)
        of_rate = result.details["tpr_at_fpr"][0]["p_value"]
        return {"all": result.p_value < 0.05, "rate": of_rate < 0.05}

    claims = {"all": Claim(0.05, 0.015, 0.09), "rate": Claim(0.05, high=0.08)}
    found = rates_of(map(outcome, range(200)), claims)
    assert all_hold(found), found


def test_single_rows_are_called_at_small_rates():
    rng = np.random.default_rng(1)
    scores, inside = worlds(rng, 18, 600, [3.0, 0.0])
    blended = stacked_scores(scores[0], scores[2:], inside[2:], None, 0)
    member = inside[0]
    single = tpr_at_fpr(scores[0, 0][member], scores[0, 0][~member], 0.01)
    assert tpr_at_fpr(blended[member], blended[~member], 0.01) > 2 * single
