"""The base of metrics that look at several tables at once."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.relational_context import RelationalContext
from skeval.result import MetricTags, Result

NO_KEYS = "The schema has no foreign key. Give them: RelationalSchema(..., foreign_keys=[...])."


# what metrics of several tables have in common, but for what they replace
SIMILARITY_TAGS = MetricTags(
    "fidelity",
    needs=frozenset({"relational"}),
    greater_is_better=True,
    bounds=(0.0, 1.0),
    display="ColumnScoresDisplay",
)
SCREEN_TAGS = MetricTags(
    "privacy",
    needs=frozenset({"relational"}),
    greater_is_better=False,
    bounds=(0.0, 1.0),
    evidence="screen",
)


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
        relational = cast("RelationalContext", context)
        fresh = self._result(relational.in_place("holdout"))
        lacking = np.isnan(fresh.value) and not np.isnan(result.value)
        said = tuple(type(w)(f"baseline: {w}") for w in fresh.warnings if lacking)
        details = dict(result.details)
        if "columns" in fresh.details:
            details["baseline_columns"] = fresh.details["columns"]
        if parts := {name: fresh.details[name] for name in self._parts if name in fresh.details}:
            details["holdout"] = parts
        return replace(
            result, baseline=fresh.value, details=details, warnings=(*result.warnings, *said)
        )
