"""The PDF: what it says, its outline and links, the same bytes, whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pypdf import PdfReader

from skeval import Metric, MetricSuite, MetricTags, Result, SuiteResult
from skeval.exceptions import InvalidParameterError
from skeval.reporting import PDFRenderer, pdf
from skeval.reporting.filling import bivariate
from skeval.reporting.sections import plan
from skeval.utils.formatting import number
from tests.snapshots import raises

# One report is drawn for all of them.
pytestmark = pytest.mark.slow

TITLES = [
    "Decision page",
    "Scores",
    "Columns to mend",
    "Structure and validity",
    "Similarity matrix",
    "Columns one by one",
    "Precision and recall",
    "Associations of columns",
    "Proximity of train rows",
    "Distances to the nearest row",
    "Guessing who was in train",
    "Audit of differential privacy",
    "Attacks on persons",
    "Univariate distributions",
    "Bivariate distributions",
    "Singling out, linkability, inference",
    "What the metrics are",
    "Provenance",
    "Decision of a person",
]


@pytest.fixture(scope="module")
def path(suite_result: SuiteResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return suite_result.to_pdf(tmp_path_factory.mktemp("pdf") / "report.pdf", title="A report")


@pytest.fixture(scope="module")
def reader(path: Path) -> PdfReader:
    return PdfReader(path)


@pytest.fixture(scope="module")
def texts(reader: PdfReader) -> list[str]:
    """Return what each page says."""
    return [page.extract_text() for page in reader.pages]


def test_names_and_numbers_can_be_searched(texts: list[str], suite_result: SuiteResult) -> None:
    text = "\n".join(texts)
    for name, result in suite_result.items():
        assert name in text
        assert number(result.value) in text
    for column in suite_result["similarity"].details["names"]:
        assert column in text
    for word in ("train 400 rows", "holdout 400 rows", "distance screen", "never clear"):
        assert word in " ".join(text.split())


def test_no_page_calls_data_private_or_safe(texts: list[str]) -> None:
    words = {word for text in texts for word in text.lower().split()}
    assert not words & {"private", "safe", "anonymous"}


def test_the_outline_has_one_bookmark_per_section(reader: PdfReader, texts: list[str]) -> None:
    assert [entry["/Title"] for entry in reader.outline] == TITLES
    for entry in reader.outline:
        text = texts[reader.get_destination_page_number(entry)]
        assert entry["/Title"] == "Decision page" or entry["/Title"] in text


def test_the_contents_link_to_the_sections(reader: PdfReader) -> None:
    linked = next(page for page in reader.pages if page["/Annots"].get_object())
    links = [annotation.get_object() for annotation in linked["/Annots"]]
    targets = [reader.get_page_number(link["/Dest"][0].get_object()) for link in links]
    assert targets == [reader.get_destination_page_number(entry) for entry in reader.outline]
    width, height = (float(x) for x in reader.pages[0].mediabox[2:])
    for link in links:
        left, bottom, right, top = (float(x) for x in link["/Rect"])
        assert 0 < left < right < width
        assert 0 < bottom < top < height


def test_it_is_labelled(reader: PdfReader) -> None:
    assert reader.metadata.title == "A report"
    assert reader.metadata.author == "skeval"
    assert reader.metadata.subject
    assert reader.metadata.creation_date is None


def test_each_weight_of_letters_is_one_font(reader: PdfReader) -> None:
    fonts = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].values()]
    names = sorted(font["/BaseFont"].partition("+")[2] for font in fonts)
    assert names == ["DejaVuSans", "DejaVuSans-Bold"]


def test_it_is_small(path: Path) -> None:
    assert path.stat().st_size < 1_000_000


def test_a_report_of_saved_results_has_the_same_bytes(
    suite_result: SuiteResult, path: Path, tmp_path: Path
) -> None:
    suite_result.to_json(tmp_path / "results.json")
    again = SuiteResult.from_json(tmp_path / "results.json")
    rendered = PDFRenderer(title="A report").render(again, tmp_path / "again.pdf")
    assert rendered == tmp_path / "again.pdf"
    assert rendered.read_bytes() == path.read_bytes()


def test_another_process_writes_the_same_bytes(narrow: SuiteResult, tmp_path: Path) -> None:
    narrow.to_json(tmp_path / "results.json")
    code = (
        "import sys; from skeval import SuiteResult; "
        "SuiteResult.from_json(sys.argv[1]).to_pdf(sys.argv[2], sections=['scores', 'univariate'])"
    )
    for name in ("a.pdf", "b.pdf"):
        command = [sys.executable, "-c", code, str(tmp_path / "results.json"), str(tmp_path / name)]
        subprocess.run(command, check=True)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_a_failed_render_leaves_the_old_file_alone(
    unprintable: SuiteResult, tmp_path: Path
) -> None:
    old = tmp_path / "report.pdf"
    old.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="no paper"):
        PDFRenderer().render(unprintable, old)
    assert old.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [old]


def test_columns_and_sections_can_be_chosen(suite_result: SuiteResult, tmp_path: Path) -> None:
    columns = SimpleNamespace(univ=["plan"], biv=2)
    printed: list[tuple[str, int, int]] = []
    renderer = PDFRenderer(
        columns=columns,
        sections=["univariate", "bivariate"],
        progress=lambda *step: printed.append(step),
    )
    reader = PdfReader(renderer.render(suite_result, tmp_path / "part.pdf"))
    assert printed == [("univariate", 1, 2), ("bivariate", 2, 2)]
    assert [entry["/Title"] for entry in reader.outline] == TITLES[13:15]
    (text,) = (page.extract_text() for page in reader.pages)
    first, _, second = text.rpartition(TITLES[14])
    assert "plan" in first
    assert "income" not in first
    assert "1 of 7 columns" in first
    assert second.count("similarity 0") == 1


def test_a_column_among_those_to_mend_is_drawn_once(suite_result: SuiteResult) -> None:
    content = plan(suite_result)
    drawn = pdf.drawn_once(content)
    sections = [{one.name: one for one in each.sections} for each in (content, drawn)]
    mended = {item.heading for item in sections[0]["worst"].items}
    every = [item.heading for item in sections[0]["univariate"].items]
    assert mended < set(every)
    left = sections[1]["univariate"]
    assert [item.heading for item in left.items] == [n for n in every if n not in mended]
    assert left.intro.endswith(f"{len(mended)} more are drawn among the columns to mend.")
    none_left = replace(sections[0]["univariate"], items=sections[0]["worst"].items)
    alone = replace(content, sections=(sections[0]["worst"], none_left))
    assert [section.name for section in pdf.drawn_once(alone).sections] == ["worst"]


def test_pairs_that_hold_nothing_new_are_not_drawn(suite_result: SuiteResult) -> None:
    """Of ten pairs short of their ceiling all are drawn, of the others the most associated."""
    names = [f"c{i}" for i in range(8)]
    every = [(i, j) for i in range(8) for j in range(i)]
    ceiling = np.full((8, 8), 0.8)
    bars = suite_result["similarity"].details["pairs"][0]
    scored = [{"score": 0.7 if k < 10 else 0.8, "association": k / 100} for k in range(28)]
    pairs = [
        {**bars, **one, "columns": [names[i], names[j]]}
        for one, (i, j) in zip(scored, every, strict=True)
    ]
    details: dict[str, Any] = {"names": names, "ceiling": ceiling, "matrix": ceiling}
    details |= {"columns": dict.fromkeys(names, 1.0), "pairs": pairs, "n_pairs": 28}

    def drawn(columns: object = None) -> tuple[list[str], str]:
        result = replace(suite_result["similarity"], details=details)
        items, note = bivariate({"similarity": result}, columns)
        return [item.heading.replace(" \N{MULTIPLICATION SIGN} ", "/") for item in items], note

    shown, note = drawn()
    short = [f"{names[i]}/{names[j]}" for i, j in every[:10]]
    assert shown == [*short, *(f"{names[i]}/{names[j]}" for i, j in every[:-3:-1])]  # whole rows
    assert "16 are not drawn: they agree as two samples" in note
    for asked in (SimpleNamespace(biv=names), SimpleNamespace(biv=20, pairs="all")):
        assert len(drawn(asked)[0]) == 28
    for pair in pairs:
        pair["score"] = 0.9
    assert len(drawn()[0]) == 9


def test_pairs_of_another_form_are_not_drawn(suite_result: SuiteResult) -> None:
    """As in a file by another hand; a pair is drawn whose association is no number."""
    result = suite_result["similarity"]
    good = [{**pair, "association": "?"} for pair in result.details["pairs"][:2]]
    odd = [
        {**good[0], "columns": [["age"], {"a": 1}]},
        {**good[0], "columns": ["age"]},
        {**good[0], "shares": {role: [[1.0]] for role in ("train", "synthetic")}},
    ]
    details = {**result.details, "pairs": [*odd, *good]}
    items, _ = bivariate({"similarity": replace(result, details=details)}, None)
    assert len(items) == 2
    few = replace(result, details={**result.details, "names": result.details["names"][:2]})
    figures = {one.name for one in plan(SuiteResult({"similarity": few})).sections if one.items}
    assert "similarity" not in figures


def test_unknown_sections_are_named(suite_result: SuiteResult, tmp_path: Path) -> None:
    with raises(InvalidParameterError):
        PDFRenderer(sections=["univariat"]).render(suite_result, tmp_path / "a.pdf")


def test_what_is_left_out_is_listed(without_holdout: SuiteResult, tmp_path: Path) -> None:
    reader = PdfReader(without_holdout.to_pdf(tmp_path / "a.pdf"))
    text = " ".join(" ".join(page.extract_text() for page in reader.pages[:4]).split())
    assert "Left out" in text
    assert "dcr_overfitting: compares against holdout rows" in text


def test_undefined_metrics_say_why(single: SuiteResult, tmp_path: Path) -> None:
    reader = PdfReader(single.to_pdf(tmp_path / "a.pdf"))
    text = " ".join(" ".join(page.extract_text() for page in reader.pages[:4]).split())
    assert "Not defined here: no column of this table can be measured." in text
    assert "Section 'Associations of columns': phik_difference: fewer than two columns" in text
    assert "Section 'Bivariate distributions'" in text
    assert "Associations of columns" not in [entry["/Title"] for entry in reader.outline]


class Broken(Metric):
    """A metric that fails: the share of pigs that fly."""

    tags = MetricTags("fidelity", bounds=(0, 1), display="PhikMatricesDisplay")

    def _compute(self, context: object) -> float:
        raise RuntimeError("no pigs")


class Plain(Metric):
    """A user's metric with no display of its own."""

    tags = MetricTags("utility", greater_is_better=True, display="MyDisplay")

    def _compute(self, context: object) -> float:
        return 42.0


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricFailedWarning")
def test_failed_and_foreign_metrics(tables: list, tmp_path: Path) -> None:
    suite = MetricSuite([("broken", Broken()), ("plain", Plain())])
    result = suite.fit(tables[0]).evaluate(tables[2])
    reader = PdfReader(result.to_pdf(tmp_path / "a.pdf"))
    titles = [entry["/Title"] for entry in reader.outline]
    assert titles == ["Decision page", "Scores", "What models learn", *TITLES[15:]]
    text = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    assert "broken: RuntimeError" in text
    assert "no pigs" not in text  # a message of somebody else's code may contain cells
    assert "Section 'Associations of columns'" in text
    assert "42.0" in text


def test_a_long_table_runs_over_several_pages(tmp_path: Path) -> None:
    warned = {f"metric_{i:03d}": Result(i / 100) for i in range(90)}
    reader = PdfReader(SuiteResult(warned).to_pdf(tmp_path / "a.pdf"))
    texts = [page.extract_text() for page in reader.pages]
    assert len(texts) > 2
    assert all("95% interval" in text for text in texts[1:-1])
    assert "metric_089" in texts[-1] + texts[-2]


def test_a_short_report_is_for_signing(suite_result: SuiteResult, tmp_path: Path) -> None:
    reader = PdfReader(suite_result.to_pdf(tmp_path / "a.pdf", short=True))
    assert [entry["/Title"] for entry in reader.outline] == [*TITLES[:3], *TITLES[-2:]]
    assert len(reader.pages) <= 5
