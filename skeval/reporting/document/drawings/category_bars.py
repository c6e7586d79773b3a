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
from skeval.reporting.document.shares import Shares
from skeval.reporting.document.shortening import shorten_name

MAX_BARS = 6
_RIGHT, _BOTTOM, _MAX_TALL, _LETTER = 5.0, 11.0, 13.0, 4.1  # points, the last of a letter
_WIDE_LETTER = 5.4


@dataclass(frozen=True)
class CategoryBars:
    """Categories, one below the other, each with its share in up to three tables."""

    labels: Sequence[str]
    shares: Shares
    width: float = 122.0
    height: float = 72.0
    max_left: float = 50.0  # space for labels

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, self._parts())

    @property
    def _left_edge(self) -> float:
        longest = max((len(text) for text in self.labels), default=0)
        return min(self.max_left, _WIDE_LETTER * longest + 7.0)

    def _parts(self) -> Iterator[str]:
        shares, top = self.shares, max(self.shares.largest, 1e-9)
        tall = min(_MAX_TALL, (self.height - _BOTTOM) / max(1, len(self.labels)))
        left, floor = self._left_edge, len(self.labels) * tall
        most = round((self.max_left - 7.0) / _LETTER)
        yield line(left, 0, left, floor, FAINT)
        for i, text in enumerate(self.labels):
            y, middle = i * tall, (i + 0.5) * tall
            yield label(left - 5, middle + 2.6, shorten_name(text, most), anchor="end", color=INK)
            yield rectangle(left, y + 1, self._x(shares.real[i], top) - left, tall - 2, REAL)
            x = self._x(shares.synthetic[i], top)
            yield line(x, y + 0.5, x, y + tall - 0.5, SYNTHETIC, 1.6)
            if shares.unseen:
                yield ring(self._x(shares.unseen[i], top), middle, 1.9, INK)
        yield label(left, floor + 9, "0", anchor="start")
        yield label(
            self.width, floor + 9, f"{100 * top:.{0 if top >= 0.01 else 1}f}%", anchor="end"
        )

    def _x(self, share: float, top: float) -> float:
        return self._left_edge + share / top * (self.width - _RIGHT - self._left_edge)
