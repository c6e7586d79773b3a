"""Shared code of validity metrics: fractions of valid cells, unreadable cells, warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.exceptions import ConstantColumnWarning, InvalidParameterError, MetricWarning
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import exact_mean
from skeval.stats.intervals import wilson
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.columns import empty_column_warnings, extent
from skeval.tables.schema import TableSchema
from skeval.utils.parameters import Legal


def by_column(what: str, legal: Callable[[object], bool]) -> Legal:
    """Return the valid values None and mappings from column names to `legal` values."""

    def is_legal(value: object) -> bool:
        if value is None:
            return True
        given = value.items() if isinstance(value, Mapping) else ()
        return bool(given) and all(isinstance(name, str) and legal(one) for name, one in given)

    return Legal(f"None or a mapping from column names to {what}", is_legal, "no mapping")


def any_columns(schema: TableSchema, columns: ColumnChoice) -> list[str]:
    """Return the names that a `columns` parameter chooses among all columns."""
    names = list(schema.kinds)
    if columns is None or isinstance(columns, int | np.integer):
        return names[:columns]
    check_names("columns", columns, names)
    return [name for name in names if name in set(columns)]


def check_names(parameter: str, names: Iterable[str], legal: Sequence[str]) -> None:
    """Raise one error for all names that a parameter does not accept."""
    if unknown := [name for name in names if name not in legal]:
        raise InvalidParameterError(
            f"{', '.join(map(repr, unknown))} ({parameter}) cannot be evaluated by this metric. "
            f"Valid columns: {', '.join(legal) or 'none'}."
        )


def lacks(context: Context, column: str) -> bool:
    """Return whether the synthetic table as given has no such column."""
    return column not in context.original_names("synthetic")


def unreadable(context: Context, column: str) -> np.ndarray:
    """Return which synthetic cells cannot be read as the column's type."""
    return unread_cells(context.column("synthetic", column), context.original_frame("synthetic"))


def unread_cells(read: pd.Series, table: Any) -> np.ndarray:
    """Return which cells of a column are present in the given table but could not be read."""
    unread = read.isna().to_numpy()
    if not unread.any() or read.name not in table.columns:
        return np.zeros(unread.size, dtype=bool)
    given: np.ndarray = table[read.name].notna().to_numpy(dtype=bool)
    return unread & given


def without_range(context: Context, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns without a training value, and the columns with only one."""
    ends = {name: extent(context, "train", name) for name in names}
    empty = [name for name, (low, _) in ends.items() if np.isnan(low)]
    return empty, [name for name, (low, high) in ends.items() if low == high]


def empty_notices(none: Sequence[str], gone: Sequence[str]) -> tuple[MetricWarning, ...]:
    """Return notices about columns that are empty in training or only in synthetic data."""
    return empty_column_warnings({**dict.fromkeys(none, (0, 1)), **dict.fromkeys(gone, (1, 0))})


def constant_notices(names: Sequence[str]) -> tuple[MetricWarning, ...]:
    """Return a notice about columns that have no score because the training data are constant."""
    text = f"no score for {', '.join(names)}: the training data have only one value."
    return (ConstantColumnWarning(text),) if names else ()


class ShareTally:
    """Fractions of cells that keep a rule, per column, and the interval of their mean."""

    # Columns are added one by one, so the full table of cells is never in memory.

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows
        self.shares: dict[str, float] = {}
        self.intervals: dict[str, tuple[float, float]] = {}
        self._strays = np.zeros(n_rows)
        self._inverse = 0.0

    def add(self, column: str, valid: np.ndarray, counted: np.ndarray | None = None) -> None:
        """Add a column."""
        n = self.n_rows if counted is None else int(counted.sum())
        k = int(valid.sum())
        self.shares[column] = k / n
        self.intervals[column] = wilson(k, n)
        self._inverse += 1.0 / n
        if 0 < k < n:  # otherwise, no row differs from the fraction
            strays = (valid - k / n) if counted is None else np.where(counted, valid - k / n, 0.0)
            self._strays += strays / n

    def mean(
        self,
        context: Context,
        names: Iterable[str],
        warnings: tuple[MetricWarning, ...],
        **details: Any,
    ) -> Result:
        """Return the mean of the fractions, without columns of `names` that have no fraction."""
        result = mean_of_columns(
            {name: self.shares.get(name, np.nan) for name in names},
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=warnings,
            intervals=self.intervals,
            **details,
        )
        return replace(result, interval=self.interval())

    def interval(self) -> tuple[float, float] | None:
        """Return the interval of the mean of the fractions, or None without columns."""
        # The cells of a row depend on each other, so the row is the unit. Its contribution to the
        # mean lies between 0 and 1. Wilson's interval is computed for the number of rows at which a
        # fraction would have the variance of the row contributions. If entire rows fail rarely, the
        # sample may contain none of these rows and show no variance. Therefore four rows are added
        # for the variance: two that are valid in all columns and two that are valid in no column.
        # The interval is conservative if violations are spread over rows, mostly for few rows.
        d = len(self.shares)
        if d == 0:
            return None
        n = d / self._inverse  # columns have fewer rows if missing cells do not count
        value = exact_mean(self.shares.values())
        spread = (n / d) ** 2 * float(self._strays @ self._strays)
        centre = (n * value + 2.0) / (n + 4.0)
        spread += n * (value - centre) ** 2 + 2.0 * (1.0 - centre) ** 2 + 2.0 * centre**2
        n_effective = n * (n + 4.0) * centre * (1.0 - centre) / spread
        low, high = wilson(value * n_effective, n_effective)
        return min(low, value), max(high, value)


def mean_of_bands(bands: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the interval of a mean from simultaneous intervals of its terms, at least one."""
    # If each term lies in its interval, the mean lies between the means of the interval ends. With
    # a confidence of `1 - 0.05 / n_terms` for each term, the interval of the mean has at least 95%,
    # no matter how the terms depend on each other.
    low, high = map(exact_mean, zip(*bands, strict=True))
    return low, high


def within_bands(result: Result, bands: Sequence[tuple[float, float]]) -> Result:
    """Return a mean with an interval from simultaneous intervals of its terms, if it has one."""
    if not bands:
        return result
    low, high = mean_of_bands(bands)
    return replace(result, interval=(min(low, result.value), max(high, result.value)))
