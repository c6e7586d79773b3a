"""A report as one web page that needs nothing else: no network, no other file.

The frame of a web page that needs nothing else: its style, its one script, its tables.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from skeval.reporting.decision import titles_of
from skeval.reporting.figures import FileRenderer, save
from skeval.reporting.layout import (
    Facts,
    Folded,
    Grid,
    Item,
    Listed,
    Number,
    OnScale,
    Part,
    Scores,
    Words,
)
from skeval.reporting.old_displays.base import Display
from skeval.reporting.old_displays.distributions import MarginalDisplay
from skeval.reporting.old_displays.values import comparable, scale_of
from skeval.reporting.scores import (
    SCORE_HEADS,
    TEST_HEADS,
    difference_of,
    good,
    numbers_tested,
    parted,
)
from skeval.reporting.sections import Plan, Section
from skeval.reporting.style import (
    COLOURS,
    FAINT,
    FONT,
    GREY,
    INK,
    LABELS,
    evidence,
    finding,
    judged,
    label_of,
    theme,
)
from skeval.reporting.tips import tips_in_svg
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import is_shifted
from skeval.utils.formatting import as_float, number, shown_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FILES = files("skeval.reporting")
_INKS = {"ink": INK, "faint": FAINT, "grey": GREY, "train": COLOURS["train"], **LABELS}


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
    """Return a table whose first cell of a row heads it.

    On a narrow screen it is moved within its box; without heads, each row is a card.
    """
    rows = list(rows)
    drawn = "\n".join(_row(heads, cells) for cells in rows)
    ends = [' class="n"' if "n" in cell.kind.split() else "" for cell in (rows or [[]])[0]]
    ends += [""] * (len(heads) - len(ends))
    top = "".join(
        f'<th scope="col"{end}>{escape(text)}</th>' for text, end in zip(heads, ends, strict=True)
    )
    top = f"<thead><tr>{top}</tr></thead>\n" if any(heads) else ""
    state = "" if not top else "sortable" if sortable else "headed"
    classes = " ".join(filter(None, [kind, state]))
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


class HTMLRenderer(FileRenderer):
    """Writes a suite's results as one self-contained web page.

    Parameters
    ----------
    title : str, default="Synthetic data report"
        The title of the page; by default that of the release, if it is stated.
    columns : ReportColumns, optional
        Its `univ` and `biv` choose the columns that are drawn; all that the results hold otherwise.
    sections : iterable of str, optional
        As for :class:`PDFRenderer`.
    progress : callable, optional
        Called as ``progress(section, n_done, n_total)`` when a section is drawn.
    short : bool, default=False
        Whether only the decision, the scores, the columns to mend and the provenance with the
        sign-off are shown, where `sections` does not choose others.
    hashes : bool, default=True
        Whether the hashes of the real tables are among the provenance; see
        :class:`~skeval.results.Provenance` on what they show.

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

    web = True

    def _write(self, content: Plan, file: Path) -> None:
        with theme():
            file.write_text(self._page(content), encoding="utf-8")

    def _page(self, content: Plan) -> str:
        parts = [_paragraph(content.lead, "lead")] if content.lead else []
        pages = ((one.table, fold.title) for one in content.sections for fold in one.folded)
        figures = Figures(pages)
        for done, section in enumerate(content.sections, start=1):
            if section is content.listed:
                parts.append(_contents(content))
            parts.append(_section(section, figures))
            self._report(section.key, done, content)
        return page(content.title, content.sizes, "\n".join(parts))


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


def _listed(title: str, texts: Sequence[str], level: int) -> str:
    if not texts:
        return ""
    entries = "\n".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<h{level}>{escape(title)}</h{level}>\n<ul>\n{entries}\n</ul>"


