"""Training rows with other extreme values, of which the noise does not shrink in large tables."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.stats.extremes import maxima_of_further_samples
from skeval.stats.sampling_intervals import N_HALVINGS, halved_share
from skeval.steps.halvings import counted_rows, half_rows, train_part
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NUMERIC
from skeval.tables.set_columns import with_columns
from skeval.tables.taken_rows import column_numbers

_MAX_SECONDS = 2.0**43  # dates count microseconds in 64 bits


def with_other_extremes(
    context: Context, role: str, n_train: int, n_rows: int, half: bool = False
) -> Iterator[Context]:
    """Get contexts of the rows that are halved, or a half, with other extremes in training data."""
    share = halved_share(n_train, n_rows)
    for sample in range(N_HALVINGS):
        yield _changed_context(
            context, role, int(n_train * share), int(n_rows * share), half, sample
        )


@shared
def _changed_context(
    context: Context, role: str, n_train: int, n_rows: int, half: bool, sample: int
) -> Context:
    at, rows, given = _rows(context, role, n_rows, half)
    train = _changed_train(context, n_train, half, sample)
    return train.with_rows_as_synthetic(rows, given, taken={"synthetic": (context, role, at)})


@shared
def _changed_train(context: Context, n_rows: int, half: bool, sample: int) -> Context:
    at, rows, given = _rows(context, "train", n_rows, half)
    columns = {}
    for name in context.schema.measured:
        if context.schema.kinds[name] in NUMERIC:
            numbers = column_numbers(rows, name)
            for sign in (1.0, -1.0):
                if (maxima := _maxima(context, name, sign)) is not None:
                    numbers = sign * _with_maximum(sign * numbers, maxima[sample])
            columns[name] = _with_numbers(rows[name], numbers)
    return train_part(context, at, with_columns(rows.copy(), columns), given)


def _rows(context: Context, role: str, n_rows: int, half: bool) -> tuple[Any, ...]:
    """Return the positions of the rows that are halved, or of a half, as read and as given."""
    return (
        next(half_rows(context, role, n_rows, 0)) if half else counted_rows(context, role, n_rows)
    )


@shared
def _maxima(context: Context, name: str, sign: float) -> np.ndarray | None:
    """Return the maxima of a column with this sign in further samples."""
    numbers = sign * column_numbers(context.stored("train"), name)
    maxima = maxima_of_further_samples(numbers[~np.isnan(numbers)], N_HALVINGS)
    if maxima is None:
        return None
    # The ends of all columns are independent. If the seed were a name, the same columns would be
    # aligned by chance in all tables.
    return np.random.default_rng(zlib.crc32(maxima.tobytes())).permutation(maxima)


def _with_maximum(numbers: np.ndarray, maximum: float) -> np.ndarray:
    """Return the numbers with another maximum, which only rows above it and one more change."""
    if np.isnan(numbers).all():
        return numbers
    changed = np.where(numbers > maximum, maximum, numbers)
    changed[int(np.nanargmax(numbers))] = maximum
    return changed


def _with_numbers(column: pd.Series, numbers: np.ndarray) -> pd.Series:
    """Return a canonical column in which the cells that differ from these numbers are replaced."""
    moved = np.flatnonzero((numbers != column_values(column)) & ~np.isnan(numbers))
    cells, new = column.to_numpy(copy=True), numbers[moved]
    if column.dtype.kind == "M":
        microseconds = np.clip(new, -_MAX_SECONDS, _MAX_SECONDS) * 1e6
        new = microseconds.astype(np.int64).astype(column.dtype)
    cells[moved] = new
    return pd.Series(cells)
