"""Divergences between the real and synthetic distributions of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import rel_entr

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.intervals import Halved
from skeval.fidelity.cell_metric import CellMetric
from skeval.results.result import Result, mean_of_columns
from skeval.steps.columns import ROLES, mean_ignoring_nan
from skeval.utils.formatting import number
from skeval.utils.parameters import Interval, NonNegative


@declared
class CellDivergence(CellMetric):
    """Base of the metrics that average a divergence over the columns.

    Subclasses define `_divergence`, a function of the counts of both tables in common bins.
    """

    _halved: ClassVar[Halved] = True  # intervals: skeval/core/intervals.py

    def _divergence(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        raise NotImplementedError(f"{type(self).__name__} must define _divergence(...).")

    def _compute(self, context: Context) -> Result:
        train, synthetic = (self._counts(context, role) for role in ROLES)
        scores = {name: self._divergence(train[name], synthetic[name]) for name in train}
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            greater_is_better=False,
            **self._similarities(scores),
        )

    def _similarities(self, scores: Mapping[str, float]) -> dict[str, Any]:
        return {"similarity": 1.0 - mean_ignoring_nan(scores)}


@declared
class JensenShannonDistance(CellDivergence):
    """Jensen-Shannon distance between the real and synthetic distributions of columns.

    The metric divides every column into bins learned from the training data and computes the
    distance between the fractions of training and synthetic rows in the bins. The value is the mean
    over the columns. It ranges from 0 (equal fractions) to 1 (no bin is shared). Lower is better.

    Parameters
    ----------
    base : float, default=2
        Base of the logarithm, at least 2. For example, the maximum distance for base e is 0.8326.

    Warnings
    --------
    Even new real data have a value above 0, because small random differences have a large effect
    close to 0. Joint distributions are not compared.

    See Also
    --------
    HellingerDistance : Compares the square roots of the fractions.
    KLDivergence : Not symmetric and not bounded.
    TVComplement : Compares the fractions.

    Notes
    -----
    The distance is ``sqrt((KL(p || r) + KL(q || r)) / 2)``, where p and q are the fractions of the
    training and the synthetic data and r is their mean. The square root is a metric, and its square
    is called the divergence. Missing and unseen values have separate bins.
    ``details["similarity"]`` is one minus the value. Close to 0, the distance grows like a square
    root, so small random differences have a large effect. For new real data and K bins, the
    distance is about ``sqrt((K - 1) (1/n + 1/m) / (8 ln 2))``.

    References
    ----------
    D. M. Endres, J. E. Schindelin, "A new metric for probability distributions", IEEE Transactions
    on Information Theory 49 (2003), doi:10.1109/TIT.2003.813506.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import JensenShannonDistance
    >>> train = pd.DataFrame({"c": list("aaaaabbbcc")})
    >>> synthetic = pd.DataFrame({"c": list("aaaabbbbcc")})
    >>> round(JensenShannonDistance().fit(train).score(synthetic), 7)
    0.0958432
    """

    base: Annotated[float, Interval(2)] = 2

    def _divergence(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        return jensen_shannon_distance(train, synthetic, float(self.base))

    def _summary(self, result: Result) -> str:
        return (
            f"The mean Jensen-Shannon distance between the distributions of "
            f"{result.details['n_used']} columns is {number(result.value)} (0: equal, 1: disjoint)."
        )


@declared
class HellingerDistance(CellDivergence):
    """Hellinger distance between the real and synthetic distributions of columns.

    The metric divides every column into bins learned from the training data and compares the square
    roots of the fractions of training and synthetic rows in the bins. Differences in rare bins have
    more weight than in the total variation distance. The value is the mean over the columns. It
    ranges from 0 (equal fractions) to 1 (no bin is shared). Lower is better.

    Warnings
    --------
    Even new real data have a value above 0, which grows with the number of bins and decreases with
    the number of rows. Joint distributions are not compared.

    See Also
    --------
    JensenShannonDistance : Based on the information in bits.
    TVComplement : Compares the fractions.

    Notes
    -----
    The distance is ``sqrt(sum (sqrt p - sqrt q)^2 / 2)``, where p and q are the fractions of the
    training and the synthetic data. Missing and unseen values have separate bins.
    ``details["similarity"]`` is one minus the value. For new real data and K bins, the distance is
    about ``sqrt((K - 1) (1/n + 1/m) / 8)``.

    References
    ----------
    L. Le Cam, G. L. Yang, "Asymptotics in Statistics: Some Basic Concepts", Springer (2000),
    doi:10.1007/978-1-4612-1166-2.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import HellingerDistance
    >>> train = pd.DataFrame({"c": list("aaaaabbbcc")})
    >>> synthetic = pd.DataFrame({"c": list("aaaabbbbcc")})
    >>> round(HellingerDistance().fit(train).score(synthetic), 7)
    0.0798514
    """

    def _divergence(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        return hellinger_distance(train, synthetic)

    def _summary(self, result: Result) -> str:
        return (
            f"The mean Hellinger distance between the distributions of {result.details['n_used']} "
            f"columns is {number(result.value)} (0: equal, 1: disjoint)."
        )


@declared
class KLDivergence(CellDivergence):
    """Kullback-Leibler divergence of the training from the synthetic columns, in nats.

    The metric divides every column into bins learned from the training data and computes the
    divergence of the training fractions from the synthetic fractions. Training values that are
    missing from the synthetic data have the largest effect. The value is the mean over the columns.
    It is 0 for equal fractions and has no upper bound. Lower is better.

    Parameters
    ----------
    smoothing : float, default=1e-5
        Added to all fractions of both tables, which are then normalized to sum to 1. If 0, the
        divergence is infinite if the synthetic data miss a bin of the training data.

    Warnings
    --------
    If training values are missing from the synthetic data, the value is determined by `smoothing`.
    Synthetic values that do not occur in the training data have little effect.

    See Also
    --------
    JensenShannonDistance : Symmetric and bounded.
    HellingerDistance : Symmetric and bounded, without logarithms.

    Notes
    -----
    The divergence is ``KL(train || synthetic) = sum p ln(p / q)`` over the bins that either table
    uses, where p are the training fractions and q are the synthetic fractions. It is not symmetric.
    Missing and unseen values have separate bins. If the synthetic data miss bins, the value
    strongly depends on `smoothing`, so compare only values with equal smoothing.
    ``details["similarities"]`` contains ``1 / (1 + KL)`` for each column, and
    ``details["similarity"]`` contains their mean.

    References
    ----------
    S. Kullback, R. A. Leibler, "On information and sufficiency", Annals of Mathematical Statistics
    22 (1951), doi:10.1214/aoms/1177729694. SDMetrics publishes ``1 / (1 + KL)``.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KLDivergence
    >>> train = pd.DataFrame({"c": list("aaaaabbbcc")})
    >>> synthetic = pd.DataFrame({"c": list("aaaabbbbcc")})
    >>> round(KLDivergence(smoothing=0.0).fit(train).score(synthetic), 7)
    0.0252672
    """

    tags = replace(CellDivergence.tags, bounds=(0.0, float("inf")))
    _halved = "root"  # intervals: skeval/core/intervals.py

    smoothing: NonNegative = 1e-5

    def _divergence(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        return kl_divergence(train, synthetic, float(self.smoothing))

    def _similarities(self, scores: Mapping[str, float]) -> dict[str, Any]:
        similarities = {name: 1.0 / (1.0 + score) for name, score in scores.items()}
        return {
            "direction": "KL(train || synthetic)",
            "similarities": similarities,
            "similarity": mean_ignoring_nan(similarities),
        }

    def _summary(self, result: Result) -> str:
        return (
            f"The mean Kullback-Leibler divergence of the training data from the synthetic data is "
            f"{number(result.value)} nats over {result.details['n_used']} columns."
        )


def jensen_shannon_distance(counts_x: np.ndarray, counts_y: np.ndarray, base: float = 2.0) -> float:
    """Return the square root of the mean divergence of both tables from their mean."""
    # 0 indicates equal fractions in every bin. The maximum, 1 for base 2, indicates that the
    # tables share no bin.
    #
    # Source: D. M. Endres, J. E. Schindelin, "A new metric for probability distributions",
    # IEEE Transactions on Information Theory 49 (2003), doi:10.1109/TIT.2003.813506.
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else float(np.sqrt(np.log(2.0) / np.log(base)))
    p, q = counts_x / n, counts_y / m
    mean = (p + q) / 2.0
    divergence = (rel_entr(p, mean).sum() + rel_entr(q, mean).sum()) / 2.0
    # rounding must not make the argument negative or exceed the maximum
    return float(np.sqrt(np.clip(divergence, 0.0, np.log(2.0)) / np.log(base)))


def hellinger_distance(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return the distance between the square roots of the fractions of two tables."""
    # 0 indicates equal fractions in every bin, 1 that the tables share no bin
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else 1.0
    squares = (np.sqrt(counts_x / n) - np.sqrt(counts_y / m)) ** 2
    return min(1.0, float(np.sqrt(squares.sum() / 2.0)))


def kl_divergence(counts_x: np.ndarray, counts_y: np.ndarray, smoothing: float = 0.0) -> float:
    """Return the divergence of the first table from the second, in nats."""
    # 0 indicates equal fractions in every bin. Without smoothing, the divergence is infinite if
    # the second table misses a bin of the first one.
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan")
    used = (counts_x + counts_y) > 0
    p, q = counts_x[used] / n + smoothing, counts_y[used] / m + smoothing
    return max(0.0, float(rel_entr(p / p.sum(), q / q.sum()).sum()))
