from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars
import pytest
from scipy.stats import rankdata

from skeval import Context, Result
from skeval.checks import check_metric
from skeval.datasets import make_mixed
from skeval.exceptions import (
    DegenerateInputWarning,
    InvalidParameterError,
    MetricWarning,
    SchemaMismatchError,
)
from skeval.privacy import MembershipInference
from skeval.privacy.attacks.membership.rates import precision_at
from skeval.stats.intervals import clopper_pearson
from skeval.stats.multiple_testing import holm
from skeval.stats.roc import auc_p_value, delong, tpr_at_fpr
from skeval.steps.member_rows import validation_half
from skeval.steps.members import BLEND, CALIBRATED, STRONGEST, blend_scores, member_scores
from tests.snapshots import raises, warns

TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(240, random_state=seed) for seed in range(3))


def evaluate(metric, synthetic=SYNTHETIC, train=TRAIN, holdout=HOLDOUT) -> Result:
    context = Context.of(train, holdout).with_synthetic(synthetic)
    return metric.fit_context(context.real).evaluate_context(context)


def frame(rows: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])


@pytest.mark.calibration
@pytest.mark.parametrize("attack", ["best", "ratio"])
def test_it_keeps_the_contract(attack):
    check_metric(MembershipInference(attack, n_permutations=19))


@pytest.mark.parametrize(
    ("name", "expected"), [("over", 1.0), ("gauss", 0.525565), ("holdout", 0.0), ("train", 1.0)]
)
def test_wine(wine, name, expected):
    metric = MembershipInference("distance").fit(wine.train, wine.holdout)
    assert metric.score(getattr(wine, name)) == pytest.approx(expected, abs=1e-6)


def test_one_attack_is_told_of_all_rows():
    result = evaluate(MembershipInference("distance"))
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    scores = member_scores(context, "distance")
    area = delong(scores.members, scores.others)
    assert (result.value, result.interval) == (area.value, area.interval)
    assert result.p_value == auc_p_value(scores.members, scores.others)
    assert result.baseline == 0.5
    details = result.details
    assert list(details["attacks"]) == ["distance"]
    assert details["attacks"]["distance"]["holm_p_value"] == result.p_value
    assert details["n_members"] == details["n_others"] == 240
    assert details["protection"] == 1 - 2 * max(0, area.value - 0.5)
    first, second, third = details["tpr_at_fpr"]
    assert first["tpr"] == tpr_at_fpr(scores.members, scores.others, 0.1)
    assert first["interval"] == list(clopper_pearson(round(240 * first["tpr"]), 240))
    assert (first["n_others_allowed"], second["n_others_allowed"]) == (24.0, 2.4)
    assert np.isnan(third["tpr"])
    assert third["interval"] is third["at_fixed_threshold"] is None
    halves = [p["precision"] for p in details["precision_at"]]
    assert [p["k"] for p in details["precision_at"]] == [5, 24, 240]
    assert halves[2] == precision_at(scores.members, scores.others, 240)[0]


def test_thresholds_are_chosen_on_the_other_half():
    details = evaluate(MembershipInference("distance", prior=0.1)).details
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    scores = member_scores(context, "distance")
    learnt, reported = (
        (
            scores.members[validation_half(context, "train") == half],
            scores.others[validation_half(context, "holdout") == half],
        )
        for half in (True, False)
    )
    threshold = np.sort(learnt[1])[::-1][12]  # 12 of 120 lie above
    fixed = details["tpr_at_fpr"][0]["at_fixed_threshold"]
    assert fixed["tpr"] == pytest.approx((reported[0] > threshold).mean(), abs=0.01)
    assert fixed["fpr"] == pytest.approx((reported[1] > threshold).mean(), abs=0.01)
    tpr, fpr = fixed["tpr"], fixed["fpr"]
    assert fixed["ppv"] == pytest.approx(0.1 * tpr / (0.1 * tpr + 0.9 * fpr))
    advantage = details["advantage"]
    assert advantage["value"] == pytest.approx(advantage["tpr"] - advantage["fpr"])
    assert advantage["interval"][0] <= advantage["value"] <= advantage["interval"][1]


