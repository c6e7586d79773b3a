"""What page 1 says of a release that no metric measures, and of the thresholds agreed before."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader

from skeval import MetricSuite, SuiteResult
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.privacy import ExactMatchShare
from skeval.reporting import DecisionPage
from skeval.reporting.layout import Facts, Grid, Listed, Part, Words
from skeval.reporting.style import LABELS, label_of
from skeval.results import Release
from skeval.results.comparison import compare

RELEASE = Release(
    title="Members for the Ministry",
    recipient="Ministry of Labour",
    purpose="teaching",
    generator={"name": "CTGAN", "version": "0.12"},
    thresholds={"require": ["exact_matches <= 0.001", "ks >= 0.5"]},
)


@pytest.fixture(scope="module")
def leaking() -> SuiteResult:
    train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    suite = MetricSuite([("exact_matches", ExactMatchShare()), ("ks", KSComplement())])
    return suite.fit(train, holdout).evaluate(train, release=RELEASE)


def stated(results: SuiteResult, release: Release | None) -> SuiteResult:
    known = replace(results.provenance, release=release)
    return SuiteResult(dict(results), sizes=results.sizes, provenance=known)


def below_the_figure(results: SuiteResult) -> tuple[Part, ...]:
    """Return what page 1 shows below what was found and its figure."""
    found, figure, *others = DecisionPage.of(results).parts()
    assert found.rows[0][0].startswith("Validity")
    assert figure.heads[0] == "Headline metric"
    return tuple(others)


def test_what_is_stated_and_what_is_not(leaking: SuiteResult) -> None:
    facts, unstated, thresholds = below_the_figure(leaking)[:3]
    assert isinstance(facts, Facts)
    shown = dict(facts.pairs)
    assert (shown["Recipient"], shown["Generator"]) == ("Ministry of Labour", "CTGAN 0.12")
    assert isinstance(unstated, Words)
    assert unstated.text == f"Not stated: {', '.join(RELEASE.missing)}."
    assert "not stated" not in shown.values()
    assert isinstance(thresholds, Grid)


def test_each_threshold_with_what_was_measured_and_its_outcome(leaking: SuiteResult) -> None:
    thresholds = below_the_figure(leaking)[2]
    outcomes = {agreed: (measured, outcome) for agreed, measured, outcome in thresholds.rows}
    assert outcomes["exact_matches <= 0.001"] == ("exact_matches = 1.00", "violated")
    assert outcomes["ks >= 0.5"] == ("ks = 1.00", "held")
    assert outcomes["no leak found"][1] == "violated"
    violated = {i for i, row in enumerate(thresholds.rows) if row[2] == "violated"}
    assert {cell for cell, _ in thresholds.alarms} == violated
    judged = RELEASE.thresholds.judge(leaking)
    assert [row[2] == "held" for row in thresholds.rows] == [one.passed for one in judged]


def test_without_a_release_a_line_says_what_is_missing(leaking: SuiteResult) -> None:
    first, second = below_the_figure(stated(leaking, None))[:2]
    assert isinstance(first, Words)
    for word in ("Not stated", "title", "recipient", "purpose", "thresholds", "init-release"):
        assert word in first.text
    assert isinstance(second, Listed)


def test_thresholds_that_nobody_agreed_are_not_stated(leaking: SuiteResult) -> None:
    unstated, after = below_the_figure(stated(leaking, Release(title="T")))[:2]
    assert unstated.text.endswith(", thresholds.")
    assert isinstance(after, Listed)


def test_a_threshold_on_what_is_not_there_is_violated(leaking: SuiteResult) -> None:
    release = Release(thresholds={"fail_on": [], "require": ["tstr >= 0.9"]})
    thresholds = below_the_figure(stated(leaking, release))[1]
    ((agreed, measured, outcome),) = thresholds.rows
    assert (agreed, outcome) == ("tstr >= 0.9", "violated")
    assert "It cannot be judged: the policy names tstr, which is not measured" in measured


@pytest.mark.slow
def test_page_and_paper_say_the_same(leaking: SuiteResult, tmp_path: Path) -> None:
    page = leaking.to_html(tmp_path / "r.html").read_text(encoding="utf-8")
    text = PdfReader(leaking.to_pdf(tmp_path / "r.pdf")).pages[0].extract_text()
    violated = '<span class="label alarm">violated</span></div></td>'
    assert f'<td class="alarm" data-head="Outcome"><div>{violated}' in page
    assert '<span class="label calm">held</span>' in page
    assert "<dt>Recipient</dt><dd>Ministry of Labour</dd>" in page
    for part in ("Ministry of Labour", "Not stated", "Agreed before", "exact_matches <= 0.001"):
        assert part in text
        assert part.replace("<", "&lt;") in page
    assert len(re.findall("violated", text)) == 2


def test_candidates_are_held_to_the_same_thresholds(leaking: SuiteResult, tmp_path: Path) -> None:
    compared = compare({"a": leaking, "b": leaking})
    page = compared.to_html(tmp_path / "r.html").read_text(encoding="utf-8")
    for name in compared:
        assert f"{name}: exact_matches &lt;= 0.001" in page
    others = compare({name: stated(leaking, None) for name in "ab"})
    assert "tated" not in others.to_html(tmp_path / "r.html").read_text(encoding="utf-8")


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG defines it."""
    from matplotlib.colors import to_rgb

    light = []
    for colour in (one, other):
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("colour", LABELS.values())
def test_labels_can_be_read(colour: str) -> None:
    assert contrast(colour, "white") >= 4.5


@pytest.mark.parametrize(
    ("outcome", "label"),
    [
        ("leak found", "alarm"),
        ("leak, or only another population, found", "alarm"),
        ("copies found", "copies"),
        ("cannot be told", "doubt"),
        ("no leak found by these tests", "calm"),
        ("2 of 6 checks short", "doubt"),
    ],
)
def test_each_outcome_has_a_colour(outcome: str, label: str) -> None:
    assert label_of(outcome) == label


def test_a_facet_is_labelled_by_colour_and_word(leaking: SuiteResult, tmp_path: Path) -> None:
    page = leaking.to_html(tmp_path / "r.html").read_text(encoding="utf-8")
    decision = DecisionPage.of(leaking)
    for facet in decision.facets:
        assert f'<span class="label {label_of(facet.status)}">{facet.status}</span>' in page
    found = decision.parts()[0]
    assert {i for i, _, kind in found.labels if kind == "alarm"} == {i for i, _ in found.alarms}
