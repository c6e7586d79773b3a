"""A report of several tables has the sections, the outline and the links of any other report."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from pypdf import PdfReader

from skeval import MetricTags, Result, SuiteResult, compare
from skeval.exceptions import InvalidParameterError
from skeval.reporting import FigureRenderer, HTMLRenderer, PDFRenderer
from skeval.reporting.comparison import comparison_plan
from skeval.reporting.layout import Grid, Number
from skeval.results.comparison import Comparison
from skeval.results.result import Contrast
from tests.snapshots import raises

FIDELITY = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
PRIVACY = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")
TITLES = ["Which table to take", "Metric by metric", "Not measured in all tables"]
TITLES += ["Differences and their intervals", "What was found on privacy"]


def table(score: float, p_value: float) -> SuiteResult:
    ks = Result(score, (score - 0.02, score + 0.02), baseline=0.9, tags=FIDELITY)
    contrast = Contrast("rows that match", 0.2, 0.1, "of holdout rows")
    screen = Result(0.2, baseline=0.3, p_value=p_value, contrast=contrast, tags=PRIVACY)
    return SuiteResult({"ks": ks, "screen": screen}, sizes={"train": 9, "holdout": 9})


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    copies = table(0.9, 0.0001)
    return compare({"fine": table(0.8, 0.5), "copies": SuiteResult({**copies, "own": Result(1.0)})})


@pytest.mark.slow
def test_its_outline_names_the_sections_and_its_contents_link_to_them(
    comparison: Comparison, tmp_path: Path
) -> None:
    reader = PdfReader(comparison.to_pdf(tmp_path / "a.pdf", title="Two tables"))
    assert [entry["/Title"] for entry in reader.outline] == TITLES
    assert (reader.metadata.title, reader.metadata.author) == ("Two tables", "skeval")
    linked = [page for page in reader.pages if "/Annots" in page]
    assert sum(len(page["/Annots"].get_object()) for page in linked) == len(TITLES)
    text = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    assert "of holdout rows 10.0%" in text
    assert "The score is better than its baseline all the same" in text
    again = comparison.to_pdf(tmp_path / "b.pdf", title="Two tables")
    assert again.read_bytes() == (tmp_path / "a.pdf").read_bytes()


def test_a_page_has_the_same_sections(comparison: Comparison, tmp_path: Path) -> None:
    page = comparison.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.findall("<h2>(.*)</h2>", page) == TITLES
    assert re.findall('<section id="(.*)">', page) == re.findall('<a href="#(.*)">', page)


def test_leaks_are_marked_and_numbers_are_sorted_by_their_values(comparison: Comparison) -> None:
    front, metrics, *_ = comparison_plan(comparison).sections
    (standing,) = (part for part in front.parts if isinstance(part, Grid))
    (measured,) = (part for part in metrics.parts if isinstance(part, Grid))
    assert [standing.rows[i][k] for i, k in standing.alarms] == ["leak found\nmean score 0.500"]
    ((row, column),) = measured.alarms
    cell = measured.rows[row][column]
    assert (measured.heads[column], cell.split("\n")[0]) == ("copies", "20.0%")
    assert isinstance(cell, Number)
    assert cell.value == 0.2


def test_sections_can_be_chosen(comparison: Comparison, tmp_path: Path) -> None:
    renderer = HTMLRenderer(sections=["differences"])
    page = renderer.render(comparison, tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.findall("<h2>(.*)</h2>", page) == ["Differences and their intervals"]
    assert "<nav" not in page
    with raises(InvalidParameterError):
        PDFRenderer(sections=["scores"]).render(comparison, tmp_path / "a.pdf")


def test_its_front_is_a_loose_figure(comparison: Comparison, tmp_path: Path) -> None:
    (file,) = FigureRenderer(format="svg").render(comparison, tmp_path / "figures").iterdir()
    assert file.name == "choice-tables_that_no_other_beats_in_both.svg"


@pytest.mark.slow
def test_no_row_goes_from_a_page_that_is_too_small(tmp_path: Path) -> None:
    names = [f"{i}: " + "long name " * 30 for i in range(8)]
    scores = table(0.8, 0.5)
    ks = replace(scores["ks"], interval=None)
    both = compare({name: SuiteResult({"ks": ks, "screen": scores["screen"]}) for name in names})
    reader = PdfReader(both.to_pdf(tmp_path / "a.pdf"))
    text = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    assert "Fidelity" in text
    assert "Privacy" in text
