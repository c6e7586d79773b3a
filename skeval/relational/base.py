"""The base of metrics that look at several tables at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from skeval.base import Metric
from skeval.context import Context
from skeval.result import Result

if TYPE_CHECKING:
    from skeval.relational_context import RelationalContext

NO_KEYS = "The schema has no foreign key. Give them: RelationalSchema(..., foreign_keys=[...])."


class RelationalMetric(Metric):
    """A metric of several tables: its author writes `_measure`, of a relational context.

    Where a holdout is given, the baseline is the same metric with the holdout's tables in the
    synthetic place.
    """

    def _compute(self, context: Context) -> float | Result:
        return self._measure(cast("RelationalContext", context))

    def _measure(self, context: RelationalContext) -> float | Result:
        raise NotImplementedError(f"{type(self).__name__} must define _measure(context).")

    def _with_baseline(self, context: Context, result: Result) -> Result:
        in_place = cast("RelationalContext", context).in_place("holdout")
        return self._beside(self._result(in_place), result)
