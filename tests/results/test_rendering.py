"""Results name an interface: whatever fills it renders them."""

from __future__ import annotations

import pytest

from skeval import Result, SuiteResult, reporting
from skeval.reporting import entry, wording
from skeval.results import rendering
from tests.notebook import cell_of


class Recorded:
    """Renders nothing, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        def ask(results, *args, **settings):
            self.asked.append((name, results, args, settings))
            return f"{name} of results"

        return ask


@pytest.fixture
def recorded(monkeypatch):
    own = Recorded()
    monkeypatch.setattr(reporting, "entry", own)
    monkeypatch.setattr(reporting, "wording", own)
    return own


@pytest.mark.parametrize(
    ("protocol", "in_use", "module"),
    [
        (rendering.Rendering, rendering.rendering, entry),
        (rendering.Wording, rendering.wording, wording),
    ],
)
def test_reporting_fills_the_interfaces(protocol, in_use, module):
    asked = [name for name in vars(protocol) if not name.startswith("_")]
    assert in_use() is module
    assert asked
    assert all(callable(getattr(module, name)) for name in asked)


@pytest.mark.parametrize("results", [Result(0.5), SuiteResult({"a": Result(0.5)})])
def test_results_are_rendered_by_what_is_in_use(recorded, results):
    assert results.to_markdown(title="T", level=3) == "markdown of results"
    assert cell_of(results) == "html of results"
    assert results.display() == "display of results"
    assert [(name, settings) for name, _, _, settings in recorded.asked] == [
        ("markdown", {"title": "T", "level": 3}),
        ("html", {}),
        ("display", {}),
    ]
    assert all(asked is results for _, asked, _, _ in recorded.asked)


def test_a_suite_is_put_into_words_by_what_is_in_use(recorded):
    results = SuiteResult({"a": Result(0.5)})
    assert results.summary() == "summary of results"
    assert repr(results) == "table of results"


def test_reports_are_written_in_two_forms(recorded):
    results = SuiteResult({"a": Result(0.5)})
    results.to_pdf("r.pdf", title="T")
    results.to_html("r.html")
    assert [(args, settings) for _, _, args, settings in recorded.asked] == [
        (("r.pdf", "pdf"), {"title": "T"}),
        (("r.html", "html"), {}),
    ]


def test_findings_of_a_table_are_written_by_it(recorded):
    assert Result(0.5).frame(findings=True)["finding"].tolist() == ["finding of results"]
    frame = SuiteResult({"a": Result(0.5)}).frame(findings=True)
    assert frame["finding"].tolist() == ["finding of results"]
