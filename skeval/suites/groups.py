"""Groups of dependent rows, such as the rows of one subject. Tests use one row per group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.exceptions import InvalidParameterError
from skeval.results.result import Result
from skeval.steps.groups import beside_one_row_per_group, one_row_per_group
from skeval.utils.formatting import did_you_mean, format_count

_REAL = ("train", "holdout")


def add_groups_to_schema(schema: Any, groups: str, columns: Iterable[Any] | None) -> Any:
    """Return a schema in which the group column is an ID, so that no metric compares it."""
    names = None if columns is None else list(map(str, columns))
    if names is not None and groups not in names:
        raise InvalidParameterError(
            f"{groups!r} (groups) is not a column of the training data."
            f"{did_you_mean([groups], names)}"
        )
    is_open = schema is None or isinstance(schema, Mapping)
    return {groups: "id", **(schema or {})} if is_open else schema


def independent_rows(context: Context, groups: str | None) -> Context:
    """Return a context with one row per group, or with all rows if there are no groups."""
    if groups is None:
        return context
    if type(context) is not Context:
        raise InvalidParameterError(
            "groups applies to a single table in memory. For several tables, keys define the "
            "groups."
        )
    if "holdout" in context:
        in_train, in_holdout = (set(context[role][groups].dropna()) for role in _REAL)
        if n_both := len(in_train & in_holdout):
            raise InvalidParameterError(
                f"groups: {format_count(n_both, 'value')} of {groups} in both train and holdout. "
                "Split the data so that all rows of a group are in the same table."
            )
    return one_row_per_group(context, groups)


def result_of(metric: Metric, context: Context, groups: str | None) -> Result:
    """Return the result of a metric. If there are groups, its test uses one row per group."""
    result = metric.evaluate_context(context)
    if groups is None or type(context) is not Context:
        return result
    rows = beside_one_row_per_group(context, groups)
    tested = clone(metric).fit_context(rows.real).evaluate_context(rows, advise=False)
    return replace(result, p_value=tested.p_value, contrast=tested.contrast)
