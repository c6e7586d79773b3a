"""Rows as matrices of a space, nearest neighbours of tables, and the pool of real rows.

Rows with the categories that were given, as fitted transformers of the user's know them.

Accumulated minimum distances: how far apart the nearest rows of two tables lie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from scipy.stats import norm
from sklearn.base import clone

from skeval.core.context import Context, by_context, shared
from skeval.exceptions import InvalidParameterError
from skeval.stats.intervals import clopper_pearson
from skeval.steps.samples import (
    ColumnChoice,
    chosen_columns,
    column_key,
    drawn_positions,
    named_seed,
    pooled_order,
)
from skeval.tables.frames import column_values
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.row_hashes import row_hashes
from skeval.tables.schema import TableSchema
from skeval.utils.engines import LocalEngine, current_engine
from skeval.utils.parameters import Interval

if TYPE_CHECKING:
    from skeval.neighbors.mixed import MixedNearestNeighbors


Cells = Mapping[str | None, Any]  # what was given, by label; None is a missing one


@dataclass(frozen=True)
class AsGiven:
    """A fitted transformer, which canonical rows reach with categories as they were given."""

    transformer: Any
    cells: Mapping[str, Cells]

    def transform(self, rows: pd.DataFrame) -> Any:
        """Return what the transformer makes of canonical rows."""
        rows = rows.copy(deep=False)
        for name, cells in self.cells.items():
            labels = rows[name].astype(object).where(rows[name].notna(), None)
            given = [cells.get(label, label) for label in labels]
            rows[name] = pd.Series(given, index=rows.index, dtype=object).infer_objects()
        return self.transformer.transform(rows)


@shared
def cells_as_given(context: Context) -> dict[str, Cells]:
    """Return what labels of categories were in the real tables, where they were no strings."""
    found: dict[str, Cells] = {}
    for name in context.schema.columns(*NOMINAL):
        cells: dict[str | None, Any] = {}
        for role in ("holdout", "train"):
            if role in context:
                labels, given = context[role][name], context.given(role)[name]
                first = (~labels.duplicated()).to_numpy()
                for label, cell in zip(labels[first], given[first], strict=True):
                    cells[None if pd.isna(label) else label] = cell
        if any(label is not None and not isinstance(cell, str) for label, cell in cells.items()):
            found[name] = cells
    return found


MANY = 50_000  # reference rows: a search among fewer is over before it could start elsewhere
MAX_BYTES = 2**32  # of a sparse matrix made dense
MAX_LENGTH = 16  # real rows kept a list: 16 nearest rows hardly ever all have one label


@dataclass(frozen=True, repr=False)
class OfTrain:
    """A space that learns from train alone: synthetic and holdout rows are alike to it."""

    # This is for metrics of fidelity whose vectors are those of "euclidean" or of a
    # transformer: a value must not depend on whether a holdout is given, and tests exchange
    # its rows with synthetic ones.

    space: Any

    def __repr__(self) -> str:
        return repr(self.space)


@shared
def preprocessor(context: Context, space: Any = "gower") -> Any:
    """Return the fitted transformer of a space, which learns from train and holdout together."""
    # One of OfTrain learns from train alone; one that is fitted stays as it is. A common
    # scale matters: levels and ranges taken from train alone put distances to train and to
    # the holdout on different scales. Rows are learned in an order that goes by what they
    # hold, whichever table they are of.
    # takes long, and most metrics look at distances that need none
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
            space.schema = context.schema  # else short texts would be inferred as categories
        return space.fit(rows)
    checked: Any = space  # by the preprocessor
    return TablePreprocessor(context.schema, space=checked).fit(rows)


@shared
def encoded(
    context: Context, role: str, space: Any = "gower", columns: ColumnChoice = None
) -> np.ndarray:
    """Return the matrix of a role's rows in a space, shape (n_rows, n_features)."""
    if columns is not None:  # a table is transformed once, however many choices are made of it
        return encoded(context, role, space)[:, kept_features(context, space, columns)]
    if is_gower(space):
        return gower_matrix(context, context[role])
    return as_matrix(preprocessor(context, space).transform(context[role]), space)