def _table(suite_result: SuiteResult) -> str:
    """Return a table of scores, and one of tests of privacy, which begin with what was tested."""
    verdict, shifted = suite_result.verdict(), is_shifted(suite_result.notices)
    titles, (scores, tests) = titles_of(suite_result), parted(suite_result)
    headed = len(scores) > 0 < len(tests)
    tables = []
    for title, heads, row_of, results in (
        ("", (*SCORE_HEADS, "Aspect"), _score_row, scores),
        ("Tests of privacy" if headed else "", TEST_HEADS, _test_row, tests),
    ):
        rows = []
        for name, result in results.items():
            alarm, word = name in verdict.alarms, judged(result, verdict, name, shifted)
            said = f"{name}: {finding(result, alarm, shifted)}"
            first = Cell(f"{escape(titles[name])}<small>{escape(said)}</small>", titles[name])
            # next to the name: a narrow screen shows the first columns
            rows.append([first, text_cell(word, f"words {label_of(word)}"), *row_of(result, alarm)])
        if rows:
            tables.append(
                f"<h3>{title}</h3>\n" * bool(title) + table((heads[0], "Verdict", *heads[1:]), rows)
            )
    return "\n".join(tables)


def _score_row(result: Result, alarm: bool) -> list[Cell]:
    low, high = scale_of(result)
    return [
        Cell(_strip(result), (result.value - low) / (high - low)),
        Cell(number(result.value), result.value, "n"),
        _interval_cell(result.interval),
        Cell(number(result.baseline), as_float(result.baseline), "n"),
        _interval_cell(difference_of(result)),
        text_cell(good(result), "one"),
        text_cell(evidence(result), "words"),
    ]


def _test_row(result: Result, alarm: bool) -> list[Cell]:
    observed, against = numbers_tested(result)
    sorted_by = math.nan if result.contrast is None else result.contrast.observed
    return [
        Cell(escape(observed), sorted_by, "n alarm" if alarm else "n"),
        text_cell(against, "words"),
        Cell(number(result.value), result.value, "n"),
        _interval_cell(result.interval),
        Cell(number(result.baseline), as_float(result.baseline), "n"),
        text_cell(good(result), "one"),
        text_cell(evidence(result), "words"),
    ]


def _interval_cell(ends: tuple[float, float] | None) -> Cell:
    return Cell(shown_interval(ends), as_float(ends[0] if ends else None), "n")


def _strip(result: Result, width: float = 120.0, agreed: float = math.nan) -> str:
    """Return value, interval and baseline on the metric's scale as a small drawing."""
    low, high = scale_of(result)

    def place(value: float) -> str:
        return f"{4.0 + (min(max(value, low), high) - low) / (high - low) * (width - 8.0):.1f}"

    drawn = f'<line x1="4" x2="{width - 4:g}" y1="9" y2="9" stroke="{FAINT}"/>'
    colour, green = COLOURS["synthetic"], COLOURS["holdout"]
    if result.interval is not None:
        ends = 'x1="{}" x2="{}"'.format(*map(place, result.interval))
        band = f'stroke="{colour}" stroke-opacity=".35" stroke-width="5"'
        drawn += f'<line {ends} y1="9" y2="9" {band}/>'
    if result.baseline is not None:
        x = place(result.baseline)
        drawn += f'<line x1="{x}" x2="{x}" y1="3" y2="15" stroke="{green}" stroke-width="2"/>'
    if math.isfinite(smaller := comparable(result)) and smaller != result.value:
        drawn += f'<circle cx="{place(smaller)}" cy="9" r="3.5" fill="none" stroke="{colour}"/>'
    if math.isfinite(result.value):
        drawn += f'<circle cx="{place(result.value)}" cy="9" r="3.5" fill="{colour}"/>'
    if math.isfinite(agreed):
        drawn += f'<path d="M{place(agreed)} 9l-4 -7h8z" fill="currentColor"/>'
    label = f"{number(result.value)} from {number(low)} to {number(high)}"
    label += f", agreed {number(agreed)}" if math.isfinite(agreed) else ""
    more = [f"95% interval {shown_interval(result.interval)}"] if result.interval else []
    more += [f"baseline {number(result.baseline)}"] if result.baseline is not None else []
    drawn += f"<title>{', '.join([f'value {label}', *more])}</title>"
    return f'<svg role="img" aria-label="{label}" width="{width:g}" height="18">{drawn}</svg>'


