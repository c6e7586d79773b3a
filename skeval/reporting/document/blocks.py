"""The kinds of block in a document. Blocks are data without position, color or markup."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import Text


@dataclass(frozen=True)
class Block:
    """A part of a page. Templates find it by its name."""

    name: str


@dataclass(frozen=True)
class Headline(Block):
    """The finding of a page in one sentence, its facts above and a few sentences below."""

    outcome: Outcome | None
    title: Text
    deck: Text
    facts: tuple[Text, ...] = ()


@dataclass(frozen=True)
class Tile:
    """The outcome of one aspect in at most four words, and one line of evidence."""

    label: str
    outcome: Outcome
    answer: str
    evidence: Text


@dataclass(frozen=True)
class Tiles(Block):
    """The outcomes of the aspects, side by side."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Threshold:
    """A threshold that was agreed before the evaluation, and whether the results meet it."""

    rule: str
    is_met: bool
    answer: str
    measured: str


@dataclass(frozen=True)
class Release(Block):
    """The facts of the release file."""

    facts: tuple[tuple[str, Text], ...]
    thresholds: tuple[Threshold, ...] = ()
    more: Text = ()


@dataclass(frozen=True)
class ComparisonRow:
    """One value next to its reference on a common axis."""

    label: Text
    note: Text
    outcome: Outcome
    answer: str
    shown: str
    shown_reference: str
    value: float | None = None
    reference: float | None = None
    interval: tuple[float, float] | None = None
    reference_interval: tuple[float, float] | None = None
    limit: float | None = None


@dataclass(frozen=True)
class RowGroup:
    """Rows of a comparison below one heading."""

    title: str
    rows: tuple[ComparisonRow, ...]


@dataclass(frozen=True)
class Comparison(Block):
    """Rows of values and references on one axis."""

    title: str
    heads: tuple[str, ...]
    legend: tuple[tuple[str, str], ...]
    groups: tuple[RowGroup, ...]
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    alternative: str = ""
    more: Text = ()


@dataclass(frozen=True)
class Dot:
    """The value of one table in a row. There is a dot only if there is a value."""

    outcome: Outcome
    value: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class DotRow:
    """One value of several tables, next to the common value of unseen rows if there is one."""

    label: Text
    note: Text
    outcome: Outcome
    answer: Text
    dots: tuple[Dot, ...]
    reference: float | None = None


@dataclass(frozen=True)
class DotRows(Block):
    """Rows of values of several tables on one axis, each with a dot per table, in their order."""

    title: str
    note: Text
    tables: tuple[Text, ...]
    reference: str
    rows: tuple[DotRow, ...]
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    alternative: str


@dataclass(frozen=True)
class ColumnRow:
    """A column: its distribution as a small drawing, and its similarity."""

    row: ComparisonRow
    kind: Text
    svg: str
    alternative: str


@dataclass(frozen=True)
class ColumnRows(Block):
    """Columns, one per row, on a common axis."""

    heads: tuple[str, ...]
    rows: tuple[ColumnRow, ...]
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Picture:
    """A small drawing with its caption."""

    caption: str
    svg: str
    alternative: str


@dataclass(frozen=True)
class PictureRow:
    """Small drawings that are compared, below one title."""

    title: Text
    note: Text
    pictures: tuple[Picture, ...]


@dataclass(frozen=True)
class PictureRows(Block):
    """Several rows of small drawings; `labels` name the rows and columns of each drawing."""

    title: str
    note: Text
    rows: tuple[PictureRow, ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class HeatCell:
    """A cell of a table of percentages. A cell without a share has too few rows to be shown."""

    shown: str
    share: float | None
    is_invented: bool = False


@dataclass(frozen=True)
class HeatTables(Block):
    """Two tables of percentages with common rows and columns."""

    title: Text
    note: Text
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    tables: tuple[tuple[str, tuple[tuple[HeatCell, ...], ...]], ...]


@dataclass(frozen=True)
class Steps(Block):
    """Numbered items."""

    title: str
    items: tuple[Text, ...]


@dataclass(frozen=True)
class Paragraphs(Block):
    """A heading and text."""

    title: str
    paragraphs: tuple[Text, ...]


@dataclass(frozen=True)
class Entry:
    """One item of a list, which has a term, a text, and sometimes an outcome."""

    term: Text
    text: Text
    outcome: Outcome | None = None
    answer: str = ""
    link: str = ""


@dataclass(frozen=True)
class Entries(Block):
    """A heading and a list of terms with their text."""

    title: str
    note: Text
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: Text
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Table(Block):
    """A table with one head row; `aligned` has "left" or "right" for each column."""

    title: str
    note: Text
    heads: tuple[str, ...]
    aligned: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[Cell, ...], ...]], ...]


@dataclass(frozen=True)
class Figure(Block):
    """A drawing with literal colors, and the same in words for those who do not see it."""

    title: str
    note: Text
    svg: str
    alternative: str
    is_wide: bool = True  # narrow ones are placed side by side


@dataclass(frozen=True)
class SignOff(Block):
    """Lines to fill in by hand, and a footer that identifies the report."""

    title: str
    fields: tuple[str, ...]
    footer: Text


@dataclass(frozen=True)
class Page:
    """Blocks that belong together."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A report as plain data, which is all that templates read."""

    title: str
    facts: tuple[Text, ...]
    pages: tuple[Page, ...]
    footer: Text = ()
    language: str = "en"
    timestamp: int = 0
    keywords: tuple[str, ...] = field(default=("synthetic data", "evaluation"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, mappings, texts and numbers. Each block has an entry for its kind."""
        content = asdict(self, dict_factory=_plain_items)
        for page, own in zip(self.pages, content["pages"], strict=True):
            for block, data in zip(page.blocks, own["blocks"], strict=True):
                data["kind"] = type(block).__name__
        return content


def _plain_items(items: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value.value if isinstance(value, Enum) else value for key, value in items}
