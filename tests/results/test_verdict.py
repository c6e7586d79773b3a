"""What a suite concludes: one family-wise rule, facts, what was not looked at, in words."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from skeval import MetricTags, Policy, Result, SuiteResult, make_suite
from skeval.datasets import make_mixed
from skeval.exceptions import (
    GroupedRowsWarning,
    HoldoutShiftWarning,
    IgnoredColumnsWarning,
    MostlySharedRowsWarning,
    SharedRowsWarning,
    UnnoticedShiftWarning,
)
from skeval.results.verdict import (
    DROP_COPIES,
    REFIT,
    Contrast,
    adjusted_p_values,
    raises_alarm,
    verdict,
)
from skeval.stats.copied_rows import Copied, Copies
from skeval.stats.matches import match_contrast

TAGS = {
    kind: MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence=kind)
    for kind in ("screen", "attack", "audit", "disclosure")
}
SIZES = {"train": 100, "holdout": 100, "synthetic": 100}
SHARED = Contrast("rows closer to train", 0.7, 0.5)


def made(p_value, kind="screen", weight=1.0, **fields):
    tags = replace(TAGS[kind], weight=weight)
    return Result(0.1, p_value=p_value, metric="Some", tags=tags, **fields)


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


def test_adjusted_p_values_with_weights_are_those_of_the_closed_test():
    """An intersection of tests is rejected where one of them is at its share of the level."""
    rng = np.random.default_rng(1)
    for weights in rng.choice([0.25, 1.0, 8.0], (20, 5)):
        p_values = rng.uniform(size=5) ** 3
        made_of = [made(p, weight=w) for p, w in zip(p_values, weights, strict=True)]
        adjusted = adjusted_p_values({str(i): one for i, one in enumerate(made_of)})
        for i in range(5):
            closed = 0.0
            for mask in range(32):
                some = [j for j in range(5) if mask >> j & 1]
                if i in some:
                    whole = sum(weights[some])
                    closed = max(closed, min(p_values[j] * whole / weights[j] for j in some))
            assert adjusted[str(i)] == pytest.approx(min(1.0, closed))


def test_a_heavy_test_that_cannot_alarm_leaves_its_level_to_the_others():
    unable = {"h": made(0.2, weight=8.0, contrast=named("h", least_p=0.2))}
    assert suite(a=made(0.04), **unable).verdict().adjusted == {"a": 0.04}
    able = {"h": made(0.2, weight=8.0, contrast=named("h", least_p=0.01))}
    assert suite(a=made(0.004), **able).verdict().adjusted == {
        "a": pytest.approx(0.036), "h": pytest.approx(0.2),
    }  # fmt: skip


def test_alarms_are_those_below_the_level_most_significant_first():
    results = suite(a=made(0.02), b=made(0.001), c=made(0.5), d=made(0.0001))
    assert results.verdict().alarms == ("d", "b", "a")
    assert results.verdict(level=0.03).alarms == ("d", "b")
    assert results.verdict(level=0.05).adjusted["a"] == pytest.approx(0.04)
    assert suite(a=made(0.024), b=made(0.9)).verdict().alarm
    assert not suite(a=made(0.026), b=made(0.9)).verdict().alarm


def named(*tests, observed=0.7, **fields):
    return Contrast("rows closer to train", observed, 0.5, tests=tests, **fields)


def test_results_that_name_one_test_count_once():
    twice = suite(a=made(0.02, contrast=named("x")), b=made(0.01, contrast=named("x")), c=made(0.9))
    assert twice.verdict().n_tests == 2
    assert twice.verdict().adjusted == {"a": 0.04, "b": 0.04, "c": 0.9}
    assert "by 1 of 2 tests" in twice.verdict().sentence
    assert "(b)" in twice.verdict().sentence  # the most significant of those that made the test
    apart = suite(a=made(0.02, contrast=named("x")), b=made(0.02, contrast=named("y")), c=made(0.9))
    assert not apart.verdict().alarm


def test_equal_numbers_are_one_in_words_only():
    """They may be equal by accident, and then count as the two tests that they are."""
    by_accident = suite(a=made(0.02, contrast=SHARED), b=made(0.001, contrast=SHARED))
    assert by_accident.verdict().adjusted == {"a": 0.02, "b": 0.002}
    assert "by the only test: rows closer to train" in by_accident.verdict().sentence


def test_what_was_picked_from_tests_of_the_suite_is_none_of_its_own():
    parts = {n: made(p, contrast=named(n)) for n, p in (("x", 0.01), ("y", 0.6))}
    both, other = made(0.02, contrast=named("x", "y")), made(0.03)
    assert suite(both=both, **parts, other=other).verdict().adjusted == {
        "both": 0.03, "x": 0.03, "y": 0.6, "other": 0.06,
    }  # fmt: skip
    # where the suite lacks a part, it is a test, and significant where one of its parts is, too
    assert suite(both=both, x=parts["x"]).verdict().adjusted == {"both": 0.02, "x": 0.02}
    assert suite(both=both, y=parts["y"]).verdict().adjusted == {"both": 0.04, "y": 0.6}


@pytest.mark.slow
def test_level_where_a_part_of_what_was_picked_stands_beside_it():
    """That the two are one where the part is the less, and two where not, would give 6.1%."""
    rng, n_suites, n_alarms = np.random.default_rng(0), 6000, 0
    for p_values in rng.uniform(size=(n_suites, 2)):
        shown = [named(name, observed=1.0 - p) for name, p in zip("xy", p_values, strict=True)]
        surest = named("x", "y", observed=1.0 - p_values.min(), n_tests=2)
        results = suite(
            both=made(2.0 * p_values.min(), contrast=surest), x=made(p_values[0], contrast=shown[0])
        )
        n_alarms += min(adjusted_p_values(results).values()) <= 0.05
    assert binom.cdf(n_alarms, n_suites, 0.05) < 0.9
    assert n_alarms / n_suites == pytest.approx(1.0 - 0.975 * 0.9875, abs=0.01)


def test_tests_that_cannot_alarm_are_not_looked_at():
    """And do not cost the others: of Tarone."""
    small = {f"s{i}": made(0.2, contrast=named(f"s{i}", least_p=0.2)) for i in range(9)}
    judged = suite(a=made(0.04), **small).verdict()
    assert judged.adjusted == {"a": 0.04}
    assert judged.alarms == ("a",)
    assert list(judged.not_looked_at) == list(small)
    assert judged.not_looked_at["s0"].kind == "unable"
    assert judged.sentence.startswith(
        "Most privacy tests were skipped, because 9 of 10 tests cannot be significant with so few"
    )
    alone = suite(a=made(0.5, contrast=named("a", least_p=0.5))).verdict()
    assert alone.sentence.startswith("No privacy test was possible, because 1 of 1 tests")
    # 0.02 would do for two tests and not for three, of which then two are skipped
    three = {f"t{i}": made(0.02, contrast=named(f"t{i}", least_p=0.02)) for i in range(3)}
    assert suite(**three).verdict().n_tests == 0
    assert suite(t0=three["t0"], t1=three["t1"]).verdict().adjusted == {"t0": 0.04, "t1": 0.04}
    assert len(suite(**three).verdict(level=0.06).adjusted) == 3
    parts = {n: made(0.5, contrast=named(n, least_p=0.3)) for n in "xy"}
    whole = suite(both=made(0.01, contrast=named("x", "y")), **parts).verdict()
    assert whole.adjusted == {"both": 0.01}


def test_tests_that_these_rows_leave_without_power_cost_the_others_nothing():
    """They were looked at all the same: where no row is copied, no copy is a leak."""
    copies = {f"c{i}": made(1.0, contrast=named(f"c{i}", least_here=1.0)) for i in range(9)}
    judged = suite(a=made(0.04), **copies).verdict()
    assert judged.adjusted == {"a": 0.04, **dict.fromkeys(copies, 1.0)}
    assert (judged.alarms, judged.n_tests, judged.not_looked_at) == (("a",), 2, {})
    alone = suite(**copies).verdict()
    assert (alone.alarm, alone.outcome) == (False, "no leak found")
    small = suite(a=made(0.04), c=made(0.5, contrast=named("c", least_p=0.5, least_here=0.5)))
    assert list(small.verdict().not_looked_at) == ["c"]


@pytest.mark.slow
def test_level_where_copies_are_tested_only_where_there_are_any():
    """Which of the pooled rows are copied says nothing of which of them are train."""
    rng, n_suites, n_alarms = np.random.default_rng(0), 2000, 0
    rows = np.arange(40)
    for _ in range(n_suites):
        results = {}
        for name, n_copied in (("x", rng.integers(0, 9)), ("y", rng.integers(0, 9))):
            of = rng.permutation(rows < 20)
            settings = {"n_permutations": 1, "seed": 0}
            synthetic = np.where(rows < n_copied, 1, 0)
            test = match_contrast(synthetic, of.astype(int), (~of).astype(int), **settings)
            shown = named(name, observed=rng.random(), least_here=test.least)
            results[name] = made(test.p_value, contrast=shown)
        n_alarms += min(adjusted_p_values(suite(**results)).values()) <= 0.05
    assert binom.cdf(n_alarms, n_suites, 0.05) < 0.9
    assert n_alarms > 0


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize(("n_train", "n_holdout"), [(50, 1), (80, 1), (200, 2), (200, 30)])
@pytest.mark.slow
def test_a_tiny_holdout_is_no_ground_to_say_that_no_leak_was_found(n_train, n_holdout):
    """Of tests that weigh 3 in all one of 1 has to reach .05 / 3: 1 / 81 does, 1 / 51 not."""
    train, holdout = make_mixed(n_train, random_state=0), make_mixed(n_holdout, random_state=1)
    suite = make_suite("screens", check_holdout=False).fit(train, holdout)
    judged = suite.evaluate(train).verdict()
    assert judged.copies
    assert judged.alarm is (n_train > 50)
    if n_train == 50:
        assert judged.outcome == "copies found"
        assert judged.sentence.startswith(
            "No privacy test was possible, because 12 of 15 tests cannot be significant"
        )
    if n_holdout == 1:
        fresh = suite.evaluate(make_mixed(n_train, random_state=2)).verdict()
        assert fresh.outcome == "inconclusive"


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


def test_reasons_and_parts_are_typed():
    """What a reason or an advice says decides nothing: it may speak of a holdout and stay itself."""
    lacks = Result(np.nan, tags=TAGS["screen"], metric="Some", error="no rows.", unmet="holdout")
    fails = Result(np.nan, tags=TAGS["screen"], metric="Some", error="ValueError: holdout rows.")
    fact = "Leak found."  # as an alarm begins
    alarm = made(0.001, advice="Drop it.", fact=fact)
    results = SuiteResult({"a": lacks, "b": fails, "c": alarm}, sizes={"train": 100})
    judged = results.verdict()
    kinds = {name: reason.kind for name, reason in judged.not_looked_at.items()}
    assert kinds == {"a": "needs holdout", "b": "failed"}
    assert "1 of 3 tests needs holdout rows, and 1 failed or is not defined." in judged.sentence
    said = [part.kind for part in judged.parts]
    assert said == ["not looked at", "fact", "alarms", "advice"]
    assert judged.sentence == " ".join(map(str, judged.parts))
    again = SuiteResult.from_dict(json.loads(results.to_json())).verdict()
    assert again.to_dict() == judged.to_dict()


def test_what_was_not_looked_at_is_said_first():
    lacking = Result(np.nan, tags=TAGS["screen"], error="needs rows.", unmet="holdout")
    counted = Result(3.0, tags=TAGS["disclosure"])
    results = SuiteResult({"a": lacking, "b": lacking, "c": made(0.3), "k": counted}, sizes=SIZES)
    assert list(results.verdict().not_looked_at) == ["a", "b"]
    assert results.verdict().sentence.startswith(
        "Most privacy tests were skipped, because 2 of 3 tests failed or are not defined. "
        "No leak found by one"
    )
    few = suite(a=lacking, b=made(0.3), c=made(0.4), d=made(0.4))
    assert few.verdict().sentence.startswith(
        "Not evaluated: a (1 of 4 tests failed or is not defined)."
    )
    results = {**results, "d": lacking, "e": Result(np.nan, tags=TAGS["screen"], error="Fails.")}
    without = SuiteResult(results, sizes={"train": 100, "synthetic": 100})
    assert without.verdict().sentence.startswith(
        "Most privacy tests were skipped, because 3 of 5 tests need holdout rows, and 1 failed or "
        "is not defined."
    )
    blind = SuiteResult({"a": Result(1.0, tags=TAGS["screen"])}, sizes={"train": 9})
    assert blind.verdict().sentence == (
        "No privacy test was possible, because 1 of 1 tests needs holdout rows."
    )


def test_verdict_without_holdout_agrees_with_its_facts():
    train, _, release = (make_mixed(80, random_state=seed) for seed in range(3))
    release.iloc[0] = train.iloc[0]
    verdict = make_suite("screens").fit(train).evaluate(release).verdict()
    assert verdict.n_tests == 0
    assert verdict.facts
    assert "Not evaluated" not in verdict.sentence
    assert "No privacy test was possible" in verdict.sentence
    assert "Copies of training rows were counted" in verdict.sentence
    assert SuiteResult({}).verdict().sentence == "No privacy metric was evaluated."


def test_sentences_count_tests_by_evidence_and_never_clear():
    results = suite(
        a=made(0.3), b=made(0.4), c=made(0.5, "attack"), d=made(0.6, "audit"), e=made(1.0, "attack")
    )
    assert results.verdict().sentence == (
        "No leak found by 2 distance screens, 2 attacks and one audit. "
        "Such tests can find a leak but cannot prove that there is none. "
        "Copies of training rows were not counted."
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
    judged = verdict(results, results.sizes, results.notices)
    assert again.verdict() == results.verdict() == judged
    assert again["a"].contrast == shown


@pytest.mark.parametrize(
    "kind", [HoldoutShiftWarning, MostlySharedRowsWarning, IgnoredColumnsWarning]
)
def test_nothing_can_be_told_of_a_holdout_that_is_none(kind):
    results = SuiteResult({"a": made(0.3)}, sizes=SIZES, notices=(kind("They differ."),))
    assert results.verdict().void == ("They differ.",)
    assert (
        results.verdict().sentence == "They differ. Whether there is a leak cannot be determined."
    )
    alarmed = SuiteResult(
        {"a": made(0.001, advice="Drop it.")}, sizes=SIZES, notices=results.notices
    )
    shifted = kind is HoldoutShiftWarning
    lead = "A leak, or only this shift, was found" if shifted else "Leak found"
    assert alarmed.verdict().sentence.startswith(f"They differ. {lead} by the only test")
    assert alarmed.verdict().sentence.endswith("Drop it.") is not shifted
    mild = SuiteResult({"a": made(0.3)}, sizes=SIZES, notices=(SharedRowsWarning("Some."),))
    assert mild.verdict().void == ()


def test_rows_of_groups_are_not_called_a_shift():
    notices = (GroupedRowsWarning("Train and holdout are divided by person."),)
    alarmed = SuiteResult({"a": made(0.001)}, sizes=SIZES, notices=notices)
    assert "A leak, or only these groups, was found" in alarmed.verdict().sentence
    assert "populations" not in alarmed.frame(findings=True)["finding"].item()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_equal_train_and_holdout_cannot_be_contrasted():
    table = make_mixed(60)
    suite = make_suite("screens").fit(table, table)
    judged = suite.evaluate(make_mixed(60, random_state=1)).verdict()
    assert judged.outcome == "inconclusive"
    assert judged.sentence.endswith("Whether there is a leak cannot be determined.")
    copied = suite.evaluate(table).verdict()
    assert not copied.alarm
    assert copied.outcome == "copies found"


# ------------------------------------------------------------------------------------- copies


def copies(train, holdout=0, n_distinct=100, known=1.0):
    return (Copies("rows", Copied(train, 3), Copied(holdout, 3), n_distinct, 100, known),)


@pytest.mark.parametrize(
    ("p_value", "found", "outcome", "said"),
    [
        (0.001, copies(0), "leak found", "Leak found by the only test"),
        (0.001, copies(9), "leak found", "Copies found: 9 rows"),
        (
            0.9,
            copies(9),
            "copies found",
            "Copies found: 9 rows that are unique in the training data",
        ),
        (0.9, copies(9, 9), "copies found", "9 rows that are unique in the holdout"),
        (0.9, copies(2, 9), "inconclusive", "Whether there is a leak cannot be determined."),
        (0.9, copies(0, n_distinct=1), "inconclusive", "1 different row, too few"),
        (0.9, copies(0, known=0.2), "inconclusive", "Most synthetic cells are missing"),
        (
            0.9,
            copies(2),
            "no leak found",
            "2 rows that are unique in the training data occur in the release",
        ),
        (0.9, copies(0), "no leak found", "No leak found by one distance screen."),
    ],
)
def test_copies_have_a_rule_of_their_own(p_value, found, outcome, said):
    judged = suite(a=made(p_value, copies=found)).verdict()
    assert judged.outcome == outcome
    assert judged.copies is (found[0].train.n == 9)
    assert judged.alarm is (p_value < 0.05)
    assert said in judged.sentence
    loud = "No leak found" in judged.sentence
    assert loud is (outcome == "no leak found" and not found[0].train.n)


@pytest.mark.parametrize("found", [(), copies(0)])
def test_that_no_metric_counted_copies_is_said_where_no_leak_was_found(found):
    results = suite(a=made(0.9, "attack", copies=found))
    (outcome, *_) = Policy().judge(results)
    assert outcome.passed
    for said in (results.verdict().sentence, outcome.reason):
        assert ("opies of training rows were not counted" in said) is (not found)


def test_few_copies_are_said_and_never_cleared():
    sentence = suite(a=made(0.9, copies=copies(1)), b=made(0.8)).verdict().sentence
    assert sentence.startswith(
        "One of the rows that are unique in the training data occurs in the release, compared with up to 3 expected by chance. "
        "Apart from copies, 2 distance screens found no leak."
    )


def test_holdout_rows_in_the_release_are_a_fact():
    judged = suite(a=made(0.9, copies=copies(0, 9))).verdict()
    assert len(judged.facts) == 1
    assert judged.facts == judged.void
    assert judged.sentence.count("roles are mixed up") == 1


@pytest.mark.parametrize(("n_rows", "told"), [(4, False), (5, True)])
def test_a_release_is_too_small_where_no_test_could_raise_an_alarm(n_rows, told):
    """Of one test at equal sizes, five rows that are copies have a p-value of 1/32."""
    results = SuiteResult({"a": made(0.9)}, sizes={**SIZES, "synthetic": n_rows})
    assert (results.verdict().outcome == "no leak found") is told
    assert (
        f"The synthetic data have {n_rows} rows, too few" in results.verdict().sentence
    ) is not told


def test_copies_survive_json():
    results = suite(a=made(0.9, copies=copies(9)))
    read = SuiteResult.from_json(results.to_json())
    assert read["a"].copies == results["a"].copies
    assert read.verdict() == results.verdict()


def test_a_test_that_the_rows_left_undefined_is_corrected_for_and_not_looked_at():
    """Else a family shrinks by what rows hold, and does not keep its level."""
    results = suite(a=made(0.02), b=replace(made(1.0), value=float("nan")), c=made(1.0))
    judged = results.verdict()
    assert judged.adjusted["a"] == pytest.approx(0.06)
    assert list(judged.not_looked_at) == ["b"]
    assert judged.n_tests == 2


def test_to_fit_again_is_advised_once():
    results = {
        "a": made(1e-6, advice="Drop the copied rows.", refit=True),
        "b": made(1e-5, advice="Most in age: pool it. Exposed are the old.", refit=True),
    }
    found = SuiteResult(results, sizes=SIZES).verdict()
    assert found.sentence.count("fit the generator again") == 1
    assert found.advice == (
        "Drop the copied rows.",
        "Most in age: pool it. Exposed are the old.",
        f"Or f{REFIT[1:]}",
    )
    again = [f"{REFIT} Most in age.", f"{REFIT} Most in sex.", REFIT, "Drop x."]
    results = {str(i): made(1e-6, advice=one, refit=True) for i, one in enumerate(again)}
    found = SuiteResult(results, sizes=SIZES).verdict()
    assert found.advice == (f"{REFIT} Most in age.", "Most in sex.", "Drop x.")
    assert SuiteResult.from_json(SuiteResult(results, sizes=SIZES).to_json()).verdict() == found


def test_words_of_an_advice_decide_nothing():
    """A metric of one's own may write of fitting again, and what it writes stays whole."""
    own = "Drop age, or fit the generator again by Friday."
    results = {"a": made(1e-6, advice=own), "b": made(1e-5, advice=own)}
    assert SuiteResult(results, sizes=SIZES).verdict().advice == (own,)
    results["c"] = made(1e-4, advice="Drop sex.", refit=True)
    assert SuiteResult(results, sizes=SIZES).verdict().advice == (
        own,
        "Drop sex.",
        f"Or f{REFIT[1:]}",
    )


