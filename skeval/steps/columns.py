"""The values of one column: cut into cells, in order, finite, and what must be said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.exceptions import (
    ConstantColumnWarning,
    DegenerateInputWarning,
    InvalidValueWarning,
    MetricWarning,
)
from skeval.stats.distributions import quantiles_of_sorted
from skeval.steps.samples import ColumnChoice, chosen_columns
from skeval.tables.preprocessing import Discretizer, category_codes, numbers

# what p-values are said to be against where there is no holdout
CONSERVATIVE = "train, to which the generator was fitted: conservative"

Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]
Values = Callable[[Context, str, str], np.ndarray]


@shared
def cells(
    context: Context, n_bins: int = 10, strategy: str = "uniform", max_categories: int | None = 50
) -> Discretizer:
    """Return the fitted cells of all measured columns, learned from train."""
    checked: Any = strategy  # by the cutter
    cutter = Discretizer(n_bins, strategy=checked, max_categories=max_categories)
    return cutter.fit(context.train[context.schema.measured])


@shared
def codes(
    context: Context, role: str, n_bins: int, strategy: str, max_categories: int | None
) -> np.ndarray:
    """Return the cell of each value of the measured columns, shape (n_rows, n_columns)."""
    cutter = cells(context, n_bins, strategy, max_categories)
    return cutter.transform(context[role][context.schema.measured])


@shared
def histogram(
    context: Context,
    role: str,
    column: str,
    n_bins: int = 10,
    strategy: str = "uniform",
    max_categories: int | None = 50,
) -> np.ndarray:
    """Return the counts of one column's cells."""
    j = context.schema.measured.index(column)
    column_codes = codes(context, role, n_bins, strategy, max_categories)[:, j]
    n_cells = cells(context, n_bins, strategy, max_categories).n_cells_[j]
    return np.bincount(column_codes, minlength=n_cells)


@shared
def sorted_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the present values of a numeric, date or boolean column, ascending.

    Dates are seconds since 1970, booleans 0 and 1; infinite values, which synthetic tables may
    have, stand at the ends.
    """
    frame = context[role][[column]]
    nominal = isinstance(frame[column].dtype, pd.CategoricalDtype)
    values = (category_codes(frame) if nominal else numbers(frame)).ravel()
    return np.sort(values[~np.isnan(values)])


def finite_values(context: Context, role: str, column: str) -> np.ndarray:
    """Return the finite values of a numeric, date or boolean column, ascending."""
    values = sorted_values(context, role, column)
    first = int(np.searchsorted(values, -np.inf, side="right"))
    return values[first : int(np.searchsorted(values, np.inf))]


def finite_pairs(context: Context, columns: ColumnChoice) -> Pairs:
    """Return the finite values of train and synthetic, ascending, of each numeric or date column.

    A mean or a distance has no place for infinite values.
    """
    return _pairs(context, columns, finite_values)


def sorted_pairs(context: Context, columns: ColumnChoice) -> Pairs:
    """Return the values of train and synthetic, ascending, of each numeric or date column."""
    return _pairs(context, columns, sorted_values)


def _pairs(context: Context, columns: ColumnChoice, values: Values) -> Pairs:
    numeric = context.schema.columns("continuous", "datetime")
    return {
        name: (values(context, "train", name), values(context, "synthetic", name))
        for name in chosen_columns(context.schema, columns)
        if name in numeric
    }


def width(x: np.ndarray, scale: str) -> float:
    """Return range, standard deviation or interquartile range of an ascending sample."""
    if x.size == 0:
        return float("nan")
    if scale == "std":
        return float(x.std(ddof=1)) if x[0] < x[-1] else 0.0  # rounding alone is no width
    low, high = quantiles_of_sorted(x, np.array([0.25, 0.75] if scale == "iqr" else [0.0, 1.0]))
    return float(high - low)


def mean_of_defined(values: Mapping[str, float]) -> float:
    """Return the mean of what is not nan; nan if there is nothing."""
    defined = [value for value in values.values() if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


def emptied_columns(pairs: Pairs) -> tuple[MetricWarning, ...]:
    """Say which columns have no value to measure in train or in the synthetic table."""
    return emptied({name: (x.size, y.size) for name, (x, y) in pairs.items()})


def infinite_columns(context: Context, names: Iterable[str]) -> tuple[MetricWarning, ...]:
    """Say which synthetic columns have infinite values, and how many were left out."""
    counts = {
        name: sorted_values(context, "synthetic", name).size
        - finite_values(context, "synthetic", name).size
        for name in names
    }
    named = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
    text = f"synthetic has infinite values, which are left out here: {named}."
    return (InvalidValueWarning(text),) if named else ()


def unscaled_columns(names: list[str], scale: str | None) -> tuple[MetricWarning, ...]:
    """Say which columns have no width in train to measure by."""
    text = f"train has no {scale} in {', '.join(names)}: no score on its scale."
    return (ConstantColumnWarning(text),) if names else ()


def emptied(sizes: dict[str, tuple[int, int]]) -> tuple[MetricWarning, ...]:
    """Say which columns have no value to measure, given the numbers of values of both tables."""
    none = [name for name, (n, _) in sizes.items() if n == 0]
    lost = [name for name, (n, m) in sizes.items() if n > 0 and m == 0]
    said = []
    if none:
        said.append(f"train has no value in {', '.join(none)}: no score.")
    if lost:
        said.append(f"synthetic has no value in {', '.join(lost)}, train has: the worst score.")
    return tuple(DegenerateInputWarning(text) for text in said)
