"""Propensity scores: how well a fitted model tells synthetic from real rows, and its null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from skeval.stats.roc import auc
from skeval.stats.separation import Confusion, separation

_RANK = 1e-10  # squared singular values below this part of the largest are rounding errors
_MOST_STEPS = 50
_CONVERGED = 1e-12  # relative change of the deviance
_SURE = 1e-6  # fitted probabilities nearer to 0 or 1 are signs of separation
_EQUAL = 9  # decimals at which fitted probabilities are told apart


@dataclass(frozen=True)
class LogisticFit:
    """Fitted probabilities of an unpenalised logistic regression.

    Attributes
    ----------
    probabilities : ndarray of shape (n_rows,)
        Of the label being true.
    n_parameters : int
        The rank of the design, the intercept included.
    separated : bool
        Whether some rows are told apart for sure, so that coefficients are infinite.
    """

    probabilities: np.ndarray
    n_parameters: int
    separated: bool


def full_rank_basis(design: np.ndarray) -> np.ndarray:
    """Return orthonormal columns that span the columns of a design and the constant.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        Without intercept; constant and collinear columns are allowed.

    Returns
    -------
    ndarray of shape (n_rows, rank)
        The first column is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.fidelity.propensity_scores import full_rank_basis
    >>> x = np.arange(4.0)
    >>> full_rank_basis(np.column_stack([x, 2 * x + 1, np.ones(4)])).shape
    (4, 2)
    """
    n_rows = len(design)
    constant = np.full((n_rows, 1), 1.0 / np.sqrt(n_rows))
    if design.shape[1] == 0:
        return constant
    scale = np.abs(design).max(axis=0)
    scaled = design / np.where(scale > 0, scale, 1.0)
    centred = scaled - scaled.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    varies = spread > 1e-12 * np.sqrt(n_rows)
    unit = centred[:, varies] / spread[varies]
    values, vectors = np.linalg.eigh(unit.T @ unit)
    kept = values > _RANK * max(1.0, float(values.max(initial=0.0)))
    return np.hstack([constant, unit @ (vectors[:, kept] / np.sqrt(values[kept]))])


def fit_logistic(design: np.ndarray, labels: np.ndarray) -> LogisticFit:
    """Fit an unpenalised logistic regression with an intercept by Newton's method.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_columns)
        Without intercept; constant and collinear columns are allowed, they cost no parameter.
    labels : ndarray of bool, shape (n_rows,)
        Both must occur.

    Returns
    -------
    LogisticFit

    Examples
    --------
    Three cells with 30, 10 and 10 real, and 20, 20 and 10 synthetic rows:

    >>> import numpy as np
    >>> from skeval.fidelity.propensity_scores import fit_logistic
    >>> cell = np.repeat([0, 1, 2, 0, 1, 2], [30, 10, 10, 20, 20, 10])
    >>> fit = fit_logistic(np.eye(3)[cell], np.arange(100) >= 50)
    >>> fit.n_parameters, np.unique(fit.probabilities.round(6))
    (3, array([0.4     , 0.5     , 0.666667]))
    """
    basis, target = full_rank_basis(design), labels.astype(np.float64)
    share = float(target.mean())
    linear = np.full(target.size, np.log(share / (1.0 - share)))
    deviance = _deviance(linear, target)
    for _ in range(_MOST_STEPS):
        direction = basis @ _newton_step(basis, linear, target)
        size, reached = _step_size(linear, direction, target, deviance)
        if reached >= deviance:
            break
        gained, deviance = deviance - reached, reached
        linear = linear + size * direction
        if gained <= _CONVERGED * (deviance + _CONVERGED * target.size):
            break
    fitted = _sigmoid(linear)
    sure = bool((np.minimum(fitted, 1.0 - fitted) < _SURE).any())
    return LogisticFit(fitted, basis.shape[1], sure)


def _newton_step(basis: np.ndarray, linear: np.ndarray, target: np.ndarray) -> np.ndarray:
    fitted = _sigmoid(linear)
    curvature = basis.T @ (basis * (fitted * (1.0 - fitted))[:, None])
    # on separated data the curvature vanishes along the direction that separates
    ridge = 1e-12 * max(float(np.trace(curvature)), 1e-12)
    np.fill_diagonal(curvature, np.diag(curvature) + ridge)
    return np.linalg.solve(curvature, basis.T @ (target - fitted))


def _step_size(
    linear: np.ndarray, direction: np.ndarray, target: np.ndarray, deviance: float
) -> tuple[float, float]:
    """Return the first of 1, 1/2, 1/4, ... that lowers the deviance, and what it is then."""
    size = 1.0
    reached = _deviance(linear + direction, target)
    while reached > deviance and size > _SURE:
        size /= 2.0
        reached = _deviance(linear + size * direction, target)
    return size, reached


def _sigmoid(linear: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(linear / 2.0))


def _deviance(linear: np.ndarray, target: np.ndarray) -> float:
    """Return twice the negative log-likelihood, whatever the size of the linear predictor."""
    return 2.0 * float((np.logaddexp(0.0, linear) - target * linear).sum())


def propensity_mse(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Return the mean squared distance of propensity scores from the share of synthetic rows.

    Parameters
    ----------
    real, synthetic : ndarray of shape (n,), (m,)
        Probabilities of being synthetic.

    Returns
    -------
    float
        In [0, c (1 - c)] for c = m / (n + m), if the mean of all is c.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.fidelity.propensity_scores import propensity_mse
    >>> propensity_mse(np.array([0.4, 0.4]), np.array([0.4, 0.8])).__round__(3)
    0.03
    """
    share = synthetic.size / (real.size + synthetic.size)
    return float(((np.concatenate([real, synthetic]) - share) ** 2).mean())


