"""The columns that a metric uses, which are read and checked from a `columns` parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skeval.core.context import Context
from skeval.exceptions import InvalidParameterError
from skeval.tables.schema import Kind, TableSchema
from skeval.utils.formatting import did_you_mean

ColumnChoice = int | Sequence[str] | None
_MAX_NAMES = 20  # an error lists no more names
# the parameters of make_suite and options of the command line that fill a parameter of metrics
_CALLED = {"quasi_identifiers": "known or quasi_identifiers"}


def check_measurable(
    schema: TableSchema, named: Mapping[str, Sequence[str]], owner: str | None = None
) -> None:
    """Raise an error for names of columns that do not exist, or that contain texts or ids."""
    measured = schema.measured
    known = set(measured)
    absent = {what: [n for n in names if n not in known] for what, names in named.items()}
    faults = [describe_unmeasurable(schema, what, names) for what, names in absent.items() if names]
    if faults:
        more = len(measured) - _MAX_NAMES
        valid = ", ".join(measured[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
        meant = did_you_mean([n for names in absent.values() for n in names], measured)
        whose = "" if owner is None else f"{owner}: "
        raise InvalidParameterError(f"{whose}{'; '.join(faults)}. Valid columns: {valid}.{meant}")


def describe_unmeasurable(schema: TableSchema, what: str, names: Sequence[str]) -> str:
    """Return why names that a parameter contains are not valid columns."""
    unknown = [name for name in names if name not in schema.kinds]
    others = [name for name in names if name in schema.kinds]
    called, parts = _CALLED.get(what, what), []
    if unknown:
        is_not = "is not a column" if len(unknown) == 1 else "are not columns"
        listed = ", ".join(map(repr, unknown))
        parts.append(f"{listed} ({called}) {is_not} of the training data")
    if others:
        listed = ", ".join(f"{name!r} of type {schema.kinds[name]}" for name in others)
        parts.append(f"{listed} ({called}) cannot be evaluated")
    return " and ".join(parts)


def chosen_columns(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the names that a `columns` parameter chooses among those that can be measured."""
    measured = schema.measured
    if columns is None or isinstance(columns, int | np.integer):
        return tuple(measured[: None if columns is None else int(columns)])
    check_measurable(schema, {"columns": columns})
    chosen = set(columns)
    return tuple(name for name in measured if name in chosen)


def columns_of(context: Context, columns: ColumnChoice, kinds: Sequence[Kind]) -> tuple[str, ...]:
    """Return the names that a `columns` parameter chooses among the columns of these kinds."""
    own = set(context.schema.columns(*kinds))
    return tuple(name for name in chosen_columns(context.schema, columns) if name in own)


def column_key(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...] | None:
    """Return a choice of columns in a canonical form, None for all. Equal choices share a memo."""
    chosen = chosen_columns(schema, columns)
    return None if len(chosen) == len(schema.measured) else chosen


def nothing_to_measure(context: Context, space: Any) -> bool:
    """Return whether a built-in space has no column to use, as in a table with texts only."""
    return isinstance(space, str) and not context.schema.measured
