"""Resemblance by accumulated minimum distances: does every row find a near one."""

from __future__ import annotations

from typing import Any

from skeval._accumulation import LEGAL, accumulated, cannot_accumulate, check_scale
from skeval._aggregate import undefined
from skeval.base import Metric
from skeval.context import Context
from skeval.result import Result
from skeval.tags import MetricTags

__all__ = ["MDAResemblance"]


class MDAResemblance(Metric):
    """Reach of the rows for each other: 1 where all find one within the threshold, 0 where none do.

    For each synthetic row the distance to its nearest train row is taken, and for each train row
    that to its nearest synthetic row. The accumulation curve F(u) is the share of these distances
    that are at most u. Its area right of a threshold is the larger, the sooner all rows have found
    another: synthetic rows that are like none of train, and train rows that no synthetic row is
    like, make it smaller. How near rows are within the threshold does not matter here; that is
    :class:`~skeval.privacy.MinimumDistanceAccumulation`.

    Parameters
    ----------
    threshold : float, list of float or "loo-median", default=0.2
        Distances in (0, 1) that are near enough, as shares of the largest one. Of a list, the first
        gives the value, and ``details`` hold the areas at all. "loo-median" is the median distance
        of a train row to its nearest other train row.
    direction : {"symmetric", "synthetic", "real"}, default="symmetric"
        Look from the synthetic rows to train, from the train rows to the synthetic table, or take
        the mean of both areas.
    scale : {"max", "observed"}, default="max"
        What distances are divided by: the largest distance that there can be, which only the space
        "gower" has (1), or the largest that is found between train and synthetic rows; then one
        far row makes all others near.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix; the latter
        needs ``scale="observed"``.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the sample of the larger of synthetic table and holdout.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if ``scale="max"`` is asked for in another space than "gower".

    Notes
    -----
    With x the distances and t the threshold, the value is ``1 / (1 - t) * (integral of F from t to
    1) = mean(1 - max(x, t)) / (1 - t)``, the integral being exact. It is near 1 wherever hardly any
    distance exceeds the threshold, as in tables of few columns: "loo-median" then tells more. Read
    it against the baseline, which is that of the holdout in the synthetic rows' place. The baseline
    at equal sizes, the interval and the curve in ``details`` are as for the metric of privacy. A
    table of copies has the value 1: never read it without a metric of privacy.

    References
    ----------
    A. Pavao (2018) proposed the accumulation curve and its two areas; the definition by exact
    integrals, and the choice of directions, are ours.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import MDAResemblance
    >>> table = make_mixed()
    >>> MDAResemblance().fit(table).score(table)
    1.0
    """

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="MDADisplay")
    _legal = LEGAL

    def __init__(
        self,
        threshold: float | list[float] | str = 0.2,
        direction: str = "symmetric",
        scale: str = "max",
        *,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.threshold = threshold
        self.direction = direction
        self.scale = scale
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_scale(self)

    def _compute(self, context: Context) -> Result:
        if reason := cannot_accumulate(self, context):
            return undefined(reason)
        return accumulated(self, context).result("resemblance")
