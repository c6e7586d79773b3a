"""Page 1 answers a person's questions, with the numbers of the result and of the release file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from pypdf import PdfReader

from skeval import MetricSuite, SuiteResult
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.privacy import AnonymeterRisk, ExactMatchShare
from skeval.reporting.persons import not_tried
from skeval.results import Release
from skeval.utils.formatting import format_mean_count, number

RELEASE = Release(
    title="Households for the Ministry",
    dataset="Households 2026",
    purpose="teaching in statistics",
    recipient="Ministry of Labour",
    release_model="contract",
    generator={"name": "CTGAN", "version": "0.12"},
    thresholds={"fail_on": [], "require": ["exact_matches <= 0.001", "ks >= 0.5 * baseline"]},
    decided_by="Ada Byron",
)
CASES = ("leak", "nothing found")


@dataclass
class Case:
    """A release that was evaluated, and what page 1 says of it."""

    results: SuiteResult
    text: str

    def says(self, *words: str) -> bool:
        """Tell whether all of these stand on the page, however their lines are broken."""
        return all(_run_together(one) in self.text for one in words)


def _run_together(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    train, holdout, fresh = (make_mixed(200, random_state=seed) for seed in range(3))
    suite = MetricSuite(
        [
            ("exact_matches", ExactMatchShare()),
            ("ks", KSComplement()),
            ("anonymeter", AnonymeterRisk(random_state=0)),
        ]
    ).fit(train, holdout)
    return {
        name: _case(
            suite.evaluate(release, release=RELEASE), tmp_path_factory.mktemp("r") / "r.pdf"
        )
        for name, release in zip(CASES, (train, fresh), strict=True)
    }


def _case(results: SuiteResult, path: Path) -> Case:
    page = PdfReader(results.to_pdf(path)).pages[0]
    return Case(results, _run_together(page.extract_text()))


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, cases: dict[str, Case]) -> Case:
    return cases[request.param]


def test_who_gets_it_for_what_and_who_decides(case: Case) -> None:
    for asked, answer in RELEASE.facts().items():
        stated = answer != "not stated"
        assert case.says(f"{asked} {answer}") if stated else not case.says(f"{asked} {answer}"), (
            asked
        )
    assert case.says(f"Not stated: {', '.join(RELEASE.missing)}.")
    for given in (RELEASE.title, RELEASE.recipient, RELEASE.purpose, RELEASE.decided_by):
        assert case.says(given), given


def test_what_was_agreed_and_what_of_it_holds(case: Case) -> None:
    for one in RELEASE.thresholds.judge(case.results):
        outcome = "held" if one.passed else "violated"
        assert case.says(f"{one.rule} {one.reason} {outcome}")
    value = number(case.results["exact_matches"].value)
    assert case.says(f"exact_matches <= 0.001 exact_matches = {value}")


def test_what_was_found(cases: dict[str, Case]) -> None:
    assert cases["leak"].says("Privacy leak found", "Leak found by ")
    assert cases["nothing found"].says("Privacy no leak found by these tests")
    assert not cases["nothing found"].says("Privacy leak found")
    assert not cases["nothing found"].says("Leak found")


def test_each_number_of_the_figure_is_that_of_the_result(case: Case) -> None:
    titles = {"exact_matches": "Exact match share", "anonymeter": "Anonymeter risk"}
    for name, title in titles.items():
        result = case.results[name]
        shown = f"{title} Privacy {number(result.value)} {number(result.baseline)}"
        assert case.says(shown), shown
    own = case.results["ks"]
    assert case.says(f"Fidelity {number(own.value)} {number(own.baseline)}")


def test_how_many_persons(case: Case) -> None:
    linked = case.results["anonymeter"].details["attacks"]["linkability"]
    found, strangers = (
        [format_mean_count(linked[role][name]) for name in ("n_success", "n")]
        for role in ("attack", "control")
    )
    for count in (found, strangers):
        count[0] = count[0].removeprefix("fewer ").removeprefix("about ")
    assert case.says(f"{found[0]} of {found[1]} attacked persons were linked")
    assert case.says(f"{strangers[0]} of {strangers[1]} strangers")


def test_how_many_copies(cases: dict[str, Case]) -> None:
    assert cases["leak"].says("200 of 200 synthetic rows are complete copies of train rows")
    assert cases["nothing found"].says("None of 200 synthetic rows is a complete copy")


def test_what_was_not_looked_at(case: Case) -> None:
    assert case.says(not_tried(case.results))
    assert case.says("Utility not looked at", "No model was trained: no target column was named.")


def test_what_to_do(cases: dict[str, Case]) -> None:
    for case in cases.values():
        assert case.says("What to do next", "Name a target column")
    assert cases["leak"].says(*cases["leak"].results.verdict().advice)
    assert cases["leak"].results.verdict().advice
