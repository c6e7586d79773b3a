"""Divergences of the shares of each column's cells.

Divergences of the joint shares of pairs of columns of one kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.special import rel_entr

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.halves import Halved
from skeval.core.tags import COLUMN_TAGS
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity.pair_trends import PairMetric
from skeval.results.result import Result, mean_of_columns, undefined
from skeval.stats.distributions import exact_mean
from skeval.steps.pairs import Binning, in_name_order, joint_tables
from skeval.steps.samples import ROLES, chosen_columns, columns_of, histogram, mean_of_defined
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import Kind
from skeval.utils.formatting import number
from skeval.utils.parameters import BinCount, Columns, Interval, NonNegative, Strategy


@declared
class CellMetric(Metric):
    """Base of the metrics that compare the shares of each column's cells.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of numeric and date columns.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or of equal share of train. A value that alone fills a share of
        ``1 / n_bins`` has a cell of its own, but with "-plain", see :class:`~skeval.Discretizer`.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    """

    tags = replace(COLUMN_TAGS, greater_is_better=False)

    _: KW_ONLY
    n_bins: BinCount = 10
    strategy: Strategy = "uniform"
    columns: Columns = None

    def _counts(self, context: Context, role: str) -> dict[str, np.ndarray]:
        """Return the counts of a role's values in the cells of each column, learned from train.

        All categories have cells of their own; missing and unseen values too.
        """
        return {
            name: histogram(context, role, name, self.n_bins, self.strategy, None)
            for name in chosen_columns(context.schema, self.columns)
        }


@declared
class CellDivergence(CellMetric):
    """Base of the metrics that take the mean of a divergence of the columns' cells.

    Authors write `_divergence`, of the counts of train and of the synthetic table on common cells.
    """

    _halved: ClassVar[Halved] = True

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
        return {"similarity": 1.0 - mean_of_defined(scores)}


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
    _halved = "root"

    smoothing: NonNegative = 1e-5

    def _divergence(self, train: np.ndarray, synthetic: np.ndarray) -> float:
        return kl_divergence(train, synthetic, float(self.smoothing))

    def _similarities(self, scores: Mapping[str, float]) -> dict[str, Any]:
        similarities = {name: 1.0 / (1.0 + score) for name, score in scores.items()}
        return {
            "direction": "KL(train || synthetic)",
            "similarities": similarities,
            "similarity": mean_of_defined(similarities),
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


@declared
class PairKLDivergence(Metric):
    """Base of the metrics of one kind of columns, whose pairs are counted on the cells of train.

    Parameters
    ----------
    smoothing : float, default=1e-5
        Added to all shares of both tables, which are then brought back to sum 1.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    """

    tags = PairMetric.tags
    _halved = True
    kinds: ClassVar[tuple[Kind, ...]]

    _: KW_ONLY
    smoothing: NonNegative = 1e-5
    columns: Columns = None

    @property
    def _binning(self) -> Binning:
        return Binning()

    def _compute(self, context: Context) -> Result:
        names = columns_of(context, self.columns, self.kinds)
        if len(names) < 2:
            reason = f"fewer than two columns are {' or '.join(self.kinds)}."
            return undefined(reason, NothingToMeasureWarning, names=list(names))
        divergences = divergences_of_pairs(context, names, self._binning, self.smoothing)
        return _mean_of_pairs(divergences, names)

    def _summary(self, result: Result) -> str:
        return (
            f"Synthetic pairs of values carry {number(result.details['mean_divergence'])} nats "
            "more surprise for a reader who expects train's joint shares, on average over "
            f"{result.details['n_used']} pairs."
        )


@in_name_order
def divergences_of_pairs(
    context: Context, names: tuple[str, ...], binning: Binning, smoothing: float
) -> np.ndarray:
    """Return the divergence of each pair of columns from synthetic to train; nan if of itself."""
    divergences = np.full((len(names), len(names)), np.nan)
    tables = [joint_tables(context, role, names, binning).pairs() for role in ROLES]
    for (i, j, p), (_, _, q) in zip(*tables, strict=True):
        divergences[i, j] = divergences[j, i] = kl_divergence(q.ravel(), p.ravel(), smoothing)
    return divergences


def _mean_of_pairs(divergences: np.ndarray, names: tuple[str, ...]) -> Result:
    """Return the mean agreement of pairs, those above the diagonal, and all that is known of it."""
    above = divergences[np.triu_indices(len(names), 1)]
    details = {
        "names": list(names),
        "matrix": 1.0 / (1.0 + divergences),
        "mean_divergence": exact_mean(above),
        "n_used": above.size,
    }
    return Result(exact_mean(1.0 / (1.0 + above)), details=details)


@declared
class ContinuousKLDivergence(PairKLDivergence):
    r"""Agreement of joint bins: 1 where pairs of numbers share them, near 0 where they miss.

    An analyst lays a grid over every two numeric or date columns and asks how much the synthetic
    rows surprise one who expects train's shares of its cells. The value is the mean over the pairs
    of ``1 / (1 + KL)``.

    Parameters
    ----------
    n_bins : int, default=10
        Bins of each column; the outer ones reach to infinity.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or of equal share of train. A value that alone fills a share of
        ``1 / n_bins`` has a cell of its own, but with "-plain", see :class:`~skeval.Discretizer`.

    See Also
    --------
    DiscreteKLDivergence : The same for categories.
    KLDivergence : Single columns, in nats.
    ContingencySimilarity : Total variation of joint shares, of all kinds of columns.

    Notes
    -----
    .. math:: \frac{1}{1 + \sum_c q_c \ln (q_c / p_c)}

    with the shares p of train and q of the synthetic table in the cells c that either uses. Missing
    values have a cell of their own. A sample misses cells by chance alone, and the value then
    depends on `smoothing`: compare with the baseline, which misses cells too. Synthetic rows in
    cells that train lacks weigh most, cells of train that are lost little: :class:`KLDivergence`
    looks the other way.

    References
    ----------
    Published under this name by SDMetrics, in this direction. Its grid is that of
    ``strategy="uniform-plain"``, but ends at train's range, so that values beyond are not counted
    at all; missing values count as 0, and counts are smoothed.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import ContinuousKLDivergence
    >>> train = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0], "b": [0.0, 0.0, 1.0, 1.0]})
    >>> metric = ContinuousKLDivergence(n_bins=2, smoothing=0.0).fit(train)
    >>> metric.score(train), round(metric.score(train.iloc[[0, 1, 1, 2]]), 4)
    (1.0, 0.8843)
    """

    kinds = NUMERIC

    n_bins: BinCount = 10
    _: KW_ONLY
    strategy: Strategy = "uniform"

    @property
    def _binning(self) -> Binning:
        return Binning(self.n_bins, self.strategy)


@declared
class DiscreteKLDivergence(PairKLDivergence):
    """Agreement of joint categories: 1 where pairs have the same shares, near 0 where they miss.

    An analyst cross-tabulates every two categorical or boolean columns and asks how much the
    synthetic rows surprise one who expects train's shares. The value is the mean over the pairs of
    ``1 / (1 + KL)``.

    See Also
    --------
    ContinuousKLDivergence : The same for numbers and dates, and its formula.
    KLDivergence : Single columns, in nats.
    CramersVDifference : How much the association of two categories changes.

    Notes
    -----
    Categories beyond the 50 most frequent of a column are pooled, those that train never had have a
    cell of their own, and so have missing values.

    References
    ----------
    Published under this name by SDMetrics, in this direction.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import DiscreteKLDivergence
    >>> train = pd.DataFrame({"a": list("xxyy"), "b": list("ppqq")})
    >>> metric = DiscreteKLDivergence(smoothing=0.0).fit(train)
    >>> metric.score(train), round(metric.score(train.iloc[[0, 1, 1, 2]]), 4)
    (1.0, 0.8843)
    """

    kinds = NOMINAL

    smoothing: NonNegative = 1e-5
