"""Notices about unusual properties of the real rows of a table, each with a remedy."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context
from skeval.core.shared_rows import content_hashes
from skeval.exceptions import (
    ConstantColumnWarning,
    MetricWarning,
    RepeatedRowsWarning,
    UnequalSizesWarning,
)
from skeval.utils.formatting import percent

_MAX_NAMES = 20  # maximum number of names in a warning
UNEQUAL = 10  # a larger ratio of the numbers of rows leads to a warning
_REPEATED = 0.05  # minimum fraction of repeated training rows for a warning
_CONSTANT = (
    "Columns with at most one training value cannot be evaluated: {names}. Exclude these columns, "
    "or check how they were read."
)
_EQUAL_ROWS = (
    "{share} of the training rows equal another training row, so that a copy of such a row does "
    "not identify a single record. Drop duplicates that are errors. If an individual has several "
    "rows, evaluate tables with keys."
)
_SIZES = (
    "The training data have {0:,} rows and the holdout data {1:,}. Tests are more powerful with "
    "equal numbers. Hold out a random half of the rows before you fit the generator."
)


def table_notices(context: Context) -> tuple[MetricWarning, ...]:
    """Return notices about unusual properties of the real rows of one table in memory."""
    # These are columns with one value, repeated rows, and training and holdout data of very
    # different sizes. Results and reports state these properties, and metrics are valid despite
    # them.
    if type(context) is not Context:
        return ()
    notices: list[MetricWarning] = []
    measured = context.schema.measured
    if same := [name for name in measured if _is_constant(context.numbers("train", name))]:
        shown = ", ".join(same[:_MAX_NAMES]) + ", ..." * (len(same) > _MAX_NAMES)
        notices.append(ConstantColumnWarning(_CONSTANT.format(names=shown)))
    hashes = content_hashes(context, "train")
    if hashes is not None and len(hashes) > 1:
        _, counts = np.unique(hashes, return_counts=True)
        repeated = counts[counts > 1].sum() / len(hashes)
        if repeated >= _REPEATED:
            notices.append(RepeatedRowsWarning(_EQUAL_ROWS.format(share=percent(repeated))))
    if "holdout" in context:
        sizes = context.n_rows("train"), context.n_rows("holdout")
        if max(sizes) > UNEQUAL * min(sizes):
            notices.append(UnequalSizesWarning(_SIZES.format(*sizes)))
    return tuple(notices)


def _is_constant(values: np.ndarray) -> bool:
    """Return whether a column has at most one value except for missing values."""
    present = values[~np.isnan(values)]
    return bool((present == present[:1]).all())
