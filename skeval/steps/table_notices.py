"""Notices about the real rows of a table that are odd, each with its cure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.core.shared_rows import content_hashes
from skeval.exceptions import (
    ConstantColumnWarning,
    MetricWarning,
    RepeatedRowsWarning,
    UnequalSizesWarning,
)
from skeval.utils.formatting import percent

_MAX_NAMES = 20  # a warning lists no more names
UNEQUAL = 10  # a larger ratio of the numbers of rows leads to a warning
_REPEATED = 0.05  # share of train rows that equal another, from which on it is spoken of
_CONSTANT = (
    "One value or none in train, of which nothing can be measured: {names}. Leave such columns "
    "out, or look how they were read."
)
_EQUAL_ROWS = (
    "{share} of train rows equal another train row, and a copy of such a row points at no single "
    "person. Drop those that are mistakes; where a person has several rows, evaluate tables with "
    "keys."
)
_SIZES = (
    "Train has {0:,} rows and the holdout {1:,}: tests find less than with equal numbers. Hold out "
    "as many rows as the generator learns from, at random, before it is fitted."
)


def table_notices(context: Context) -> tuple[MetricWarning, ...]:
    """Say what is odd about the real rows of one table in memory: each with the cure."""
    # Columns of one value, rows that equal others, and a train much larger than the holdout,
    # or smaller. They are facts of the tables, which results and reports state; metrics allow
    # for them.
    if type(context) is not Context:
        return ()
    notices: list[MetricWarning] = []
    train = context.train
    measured = context.schema.measured
    if same := [name for name in measured if _is_constant(train[name])]:
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


def _is_constant(values: pd.Series) -> bool:
    """Return whether a column has at most one value, missing ones aside."""
    present = values.dropna()
    if present.empty:
        return True
    if isinstance(present.dtype, pd.CategoricalDtype):
        present = present.cat.codes
    return bool((present == present.iloc[0]).all())
