"""A sheet of paper in millimetres: text, rules and axes are put where they are said to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skeval.reporting.text import shorten, text_width, wrap
from skeval.reporting.theme import FAINT, GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MARGIN", "Page"]

A4 = (210.0, 297.0)
MARGIN = 17.0
TOP = 16.0
BOTTOM = 14.0
MM = 25.4 / 72.0  # millimetres in a point
LEADING = 1.38


class Page:
    """One page; x grows to the right and y downwards, from the upper left corner.

    Parameters
    ----------
    landscape : bool, default=False
        Whether it is wider than high.
    """

    def __init__(self, *, landscape: bool = False) -> None:
        from matplotlib.figure import Figure

        self.width, self.height = A4[::-1] if landscape else A4
        self.figure = Figure(figsize=(self.width / 25.4, self.height / 25.4))
        self.canvas = self.figure.add_axes((0.0, 0.0, 1.0, 1.0), zorder=-1)
        self.canvas.set(xlim=(0.0, self.width), ylim=(self.height, 0.0))
        self.canvas.set_axis_off()
        self.links: list[tuple[float, float, float, float, str]] = []

    @property
    def inner(self) -> float:
        """Width between the margins."""
        return self.width - 2.0 * MARGIN

    @property
    def floor(self) -> float:
        """Where the space for content ends."""
        return self.height - BOTTOM - 3.0

    def text(self, x: float, y: float, text: str, size: float = 8.0, **style: Any) -> None:
        """Write one line; `y` is its base line."""
        style.setdefault("color", INK)
        self.canvas.text(x, y, text, size=size, va="baseline", **style)

    def fitted(
        self,
        x: float,
        y: float,
        text: str,
        room: float,
        size: float = 8.0,
        *,
        least: float | None = None,
        **style: Any,
    ) -> None:
        """Write one line in `room` millimetres: smaller, down to `least`, and then shortened."""
        bold = style.get("weight") == "bold"
        if least is not None and (width := text_width(text, size, bold) * MM) > room:
            size = max(least, size * room / width)
        self.text(x, y, shorten(text, room / MM, size, bold), size, **style)

    def paragraph(
        self, x: float, y: float, text: str, room: float, size: float = 8.0, **style: Any
    ) -> float:
        """Write wrapped lines from `y` downwards; return where they end."""
        leading = size * LEADING * MM
        for line in wrap(text, room / MM, size):
            self.text(x, y + 0.78 * leading, line, size, **style)
            y += leading
        return y

    def rule(
        self, y: float, left: float = MARGIN, right: float | None = None, **style: Any
    ) -> None:
        """Draw a horizontal line."""
        right = self.width - MARGIN if right is None else right
        self.canvas.plot(
            [left, right], [y, y], **{"color": FAINT, "lw": 0.6, "solid_capstyle": "butt", **style}
        )

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Return new axes of this size, their upper left corner at x, y."""
        place = (
            x / self.width,
            1.0 - (y + height) / self.height,
            width / self.width,
            height / self.height,
        )
        return self.figure.add_axes(place)

    def heading(self, title: str, intro: str, *, continued: bool = False) -> float:
        """Write a section's title and what it shows; return where content begins."""
        again = " (continued)" if continued else ""
        self.text(MARGIN, TOP + 5.0, title + again, 13.0, weight="bold")
        if continued:
            return TOP + 11.0
        return self.paragraph(MARGIN, TOP + 8.5, intro, self.inner, 8.0, color=GREY) + 4.0

    def footer(self, title: str, number: int, total: int) -> None:
        """Write the report's title and the number of the page."""
        y = self.height - BOTTOM + 5.0
        self.rule(y - 4.0)
        counter = f"{number} / {total}"
        self.text(self.width - MARGIN, y, counter, 7.0, color=GREY, ha="right")
        room = self.inner - text_width(counter, 7.0) * MM - 10.0
        self.fitted(MARGIN, y, title, room, 7.0, color=GREY)


def paragraph_height(text: str, room: float, size: float) -> float:
    """Return how many millimetres a paragraph takes."""
    return len(wrap(text, room / MM, size)) * size * LEADING * MM
