"""The steps that metrics share: samples, matrices, cells, neighbours."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import clone

from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.preprocessing import NOMINAL, NUMERIC, Discretizer, TablePreprocessor
from skeval.schema import TableSchema

if TYPE_CHECKING:
    from skeval.stats.neighbors import MixedNearestNeighbors

__all__ = [
    "cells",
    "encoded",
    "histogram",
    "holdout_in_place",
    "nearest",
    "synthetic_sample",
]

ColumnChoice = int | Sequence[str] | None


def sample_positions(n_rows: int, n_drawn: int | None, seed: int) -> np.ndarray:
    """Return `n_drawn` of `n_rows` positions, ascending, none twice; all if there are no more."""
    if n_drawn is None or n_drawn >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, n_drawn, replace=False))


def sampled(frame: pd.DataFrame, n_drawn: int | None, seed: int) -> pd.DataFrame:
    """Return a seeded sample of the rows, in their order."""
    if n_drawn is None or n_drawn >= len(frame):
        return frame
    return frame.iloc[sample_positions(len(frame), n_drawn, seed)].reset_index(drop=True)


@shared
def holdout_in_place(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context in which `n_rows` of the holdout stand in the synthetic place."""
    return context.standing_in(sampled(context.holdout, n_rows, seed))


@shared
def synthetic_sample(context: Context, n_rows: int, seed: int = 0) -> Context:
    """Return a context with `n_rows` of the synthetic rows."""
    return context.standing_in(sampled(context.synthetic, n_rows, seed))


