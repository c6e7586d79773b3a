"""The frame of a web page that needs nothing else: its style, its one script, its tables."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import NamedTuple

from skeval.reporting.theme import ALARM, COLOURS, FAINT, FONT, GREY, INK

_FILES = files("skeval.reporting")
_INKS = {"ink": INK, "faint": FAINT, "grey": GREY, "alarm": ALARM, "train": COLOURS["train"]}


def style_of(name: str, element: str = ":root") -> str:
    """Return a style sheet of the package, below the colours that it names, those of an element."""
    inks = " ".join(f"--{ink}: {colour};" for ink, colour in _INKS.items())
    return f"{element} {{ {inks} }}\n{_FILES.joinpath(name).read_text(encoding='utf-8')}"


STYLE = style_of("page.css")
SCRIPT = _FILES.joinpath("page.js").read_text(encoding="utf-8")
_ALLOWED = "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; script-src '{_ALLOWED}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

_PAGE = Template(_FILES.joinpath("page.html").read_text(encoding="utf-8"))


class Cell(NamedTuple):
    """A cell of a table: its markup, the value by which rows are sorted, and its class."""

    markup: str
    value: str | float | None = None
    kind: str = ""


def page(title: str, sizes: str, body: str) -> str:
    """Return a whole page: no other script can run in it, and nothing can be fetched by it."""
    return _PAGE.substitute(
        title=escape(title),
        sizes=escape(sizes),
        body=body,
        style=STYLE,
        script=SCRIPT,
        policy=escape(_POLICY),
    )


def text_cell(text: str, kind: str = "") -> Cell:
    """Return a cell of plain text."""
    return Cell(escape(text), None, kind)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Cell]], kind: str = "", *, sortable: bool = True
) -> str:
    """Return a table whose first cell of a row heads it; on a narrow screen each row is a card."""
    rows = list(rows)
    drawn = "\n".join(_row(heads, cells) for cells in rows)
    ends = [' class="n"' if "n" in cell.kind.split() else "" for cell in (rows or [[]])[0]]
    ends += [""] * (len(heads) - len(ends))
    top = "".join(
        f'<th scope="col"{end}>{escape(text)}</th>' for text, end in zip(heads, ends, strict=True)
    )
    top = f"<thead><tr>{top}</tr></thead>\n" if any(heads) else ""
    classes = " ".join(filter(None, [kind, "sortable" if sortable and top else ""]))
    attribute = f' class="{classes}"' if classes else ""
    return (
        f'<div class="wide">\n<table{attribute}>\n{top}<tbody>\n{drawn}\n</tbody>\n</table>\n</div>'
    )


def _row(heads: Sequence[str], cells: Sequence[Cell]) -> str:
    first, *others = cells
    said = "".join(
        f'<td{_class(cell)}{_value(cell)} data-head="{escape(head)}"><div>{cell.markup}</div></td>'
        for head, cell in zip(heads[1:], others, strict=True)
    )
    top = f'<th scope="row"{_class(first)}{_value(first)}><div>{first.markup}</div></th>'
    return f"<tr>{top}{said}</tr>"


def _class(cell: Cell) -> str:
    kinds = " ".join(filter(None, [cell.kind, "" if cell.markup else "none"]))
    return f' class="{kinds}"' if kinds else ""


def _value(cell: Cell) -> str:
    if cell.value is None:
        return ""
    value = cell.value
    if isinstance(value, float):
        value = "" if math.isnan(value) else repr(value)
    return f' data-v="{escape(value)}"'


def embedded(svg: str, label: str) -> str:
    """Return a drawing as an element of the page: no prologue, no names that would clash."""
    text = svg[svg.index("<svg ") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    # Verdana has nearly the widths of the font that the figure was laid out with
    text = text.replace(f"'{FONT}'", f"'{FONT}', Verdana, sans-serif")
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).strip()
