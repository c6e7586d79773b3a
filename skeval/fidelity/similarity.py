"""Similarity matrix of all columns and pairs of columns, with histograms for reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.fidelity.pair_metric import PairMetric, worst_pair
from skeval.fidelity.reversed_order import reversed_orders
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import (
    exact_mean,
    expected_total_variation,
    joint_counts,
    total_variation,
)
from skeval.stats.rounded_ends import SMALLEST, rounded_ends
from skeval.steps.column_choice import chosen_columns
from skeval.steps.columns import ROLES, cells, codes
from skeval.steps.pairs import Binning, cramers_v_matrix, matrices, similarity_matrix
from skeval.steps.samples import drawn_subsets
from skeval.tables.frames import column_values
from skeval.utils.formatting import number
from skeval.utils.parameters import (
    BinCount,
    Columns,
    Count,
    GroupSize,
    Interval,
    Positive,
    Seed,
    Strategy,
)

_ROLES = ("train", "holdout", "synthetic")
_MAX_BARS = 15
_MANY_WHOLE = 10_000  # integers over a wider range are drawn like any other numbers
_TAIL = 0.005
# A number with at least this fraction of the training rows is drawn separately, because otherwise
# it hides close values and makes all other bins look empty. At most two are drawn separately.
_FREQUENT, _MAX_FREQUENT = 0.25, 2
# Larger numbers make bins overflow. Datetimes are seconds, and pandas counts 64-bit nanoseconds.
_LARGEST, _LATEST = 1e307, 9.2e9


@declared
class SimilarityMatrix(Metric):
    """Mean similarity of all columns and all pairs of columns.

    The metric divides every column into bins learned from the training data. For each column
    (diagonal) and each pair of columns, the similarity is one minus the total variation distance,
    that is, one minus the fraction of synthetic rows that would have to move to another bin. The
    score ranges from 0 (no overlap) to 1 (equal fractions in all bins). Higher is better.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of numerical and datetime columns.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or bins with equal fractions of the training rows. If a value occurs in
        at least a fraction of ``1 / n_bins`` of the training rows, it has a separate bin. The
        strategies that end with "-plain" have no such bins, see
        :class:`~skeval.tables.Discretizer`.
    average : {"matrix", "upper", "balanced"}, default="matrix"
        Mean over the whole symmetric matrix, mean over the diagonal and the upper triangle, or mean
        of the means for columns, pairs and (if `order` is 3) triples.
    order : {2, 3}, default=2
        If 3, triples of columns are also evaluated. They are part of the value if ``average`` is
        "balanced".
    n_triples : int, default=10_000
        Maximum number of triples. If there are more, a random sample is used.
    max_categories : int, default=50
        Maximum number of categories per column. Less frequent categories are pooled.
    n_pairs : int or None, default=24
        Number of pairs whose joint histograms are added to the details. One half are the least
        similar pairs, and the other half are the pairs with the strongest association in the
        training data (Cramer's V). If None, all pairs are added.
    pair_columns : None, int or list of str, default=None
        Columns from which these pairs are selected.
    min_count : int, default=10
        Must be at least 10. In the histograms of the details, categories with fewer training rows
        are pooled, and bins and joint cells with fewer training or holdout rows are blank (0).
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    random_state : int, default=0
        Seed of the sample of triples.

    Warnings
    --------
    Even new real data have a score below 1, and the score depends on the numbers of rows and bins.
    Compare it with the baseline. Dependence between three or more columns has no effect.

    See Also
    --------
    SimilarityScore : Mean of the matrix, multiplied by a scale.
    ContingencySimilarity : Pairs only, with a floor.

    Notes
    -----
    ``M_ii = 1 - TV`` is computed from the bins of column i, and ``M_ij = 1 - TV`` from the joint
    cells of columns i and j. Missing and unseen values have separate cells. The matrix is
    symmetric, and ``M_ij <= min(M_ii, M_jj)``. Perfect synthetic data do not reach 1. For example,
    two random halves of the iris table score 0.67. ``details["ceiling"]`` contains the exact
    expected scores if the rows of both tables are pooled and divided again at random.

    References
    ----------
    The idea was published by Aindo without the distance. skeval uses the total variation distance.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import SimilarityMatrix
    >>> table = make_mixed()
    >>> SimilarityMatrix().fit(table).score(table)
    1.0
    """

    tags = PairMetric.tags

    _halved = True  # intervals: skeval/core/intervals.py

    n_bins: BinCount = 10
    strategy: Strategy = "uniform"
    average: Literal["matrix", "upper", "balanced"] = "matrix"
    _: KW_ONLY
    order: Literal[2, 3] = 2
    n_triples: Count = 10_000
    max_categories: Count = 50
    n_pairs: Annotated[int, Interval(0)] | None = 24
    pair_columns: Columns = None
    min_count: GroupSize = 10
    columns: Columns = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        names = chosen_columns(context.schema, self.columns)
        if not names:
            return undefined_result("no column of this table can be measured.")
        binning = Binning(self.n_bins, self.strategy, self.max_categories)
        matrix, ceiling = matrices(context, names, binning)
        weights = _weights(len(names), self.average)
        value, top = (_average(part, weights) for part in (matrix, ceiling))
        details: dict[str, Any] = {
            "names": list(names),
            "columns": dict(zip(names, np.diag(matrix).tolist(), strict=True)),
            "matrix": matrix,
            "ceiling": ceiling,
            "worst": worst_pair(names, matrix, greatest=False),
        }
        if self.order == 3 and len(names) >= 3:
            drawn = drawn_subsets(sorted(names), 3, self.n_triples, self.random_state)
            mean, mean_top = _trivariate(context, drawn, binning)
            details["trivariate"] = {"mean": mean, "n_triples": len(drawn)}
            if self.average == "balanced":
                value, top = (2.0 * value + mean) / 3.0, (2.0 * top + mean_top) / 3.0
        details["ceiling_value"] = top
        return Result(value, details=details)

    def _value_alone(self, context: Context) -> float:
        names = chosen_columns(context.schema, self.columns)
        if not names or (self.order == 3 and self.average == "balanced"):
            return SimilarityMatrix._compute(self, context).value
        binning = Binning(self.n_bins, self.strategy, self.max_categories)
        matrix = similarity_matrix(context, names, binning)
        return _average(matrix, _weights(len(names), self.average))

    def _summary(self, result: Result) -> str:
        top = number(result.details["ceiling_value"])
        return (
            f"The ceiling is {top}: the expected score of two samples of the same population with "
            "these numbers of rows."
        )

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if math.isnan(result.value):
            return result
        names, matrix = result.details["names"], result.details["matrix"]
        among = chosen_columns(context.schema, self.pair_columns)
        every = combinations([i for i, name in enumerate(names) if name in among], 2)
        drawn = worst_first = sorted(every, key=lambda ij: matrix[ij])
        binning = Binning(self.n_bins, self.strategy, self.max_categories)
        v = np.nan_to_num(cramers_v_matrix(context, "train", tuple(names), binning))
        if self.n_pairs is not None and len(worst_first) > self.n_pairs:
            drawn = _worst_and_strongest(worst_first, v, self.n_pairs)
        least = self.min_count
        scored = [
            (names[i], names[j], {"score": float(matrix[i, j]), "association": float(v[i, j])})
            for i, j in drawn
        ]
        histograms = {
            "marginals": {name: marginal(context, name, min_count=least) for name in names},
            "pairs": joint_bars(context, scored, least),
            "n_pairs": len(worst_first),
            "reversed": reversed_orders(context, tuple(names), least, self.random_state),
        }
        return replace(result, details={**result.details, **histograms})


@declared
class SimilarityScore(SimilarityMatrix):
    """Mean similarity of all columns and pairs of columns, on a scale from 0 to 100.

    The score summarizes :class:`SimilarityMatrix` in a single number. It ranges from 0 (no overlap)
    to `scale` (equal fractions in all bins). Higher is better.

    Parameters
    ----------
    scale : float, default=100
        Score of two equal tables.

    Warnings
    --------
    Even new real data do not reach the maximum, and the score depends on the numbers of rows and
    bins. Compare it with the baseline. A copy of the training data has the maximum score.

    See Also
    --------
    SimilarityMatrix : The matrix of which this score is the mean.
    KMarginalSimilarity : Larger sets of columns.

    Notes
    -----
    The maximum score is `scale`. The tags of a result contain this maximum. The tags of the class
    contain no finite maximum, because `scale` is a parameter.

    Always compare the score with the baseline or with ``details["ceiling_value"]``, because the
    score of new real data is lower for fewer rows and for more bins.

    References
    ----------
    The name and the scale of the score are from Aindo.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import SimilarityScore
    >>> table = make_mixed()
    >>> SimilarityScore().fit(table).score(table)
    100.0
    """

    tags = replace(
        SimilarityMatrix.tags, bounds=(0.0, float("inf")), headline=3, quoted="similarity"
    )
    report_columns = "pairs"

    scale: Positive = 100.0

    def _compute(self, context: Context) -> Result:
        result = super()._compute(context)
        if math.isnan(result.value):
            return result
        details = {**result.details, "ceiling_value": self.scale * result.details["ceiling_value"]}
        value, tags = self.scale * result.value, replace(self.tags, bounds=(0.0, float(self.scale)))
        return replace(result, value=value, details=details, tags=tags)

    def _value_alone(self, context: Context) -> float:
        return self.scale * super()._value_alone(context)


def _trivariate(
    context: Context, triples: list[list[str]], binning: Binning
) -> tuple[float, float]:
    """Return the mean similarity of triples of columns, and its ceiling."""
    train, synthetic = (codes(context, role, *binning) for role in ROLES)
    n_cells = cells(context, *binning).n_cells_
    counted = []
    for triple in triples:
        at = [context.schema.measured.index(name) for name in triple]
        counted.append(joint_counts(list(train.T[at]), list(synthetic.T[at]), n_cells[at].tolist()))
    score = exact_mean([1.0 - total_variation(p, q) for p, q in counted])
    return score, exact_mean([1.0 - expected_total_variation(p, q) for p, q in counted])


def _worst_and_strongest(
    worst_first: list[tuple[int, int]], strength: np.ndarray, n_pairs: int
) -> list[tuple[int, int]]:
    """Return the least similar pairs, and then the pairs with the strongest association."""
    worst, others = worst_first[: (n_pairs + 1) // 2], worst_first[(n_pairs + 1) // 2 :]
    return [*worst, *sorted(others, key=lambda ij: (-strength[ij], ij))[: n_pairs - len(worst)]]


def _average(matrix: np.ndarray, weights: np.ndarray) -> float:
    """Return a weighted mean. The weights are summed because of rounding."""
    return exact_mean(matrix * weights) / exact_mean(weights)


def _weights(n_columns: int, average: str) -> np.ndarray:
    """Return the weight of each cell of the matrix in the mean."""
    weights = np.ones((n_columns, n_columns))
    if average == "upper":
        weights = np.triu(weights)
    elif average == "balanced" and n_columns > 1:
        weights /= n_columns * (n_columns - 1)
        np.fill_diagonal(weights, 1.0 / n_columns)
    return weights / weights.sum()


@dataclass(frozen=True)
class Axis:
    """The bins with which one column is drawn."""

    kind: str
    labels: tuple[str, ...]
    edges: np.ndarray | None = None
    shown: np.ndarray | None = None
    frequent: tuple[float, ...] = ()

    def codes(self, rows: pd.Series) -> np.ndarray:
        """Return the bin of each value of a column."""
        n_bars, values = self.n_bars - 2, column_values(rows)
        if self.edges is not None:
            n_between = len(self.edges) - 1
            bars = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, n_between - 1)
            for k, frequent in enumerate(self.frequent):
                bars[values == frequent] = n_between + k
        else:
            lookup = np.asarray(self.shown)
            known = np.where(np.isnan(values) | (values >= len(lookup)), len(lookup), values)
            bars = np.append(lookup, n_bars + 1)[known.astype(np.int64)]
        return np.where(np.isnan(values), n_bars, bars).astype(np.int64)

    @property
    def n_bars(self) -> int:
        """Number of bins, including the bins of missing and of unseen values."""
        return len(self.labels) + (0 if self.edges is None else len(self.edges) - 1) + 2

    def to_dict(self) -> dict[str, Any]:
        """Return the axis as a dictionary for displays."""
        return {
            "kind": self.kind,
            "labels": list(self.labels),
            "edges": None if self.edges is None else self.edges.tolist(),
        }


@shared
def axis(context: Context, column: str, n_bins: int, min_count: int) -> Axis:
    """Return the axis of a column, learned from the training data."""
    rows, kind = context.column("train", column), context.schema.kinds[column]
    if isinstance(rows.dtype, pd.CategoricalDtype):
        return _bars(rows, kind, min_count)
    values = column_values(rows)
    limit = _LATEST if kind == "datetime" else _LARGEST
    values = np.clip(values[np.isfinite(values)], -limit, limit)
    edges = _edges(values, n_bins, min_count, limit)
    if edges[1] - edges[0] <= 1.0 and np.array_equal(values, np.round(values)):
        return Axis(kind, (), edges=edges)  # every integer has a separate bin
    frequent = _frequent_numbers(values, min_count)
    if frequent:
        edges = _edges(values[~np.isin(values, frequent)], n_bins, min_count, limit)
    labels = tuple(f"= {_format_value(value, kind)}" for value in frequent)
    return Axis(kind, labels, edges=edges, frequent=tuple(frequent))


def _frequent_numbers(values: np.ndarray, min_count: int) -> list[float]:
    """Return the most frequent numbers in ascending order, but never all distinct numbers."""
    distinct, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[: min(_MAX_FREQUENT, distinct.size - 1)]
    least = max(min_count, _FREQUENT * values.size)
    return sorted(float(distinct[i]) for i in order if counts[i] >= least)


def _format_value(value: float, kind: str) -> str:
    if kind != "datetime":
        return f"{value:.6g}"
    date = pd.Timestamp(value, unit="s")
    return date.strftime("%Y-%m-%d" if date == date.normalize() else "%Y-%m-%d %H:%M")


def _bars(rows: pd.Series, kind: str, min_count: int) -> Axis:
    levels, codes = list(rows.cat.categories), column_values(rows)
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=len(levels))
    order = np.argsort(-counts, kind="stable")
    kept = [int(i) for i in order[:_MAX_BARS] if counts[i] >= min_count]
    pooled = int((counts > 0).sum()) - len(kept)
    labels = [levels[i] for i in kept] + ([f"{pooled} others"] if pooled else [])
    shown = np.full(len(levels), len(kept), dtype=np.int64)
    shown[kept] = np.arange(len(kept))
    shown[counts == 0] = len(labels) + 1  # categories that occur in the holdout only
    return Axis(kind, tuple(labels), shown=shown)


def _edges(values: np.ndarray, n_bins: int, min_count: int, limit: float) -> np.ndarray:
    """Return the edges of equal bins, whose range does not reveal a single value."""
    if values.size < max(2, 2 * min_count):
        return np.linspace(*_enclosing_powers(values, limit), n_bins + 1)
    tail = min(0.5, max(_TAIL, min_count / values.size))
    low, high = np.quantile(values, [tail, 1.0 - tail])
    whole = _edges_of_whole_numbers(values, n_bins, float(low), float(high))
    return np.linspace(*rounded_ends(low, high, limit), n_bins + 1) if whole is None else whole


def _enclosing_powers(values: np.ndarray, limit: float) -> tuple[float, float]:
    """Return enclosing powers of ten, because quantiles of few values reveal single records."""
    greatest = max(float(np.abs(values).max(initial=0.0)), SMALLEST)
    high = min(10.0 ** np.ceil(np.log10(greatest)), limit) if values.any() else 1.0
    return (-high if (values < 0).any() else 0.0), high


def _edges_of_whole_numbers(
    values: np.ndarray, n_bins: int, low: float, high: float
) -> np.ndarray | None:
    """Return bins that contain equal numbers of integers, or None if there are other values."""
    distinct = np.unique(values)
    if distinct.size < 2 or not np.array_equal(distinct, np.round(distinct)):
        return None
    low, high = np.floor(low), np.ceil(high)
    width = float(np.diff(distinct).min())
    if distinct.size > n_bins:  # otherwise some bins would contain one integer more than others
        width = np.ceil((high - low + 1.0) / n_bins)
        low = np.floor(low / width) * width
    n_bars = np.ceil((high - low + 1.0) / width)
    if not 2.0 <= n_bars <= 2 * n_bins or high - low > _MANY_WHOLE:
        return None
    # edges are half an integer below the first, or half a bin if every integer has a bin
    start = low - (width if distinct.size <= n_bins else 1.0) / 2.0
    return np.asarray(start + width * np.arange(int(n_bars) + 1))


@shared
def bars(context: Context, role: str, column: str, n_bins: int, min_count: int) -> np.ndarray:
    """Return the bin of each row."""
    return axis(context, column, n_bins, min_count).codes(context.column(role, column))


def marginal(
    context: Context, column: str, *, n_bins: int | None = None, min_count: int = 10
) -> dict[str, Any]:
    """Return the axis of a column and the fraction of rows in each bin, by role."""
    # Bins with fewer than `min_count` training or holdout rows are blank. There are 30 bins, or
    # fewer if the training data are small.
    if n_bins is None:
        n_bins = int(np.clip(context.n_rows("train") // (3 * min_count), 5, 30))
    ax = axis(context, column, n_bins, min_count)
    return {
        **ax.to_dict(),
        "shares": {
            role: _shares(
                bars(context, role, column, n_bins, min_count),
                ax.n_bars,
                0 if role == "synthetic" else min_count,
            )
            for role in _ROLES
            if role in context
        },
    }


def joint_bars(
    context: Context, scored: Sequence[tuple[str, str, dict[str, float]]], min_count: int
) -> list[dict[str, Any]]:
    """Return the joint histograms of pairs of columns, each with its scores."""
    return [
        pair(context, first, second, min_count=min_count) | numbers
        for first, second, numbers in scored
    ]


def pair(
    context: Context, first: str, second: str, *, n_bins: int | None = None, min_count: int = 10
) -> dict[str, Any]:
    """Return the axes of two columns and the fraction of rows in each joint cell."""
    # Cells with fewer than `min_count` rows are blank in both tables, so that the two histograms
    # are comparable. There are 12 x 12 cells, or fewer if the training data are small.
    if n_bins is None:
        n_bins = int(np.clip((context.n_rows("train") / (3 * min_count)) ** 0.5, 3, 12))
    axes = [axis(context, column, n_bins, min_count) for column in (first, second)]
    shape = (axes[0].n_bars, axes[1].n_bars)
    counts = {}
    for role in filter(context.__contains__, _ROLES):
        i, j = (bars(context, role, column, n_bins, min_count) for column in (first, second))
        counts[role] = np.bincount(i * shape[1] + j, minlength=shape[0] * shape[1]).reshape(shape)
    return {
        "columns": [first, second],
        "axes": [ax.to_dict() for ax in axes],
        "shares": {role: _shares_of_counts(counts[role], min_count) for role in ROLES},
        "invented": _invented_cells(counts, min_count),
    }


def _invented_cells(counts: dict[str, np.ndarray], min_count: int) -> dict[str, Any]:
    """Return the cells that contain synthetic rows but no real rows, and their fraction."""
    # Cells of missing and of unseen values are ignored, because there the value itself is new,
    # rather than the combination.
    real = sum(of for role, of in counts.items() if role != "synthetic")
    synthetic = counts["synthetic"]
    is_invented = ((real == 0) & (synthetic >= min_count))[:-2, :-2]
    n_rows = int(synthetic[:-2, :-2][is_invented].sum())
    return {
        "cells": np.argwhere(is_invented).tolist(),
        "share": n_rows / max(1, int(synthetic.sum())),
    }


def _shares(codes: np.ndarray, n_bars: int, least: int) -> np.ndarray:
    return _shares_of_counts(np.bincount(codes, minlength=n_bars), least)


def _shares_of_counts(counts: np.ndarray, least: int) -> np.ndarray:
    return np.where(counts < least, 0, counts) / max(1, int(counts.sum()))
