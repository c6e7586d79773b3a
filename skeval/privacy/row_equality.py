"""Rows as values that are equal or not, free text included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.stats.disclosure import class_counts, joint_classes
from skeval.stats.matches import digits_kept
from skeval.steps.neighbors import encoded
from skeval.steps.samples import ColumnChoice, column_key
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import TableSchema

ROLES = ("train", "holdout", "synthetic")


@dataclass(frozen=True)
class Compared:
    """The columns in which rows are compared: those that can be measured, and those of text."""

    measured: tuple[str, ...]
    texts: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.measured or self.texts)


def compared(schema: TableSchema, columns: ColumnChoice) -> Compared:
    """Return the columns that a `columns` parameter chooses among all but ids.

    Raises
    ------
    InvalidParameterError
        If a name is not a column, or is one of ids.
    """
    possible = [name for name, kind in schema.kinds.items() if kind != "id"]
    if columns is None or isinstance(columns, int | np.integer):
        chosen = set(possible[: None if columns is None else int(columns)])
    elif unknown := [name for name in columns if name not in possible]:
        raise InvalidParameterError(
            f"columns names {', '.join(unknown)}, which cannot be compared. "
            f"Columns that can: {', '.join(possible)}."
        )
    else:
        chosen = set(columns)
    texts = schema.columns("text")
    return Compared(
        tuple(name for name in possible if name in chosen and name not in texts),
        tuple(name for name in texts if name in chosen),
    )


@shared
def value_counts(
    context: Context, measured: tuple[str, ...], texts: tuple[str, ...], decimals: int | None
) -> np.ndarray:
    """Return how many rows of each table have each distinct value, shape (n_roles, n_values).

    Roles are train, the holdout where there is one, and the synthetic rows.
    """
    roles = [role for role in ROLES if role in context]
    sizes = [context.n_rows(role) for role in roles]
    columns = [pd.factorize(text_values(context, column))[0] for column in texts]
    if measured:
        columns += _measured_codes(context, roles, measured, decimals)
    joint = joint_classes(np.column_stack(columns))
    return class_counts(*np.split(joint, np.cumsum(sizes)[:-1]))


def _measured_codes(
    context: Context, roles: list[str], measured: tuple[str, ...], decimals: int | None
) -> list[np.ndarray]:
    key = column_key(context.schema, measured)
    pooled = np.concatenate([encoded(context, role, "gower", key) for role in roles])
    names = [*context.schema.columns(*NUMERIC), *context.schema.columns(*NOMINAL)]
    found = []
    for name, values in zip((n for n in names if n in measured), pooled.T, strict=True):
        if context.schema.kinds[name] == "continuous":
            values = digits_kept(values, decimals=decimals)
        found.append(pd.factorize(values)[0])
    return found


def text_values(context: Context, column: str) -> np.ndarray:
    """Return the texts of one column over all tables, None where missing."""
    roles = [role for role in ROLES if role in context]
    pooled = pd.concat([context[role][column] for role in roles], ignore_index=True)
    return pooled.map(str, na_action="ignore").to_numpy(dtype=object)
