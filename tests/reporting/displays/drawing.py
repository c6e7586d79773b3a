"""What a figure shows, as tests ask of it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

MIN_TICK, MIN_TEXT = 7.5, 8.0
SIZES = {(6.4, 3.6), (3.2, 3.2)}


def texts_of(figure: Any) -> list[Text]:
    """Return all texts that are drawn."""
    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]


def words_of(figure: Any) -> str:
    """Return all that a figure says."""
    return " ".join(text.get_text() for text in texts_of(figure))


def overlapping_texts(figure: Any) -> list[tuple[str, str]]:
    """Return the pairs of texts that touch each other."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts_of(figure)]
    return [(a, b) for (a, first), (b, second) in combinations(boxes, 2) if first.overlaps(second)]


def is_within(figure: Any) -> bool:
    """Return whether no text leaves the figure."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    wide, tall = figure.bbox.size
    boxes = [text.get_window_extent(renderer) for text in texts_of(figure)]
    return all(b.x0 >= -1 and b.y0 >= -1 and b.x1 <= wide + 1 and b.y1 <= tall + 1 for b in boxes)
