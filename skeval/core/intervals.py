"""Intervals for metrics that are fast enough to be evaluated on halves of the tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from skeval.core.context import Context
from skeval.results.result import Result
from skeval.stats.sampling_intervals import (
    MAX_WITHOUT_EXTREMES,
    MIN_HALVED,
    N_HALVINGS,
    N_HALVINGS_OF_PAIRS,
    UNCHANGED,
    extrapolate_halves,
    halved_share,
    lasting_noise,
    linearize_halves,
    sampling_interval,
)
from skeval.stats.table_differences import Sampled
from skeval.steps.extremes import with_other_extremes
from skeval.steps.samples import synthetic_sample

if TYPE_CHECKING:
    from skeval.core.base import Metric

Halved = Literal[False, True, "root"]
Sizes = tuple[int, int]


class HalvedValues:
    """Values of a metric on parts of the tables, which are computed once in an evaluation."""

    def __init__(self, metric: Metric, context: Context, n_halvings: int = N_HALVINGS) -> None:
        self.metric, self.context, self._n_halvings = metric, context, n_halvings
        self._halves: dict[tuple[str, Sizes], np.ndarray] = {}
        self._extremes: dict[tuple[str, Sizes], np.ndarray] = {}

    def of(self, role: str, n_rows: int) -> tuple[np.ndarray, float] | None:
        """Return the values for `n_rows` of a role, and the fraction of rows in both halves."""
        # None if the metric has no halves, or if there are too few rows
        sizes = self._sizes(n_rows)
        share = halved_share(*sizes)
        if not self.metric._halved or share * min(sizes) < MIN_HALVED:
            return None
        key = role, sizes
        if key not in self._halves:
            self._halves[key] = self.metric._values_of_halves(self.context, *key, self._n_halvings)
        return self._halves[key], share

    def extremes(self, role: str, n_rows: int) -> np.ndarray:
        """Return the values for other extremes of the training data, in all rows and in half."""
        sizes = self._sizes(n_rows)
        if not self.metric._uses_range() or max(sizes) <= MAX_WITHOUT_EXTREMES:
            return UNCHANGED
        key = role, sizes
        if key not in self._extremes:
            parts = (
                with_other_extremes(self.context, role, *sizes, half) for half in (False, True)
            )
            values = [[self.metric._value_alone(each) for each in changed] for changed in parts]
            self._extremes[key] = np.array(values).T
        return self._extremes[key]

    def _sizes(self, n_rows: int) -> Sizes:
        """Return the numbers of training rows and of other rows that the metric compares."""
        n_train = self.context.n_rows("train")
        n_compared = self.metric._n_compared_rows
        return n_compared(self.context, n_train), n_compared(self.context, n_rows)

    def lines(self, value: float, halves: np.ndarray, share: float) -> np.ndarray:
        """Return the halves, such that their noise shrinks with the root of the size."""
        if self.metric._halved != "root":
            return halves
        # If the value is small by chance, the correction is too large and the halves differ too
        # little. Simulated intervals with half of the correction cover the expected value in about
        # 95% of the draws.
        return (halves + linearize_halves(value, halves, share)) / 2.0


def with_interval(halved: HalvedValues, result: Result) -> Result:
    """Return the result with the interval of its expected value, from halves of all tables."""
    value, metric = result.value, halved.metric
    if result.interval or np.isnan(value):
        return result
    rows = "synthetic", halved.context.n_rows("synthetic")
    found = halved.of(*rows)
    if found is None:
        return result
    (halves, share), extremes = found, lasting_noise(halved.extremes(*rows))
    bounds = (result.tags or metric.tags).bounds
    ends = sampling_interval(
        value, halved.lines(value, halves, share), share, extremes=extremes, bounds=bounds
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
    found = [halves for role in ("synthetic", "holdout") if (halves := halved.of(role, n_rows))]
    if not found:
        return None
    (synthetic, share), (holdout, _) = found
    lines = halved.lines(value, synthetic, share) - halved.lines(fresh, holdout, share)
    extremes = halved.extremes("synthetic", n_rows) - halved.extremes("holdout", n_rows)
    return sampling_interval(value - fresh, lines, share, extremes=lasting_noise(extremes))


def variation_of_halves(metric: Metric, context: Context, n_rows: int) -> Sampled | None:
    """Return the value of `n_rows` synthetic rows and its variation between halves."""
    halved = HalvedValues(metric, context, N_HALVINGS_OF_PAIRS)
    found = halved.of("synthetic", n_rows)
    if found is None:
        return None
    halves, share = found
    whole = n_rows >= context.n_rows("synthetic")
    value = metric._result(context if whole else synthetic_sample(context, n_rows)).value
    return Sampled(value, halved.lines(value, halves, share), "halves", share)
