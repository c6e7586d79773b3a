"""The shares of the bins or categories of a column in up to three tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skeval.reporting.document.details import numbers_at
from skeval.results.result import Result


@dataclass(frozen=True)
class Shares:
    """The shares by table. `unseen` is empty without unseen rows."""

    real: tuple[float, ...]
    synthetic: tuple[float, ...] = ()
    unseen: tuple[float, ...] = ()

    def pick(self, places: Sequence[int]) -> Shares:
        """Return the shares of some bins or categories."""
        tables = (self.real, self.synthetic, self.unseen)
        return Shares(*(tuple(one[i] for i in places) if one else () for one in tables))

    @property
    def largest(self) -> float:
        """The largest share in any table."""
        return max((*self.real, *self.synthetic, *self.unseen), default=0.0)


def read_shares(result: Result, column: str) -> Shares | None:
    """Return the shares that a result has of a column; None if it has none."""
    real, synthetic, unseen = (
        numbers_at(result.details, "marginals", column, "shares", role)
        for role in ("train", "synthetic", "holdout")
    )
    if not real or len(real) != len(synthetic):
        return None
    return Shares(real, synthetic, unseen if len(unseen) == len(real) else ())
