"""Are synthetic rows the generator's own, or noisy copies of train rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import Columns
from skeval.base import Metric
from skeval.context import Context
from skeval.privacy.distances import SPACE
from skeval.result import Result
from skeval.stats import adversarial as stats
from skeval.stats.relabelling import share_p_value
from skeval.steps import nearest, nothing_to_measure
from skeval.tags import MetricTags

__all__ = ["Authenticity"]


class Authenticity(Metric):
    """Share of rows that are nobody's noisy copy: 0 where all are copies; 1 is rarely reached.

    A synthetic row is authentic if it is farther from its nearest train row than that train row is
    from its own nearest other train row. A generator that adds a little noise to its training rows
    makes rows that are not.

    Parameters
    ----------
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The mean over synthetic rows s of ``d(s, t) > d(t, its nearest other train row)``, t the train
    row nearest to s; equal distances are not authentic. A fresh real table does not score 1: about
    0.44 in three dimensions. The baseline is therefore the share of holdout rows that are authentic
    with respect to train, and ``details["ratio"]`` the value relative to it. The interval is
    Wilson's, over fresh draws of train and synthetic rows; synthetic rows beside the same train row
    count as one piece of evidence. The p-value is that of Fisher's exact
    test, one-sided: if the synthetic rows are of the population, they and the holdout rows are
    authentic equally often. Rows of poor quality, far from all real ones, count as authentic. This
    is a distance screen: it can raise an alarm and cannot clear a release.

    References
    ----------
    A. M. Alaa et al., "How faithful is your synthetic data? Sample-level metrics for evaluating and
    auditing generative models", ICML 2022, arXiv:2102.08921.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import Authenticity
    >>> train = make_mixed(random_state=0)
    >>> Authenticity().fit(train).score(train)
    0.0
    """

    tags = MetricTags("privacy", greater_is_better=True, bounds=(0.0, 1.0), evidence="screen")
    _legal = {"space": SPACE, "columns": Columns()}

    def __init__(self, space: Any = "gower", columns: int | list[str] | None = None) -> None:
        self.space = space
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        if context.n_rows("train") < 2:
            return undefined("train needs two rows to have neighbours.")
        authentic, beside = self._authentic(context, "synthetic")
        n, value = authentic.size, float(authentic.mean())
        variance = stats.clustered_variance(authentic, beside)
        interval = stats.paired_interval(value, variance, n)
        details = {"standard_error": float(np.sqrt(variance))}
        if "holdout" not in context:
            return Result(value, interval=interval, details=details)
        fresh, _ = self._authentic(context, "holdout")
        baseline = float(fresh.mean())
        return Result(
            value,
            interval=interval,
            p_value=share_p_value(int((~authentic).sum()), n, int((~fresh).sum()), fresh.size),
            baseline=baseline,
            details={**details, "ratio": value / baseline if baseline > 0 else float("nan")},
        )

    def _authentic(self, context: Context, role: str) -> tuple[np.ndarray, np.ndarray]:
        """Tell which rows of a role are authentic, and which train row is the nearest of each."""
        to_train, at = nearest(context, role, "train", space=self.space, columns=self.columns)
        within, _ = nearest(context, "train", "train", space=self.space, columns=self.columns)
        return to_train[:, 0] > within[at[:, 0], 0], at[:, 0]
