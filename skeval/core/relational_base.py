"""The base of metrics that evaluate several tables at once."""

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

NO_KEYS = "The schema has no foreign key. Give them: RelationalSchema(..., foreign_keys=[...])."


class RelationalMetric(Metric):
    """A metric of several tables: its author writes `_measure`, of a relational context."""

    # If a holdout is given, the baseline is the same metric with the holdout's tables in the
    # synthetic place. Metrics with `_halved = True` have an interval of value minus baseline
    # (`Result.difference`) from halves of the subjects, each with all its rows; where rows
    # belong to several subjects, or nobody knows to whom, there is none. Others have it from
    # the intervals of both, if they have these.

    def _compute(self, context: Context) -> float | Result:
        return self._measure(cast("RelationalContext", context))

    def _measure(self, context: RelationalContext) -> float | Result:
        raise NotImplementedError(f"{type(self).__name__} must define _measure(context).")

    def _in_relation(self, context: Context, result: Result) -> Result:
        """Return the result with its baseline; rows of several tables give no interval of it."""
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
        """Return None: rows of several tables are no sample that can be cut to a number."""
        return None
