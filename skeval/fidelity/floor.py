"""What a metric over pairs says of rows without association, beside what it says of fresh ones."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.result import Result
from skeval.steps.permuted import permuted_in_place

__all__ = ["PairMetric"]


class PairMetric(Metric):
    """Base of the metrics over pairs of columns, which know a floor beside the baseline.

    Subclasses have the parameter `floor`. Where it is True, :meth:`evaluate` also measures train
    with every column shuffled on its own, in the synthetic rows' place and at their number:
    ``details["floor"]`` is what marginals alone achieve. ``details["calibrated"]`` says how far the
    value is on the way from there to the baseline (or, where there is no holdout, to the ceiling
    that the metric knows): 0 is no better than independent columns, 1 as good as fresh real rows,
    more than 1 closer to train than they are, which is a sign of copying. It is nan where the top
    is not above the floor by more than chance: shuffled columns have the marginals of train
    exactly, so that they may score better than fresh rows where little association is to be found.
    :meth:`score` does not pay for it.
    """

    floor: bool

    def evaluate_context(self, context: Context) -> Result:
        """Measure the synthetic rows of a context, and a floor beside them."""
        start = time.perf_counter()
        result = super().evaluate_context(context)
        if self.floor and not np.isnan(result.value):
            result = self._with_floor(context, result)
        return replace(result, seconds=time.perf_counter() - start)

    def _with_floor(self, context: Context, result: Result) -> Result:
        details = dict(result.details)
        n_rows, value = _compared(result, context.n_rows("synthetic"))
        details["floor"] = floor = self._result(permuted_in_place(context, n_rows)).value
        top = details.get("ceiling_value") if result.baseline is None else result.baseline
        if top is not None:
            noise = self._noise(1.0 / context.n_rows("train") + 1.0 / n_rows, details["n_used"])
            apart = (top - floor) * self.tags.sign > noise
            details["calibrated"] = (value - floor) / (top - floor) if apart else float("nan")
        return replace(result, details=details)

    def _noise(self, inverse_size: float, n_used: int) -> float:
        """Return two standard errors of a mean of differences of two shares of one half."""
        return float(np.sqrt(inverse_size / n_used))


def _compared(result: Result, n_rows: int) -> tuple[int, float]:
    """Return the number of rows at which value and baseline compare, and the value at it."""
    smaller: Mapping[str, Any] | None = result.details.get("at_baseline_size")
    if result.baseline is None or smaller is None:
        return n_rows, result.value
    return int(smaller["n_rows"]), float(smaller["value"])