def _section(section: Section, figures: Figures) -> str:
    heading = f"<h2>{escape(section.heading)}</h2>"
    intro = _paragraph(section.intro, "quiet") if section.intro else ""
    content = "\n".join(filter(None, [heading, intro, section_html(section, figures)]))
    return f'<section id="{escape(_anchor(section))}">\n{content}\n</section>'


def section_html(section: Section, figures: Figures | None = None) -> str:
    """Return what a section holds below its heading."""
    known = Figures() if figures is None else figures
    shown = "\n".join(known.drawn(item, section.table) for item in section.items)
    if section.layout.grid:
        shown = f'<div class="{section.layout.grid}">\n{shown}\n</div>'
    folded = "\n".join(_folded(one, section.table, known) for one in section.folded)
    if folded:
        folded = f'<div class="folds">\n{folded}\n</div>'
    key = ""
    if section.layout.legend and section.items:  # which colour is which table
        columns = section.items[0].display.frame().columns
        roles = [role for role in COLOURS if role in columns]
        spans = (f'<span><i style="background:{COLOURS[role]}"></i>{role}</span>' for role in roles)
        key = f'<p class="key">{"".join(spans)}</p>'
    return "\n".join(filter(None, [parts_in_html(section.parts), key, shown, folded]))


def _folded(folded: Folded, table: str, figures: Figures) -> str:
    """Return what is unfolded: its name and a note in sight, then figures and tables."""
    shown = [figures.again(item, table) for item in folded.items]
    shown += [parts_in_html([one], 4) for one in folded.parts]
    blocks = "\n".join(f"<div>\n{one}\n</div>" for one in shown)
    head = f"<h3>{escape(folded.title)}</h3><small>{escape(folded.note)}</small>"
    anchor, inside = figures.anchor(table, folded.title), f'<div class="halves">\n{blocks}\n</div>'
    return f'<details id="{anchor}">\n<summary>{head}</summary>\n{inside}\n</details>'


def parts_in_html(parts: Iterable[Part], level: int = 3) -> str:
    """Return words, lists, tables and forms; their titles are headings of this level."""
    texts = []
    for part in parts:
        if isinstance(part, Words):
            texts.append(_paragraph(part.text, part.style))
        elif isinstance(part, Listed):
            texts.append(_listed(part.title, part.texts, level))
        elif isinstance(part, Facts):
            texts.append(_facts(part))
        elif isinstance(part, Grid):
            texts.append(_grid(part, level))
        elif isinstance(part, Scores):
            texts.append(_table(part.results))
        else:
            cells = "".join(f"<div>{escape(name)}</div>" for row in part.fields for name in row)
            title = f"<h3>{escape(part.title)}</h3>\n" if part.title else ""
            texts.append(f'{title}<div class="form">{cells}</div>')
    return "\n".join(texts)


def _facts(facts: Facts) -> str:
    pairs = (f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in facts.pairs)
    return '<dl class="facts">\n{}\n</dl>'.format("\n".join(f"<div>{one}</div>" for one in pairs))


def _grid(grid: Grid, level: int) -> str:
    labels = {(row, column): kind for row, column, kind in grid.labels}
    rows = [
        [
            _cell(text, k in grid.numbers, (i, k) in grid.alarms, labels.get((i, k), ""))
            for k, text in enumerate(row)
        ]
        for i, row in enumerate(grid.rows)
    ]
    title = f"<h{level}>{escape(grid.title)}</h{level}>\n" if grid.title else ""
    return title + table(grid.heads or ("",) * len(grid.widths), rows, "text")


