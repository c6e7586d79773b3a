"""Intervals of a metric from its values on halves of the tables, of rows or of subjects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.tags import MetricTags
from skeval.results.result import Result
from skeval.stats.halves import (
    extrapolate_halves,
    halves_interval,
    linearize_halves,
    sampling_interval,
)
from skeval.stats.table_differences import Sampled
from skeval.steps.halves import MIN_HALVED, halved_share, halvings
from skeval.steps.samples import synthetic_sample

if TYPE_CHECKING:
    from skeval.core.relational_context import RelationalContext

Halved = Literal[False, True, "root"]
MAX_HALVED_OF_SUBJECTS = 2**13  # rows of all tables
_N_HALVINGS_OF_SUBJECTS = 4


@shared
def _halved_by_subject(context: RelationalContext, role: str, half: int, seed: int) -> Any:
    from skeval.steps.independent_subjects import subjects_in_place

    return subjects_in_place(context, role, half, seed, 2)


def difference_by_subject(
    context: RelationalContext,
    value_of: Callable[[RelationalContext], float],
    value: float,
    fresh: float,
) -> tuple[float, float] | None:
    """Return the interval of value minus baseline of several tables, from halves of subjects."""
    # A subject changes halves with all its rows. More rows than 8,192 are not halved: the
    # noise is then that of fewer subjects, scaled.
    from skeval.steps.independent_subjects import n_subjects, subjects_in_place

    sizes = {role: n_subjects(context, role) for role in ("synthetic", "holdout")}
    counted = min(sizes.values())
    if counted < MIN_HALVED or np.isnan(value - fresh):
        return None
    values = [
        whole if n == counted else value_of(subjects_in_place(context, role, counted, 0)[0])
        for (role, n), whole in zip(sizes.items(), (value, fresh), strict=True)
    ]
    rows = max(context.n_rows(role) / n for role, n in sizes.items())
    drawn = min(counted, max(MIN_HALVED, int(MAX_HALVED_OF_SUBJECTS / rows)))
    halves = [
        np.array(
            [
                [value_of(half) for half in _halved_by_subject(context, role, drawn // 2, k)]
                for k in range(_N_HALVINGS_OF_SUBJECTS)
            ]
        )
        for role in sizes
    ]
    return halves_interval(values[0] - values[1], halves[0], halves[1], share=drawn / counted)


class HalvesMixin:
    """Intervals of a metric that is fast enough to be evaluated on halves of the tables as well."""

    tags: ClassVar[MetricTags]
    _halved: ClassVar[Halved] = False

    def _result(self, context: Context) -> Result:
        raise NotImplementedError(f"{type(self).__name__} must define _result(context).")

    def _with_interval(self, context: Context, result: Result) -> Result:
        """Return the result with the interval of its expected value, from halves of all tables."""
        n_rows, value = context.n_rows("synthetic"), result.value
        if result.interval or np.isnan(value) or not self._can_halve(context, n_rows):
            return result
        share = self._share(context, n_rows)
        halves = self._of_halves(context, "synthetic", n_rows)
        bounds = (result.tags or self.tags).bounds
        lines = linearize_halves(value, halves, root=self._halved == "root")
        result = replace(result, interval=sampling_interval(value, lines, share, bounds=bounds))
        limit = extrapolate_halves(value, halves, share, root=self._halved == "root", bounds=bounds)
        if not self.tags.sign * (limit - value) >= 0.0:  # noise never makes tables more similar
            return result
        return replace(result, details={**result.details, "large_sample_value": limit})

    def _can_halve(self, context: Context, n_rows: int) -> bool:
        fewest = min(self._n_compared_rows(context, n) for n in (n_rows, context.n_rows("train")))
        return bool(self._halved) and fewest >= MIN_HALVED

    def _share(self, context: Context, n_rows: int) -> float:
        """Return which fraction of the rows of the tables is halved."""
        sizes = (context.n_rows("train"), n_rows)
        return halved_share(*(self._n_compared_rows(context, n) for n in sizes))

    def _difference(
        self, context: Context, n_rows: int, value: float, fresh: float
    ) -> tuple[float, float] | None:
        """Return the interval of value minus baseline, both of `n_rows`, from halves of both."""
        if np.isnan(value - fresh) or not self._can_halve(context, n_rows):
            return None
        root = self._halved == "root"
        synthetic, holdout = (
            linearize_halves(of_all, self._of_halves(context, role, n_rows), root=root)
            for role, of_all in (("synthetic", value), ("holdout", fresh))
        )
        share = self._share(context, n_rows)
        return sampling_interval(value - fresh, synthetic - holdout, share)

    def _of_halves(self, context: Context, role: str, n_rows: int) -> np.ndarray:
        """Return the values of halves of the training data and of `n_rows` of a role."""
        sizes = (self._n_compared_rows(context, n) for n in (context.n_rows("train"), n_rows))
        pairs = halvings(context, role, *sizes)
        return np.array([[self._value_alone(half) for half in halves] for halves in pairs])

    def _value_alone(self, context: Context) -> float:
        """Return the value alone: metrics override it whose other properties take longer."""
        return self._result(context).value

    def variation(self, context: Context, n_rows: int) -> Sampled | None:
        """Return the value of `n_rows` synthetic rows and how it varies, to compare two tables."""
        # None where the metric has only intervals that take the real rows as random too
        if not self._can_halve(context, n_rows):
            return None
        whole = n_rows >= context.n_rows("synthetic")
        value = self._result(context if whole else synthetic_sample(context, n_rows)).value
        halves = self._of_halves(context, "synthetic", n_rows)
        lines = linearize_halves(value, halves, root=self._halved == "root")
        return Sampled(value, lines, "halves", self._share(context, n_rows))

    def _n_compared_rows(self, context: Context, n_rows: int) -> int:
        """Return how many of `n_rows` in the synthetic place the value is of."""
        return min(n_rows, getattr(self, "max_rows", None) or n_rows)
