"""Base class of metrics that evaluate several tables at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from skeval.core.base import Metric
from skeval.core.baseline import add_baseline
from skeval.core.context import Context
from skeval.core.subject_halves import difference_by_subject
from skeval.results.result import Result
from skeval.stats.table_differences import Sampled, independent_interval

if TYPE_CHECKING:
    from skeval.core.relational_context import RelationalContext

NO_KEYS = "The schema has no foreign key. Pass RelationalSchema(..., foreign_keys=[...])."


class RelationalMetric(Metric):
    """Metric of several tables. A subclass implements `_measure` for a relational context."""

    # If a holdout is given, the baseline is the value for the holdout tables in place of the
    # synthetic tables. Metrics with `_halved = True` have an interval of value minus baseline
    # (`Result.difference`) from halves of the subjects, each with all its rows. If rows belong to
    # several subjects or to unknown subjects, there is no such interval. For other metrics, it is
    # computed from the intervals of both values, if these exist.

    def _compute(self, context: Context) -> float | Result:
        return self._measure(cast("RelationalContext", context))

    def _measure(self, context: RelationalContext) -> float | Result:
        raise NotImplementedError(f"{type(self).__name__} must define _measure(context).")

    def _in_relation(self, context: Context, result: Result) -> Result:
        """Return the result with its baseline, which has no interval for several tables."""
        if result.baseline is not None or "holdout" in self.tags.needs or "holdout" not in context:
            return result
        relational = cast("RelationalContext", context)
        fresh = self._result(relational.replace_role("holdout"))
        result = add_baseline(result, fresh, self._parts)
        both = result.value, fresh.value
        if self._halved:
            difference = difference_by_subject(relational, self._value_alone, *both)
        else:
            difference = independent_interval(both[0], result.interval, both[1], fresh.interval)
        return replace(result, difference=difference)

    def variation(self, context: Context, n_rows: int) -> Sampled | None:
        """Return None, because rows of several tables cannot be sampled to a given number."""
        return None