def _cell(text: str, right: bool, alarm: bool, label: str = "") -> Cell:
    if isinstance(text, OnScale):
        low, high = scale_of(text.result)
        return Cell(
            _strip(text.result, 180.0, text.agreed), (text.result.value - low) / (high - low)
        )
    lines = [escape(line) for line in text.split("\n")]
    if label:  # what it marks stands below the name, or alone
        lines[min(1, len(lines) - 1)] = f'<span class="label {label}">{lines[-1]}</span>'
    first, *others = lines
    small = "".join(f"<small>{line}</small>" for line in others)
    value = text.value if isinstance(text, Number) else None
    return Cell(first + small, value, " ".join(["n"] * right + ["alarm"] * alarm))


class Figures:
    """The figures of a page: what was drawn is shown again by its name, not drawn again."""

    def __init__(self, pages: Iterable[tuple[str, str]] = ()) -> None:
        self._pages = set(pages)  # tables and columns of which there is a page
        self._known: dict[tuple[Any, ...], tuple[str, str]] = {}  # name and size of a drawing
        self._anchors: dict[tuple[str, str], str] = {}

    def anchor(self, table: str, name: str) -> str:
        """Return the name of the place of a column."""
        return self._anchors.setdefault((table, name), f"column-{len(self._anchors) + 1}")

    def drawn(self, item: Item, table: str = "") -> str:
        """Return a figure, drawn as lines and letters."""
        label, buffer = escape(item.heading), io.BytesIO()
        save(figure := figure_of(item.display), buffer, "svg")
        picture = embedded(buffer.getvalue().decode("utf-8"), label)
        picture = picture.removesuffix("</svg>") + tips_in_svg(item.display, figure) + "</svg>"
        if (key := _key(item, table)) not in self._known:
            name = f"figure-{len(self._known) + 1}"
            wide, tall = 72.0 * figure.get_size_inches()
            self._known[key] = name, f"{wide:g} {tall:g}"
            picture = picture.replace("<svg ", f'<svg id="{name}" ', 1)
        return self._captioned(item, table, picture, link=True)

    def again(self, item: Item, table: str) -> str:
        """Return a figure that the page has already, or that is drawn now."""
        if (known := self._known.get(_key(item, table))) is None:
            return self.drawn(item, table)
        name, size = known
        wide, tall = size.split()
        use = f'<use href="#{name}" width="{wide}" height="{tall}"></use>'
        box = f'width="{wide}pt" height="{tall}pt" viewBox="0 0 {size}"'
        picture = f'<svg role="img" aria-label="{escape(item.heading)}" {box}>{use}</svg>'
        return self._captioned(item, table, picture, link=False)

    def _captioned(self, item: Item, table: str, picture: str, *, link: bool) -> str:
        """Return a figure with its name above, which leads to what else is known of a column."""
        head, display = escape(item.heading), item.display
        if link and isinstance(display, MarginalDisplay) and (table, display.name) in self._pages:
            head = f'<a href="#{self.anchor(table, display.name)}">{head}</a>'
        lines = escape(item.caption).replace("\n", "<br>")
        caption = f"<figcaption>{head}<small>{lines}</small></figcaption>"
        return f"<figure>\n{caption}\n{picture}\n</figure>"


def _key(item: Item, table: str) -> tuple[Any, ...]:
    return type(item.display), table, item.heading, item.caption


def figure_of(display: Display) -> Figure:
    """Return a figure in boxes of fixed size, where the display knows them."""
    from matplotlib.figure import Figure

    from skeval.reporting.old_displays.panels import add_panel

    with theme():
        wide = 72.0 * display.figsize[0]
        around = display.margins(wide)
        if around is None:
            return display.untitled()
        tall = display.tall(wide, around)
        figure = Figure(figsize=(wide / 72.0, tall / 72.0))
        display.boxed(partial(add_panel, figure), wide, tall, around)
        return figure
