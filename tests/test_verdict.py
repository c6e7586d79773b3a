"""What a suite concludes: one family-wise rule, facts, what was not looked at, in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from skeval import MetricTags, Result, SuiteResult, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import HoldoutShiftWarning, MostlySharedRowsWarning, SharedRowsWarning
from skeval.verdict import Contrast, adjusted_p_values, raises_alarm, summary, verdict

TAGS = {
    kind: MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence=kind)
    for kind in ("screen", "attack", "audit", "disclosure")
}
SIZES = {"train": 100, "holdout": 100, "synthetic": 100}
SHARED = Contrast("rows closer to train", 0.7, 0.5)


def made(p_value, kind="screen", **fields):
    return Result(0.1, p_value=p_value, metric="Some", tags=TAGS[kind], **fields)


def suite(**results):
    return SuiteResult(results, sizes=SIZES)


def test_adjusted_p_values_are_holms():
    p_values = np.random.default_rng(0).uniform(size=30) ** 3
    results = suite(**{f"m{i}": made(p) for i, p in enumerate(p_values)})
    order = np.argsort(p_values)
    expected = np.empty(30)
    expected[order] = np.maximum.accumulate(p_values[order] * np.arange(30, 0, -1)).clip(max=1.0)
    assert list(adjusted_p_values(results).values()) == pytest.approx(expected, abs=1e-15)
    assert results.frame()["p_adjusted"].to_numpy() == pytest.approx(expected, abs=1e-15)
    assert results.frame()["p_value"].to_numpy() == pytest.approx(p_values)


def test_alarms_are_those_below_the_level_most_significant_first():
    results = suite(a=made(0.02), b=made(0.001), c=made(0.5), d=made(0.0001))
    assert results.verdict().alarms == ("d", "b", "a")
    assert results.verdict(level=0.03).alarms == ("d", "b")
    assert results.verdict(level=0.05).adjusted["a"] == pytest.approx(0.04)
    assert suite(a=made(0.024), b=made(0.9)).verdict().alarm
    assert not suite(a=made(0.026), b=made(0.9)).verdict().alarm


def test_equal_contrasts_are_one_test():
    twice = suite(a=made(0.02, contrast=SHARED), b=made(0.02, contrast=SHARED), c=made(0.9))
    assert twice.verdict().n_tests == 2
    assert twice.verdict().alarms == ("a", "b")
    other = Contrast("rows closer to train", 0.7, 0.4)
    apart = suite(a=made(0.02, contrast=SHARED), b=made(0.02, contrast=other), c=made(0.9))
    assert apart.verdict().n_tests == 3
    assert not apart.verdict().alarm
    assert "by 1 of 2 tests" in twice.verdict().sentence


def test_the_p_value_of_a_test_that_was_picked_gives_way_to_its_own():
    picked = Contrast(SHARED.what, SHARED.observed, SHARED.expected, n_tests=20)
    results = suite(a=made(0.2, contrast=picked), b=made(0.01, contrast=SHARED))
    assert results.verdict().adjusted == {"a": 0.01, "b": 0.01}
    assert "(b)" in results.verdict().sentence  # the most significant of those that made the test
    least = suite(a=made(0.03, contrast=SHARED), b=made(0.01, contrast=SHARED))
    assert least.verdict().adjusted == {"a": 0.03, "b": 0.03}


def test_only_tests_of_privacy_count():
    fidelity = Result(0.1, p_value=1e-9, tags=MetricTags("fidelity", bounds=(0, 1)))
    results = suite(fidelity=fidelity, none=Result(0.2, p_value=1e-9), a=made(0.3))
    assert results.verdict().n_tests == 1
    assert not results.verdict().alarm
    assert not raises_alarm(fidelity)
    assert results.frame()["p_adjusted"].isna().tolist() == [True, True, False]


def test_facts_stand_whatever_p():
    fact = "5 of 343 synthetic rows are complete copies of train rows."
    judged = suite(a=made(0.9, fact=fact), b=made(0.8, fact=fact)).verdict()
    assert judged.facts == (fact,)
    assert not judged.alarm
    assert judged.sentence.startswith(f"{fact} No leak found by 2 distance screens.")


def test_advice_stands_beside_alarms_only():
    advice = "Drop or pool tailnum."
    assert suite(a=made(0.001, advice=advice)).verdict().sentence.endswith(advice)
    assert advice not in suite(a=made(0.9, advice=advice)).verdict().sentence


def test_what_was_not_looked_at_is_said_first():
    lacking = Result(np.nan, tags=TAGS["screen"], error="needs holdout rows.")
    counted = Result(3.0, tags=TAGS["disclosure"])
    results = SuiteResult({"a": lacking, "b": lacking, "c": made(0.3), "k": counted}, sizes=SIZES)
    assert list(results.verdict().not_looked_at) == ["a", "b"]
    assert results.verdict().sentence.startswith(
        "Privacy was hardly looked at: 2 of 3 tests could not be made. No leak found by one"
    )
    few = suite(a=lacking, b=made(0.3), c=made(0.4), d=made(0.4))
    assert few.verdict().sentence.startswith("Not looked at: a (1 of 4 tests could not be made).")
    results = {**results, "d": lacking, "e": Result(np.nan, tags=TAGS["screen"], error="Fails.")}
    without = SuiteResult(results, sizes={"train": 100, "synthetic": 100})
    assert without.verdict().sentence.startswith(
        "Privacy was hardly looked at: 3 of 5 tests need holdout rows, and 1 could not be made."
    )
    blind = SuiteResult({"a": Result(1.0, tags=TAGS["screen"])}, sizes={"train": 9})
    assert blind.verdict().sentence == (
        "Privacy was hardly looked at: 1 of 1 tests needs holdout rows. No test of privacy was made."
    )
    assert SuiteResult({}).verdict().sentence == ""


def test_sentences_count_tests_by_evidence_and_never_clear():
    results = suite(
        a=made(0.3), b=made(0.4), c=made(0.5, "attack"), d=made(0.6, "audit"), e=made(1.0, "attack")
    )
    assert summary(results) == (
        "No leak found by 2 distance screens, 2 attacks and one audit. "
        "Such tests can raise an alarm and never clear a release."
    )


def test_the_sentence_quotes_what_was_tested():
    results = suite(
        share=made(0.0001, contrast=SHARED),
        plain=made(0.001),
        **{
            f"m{i}": made(0.0005, contrast=Contrast(f"what {i}", 2.5, 1, share=False))
            for i in (1, 2)
        },
    )
    assert results.verdict().sentence == (
        "Leak found by 4 of 4 tests: rows closer to train: 70.0%, by chance 50.0% (share); "
        "what 1: 2.50, by chance 1.00 (m1); what 2: 2.50, by chance 1.00 (m2); and by 1 more."
    )
    assert SHARED.supports_leak
    assert not Contrast("nearest distance", 0.3, 0.2, high_leaks=False).supports_leak


def test_a_verdict_goes_through_json(tmp_path):
    shown = Contrast("ratio", float("inf"), 1.0, share=False)
    results = suite(a=made(0.001, contrast=shown, fact="Two.", advice="Drop x."), b=made(0.9))
    path = tmp_path / "scores.json"
    results.to_json(path)
    assert json.loads(path.read_text())["verdict"]["alarms"] == ["a"]
    again = SuiteResult.from_json(path)
    assert again.verdict() == results.verdict() == verdict(results)
    assert again["a"].contrast == shown


@pytest.mark.parametrize("kind", [HoldoutShiftWarning, MostlySharedRowsWarning])
def test_nothing_can_be_told_of_a_holdout_that_is_none(kind):
    results = SuiteResult({"a": made(0.3)}, sizes=SIZES, notices=(kind("They differ."),))
    assert results.verdict().void == ("They differ.",)
    assert results.verdict().sentence == "They differ. Whether there is a leak cannot be told."
    alarmed = SuiteResult(
        {"a": made(0.001, advice="Drop it.")}, sizes=SIZES, notices=results.notices
    )
    shifted = kind is HoldoutShiftWarning
    lead = "A leak, or only that difference, was found" if shifted else "Leak found"
    assert alarmed.verdict().sentence.startswith(f"They differ. {lead} by the only test")
    assert alarmed.verdict().sentence.endswith("Drop it.") is not shifted
    mild = SuiteResult({"a": made(0.3)}, sizes=SIZES, notices=(SharedRowsWarning("Some."),))
    assert mild.verdict().void == ()


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_equal_tables_cannot_be_told():
    table = make_mixed(60)
    judged = make_suite("screens").fit(table, table).evaluate(table).verdict()
    assert not judged.alarm
    assert judged.sentence.endswith("Whether there is a leak cannot be told.")


def test_the_sentence_on_utility_names_score_and_target():
    tags = MetricTags("utility", greater_is_better=True, bounds=(0, 1))
    details = {"scoring": "roc_auc", "target": "income"}
    tstr = Result(0.877, baseline=0.9, metric="TSTR", tags=tags, details=details)
    assert summary(suite(tstr=tstr)).startswith(
        "A model of income that learns from it reaches ROC-AUC 0.877 on holdout rows, one that "
        "learns from train 0.9."
    )
