"""What metrics with two sides share: are the rows real ones, and are all real ones there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from skeval._aggregate import undefined
from skeval._parameters import SPACE, Columns, Constraint, Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.result import Result
from skeval.stats.manifolds import harmonic_mean
from skeval.steps import holdout_in_place, nothing_to_measure
from skeval.steps.manifolds import n_drawn

__all__ = ["LEGAL_BALLS", "TwoSided"]

LEGAL_BALLS: dict[str, Constraint] = {
    "k": Interval(int, 1, None),
    "strict": Options((False, True)),
    "space": SPACE,
    "columns": Columns(),
    "max_rows": Nullable(Interval(int, 2, None)),
    "random_state": Interval(int, 0, None),
}


class TwoSided(Metric):
    """Base of metrics of two published numbers: the value is their harmonic mean.

    Authors set `_sides`, the names of both, and `_with_radii`, the roles of which each row needs
    its k-th neighbour; `_measure` returns both by name, and what else goes into the details.
    """

    _sides: ClassVar[tuple[str, str]]
    _with_radii: ClassVar[tuple[str, ...]] = ("train",)
    k: int
    space: Any
    max_rows: int | None

    def _measure(self, context: Context) -> Mapping[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} must define _measure(context).")

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        for role in self._with_radii:
            there = n_drawn(context, role, self.max_rows)
            if there <= self.k:
                return undefined(
                    f"a row needs k={self.k} neighbours in its own table; {role} has {there} rows."
                )
        found = self._measure(context)
        # a density above 1 is not better than 1
        first, second = (min(found[side], 1.0) for side in self._sides)
        n_rows = {role: n_drawn(context, role, self.max_rows) for role in ("train", "synthetic")}
        return Result(harmonic_mean(first, second), details={**found, "n_rows": n_rows})

    def _with_baseline(self, context: Context, result: Result) -> Result:
        found = super()._with_baseline(context, result)
        # the steps are remembered: asking again costs next to nothing
        n_fresh = min(context.n_rows("synthetic"), context.n_rows("holdout"))
        fresh = self._result(holdout_in_place(context, n_fresh)).details
        if any(side not in fresh for side in self._sides):
            return found
        of_holdout = {name: fresh[name] for name in self._of_holdout() if name in fresh}
        return replace(found, details={**found.details, "holdout": of_holdout})

    def _of_holdout(self) -> tuple[str, ...]:
        return self._sides

    def _settings(self) -> tuple[Any, ...]:
        """Return what steps need to know of the rows: space, columns, sample and seed."""
        return tuple(
            getattr(self, name) for name in ("space", "columns", "max_rows", "random_state")
        )
