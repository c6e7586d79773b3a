"""The sentences on one metric."""

from __future__ import annotations

from dataclasses import replace

from skeval import MetricTags, Result, SuiteResult
from skeval.reporting.document.checks import find_utility
from skeval.reporting.document.sentences.finding import finding_sentences, other_question
from skeval.results.result import Contrast
from skeval.stats.copied_rows import Copied, Copies
from tests.snapshots import note

FIDELITY = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
UTILITY = MetricTags("utility", greater_is_better=True, bounds=(0, 1))
PRIVACY = MetricTags("privacy", greater_is_better=True, bounds=(0, 100), evidence="screen")
NEARER = Contrast("train rows much nearer to a synthetic row", 0.12, 0.091, "of holdout rows")
BETTER = Result(98.4, baseline=96.2, p_value=1e-9, contrast=NEARER, tags=PRIVACY, summary="A.")


def test_sentences_by_what_was_found() -> None:
    value = Result(0.9, baseline=0.95, tags=FIDELITY, summary="The mean is 0.9.")
    copies = (Copies("rows", Copied(2, 3), None, 100, 100),)
    worst = {"worst": {"column": "age", "value": 0.4}, "unit": "coefficient"}
    pair = {"worst": {"columns": ["a", "b"], "value": 0.4}}
    same = {"worst": {"columns": ["a", "a"], "value": 0.4}}
    at_size = {"at_baseline_size": {"n_rows": 1200, "value": 0.93}}
    split = {"split": {"p_value_below": 1e-9}}
    found = (
        *(value, replace(value, difference=(-0.1, 0.05)), replace(value, difference=(-0.1, -0.02))),
        replace(value, difference=(0.02, 0.1)),
        replace(value, difference=(0.02, 0.1), tags=UTILITY),
        *(replace(value, details=details) for details in (worst, pair, same, at_size, split)),
        *(BETTER, replace(BETTER, p_value=0.3), replace(BETTER, p_value=0.3, copies=copies)),
        replace(BETTER, p_value=None),
        Result(float("nan"), metric="A"),
    )
    note([finding_sentences(one) for one in found])
    note([finding_sentences(BETTER, is_shifted=True), finding_sentences(BETTER, is_alarm=False)])
    assert finding_sentences(Result(float("nan"), error="needs rows.")) == ""


def test_a_better_score_next_to_a_leak_is_explained() -> None:
    assert other_question(BETTER)
    for other in (
        replace(BETTER, value=80.0),  # worse than its baseline
        replace(BETTER, p_value=0.2),
        replace(BETTER, baseline=None),
        replace(BETTER, tags=FIDELITY),
    ):
        assert other_question(other) == ""


def test_frames_contain_the_sentences() -> None:
    frame = SuiteResult({"a": BETTER}).frame(findings=True)
    assert frame["finding"].tolist() == [finding_sentences(BETTER)]
    assert BETTER.frame(findings=True)["finding"].tolist() == [finding_sentences(BETTER)]
    assert "finding" not in SuiteResult({"a": BETTER}).frame()


def test_names_of_classes_decide_nothing() -> None:
    """A custom class may be called TSTR; the tag says which value the report quotes."""
    own = Result(0.9, baseline=0.9, metric="TSTR", tags=UTILITY)
    assert find_utility(SuiteResult({"a": own})).measure == "TSTR"  # as any measure of utility
    quoted = replace(own, metric="Own", tags=replace(UTILITY, quoted="learning"))
    assert find_utility(SuiteResult({"a": quoted})).measure == ""
