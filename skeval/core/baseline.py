"""Baseline of a result, which is the value for holdout rows in place of synthetic rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval.core.intervals import HalvedValues, difference_interval
from skeval.results.result import Result
from skeval.steps.samples import holdout_in_place, synthetic_sample


def with_baseline(halved: HalvedValues, result: Result) -> Result:
    """Return the result with its baseline at equal sizes, and the interval of their difference."""
    metric, context = halved.metric, halved.context
    n_rows, value = context.n_rows("synthetic"), result.value
    n_fresh = min(n_rows, context.n_rows("holdout"))
    fresh = metric._result(holdout_in_place(context, n_fresh))
    result = add_baseline(result, fresh, metric._parts)
    if n_fresh < n_rows:
        value = metric._value_alone(synthetic_sample(context, n_fresh))
        at_size = {"at_baseline_size": {"n_rows": n_fresh, "value": value}}
        result = replace(result, details={**result.details, **at_size})
    difference = difference_interval(halved, n_fresh, value, fresh.value)
    return replace(result, difference=difference)


def add_baseline(result: Result, fresh: Result, parts: tuple[str, ...]) -> Result:
    """Add the value of the holdout data to a result, with parts of its details."""
    lacking = np.isnan(fresh.value) and not np.isnan(result.value)
    said = tuple(w.with_prefix("baseline") for w in fresh.warnings if lacking)
    details = dict(result.details)
    if "columns" in fresh.details:
        details["baseline_columns"] = fresh.details["columns"]
    if known := {name: fresh.details[name] for name in parts if name in fresh.details}:
        details["holdout"] = known
    warnings = (*result.warnings, *said)
    return replace(result, baseline=fresh.value, details=details, warnings=warnings)
