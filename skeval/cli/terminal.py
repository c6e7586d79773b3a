"""Print sentences and tables in a terminal without truncating them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from skeval.cli.options import with_options
from skeval.utils.formatting import printable

if TYPE_CHECKING:
    from skeval.reporting.document import blocks

_WIDE = 200  # width of a log in characters
_NARROWEST = 12  # minimum width of a column with names
_MAX_UNBROKEN = 24  # names of metrics up to this width are not wrapped


def say(text: str) -> None:
    """Print a sentence on standard error, and add the options for the parameters that it names."""
    words = printable(with_options(text))
    Console(stderr=True, soft_wrap=True).print(words, markup=False, highlight=False)


class _Printable(Table):
    """Table that removes control characters from its cells."""

    def add_row(self, *cells: Any, **settings: Any) -> None:
        super().add_row(*map(printable, cells), **settings)


def plain_table(*names: str, texts: int = 1) -> Table:
    """Return an empty table that does not truncate text, because truncated names can be equal.

    Only the first `texts` columns are wrapped if the terminal is narrow.
    """
    table = _Printable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(names):
        if place < texts:
            table.add_column(name, overflow="fold", min_width=_NARROWEST)
        else:
            table.add_column(name, no_wrap=True)
    return table


def add_folded(
    table: Table,
    name: str,
    min_width: int,
    max_width: int | None = None,
    justify: Literal["left", "right"] = "left",
) -> None:
    """Add a column whose header and cells are wrapped if the terminal is narrow."""
    table.add_column(
        name, overflow="fold", justify=justify, min_width=min_width, max_width=max_width
    )


def _length(markup: Any) -> int:
    return cell_len(Text.from_markup(markup).plain)


def _log_width(console: Console) -> int | None:
    """Return the width to use for a log, or None for a terminal."""
    return None if console.is_terminal or "COLUMNS" in os.environ else _WIDE


def show_text(text: str, *, style: str | None = None) -> None:
    """Print a paragraph on standard output, wrapped at the width of a terminal."""
    console = Console()
    is_log = _log_width(console) is not None
    words = _encodable(printable(text), console)
    console.print(words, style=style, markup=False, highlight=False, soft_wrap=is_log)


def show(table: Table) -> None:
    """Print a table, wider than a narrow terminal if need be."""
    console = Console()
    least = sum(
        column.min_width or max(map(_length, (column.header, *column.cells)))
        for column in table.columns
    )
    most = max(console.width, least + 2 * len(table.columns) + 1)
    Console(width=_log_width(console) or most, highlight=False).print(table)


_INKS = {
    "leak": "bold red",
    "copies": "bold dark_orange",
    "below": "yellow",
    "inconclusive": "yellow",
}


def show_block(block: blocks.Table) -> None:
    """Print a table of a document with the shapes and colors of the outcomes."""
    from skeval.reporting.document.spans import plain
    from skeval.reporting.plain_text import cell_text

    console = Console()
    table = _Printable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    rows = [row for _, group in block.groups for row in group]
    for i, (head, aligned) in enumerate(zip(block.heads, block.aligned, strict=True)):
        if head == "metric":
            longest = max((cell_len(plain(row[i].text)) for row in rows), default=0)
            add_folded(table, head, min_width=min(longest, _MAX_UNBROKEN))
        else:
            table.add_column(head, no_wrap=True, justify="right" if aligned == "right" else "left")
    for row in rows:
        cells = [escape(_encodable(cell_text(cell), console)) for cell in row]
        inks = [_INKS.get(cell.outcome.value) if cell.outcome else None for cell in row]
        pairs = zip(cells, inks, strict=True)
        table.add_row(*(f"[{ink}]{text}[/]" if ink else text for text, ink in pairs))
    show(table)
    show_text(plain(block.note))


# Replacements for older Windows terminals, which would print question marks. A question mark would
# look like an inconclusive result.
_PLAIN = str.maketrans(
    {
        "\N{BLACK UP-POINTING TRIANGLE}": "!",
        "\N{BLACK SQUARE}": "!",
        "\N{BLACK DIAMOND}": "*",
        "\N{WHITE DIAMOND}": "*",
        "\N{WHITE CIRCLE}": "o",
        "\N{EN DASH}": "-",
        "\N{MINUS SIGN}": "-",
        "\N{INFINITY}": "inf",
        "\N{HORIZONTAL ELLIPSIS}": "...",
    }
)


def _encodable(text: str, console: Console) -> str:
    """Return the text with characters that the encoding of the terminal supports."""
    try:
        text.encode(console.encoding)
    except (UnicodeError, LookupError):
        return text.translate(_PLAIN)
    return text
