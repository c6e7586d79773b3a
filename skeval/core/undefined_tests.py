"""Privacy tests whose statistic is not defined for these rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from skeval.core.context import Context
from skeval.results.result import Result
from skeval.steps.samples import drawn_positions, replace_role
from skeval.utils.formatting import as_float

if TYPE_CHECKING:
    from skeval.core.base import Metric


def keep_in_family(metric: Metric, context: Context, result: Result) -> Result:
    """Set p = 1 if a test is not defined for the synthetic rows but for the training rows."""
    # The tests to correct for must depend only on sizes and parameters, and never on the data.
    tags = result.tags or metric.tags
    undecided = np.isnan(result.value) or tags.evidence in {"screen", "attack"}
    if not undecided or not np.isnan(as_float(result.p_value)):
        return result
    if "holdout" not in context or context.is_relational:
        return result
    n_rows = min(context.n_rows("synthetic"), context.n_rows("train"))
    copies = replace_role(context, "train", drawn_positions(context, "train", n_rows, 0))
    p_value = as_float(metric._compared_result(copies).p_value)
    return result if np.isnan(p_value) else replace(result, p_value=1.0)
