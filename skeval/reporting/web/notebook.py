"""Results in a notebook as headline, tiles and privacy rows, with the numbers folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from skeval.core.tags import MetricTags
from skeval.reporting.document.blocks import Block, Cell, Document, Page, Paragraphs, Table
from skeval.reporting.document.spans import Span
from skeval.reporting.web.environment import environment, printable
from skeval.utils.formatting import number

_KINDS = ("Headline", "Tiles", "Table", "Comparison", "DotRows")  # a notebook shows the first
_NUMBERS = ("numbers", "skipped")
_SUITE_HEADS = ("Metric", "Class", "What it measures", "Scale", "Direction", "Evidence", "Needs")


def notebook_html(document: Document) -> str:
    """Return the headline, the tiles and the first rows of a document, with folded numbers."""
    pages = printable(document)["pages"]
    first = (_first(pages[0], kind) for kind in _KINDS)
    return _cell(filter(None, first), folded=_numbers(pages), summary="All numbers")


def numbers_html(document: Document, sentence: str) -> str:
    """Return a sentence, and the numbers of a document below it."""
    said = _printable(Paragraphs("finding", "", ((Span(sentence),),) if sentence else ()))
    return _cell([*said, *_numbers(printable(document)["pages"])])


def sentences_html(title: str, sentences: Iterable[str]) -> str:
    """Return a title with sentences."""
    paragraphs = tuple((Span(sentence),) for sentence in sentences)
    return _cell(_printable(Paragraphs("sentences", title, paragraphs)))


def table_html(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose columns, except the first one, are aligned to the right."""
    aligned = ("left", *("right" for _ in heads[1:]))
    return _cell(_printable(_table("table", title, heads, aligned, rows)))


def suite_html(metrics: Iterable[tuple[str, str, str, MetricTags]], diagram: str) -> str:
    """Return a suite: what each of its metrics measures, and its parameters as a diagram."""
    rows = (_metric_row(*metric) for metric in metrics)
    table = _table("suite", "", _SUITE_HEADS, ("left",) * len(_SUITE_HEADS), rows)
    # the diagram is the HTML that scikit-learn makes of an estimator
    return _cell(_printable(table), folded=(), summary="Parameters", diagram=Markup(diagram))


def _metric_row(name: str, kind: str, definition: str, tags: MetricTags) -> tuple[str, ...]:
    low, high = tags.bounds
    scale = f"{number(low)} to {number(high)}"
    needs = ", ".join(sorted(tags.needs))
    return name, kind, definition, scale, tags.direction, tags.evidence or tags.aspect, needs


def _table(
    name: str,
    title: str,
    heads: Sequence[str],
    aligned: tuple[str, ...],
    rows: Iterable[Sequence[str]],
) -> Table:
    cells = tuple(tuple(Cell((Span(text),)) for text in row) for row in rows)
    return Table(name, title, (), tuple(heads), aligned, (("", cells),))


def _printable(*blocks: Block) -> list[dict[str, Any]]:
    """Return blocks as plain data."""
    pages = printable(Document("", (), (Page("cell", "", blocks),)))["pages"]
    own: list[dict[str, Any]] = pages[0]["blocks"]
    return own


def _first(page: dict[str, Any], kind: str) -> dict[str, Any] | None:
    return next((block for block in page["blocks"] if block["kind"] == kind), None)


def _numbers(pages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for page in pages for block in page["blocks"] if block["name"] in _NUMBERS]


def _cell(
    blocks: Iterable[dict[str, Any]],
    *,
    folded: Sequence[dict[str, Any]] = (),
    summary: str = "",
    diagram: Markup | str = "",
) -> str:
    template = environment().get_template("notebook.html.jinja")
    return template.render(blocks=list(blocks), folded=folded, summary=summary, diagram=diagram)
