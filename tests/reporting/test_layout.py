"""Nothing on a page lies on something else, and nothing leaves the page."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from skeval import Result
from skeval.reporting import Display
from skeval.reporting.layout import TOP, Block, Item, Page, draw_heading
from skeval.reporting.old_displays.panels import add_panel
from skeval.reporting.old_displays.ticks import label_axis
from skeval.reporting.pages import paged
from skeval.reporting.pdf import draw_pages
from skeval.reporting.sections import plan
from skeval.reporting.style import theme

DPI = 216
SUITES = [
    "suite_result",
    "without_holdout",
    "narrow",
    "single",
    "wide",
    "odd",
    "hundred",
    "extreme",
]
WIDE = pytest.param("wide", marks=pytest.mark.calibration)


def texts_of(figure: Figure) -> list[tuple[str, Bbox]]:
    """Return the texts that are drawn, and their boxes in points."""
    canvas = FigureCanvasAgg(figure)
    figure.dpi = DPI  # at few dots, hinting widens the letters
    figure.draw_without_rendering()
    actual = []
    for text in figure.findobj(Text):
        shown = text.get_visible() and text.get_text().strip() and _within(text)
        if shown:
            box = text.get_window_extent(canvas.get_renderer())
            actual.append((text.get_text(), Bbox(box.get_points() * 72 / DPI)))
    return actual


def _within(text: Text) -> bool:
    """Tell whether the axes of a text are drawn, and a tick label's tick lies on its axis."""
    axes = text.axes
    if axes is None:
        return True
    for axis in (axes.xaxis, axes.yaxis):
        labels = [label for tick in axis.get_major_ticks() for label in (tick.label1, tick.label2)]
        if text in labels:
            low, high = sorted(axis.get_view_interval())
            place = text.get_position()[0 if axis is axes.xaxis else 1]
            return axes.axison and axis.get_visible() and low - 1e-9 <= place <= high + 1e-9
    return not (text in (axes.xaxis.label, axes.yaxis.label) and not axes.axison)


def overlap(a: Bbox, b: Bbox) -> float:
    """Return by how many points two boxes overlap, in the direction in which they do less."""
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    return min(width, height)


@pytest.mark.slow
@pytest.mark.parametrize("name", [WIDE if name == "wide" else name for name in SUITES])
def test_texts_lie_apart_and_on_the_page(name: str, request: pytest.FixtureRequest) -> None:
    few = SimpleNamespace(univ=19, biv=19)  # of a hundred columns; one page of them is as the next
    content = plan(request.getfixturevalue(name), few)
    with theme():
        for key, page in draw_pages(content, "A title"):
            texts = texts_of(page.figure)
            sheet = Bbox.from_bounds(0, 0, *(page.figure.get_size_inches() * 72))
            outside = [text for text, box in texts if not _inside(sheet, box)]
            assert not outside, (key, outside)
            boxes = np.array([box.extents for _, box in texts])
            touching = [
                (texts[i][0], texts[j][0])
                for i, j in _near(boxes)
                if overlap(texts[i][1], texts[j][1]) > 1.0
            ]
            assert not touching, (key, touching[:5])


def _extent(page: Page) -> float:
    """Return the share of a page's height between its upper edge and the lowest thing drawn."""
    canvas = FigureCanvasAgg(page.figure)
    boxes = [
        axes.get_tightbbox(canvas.get_renderer()) for axes in page.figure.axes if axes.axison
    ] + [text.get_window_extent(canvas.get_renderer()) for text in page.canvas.texts[:-2]]
    lowest = min(box.y0 for box in boxes if box is not None)
    whole = page.figure.bbox.height
    return float((whole - lowest) / whole)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["suite_result", "narrow", "without_holdout", WIDE])
def test_pages_are_two_thirds_full(name: str, request: pytest.FixtureRequest) -> None:
    with theme():
        *pages, _ = draw_pages(plan(request.getfixturevalue(name)), "A title")
        assert not [(n, keys) for n, (keys, page) in enumerate(pages, 1) if _extent(page) < 2 / 3]


def test_blocks_flow_shrink_and_keep_together() -> None:
    def nothing(page: Page, y: float, height: float) -> None: ...

    room = Page.floor - TOP
    head, whole = Block(10.0, nothing), Block(0.7 * room, nothing)
    elastic = replace(whole, least=0.2 * room)
    first, second = paged([whole, replace(head, keeps=True), replace(whole, head=head)])
    assert [block for *_, block in first] == [whole]
    assert [y for y, *_ in second] == [TOP, TOP + 10.0]  # a heading stays with what it heads
    (page,) = paged([whole, elastic])
    assert page[1][1] == pytest.approx(0.3 * room)
    _, later = paged([whole, replace(whole, head=head)])
    assert later[0][2] is head