@by_context
def room(context: Context, shape: tuple[int, int]) -> np.ndarray:
    """Return an array of numbers to be filled, a column at a time."""
    return np.empty(shape, order="F")


def gower_matrix(context: Context, rows: pd.DataFrame) -> np.ndarray:
    """Return the matrix of canonical rows in space "gower", read a column at a time."""
    names = encoded_columns(context.schema)
    matrix = room(context, (len(rows), len(names)))
    for j, name in enumerate(names):
        matrix[:, j] = column_values(rows[name])
    return matrix


def as_matrix(transformed: Any, space: Any) -> np.ndarray:
    """Return what a transformer gave as a dense float matrix."""
    if issparse(transformed) and 8 * np.prod(transformed.shape, dtype=float) > MAX_BYTES:
        n_rows, n_features = transformed.shape
        raise InvalidParameterError(
            f"space gives {n_features:,} features of {n_rows:,} rows, too many to be dense. Pool "
            "rare levels, such as by OneHotEncoder(max_categories=200), or reduce the features, "
            "such as by TruncatedSVD(100)."
        )
    dense = transformed.toarray() if issparse(transformed) else transformed
    matrix = np.asarray(dense, dtype=np.float64)
    if not is_gower(space) and not np.isfinite(matrix).all():
        raise InvalidParameterError(
            f"space={space!r} leaves missing or infinite values; add an imputer to it."
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
            "columns can be chosen in space='gower' only; choose them in your transformer."
        )
    return slice(None)


def encoded_columns(schema: TableSchema) -> list[str]:
    """Return the measured columns in the order of encoded rows of space "gower"."""
    return [*schema.columns(*NUMERIC), *schema.columns(*NOMINAL)]


@shared
def ranges(context: Context, columns: ColumnChoice = None) -> np.ndarray:
    """Return each encoded column's range over train and holdout together; 0 if it has no value."""
    if columns is not None:
        return ranges(context)[kept_features(context, "gower", columns)]
    roles = [role for role in ("train", "holdout") if role in context]
    tables = [encoded(context, role) for role in roles]
    widths = np.zeros(tables[0].shape[1])
    for j in range(len(widths)):  # a column at a time: tables may be larger than memory
        low = np.fmin.reduce([np.fmin.reduce(table[:, j]) for table in tables])
        high = np.fmax.reduce([np.fmax.reduce(table[:, j]) for table in tables])
        widths[j] = 0.0 if np.isnan(low) else high - low
    return widths


