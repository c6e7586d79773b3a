"""Divergences between the joint distributions of pairs of columns of the same type."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.exceptions import NothingToMeasureWarning
from skeval.fidelity.divergences import kl_divergence
from skeval.fidelity.pair_metric import PairMetric
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import exact_mean
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import ROLES
from skeval.steps.pairs import Binning, in_name_order, joint_tables
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.schema import Kind
from skeval.utils.formatting import number
from skeval.utils.parameters import BinCount, Columns, NonNegative, Strategy


@declared
class PairKLDivergence(Metric):
    """Base of the divergences of pairs of columns, counted in the bins of the training data.

    Parameters
    ----------
    smoothing : float, default=1e-5
        Added to all fractions of both tables, which are then normalized to sum to 1.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    """

    tags = PairMetric.tags
    _halved = True  # intervals: skeval/core/intervals.py
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
            return undefined_result(reason, NothingToMeasureWarning, names=list(names))
        divergences = divergences_of_pairs(context, names, self._binning, self.smoothing)
        return _mean_of_pairs(divergences, names)

    def _summary(self, result: Result) -> str:
        return (
            "The mean Kullback-Leibler divergence of the synthetic from the training data is "
            f"{number(result.details['mean_divergence'])} nats over {result.details['n_used']} "
            "pairs of columns."
        )


@in_name_order
def divergences_of_pairs(
    context: Context, names: tuple[str, ...], binning: Binning, smoothing: float
) -> np.ndarray:
    """Return the divergence of the synthetic from the training data for each pair of columns."""
    divergences = np.full((len(names), len(names)), np.nan)
    tables = [joint_tables(context, role, names, binning).pairs() for role in ROLES]
    for (i, j, p), (_, _, q) in zip(*tables, strict=True):
        divergences[i, j] = divergences[j, i] = kl_divergence(q.ravel(), p.ravel(), smoothing)
    return divergences


def _mean_of_pairs(divergences: np.ndarray, names: tuple[str, ...]) -> Result:
    """Return the mean similarity of the pairs above the diagonal, with details."""
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
    r"""Similarity of joint distributions of numerical columns, based on the KL divergence.

    For each pair of numerical or datetime columns, the metric counts the rows on a grid and
    computes the Kullback-Leibler (KL) divergence of the synthetic from the training fractions. The
    score is the mean of ``1 / (1 + KL)`` over the pairs. It ranges from about 0 (no cell is shared)
    to 1 (equal fractions). Higher is better.

    Parameters
    ----------
    n_bins : int, default=10
        Number of bins of each column. The outer bins are unbounded.
    strategy : {"uniform", "quantile", "uniform-plain", "quantile-plain"}, default="uniform"
        Bins of equal width, or bins with equal fractions of the training rows. If a value occurs in
        at least a fraction of ``1 / n_bins`` of the training rows, it has a separate bin. The
        strategies that end with "-plain" have no such bins, see
        :class:`~skeval.tables.Discretizer`.

    Warnings
    --------
    The score depends on `smoothing` and on the grid if cells are empty. Compare it with the
    baseline, and only with scores that use the same parameters.

    See Also
    --------
    DiscreteKLDivergence : For categorical columns.
    KLDivergence : Single columns, in nats.
    ContingencySimilarity : Total variation of joint distributions, for all types of columns.

    Notes
    -----
    .. math:: \frac{1}{1 + \sum_c q_c \ln (q_c / p_c)}

    where p and q are the fractions of the training and the synthetic data in the cells c that
    either table uses. Missing values have a separate bin. A sample misses some cells at random, and
    then the value depends on `smoothing`, so compare it with the baseline, which also misses cells.
    Synthetic rows in cells without training rows have the largest effect, and missed cells have
    little effect. :class:`KLDivergence` has the opposite direction.

    References
    ----------
    Published under this name by SDMetrics, in this direction. The grid of SDMetrics corresponds to
    ``strategy="uniform-plain"`` but ends at the training range, so that values outside are not
    counted. SDMetrics replaces missing values by 0 and smooths the counts.

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
    """Similarity of joint distributions of categorical columns, based on the KL divergence.

    For each pair of categorical or boolean columns, the metric computes the Kullback-Leibler (KL)
    divergence of the synthetic from the training fractions. The score is the mean of
    ``1 / (1 + KL)`` over the pairs. It ranges from about 0 (no combination is shared) to 1 (equal
    fractions). Higher is better.

    Warnings
    --------
    The score depends on `smoothing` if combinations are missing from one table. Compare it with the
    baseline, and only with scores that use the same parameters.

    See Also
    --------
    ContinuousKLDivergence : For numerical and datetime columns. Contains the formula.
    KLDivergence : Single columns, in nats.
    CramersVDifference : Change in the association of two categorical columns.

    Notes
    -----
    Categories after the 50 most frequent of a column are pooled. Unseen categories and missing
    values have separate cells.

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
