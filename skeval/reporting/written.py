"""How words, lists, tables and forms are set on paper: parts become blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from skeval.reporting.layout import (
    HALF,
    LEADING,
    MARGIN,
    MM,
    TOP,
    WIDTH,
    Block,
    Facts,
    Form,
    Grid,
    Listed,
    OnScale,
    Page,
    Part,
    Scores,
    Words,
    paragraph_height,
)
from skeval.reporting.old_displays.values import scale_of, strip
from skeval.reporting.score_rows import score_blocks
from skeval.reporting.structure import Element
from skeval.reporting.style import ALARM, GREY, LABELS, drawable, text_width, wrap

_LISTED, _ENTRY = 8.0, 6.5  # sizes of letters in lists and in entries
_MIN_LEADING = 1.24  # of lines on a page that has much to say
_PADDING, _MIN_PADDING = 2.0, 1.1  # of the rows of tables, and where they need room


def on_one_page(parts: Sequence[Part], above: Sequence[Block]) -> list[Block]:
    """Return the blocks of parts below others, made to fit where there is much to say."""
    # The rows of tables move closer. Then a table loses spare rows, which stand among the
    # scores too. At last lines move closer.
    parts, closer, leading = list(parts), 0.0, LEADING
    while True:
        face = replace(_FIRST_FACE, closer=closer, leading=leading)
        blocks = [block for part in parts for block in (*written([part], face), _gap(part))]
        over = sum(block.height for block in (*above, *blocks)) - (Page.floor - TOP)
        n_rows = sum(len(part.rows) for part in parts if isinstance(part, Grid))
        if over <= 0.0:
            return blocks
        if closer == 0.0 < n_rows:
            closer = min(over / n_rows + 0.01, _PADDING - _MIN_PADDING)
            continue
        fewer = [part.shorter() if isinstance(part, Grid) else part for part in parts]
        if fewer == parts and leading == _MIN_LEADING:
            return blocks
        parts, leading = fewer, _MIN_LEADING if fewer == parts else leading


def _gap(part: Part) -> Block:
    """Return the room below a part: what follows a table may have no heading."""
    return Block(2.0 if isinstance(part, Grid | Facts) else 0.0, lambda page, y, height: None)


@dataclass(frozen=True)
class Face:
    """How words and tables are set: in which width, in letters of which sizes."""

    # `least` is the size down to which a line that does not fit is made smaller; `closer` by
    # how much rows of tables are lower; `leading` is the distance of lines by the size of
    # letters.

    wide: float = WIDTH
    cell: float = 7.5
    head: float = 7.0
    least: float = 6.5
    closer: float = 0.0
    leading: float = LEADING

    @property
    def gap(self) -> float:
        """Between the columns of a table."""
        return 1.6 if self.cell == self.least else 3.0 if self.wide == WIDTH else 2.0


FACE, _FIRST_FACE = Face(), Face(cell=8.0, head=8.0, least=8.0)  # on page 1 nothing is smaller


def written(parts: Iterable[Part], face: Face = FACE) -> Iterator[Block]:
    """Yield the blocks of words, lists, tables and forms."""
    for part in parts:
        if isinstance(part, Words):
            size, style = _STYLES[part.style]
            yield from line_blocks(
                part.text, size, after=3.0 - 2.0 * face.closer, wide=face.wide, **style
            )
        elif isinstance(part, Listed):
            yield from _listed(part.title, part.texts, face)
        elif isinstance(part, Grid) and part.flows:
            yield from _flowing(part, face)
        elif isinstance(part, Grid | Facts):
            yield from _grid(part.grid if isinstance(part, Facts) else part, face)
        elif isinstance(part, Scores):
            yield from score_blocks(part.results, brief=part.brief)
        else:
            yield _form(part)


_STYLES: dict[str, tuple[float, dict[str, Any]]] = {
    "": (8.5, {}),
    "quiet": (8.0, {"color": GREY}),
    "lead": (9.5, {}),
    "alarm": (9.0, {"color": ALARM, "weight": "bold"}),
}


def line_blocks(
    text: str, size: float, *, after: float, tag: str = "P", wide: float = WIDTH, **style: Any
) -> Iterator[Block]:
    """Yield one block a line, so that a long text may run over to the next page."""
    lines, element = wrap(text, wide / MM, size, style.get("weight") == "bold"), Element(tag)
    for left, line in zip(reversed(range(len(lines))), lines, strict=True):
        height = size * LEADING * MM + (0.0 if left else after)
        yield Block(height, partial(_line_of, element, line, size, style))


def _line_of(
    element: Element,
    line: str,
    size: float,
    style: Mapping[str, Any],
    page: Page,
    y: float,
    height: float,
) -> None:
    with page.inside(element):
        _line(line, size, style, page, y)


def _line(
    line: str,
    size: float,
    style: Mapping[str, Any],
    page: Page,
    y: float,
    height: float = 0.0,
    x: float = MARGIN,
) -> None:
    page.text(x, y + 0.78 * size * LEADING * MM, line, size, **style)


def _listed(title: str, texts: Sequence[str], face: Face) -> Iterator[Block]:
    """Yield a heading with the first text, then the other texts."""
    element = Element("L")
    for i, text in enumerate(texts):
        height = (
            paragraph_height(text, face.wide - 4.0, _LISTED, face.leading)
            + 1.2
            - min(face.closer, 0.6)
        )
        above = 9.0 - 2.5 * face.closer if i == 0 else 0.0
        yield Block(
            above + height,
            partial(_bullet, element, text, title if i == 0 else "", above, face.leading),
        )


def _bullet(
    element: Element,
    text: str,
    title: str,
    above: float,
    leading: float,
    page: Page,
    y: float,
    height: float,
) -> None:
    if title:
        write_title(title, page, y, base=above - 2.5)
    with page.inside(element), page.inside(Element("LI")):
        with page.inside(Element("Lbl")):
            _line("\N{EN DASH}", _LISTED, {"color": GREY}, page, y + above)
        with page.inside(Element("LBody")):
            page.paragraph(
                MARGIN + 4.0, y + above, text, page.inner - 4.0, _LISTED, leading=leading
            )


def write_title(title: str, page: Page, y: float, height: float = 0.0, base: float = 6.5) -> None:
    """Write the title of a list, a table or a form."""
    with page.inside(Element("H3")):
        page.text(MARGIN, y + base, title, 10.0, weight="bold")


def _grid(grid: Grid, face: Face) -> Iterator[Block]:
    """Yield the rows of a table, the names of its columns before the first and on new pages."""
    lefts = [sum(grid.widths[:i]) * face.wide for i in range(len(grid.widths))]
    rooms = [width * face.wide - face.gap for width in grid.widths]
    in_table, first = Element("Table"), Element("TR", heads="Column")
    draw_head = partial(_grid_head, in_table, first, grid, face, lefts, rooms)
    head = Block(7.5, draw_head) if grid.heads else None
    if grid.title:
        yield Block(8.5, partial(write_title, grid.title), keeps=True)
    if head is not None:
        yield replace(head, keeps=True)
    for i, row in enumerate(grid.rows):
        cells = [_cell_lines(grid, k, text, rooms[k], face.cell) for k, text in enumerate(row)]
        height = max(map(len, cells)) * face.cell * face.leading * MM
        draw = partial(_grid_row, in_table, grid, face, i, cells, lefts, rooms)
        yield Block(height + _PADDING - face.closer, draw, head=head)


def _flowing(grid: Grid, face: Face) -> Iterator[Block]:
    """Yield the rows of a table as entries in two columns: the first cell, then what it is."""
    if grid.title:
        yield Block(8.5, partial(write_title, grid.title), keeps=True)
    in_table = Element("Table")
    for row in grid.rows:
        name, text = row[0], ", ".join(filter(None, row[1:]))
        lines = _run_in(name, text, HALF, _ENTRY)
        height = len(lines) * _ENTRY * LEADING * MM + 1.6
        draw = partial(_draw_entry, in_table, name, lines)
        yield Block(height, draw, half=True, begins=True)


def _run_in(name: str, text: str, room: float, size: float) -> list[str]:
    """Return the lines of a text that begins behind a name in bold letters, in the first line."""
    taken = text_width(name, size, True) + size
    if taken > 0.7 * room / MM:
        return ["", *wrap(text, room / MM, size)]
    words, first = drawable(text).split(), ""
    while words and text_width(f"{first} {words[0]}", size) <= room / MM - taken:
        first = f"{first} {words.pop(0)}".strip()
    return [first, *wrap(" ".join(words), room / MM, size)]


def _draw_entry(
    table: Element, name: str, lines: Sequence[str], page: Page, y: float, height: float = 0.0
) -> None:
    indent, row = (text_width(name, _ENTRY, True) + _ENTRY) * MM, Element("TR")
    with page.inside(table), page.inside(row):
        page.fitted(MARGIN, y + 0.78 * _ENTRY * LEADING * MM, name, HALF, _ENTRY, weight="bold")
        with page.inside(row.cell()):
            for k, line in enumerate(lines):
                x = MARGIN + (indent if k == 0 else 0.0)
                _line(line, _ENTRY, {}, page, y + k * _ENTRY * LEADING * MM, x=x)


def _grid_head(
    table: Element,
    row: Element,
    grid: Grid,
    face: Face,
    lefts: Sequence[float],
    rooms: Sequence[float],
    page: Page,
    y: float,
    height: float,
) -> None:
    with page.inside(table), page.inside(row, once=True):
        _grid_heads(grid, face, lefts, rooms, page, y)
    page.rule(y + 6.3, color=GREY)


def _grid_heads(
    grid: Grid, face: Face, lefts: Sequence[float], rooms: Sequence[float], page: Page, y: float
) -> None:
    for k, text in enumerate(grid.heads):
        right = k in grid.numbers
        x = MARGIN + lefts[k] + (rooms[k] if right else 0.0)
        style: dict[str, Any] = {
            "ha": "right" if right else "left",
            "color": GREY,
            "weight": "bold",
        }
        page.fitted(x, y + 4.5, text, rooms[k], face.head, least=face.least, **style)


def _grid_row(
    table: Element,
    grid: Grid,
    face: Face,
    i: int,
    cells: Sequence[Sequence[tuple[int, str]]],
    lefts: Sequence[float],
    rooms: Sequence[float],
    page: Page,
    y: float,
    height: float,
) -> None:
    row = Element("TR")
    with page.inside(table), page.inside(row):
        for k, lines in enumerate(cells):
            if isinstance(drawn := grid.rows[i][k], OnScale):
                row.cell()
                _strip(
                    drawn, page, lefts[k], rooms[k], y + 0.4 + 0.5 * face.cell * face.leading * MM
                )
                continue
            with page.inside(row.cell()):
                _grid_cell(grid, face, i, k, lines, lefts, rooms, page, y)
    page.rule(y + height - 0.6)


def _strip(drawn: OnScale, page: Page, left: float, room: float, y: float) -> None:
    low, high = scale_of(drawn.result)
    start, wide = MARGIN + left + page.shift + 1.0, room - 2.0

    def place(x: Any) -> Any:
        return start + (x - low) / (high - low) * wide

    strip(page.canvas, y, place, drawn.result, 1.5, drawn.agreed)


def _grid_cell(
    grid: Grid,
    face: Face,
    i: int,
    k: int,
    lines: Sequence[tuple[int, str]],
    lefts: Sequence[float],
    rooms: Sequence[float],
    page: Page,
    y: float,
) -> None:
    leading = face.cell * face.leading * MM
    labels = {(row, column): LABELS[kind] for row, column, kind in grid.labels}
    right = k in grid.numbers
    x = MARGIN + lefts[k] + (rooms[k] if right else 0.0)
    # what an alarm or a label marks stands first, or below the name
    marked = 1 if k in grid.bold else 0
    alarmed = marked if (i, k) in grid.alarms else None
    for j, (n, piece) in enumerate(lines):
        style: dict[str, Any] = {"ha": "right"} if right else {}
        if k in grid.bold and n == 0:
            style["weight"] = "bold"
        if n == alarmed or n > 0:
            style["color"] = ALARM if n == alarmed else GREY
        base = y + 0.4 + (j + 0.78) * leading
        if n == marked and (i, k) in labels:
            page.label(x, base, piece, face.cell, labels[i, k])
            continue
        page.fitted(x, base, piece, rooms[k], face.cell, least=0.0, **style)


def _cell_lines(grid: Grid, k: int, text: str, room: float, size: float) -> list[tuple[int, str]]:
    """Return the lines of a cell, each with the number of the line of the text that it is of."""
    first, *others = text.split("\n")
    room /= MM
    lines = [first] if k in grid.numbers else wrap(first, room, size, k in grid.bold)
    room -= 2.0 / MM if others and grid.labels else 0.0  # of the edges of a label
    strong = bool(grid.labels)
    below = [
        (n, piece) for n, line in enumerate(others, 1) for piece in wrap(line, room, size, strong)
    ]
    return [*((0, piece) for piece in lines), *below]


def _form(form: Form) -> Block:
    """Return boxes to be filled in by hand."""
    tall, above = 12.0, 9.0 if form.title else 1.0

    def draw(page: Page, y: float, height: float) -> None:
        if form.title:
            write_title(form.title, page, y)
        top = y + above
        for row in form.fields:
            wide = WIDTH / len(row)
            for k, name in enumerate(row):
                left = MARGIN + k * wide
                right = left + wide
                for rule_y in (top, top + tall):
                    page.rule(rule_y, left, right, color=GREY)
                for x in (left, right):
                    page.line((x, top), (x, top + tall), color=GREY)
                with page.inside(Element("P")):
                    page.text(left + 2.0, top + 4.0, name, 7.0, color=GREY)
            top += tall

    return Block(above + 3.0 + tall * len(form.fields), draw)
