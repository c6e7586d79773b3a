"""The distribution of one column in one small drawing without labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skeval.reporting.document.drawings.svg import (
    FAINT,
    REAL,
    SYNTHETIC,
    UNSEEN,
    drawing,
    line,
    path,
    rectangle,
)
from skeval.reporting.document.shares import Shares


@dataclass(frozen=True)
class Overlay:
    """The shares of each bin or category in up to three tables."""

    shares: Shares
    width: float = 170.0
    height: float = 34.0

    def to_svg(self) -> str:
        """Return the drawing."""
        return drawing(self.width, self.height, self._parts())

    def _parts(self) -> Iterator[str]:
        shares = self.shares
        top, n = max(shares.largest, 1e-9), max(1, len(shares.real))
        for i, share in enumerate(shares.real):
            tall = share / top * (self.height - 2)
            yield rectangle(
                i * self.width / n, self.height - 1 - tall, self.width / n * 0.96, tall, REAL
            )
        yield line(0, self.height - 1, self.width, self.height - 1, FAINT)
        if shares.unseen:
            yield path(self._steps(shares.unseen, top), UNSEEN, 0.9, is_dashed=True)
        yield path(self._steps(shares.synthetic, top), SYNTHETIC, 1.4)

    def _steps(self, shares: Sequence[float], top: float) -> list[tuple[float, float]]:
        n, places = max(1, len(shares)), []
        for i, share in enumerate(shares):
            y = self.height - 1 - share / top * (self.height - 2)
            places += [(i * self.width / n, y), ((i + 1) * self.width / n, y)]
        return places