def test_copies_that_few_real_rows_cannot_explain_are_not_cleared():
    doubted = Copies("rows", Copied(5, 7, usual=3), None, 100, 100)
    found = SuiteResult({"a": replace(made(0.3), copies=(doubted,))}, sizes=SIZES).verdict()
    assert found.outcome == "inconclusive"
    assert (
        "5 rows that are unique in the training data occur in the release. There are too few"
        in found.sentence
    )
    assert Copies.from_dict(doubted.to_dict()).untold == doubted.untold


@pytest.mark.parametrize(("p_value", "weak"), [(0.02, True), (0.005, False), (0.2, False)])
def test_weak_evidence_asks_for_another_sample_and_another_fit(p_value, weak):
    notice = UnnoticedShiftWarning("A shift of 0.3 standard deviations may go unnoticed.")
    advice = SuiteResult({"a": made(p_value)}, sizes=SIZES, notices=(notice,)).verdict().advice
    said = " ".join(advice)
    assert ("another sample" in said and "a refitted generator" in said) is weak
    assert ("0.3 standard deviations" in said) is weak


def test_weak_evidence_is_strong_where_copies_were_found():
    copies = (Copies("rows", Copied(8, 3), None, 100, 100),)
    assert suite(a=made(0.02, copies=copies)).verdict().advice == ()


def test_rows_are_to_be_dropped_once():
    about = ({"advice": DROP_COPIES}, {"advice": f"{DROP_COPIES} Most exposed are ten rows."})
    advice = suite(a=made(1e-6, **about[0]), b=made(1e-7, **about[1])).verdict().advice
    assert " ".join(advice).count(DROP_COPIES) == 1
    assert "Most exposed are ten rows." in " ".join(advice)
