"""Distinct rows of tables larger than memory, and how often each occurs, counted by workers."""

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
_MAX_GROUPS = 2**22  # distinct rows that are sent and kept; beyond, columns are read one by one
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
    """Return distinct rows that workers count; None for more than 4 million."""
    rows = context.original_frame(role) if given else context[role]
    if not names or not counted_by_workers(rows):
        return None
    return rows.added_up(names, partial(_groups_of, code=code), _merge_groups)


def _groups_of(frame: pd.DataFrame, code: distinct_rows.Code) -> Groups | None:
    return _limit_groups(*distinct_codes([_narrow(column) for column in code(frame)]))


def _merge_groups(parts: list[Groups | None]) -> Groups | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    columns = [np.concatenate(of) for of in zip(*(part[0] for part in known), strict=True)]
    return _limit_groups(*distinct_codes(columns, np.concatenate([part[1] for part in known])))


def _limit_groups(columns: list[np.ndarray], sizes: np.ndarray) -> Groups | None:
    return (columns, sizes) if sizes.size <= _MAX_GROUPS else None


def _narrow(column: np.ndarray) -> np.ndarray:
    """Return whole numbers in as few bytes as hold them; others as they are."""
    if column.dtype.kind == "f" or not column.size:
        return column
    kinds = {np.min_scalar_type(int(end)) for end in (column.min(), column.max())}
    return column.astype(np.result_type(*kinds))
