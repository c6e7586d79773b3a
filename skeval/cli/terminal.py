"""Sentences and tables in a terminal, of which nothing is cut."""

from __future__ import annotations

import os
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skeval.cli.options import with_options
from skeval.utils.formatting import printable

_WIDE = 200  # columns of a log
_NARROWEST = 12  # columns of a cell that contains a name


def say(text: str) -> None:
    """Print a sentence on standard error, with the options that it speaks of."""
    words = printable(with_options(text))
    Console(stderr=True, soft_wrap=True).print(words, markup=False, highlight=False)


class _Printable(Table):
    """A table whose cells, that hold names of others, give terminals no orders."""

    def add_row(self, *cells: Any, **settings: Any) -> None:
        super().add_row(*map(printable, cells), **settings)


def plain_table(*names: str, texts: int = 1) -> Table:
    """Return an empty table that cuts nothing: cut names would read the same.

    The first `texts` columns are broken where there is no room, the others never.
    """
    table = _Printable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(names):
        if place < texts:
            table.add_column(name, overflow="fold", min_width=_NARROWEST)
        else:
            table.add_column(name, no_wrap=True)
    return table


def _length(markup: Any) -> int:
    return cell_len(Text.from_markup(markup).plain)


def show(table: Table) -> None:
    """Print a table, wider than a narrow terminal if need be."""
    console = Console()
    wide = not console.is_terminal and "COLUMNS" not in os.environ
    least = sum(
        _NARROWEST if column.min_width else max(map(_length, (column.header, *column.cells)))
        for column in table.columns
    )
    most = max(console.width, least + 3 * len(table.columns))
    Console(width=_WIDE if wide else most, highlight=False).print(table)
