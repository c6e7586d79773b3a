"""Are synthetic rows as far apart, and as far from real ones, as real rows are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
from scipy.stats import wasserstein_distance

from skeval.base import Metric
from skeval.context import Context
from skeval.parameters import Columns, Count, Seed, Space
from skeval.result import Result, undefined
from skeval.stats import adversarial as stats
from skeval.stats.adversarial import Adversarial
from skeval.stats.distributions import LEAST_ROWS, common_histograms, kolmogorov_distance
from skeval.steps.adversarial import TOO_FEW_ROWS, resampled_accuracies
from skeval.steps.neighbors import nearest
from skeval.steps.samples import column_key, nothing_to_measure
from skeval.tags import MetricTags


class NNDistanceDistributions(Metric):
    """Distance of nearest-neighbour distributions: 0 where they are equal, 1 without overlap.

    An analyst draws, for each table, how far its rows are from their nearest neighbour of the same
    table, and of the others. Synthetic rows much closer to each other than real rows are show a
    generator that repeats itself; synthetic rows closer to train than holdout rows are, one that
    repeats train.

    Parameters
    ----------
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the sample of the larger table.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The value is the Kolmogorov distance between the distances of train rows to their nearest other
    train row and those of synthetic rows to their nearest other synthetic row, at equal sizes,
    because a smaller table is sparser; it says nothing of privacy. ``details["quantiles"]`` and
    ``details["histogram"]`` hold the five distributions that can be formed, as aggregates: at least
    10 rows of the smallest sample lie between two levels and beyond the outermost, and there is one
    bar for at least 10 of its rows, but never fewer than 4 bars. Under 20 rows the only level is
    the median, and its values are nan.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import NNDistanceDistributions
    >>> table = make_mixed()
    >>> NNDistanceDistributions().fit(table).score(table)
    0.0
    """

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="DistancesDisplay"
    )

    def __init__(
        self,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        size = min(context.n_rows("train"), context.n_rows("synthetic"))
        if size < 2:
            return undefined("train and synthetic need two rows each to have neighbours.")
        found = {"train to train": self._distances(context, "train", "train", size)}
        found["synthetic to synthetic"] = self._distances(context, "synthetic", "synthetic", size)
        found["synthetic to train"] = self._distances(context, "synthetic", "train", None)
        if "holdout" in context:
            found["holdout to train"] = self._distances(context, "holdout", "train", None)
            found["synthetic to holdout"] = self._distances(context, "synthetic", "holdout", None)
        within = found["train to train"], found["synthetic to synthetic"]
        return Result(
            kolmogorov_distance(*within),
            details={
                "wasserstein": wasserstein_distance(*within),
                "n_rows_within": size,
                "quantiles": _quantiles(found),
                "histogram": common_histograms(found),
            },
        )

    def _distances(
        self, context: Context, query: str, reference: str, n_reference: int | None
    ) -> np.ndarray:
        found, _ = nearest(
            context,
            query,
            reference,
            space=self.space,
            columns=self.columns,
            n_reference=n_reference,
            seed=self.random_state,
        )
        return found[:, 0]


def _quantiles(samples: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return quantiles of each sample at levels too far apart to tell single distances."""
    smallest = min(values.size for values in samples.values())
    if smallest < 2 * LEAST_ROWS:
        return {"levels": np.array([0.5]), **{name: np.array([np.nan]) for name in samples}}
    levels = _levels(smallest)
    return {"levels": levels, **{name: np.quantile(d, levels) for name, d in samples.items()}}


def _levels(n_rows: int) -> np.ndarray:
    """Return whole percentages around the median with `_LEAST` rows between and beyond."""
    apart = max(1, math.ceil(100 * LEAST_ROWS / n_rows))
    percentages = np.arange(50 % apart, 100, apart)
    beyond = np.minimum(percentages, 100 - percentages) * n_rows
    return percentages[beyond >= 100 * LEAST_ROWS] / 100.0


class NearestNeighborAdversarialAccuracy(Metric):
    """Can neighbours tell the tables apart: 0.5 means no, 1 always, 0 that each row has a copy.

    An adversary guesses that a row belongs to the table in which its nearest other row lies. Where
    train and synthetic rows are of one population, half of the guesses are right. An accuracy near
    1 shows tables that lie apart; one near 0 a synthetic row right beside each train row.

    Parameters
    ----------
    n_resample : int, default=30
        Where the tables are of unequal size, so many random samples of the larger one are taken,
        each of the size of the smaller, and the accuracies averaged.
    ties : {"strict", "half"}, default="strict"
        Whether equal distances count as wrong guesses, as published, or as half a right one, which
        keeps 0.5 as the value of indistinguishable discrete tables.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the samples.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    NNAAPrivacyLoss : The difference between holdout and train, which speaks of leaks.

    Notes
    -----
    The mean of the shares of train rows whose nearest synthetic row is farther than their nearest
    other train row (``details["on_train"]``), and of synthetic rows whose nearest train row is
    farther than their nearest other synthetic row (``details["on_synthetic"]``), at equal sizes.
    The baseline is the accuracy between train and holdout. The standard error counts two rows that
    are each other's nearest as one piece of evidence, for they have the same answer; it holds over
    fresh draws of both tables. This is a measure of resemblance; on its own it says nothing of
    leaks: 0.5 is also what half of the rows copied and half of them far away give.

    References
    ----------
    A. Yale et al., "Generation and evaluation of privacy preserving synthetic health data",
    Neurocomputing 416 (2020) 244-255, doi:10.1016/j.neucom.2019.12.136.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import NearestNeighborAdversarialAccuracy
    >>> train = make_mixed(random_state=0)
    >>> NearestNeighborAdversarialAccuracy().fit(train).score(train)
    0.0
    """

    tags = MetricTags("fidelity", greater_is_better=None, bounds=(0.0, 1.0))

    def __init__(
        self,
        n_resample: Count = 30,
        ties: Literal["strict", "half"] = "strict",
        *,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_resample = n_resample
        self.ties = ties
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        if min(context.n_rows(role) for role in ("train", "synthetic")) < 2:
            return undefined(TOO_FEW_ROWS)
        found = self._accuracies(context, "synthetic")
        baseline = None
        if "holdout" in context and context.n_rows("holdout") >= 2:
            fresh = self._accuracies(context, "holdout")
            baseline = float(np.mean([sample.accuracy for sample in fresh]))
        return _result(found, baseline)

    def _accuracies(self, context: Context, other: str) -> list[Adversarial]:
        settings = (self.space, column_key(context.schema, self.columns), self.ties)
        return [
            one
            for (one,) in resampled_accuracies(
                context, ("train",), other, settings, self.n_resample, self.random_state
            )
        ]


def _result(samples: list[Adversarial], baseline: float | None) -> Result:
    values = np.array([sample.accuracy for sample in samples])
    between = float(values.var(ddof=1)) if values.size > 1 else 0.0
    # one sample's variance holds that of sampling, most of which the mean averages out
    single = float(np.mean([sample.variance for sample in samples]))
    variance = max(single - between * (1.0 - 1.0 / values.size), between / values.size)
    value = float(values.mean())
    return Result(
        value,
        interval=stats.paired_interval(value, variance, samples[0].n_rows),
        baseline=baseline,
        details={
            "on_train": float(np.mean([sample.first for sample in samples])),
            "on_synthetic": float(np.mean([sample.second for sample in samples])),
            "standard_error": float(np.sqrt(variance)),
            "between_samples": float(np.sqrt(between)),
            "n_samples": values.size,
        },
    )
