"""The title of a figure, which states the finding, and its subtitle."""

from __future__ import annotations

from typing import Any

from skeval.reporting.displays.letters import wrap_text
from skeval.reporting.displays.theme import GREY, INK, TEXT, TITLE

_MARGIN = 7.0  # points
_LINE = 1.35  # height of a line, in font sizes
_MAX_TITLE_LINES, _MAX_SUBTITLE_LINES = 3, 3


def write_head(figure: Any, title: str, subtitle: str) -> None:
    """Write both above the axes of a figure, and leave the rest of the figure to the axes."""
    wide, tall = (72.0 * float(side) for side in figure.get_size_inches())
    place = tall - _MARGIN
    for text, size, color, most in (
        (title, TITLE, INK, _MAX_TITLE_LINES),
        (subtitle, TEXT, GREY, _MAX_SUBTITLE_LINES),
    ):
        is_bold = text is title
        style: dict[str, Any] = {"size": size, "color": color, "va": "top", "in_layout": False}
        for line in wrap_text(text, wide - 2 * _MARGIN, size, most, is_bold):
            weight = "bold" if is_bold else "normal"
            figure.text(_MARGIN / wide, place / tall, line, weight=weight, **style)
            place -= _LINE * size
    if figure.get_layout_engine() is not None:
        figure.get_layout_engine().set(rect=(0.0, 0.0, 1.0, (place - 2.0) / tall))