@pytest.mark.slow
def test_the_attack_that_stands_out_most_is_reported_of_all_rows():
    result = evaluate(MembershipInference())
    details = result.details
    assert list(details["attacks"]) == [*STRONGEST, BLEND]
    assert details["n_members"] == details["n_others"] == 240
    context = Context.of(TRAIN, HOLDOUT).with_synthetic(SYNTHETIC)
    scored = [member_scores(context, attack, 10_000) for attack in STRONGEST[:-1]]
    scored.append(member_scores(context, "levatt", 2_000))
    scored.append(blend_scores(scored))
    deviations = []
    for name, one in zip(details["attacks"], scored, strict=True):
        area = delong(one.members, one.others).value
        assert details["attacks"][name]["auc"] == area
        ranks = rankdata(np.concatenate([one.members, one.others]))
        # the variance of a sum of half of the ranks, drawn without replacement
        deviations.append((area - 0.5) * 240**2 / np.sqrt(240 * 240 / 479 * ranks.var()))
    assert details["attack"] == list(details["attacks"])[int(np.argmax(deviations))]
    assert result.value == details["auc"] == details["attacks"][details["attack"]]["auc"]
    assert 0.5 < result.baseline < 0.55
    assert 0 < result.p_value <= 1
    assert result.contrast.expected == result.baseline
    assert (result.p_value < 0.5) == result.contrast.supports_leak


@pytest.mark.slow
def test_of_several_attacks_the_foremost_counts_and_is_corrected():
    names = ["distance", "ratio", "eq1"]
    result = evaluate(MembershipInference(names))
    told = result.details["attacks"]
    assert list(told) == [*names, BLEND]
    p_values = [one["p_value"] for one in told.values()]
    assert min(p_values) < result.p_value < 4 * min(p_values)  # they depend on each other
    assert [one["holm_p_value"] for one in told.values()] == holm(p_values)
    _, high = told[result.details["attack"]]["interval"]
    assert result.interval[0] <= result.value <= result.interval[1]
    assert result.interval[1] > high
    assert (
        evaluate(MembershipInference(["ratio"])).value
        == evaluate(MembershipInference("ratio")).value
    )


def test_what_no_labels_reach_has_the_p_value_after_bonferroni():
    result = evaluate(MembershipInference(["distance", "eq1"], n_permutations=99), TRAIN)
    p_values = [one["p_value"] for one in result.details["attacks"].values()]
    assert result.p_value == pytest.approx(3 * min(p_values))
    assert result.p_value < 1e-12


@pytest.mark.slow
def test_a_sample_of_the_rows_exchanges_its_labels_and_the_others_theirs():
    part = MembershipInference(["distance", "eq1"], max_rows=60)
    result = evaluate(part, pd.concat([TRAIN[:60], SYNTHETIC[60:]]))
    told = result.details["attacks"]
    assert told["distance"]["n_members"] == 240
    assert told["eq1"]["n_members"] == told[BLEND]["n_members"] == 60
    assert result.p_value < 0.05
    unequal = evaluate(part, holdout=HOLDOUT[:50])
    assert unequal.details["attacks"]["eq1"]["n_others"] == 50
    assert unequal.baseline == pytest.approx(0.53, abs=0.03)


def test_a_part_of_the_holdout_may_be_the_attackers():
    result = evaluate(MembershipInference(["distance", "ratio"], reference_fraction=0.25))
    told = result.details["attacks"]
    assert (told["distance"]["n_others"], told["ratio"]["n_others"]) == (240, 180)
    assert told[BLEND]["n_others"] == 180


