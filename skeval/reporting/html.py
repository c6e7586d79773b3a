"""A report as one web page that needs nothing else: no network, no script, no other file."""

from __future__ import annotations

import base64
import io
import math
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import quote

from skeval.formatting import number, shown_interval
from skeval.reporting.decision import titles_of
from skeval.reporting.displays.distributions import PairDisplay
from skeval.reporting.displays.values import band_of, comparable, scale_of
from skeval.reporting.figures import FileRenderer, save
from skeval.reporting.layout import Item
from skeval.reporting.parts import Grid, Listed, Part, Words
from skeval.reporting.sections import HOW_TO_READ, TABLE_HEADS, Plan, Section
from skeval.reporting.text import evidence, finding
from skeval.reporting.theme import ALARM, COLOURS, FAINT, FONT, GREY, INK
from skeval.result import Result, SuiteResult
from skeval.verdict import is_shifted, summary

_STYLE = Template("""
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
td.n { text-align: right; white-space: nowrap; }
tbody th small { color: $grey; display: block; font-weight: normal; }
.alarm { color: $alarm; font-weight: bold; }
.grid { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); }
.pairs { grid-template-columns: repeat(auto-fill, minmax(24rem, 1fr)); }
figure { margin: 0; }
figcaption { font-weight: 600; } figcaption small { display: block; font-weight: normal; }
figure svg, figure img { height: auto; max-width: 100%; }
.form { display: grid; grid-template-columns: 1fr 1fr; }
.form div { border: 1px solid $faint; color: $grey; font-size: .8rem; height: 4rem; }
.form div { padding: .4rem; }
.key span { margin-right: 1.5rem; }
.key i { display: inline-block; height: .7em; margin-right: .4em; width: 1.4em; }
""").substitute(ink=INK, faint=FAINT, grey=GREY, alarm=ALARM, train=COLOURS["train"])

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
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
</body>
</html>
""")


class HTMLRenderer(FileRenderer):
    """Writes a suite's results as one self-contained web page.

    Parameters
    ----------
    title : str, default="Synthetic data report"
        Of the page.
    columns : ReportColumns, optional
        Its `univ` and `biv` choose the columns that are drawn; all that the results hold otherwise.
    sections : iterable of str, optional
        As for :class:`PDFRenderer`.
    progress : callable, optional
        Called as ``progress(section, n_done, n_total)`` when a section is drawn.

    See Also
    --------
    PDFRenderer : On paper.
    FigureRenderer : Loose figures.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import HTMLRenderer
    >>> result = SuiteResult({"a": Result(0.5)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = HTMLRenderer().render(result, pathlib.Path(folder) / "a.html")
    ...     "<h1>Synthetic data report</h1>" in path.read_text(encoding="utf-8")
    True
    """

    def _write(self, content: Plan, file: Path) -> None:
        file.write_text(self._page(content), encoding="utf-8")

    def _page(self, content: Plan) -> str:
        parts = []
        for done, section in enumerate(content.sections, start=1):
            parts.append(_scores(content) if section.name == "scores" else _section(section))
            self._report(section.key, done, content)
        return _PAGE.substitute(
            title=escape(self.title),
            style=_STYLE,
            sizes=escape(content.sizes()),
            body="\n".join(parts),
        )


def _scores(content: Plan) -> str:
    decided = any(section.name == "decision" for section in content.sections)
    lead = "" if decided else summary(content.suite_result)
    parts = [
        _paragraph(lead, "lead") if lead else "",
        _contents(content),
        '<section id="scores">\n<h2>Scores</h2>',
        _paragraph(HOW_TO_READ, "quiet"),
        _table(content.suite_result),
        _listed("Left out", content.reasons()),
        _listed("Warnings", content.warnings()),
        "</section>",
    ]
    return "\n".join(parts)


def _paragraph(text: str, kind: str) -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _contents(content: Plan) -> str:
    headings = {_anchor(section): section.heading for section in content.sections}
    links = "\n".join(
        f'<li><a href="#{quote(anchor)}">{escape(heading)}</a></li>'
        for anchor, heading in headings.items()
    )
    return f'<nav aria-label="Contents">\n<ul>\n{links}\n</ul>\n</nav>'


def _anchor(section: Section) -> str:
    return re.sub(r"\s", "_", section.key)


def _listed(title: str, texts: Sequence[str]) -> str:
    if not texts:
        return ""
    entries = "\n".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<h3>{escape(title)}</h3>\n<ul>\n{entries}\n</ul>"


def _table(suite_result: SuiteResult) -> str:
    head = "".join(f'<th scope="col">{text}</th>' for text in TABLE_HEADS)
    alarms, shifted = suite_result.verdict().alarms, is_shifted(suite_result)
    titles = titles_of(suite_result)
    rows = "\n".join(
        _row(name, titles[name], result, name in alarms, shifted)
        for name, result in suite_result.items()
        if not result.error
    )
    table = f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>"
    return f'<div class="wide">\n<table>\n{table}\n</table>\n</div>'


def _row(name: str, title: str, result: Result, alarm: bool, shifted: bool) -> str:
    kind, said = "n alarm" if alarm else "n", finding(result, alarm, shifted)
    interval = shown_interval(band_of(result))
    direction = result.tags.direction if result.tags is not None else ""
    return (
        f'<tr><th scope="row">{escape(title)}<small>{escape(name)}: {escape(said)}</small></th>'
        f"<td>{_strip(result)}</td>"
        f'<td class="{kind}">{number(result.value)}</td><td class="n">{interval}</td>'
        f'<td class="n">{number(result.baseline)}</td><td>{escape(direction)}</td>'
        f"<td>{escape(evidence(result))}</td></tr>"
    )


def _strip(result: Result, width: float = 120.0) -> str:
    """Return value, interval and baseline on the metric's scale as a small drawing."""
    low, high = scale_of(result)

    def place(value: float) -> str:
        return f"{4.0 + (min(max(value, low), high) - low) / (high - low) * (width - 8.0):.1f}"

    drawn = f'<line x1="4" x2="{width - 4:g}" y1="9" y2="9" stroke="{FAINT}"/>'
    colour, green = COLOURS["synthetic"], COLOURS["holdout"]
    if (interval := band_of(result)) is not None:
        ends = 'x1="{}" x2="{}"'.format(*map(place, interval))
        band = f'stroke="{colour}" stroke-opacity=".35" stroke-width="5"'
        drawn += f'<line {ends} y1="9" y2="9" {band}/>'
    if result.baseline is not None:
        x = place(result.baseline)
        drawn += f'<line x1="{x}" x2="{x}" y1="3" y2="15" stroke="{green}" stroke-width="2"/>'
    if math.isfinite(value := comparable(result)):
        drawn += f'<circle cx="{place(value)}" cy="9" r="3.5" fill="{colour}"/>'
    label = f"{number(result.value)} from {number(low)} to {number(high)}"
    return f'<svg role="img" aria-label="{label}" width="{width:g}" height="18">{drawn}</svg>'


def _section(section: Section) -> str:
    figures = "\n".join(_figure(item) for item in section.items)
    if section.layout.grid:
        figures = f'<div class="{section.layout.grid}">\n{figures}\n</div>'
    key = ""
    if section.layout.legend and section.items:  # which colour is which table
        columns = section.items[0].display.frame().columns
        roles = [role for role in COLOURS if role in columns]
        spans = (f'<span><i style="background:{COLOURS[role]}"></i>{role}</span>' for role in roles)
        key = f'<p class="key">{"".join(spans)}</p>'
    return (
        f'<section id="{escape(_anchor(section))}">\n<h2>{escape(section.heading)}</h2>\n'
        f"{_paragraph(section.intro, 'quiet') if section.intro else ''}\n"
        f"{_written(section.parts)}\n{key}\n{figures}\n</section>"
    )


def _written(parts: Sequence[Part]) -> str:
    """Return words, lists, tables and forms."""
    texts = []
    for part in parts:
        if isinstance(part, Words):
            texts.append(_paragraph(part.text, part.style))
        elif isinstance(part, Listed):
            texts.append(_listed(part.title, part.texts))
        elif isinstance(part, Grid):
            texts.append(_grid(part))
        else:
            cells = "".join(f"<div>{escape(name)}</div>" for row in part.fields for name in row)
            texts.append(f'<h3>{escape(part.title)}</h3>\n<div class="form">{cells}</div>')
    return "\n".join(texts)


def _grid(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in grid.heads)
    rows = "\n".join(_grid_row(grid, row, i in grid.alarms) for i, row in enumerate(grid.rows))
    table = f"{f'<thead><tr>{head}</tr></thead>' if head else ''}\n<tbody>\n{rows}\n</tbody>"
    title = f"<h3>{escape(grid.title)}</h3>\n" if grid.title else ""
    return f'{title}<div class="wide">\n<table class="text">\n{table}\n</table>\n</div>'


def _grid_row(grid: Grid, row: Sequence[str], alarm: bool) -> str:
    cells = []
    for k, text in enumerate(row):
        first, *others = (escape(line) for line in text.split("\n"))
        small = "".join(f"<small>{line}</small>" for line in others)
        kinds = ["n"] if k in grid.numbers else []
        # what an alarm marks: the verdict, which is last, or stands below the name
        if alarm and k == (len(row) - 1 if grid.heads else 0):
            kinds.append("alarm")
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        tag, scope = ("th", ' scope="row"') if k == 0 else ("td", "")
        cells.append(f"<{tag}{scope}{kind}>{first}{small}</{tag}>")
    return f"<tr>{''.join(cells)}</tr>"


def _figure(item: Item) -> str:
    """Return a figure: drawn as lines, or as points where it is dense."""
    label, buffer = escape(item.heading), io.BytesIO()
    dense = isinstance(item.display, PairDisplay)
    save(item.display.untitled(), buffer, "png" if dense else "svg")
    if dense:
        content = base64.b64encode(buffer.getvalue()).decode("ascii")
        drawn = f'<img alt="{label}" src="data:image/png;base64,{content}">'
    else:
        drawn = _embedded(buffer.getvalue().decode("utf-8"), label)
    lines = escape(item.caption).replace("\n", "<br>")
    caption = f"<figcaption>{label}<small>{lines}</small></figcaption>"
    return f"<figure>\n{caption}\n{drawn}\n</figure>"


def _embedded(svg: str, label: str) -> str:
    """Return a drawing as an element of the page: no prologue, no names that would clash."""
    text = svg[svg.index("<svg ") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    # Verdana has nearly the widths of the font that the figure was laid out with
    text = text.replace(f"'{FONT}'", f"'{FONT}', Verdana, sans-serif")
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).strip()


def scores_table(suite_result: SuiteResult) -> str:
    """Return the table of scores alone, for a page of another's."""
    return _table(suite_result)
