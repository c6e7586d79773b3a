"""The frame of a web page that needs nothing else: its style, its one script, its tables."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from string import Template
from typing import NamedTuple

from skeval.reporting.theme import ALARM, COLOURS, FAINT, FONT, GREY, INK

STYLE = Template("""
:root { color: $ink; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { border-top: 1px solid $faint; font-size: 1.35rem; margin: 3rem 0 .5rem; padding-top: 1.5rem; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
.quiet, figcaption small { color: $grey; }
.lead { font-size: 1.1rem; }
nav ul { columns: 2; list-style: none; padding: 0; }
a { color: $train; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { border-bottom: 1px solid $faint; padding: .4rem .6rem; }
th, td { text-align: left; vertical-align: top; }
thead th { color: $grey; font-size: .8rem; white-space: nowrap; }
thead button { background: none; border: 0; color: inherit; cursor: pointer; font: inherit; }
thead button { text-decoration: underline dotted; text-underline-offset: .25em; }
thead button { font-weight: bold; min-height: 1.8rem; padding: 0; text-align: inherit; }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
:focus-visible { outline: 2px solid $train; outline-offset: 2px; }
.n { text-align: right; white-space: nowrap; }
.one { white-space: nowrap; }
.words { overflow-wrap: normal; }
.said { min-width: 7.5rem; }
tbody th { min-width: 14rem; }
tbody th small { color: $grey; display: block; font-weight: normal; }
table.text { font-size: .85rem; }
.alarm { color: $alarm; font-weight: bold; }
.alarm small { color: $grey; font-weight: normal; }
.grid { display: grid; gap: 1.25rem; }
.grid { grid-template-columns: repeat(auto-fill, minmax(min(19rem, 100%), 1fr)); }
.pairs { grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)); }
figure { margin: 0; } div + figure { margin-top: 1.5rem; }
figcaption { font-weight: 600; } figcaption small { display: block; font-weight: normal; }
figure svg, figure img { height: auto; max-width: 100%; }
.form { display: grid; grid-template-columns: 1fr 1fr; }
.form div { border: 1px solid $faint; color: $grey; font-size: .8rem; height: 4rem; }
.form div { padding: .4rem; }
td small { display: block; }
.key span { margin-right: 1.5rem; }
.key i { display: inline-block; height: .7em; margin-right: .4em; width: 1.4em; }
@media (max-width: 40rem) {
body { padding: 1rem 1rem 3rem; }
h1 { font-size: 1.5rem; }
nav ul { columns: 1; }
table, tbody, tr, thead, th, td { display: block; }
table:not(.sortable) thead { display: none; }
thead tr { display: flex; flex-wrap: wrap; gap: 0 1rem; }
thead th { border: 0; padding: .2rem 0; }
tbody tr { border-bottom: 1px solid $grey; display: grid; padding: .5rem 0; }
tbody tr { gap: .1rem .75rem; grid-template-columns: 7rem minmax(0, 1fr); }
tbody th, tbody td { border: 0; display: contents; min-width: 0; }
tbody th > div { grid-column: 1 / -1; } td > div { grid-column: 2; }
td.n > div { text-align: left; white-space: normal; }
td::before { color: $grey; content: attr(data-head); font-size: .8rem; grid-column: 1; }
td::before { text-align: left; }
td[data-head=""] > div { grid-column: 1 / -1; } td[data-head=""]::before { display: none; }
td:empty, td.none { display: none; } .said { min-width: 0; }
}
@media print { thead button::after { content: none; } nav { display: none; } }
""").substitute(ink=INK, faint=FAINT, grey=GREY, alarm=ALARM, train=COLOURS["train"])

# headers become buttons, so that without a script the page is as it was
SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => row.cells[i].dataset.v ?? row.cells[i].textContent.trim();
  const order = (a, b) => a !== "" && b !== "" && !isNaN(a) && !isNaN(b)
    ? a - b : a.localeCompare(b, "en", { numeric: true });
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [key(row, i), row]);
      rows.sort(([a], [b]) => (a === "") - (b === "") || sign * order(a, b));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
"""

_ALLOWED = "sha256-" + base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
_POLICY = (
    f"default-src 'none'; script-src '{_ALLOWED}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="skeval">
<title>$title</title>
<style>$style</style>
</head>
<body>
<header>
<h1>$title</h1>
<p class="quiet">$sizes</p>
</header>
<main>
$body
</main>
<script>$script</script>
</body>
</html>
""")


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
