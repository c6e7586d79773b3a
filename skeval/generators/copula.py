"""A Gaussian copula as a baseline generator."""

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

# Rarer categories have too few rows to be ordered by the numerical columns.
_MIN_ROWS_TO_ORDER = 10
_N_POLYNOMIALS = 32
_N_BISECTIONS = 30
MIN_EIGENVALUE = 1e-8


class GaussianCopula(Sampler):
    """Sample rows whose columns follow the training marginals and a Gaussian copula.

    A simple baseline for tables of mixed types. Every column preserves its distribution, its dtype
    and its fraction of missing values. Pairs of columns preserve their monotone association. Other
    dependence is not learned, for example interactions and rules. For an unordered category with
    many values, only one direction is learned.

    It is not private. Numbers are equal to training values or lie between training values of
    neighboring rank. Categories, strings and keys are unchanged training values, including rare
    ones. A fitted generator and its pickle contain all of them, see `marginals_`.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` if the method gets no seed. Fitting is deterministic.

    Attributes
    ----------
    columns_ : Index of length n_columns
        The columns of the training table.
    marginals_ : list of length n_columns
        The learned distribution of each column. It contains all numbers, dates and durations of the
        training table, sorted within the column, and the distinct values of other columns with
        their relative frequencies.
    correlation_ : ndarray of shape (n_latent, n_latent)
        Correlations of the latent normals. There is one normal for each column, followed by one for
        each column with both missing and present values, which is high if the value is missing.

    See Also
    --------
    SequentialCART : Also preserves non-linear dependence, but reproduces rows.
    IndependentMarginals : Preserves only single columns.

    Notes
    -----
    Column j is a step function of a standard normal Z_j, which is cut at the normal quantiles of
    the cumulative frequencies. With X_j = E(Z_j | value), the covariance of two such scores is the
    series sum_k a_ik a_jk rho^k over their Hermite coefficients. The series increases with rho. The
    latent correlation is the rho at which the series equals the covariance of the rows in which
    neither value is missing. The matrix is made positive definite by clipping its eigenvalues. This
    is a compromise if pairs contradict each other, for example if values are missing because of
    their size.

    The values of an unordered category are sorted by their mean score in the ordered column that
    depends on them most. Rare values are placed in the middle. Without ordered columns, values are
    sorted by frequency. Numbers are sampled from the quantiles, with linear interpolation between
    neighbors, on the grid of the training values (integers, decimals, full days).

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
    """Values that are sampled unchanged."""

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
        # The last interval is closed. A table with one row has no interval.
        lower = np.minimum(place.astype(np.int64), max(len(self.values) - 2, 0))
        upper = np.minimum(lower + 1, len(self.values) - 1)
        between = self.grid.between(self.values[lower], self.values[upper], place - lower)
        column = as_dtype(between, self.dtype)
        return column.mask(missing) if missing.any() else column


def _absent(share: float, gaps: Iterator[np.ndarray], n: int) -> np.ndarray:
    """Return a mask of missing values. Only columns with both kinds use the next of `gaps`."""
    return np.asarray(next(gaps) > 1.0 - share) if 0.0 < share < 1.0 else np.full(n, share == 1.0)


def _put_in_order(column: Codes, anchors: list[np.ndarray]) -> Codes:
    """Order categories by their mean score in the column that depends on them most."""
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
    """Return E(Z | value) for each row, 0 if missing, and its Hermite coefficients."""
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
        # The integral of the k-th normalized polynomial is the previous one times the density.
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
