"""Are synthetic rows as far from train as holdout rows are, in the median."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.parameters import Columns, Count, Seed, Space
from skeval.privacy.distance_screens.percentiles import median_test
from skeval.result import Result, undefined
from skeval.stats.distributions import common_histograms, kolmogorov_distance
from skeval.stats.percentiles import ratio_interval, smaller_test
from skeval.steps.neighbors import nearest
from skeval.steps.samples import column_key, nothing_to_measure
from skeval.tags import MetricTags


class HoldoutDistanceRatio(Metric):
    """Ratio of median distances to train, synthetic to holdout: 1 where alike, 0 where copies.

    Holdout rows are as far from train as rows of the population are that the generator never saw.
    Synthetic rows should be no nearer. Some call this ratio NNDR, which elsewhere is that of the
    first to the second neighbour, :class:`~skeval.privacy.NNDR`.

    Parameters
    ----------
    n_permutations : int, default=200
        Number of random relabellings of the real rows for the p-value.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the relabellings and of the resamples behind the interval.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``median(d(S, T)) / median(d(H, T))``; not defined where half of the holdout rows stand in
    train. Sizes need not be equal, since both tables look for neighbours in train. The interval
    resamples both tables' distances, train being given. The p-value is one-sided: the median
    distance to the holdout minus that to train is held against random choices of which real rows
    were train; all are equally likely if none was learnt, whatever else is wrong with the synthetic
    rows. At most 2,000 of them take part, and the 16 nearest real rows of each.
    ``details["p_value_against_holdout"]`` is that of the one-sided Kolmogorov-Smirnov test that
    synthetic rows are nearer to train than holdout rows are, anywhere in the distribution; it is
    small for a leak, and also for a generator that keeps to the middle of the data.
    ``details["nearer"]`` is its statistic, the largest excess of synthetic rows within a distance,
    and ``details["histogram"]`` holds both distributions, coarse enough to tell no single row. A
    value above 1 is no extra protection: rows far from all real ones are not plausible either. This
    is a distance screen: it can raise an alarm and cannot clear a release.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what screens miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import HoldoutDistanceRatio
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> HoldoutDistanceRatio().fit(train, holdout).score(train)
    0.0
    """

    tags = MetricTags(
        "privacy",
        needs=frozenset({"holdout"}),
        greater_is_better=True,
        bounds=(0.0, float("inf")),
        evidence="screen",
        display="DistancesDisplay",
    )

    def __init__(
        self,
        n_permutations: Count = 200,
        *,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_permutations = n_permutations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        synthetic, holdout = (
            nearest(context, role, "train", space=self.space, columns=self.columns)[0][:, 0]
            for role in ("synthetic", "holdout")
        )
        details: dict[str, Any] = {
            "median_synthetic": float(np.median(synthetic)),
            "median_holdout": float(np.median(holdout)),
            "kolmogorov": kolmogorov_distance(synthetic, holdout),
        }
        details["nearer"], details["p_value_against_holdout"] = smaller_test(synthetic, holdout)
        if details["median_holdout"] == 0.0:
            return undefined(
                "half of the holdout rows stand in train too: no distance to compare with.",
                **details,
            )
        columns = column_key(context.schema, self.columns)
        settings = (self.space, columns, self.n_permutations, self.random_state)
        named = {"synthetic to train": synthetic, "holdout to train": holdout}
        return Result(
            details["median_synthetic"] / details["median_holdout"],
            interval=ratio_interval(synthetic, holdout, 0.5, seed=self.random_state),
            p_value=median_test(context, *settings).p_value,
            baseline=1.0,
            details={**details, "histogram": common_histograms(named)},
        )
