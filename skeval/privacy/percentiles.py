"""Are the nearest train rows of synthetic rows nearer than those of fresh real rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import SPACE, Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.privacy.compared_percentiles import label_test, seen_from_train
from skeval.result import Result
from skeval.steps import (
    is_gower,
    nothing_to_measure,
)
from skeval.tags import MetricTags

__all__ = ["DCRPercentile"]


class DCRPercentile(Metric):
    """Percentile of the distances to train: 0 where synthetic rows are copies, large where far.

    An analyst looks at the synthetic rows nearest to train, and asks how near fresh real rows come:
    the same percentile of the distances of holdout rows to train is the baseline. Synthetic rows
    that come nearer than real rows of the same population do have been remembered.

    Parameters
    ----------
    q : float, default=5
        The percentile, in [0, 100]; linear between the rows' distances.
    baseline : {"holdout", "train_loo"}, default="holdout"
        Whose distances to train to compare with: holdout rows', or each train row's own to its
        nearest other one. Without a holdout it is the latter.
    n_permutations : int, default=200
        Number of random relabellings of the real rows for the p-value.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the relabellings and of the resamples behind ``details["ratio_interval"]``.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The value is a distance, in [0, 1] in space "gower". ``details["ratio"]`` is the value over the
    baseline, 1 where both are 0 and infinite where the baseline alone is; ``details["score"]`` is
    ``min(1, ratio)``. No sizes are matched: both tables look for neighbours among the same train
    rows. The interval holds the percentile of the generator's law, train being given, with the
    order statistics that a binomial count puts around it. The p-value is one-sided: the same
    percentile of the distances to the holdout, minus the value, is held against random choices of
    which real rows were train; all are equally likely if none was learnt, whatever else is wrong
    with the synthetic rows. At most 2,000 of them take part, and the 16 nearest real rows of each.
    ``details["p_value_against_holdout"]`` compares synthetic with holdout rows instead: the share
    of all ways to divide them in which the percentile of the one part lies as far under that of the
    other, exact. It is small for a leak, and also for a generator that keeps to the middle of the
    data. ``details["passed"]`` says that it is not below 0.05; a ratio of 1 or more is no
    criterion, since about half of all fresh tables fall below. This is a distance screen: it can
    raise an alarm and cannot clear a release.

    References
    ----------
    G. Ganev, E. De Cristofaro, "The inadequacy of similarity-based privacy metrics",
    arXiv:2312.05114, on what tests of this kind miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import DCRPercentile
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> result = DCRPercentile().fit(train, holdout).evaluate(train)
    >>> result.value, result.details["passed"]
    (0.0, False)
    """

    tags = MetricTags(
        "privacy", greater_is_better=True, bounds=(0.0, float("inf")), evidence="screen"
    )
    _legal = {
        "q": Interval(float, 0.0, 100.0),
        "baseline": Options(("holdout", "train_loo")),
        "n_permutations": Interval(int, 1, None),
        "space": SPACE,
        "columns": Columns(),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        q: float = 5,
        baseline: str = "holdout",
        *,
        n_permutations: int = 200,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.q = q
        self.baseline = baseline
        self.n_permutations = n_permutations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        compared = seen_from_train(self, context, 1, loo=self.baseline == "train_loo")
        near = compared.values
        return compared.result(
            self.q,
            self.q / 100.0,
            test=label_test(self, context, self.q / 100.0, lambda distances: distances[:, 0]),
            top=1.0 if is_gower(self.space) else float("inf"),
            seed=self.random_state,
            said=[],
            mean=float(near.mean()),
            median=float(np.median(near)),
        )
