"""What the metrics of numeric and date columns share: finite values, scales, what must be said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from skeval.context import Context
from skeval.exceptions import ConstantColumnWarning, InvalidValueWarning, MetricWarning
from skeval.fidelity.marginals import emptied
from skeval.stats.ordered import quantiles_of_sorted
from skeval.steps import chosen_columns, finite_values, sorted_values
from skeval.steps.samples import ColumnChoice

__all__ = [
    "Pairs",
    "emptied_columns",
    "finite_pairs",
    "infinite_columns",
    "mean_of_defined",
    "sorted_pairs",
    "unscaled_columns",
    "width",
]

Pairs = Mapping[str, tuple[np.ndarray, np.ndarray]]
Values = Callable[[Context, str, str], np.ndarray]


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
