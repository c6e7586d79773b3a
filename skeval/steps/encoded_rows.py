"""Rows as matrices of a space, on one scale for all tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone

from skeval.core.context import Context, by_context, shared
from skeval.exceptions import InvalidParameterError
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.given_categories import AsGiven, cells_as_given
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.row_hashes import row_hashes
from skeval.tables.schema import TableSchema
from skeval.tables.taken_rows import column_numbers

MAX_BYTES = 2**32  # a larger sparse matrix is not made dense


@dataclass(frozen=True, repr=False)
class OfTrain:
    """A space that learns from the training data alone, so other tables are treated equally."""

    # This is for metrics of fidelity with vectors of the space "euclidean" or of a transformer.
    # A value must not depend on whether a holdout is given, and tests exchange holdout rows with
    # synthetic rows.

    space: Any

    def __repr__(self) -> str:
        return repr(self.space)


@shared
def preprocessor(context: Context, space: Any = "gower") -> Any:
    """Return the fitted transformer of a space, which learns from both real tables together."""
    # With OfTrain, it learns from the training data alone, and a fitted transformer is not
    # changed. Otherwise, a common scale is necessary because levels and ranges of one table put
    # the distances to the two tables on different scales. Rows are learned in an order that
    # depends on their values and not on their table.
    # imported here because it is slow, and most metrics use distances without it
    from skeval.tables.spaces import TablePreprocessor
    from skeval.tables.transformers import is_fitted

    is_of_train = isinstance(space, OfTrain)
    space = space.space if is_of_train else space
    if not isinstance(space, str) and is_fitted(space):
        return AsGiven(space, cells_as_given(context))
    rows = context.train
    if "holdout" in context and not is_of_train:
        rows = pd.concat([rows, context.holdout], ignore_index=True)
        order = np.argsort(row_hashes(rows, list(rows.columns)), kind="stable")
        rows = rows.iloc[order].reset_index(drop=True)
    if not isinstance(space, str):
        space = clone(space)
        if isinstance(space, TablePreprocessor) and space.schema is None:
            space.schema = context.schema  # otherwise, short texts would be inferred as categories
        return space.fit(rows)
    checked: Any = space  # the preprocessor checks it
    return TablePreprocessor(context.schema, space=checked).fit(rows)


@shared
def encoded_matrix(
    context: Context, role: str, space: Any = "gower", columns: ColumnChoice = None
) -> np.ndarray:
    """Return the matrix of a role's rows in a space, shape (n_rows, n_features)."""
    if columns is not None:  # a table is transformed once, however many choices are made of it
        return encoded_matrix(context, role, space)[:, kept_features(context, space, columns)]
    if is_gower(space):
        return gower_matrix(context, context.stored(role))
    return as_matrix(preprocessor(context, space).transform(context[role]), space)


@by_context
def room(context: Context, shape: tuple[int, int]) -> np.ndarray:
    """Return an array of numbers to be filled, a column at a time."""
    return np.empty(shape, order="F")


def gower_matrix(context: Context, rows: Any) -> np.ndarray:
    """Return the matrix of canonical rows in space "gower", read a column at a time."""
    names = encoded_columns(context.schema)
    matrix = room(context, (len(rows), len(names)))
    for j, name in enumerate(names):
        matrix[:, j] = column_numbers(rows, name)
    return matrix


def as_matrix(transformed: Any, space: Any) -> np.ndarray:
    """Return the result of a transformer as a dense float matrix."""
    if issparse(transformed) and 8 * np.prod(transformed.shape, dtype=float) > MAX_BYTES:
        n_rows, n_features = transformed.shape
        raise InvalidParameterError(
            f"space gives {n_features:,} features of {n_rows:,} rows, too many to be dense. Pool "
            "rare categories, for example by OneHotEncoder(max_categories=200), or reduce the "
            "features, for example by TruncatedSVD(100)."
        )
    dense = transformed.toarray() if issparse(transformed) else transformed
    matrix = np.asarray(dense, dtype=np.float64)
    if not is_gower(space) and not np.isfinite(matrix).all():
        raise InvalidParameterError(
            f"space={space!r} returns missing or infinite values. Add an imputer to it."
        )
    return matrix


def kept_features(context: Context, space: Any, columns: ColumnChoice) -> np.ndarray | slice:
    """Return an index of the features of a space's matrix that a choice of columns keeps."""
    if is_gower(space):
        chosen = set(chosen_columns(context.schema, columns))
        kept = np.array([name in chosen for name in encoded_columns(context.schema)])
        return slice(None) if kept.all() else kept
    if columns is not None:
        raise InvalidParameterError(
            "columns can be chosen in space='gower' only. Choose them in your transformer."
        )
    return slice(None)


def encoded_columns(schema: TableSchema) -> list[str]:
    """Return the measured columns in the order of encoded rows of space "gower"."""
    return [*schema.columns(*NUMERIC), *schema.columns(*NOMINAL)]


@shared
def ranges(context: Context, columns: ColumnChoice = None) -> np.ndarray:
    """Return the range of each encoded column over both real tables, or 0 without a value."""
    if columns is not None:
        return ranges(context)[kept_features(context, "gower", columns)]
    roles = [role for role in ("train", "holdout") if role in context]
    tables = [encoded_matrix(context, role) for role in roles]
    widths = np.zeros(tables[0].shape[1])
    for j in range(len(widths)):  # column by column because tables may be larger than memory
        low = np.fmin.reduce([np.fmin.reduce(table[:, j]) for table in tables])
        high = np.fmax.reduce([np.fmax.reduce(table[:, j]) for table in tables])
        widths[j] = 0.0 if np.isnan(low) else high - low
    return widths


def is_gower(space: Any) -> bool:
    """Return whether the space is the default one."""
    return isinstance(space, str) and space == "gower"


def gower_scale(context: Context, columns: ColumnChoice) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of each encoded column over the real tables, and which are nominal."""
    n_numeric, n_nominal = (len(context.schema.columns(*kinds)) for kinds in (NUMERIC, NOMINAL))
    is_nominal = np.repeat([False, True], [n_numeric, n_nominal])
    if columns is not None:
        is_nominal = is_nominal[kept_features(context, "gower", columns)]
    return ranges(context, columns), is_nominal
