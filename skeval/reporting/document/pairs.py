"""The findings on pairs of columns and on all associations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.reporting.document.details import list_at, mapping_at, matrix_at, number_at, texts_at
from skeval.reporting.document.distributions import ends_of_axis
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

ASSOCIATIONS = "PhikMatrixDifference"
_N_OUTSIDE = (
    2  # last places of an axis, for missing cells and for values outside of the training data
)


@dataclass(frozen=True, eq=False)
class PairMap:
    """The joint distribution of two columns in real and in synthetic rows."""

    columns: tuple[str, str]
    axes: tuple[Any, ...]
    shares: np.ndarray  # fractions of real rows, and 0 for cells with few rows
    synthetic_shares: np.ndarray
    similarity: float
    ceiling: float
    real_association: float
    synthetic_association: float
    invented: tuple[tuple[int, int], ...]  # cells of synthetic rows that no real row fills
    invented_share: float

    @property
    def real(self) -> np.ndarray:
        """The shares of real rows on both axes, with nan for cells with few rows."""
        return _on_axes(self.shares)

    @property
    def synthetic(self) -> np.ndarray:
        """The shares of synthetic rows on both axes, with nan for cells with few rows."""
        return _on_axes(self.synthetic_shares)

    @property
    def ends(self) -> tuple[tuple[str, str], ...]:
        """The ends of the axes of the two columns."""
        return tuple(ends for axis in self.axes if (ends := ends_of_axis(axis)))


def _on_axes(shares: np.ndarray) -> np.ndarray:
    shown = shares[:-_N_OUTSIDE, :-_N_OUTSIDE]
    return np.where(shown > 0.0, shown, np.nan)


@dataclass(frozen=True, eq=False)
class Associations:
    """The associations of all pairs of columns, with related columns next to each other."""

    names: tuple[str, ...]
    real: np.ndarray
    synthetic: np.ndarray

    def between(self, columns: Sequence[str]) -> tuple[float, float]:
        """Return the association of two columns in real and in synthetic rows, or nan."""
        if not set(columns) <= set(self.names):
            return math.nan, math.nan
        i, j = map(self.names.index, columns)
        return float(self.real[i, j]), float(self.synthetic[i, j])

    @property
    def largest_change(self) -> tuple[str, str] | None:
        """The pair whose association changes most."""
        change = np.abs(self.synthetic - self.real)
        np.fill_diagonal(change, np.nan)
        if not np.isfinite(change).any():
            return None
        i, j = np.unravel_index(int(np.nanargmax(change)), change.shape)
        return self.names[int(i)], self.names[int(j)]


def find_pairs(results: SuiteResult) -> tuple[PairMap, ...]:
    """Return the pairs in the results, sorted by how far they are below their ceiling."""
    associations = find_associations(results)
    for result in results.values():
        if any(matrix_at(result.details, key) is None for key in ("matrix", "ceiling")):
            continue
        read = (_read_pair(pair, result, associations) for pair in list_at(result.details, "pairs"))
        known = [pair for pair in read if pair is not None]
        return tuple(sorted(known, key=lambda pair: pair.similarity - pair.ceiling))
    return ()


def names_of_pairs(results: SuiteResult) -> tuple[str, ...]:
    """Return the columns of which the results compare all pairs."""
    for result in results.values():
        if "ceiling" in result.details and "pairs" in result.details:
            return texts_at(result.details, "names")
    return ()


def _read_pair(pair: Any, result: Result, associations: Associations | None) -> PairMap | None:
    columns, names = texts_at(pair, "columns"), texts_at(result.details, "names")
    stated = mapping_at(pair, "shares")
    try:
        shares, synthetic = (
            np.asarray(stated.get(role), dtype=float) for role in ("train", "synthetic")
        )
        cells = [(int(i), int(j)) for i, j in list_at(pair, "invented", "cells")]
    except (TypeError, ValueError):
        return None
    if len(columns) != 2 or not set(columns) <= set(names) or shares.shape != synthetic.shape:
        return None
    if shares.ndim != 2 or min(shares.shape) <= _N_OUTSIDE:
        return None
    place = tuple(map(names.index, columns))
    similarity, ceiling = (
        math.nan if (matrix := matrix_at(result.details, key)) is None else float(matrix[place])
        for key in ("matrix", "ceiling")
    )
    known = associations.between(columns) if associations is not None else (math.nan, math.nan)
    n_rows, n_columns = (n - _N_OUTSIDE for n in shares.shape)
    return PairMap(
        (columns[0], columns[1]),
        tuple(list_at(pair, "axes")),
        shares,
        synthetic,
        similarity,
        ceiling,
        *known,
        tuple((i, j) for i, j in cells if 0 <= i < n_rows and 0 <= j < n_columns),
        max(0.0, float(np.nan_to_num(number_at(pair, "invented", "share")))),
    )


def find_associations(results: SuiteResult) -> Associations | None:
    """Return the phi_k coefficients of all pairs."""
    own = (result for result in results.values() if result.metric == ASSOCIATIONS)
    return next((one for one in map(read_associations, own) if one is not None), None)


def read_associations(result: Result) -> Associations | None:
    """Return the associations that a metric compares, with related columns side by side."""
    real, synthetic = (matrix_at(result.details, key) for key in ("train", "synthetic"))
    if result.error or real is None or synthetic is None:
        return None
    order = order_of_clusters(real)
    names = texts_at(result.details, "names")
    both = np.ix_(order, order)
    return Associations(tuple(names[i] for i in order), real[both], synthetic[both])


def order_of_clusters(matrix: np.ndarray) -> list[int]:
    """Return the columns so that associated ones are next to each other."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1.0 - np.nan_to_num(np.abs(matrix))
    distance = np.clip((distance + distance.T) / 2.0, 0.0, None)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), method="average", optimal_ordering=True)
    return [int(i) for i in leaves_list(tree)]