@pytest.mark.slow
def test_a_copy_is_found_and_a_fresh_table_is_not():
    copy, fresh = evaluate(MembershipInference(), TRAIN), evaluate(MembershipInference())
    assert copy.value == 1.0
    assert copy.p_value < 1e-12
    assert copy.details["protection"] == 0.0
    assert copy.details["tpr_at_fpr"][0]["tpr"] == 1.0
    assert copy.details["advantage"]["value"] == 1.0
    assert copy.details["balanced_accuracy"] == 1.0
    assert all(p["precision"] == 1.0 for p in copy.details["precision_at"])
    assert fresh.interval[0] < 0.5 < fresh.interval[1]
    away = evaluate(MembershipInference("distance"), HOLDOUT)
    assert (away.value, away.p_value) == (0.0, 1.0)


@pytest.mark.slow
def test_labels_exchanged_give_the_complement():
    there = evaluate(MembershipInference("distance")).value
    back = evaluate(MembershipInference("distance"), train=HOLDOUT, holdout=TRAIN).value
    assert there + back == pytest.approx(1.0)


def test_doubled_synthetic_rows_change_nothing():
    once, twice = (
        evaluate(MembershipInference("distance"), rows)
        for rows in (SYNTHETIC, pd.concat([SYNTHETIC, SYNTHETIC]))
    )
    assert (once.value, once.interval) == (twice.value, twice.interval)


@pytest.mark.slow
def test_values_rise_with_the_share_of_copies():
    values = [
        evaluate(
            MembershipInference("distance"), pd.concat([TRAIN.iloc[:n], SYNTHETIC.iloc[n:]])
        ).value
        for n in (0, 60, 120, 240)
    ]
    assert values == sorted(values)
    assert values[1] == pytest.approx(0.25 + 0.75 * 0.5, abs=0.06)


@pytest.mark.slow
def test_the_rate_as_value():
    result = evaluate(MembershipInference("distance", scoring="tpr_at_fpr", fpr=0.05))
    (rate,) = result.details["tpr_at_fpr"]
    assert result.value == rate["tpr"]
    assert list(result.interval) == rate["interval"]
    assert (result.p_value, result.baseline) == (rate["p_value"], rate["by_chance"])
    assert result.baseline == pytest.approx(0.05, abs=0.015)
    copy = evaluate(MembershipInference(scoring="tpr_at_fpr"), TRAIN)
    assert copy.value == 1.0
    assert copy.p_value == 5 / 2000  # of four attacks and their blend
    assert copy.details["n_members"] == 240


def test_the_sentence_is_about_the_area_whatever_the_value_is():
    by_rate, by_area = (
        evaluate(MembershipInference("distance", scoring=scoring))
        for scoring in ("tpr_at_fpr", "auc")
    )
    assert by_rate.value != by_area.value
    assert by_rate.summary == by_area.summary


@pytest.mark.slow
def test_a_rate_that_the_holdout_cannot_tell():
    metric = MembershipInference("distance", scoring="tpr_at_fpr", fpr=0.001)
    context = Context.of(TRAIN, HOLDOUT)
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.fit_context(context).score(SYNTHETIC))
    chosen = MembershipInference(scoring="tpr_at_fpr", fpr=[0.001, 0.1])
    assert np.isnan(evaluate(chosen).value)


def test_few_rows_are_said_to_be_few():
    metric = MembershipInference("distance").fit(TRAIN[:40], HOLDOUT)
    with warns(MetricWarning):
        metric.score(SYNTHETIC)


def test_too_few_rows_have_no_halves():
    metric = MembershipInference("distance").fit(TRAIN, HOLDOUT[:1])
    with warns(DegenerateInputWarning):
        assert np.isnan(metric.score(SYNTHETIC))
    with warns(DegenerateInputWarning):
        assert np.isnan(MembershipInference("eq1").fit(TRAIN, HOLDOUT).score(SYNTHETIC[:3]))


def test_attacks_that_cannot_be_run_are_skipped():
    result = evaluate(MembershipInference(), SYNTHETIC[:9])
    assert set(result.details["skipped"]) == {"domias", "classifier"}
    assert list(result.details["attacks"]) == ["distance_calibrated", "levatt", BLEND]


