"""Pairs of numerical or datetime columns whose order real rows keep and synthetic rows reverse."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.core.context import Context
from skeval.stats.intervals import wilson
from skeval.steps.samples import drawn_positions
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NUMERIC, numbers

_MAX_REAL = 0.05  # maximum fraction of real rows with reversed order
# For independent columns, the order must be reversed at least this often, and at least three times
# as often as in real rows. Otherwise the columns have different scales and their order is trivial.
_MIN_INDEPENDENT, _MIN_TIMES = 0.1, 3.0
_CONFIDENCE = 0.999  # of the intervals of both fractions, high because many pairs are compared
_MAX_ROWS, _MAX_CELLS = 2000, 400_000  # limits of the sample that selects pairs to be counted
_MAX_TRIED, _MAX_FOUND = 100, 12


def reversed_orders(
    context: Context, columns: tuple[str, ...], min_count: int, seed: int
) -> list[dict[str, Any]]:
    """Return pairs whose first column is above the second in too many synthetic rows.

    If fewer than `min_count` real rows are reversed, `real` is None and `real_below` is a bound.
    """
    found = [
        one
        for kind in NUMERIC
        for one in _reversed_of_kind(context, columns, kind, min_count, seed)
    ]
    found.sort(key=lambda one: ((one["real"] or 0.0) - one["synthetic"], one["columns"]))
    return found[:_MAX_FOUND]


def _reversed_of_kind(
    context: Context, columns: tuple[str, ...], kind: Any, min_count: int, seed: int
) -> list[dict[str, Any]]:
    own = context.schema.columns(kind)
    names = sorted(name for name in columns if name in own)
    if len(names) < 2:
        return []
    n_rows = min(_MAX_ROWS, _MAX_CELLS // len(names))
    drawn = {
        role: numbers(context[role][names].iloc[drawn_positions(context, role, n_rows, seed)])
        for role in ("train", "synthetic")
    }
    real, synthetic = (_shares_above(drawn[role]) for role in ("train", "synthetic"))
    # these fractions are from samples, and the fractions of all rows are decisive
    gap = np.where(real <= 2.0 * _MAX_REAL, synthetic - real, 0.0)
    worst_first = np.argsort(-gap, axis=None, kind="stable")[: min(_MAX_TRIED, (gap > 0).sum())]
    return [
        one
        for i, j in np.column_stack(np.unravel_index(worst_first, gap.shape)).tolist()
        if _share_above(*_independent(drawn["train"], i, j)) >= _MIN_INDEPENDENT / 2.0
        and (one := _compare(context, names[i], names[j], min_count))
    ]


def _shares_above(values: np.ndarray) -> np.ndarray:
    """Return the fraction of rows in which the first column of each pair is above the second."""
    known = (~np.isnan(values)).astype(np.float64)
    n_known = known.T @ known
    n_above = np.stack([(values[:, [j]] > values).sum(axis=0) for j in range(values.shape[1])])
    return np.where(n_known > 0, n_above / np.maximum(n_known, 1.0), np.nan)


def _compare(context: Context, above: str, below: str, min_count: int) -> dict[str, Any] | None:
    """Return the fractions for all rows, or None if the order is not reversed."""
    tables = {
        role: np.column_stack([column_values(context.column(role, x)) for x in (above, below)])
        for role in ("train", "holdout", "synthetic")
        if role in context
    }
    real = np.concatenate([values for role, values in tables.items() if role != "synthetic"])
    (k, n), (k_synthetic, n_synthetic) = map(_count_above, (real, tables["synthetic"]))
    if not n or not n_synthetic or k_synthetic < min_count or k > _MAX_REAL * n:
        return None
    independent = _share_above(*_independent(real, 0, 1))
    if independent < max(_MIN_INDEPENDENT, _MIN_TIMES * k / n):
        return None
    if wilson(k_synthetic, n_synthetic, _CONFIDENCE)[0] <= wilson(k, n, _CONFIDENCE)[1]:
        return None
    shown = {"real": k / n} if k >= min_count else {"real": None, "real_below": min_count / n}
    kind = context.schema.kinds[above]
    return {
        "columns": [above, below],
        "kind": kind,
        "synthetic": k_synthetic / n_synthetic,
        **shown,
    }


def _count_above(values: np.ndarray) -> tuple[int, int]:
    known = values[~np.isnan(values).any(axis=1)]
    return int((known[:, 0] > known[:, 1]).sum()), len(known)


def _independent(values: np.ndarray, i: int, j: int) -> tuple[np.ndarray, np.ndarray]:
    known = values[~(np.isnan(values[:, i]) | np.isnan(values[:, j]))]
    return known[:, i], known[:, j]


def _share_above(first: np.ndarray, second: np.ndarray) -> float:
    """Return the fraction of all combinations in which the first value is above the second."""
    if not first.size:
        return 0.0
    n_below = np.searchsorted(np.sort(second), first, side="left")
    return float(n_below.sum()) / (first.size * second.size)
