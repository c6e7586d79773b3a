"""How far train and synthetic rows lie apart on a map: densities on a grid, no row is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

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
_MAX_REGIONS = 100  # of train, on which tables are compared: more cells are more noise
_MIN_REGIONS = (
    5  # regions that train has rows for: with fewer rows, single ones would decide the edges
)
_HALF = 0.5  # of the share of the other table, below which a region is thin
_MAX_DENSE = 1500  # features for which all directions are computed; of more, only the first two


@declared
class MapDistance(Metric):
    """Share of rows in the wrong place of a map: 0 where densities agree, 1 if no region is shared.

    An analyst lays train rows out on a plane, by the two directions in which they vary most, and
    puts the synthetic rows on the same plane: kinds of rows that were lost or invented are seen as
    places that are empty or full. Here rows are counted in regions of that plane, and only counts
    are kept. The display draws the densities of all tables next to each other.

    Parameters
    ----------
    n_cells : {8, 16, 32, 64}, default=32
        Cells of the drawn grid along each direction.
    min_count : int, default=10
        The fewest rows of a drawn region. Cells with fewer are pooled with those around them.
    space : "euclidean" or transformer, default="euclidean"
        How rows become vectors: standardised numbers and one-hot categories.
    columns : None, int or list of str, default=None
        The columns to look at (in space "euclidean"); None for all but text and ids.
    n_permutations : int, default=999
        Number of permutations for the p-value; 0 for none.
    max_rows : int or None, default=10_000
        Rows of each table that are laid out, a seeded sample.
    random_state : int, default=0
        Seed of samples and permutations.

    Warnings
    --------
    Two directions are not all: tables that agree on the map may differ in every other direction.
    ``details["axes"]`` has the share of the variance that is seen.

    See Also
    --------
    PRDCurve : Lost and invented kinds of rows in all directions, by clusters.
    ClassifierTwoSampleTest : Whether any direction separates the tables.
    skeval.plotting.plot_map : The figure of several tables in one call.

    Notes
    -----
    The basis and the grid come from train alone, so that all synthetic tables, and the holdout, are
    drawn on the same map. Its edges lie beyond the 1% and 99% quantiles of train, which are means
    of ten rows and rounded; what lies farther out is counted in the outer cells.

    The value is the total variation of the shares of train and of synthetic rows over at most about
    100 regions. Cells with too few train rows are pooled in blocks of two by two, then four by
    four, and on. Chance alone makes it larger than 0; ``details["by_chance"]`` is the mean over all
    relabellings of the two tables' rows. The baseline is the value of holdout rows.
    ``details["thinned"]`` is the share of train rows in regions with less than half as many
    synthetic rows as there should be, ``details["crowded"]`` the share of synthetic rows in regions
    with less than half as many train rows: kinds of rows that were lost, and invented.

    The p-value is that of a permutation test of the holdout against the synthetic table over the
    same regions; neither table decided where these are. It needs a holdout. The interval of the
    value holds the total variation of the two populations over the regions, and is wide; that of
    the difference to the baseline is from halves of both tables, and is what tells them apart.

    ``details["maps"]`` has the share of the rows of each table by cell. In each table, cells with
    less than `min_count` rows are pooled as above with rows of that table alone, and what is left
    of all is nan.

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
    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

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
            return undefined_result(f"a map needs {min_rows} train rows at least.")
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
            f"{percent(result.value)} of the rows lie in the wrong place of the map; by chance it "
            f"would be {parts['by_chance']}. {parts['thinned']} of the train rows lie where "
            f"synthetic rows are rare, {parts['crowded']} of the synthetic rows where train rows "
            "are rare."
        )


@dataclass(frozen=True, repr=False)
class Basis:
    """Two directions of the training rows, and a grid on which any row has a place."""

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
    """Return the directions and the grid of the training rows; no other table decides them."""
    from sklearn.decomposition import PCA

    rows = vectors(context, "train", space, columns, max_rows, seed)
    n_components = min(2, *rows.shape)
    dense = rows.shape[1] <= _MAX_DENSE or n_components == min(rows.shape)
    solver = "covariance_eigh" if dense else "arpack"
    with threadpool_limits(1):
        directions = PCA(n_components, svd_solver=solver, random_state=seed).fit(rows)
    x, y = places_on(directions, rows).T
    owners: list[str] = []  # the columns of the features; a transformer does not name them
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
    """Return both coordinates of rows; the second one is 0 if there is one direction."""
    with threadpool_limits(1):  # threads would change the last bits
        places = np.asarray(directions.transform(rows), dtype=np.float64)
    if places.shape[1] < 2:
        places = np.column_stack([places[:, 0], np.zeros(len(places))])
    # the order in which a sum is computed shall not move a row to the next cell
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
    """Return the number of rows of a role in each cell, shape (n_cells, n_cells), upwards."""
    on_train = basis(context, n_cells, space, columns, max_rows, seed)
    rows = vectors(context, role, space, columns, max_rows, seed)
    cells = cells_on_grid(places_on(on_train.directions, rows), on_train.edges)
    return np.bincount(cells, minlength=n_cells**2).reshape(n_cells, n_cells)


def regions_of(train: np.ndarray, min_count: int) -> np.ndarray:
    """Return the region of each cell, pooled until about 100 regions hold all train rows."""
    fewest = max(min_count, math.ceil(train.sum() / _MAX_REGIONS))
    return pooled_regions(train, fewest)


def by_region(regions: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the number of rows in each region, and last those in cells without a region."""
    n_regions = int(regions.max()) + 1
    named = np.where(regions < 0, n_regions, regions).ravel()
    return np.bincount(named, weights=counts.ravel(), minlength=n_regions + 1).astype(np.int64)


def uneven(train: np.ndarray, synthetic: np.ndarray) -> dict[str, float]:
    """Return the share of each table's rows in regions where the other has less than half of it."""
    p, q = train / train.sum(), synthetic / synthetic.sum()
    return {"thinned": float(p[q < _HALF * p].sum()), "crowded": float(q[p < _HALF * q].sum())}
