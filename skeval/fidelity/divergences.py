"""Divergences between the real and the synthetic shares of each column's cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import rel_entr

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.halves import Halved
from skeval.fidelity.cell_metric import CellMetric
from skeval.results.result import Result, mean_of_columns
from skeval.steps.columns import ROLES, mean_ignoring_nan
from skeval.utils.formatting import number
from skeval.utils.parameters import Interval, NonNegative


@declared
class CellDivergence(CellMetric):
    """Base of the metrics that take the mean of a divergence of the columns' cells.

    Authors write `_divergence`, of the counts of train and of the synthetic table on common cells.
    """

    _halved: ClassVar[Halved] = True  # intervals: sampling_interval in skeval/stats/halves.py

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
    """Distance of shares in bits: 0 where they are equal, 1 where no cell is used by both tables.

    An analyst cuts every column into cells, learned from train, and asks how surely one value shows
    which table it came from. The value is the mean over the columns.

    Parameters
    ----------
    base : float, default=2
        Base of the logarithm, at least 2; with e, the greatest distance is 0.8326.

    See Also
    --------
    HellingerDistance : The roots of the shares.
    KLDivergence : Not symmetric, without a bound.
    TVComplement : The shares themselves.

    Notes
    -----
    ``sqrt((KL(p || r) + KL(q || r)) / 2)`` with r the mean of the shares p of train and q of the
    synthetic table. This is the root, which is a metric; its square is called the divergence.
    Missing and unseen values have cells of their own. ``details["similarity"]`` is 1 minus the
    value. It grows like a root near 0, so that chance alone keeps it well above: with K cells it
    is near ``sqrt((K - 1) (1/n + 1/m) / (8 ln 2))`` for a perfect table.

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
            f"The shares of the cells of {result.details['n_used']} columns lie "
            f"{number(result.value)} apart (Jensen-Shannon) on average, on a scale from 0 to 1."
        )


@declared
class HellingerDistance(CellDivergence):
    """Distance of the roots of shares: 0 where equal, 1 where no cell is used by both tables.

    An analyst cuts every column into cells, learned from train, and compares the shares of rows in
    them; differences of rare cells count for more than in the total variation. The value is the
    mean over the columns.

    See Also
    --------
    JensenShannonDistance : In bits.
    TVComplement : The shares themselves.

    Notes
    -----
    ``sqrt(sum (sqrt p - sqrt q)^2 / 2)`` of the shares p of train and q of the synthetic table.
    Missing and unseen values have cells of their own. ``details["similarity"]`` is 1 minus the
    value. With K cells, a perfect table has a distance near ``sqrt((K - 1) (1/n + 1/m) / 8)``.

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
            f"The roots of the shares of the cells of {result.details['n_used']} columns lie "
            f"{number(result.value)} apart on average, on a scale from 0 to 1."
        )


@declared
class KLDivergence(CellDivergence):
    """Divergence of train from synthetic, in nats: 0 where equal, larger where cells are missed.

    An analyst cuts every column into cells, learned from train, and asks how much the synthetic
    shares surprise one who sees train's values. Values that train has and the synthetic table has
    not weigh most. The value is the mean over the columns.

    Parameters
    ----------
    smoothing : float, default=1e-5
        Added to all shares of both tables, which are then brought back to sum 1. With 0 the
        divergence is infinite as soon as the synthetic table misses a cell of train.

    See Also
    --------
    JensenShannonDistance : Symmetric and bounded.
    HellingerDistance : Symmetric and bounded, without logarithms.

    Notes
    -----
    ``KL(train || synthetic) = sum p ln(p / q)`` over the cells that either table uses, p being the
    shares of train; it is not symmetric. Missing and unseen values have cells of their own. If
    cells are missed, the value is driven by `smoothing`: compare only values of equal smoothing.
    ``details["similarities"]`` has ``1 / (1 + KL)`` by column, ``details["similarity"]`` their
    mean.

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
    _halved = "root"  # intervals: sampling_interval in skeval/stats/halves.py

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
            f"Train's values carry {number(result.value)} nats more surprise for a reader who "
            f"expects the synthetic shares, on average over {result.details['n_used']} columns."
        )


def jensen_shannon_distance(counts_x: np.ndarray, counts_y: np.ndarray, base: float = 2.0) -> float:
    """Return the root of the mean divergence of both tables from their mean."""
    # 0 means equal shares in every cell; the greatest value, 1 in base 2, that no cell is
    # used by both.
    #
    # Source: D. M. Endres, J. E. Schindelin, "A new metric for probability distributions",
    # IEEE Transactions on Information Theory 49 (2003), doi:10.1109/TIT.2003.813506.
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else float(np.sqrt(np.log(2.0) / np.log(base)))
    p, q = counts_x / n, counts_y / m
    mean = (p + q) / 2.0
    divergence = (rel_entr(p, mean).sum() + rel_entr(q, mean).sum()) / 2.0
    # rounding must neither leave the root without a value nor the bounds
    return float(np.sqrt(np.clip(divergence, 0.0, np.log(2.0)) / np.log(base)))


def hellinger_distance(counts_x: np.ndarray, counts_y: np.ndarray) -> float:
    """Return the distance of the roots of both tables' shares."""
    # 0 means equal shares in every cell, 1 that no cell is used by both.
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan") if n == m else 1.0
    squares = (np.sqrt(counts_x / n) - np.sqrt(counts_y / m)) ** 2
    return min(1.0, float(np.sqrt(squares.sum() / 2.0)))


def kl_divergence(counts_x: np.ndarray, counts_y: np.ndarray, smoothing: float = 0.0) -> float:
    """Return the divergence of the first table from the second, in nats."""
    # 0 means equal shares in every cell; without smoothing it is infinite where the second
    # table lacks a cell that the first one uses.
    n, m = int(counts_x.sum()), int(counts_y.sum())
    if n == 0 or m == 0:
        return float("nan")
    used = (counts_x + counts_y) > 0
    p, q = counts_x[used] / n + smoothing, counts_y[used] / m + smoothing
    return max(0.0, float(rel_entr(p / p.sum(), q / q.sum()).sum()))