@dataclass(frozen=True)
class PropensityNull:
    """What the propensity mean squared error is by chance.

    Attributes
    ----------
    mean, spread : float
        Its mean and standard deviation.
    degrees : int or None
        If the distribution is that of a scaled chi-square, its degrees of freedom.
    """

    mean: float
    spread: float
    degrees: int | None = None

    def ratio(self, value: float) -> float:
        """Return the value as a multiple of its mean; nan where that is 0."""
        return value / self.mean if self.mean > 0 else float("nan")

    def standardized(self, value: float) -> float:
        """Return how many standard deviations the value is above its mean; nan where it is 0."""
        return (value - self.mean) / self.spread if self.spread > 0 else float("nan")

    def p_value(self, value: float) -> float | None:
        """Return how often chance reaches the value; None where the distribution is not known."""
        if self.degrees is None or self.degrees == 0:
            return None
        return float(chi2.sf(self.degrees * self.ratio(value), self.degrees))


def estimation_factor(n_real: int, n_synthetic: int, n_estimated: int | None) -> float:
    """Return what part of the mean is left if a model of the real rows made the synthetic ones.

    Parameters
    ----------
    n_real, n_synthetic : int
        Rows that the propensity model is fitted to.
    n_estimated : int or None
        Rows that the model of the synthetic rows was estimated on, the real ones among them; None
        if these are independent.

    Returns
    -------
    float
        ``(1/m + 1/n - 1/n_estimated) / (1/m + 1/n)``: the error of the estimates is in both tables
        and does not tell them apart. If the model was estimated on the same n rows, this is
        ``1 - c``, with c the synthetic share.

    Examples
    --------
    >>> from skeval.fidelity.propensity_scores import estimation_factor
    >>> estimation_factor(100, 300, 100), estimation_factor(100, 100, None)
    (0.25, 1.0)
    """
    if n_estimated is None:
        return 1.0
    m, n = n_synthetic, n_real
    return (n * (n_estimated - m) + n_estimated * m) / (n_estimated * (m + n))


