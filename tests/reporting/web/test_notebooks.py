"""What a notebook shows of results, verdicts, suites and cross-validations."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from skeval import MetricSuite, MetricTags, Result, SuiteResult, make_suite
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement, TVComplement
from skeval.generators import Bootstrap
from skeval.model_selection import cross_validate_generator
from skeval.reporting.document.report import make_document
from skeval.reporting.web.notebook import notebook_html
from tests.notebook import cell_of
from tests.reporting.document.releases import STATES, State, release
from tests.reporting.web.documents import HOSTILE, every_kind, texts_of
from tests.reporting.web.page import Page

PRIVACY = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")
ODD = SuiteResult(
    {
        "a|b <script>*x*": Result(0.5, baseline=0.4, p_value=0.01, tags=PRIVACY, summary="A | b."),
        "../up//x": Result(1.0),
        "/x\u00fc:": Result(float("inf"), interval=(0.0, float("inf"))),
        "n" * 400: Result(2.0),
        "gone": Result(float("nan"), error="needs <holdout> rows."),
    },
    sizes={"train": 1200},
)


@pytest.mark.parametrize("state", STATES)
def test_a_notebook_has_headline_tiles_and_privacy_rows(state: State):
    document = make_document(release(state), is_short=True)
    page = Page(notebook_html(document))
    assert page.open == []
    first = {block.name: block for block in document.pages[0].blocks}
    for name in ("headline", "tiles", "privacy"):
        texts = texts_of(asdict(first[name]))
        assert not [text for text in texts if " ".join(text.split()) not in page.shown]
    assert "What to do" not in page.shown
    assert len(page.all("details")) == 1
    assert not page.all("script")


def test_styles_of_a_notebook_are_its_own():
    html = notebook_html(every_kind())
    style = html.partition("<style>")[2].partition("</style>")[0]
    rules = [line for line in style.splitlines() if line.rstrip().endswith("}") and "{" in line]
    assert len(rules) > 50
    assert not [rule for rule in rules if ".skeval" not in rule.partition("{")[0]]


@pytest.mark.parametrize("word", HOSTILE)
def test_names_in_a_notebook_are_text(word: str):
    usual = Page(notebook_html(every_kind()))
    assert [t for t, _ in Page(notebook_html(every_kind(word))).tags] == [t for t, _ in usual.tags]


def test_a_result_shows_the_first_page_and_its_numbers():
    results = release("leak")
    assert cell_of(results) == notebook_html(make_document(results, is_short=True))
    page = Page(cell_of(ODD))
    assert page.open == []
    assert not page.all("script")
    assert "Needs <holdout> rows." in page.shown


def test_one_metric_shows_its_sentence_and_its_numbers():
    page = Page(cell_of(release("leak")["membership"]))
    assert "Membership inference" in page.shown
    assert "50.7%" in page.shown
    assert len(page.all("table")) == 1
    assert "Why." in Page(cell_of(Result(float("nan"), metric="KS", error="why."))).shown


def test_a_verdict_shows_its_results():
    results = release("leak")
    assert cell_of(results.verdict()) == cell_of(results)
    assert "results" not in results.verdict().to_dict()
    assert "results" not in repr(results.verdict())
    assert results.verdict() == release("leak").verdict()


def test_a_verdict_of_another_level_shows_its_own_sentences():
    verdict = release("leak").verdict(1e-9)
    page = Page(cell_of(verdict))
    assert all(" ".join(said.text.split()) in page.shown for said in verdict.parts)
    assert "A leak was found" not in page.shown


def test_a_suite_shows_what_its_metrics_measure():
    suite = make_suite("privacy")
    page = Page(cell_of(suite))
    for name, metric in suite.metrics:
        assert name in page.shown
        assert type(metric).__name__ in page.shown
    assert "lower is better" in page.shown
    assert "What it measures" in page.shown


@pytest.mark.slow
def test_folds_are_a_small_table():
    suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    found = cross_validate_generator(Bootstrap(), make_mixed(200), suite, cv=3)
    page = Page(cell_of(found))
    rows = [row for row in page.all("th") if row.get("scope") == "row"]
    assert len(rows) == len(found.frame())
    assert len(repr(found).splitlines()) == len(found.frame()) + 1
    assert "Means over 3 folds" in page.shown
    for text in (page.shown, repr(found)):
        assert f"{found.frame().loc['ks', 'mean']:.2f}" in text
        assert "95% interval" in text
