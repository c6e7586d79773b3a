"""Intervals for metrics that are fast enough to be evaluated on halves of the tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from skeval.core.context import Context
from skeval.results.result import Result
from skeval.stats.sampling_intervals import (
    MAX_WITHOUT_EXTREMES,
    MIN_HALVED,
    UNCHANGED,
    extrapolate_halves,
    halved_share,
    linearize_halves,
    sampling_interval,
)
from skeval.stats.table_differences import Sampled
from skeval.steps.samples import synthetic_sample

if TYPE_CHECKING:
    from skeval.core.base import Metric

Halved = Literal[False, True, "root"]
Sizes = tuple[int, int]


class Parts(NamedTuple):
    """Values of a metric on parts of the tables, from which the noise of its value follows."""

    halves: np.ndarray
    extremes: np.ndarray
    share: float


class HalvedValues:
    """Values of a metric on halves of the tables, which are computed once in an evaluation."""

    def __init__(self, metric: Metric, context: Context) -> None:
        self.metric, self.context = metric, context
        self._known: dict[tuple[str, Sizes], Parts] = {}

    def of(self, role: str, n_rows: int) -> Parts | None:
        """Return the values for `n_rows` of a role, or None if there are no halves."""
        n_train, n_other = (
            self.metric._n_compared_rows(self.context, n)
            for n in (self.context.n_rows("train"), n_rows)
        )
        if not self.metric._halved or min(n_train, n_other) < MIN_HALVED:
            return None
        key = role, (n_train, n_other)
        if key not in self._known:
            halves, extremes = self.metric._values_of_halves(self.context, *key), UNCHANGED
            if max(n_train, n_other) > MAX_WITHOUT_EXTREMES:
                extremes = self.metric._values_of_extremes(self.context, *key)
            self._known[key] = Parts(halves, extremes, halved_share(n_train, n_other))
        return self._known[key]

    def lines(self, value: float, halves: np.ndarray) -> np.ndarray:
        """Return the halves, such that their noise shrinks with the root of the size."""
        return linearize_halves(value, halves) if self.metric._halved == "root" else halves


def with_interval(halved: HalvedValues, result: Result) -> Result:
    """Return the result with the interval of its expected value, from halves of all tables."""
    value, metric = result.value, halved.metric
    if result.interval or np.isnan(value):
        return result
    found = halved.of("synthetic", halved.context.n_rows("synthetic"))
    if found is None:
        return result
    halves, extremes, share = found
    bounds = (result.tags or metric.tags).bounds
    ends = sampling_interval(
        value, halved.lines(value, halves), share, extremes=extremes, bounds=bounds
    )
    result, root = replace(result, interval=ends), metric._halved == "root"
    limit = extrapolate_halves(value, halves, share, root=root, bounds=bounds)
    if not metric.tags.sign * (limit - value) >= 0.0:  # noise never makes tables more similar
        return result
    return replace(result, details={**result.details, "large_sample_value": limit})


def difference_interval(
    halved: HalvedValues, n_rows: int, value: float, fresh: float
) -> tuple[float, float] | None:
    """Return the interval of value minus baseline, both of `n_rows`, from halves of both."""
    if np.isnan(value - fresh):
        return None
    found = [parts for role in ("synthetic", "holdout") if (parts := halved.of(role, n_rows))]
    if not found:
        return None
    synthetic, holdout = found
    lines = halved.lines(value, synthetic.halves) - halved.lines(fresh, holdout.halves)
    extremes = synthetic.extremes - holdout.extremes
    return sampling_interval(value - fresh, lines, synthetic.share, extremes=extremes)


def variation_of_halves(metric: Metric, context: Context, n_rows: int) -> Sampled | None:
    """Return the value of `n_rows` synthetic rows and its variation between halves."""
    halved = HalvedValues(metric, context)
    found = halved.of("synthetic", n_rows)
    if found is None:
        return None
    whole = n_rows >= context.n_rows("synthetic")
    value = metric._result(context if whole else synthetic_sample(context, n_rows)).value
    return Sampled(value, halved.lines(value, found.halves), "halves", found.share)
