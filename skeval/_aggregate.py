"""From scores of columns or pairs to one result, with what must be said about the missing ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skeval.exceptions import DegenerateInputWarning, MetricWarning, NothingToMeasureWarning
from skeval.result import Result

__all__ = ["mean_of_columns", "undefined"]


def undefined(
    reason: str, kind: type[MetricWarning] = DegenerateInputWarning, **details: Any
) -> Result:
    """Return the result of a measure that is not defined here: nan, and a warning that says why."""
    return Result(float("nan"), details=details, warnings=(kind(reason),))


def mean_of_columns(
    scores: Mapping[str, float],
    *,
    n_total: int,
    greater_is_better: bool = True,
    warnings: tuple[MetricWarning, ...] = (),
    **details: Any,
) -> Result:
    """Return the mean over the columns that have a score; the worst column stands beside it.

    Parameters
    ----------
    scores : mapping of str to float
        By column; nan where it is not defined.
    n_total : int
        Number of columns of the table, measured or not.
    greater_is_better : bool, default=True
        Which column is the worst.
    warnings : tuple of MetricWarning
        Go into the result.
    **details
        Go into the result's details.

    Returns
    -------
    Result
        nan if no column has a score.
    """
    defined = {name: score for name, score in scores.items() if not np.isnan(score)}
    if not defined:
        # without any column of its kind there is nothing wrong with the table
        kind = DegenerateInputWarning if scores else NothingToMeasureWarning
        reason = undefined(
            "no column of this table can be measured.", kind, columns=dict(scores), **details
        )
        return Result(reason.value, details=reason.details, warnings=(*warnings, *reason.warnings))
    worst = (min if greater_is_better else max)(defined, key=lambda name: defined[name])
    return Result(
        float(np.mean(list(defined.values()))),
        details={
            "columns": dict(scores),
            "worst": {"column": worst, "value": defined[worst]},
            "n_used": len(defined),
            "n_total": n_total,
            **details,
        },
        warnings=warnings,
    )
