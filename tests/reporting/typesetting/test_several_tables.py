"""Reports of several tables, of texts and of a comparison become PDFs that keep both standards."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfReader

from skeval import SuiteResult, compare
from skeval.reporting.document.compared_report import make_comparison_document
from skeval.reporting.document.report import make_document
from skeval.reporting.typesetting.render import render_pdf
from skeval.results.comparison import Comparison
from tests.reporting.document.releases import release
from tests.reporting.document.test_comparison import table
from tests.reporting.document.test_tables import of_tables, of_texts
from tests.reporting.typesetting.test_typesetting import rightmost

WIDTH, MARGIN = 595.3, 25.0  # points


def read(results: SuiteResult | Comparison) -> PdfReader:
    is_comparison = isinstance(results, Comparison)
    document = make_comparison_document(results) if is_comparison else make_document(results)
    return PdfReader(BytesIO(render_pdf(document, results)))


def outline(reader: PdfReader) -> list[str]:
    return [entry["/Title"] for entry in reader.outline if not isinstance(entry, list)]


def check_standards(reader: PdfReader) -> list[str]:
    """Check the standards and that no page is empty; return the texts, which take long to extract."""
    check_metadata(reader)
    pages = [page.extract_text() for page in reader.pages]
    assert all(text.strip() for text in pages)
    return pages


def check_metadata(reader: PdfReader) -> None:
    metadata: Any = reader.trailer["/Root"]["/Metadata"].get_data().decode()
    assert "<pdfaid:part>3</pdfaid:part>" in metadata
    assert "<pdfuaid:part>1</pdfuaid:part>" in metadata


def test_several_tables() -> None:
    reader = read(of_tables(people="leak", visits="leak"))
    pages = check_standards(reader)
    titles = outline(reader)
    assert len(set(titles)) == len(titles)
    assert sum(title.replace("\u2068", "").startswith("people") for title in titles) >= 3
    assert "All numbers" not in pages[0]  # the first page is one page


def test_texts() -> None:
    reader = read(of_texts())
    check_standards(reader)
    assert any(title.endswith("repeat training texts") for title in outline(reader))


@pytest.mark.parametrize("n_tables", [2, 5, pytest.param(9, marks=pytest.mark.slow)])
def test_a_comparison(n_tables: int) -> None:
    learned = (0.8 - 0.01 * i for i in range(n_tables))
    reader = read(compare({f"generator {i}": table(learned=x) for i, x in enumerate(learned)}))
    check_standards(reader)
    titles = outline(reader)
    assert titles[1:3] == ["Privacy of each table, and the rule", "Metric by metric"]


def test_names_of_tables_are_printed_as_they_are() -> None:
    names = ("#panic() <b>", "\u202egnitrever a\x00b", "\u540d", "x" * 200, "a_" * 100)
    reader = read(compare({name: release("leak") for name in names}))
    check_metadata(reader)
    for page in reader.pages:  # of which none is empty
        assert rightmost(page) < WIDTH - MARGIN
    check_standards(read(of_tables(**{names[0]: "leak", names[-1]: "none"})))
