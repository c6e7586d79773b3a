"""What the diagnostics share: legal choices by column, cells that cannot be read, notices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skeval._parameters import Columns
from skeval.context import Context, shared
from skeval.exceptions import (
    ConstantColumnWarning,
    InvalidParameterError,
    MetricWarning,
)
from skeval.fidelity.marginals import emptied
from skeval.preprocessing import numbers
from skeval.schema import Kind, TableSchema
from skeval.steps import chosen_columns
from skeval.steps.samples import ColumnChoice
from skeval.tags import MetricTags

__all__ = [
    "OF_COLUMNS",
    "AnyColumns",
    "ByColumn",
    "any_columns",
    "check_names",
    "columns_of",
    "constant_notices",
    "empty_notices",
    "extent",
    "lacks",
    "level_counts",
    "missing_cells",
    "present_numbers",
    "unreadable",
]

# of diagnostics with a score for each column
OF_COLUMNS = MetricTags(
    "diagnostic",
    greater_is_better=True,
    bounds=(0.0, 1.0),
    display="ColumnScoresDisplay",
    lenient=True,
)


@dataclass(frozen=True)
class AnyColumns:
    """A choice among all columns, those of text and ids included."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` chooses columns."""
        return Columns().accepts(value)

    def describe(self) -> str:
        """Name the choices."""
        return Columns().describe()

    def invalid_example(self) -> object:
        """Return a number of columns that cannot be."""
        return Columns().invalid_example()


@dataclass(frozen=True)
class ByColumn:
    """None, or a mapping from column names to values that `legal` takes; `what` names them."""

    what: str
    legal: Callable[[object], bool]

    def accepts(self, value: object) -> bool:
        """Tell whether `value` maps names to legal values."""
        if value is None:
            return True
        return (
            isinstance(value, Mapping)
            and len(value) > 0
            and all(isinstance(name, str) and self.legal(given) for name, given in value.items())
        )

    def describe(self) -> str:
        """Name the mapping."""
        return f"None or a mapping from column names to {self.what}"

    def invalid_example(self) -> object:
        """Return a string, which maps nothing."""
        return "no mapping"


def any_columns(schema: TableSchema, columns: ColumnChoice) -> list[str]:
    """Return the names that a `columns` parameter chooses among all columns."""
    names = list(schema.kinds)
    if columns is None or isinstance(columns, int | np.integer):
        return names[: None if columns is None else int(columns)]
    check_names("columns", columns, names)
    return [name for name in names if name in set(columns)]


def columns_of(context: Context, columns: ColumnChoice, kinds: Sequence[Kind]) -> list[str]:
    """Return the names that a `columns` parameter chooses among the columns of these kinds."""
    own = context.schema.columns(*kinds)
    return [name for name in chosen_columns(context.schema, columns) if name in own]


def check_names(parameter: str, names: Iterable[str], legal: Sequence[str]) -> None:
    """Raise one error for all names that a parameter may not hold."""
    if unknown := [name for name in names if name not in legal]:
        raise InvalidParameterError(
            f"{parameter} names {', '.join(unknown)}, which the metric does not look at. "
            f"Columns that it does: {', '.join(legal) or 'none'}."
        )


def lacks(context: Context, column: str) -> bool:
    """Tell whether the synthetic table as given has no such column."""
    return column not in context.given("synthetic").columns


def unreadable(context: Context, column: str) -> np.ndarray:
    """Tell which synthetic cells hold something that cannot be read as the column's kind."""
    unread = context.synthetic[column].isna().to_numpy()
    if not unread.any() or lacks(context, column):
        return np.zeros(unread.size, dtype=bool)
    given: np.ndarray = context.given("synthetic")[column].notna().to_numpy(dtype=bool)
    return unread & given


def missing_cells(context: Context, role: str, column: str) -> np.ndarray:
    """Tell which cells are missing in the table as given; all where it lacks the column."""
    given = context.given(role)
    if column not in given.columns:
        return np.ones(len(given), dtype=bool)
    missing: np.ndarray = given[column].isna().to_numpy(dtype=bool)
    return missing


def present_numbers(context: Context, role: str, column: str) -> np.ndarray:
    """Return the finite values of a number or date column; dates in seconds."""
    values = numbers(context[role][[column]]).ravel()
    finite = np.isfinite(values)
    return values if finite.all() else values[finite]


@shared
def extent(context: Context, role: str, column: str) -> tuple[float, float]:
    """Return the least and the greatest finite value of a column; nan if it has none."""
    values = present_numbers(context, role, column)
    return (float(values.min()), float(values.max())) if values.size else (np.nan, np.nan)


@shared
def level_counts(context: Context, role: str, column: str) -> np.ndarray:
    """Return how often each level of a categorical column occurs, in the order of its codes."""
    values = context[role][column].cat
    codes = values.codes.to_numpy()
    return np.bincount(codes[codes >= 0], minlength=len(values.categories))


def empty_notices(none: Sequence[str], gone: Sequence[str]) -> tuple[MetricWarning, ...]:
    """Say in which columns train has no value, and in which only synthetic has none."""
    return emptied({**dict.fromkeys(none, (0, 1)), **dict.fromkeys(gone, (1, 0))})


def constant_notices(names: Sequence[str]) -> tuple[MetricWarning, ...]:
    """Say which columns of train have one value only, so that there is no score."""
    text = f"train has one value only in {', '.join(names)}: no score."
    return (ConstantColumnWarning(text),) if names else ()
