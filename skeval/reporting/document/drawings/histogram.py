"""The histogram of a column in real, synthetic and unseen rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skeval.reporting.document.drawings.svg import (
    FAINT,
    REAL,
    SYNTHETIC,
    UNSEEN,
    area,
    drawing,
    label,
    line,
    path,
)
from skeval.reporting.document.shares import Shares

_BOTTOM, _GAP, _BAR = 11.0, 4.0, 8.0
_MAX_EXTRA = 3.0  # height of an extra bar, in heights of the highest bin


@dataclass(frozen=True)
class Histogram:
    """Bins of one width on an axis from `low` to `high`; extra bars have no place on it."""

    bins: Shares
    low: str
    high: str
    extra: Shares
    width: float = 122.0
    height: float = 72.0

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, self._parts())

    @property
    def _floor(self) -> float:
        return self.height - _BOTTOM

    @property
    def _right(self) -> float:
        n = len(self.extra.real)
        return self.width - n * _BAR - (_GAP if n else 0.0)

    def _parts(self) -> Iterator[str]:
        top, right = self._top(), self._right
        yield area([(0, self._floor), *self._steps(self.bins.real), (right, self._floor)], REAL)
        for i, share in enumerate(self.extra.real):
            ends = self._bar(i, share, top)
            yield area([(ends[0][0], self._floor), *ends, (ends[1][0], self._floor)], REAL)
        yield line(0, self._floor, right, self._floor, FAINT)
        if self.bins.unseen:
            yield path(self._steps(self.bins.unseen), UNSEEN, 0.9, is_dashed=True)
        for i, share in enumerate(self.extra.unseen):
            yield path(self._bar(i, share, top), UNSEEN, 0.9, is_dashed=True)
        if self.bins.synthetic:
            yield path(self._steps(self.bins.synthetic), SYNTHETIC, 1.4)
        for i, share in enumerate(self.extra.synthetic):
            yield path(self._bar(i, share, top), SYNTHETIC, 1.4)
        yield label(0, self.height - 2, self.low, anchor="start")
        yield label(right, self.height - 2, self.high, anchor="end")

    def _top(self) -> float:
        """Return the share at the upper edge, which extra bars do not flatten."""
        own, extra = self.bins.largest, self.extra.largest
        return max(own, min(extra, _MAX_EXTRA * own) if own else extra) or 1.0

    def _up(self, share: float, top: float) -> float:
        return self._floor - min(1.0, share / top) * (self._floor - 1.5)

    def _steps(self, shares: Sequence[float]) -> list[tuple[float, float]]:
        n, top, right = max(1, len(shares)), self._top(), self._right
        places = []
        for i, share in enumerate(shares):
            y = self._up(share, top)
            places += [(i * right / n, y), ((i + 1) * right / n, y)]
        return places

    def _bar(self, i: int, share: float, top: float) -> list[tuple[float, float]]:
        left = self._right + _GAP + i * _BAR
        y = self._up(share, top)
        return [(left, y), (left + _BAR - 2.0, y)]