@pytest.mark.slow
def test_a_reference_of_ones_own():
    own = make_mixed(150, random_state=7)
    result = evaluate(MembershipInference(list(CALIBRATED), own))
    assert all(one["n_others"] == 240 for one in result.details["attacks"].values())
    assert not result.warnings
    again = evaluate(MembershipInference(list(CALIBRATED), polars.from_pandas(own)))
    assert again.value == result.value
    overlapping = evaluate(MembershipInference("ratio", pd.concat([own, HOLDOUT[:30]])))
    assert "16.67% of the holdout rows" not in str(overlapping.warnings[0])
    assert "12.50% of the holdout rows also occur in the reference" in str(overlapping.warnings[0])
    with raises(SchemaMismatchError):
        MembershipInference(reference=own.drop(columns="age")).fit(TRAIN, HOLDOUT)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("attack", []),
        ("attack", ["distance", "x"]),
        ("fpr", []),
        ("fpr", [0.1, 1.0]),
        ("fpr", True),
    ],
)
def test_odd_parameters_are_refused(name, value):
    with raises(InvalidParameterError):
        MembershipInference(**{name: value}).fit(TRAIN, HOLDOUT)


def test_discrete_tables_tie_and_stay_honest():
    rng = np.random.default_rng(0)
    tables = [frame(rng.integers(0, 2, (200, 3)).astype(float)) for _ in range(3)]
    context = Context.of(*tables[:2]).with_synthetic(tables[2])
    result = MembershipInference("distance").evaluate_context(context)
    assert result.value == 0.5  # every cell is full: all distances are 0
    assert result.p_value == 1.0
    assert result.details["tpr_at_fpr"][0]["tpr"] == 0.0
    assert all(p["precision"] == 0.5 for p in result.details["precision_at"])


def test_a_few_copies_are_found_by_rates_where_the_average_hides_them():
    rng = np.random.default_rng(0)
    train, holdout, synthetic = (rng.normal(size=(1500, 4)) for _ in range(3))
    synthetic[:60] = train[:60]
    result = evaluate(
        MembershipInference("distance"), frame(synthetic), frame(train), frame(holdout)
    )
    assert result.value < 0.55
    found = result.details["abstaining"]
    assert found["p_value"] < 1e-6
    surest = found["by_share"][0]
    assert (surest["share"], surest["train"], surest["holdout"]) == (0.01, 30.0, 0.0)
    assert found["clearest"] == 0.02
    assert (
        "Among the most confident 2% of guesses for membership, 60 of 60 are correct"
        in result.summary
    )
    rate = result.details["tpr_at_fpr"][2]
    assert rate["tpr"] >= 0.04
    assert rate["p_value"] == 1 / 2000
    if result.p_value >= 0.025:
        assert "are found at" in str(result.warnings[0])


def test_results_hold_no_row_and_few_points():
    result = evaluate(MembershipInference())
    curve = result.details["curve"]
    assert len(curve["fpr"]) <= 200
    assert (np.diff(curve["fpr"]) >= 0).all()
    assert (np.diff(curve["tpr"]) >= 0).all()
    assert ((curve["low"] <= curve["tpr"]) & (curve["tpr"] <= curve["high"])).all()
    assert Result.from_dict(json.loads(result.to_json())).to_json() == result.to_json()


def test_seeds_differ_and_repeat():
    values = [evaluate(MembershipInference("ratio", random_state=seed)).value for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]


def test_columns_known_to_the_attacker():
    copied = SYNTHETIC.assign(age=TRAIN["age"], income=TRAIN["income"])
    known = MembershipInference("distance", columns=["age", "income"])
    assert evaluate(known, copied).value > evaluate(MembershipInference("distance"), copied).value


def test_the_chance_of_the_summary_is_the_one_that_was_tested():
    train, holdout, synthetic = (
        make_mixed(n, random_state=seed) for seed, n in enumerate((150, 60, 100))
    )
    result = MembershipInference(n_permutations=99).fit(train, holdout).evaluate(synthetic)
    assert result.contrast.expected != 0.5
    for written in result.contrast.numbers_in_words:
        assert written in result.summary
