"""The findings on pairs of columns: the least similar ones, and all associations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.reporting.document.details import list_at, mapping_at, number_at, texts_at
from skeval.reporting.document.distributions import ends_of_axis
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

ASSOCIATIONS = "PhikMatrixDifference"
_N_OUTSIDE = 2  # the last two places of an axis: missing, and outside of the training data


@dataclass(frozen=True)
class PairMap:
    """The joint distribution of two columns in real and in synthetic rows; nan has few rows."""

    columns: tuple[str, str]
    similarity: float
    ceiling: float
    real: tuple[tuple[float, ...], ...]
    synthetic: tuple[tuple[float, ...], ...]
    real_association: float = math.nan
    synthetic_association: float = math.nan
    ends: tuple[tuple[str, str], ...] = ()  # of the axes of the two columns
    invented: tuple[tuple[int, int], ...] = ()  # cells of synthetic rows that no real row fills
    invented_share: float = 0.0


@dataclass(frozen=True)
class Associations:
    """The associations of all pairs of columns, with related columns next to each other."""

    names: tuple[str, ...]
    real: tuple[tuple[float, ...], ...]
    synthetic: tuple[tuple[float, ...], ...]

    @property
    def largest_change(self) -> tuple[str, str, float, float] | None:
        """The pair whose association changes most, in real and synthetic rows."""
        change = np.abs(np.subtract(self.synthetic, self.real))
        np.fill_diagonal(change, np.nan)
        if not np.isfinite(change).any():
            return None
        i, j = np.unravel_index(int(np.nanargmax(change)), change.shape)
        return self.names[i], self.names[j], self.real[i][j], self.synthetic[i][j]


def find_pairs(results: SuiteResult) -> tuple[PairMap, ...]:
    """Return the pairs that the results hold; first those furthest below their ceiling."""
    associations = _associations_by_pair(results)
    for result in results.values():
        names = texts_at(result.details, "names")
        try:
            matrix, ceiling = (
                np.asarray(result.details[key], dtype=float) for key in ("matrix", "ceiling")
            )
        except (KeyError, TypeError, ValueError):
            continue
        if matrix.shape != (len(names), len(names)) or ceiling.shape != matrix.shape:
            continue
        pairs = [
            pair
            for one in list_at(result.details, "pairs")
            if (pair := _read_pair(one, names, matrix, ceiling, associations))
        ]
        return tuple(sorted(pairs, key=lambda pair: pair.similarity - pair.ceiling))
    return ()


def names_of_pairs(results: SuiteResult) -> tuple[str, ...]:
    """Return the columns of which the results compare all pairs."""
    for result in results.values():
        if "ceiling" in result.details and "pairs" in result.details:
            return texts_at(result.details, "names")
    return ()


def _read_pair(
    pair: Any,
    names: tuple[str, ...],
    matrix: np.ndarray,
    ceiling: np.ndarray,
    associations: Mapping[frozenset[str], tuple[float, float]],
) -> PairMap | None:
    columns = texts_at(pair, "columns")
    shares = mapping_at(pair, "shares")
    if len(columns) != 2 or not set(columns) <= set(names):
        return None
    try:
        real, synthetic = (
            np.asarray(shares[role], dtype=float)[:-_N_OUTSIDE, :-_N_OUTSIDE]
            for role in ("train", "synthetic")
        )
    except (KeyError, TypeError, ValueError, IndexError):
        return None
    if real.shape != synthetic.shape or 0 in real.shape:
        return None
    i, j = (names.index(column) for column in columns)
    known = associations.get(frozenset(columns), (math.nan, math.nan))
    return PairMap(
        (columns[0], columns[1]),
        float(matrix[i, j]),
        float(ceiling[i, j]),
        _rows_of(np.where(real > 0.0, real, np.nan)),
        _rows_of(np.where(synthetic > 0.0, synthetic, np.nan)),
        *known,
        ends=_ends_of_axes(pair.get("axes")),
        invented=_read_cells(pair, real.shape),
        invented_share=max(0.0, np.nan_to_num(number_at(pair, "invented", "share"))),
    )


def _read_cells(pair: Any, shape: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    cells = mapping_at(pair, "invented").get("cells")
    try:
        known = [(int(i), int(j)) for i, j in cells]  # type: ignore[union-attr]
    except (TypeError, ValueError):
        return ()
    return tuple((i, j) for i, j in known if 0 <= i < shape[0] and 0 <= j < shape[1])


def _ends_of_axes(axes: Any) -> tuple[tuple[str, str], ...]:
    ends = tuple(map(ends_of_axis, axes)) if isinstance(axes, list | tuple) else ()
    return tuple(one for one in ends if one is not None)


def _associations_by_pair(results: SuiteResult) -> dict[frozenset[str], tuple[float, float]]:
    known = find_associations(results)
    if known is None:
        return {}
    names, real, synthetic = known.names, known.real, known.synthetic
    return {
        frozenset((names[i], names[j])): (real[i][j], synthetic[i][j])
        for i in range(len(names))
        for j in range(i)
    }


def find_associations(results: SuiteResult) -> Associations | None:
    """Return the phi_k coefficients of all pairs."""
    own = (result for result in results.values() if result.metric == ASSOCIATIONS)
    return next((one for one in map(read_associations, own) if one is not None), None)


def read_associations(result: Result) -> Associations | None:
    """Return the associations that a metric compares, with related columns side by side."""
    names = texts_at(result.details, "names")
    try:
        real, synthetic = (
            np.asarray(result.details[key], dtype=float) for key in ("train", "synthetic")
        )
    except (KeyError, TypeError, ValueError):
        return None
    shape = (len(names), len(names))
    if result.error or len(names) < 2 or not real.shape == synthetic.shape == shape:
        return None
    order = order_of_clusters(real)
    return Associations(
        tuple(names[i] for i in order),
        _rows_of(real[np.ix_(order, order)]),
        _rows_of(synthetic[np.ix_(order, order)]),
    )


def order_of_clusters(matrix: np.ndarray) -> list[int]:
    """Return the columns so that associated ones are next to each other."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.nan_to_num(np.abs(matrix))
    distance = np.clip((distance + distance.T) / 2.0, 0.0, None)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=True)
    return [int(i) for i in leaves_list(tree)]


def _rows_of(matrix: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())
