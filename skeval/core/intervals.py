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


def halved_sizes(metric: Metric, context: Context, n_rows: int) -> Sizes | None:
    """Return the numbers of rows of the training data and another table to halve, or None."""
    if not metric._halved:
        return None
    n_train, n_other = (
        metric._n_compared_rows(context, n) for n in (context.n_rows("train"), n_rows)
    )
    return (n_train, n_other) if min(n_train, n_other) >= MIN_HALVED else None


def with_interval(metric: Metric, context: Context, result: Result) -> Result:
    """Return the result with the interval of its expected value, from halves of all tables."""
    value, root = result.value, metric._halved == "root"
    sizes = halved_sizes(metric, context, context.n_rows("synthetic"))
    if result.interval or np.isnan(value) or sizes is None:
        return result
    share, bounds = halved_share(*sizes), (result.tags or metric.tags).bounds
    halves = metric._values_of_halves(context, "synthetic", sizes)
    lines = linearize_halves(value, halves, share) if root else halves
    result = replace(result, interval=sampling_interval(value, lines, share, bounds=bounds))
    limit = extrapolate_halves(value, halves, share, root=root, bounds=bounds)
    if not metric.tags.sign * (limit - value) >= 0.0:  # noise never makes tables more similar
        return result
    return replace(result, details={**result.details, "large_sample_value": limit})


def difference_interval(
    metric: Metric, context: Context, n_rows: int, value: float, fresh: float
) -> tuple[float, float] | None:
    """Return the interval of value minus baseline, both of `n_rows`, from halves of both."""
    sizes = halved_sizes(metric, context, n_rows)
    if np.isnan(value - fresh) or sizes is None:
        return None
    share = halved_share(*sizes)
    synthetic, holdout = (
        metric._values_of_halves(context, role, sizes) for role in ("synthetic", "holdout")
    )
    if metric._halved == "root":
        synthetic = linearize_halves(value, synthetic, share)
        holdout = linearize_halves(fresh, holdout, share)
    return sampling_interval(value - fresh, synthetic - holdout, share)


def variation_of_halves(metric: Metric, context: Context, n_rows: int) -> Sampled | None:
    """Return the value of `n_rows` synthetic rows and its variation between halves."""
    sizes = halved_sizes(metric, context, n_rows)
    if sizes is None:
        return None
    whole = n_rows >= context.n_rows("synthetic")
    value = metric._result(context if whole else synthetic_sample(context, n_rows)).value
    share = halved_share(*sizes)
    halves = metric._values_of_halves(context, "synthetic", sizes)
    lines = linearize_halves(value, halves, share) if metric._halved == "root" else halves
    return Sampled(value, lines, "halves", share)
