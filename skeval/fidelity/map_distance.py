"""Distance between densities on a two-dimensional map. Single rows are never drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import MetricTags
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import expected_total_variation, total_variation
from skeval.stats.maps import (
    cells_on_grid,
    grid_edges,
    permuted_variations,
    pooled_regions,
    pooled_shares,
    weights_by_column,
)
from skeval.stats.pair_sums import permutation_p_value
from skeval.steps.column_choice import ColumnChoice, chosen_columns, column_key, nothing_to_measure
from skeval.steps.vectors import feature_owners, vectors
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, GroupSize, Interval, MatrixSpace, Seed

if TYPE_CHECKING:
    from sklearn.decomposition import PCA

_ROLES = ("train", "holdout", "synthetic")
_MAX_REGIONS = 100  # more regions would increase the random error of the comparison
_MIN_REGIONS = (
    5  # minimum number of regions, because in smaller data single rows determine the edges
)
_HALF = 0.5  # a region is thin if its fraction is less than half the fraction of the other table
_MAX_DENSE = 1500  # maximum number of features for which all directions are computed


@declared
class MapDistance(Metric):
    """Total variation distance between the training and synthetic data on a two-dimensional map.

    The map consists of the two directions in which the training data vary most (PCA). Training and
    synthetic rows are counted in regions of this map, so that kinds of rows that the generator
    misses or invents appear as thin or crowded regions. Only the counts are stored. The display
    draws the densities of all tables next to each other. The value ranges from 0 (equal densities)
    to 1 (no region is shared). Lower is better.

    Parameters
    ----------
    n_cells : {8, 16, 32, 64}, default=32
        Number of cells of the drawn grid in each direction.
    min_count : int, default=10
        Minimum number of rows in a drawn region. Smaller cells are pooled with adjacent cells.
    space : "euclidean" or transformer, default="euclidean"
        Conversion of rows to vectors. "euclidean" uses standardized numbers and one-hot categories.
    columns : None, int or list of str, default=None
        Columns to use (in space "euclidean"). If None, all columns except text and ID columns are
        used.
    n_permutations : int, default=999
        Number of permutations for the p-value. If 0, no p-value is computed.
    max_rows : int or None, default=10_000
        Maximum number of rows per table. If a table has more rows, a random sample is used.
    random_state : int, default=0
        Seed of the samples and permutations.

    Warnings
    --------
    A map contains only two directions. Tables that match on the map may differ in all other
    directions. ``details["axes"]`` contains the fraction of the variance that the map explains.

    See Also
    --------
    PRDCurve : Finds missing and invented kinds of rows in all directions with clusters.
    ClassifierTwoSampleTest : Tests whether any direction separates the tables.
    skeval.plotting.plot_map : The figure of several tables in one call.

    Notes
    -----
    The directions and the grid are computed from the training data only, so that all synthetic
    tables and the holdout are drawn on the same map. The edges of the map are rounded and are
    outside the 1% and 99% quantiles of the training data, which are means of ten rows. Rows outside
    the edges are counted in the outer cells.

    The value is the total variation distance between the fractions of training and synthetic rows
    in at most about 100 regions. Cells with too few training rows are pooled in blocks of two by
    two cells, then four by four, and so on. The value is above 0 even without differences, and
    ``details["by_chance"]`` is its mean over all permutations of the rows of both tables. The
    baseline is the value of the holdout rows. ``details["thinned"]`` is the fraction of training
    rows in regions with less than half of the expected synthetic rows, which indicates missing
    kinds of rows. ``details["crowded"]`` is the fraction of synthetic rows in regions with less
    than half of the expected training rows, which indicates invented kinds of rows.

    The p-value is from a permutation test of the holdout and the synthetic data in the same
    regions, which do not depend on these two tables. It requires a holdout. The interval of the
    value is for the total variation distance between the two populations in these regions, and is
    wide. The interval of the difference from the baseline is computed from halves of both tables.
    Use that interval to compare the tables.

    ``details["maps"]`` contains the fraction of the rows of each table in each cell. Cells with
    fewer than `min_count` rows of a table are pooled as above with cells of the same table. If the
    remaining rows are too few, their cells are nan.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import MapDistance
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> metric = MapDistance().fit(train)
    >>> metric.score(fresh) < 0.2, metric.score(fresh.assign(visits=fresh["visits"] + 9)) > 0.5
    (True, True)
    """

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="DensityMapDisplay"
    )
    _parts = ("by_chance", "thinned", "crowded")
    _halved = True  # intervals: skeval/core/intervals.py

    _: KW_ONLY
    n_cells: Literal[8, 16, 32, 64] = 32
    min_count: GroupSize = 10
    space: MatrixSpace = "euclidean"
    columns: Columns = None
    n_permutations: Annotated[int, Interval(0)] = 999
    max_rows: Annotated[int, Interval(20)] | None = 10_000
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined_result("no column of this table can be measured.")
        min_rows = _MIN_REGIONS * self.min_count
        if context.n_rows("train") < min_rows:
            return undefined_result(f"a map requires at least {min_rows} training rows.")
        train, synthetic = (self._counts(context, role) for role in ("train", "synthetic"))
        regions = regions_of(train, self.min_count)
        counted = by_region(regions, train), by_region(regions, synthetic)
        value = total_variation(*counted)
        details = {
            "by_chance": expected_total_variation(*counted),
            **uneven(*counted),
            "n_regions": counted[0].size,
            "n_rows": {"train": int(train.sum()), "synthetic": int(synthetic.sum())},
        }
        return Result(value, details=details)

    def _value_alone(self, context: Context) -> float:
        train, synthetic = (self._counts(context, role) for role in ("train", "synthetic"))
        regions = regions_of(train, self.min_count)
        return total_variation(by_region(regions, train), by_region(regions, synthetic))

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if math.isnan(result.value):
            return result
        counts = {role: self._counts(context, role) for role in _ROLES if role in context}
        on_train = basis(context, *self._settings(context))
        details = {
            **result.details,
            "axes": [dict(axis) for axis in on_train.axes],
            "edges": dict(zip("xy", on_train.edges, strict=True)),
            "min_count": self.min_count,
            "maps": {role: pooled_shares(of, self.min_count) for role, of in counts.items()},
        }
        return replace(result, details=details, p_value=self._p_value(counts))

    def _p_value(self, counts: Mapping[str, np.ndarray]) -> float | None:
        if "holdout" not in counts or not self.n_permutations:
            return None
        regions = regions_of(counts["train"], self.min_count)
        pair = by_region(regions, counts["holdout"]), by_region(regions, counts["synthetic"])
        permuted = permuted_variations(*pair, self.n_permutations, self.random_state)
        return permutation_p_value(np.concatenate([[total_variation(*pair)], permuted]))

    def _counts(self, context: Context, role: str) -> np.ndarray:
        return map_counts(context, role, *self._settings(context))

    def _settings(self, context: Context) -> tuple[Any, ...]:
        columns = column_key(context.schema, self.columns)
        sample = self.max_rows, self.random_state
        return self.n_cells, self.space, columns, *sample

    def _summary(self, result: Result) -> str:
        parts = {name: percent(result.details[name]) for name in self._parts}
        return (
            f"{percent(result.value)} of the rows are in the wrong region of the map "
            f"({parts['by_chance']} expected by chance). {parts['thinned']} of the training rows "
            f"are in regions with too few synthetic rows, and {parts['crowded']} of the synthetic "
            "rows are in regions with too few training rows."
        )


@dataclass(frozen=True, repr=False)
class Basis:
    """Two directions of the training rows, and a grid for the positions of all rows."""

    directions: PCA
    edges: tuple[np.ndarray, np.ndarray]
    axes: tuple[Mapping[str, Any], ...]


@shared
def basis(
    context: Context,
    n_cells: int,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> Basis:
    """Return the directions and the grid, which depend on the training rows only."""
    from sklearn.decomposition import PCA

    rows = vectors(context, "train", space, columns, max_rows, seed)
    n_components = min(2, *rows.shape)
    dense = rows.shape[1] <= _MAX_DENSE or n_components == min(rows.shape)
    solver = "covariance_eigh" if dense else "arpack"
    directions = PCA(n_components, svd_solver=solver, random_state=seed).fit(rows)
    x, y = places_on(directions, rows).T
    owners: list[str] = []  # the columns of the features, which are unknown for a transformer
    if isinstance(space, str):
        chosen = set(chosen_columns(context.schema, columns))
        owners = sorted(name for name in feature_owners(context) if name in chosen)
    axes = tuple(
        {
            "variance": round(float(share), 4),
            "columns": weights_by_column(direction, owners) if owners else {},
        }
        for share, direction in zip(
            np.nan_to_num(directions.explained_variance_ratio_), directions.components_, strict=True
        )
    )
    return Basis(directions, (grid_edges(x, n_cells), grid_edges(y, n_cells)), axes)


def places_on(directions: PCA, rows: np.ndarray) -> np.ndarray:
    """Return both coordinates of rows. If there is a single direction, the second one is 0."""
    places = np.asarray(directions.transform(rows), dtype=np.float64)
    if places.shape[1] < 2:
        places = np.column_stack([places[:, 0], np.zeros(len(places))])
    # rounding, so that the order of a summation does not move a row to the next cell
    return np.round(places, 8) + 0.0


@shared
def map_counts(
    context: Context,
    role: str,
    n_cells: int,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> np.ndarray:
    """Return the number of rows of a role in each cell, as an (n_cells, n_cells) array."""
    on_train = basis(context, n_cells, space, columns, max_rows, seed)
    rows = vectors(context, role, space, columns, max_rows, seed)
    cells = cells_on_grid(places_on(on_train.directions, rows), on_train.edges)
    return np.bincount(cells, minlength=n_cells**2).reshape(n_cells, n_cells)


def regions_of(train: np.ndarray, min_count: int) -> np.ndarray:
    """Return the region of each cell. Cells are pooled to about 100 regions."""
    fewest = max(min_count, math.ceil(train.sum() / _MAX_REGIONS))
    return pooled_regions(train, fewest)


def by_region(regions: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the number of rows in each region. The last number counts rows without a region."""
    n_regions = int(regions.max()) + 1
    named = np.where(regions < 0, n_regions, regions).ravel()
    return np.bincount(named, weights=counts.ravel(), minlength=n_regions + 1).astype(np.int64)


def uneven(train: np.ndarray, synthetic: np.ndarray) -> dict[str, float]:
    """Return the fraction of each table in regions with less than half of the other fraction."""
    p, q = train / train.sum(), synthetic / synthetic.sum()
    return {"thinned": float(p[q < _HALF * p].sum()), "crowded": float(q[p < _HALF * q].sum())}
