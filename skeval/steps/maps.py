"""Maps of rows: a basis of two directions that is learned from train, and cells on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from skeval.core.context import Context, shared
from skeval.exceptions import needed
from skeval.stats.maps import cells_on_grid, grid_edges, weights_by_column
from skeval.steps.manifolds import drawn, feature_owners, vectors
from skeval.steps.samples import ColumnChoice, chosen_columns

Projection = Literal["pca", "umap"]
_DENSE = 1500  # features up to which all directions are computed; beyond, the first two alone
_MOST_LEARNED = 5000  # rows that UMAP learns from


@dataclass(frozen=True, repr=False)
class Basis:
    """Two directions of train on which the rows of any table have a place.

    Attributes
    ----------
    projection : object
        With ``transform(rows)``.
    edges : pair of ndarray of shape (n_cells + 1,)
        The edges of the grid along both directions.
    n_learned : int
        How many rows of train, the first ones, a basis was learned from that makes places of its
        own for them, so that they are not drawn; 0 where that makes no difference.
    axes : tuple of mapping
        The share of the variance that each direction has, and the shares of columns in it.
    """

    projection: Any
    edges: tuple[np.ndarray, np.ndarray]
    n_learned: int = 0
    axes: tuple[Mapping[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"Basis({type(self.projection).__name__})"  # no row is in a log

    def places(self, rows: np.ndarray) -> np.ndarray:
        """Return both coordinates of rows; the second is 0 where there is one direction."""
        with threadpool_limits(1):  # threads would change the last bits
            places = np.asarray(self.projection.transform(rows), dtype=np.float64)
        if places.shape[1] < 2:
            places = np.column_stack([places[:, 0], np.zeros(len(places))])
        # the order in which a sum is taken shall not move a row to the next cell
        return np.round(places, 8) + 0.0


@shared
def basis(
    context: Context,
    method: Projection,
    n_cells: int,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> Basis:
    """Return the directions that train's rows have; no other table decides them."""
    rows = vectors(context, "train", space, columns, max_rows, seed)
    learn = _principal if method == "pca" else _neighbourly
    learned = learn(rows, seed)
    places = learned.places(rows[learned.n_learned :])
    edges = grid_edges(places[:, 0], n_cells), grid_edges(places[:, 1], n_cells)
    axes: tuple[Mapping[str, Any], ...] = ()
    if method == "pca":
        axes = _axes(learned.projection, _owners(context, space, columns))
    return Basis(learned.projection, edges, learned.n_learned, axes)


def _principal(rows: np.ndarray, seed: int) -> Basis:
    from sklearn.decomposition import PCA

    n_components = min(2, *rows.shape)
    dense = rows.shape[1] <= _DENSE or n_components == min(rows.shape)
    solver = "covariance_eigh" if dense else "arpack"
    with threadpool_limits(1):
        fitted = PCA(n_components, svd_solver=solver, random_state=seed).fit(rows)
    return Basis(fitted, (np.empty(0), np.empty(0)))


def _neighbourly(rows: np.ndarray, seed: int) -> Basis:
    umap = needed('method="umap"', "umap", 'pip install "skeval[umap]"')
    # rows that a map was made of lie on it where they were put, all others where their neighbours
    # are: both halves of train would differ, and so would train and the holdout
    n_learned = min(len(rows) // 2, _MOST_LEARNED)
    fitted = umap.UMAP(
        n_neighbors=min(15, n_learned - 1), random_state=seed, transform_seed=seed, n_jobs=1
    ).fit(rows[:n_learned])
    return Basis(fitted, (np.empty(0), np.empty(0)), n_learned)


def _axes(fitted: Any, owners: list[str]) -> tuple[Mapping[str, Any], ...]:
    variances = np.nan_to_num(fitted.explained_variance_ratio_)
    return tuple(
        {
            "variance": round(float(share), 4),
            "columns": weights_by_column(direction, owners) if owners else {},
        }
        for share, direction in zip(variances, fitted.components_, strict=True)
    )


def _owners(context: Context, space: Any, columns: ColumnChoice) -> list[str]:
    """Return the column of each feature, by their names; none are known of a transformer."""
    if not isinstance(space, str):
        return []
    chosen = set(chosen_columns(context.schema, columns))
    return sorted(name for name in feature_owners(context) if name in chosen)


@shared
def map_cells(
    context: Context,
    role: str,
    method: Projection,
    n_cells: int,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return the cell of each row of a role that is laid out."""
    settings = method, n_cells, space, columns, max_rows, seed
    # asking for the role notes that it was read, from whichever context the cells come
    if role in context and role == "synthetic" and role in context.taken:
        source, of, positions = context.taken[role]
        # UMAP takes seconds a table: halves of one are read off the whole
        same = source.real is context.real  # otherwise the map was learned from other rows
        if same and of != "train" and drawn(source, of, max_rows) is None:
            return map_cells(source, of, *settings)[positions]
    of_train = basis(context, *settings)
    rows = vectors(context, role, space, columns, max_rows, seed)
    rows = rows[of_train.n_learned :] if role == "train" else rows
    return cells_on_grid(of_train.places(rows), of_train.edges)


def map_counts(
    context: Context,
    role: str,
    method: Projection,
    n_cells: int,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return the number of rows of a role in each cell, shape (n_cells, n_cells), upwards."""
    cells = map_cells(context, role, method, n_cells, space, columns, max_rows, seed)
    return np.bincount(cells, minlength=n_cells**2).reshape(n_cells, n_cells)
