"""The shares of categories: a bar for real rows, a line for synthetic rows, a ring for unseen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skeval.reporting.document.drawings.svg import (
    FAINT,
    INK,
    REAL,
    SYNTHETIC,
    drawing,
    label,
    line,
    rectangle,
    ring,
)
from skeval.reporting.document.shortening import shorten_name

MAX_BARS = 6
_RIGHT, _TALL, _LETTER = 5.0, 10.0, 4.4  # points, the last of a letter


@dataclass(frozen=True)
class CategoryBars:
    """Categories, one below the other, each with its share in up to three tables."""

    labels: Sequence[str]
    real: Sequence[float]
    synthetic: Sequence[float]
    unseen: Sequence[float] = ()
    width: float = 122.0
    height: float = 72.0
    left: float = 46.0  # room for labels

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, self._parts())

    def _parts(self) -> Iterator[str]:
        top = max([*self.real, *self.synthetic, *self.unseen, 1e-9])
        floor = len(self.labels) * _TALL
        yield line(self.left, 0, self.left, floor, FAINT)
        for i, text in enumerate(self.labels):
            y = i * _TALL
            yield label(
                self.left - 3,
                y + 7.2,
                shorten_name(text, round(self.left / _LETTER)),
                anchor="end",
                color=INK,
            )
            yield rectangle(
                self.left, y + 1, self._x(self.real[i], top) - self.left, _TALL - 2, REAL
            )
            x = self._x(self.synthetic[i], top)
            yield line(x, y + 0.5, x, y + _TALL - 0.5, SYNTHETIC, 1.6)
            if self.unseen:
                yield ring(self._x(self.unseen[i], top), y + _TALL / 2, 1.9, INK)
        yield label(self.left, floor + 9, "0", anchor="start")
        yield label(self.width, floor + 9, f"{100 * top:.2g}%", anchor="end")

    def _x(self, share: float, top: float) -> float:
        return self.left + share / top * (self.width - _RIGHT - self.left)
