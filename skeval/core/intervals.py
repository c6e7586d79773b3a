"""Intervals for metrics that are fast enough to be evaluated on halves of the tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from skeval.core.context import Context
from skeval.results.result import Result
from skeval.stats.sampling_intervals import (
    MIN_HALVED,
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


class HalvedValues:
    """Values of a metric on halves of the tables, which are computed once in an evaluation."""

    def __init__(self, metric: Metric, context: Context) -> None:
        self.metric, self.context = metric, context
        self._known: dict[tuple[str, Sizes], np.ndarray] = {}

    def of(self, role: str, n_rows: int) -> tuple[np.ndarray, float] | None:
        """Return the values for `n_rows` of a role, and the fraction of rows in both halves."""
        # None if the metric has no halves, or if there are too few rows
        n_train, n_other = (
            self.metric._n_compared_rows(self.context, n)
            for n in (self.context.n_rows("train"), n_rows)
        )
        if not self.metric._halved or min(n_train, n_other) < MIN_HALVED:
            return None
        key = role, (n_train, n_other)
        if key not in self._known:
            self._known[key] = self.metric._values_of_halves(self.context, *key)
        return self._known[key], halved_share(n_train, n_other)


def with_interval(halved: HalvedValues, result: Result) -> Result:
    """Return the result with the interval of its expected value, from halves of all tables."""
    value, metric = result.value, halved.metric
    if result.interval or np.isnan(value):
        return result
    found = halved.of("synthetic", halved.context.n_rows("synthetic"))
    if found is None:
        return result
    (halves, share), root = found, metric._halved == "root"
    bounds = (result.tags or metric.tags).bounds
    lines = linearize_halves(value, halves) if root else halves
    result = replace(result, interval=sampling_interval(value, lines, share, bounds=bounds))
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
    found = [halves for role in ("synthetic", "holdout") if (halves := halved.of(role, n_rows))]
    if not found:
        return None
    (synthetic, share), (holdout, _) = found
    if halved.metric._halved == "root":
        synthetic, holdout = linearize_halves(value, synthetic), linearize_halves(fresh, holdout)
    return sampling_interval(value - fresh, synthetic - holdout, share)


def variation_of_halves(metric: Metric, context: Context, n_rows: int) -> Sampled | None:
    """Return the value of `n_rows` synthetic rows and its variation between halves."""
    found = HalvedValues(metric, context).of("synthetic", n_rows)
    if found is None:
        return None
    halves, share = found
    whole = n_rows >= context.n_rows("synthetic")
    value = metric._result(context if whole else synthetic_sample(context, n_rows)).value
    lines = linearize_halves(value, halves) if metric._halved == "root" else halves
    return Sampled(value, lines, "halves", share)