@dataclass(frozen=True)
class Index:
    """A search structure over rows of one space."""

    rows: np.ndarray
    search: Any
    space: Any
    order: np.ndarray | None = None

    def kneighbors(
        self, queries: np.ndarray, k: int, radius: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest rows of each query.

        With a radius for each query, what lies beyond it is infinitely far, at position -1.
        """
        return self._search(queries, k, radius, None)

    def itself(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and positions of the k nearest other rows of each row."""
        return self._search(self.rows, k, None, np.arange(len(self.rows)))

    def others(
        self, positions: np.ndarray, k: int, radius: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k nearest other rows of some of the rows, within the radius of each."""
        return self._search(self.rows[positions], k, radius, positions)

    def nearest_labels(
        self, queries: np.ndarray, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the share of the queries that each row is the nearest of, ties divided evenly.

        Then by query the share of its nearest rows that have a label.
        """
        if self.order is None:
            masses, labelled = self.search.nearest_labels(queries, labels)
            return masses, labelled
        masses, labelled = self.search.nearest_labels(queries, labels[self.order])
        return masses[np.argsort(self.order)], labelled

    def _search(
        self, queries: np.ndarray, k: int, radius: np.ndarray | None, own: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        if own is not None and self.order is not None:
            own = np.argsort(self.order)[own]
        if is_gower(self.space):
            distances, places = self.search.kneighbors(queries, k, exclude=own, radius=radius)
        else:
            distances, places = self._euclidean(queries, k, own)
            if radius is not None:
                beyond = distances > radius[:, None]
                distances = np.where(beyond, np.inf, distances)
                places = np.where(beyond, -1, places)
        if self.order is not None:
            places = np.where(places < 0, -1, self.order[places])
        return distances, places

    def _euclidean(
        self, queries: np.ndarray, k: int, own: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Put copies at exactly 0: scikit-learn expands squares, which leaves them at 1e-7."""
        n_nearest = min(k + (own is not None), len(self.rows))
        places = self.search.kneighbors(queries, n_nearest, return_distance=False)
        rows = self.rows if self.order is None else self.rows[self.order]
        columns = [((queries - rows[at]) ** 2).sum(axis=1) for at in places.T]
        distances = np.sqrt(np.column_stack(columns))
        order = np.argsort(distances, axis=1, kind="stable")
        distances, places = (np.take_along_axis(a, order, 1) for a in (distances, places))
        if own is None:
            return distances, places
        is_own = places == own[:, None]
        is_own[~is_own.any(axis=1), -1] = True  # more duplicates than neighbours asked for
        shape = (len(queries), n_nearest - 1)
        return distances[~is_own].reshape(shape), places[~is_own].reshape(shape)


def is_gower(space: Any) -> bool:
    """Return whether the space is the default one."""
    return isinstance(space, str) and space == "gower"


def index_of(
    context: Context,
    rows: np.ndarray,
    space: Any,
    columns: ColumnChoice = None,
    order: np.ndarray | None = None,
) -> Index:
    """Return a search structure over encoded rows, on the common scale of the context."""
    from sklearn.neighbors import NearestNeighbors

    search = gower_engine(context, columns, rows) if is_gower(space) else NearestNeighbors()
    return Index(
        rows, search.fit(rows if order is None else _taken(context, [rows], order)), space, order
    )


@by_context
def gower_engine(
    context: Context, columns: ColumnChoice = None, rows: np.ndarray | None = None
) -> MixedNearestNeighbors:
    """Return the unfitted engine with the context's common scale, for a search among `rows`."""
    scale = gower_scale(context, columns)
    if rows is not None and len(rows) >= MANY:
        engine = current_engine()
        if not isinstance(engine, LocalEngine):
            # skeval.scale overrides steps, so it imports this module
            from skeval.scale.steps import search_in_parts

            return cast("MixedNearestNeighbors", search_in_parts(*scale))
    from skeval.neighbors.mixed import MixedNearestNeighbors

    return MixedNearestNeighbors(*scale)


def gower_scale(context: Context, columns: ColumnChoice) -> tuple[np.ndarray, np.ndarray]:
    """Return the range of each encoded column over the real tables, and which are nominal."""
    n_numeric, n_nominal = (len(context.schema.columns(*kinds)) for kinds in (NUMERIC, NOMINAL))
    is_nominal = np.repeat([False, True], [n_numeric, n_nominal])
    if columns is not None:
        is_nominal = is_nominal[kept_features(context, "gower", columns)]
    return ranges(context, columns), is_nominal


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
    rows = rows_of(context, reference, space, columns, n_reference, seed)
    return index_of(context, rows, space, columns)


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
    """Return the k nearest reference rows of each query row; computed once a context."""
    # a sample of all rows is no sample: equal requests must be one memo entry
    columns = column_key(context.schema, columns)
    n_query = None if query == reference else _fewer(context, query, n_query)
    n_reference = _fewer(context, reference, n_reference)
    seed = 0 if n_query is None and n_reference is None else seed
    # the second neighbour costs a fifth more, a second pass would cost as much again
    n_rows = context.n_rows(reference) if n_reference is None else n_reference
    k_nearest = max(k, 2) if n_rows - (query == reference) >= 2 else k
    samples = (n_query, n_reference, seed)
    distances, indices = _nearest(context, query, reference, k_nearest, space, columns, *samples)
    return distances[:, :k], indices[:, :k]


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
    seed_of_index = seed if n_reference else 0
    index = reference_index(context, reference, space, columns, n_reference, seed_of_index)
    if query == reference:
        return index.itself(k)
    return index.kneighbors(rows_of(context, query, space, columns, n_query, seed), k)


def rows_of(
    context: Context, role: str, space: Any, columns: ColumnChoice, n_drawn: int | None, seed: int
) -> np.ndarray:
    """Return the matrix of a seeded sample of a role's rows; of all where there are no more.

    All rows of None stand as they are given, those of a sample by what they hold.
    """
    rows = encoded(context, role, space, columns)
    if n_drawn is None:
        return rows
    # tables may be aligned row by row: each role draws positions of its own
    return rows[drawn_positions(context, role, n_drawn, named_seed(role, seed))]


@shared
def pool_index(
    context: Context,
    space: Any,
    columns: ColumnChoice = None,
    n_rows: int | None = None,
    seed: int = 0,
) -> Index:
    """Get the search structure over the rows of train, then of the holdout; or samples of them."""
    # It has them in random order: which of equally near rows are found must not depend on
    # labels, or a list that is cut would hold train rows alone.
    real = [rows_of(context, role, space, columns, n_rows, seed) for role in ("train", "holdout")]
    rows = _taken(context, real)
    order = pooled_order(context) if n_rows is None else np.arange(len(rows))
    return index_of(context, rows, space, columns, np.random.default_rng(0).permutation(order))


def _taken(
    context: Context, tables: list[np.ndarray], order: np.ndarray | None = None
) -> np.ndarray:
    """Return the rows of tables, one table after the other or in another order."""
    n_rows = sum(len(table) for table in tables)
    rows = room(context, (n_rows, tables[0].shape[1]))
    for j in range(rows.shape[1]):  # a column at a time: not all of them need fit in memory
        column = np.concatenate([table[:, j] for table in tables])
        rows[:, j] = column if order is None else column[order]
    return rows


@shared
def pooled_masses(
    context: Context, n_rows: int | None, columns: ColumnChoice, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return which share of the synthetic rows each real row is the nearest of, train first."""
    # Then for each synthetic row the share of train rows among its nearest real ones: 1 where
    # it is closer to train, 0 where it is closer to the holdout.
    #
    # Ties are divided evenly over all nearest rows of the pooled tables: then, and only then,
    # train has the share n_T / (n_T + n_H) on average over relabellings, with a variance in
    # closed form.
    queries = rows_of(context, "synthetic", "gower", columns, n_rows, seed)
    pool = pool_index(context, "gower", columns, n_rows, 0 if n_rows is None else seed)
    n_train = min(context.n_rows("train"), n_rows or len(pool.rows))
    return pool.nearest_labels(queries, np.arange(len(pool.rows)) < n_train)


MAX_FEW_ROWS = 10  # rows too few for a normal approximation, or to show without showing one of them
_N_LEVELS = 100
_COARSE = 10  # levels at which it is shown that there is no row
_LARGEST_THRESHOLD = 0.999  # of those found: at 1 there is nothing to the right


def _are_thresholds(value: object) -> bool:
    if isinstance(value, str):
        return value == "loo-median"
    given = value if isinstance(value, list | tuple) else [value]
    return len(given) > 0 and all(map(Interval(0, 1, "neither").accepts, given))


@shared
def loo_median(context: Context, space: Any, columns: Any) -> float:
    """Return the median distance of a train row to its nearest other train row."""
    distances, _ = nearest(context, "train", "train", space=space, columns=columns)
    return float(np.median(distances))


def areas(
    distances: Mapping[str, np.ndarray], largest: float, thresholds: np.ndarray
) -> dict[str, np.ndarray]:
    """Return both areas of each direction at each threshold, shape (n_directions, n_thresholds)."""
    scaled = [scaled_distances(d, largest) for d in distances.values()]
    return {
        area: np.array([[terms(x, t).mean() for t in thresholds] for x in scaled])
        for area, terms in TERMS.items()
    }


def scaled_distances(distances: np.ndarray, largest: float) -> np.ndarray:
    """Return distances in units of the largest one, at most 1."""
    if largest > 0:
        return np.minimum(1.0, distances / largest)
    return (distances > 0).astype(float)


def privacy_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return each row's part of the area left of the threshold: 1 at distance 0, 0 beyond it."""
    # Their mean is `1 / t` times the integral of F from 0 to t, F(u) the share of distances
    # at most u, exactly.
    return np.maximum(0.0, threshold - distances) / threshold


def resemblance_terms(distances: np.ndarray, threshold: float) -> np.ndarray:
    """Return each row's part of the area right of the threshold: 1 within it, 0 at distance 1."""
    # Their mean is `1 / (1 - t)` times the integral of F from t to 1, exactly.
    return (1.0 - np.maximum(distances, threshold)) / (1.0 - threshold)


def removed_terms(terms: np.ndarray) -> np.ndarray:
    """Return by how much the mean of some terms changes where each of them is left out."""
    return (terms.mean() - terms) / max(1, terms.size - 1)


def moved_terms(
    first: np.ndarray, second: np.ndarray, nearest: np.ndarray, n_reference: int
) -> np.ndarray:
    """Return by how much the mean of some terms changes where each reference row is left out."""
    return np.bincount(nearest, weights=second - first, minlength=n_reference) / first.size


def jackknife_error(changes: np.ndarray) -> float:
    """Return the standard error of a statistic from its changes where each row is left out."""
    n = changes.size
    return float(np.sqrt((n - 1) / n * ((changes - changes.mean()) ** 2).sum()))


def area_interval(
    parts: Sequence[np.ndarray], standard_error: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Return an interval of the mean of areas."""
    value = float(np.mean([terms.mean() for terms in parts]))
    half = float(norm.ppf((1.0 + confidence) / 2.0)) * standard_error
    high = max(value + half, _furthest(parts, confidence))
    low = min(value - half, 1.0 - _furthest([1.0 - terms for terms in parts], confidence))
    return max(0.0, low), min(1.0, high)


def _furthest(parts: Sequence[np.ndarray], confidence: float) -> float:
    """Return how large the mean could be where few terms are above 0; 0 where many are."""
    counts = [int((terms > 0).sum()) for terms in parts]
    if min(counts) >= MAX_FEW_ROWS:
        return 0.0
    shares = [clopper_pearson(k, t.size, confidence)[1] for k, t in zip(counts, parts, strict=True)]
    return float(np.mean([s * (t.max() or 1.0) for s, t in zip(shares, parts, strict=True)]))


def accumulation_curve(
    distances: Mapping[str, np.ndarray], largest: float = 1.0
) -> dict[str, np.ndarray]:
    """Return the share of rows within each distance, where that shows no single row."""
    parts = [scaled_distances(d, largest) for d in distances.values()]
    sizes = np.array([part.size for part in parts])
    if sizes.min() < MAX_FEW_ROWS:
        return {}
    u = (np.arange(_N_LEVELS + 1) / _N_LEVELS) ** 2
    counts = np.array([np.searchsorted(np.sort(d), u, side="right") for d in parts])
    kept: list[int] = []
    last = np.zeros_like(sizes)
    for k, within in enumerate(counts.T):
        if _enough_rows(within - last, k) and _enough_rows(sizes - within, k):
            kept.append(k)
            last = within
    shares = (counts[:, kept] / sizes[:, None]).mean(axis=0)
    return {"u": np.concatenate([[0.0], u[kept]]), "share": np.concatenate([[0.0], shares])}


def _enough_rows(n_rows: np.ndarray, level: int) -> bool:
    may_be_none = level % _COARSE == 0
    return bool(((n_rows >= MAX_FEW_ROWS) | ((n_rows == 0) & may_be_none)).all())


TERMS = {"privacy_area": privacy_terms, "resemblance": resemblance_terms}
