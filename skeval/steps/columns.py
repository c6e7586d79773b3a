"""Values of single columns as cells, sorted values, finite values, and ranges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidValueWarning,
    MetricWarning,
)
from skeval.stats.distributions import exact_mean, quantiles_of_ascending
from skeval.steps.column_choice import ColumnChoice, columns_of
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NUMERIC, Cells, Discretizer, cells_of_column
from skeval.tables.schema import Kind
from skeval.utils.parameters import Strategy

ROLES = ("train", "synthetic")  # the two tables that metrics of fidelity compare
# the comparison for p-values without a holdout
CONSERVATIVE = "the training data, to which the generator was fitted (conservative)"
Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]


@shared
def cells(
    context: Context,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    max_categories: int | None = 50,
) -> Discretizer:
    """Return the fitted cells of all measured columns, learned from the training data."""
    cutter = Discretizer(n_bins, strategy=strategy, max_categories=max_categories)
    return cutter.learn_cells(context.stored("train"), context.schema, context.levels)


@shared
def codes(
    context: Context, role: str, n_bins: int, strategy: Strategy, max_categories: int | None
) -> np.ndarray:
    """Return the cell of each value of the measured columns, shape (n_rows, n_columns)."""
    return cells(context, n_bins, strategy, max_categories).cut(context.stored(role))


@shared
def column_cells(
    context: Context,
    column: str,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    max_categories: int | None = 50,
) -> Cells:
    """Return the cells of one column, learned from the training data."""
    values, kind = context.numbers("train", column), context.schema.kinds[column]
    return cells_of_column(values, kind, n_bins, strategy, max_categories)


@shared
def histogram(
    context: Context,
    role: str,
    column: str,
    n_bins: int = 10,
    strategy: Strategy = "uniform",
    max_categories: int | None = 50,
) -> np.ndarray:
    """Return the counts of one column's cells."""
    cut = column_cells(context, column, n_bins, strategy, max_categories)
    return np.bincount(cut.codes(context.numbers(role, column)), minlength=cut.n_cells)


@shared
def sorted_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the present values of a numeric, date or boolean column, ascending."""
    # Dates are seconds since 1970, and booleans are 0 and 1. Infinite values, which synthetic
    # tables may contain, are at the ends.
    return in_order(context.numbers(role, column))


def in_order(values: np.ndarray) -> np.ndarray:
    """Return the present values of a column of numbers, ascending."""
    return np.sort(values[~np.isnan(values)])


def finite_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the finite values of a numeric, date or boolean column, ascending."""
    values = sorted_values(context, role, column)
    first = int(np.searchsorted(values, -np.inf, side="right"))
    return values[first : int(np.searchsorted(values, np.inf))]


def present_numbers(rows: Any, column: str) -> np.ndarray:
    """Return the finite values of a number or date column of a table, with dates in seconds."""
    values = column_values(rows[column])
    finite = np.isfinite(values)
    return values if finite.all() else values[finite]


@shared
def extent(context: Context, role: str, column: str) -> tuple[float, float]:
    """Return the minimum and maximum finite value of a column, or nan if there is none."""
    low, high = extents_of({column: context.column(role, column)}, [column])[0]
    return float(low), float(high)


def extents_of(frame: Any, names: Sequence[str]) -> np.ndarray:
    """Return the minimum and maximum finite values of columns of a table, or nan."""
    columns = [present_numbers(frame, name) for name in names]
    ends = [(x.min(), x.max()) if x.size else (np.nan, np.nan) for x in columns]
    return np.array(ends) + 0.0  # -0.0 becomes 0.0


def finite_pairs(context: Context, columns: ColumnChoice) -> Pairs:
    """Return the sorted finite values of both tables for each numeric or date column.

    A mean or a distance does not accept infinite values.
    """
    return {
        name: (finite_values(context, "train", name), finite_values(context, "synthetic", name))
        for name in columns_of(context, columns, NUMERIC)
    }


def sorted_pairs(context: Context, columns: ColumnChoice, kinds: Sequence[Kind] = NUMERIC) -> Pairs:
    """Return the sorted values of both tables for each column of these kinds."""
    return {
        name: (sorted_values(context, "train", name), sorted_values(context, "synthetic", name))
        for name in columns_of(context, columns, kinds)
    }


def width(x: np.ndarray, scale: str) -> float:
    """Return range, standard deviation or interquartile range of an ascending sample."""
    if x.size == 0:
        return float("nan")
    if scale == "std":
        return float(x.std(ddof=1)) if x[0] < x[-1] else 0.0  # ignores rounding errors
    low, high = quantiles_of_ascending(x, np.array([0.25, 0.75] if scale == "iqr" else [0.0, 1.0]))
    return float(high - low)


def mean_ignoring_nan(values: Mapping[str, float]) -> float:
    """Return the mean of the values that are not nan, or nan if there are no such values."""
    defined = [value for value in values.values() if not np.isnan(value)]
    return exact_mean(defined) if defined else float("nan")


def emptied_columns(pairs: Pairs) -> tuple[MetricWarning, ...]:
    """Warn about columns without a value to evaluate in the training or the synthetic data."""
    return empty_column_warnings({name: (x.size, y.size) for name, (x, y) in pairs.items()})


def infinite_columns(context: Context, names: Iterable[str]) -> tuple[MetricWarning, ...]:
    """Warn about synthetic columns with infinite values, which are ignored."""
    counts = {
        name: sorted_values(context, "synthetic", name).size
        - finite_values(context, "synthetic", name).size
        for name in names
    }
    named = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
    text = f"Infinite values in the synthetic data are ignored: {named}."
    return (InvalidValueWarning(text),) if named else ()


def unscaled_columns(names: list[str], scale: str | None) -> tuple[MetricWarning, ...]:
    """Warn about columns whose values in the training data have a scale of 0."""
    text = f"The {scale} of the training data is 0 in {', '.join(names)}, so there is no score."
    return (ConstantColumnWarning(text),) if names else ()


def empty_column_warnings(sizes: dict[str, tuple[int, int]]) -> tuple[MetricWarning, ...]:
    """Warn about columns without a value to evaluate, given the numbers of values."""
    none = [name for name, (n, _) in sizes.items() if n == 0]
    lost = [name for name, (n, m) in sizes.items() if n > 0 and m == 0]
    said = []
    if none:
        said.append(f"The training data have no value in {', '.join(none)}, so there is no score.")
    if lost:
        said.append(
            f"The synthetic data have no value in {', '.join(lost)}, but the training data do. "
            "The score is the worst."
        )
    return tuple(DegenerateInputWarning(text) for text in said)
