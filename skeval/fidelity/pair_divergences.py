"""Divergences of the joint shares of pairs of columns of one kind."""

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
    """Base of the metrics of one kind of columns, whose pairs are counted on the cells of train.

    Parameters
    ----------
    smoothing : float, default=1e-5
        Added to all shares of both tables, which are then brought back to sum 1.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names.
    """

    tags = PairMetric.tags
    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py
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
        ``1 / n_bins`` has a cell of its own, but with "-plain", see
        :class:`~skeval.tables.Discretizer`.

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
