"""The Gaussian copula: what any serious generator should beat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from skeval.generators.base import Sampler
from skeval.generators.columns import (
    Codes,
    Steps,
    as_dtype,
    frame_of,
    kind_of,
    numbers_of,
    ordered_codes,
)
from skeval.utils.parameters import Seed

# Levels rarer than this say too little about the numeric columns to be ordered by them.
_MIN_ROWS_TO_ORDER = 10
_N_POLYNOMIALS = 32
_N_BISECTIONS = 30
MIN_EIGENVALUE = 1e-8


class GaussianCopula(Sampler):
    """Sample rows whose columns follow the training marginals and a Gaussian copula.

    A small baseline for tables of mixed types: every column keeps its distribution, its dtype and
    its share of missing values, and pairs of columns keep their monotone association. It learns no
    other dependence: no interaction, no rule, and of an unordered category with many levels only
    one direction.

    It is not private. Numbers lie between training values that are neighbours in rank, or on
    them; categories, strings and keys are training values as they stand, the rarest included. A
    fitted generator, and so its pickle, holds them all: see `marginals_`.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` where that gets none. Fitting is deterministic.

    Attributes
    ----------
    columns_ : Index of length n_columns
        The columns of the training table.
    marginals_ : list of length n_columns
        The learned distribution of each column: all numbers, dates and durations of the training
        table, sorted within the column, and the distinct values of other columns with their shares.
    correlation_ : ndarray of shape (n_latent, n_latent)
        Correlations of the latent normals: one per column, then one for each column that has both
        missing and other values, in that order, which is high where the value is missing.

    See Also
    --------
    SequentialCART : Keeps what is not linear, and rows.
    IndependentMarginals : Keeps columns alone.

    Notes
    -----
    Column j is a step function of a standard normal Z_j, cut at the normal quantiles of its
    cumulative shares. With X_j = E(Z_j | value), the covariance of two such scores is the series
    sum_k a_ik a_jk rho^k over their Hermite coefficients, which rises in rho: the latent
    correlation is where it meets the covariance of the rows (those in which neither is missing).
    The matrix is made positive definite by clipping its eigenvalues, which is a compromise where
    pairs contradict each other, as when values are missing because of their own size.

    Levels of an unordered category are put in order by their mean score in the ordered column
    that depends on them most; rare levels take the middle. Without ordered columns, in order of
    frequency. Numbers are drawn from the quantiles, linear between neighbours, on the training
    values' grid (whole numbers, decimals, whole days).

    References
    ----------
    R. B. Nelsen, "An Introduction to Copulas", Springer (2006), doi:10.1007/0-387-28678-0.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import GaussianCopula
    >>> train = make_mixed()
    >>> synthetic = GaussianCopula(random_state=0).fit(train).sample(1_000)
    >>> synthetic.dtypes.equals(train.dtypes), len(synthetic)
    (True, 1000)
    """

    def __init__(self, random_state: Seed | None = None) -> None:
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        columns = [ordered_codes(train.iloc[:, j]) for j in range(train.shape[1])]
        anchors = [_scores(column.codes)[0] for column in columns if column.ordered]
        columns = [c if c.ordered else _put_in_order(c, anchors) for c in columns]
        gaps = [(c.codes < 0).astype(np.int64) for c in columns]
        gaps = [gap for gap in gaps if 0 < gap.sum() < len(gap)]
        self.columns_ = train.columns
        self.marginals_ = [_marginal(train.iloc[:, j], c) for j, c in enumerate(columns)]
        self.correlation_ = _latent_correlation([*(c.codes for c in columns), *gaps])

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        uniform = ndtr(
            rng.normal(size=(n, len(self.correlation_))) @ np.linalg.cholesky(self.correlation_).T
        )
        gaps = iter(uniform[:, len(self.marginals_) :].T)
        drawn = (
            marginal.draw(uniform[:, j], _absent(marginal.missing, gaps, n))
            for j, marginal in enumerate(self.marginals_)
        )
        return frame_of(drawn, self.columns_)


@dataclass
class _Levels:
    """Values that are drawn as they stand."""

    values: Any
    dtype: Any
    cumulative: np.ndarray
    missing: float

    def draw(self, uniform: np.ndarray, missing: np.ndarray) -> pd.Series:
        codes = np.searchsorted(self.cumulative[:-1], uniform, side="right")
        codes[missing] = -1
        taken = self.values.take(codes, allow_fill=bool(missing.any()))
        return pd.Series(taken, dtype=self.dtype)


@dataclass
class _Numbers:
    """Sorted numbers, dates or durations, between which quantiles are interpolated."""

    values: np.ndarray
    dtype: Any
    grid: Steps
    missing: float

    def draw(self, uniform: np.ndarray, missing: np.ndarray) -> pd.Series:
        place = uniform * (len(self.values) - 1)
        # the last interval is closed, and a table of one row has none
        lower = np.minimum(place.astype(np.int64), max(len(self.values) - 2, 0))
        upper = np.minimum(lower + 1, len(self.values) - 1)
        between = self.grid.between(self.values[lower], self.values[upper], place - lower)
        column = as_dtype(between, self.dtype)
        return column.mask(missing) if missing.any() else column


def _absent(share: float, gaps: Iterator[np.ndarray], n: int) -> np.ndarray:
    """Tell which rows miss a value; only columns that have both take the next of `gaps`."""
    return np.asarray(next(gaps) > 1.0 - share) if 0.0 < share < 1.0 else np.full(n, share == 1.0)


def _put_in_order(column: Codes, anchors: list[np.ndarray]) -> Codes:
    """Order levels by their mean score in the column that depends on them most."""
    rows = np.flatnonzero(column.codes >= 0)
    codes, n_levels = column.codes[rows], len(column.positions)
    counts = np.bincount(codes, minlength=n_levels)
    frequent = counts >= _MIN_ROWS_TO_ORDER
    key, most = np.zeros(n_levels), 0.0
    for anchor in anchors:
        sums = np.bincount(codes, weights=anchor[rows], minlength=n_levels)
        means = np.where(frequent, sums / np.maximum(counts, 1), 0.0)
        explained = float((counts * means**2).sum() / max((anchor**2).sum(), 1e-12))
        if explained > most:
            key, most = means, explained
    order = np.lexsort((-counts, key))
    rank = np.empty(n_levels, dtype=np.int64)
    rank[order] = np.arange(n_levels)
    ranked = column.codes.copy()
    ranked[rows] = rank[codes]
    return Codes(ranked, column.positions[order], ordered=False)


def _marginal(column: pd.Series, codes: Codes) -> _Levels | _Numbers:
    missing = float((codes.codes < 0).mean())
    if kind_of(column.dtype) in "Ob" or missing == 1.0:
        counts = np.bincount(codes.codes[codes.codes >= 0], minlength=len(codes.positions))
        cumulative = np.cumsum(counts) / max(counts.sum(), 1)
        return _Levels(column.iloc[codes.positions].array, column.dtype, cumulative, missing)
    values = np.sort(numbers_of(column.dropna()))
    return _Numbers(values, column.dtype, Steps.from_values(np.unique(values)), missing)


def _scores(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return E(Z | value) for each row, 0 where missing, and its Hermite coefficients."""
    present = codes >= 0
    counts = np.bincount(codes[present])
    if len(counts) == 0:
        return np.zeros(len(codes)), np.zeros(_N_POLYNOMIALS)
    cuts = ndtri(np.cumsum(counts)[:-1] / counts.sum())
    density = np.exp(-0.5 * cuts**2) / np.sqrt(2.0 * np.pi)

    def masses(polynomial: np.ndarray) -> np.ndarray:
        return np.asarray(-np.diff(polynomial * density, prepend=0.0, append=0.0))

    score = masses(np.ones_like(cuts)) * counts.sum() / counts
    before, now = np.zeros_like(cuts), np.ones_like(cuts)
    coefficients = np.empty(_N_POLYNOMIALS)
    for k in range(1, _N_POLYNOMIALS + 1):
        # the integral of the k-th normalised polynomial is the one before, times the density
        coefficients[k - 1] = score @ masses(now) / np.sqrt(k)
        before, now = now, (cuts * now - np.sqrt(k - 1) * before) / np.sqrt(k)
    return np.where(present, score[np.maximum(codes, 0)], 0.0), coefficients


def _latent_correlation(columns: list[np.ndarray]) -> np.ndarray:
    scores, coefficients = map(np.column_stack, zip(*map(_scores, columns), strict=True))
    present = np.column_stack([codes >= 0 for codes in columns]).astype(np.float64)
    covariance = scores.T @ scores / np.maximum(present.T @ present, 1.0)
    low, high = np.full_like(covariance, -1.0), np.ones_like(covariance)
    for _ in range(_N_BISECTIONS):
        middle = (low + high) / 2.0
        below = _series(coefficients, middle) < covariance
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    varies = coefficients[0] > 0.0
    rho = np.where(np.outer(varies, varies), (low + high) / 2.0, 0.0)
    np.fill_diagonal(rho, 1.0)
    return _positive_definite(rho)


def _series(coefficients: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Return the covariances of all pairs of scores whose latent normals have correlation `rho`."""
    total = np.zeros_like(rho)
    for row in coefficients[::-1]:
        total = (total + np.outer(row, row)) * rho
    return total


def _positive_definite(correlation: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2.0)
    clipped = (vectors * np.maximum(values, MIN_EIGENVALUE)) @ vectors.T
    scale = np.sqrt(np.diag(clipped))
    return np.asarray(clipped / np.outer(scale, scale))