def _inside(sheet: Bbox, box: Bbox) -> bool:
    return box.x0 >= 10 and box.y0 >= 10 and box.x1 <= sheet.x1 - 10 and box.y1 <= sheet.y1 - 10


def _near(boxes: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of boxes that overlap at all; of many cells, comparing all pairs is slow."""
    order = np.argsort(boxes[:, 0], kind="stable")
    near = []
    for k, i in enumerate(order):
        rest = order[k + 1 :]
        rest = rest[boxes[rest, 0] < boxes[i, 2]]
        rest = rest[(boxes[rest, 1] < boxes[i, 3]) & (boxes[rest, 3] > boxes[i, 1])]
        near += [(int(i), int(j)) for j in rest]
    return near


def test_the_overlap_of_boxes() -> None:
    a, b, c = (Bbox.from_bounds(x, 0, 2, 1) for x in (0, 1.5, 4))
    assert overlap(a, b) == pytest.approx(0.5)
    assert [overlap(x, y) > 0 for x, y in combinations((a, b, c), 2)] == [True, False, False]


def test_any_display_of_two_columns_has_each_name_shortened() -> None:
    names = "a" * 80, "b" * 80

    class Plain(Display): ...

    class Crossed(Display):
        crossed = names

    for kind, n_shortened in ((Crossed, 2), (Plain, 1)):
        page = Page()
        item = Item(kind(Result(0.5)), " \N{MULTIPLICATION SIGN} ".join(names))
        draw_heading(page, 0.0, 0.0, item, 40.0, 3)
        (text,) = (text.get_text() for text in page.figure.findobj(Text) if text.get_text())
        assert text.count("\N{HORIZONTAL ELLIPSIS}") == n_shortened


def test_a_panel_makes_no_tick_that_it_does_not_draw() -> None:
    panel = add_panel(Figure(), (10.0, 10.0, 90.0, 90.0))
    panel.set(xlim=(0.0, 2.0), ylim=(0.0, 2.0))
    for axis in (panel.xaxis, panel.yaxis):
        label_axis(axis, [0.0, 1.0], ["none", "one"])
    FigureCanvasAgg(panel.figure).draw()
    assert not [*panel.xaxis.majorTicks, *panel.yaxis.majorTicks]
    left = panel.spines["left"].get_window_extent().x0
    assert left == pytest.approx(panel.get_window_extent().x0, abs=1.0)
    assert panel.xaxis.get_major_ticks()


def test_a_section_fills_the_rest_of_a_page_only_where_that_is_better() -> None:
    def nothing(page: Page, y: float, height: float) -> None: ...

    room = Page.floor - TOP

    def section(name: str, share: float) -> Block:
        return Block(share * room, nothing, half=True, begins=True, section=name)

    blocks = [section("a", 0.7), section("b", 0.7), section("c", 0.6), section("d", 0.25)]
    first, second = paged(blocks)
    assert [block.section for *_, block in first] == ["a", "b", "d"]  # else a page more is not full
    assert [block.section for *_, block in second] == ["c"]
    (page,) = paged([section(name, 0.4) for name in "abcd"])
    assert [block.section for *_, block in page] == ["a", "b", "c", "d"]


def test_sections_change_places_where_that_saves_a_page() -> None:
    def nothing(page: Page, y: float, height: float) -> None: ...

    room = Page.floor - TOP
    shares = {"a": 0.5, "b": 0.6, "c": 0.4, "d": 0.5}
    blocks = [
        Block(share * room, nothing, half=True, begins=True, section=name)
        for name, share in shares.items()
    ]
    (page,) = paged(blocks)  # in their order, c goes below a and leaves no room for d
    columns = [{b.section for *_, b in page if b.column == column} for column in (0, 1)]
    assert columns == [{"a", "d"}, {"b", "c"}]
    assert max(y + height for y, height, _ in page) <= Page.floor + 1e-9


def test_figures_stay_below_the_heading_of_their_section() -> None:
    def nothing(page: Page, y: float, height: float) -> None: ...

    room = Page.floor - TOP
    heading = Block(0.05 * room, nothing, keeps=True, section="a")
    half = Block(0.3 * room, nothing, half=True, begins=True, section="a")
    other = Block(0.5 * room, nothing, half=True, begins=True, section="b")
    tall = replace(half, height=0.4 * room)
    pages = paged([heading, half, half, tall, tall, other])
    order = [block.section for page in pages for *_, block in page]
    assert order == sorted(order)


def test_a_block_higher_than_a_page_leaves_no_page_empty() -> None:
    def nothing(page: Page, y: float, height: float) -> None: ...

    tall = Block(1.2 * (Page.floor - TOP), nothing, half=True, begins=True)
    assert [len(page) for page in paged([tall, tall])] == [1, 1]