def analytic_null(
    n_real: int, n_synthetic: int, n_parameters: int, n_estimated: int | None = None
) -> PropensityNull:
    """Return the null distribution of the propensity mean squared error of a logistic regression.

    Parameters
    ----------
    n_real, n_synthetic : int
        Numbers of rows.
    n_parameters : int
        Of the regression, the intercept included.
    n_estimated : int, optional
        If the synthetic rows are drawn from a right model that was estimated on the real rows: on
        how many, these among them. Else they are a sample of the same distribution, drawn
        independently.

    Returns
    -------
    PropensityNull

    Notes
    -----
    With k parameters, N rows and the synthetic share c, independent samples have mean
    ``(k - 1) c (1 - c) / N`` and standard deviation ``sqrt(2 (k - 1)) c (1 - c) / N``. If the model
    is estimated on the real rows, both are ``1 - c`` times that, half for samples of equal size.

    References
    ----------
    J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavkovic, "General and specific utility measures
    for synthetic data", JRSS A 181 (2018) 663-688, doi:10.1111/rssa.12358.

    Examples
    --------
    >>> from skeval.fidelity.propensity_scores import analytic_null
    >>> null = analytic_null(50, 50, 3, n_estimated=50)
    >>> null.mean, null.spread, round(null.ratio(0.04 / 3), 4)
    (0.0025, 0.0025, 5.3333)
    """
    n_rows = n_real + n_synthetic
    share = n_synthetic / n_rows
    factor = estimation_factor(n_real, n_synthetic, n_estimated)
    one = share * (1.0 - share) / n_rows * factor
    degrees = n_parameters - 1
    return PropensityNull(degrees * one, float(np.sqrt(2.0 * degrees)) * one, degrees)


def companions(real: np.ndarray, synthetic: np.ndarray) -> dict[str, float]:
    """Return other measures of the same propensity scores.

    Parameters
    ----------
    real, synthetic : ndarray of shape (n,), (m,)
        Probabilities of being synthetic.

    Returns
    -------
    dict of str to float
        `specks`: the Kolmogorov distance of the two samples of scores. `po50`: percentage of rows
        on the right side of 1/2, less 50; a score of 1/2 is half right. `wilcoxon_u`: pairs in
        which the synthetic row scores higher, ties half.

    References
    ----------
    G. M. Raab, B. Nowok, C. Dibben, "Assessing, visualizing and improving the utility of synthetic
    data" (2021), arXiv:2109.12717.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.fidelity.propensity_scores import companions
    >>> companions(np.array([0.4, 0.4, 0.5]), np.array([0.4, 0.5, 0.8]))["wilcoxon_u"]
    6.5
    """
    real, synthetic = (np.round(scores, _EQUAL) for scores in (real, synthetic))
    seen = Confusion.of(real, synthetic)
    at_half = [(scores == 0.5).sum() / 2.0 for scores in (real, synthetic)]
    right = seen.n_synthetic_as_synthetic + at_half[1]
    right += seen.n_real - seen.n_real_as_synthetic - at_half[0]
    return {
        "specks": max(separation(real, synthetic), separation(synthetic, real)),
        "po50": float(100.0 * right / (seen.n_real + seen.n_synthetic) - 50.0),
        "wilcoxon_u": round(2.0 * auc(synthetic, real) * real.size * synthetic.size) / 2.0,
    }


def table_measures(real: np.ndarray, synthetic: np.ndarray) -> Mapping[str, float]:
    """Return how far apart two rows of counts are, by the measures of tables.

    Parameters
    ----------
    real, synthetic : ndarray of shape (n_cells,)
        Counts; empty cells are left out.

    Returns
    -------
    dict of str to float
        `voas_williamson` and `freeman_tukey`: sums over cells that are about the number of cells
        less 1 if the synthetic rows are drawn from the real shares. `mean_absolute_difference`: of
        the shares, over the cells. `bhattacharyya`: the distance, from 0 to 1. `cells`: how many
        there are.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.fidelity.propensity_scores import table_measures
    >>> measures = table_measures(np.array([30, 10, 10]), np.array([20, 20, 10]))
    >>> round(measures["voas_williamson"], 4), round(measures["mean_absolute_difference"], 4)
    (10.6667, 0.1333)
    """
    occupied = real + synthetic > 0
    d, s = (counts[occupied].astype(np.float64) for counts in (real, synthetic))
    share = s.sum() / (s.sum() + d.sum())
    expected = d * (share / (1.0 - share))
    p, q = d / d.sum(), s / s.sum()
    affinity = float(np.sqrt(p * q).sum())
    return {
        "voas_williamson": float(((s - expected) ** 2 / ((s + d) * share)).sum()),
        "freeman_tukey": float(4.0 * ((np.sqrt(s) - np.sqrt(expected)) ** 2).sum()),
        "mean_absolute_difference": float(np.abs(p - q).mean()),
        "bhattacharyya": float(np.sqrt(max(0.0, 1.0 - affinity))),
        "cells": float(d.size),
    }
