"""Counts of the distinct rows of tables larger than memory, computed by workers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.scale.overrides import Overrides
from skeval.scale.tables import counted_by_workers
from skeval.stats.joint_classes import distinct_codes
from skeval.steps import distinct_rows

Groups = distinct_rows.Groups
_MAX_GROUPS = 2**22  # with more distinct rows, columns are read one by one instead
overrides = Overrides()


@overrides(distinct_rows.count_codes)
def _(
    context: Context,
    role: str,
    names: Sequence[str],
    code: distinct_rows.Code,
    *,
    given: bool = False,
) -> Groups | None:
    """Return the distinct rows that workers count, or None if there are more than 4 million."""
    rows = context.original_frame(role) if given else context[role]
    if not names or not counted_by_workers(rows):
        return None
    return rows.added_up(names, partial(count_groups, code=code), merge_groups)


def count_groups(frame: pd.DataFrame, code: distinct_rows.Code) -> Groups | None:
    """Count the distinct rows of a batch."""
    return _limit_groups(*distinct_codes([_narrow(column) for column in code(frame)]))


def merge_groups(parts: list[Groups | None]) -> Groups | None:
    """Add up the counts of batches. Return None if there are too many distinct rows."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    columns = [np.concatenate(of) for of in zip(*(part[0] for part in known), strict=True)]
    return _limit_groups(*distinct_codes(columns, np.concatenate([part[1] for part in known])))


def _limit_groups(columns: list[np.ndarray], sizes: np.ndarray) -> Groups | None:
    return (columns, sizes) if sizes.size <= _MAX_GROUPS else None


def _narrow(column: np.ndarray) -> np.ndarray:
    """Convert integers to the smallest sufficient dtype, and return floats unchanged."""
    if column.dtype.kind == "f" or not column.size:
        return column
    kinds = {np.min_scalar_type(int(end)) for end in (column.min(), column.max())}
    return column.astype(np.result_type(*kinds))