def chosen_columns(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the names that a `columns` parameter chooses among those that can be measured.

    Raises
    ------
    InvalidParameterError
        If a name is not a column, or is one of text or ids.
    """
    measured = schema.measured
    if columns is None or isinstance(columns, int | np.integer):
        return tuple(measured[: None if columns is None else int(columns)])
    if unknown := [name for name in columns if name not in measured]:
        raise InvalidParameterError(
            f"columns names {', '.join(unknown)}, which cannot be measured. "
            f"Columns that can: {', '.join(measured)}."
        )
    return tuple(name for name in measured if name in set(columns))


def column_key(schema: TableSchema, columns: ColumnChoice) -> tuple[str, ...] | None:
    """Return a choice of columns in one form, None for all: equal choices are one memo entry."""
    chosen = chosen_columns(schema, columns)
    return None if len(chosen) == len(schema.measured) else chosen


def nothing_to_measure(context: Context, space: Any) -> bool:
    """Tell whether a space of ours has no column to look at, as in a table of texts only."""
    return isinstance(space, str) and not context.schema.measured


# ---------------------------------------------------------------------------------------- cells


@shared
def cells(
    context: Context,
    n_bins: int = 10,
    strategy: str = "uniform",
    max_categories: int | None = 50,
) -> Discretizer:
    """Return the fitted cells of all measured columns, learnt from train."""
    cutter = Discretizer(n_bins, strategy=strategy, max_categories=max_categories)
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
    found = codes(context, role, n_bins, strategy, max_categories)[:, j]
    n_cells = cells(context, n_bins, strategy, max_categories).n_cells_[j]
    return np.bincount(found, minlength=n_cells)


# ----------------------------------------------------------------------------------- neighbours


@shared
def preprocessor(context: Context, space: Any = "gower") -> Any:
    """Return the fitted transformer of a space; "gower" learns from train and holdout together.

    A common scale matters: ranges taken from each reference table on its own put distances to
    train and to holdout on different scales.
    """
    if not isinstance(space, str):
        return clone(space).fit(context.train)
    real = [context[role] for role in ("train", "holdout") if role in context]
    learnt_from = pd.concat(real, ignore_index=True) if space == "gower" else context.train
    return TablePreprocessor(context.schema, space=space).fit(learnt_from)


@shared
def encoded(
    context: Context, role: str, space: Any = "gower", columns: ColumnChoice = None
) -> np.ndarray:
    """Return the matrix of a role's rows in a space, shape (n_rows, n_features)."""
    matrix = as_matrix(preprocessor(context, space).transform(context[role]), space)
    return matrix[:, kept_features(context, space, columns)]


def as_matrix(transformed: Any, space: Any) -> np.ndarray:
    """Return what a transformer gave as a dense float matrix.

    Raises
    ------
    InvalidParameterError
        If a space other than "gower" leaves missing or infinite values.
    """
    dense = transformed.toarray() if issparse(transformed) else transformed
    matrix = np.asarray(dense, dtype=np.float64)
    if not (isinstance(space, str) and space == "gower") and not np.isfinite(matrix).all():
        raise InvalidParameterError(
            f"space={space!r} leaves missing or infinite values; add an imputer to it."
        )
    return matrix


def kept_features(context: Context, space: Any, columns: ColumnChoice) -> np.ndarray | slice:
    """Return an index of the features of a space's matrix that a choice of columns keeps.

    Raises
    ------
    InvalidParameterError
        If columns are chosen in another space than "gower": which features stem from which column
        is the transformer's affair.
    """
    names = _gower_columns(context.schema)
    if isinstance(space, str) and space == "gower":
        chosen = set(chosen_columns(context.schema, columns))
        return (
            slice(None)
            if len(chosen) == len(names)
            else np.array([name in chosen for name in names])
        )
    if columns is not None:
        raise InvalidParameterError(
            "columns can be chosen in space='gower' only; choose them in your transformer."
        )
    return slice(None)


def _gower_columns(schema: TableSchema) -> list[str]:
    return [*schema.columns(*NUMERIC), *schema.columns(*NOMINAL)]


@shared
def ranges(context: Context, columns: ColumnChoice = None) -> np.ndarray:
    """Return each encoded column's range over train and holdout together; 0 if it has no value."""
    real = np.concatenate(
        [
            encoded(context, role, "gower", columns)
            for role in ("train", "holdout")
            if role in context
        ]
    )
    present = ~np.isnan(real)
    low = np.where(present, real, np.inf).min(axis=0)
    high = np.where(present, real, -np.inf).max(axis=0)
    return np.where(present.any(axis=0), high - low, 0.0)


@dataclass(frozen=True)
class Index:
    """A search structure over rows of one space."""

    rows: np.ndarray
    search: Any
    space: Any

    def kneighbors(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest rows of each query."""
        distances, indices = self.search.kneighbors(queries, k)
        return self._exact(queries, distances, indices)

    def itself(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest other rows of each row."""
        if isinstance(self.space, str) and self.space == "gower":
            own = np.arange(len(self.rows))
            found: tuple[np.ndarray, np.ndarray] = self.search.kneighbors(self.rows, k, exclude=own)
            return found
        distances, indices = self.search.kneighbors(None, k)
        return self._exact(self.rows, distances, indices)

    def _exact(
        self, queries: np.ndarray, distances: np.ndarray, indices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Put copies at exactly 0: scikit-learn expands squares, which leaves them at 1e-7."""
        if isinstance(self.space, str) and self.space == "gower":
            return distances, indices
        near = np.column_stack(
            [
                np.sqrt(((queries - self.rows[indices[:, j]]) ** 2).sum(axis=1))
                for j in range(indices.shape[1])
            ]
        )
        order = np.argsort(near, axis=1, kind="stable")
        return np.take_along_axis(near, order, 1), np.take_along_axis(indices, order, 1)


def index_of(context: Context, rows: np.ndarray, space: Any, columns: ColumnChoice = None) -> Index:
    """Return a search structure over encoded rows, on the common scale of the context."""
    if isinstance(space, str) and space == "gower":
        return Index(rows, gower_engine(context, columns).fit(rows), space)
    from sklearn.neighbors import NearestNeighbors

    return Index(rows, NearestNeighbors().fit(rows), space)


def gower_engine(context: Context, columns: ColumnChoice = None) -> MixedNearestNeighbors:
    """Return the unfitted engine with the context's common scale."""
    from skeval.stats.neighbors import MixedNearestNeighbors

    chosen = set(chosen_columns(context.schema, columns))
    nominal = set(context.schema.columns(*NOMINAL))
    is_nominal = np.array(
        [name in nominal for name in _gower_columns(context.schema) if name in chosen]
    )
    return MixedNearestNeighbors(ranges=ranges(context, columns), categorical=is_nominal)


@shared
def reference_index(
    context: Context,
    reference: str,
    space: Any,
    columns: ColumnChoice,
    n_reference: int | None,
    seed: int,
) -> Index:
    """Return the search structure over a role's rows."""
    return index_of(
        context, rows_of(context, reference, space, columns, n_reference, seed), space, columns
    )


def nearest(
    context: Context,
    query: str,
    reference: str,
    *,
    k: int = 1,
    space: Any = "gower",
    columns: ColumnChoice = None,
    n_query: int | None = None,
    n_reference: int | None = None,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest reference rows of each query row; computed once a context.

    Parameters
    ----------
    context : Context
        The tables.
    query, reference : str
        Roles. Where they are the same, a row is never its own neighbour; a duplicate of it may be.
    k : int, default=1
        Number of neighbours.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences; or Euclidean distance of a matrix.
    columns : int, tuple of str or None
        The columns looked at.
    n_query, n_reference : int, optional
        Sizes of seeded samples to take instead of all rows. Where the roles are the same, both are
        `n_reference`.
    seed : int, default=0
        Of the samples.

    Returns
    -------
    distances : ndarray of shape (n_query, k)
        Ascending.
    indices : ndarray of shape (n_query, k)
        Positions among the reference rows (those sampled); ties go to the lowest.
    """
    # a sample of all rows is no sample: equal requests must be one memo entry
    columns = column_key(context.schema, columns)
    n_query = None if query == reference else _fewer(context, query, n_query)
    n_reference = _fewer(context, reference, n_reference)
    seed = 0 if n_query is None and n_reference is None else seed
    return _nearest(context, query, reference, k, space, columns, n_query, n_reference, seed)


def _fewer(context: Context, role: str, n_drawn: int | None) -> int | None:
    return None if n_drawn is None or n_drawn >= context.n_rows(role) else n_drawn


@shared
def _nearest(
    context: Context,
    query: str,
    reference: str,
    k: int,
    space: Any,
    columns: ColumnChoice,
    n_query: int | None,
    n_reference: int | None,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    index = reference_index(
        context, reference, space, columns, n_reference, seed if n_reference else 0
    )
    if query == reference:
        return index.itself(k)
    return index.kneighbors(rows_of(context, query, space, columns, n_query, seed), k)


def rows_of(
    context: Context, role: str, space: Any, columns: ColumnChoice, n_drawn: int | None, seed: int
) -> np.ndarray:
    """Return the matrix of a seeded sample of a role's rows; of all where there are no more."""
    rows = encoded(context, role, space, columns)
    if n_drawn is None:
        return rows
    # tables may be aligned row by row: each role draws positions of its own
    return rows[sample_positions(len(rows), n_drawn, zlib.crc32(f"{role} {seed}".encode()))]
