"""Nearest-neighbour adversarial accuracy, and how much of it is lost on train rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from skeval._aggregate import undefined
from skeval._parameters import SPACE, Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.result import Result
from skeval.stats import adversarial as stats
from skeval.stats.adversarial import Adversarial
from skeval.stats.relabelling import Relabelled, labels_test
from skeval.steps import (
    NearLists,
    column_key,
    encoded,
    index_of,
    nearest,
    nothing_to_measure,
    pooled_lists,
    relabellings,
    rows_of,
)
from skeval.tags import MetricTags

__all__ = ["NNAAPrivacyLoss", "NearestNeighborAdversarialAccuracy", "rivals"]

_Z = float(norm.ppf(0.975))
_TOO_FEW = "each table needs two rows to have neighbours."


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
    >>> from skeval.privacy import NearestNeighborAdversarialAccuracy
    >>> train = make_mixed(random_state=0)
    >>> NearestNeighborAdversarialAccuracy().fit(train).score(train)
    0.0
    """

    tags = MetricTags("fidelity", greater_is_better=None, bounds=(0.0, 1.0))
    _legal = {
        "n_resample": Interval(int, 1, None),
        "ties": Options(("strict", "half")),
        "space": SPACE,
        "columns": Columns(),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        n_resample: int = 30,
        ties: str = "strict",
        *,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
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
            return undefined(_TOO_FEW)
        found = self._accuracies(context, "synthetic")
        baseline = None
        if "holdout" in context and context.n_rows("holdout") >= 2:
            fresh = self._accuracies(context, "holdout")
            baseline = float(np.mean([sample.accuracy for sample in fresh]))
        return _result(found, baseline)

    def _accuracies(self, context: Context, other: str) -> list[Adversarial]:
        return [one for (one,) in _resampled(self, context, ("train",), other)]


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


class NNAAPrivacyLoss(Metric):
    """Do neighbours give train away more than holdout: 0 means no, 1 that train alone is copied.

    The adversarial accuracy between synthetic and train rows falls where the generator has learnt
    its training rows; that between synthetic and holdout rows does not. The loss is the difference.

    Parameters
    ----------
    n_resample : int, default=30
        Where the tables are of unequal size, so many random samples of the larger ones are taken,
        each of the size of the smallest, and the losses averaged.
    ties : {"strict", "half"}, default="strict"
        Whether equal distances count as wrong guesses, as published, or as half a right one.
    n_permutations : int, default=200
        Number of random relabellings of the real rows for the p-value and the standard error.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of samples and relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    NearestNeighborAdversarialAccuracy : The accuracy on train alone, a measure of resemblance.

    Notes
    -----
    ``AA(holdout, synthetic) - AA(train, synthetic)`` at equal sizes, both in `details`; 0 in the
    mean if the synthetic table does not depend on which real rows were train. The p-value is
    one-sided: given the synthetic rows, all choices of which real rows were train are then equally
    likely. Each relabelling counts all rows, whatever the sizes, among the 16 nearest real rows of
    each; its standard deviation is the standard error of the interval. A negative loss is no extra
    protection: rows were drawn towards the holdout. This is a distance screen: it can raise an
    alarm and cannot clear a release; it does not see leaks of a few outliers.

    References
    ----------
    A. Yale et al., "Generation and evaluation of privacy preserving synthetic health data",
    Neurocomputing 416 (2020) 244-255, doi:10.1016/j.neucom.2019.12.136.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import NNAAPrivacyLoss
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> result = NNAAPrivacyLoss().fit(train, holdout).evaluate(train)
    >>> round(result.value, 1), result.p_value < 0.01
    (0.5, True)
    """

    tags = MetricTags(
        "privacy",
        needs=frozenset({"holdout"}),
        greater_is_better=False,
        bounds=(-1.0, 1.0),
        evidence="screen",
    )
    _legal = {
        **NearestNeighborAdversarialAccuracy._legal,
        "n_permutations": Interval(int, 1, None),
    }

    def __init__(
        self,
        n_resample: int = 30,
        ties: str = "strict",
        *,
        n_permutations: int = 200,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_resample = n_resample
        self.ties = ties
        self.n_permutations = n_permutations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        if min(context.n_rows(role) for role in ("train", "holdout", "synthetic")) < 2:
            return undefined(_TOO_FEW)
        samples = _resampled(self, context, ("train", "holdout"), "synthetic")
        on_train, on_holdout = (
            float(np.mean([sample[i].accuracy for sample in samples])) for i in (0, 1)
        )
        columns = column_key(context.schema, self.columns)
        test = loss_test(
            context, self.space, columns, self.ties, self.n_permutations, self.random_state
        )
        value = on_holdout - on_train
        half = _Z * test.spread
        return Result(
            value,
            interval=(max(-1.0, value - half), min(1.0, value + half)),
            p_value=test.p_value,
            baseline=0.0,
            details={
                "on_train": on_train,
                "on_holdout": on_holdout,
                "standard_error": test.spread,
                "n_samples": len(samples),
            },
        )


def _resampled(
    metric: NearestNeighborAdversarialAccuracy | NNAAPrivacyLoss,
    context: Context,
    roles: tuple[str, ...],
    other: str,
) -> list[list[Adversarial]]:
    """Return the accuracies of each role with `other`: of the tables if of equal size, or samples.

    The samples are as large as the smallest of the tables.
    """
    settings = (metric.space, column_key(context.schema, metric.columns), metric.ties)
    sizes = {context.n_rows(role) for role in (*roles, other)}
    if len(sizes) == 1:
        return [accuracies(context, roles, other, None, 0, *settings)]
    seeds = range(metric.random_state, metric.random_state + metric.n_resample)
    return [accuracies(context, roles, other, min(sizes), seed, *settings) for seed in seeds]


@shared
def accuracies(
    context: Context,
    roles: tuple[str, ...],
    other: str,
    n_rows: int | None,
    seed: int,
    space: Any,
    columns: Any,
    ties: str,
) -> list[Adversarial]:
    """Return the adversarial accuracy of each role with `other`, on samples of `n_rows`."""
    if n_rows is None:
        search = _whole_tables(context, space, columns)
    else:
        search = _samples(context, (*roles, other), n_rows, seed, space, columns)
    return [
        stats.adversarial(
            search(role, other), search(other, role), search(role, role), search(other, other), ties
        )
        for role in roles
    ]


def _whole_tables(context: Context, space: Any, columns: Any) -> Any:
    def search(query: str, reference: str) -> stats.Nearest:
        distances, rows = nearest(context, query, reference, space=space, columns=columns)
        return distances[:, 0], rows[:, 0]

    return search


def _samples(
    context: Context, roles: tuple[str, ...], n_rows: int, seed: int, space: Any, columns: Any
) -> Any:
    """Return a search in seeded samples; what is found is used once and not remembered."""
    drawn = {role: rows_of(context, role, space, columns, n_rows, seed) for role in roles}
    indices = {role: index_of(context, rows, space, columns) for role, rows in drawn.items()}
    within = {role: index.itself(1) for role, index in indices.items()}

    def search(query: str, reference: str) -> stats.Nearest:
        found = within[query]
        if query != reference:
            found = indices[reference].kneighbors(drawn[query], 1)
        return found[0][:, 0], found[1][:, 0]

    return search


@shared
def rivals(context: Context, space: Any, columns: Any) -> tuple[NearLists, np.ndarray]:
    """Return the real rows nearer to each real row than its nearest synthetic row, or as near.

    The distances to the nearest synthetic rows stand beside. Rows of train come first.
    """
    to_synthetic = np.concatenate(
        [
            nearest(context, role, "synthetic", space=space, columns=columns)[0][:, 0]
            for role in ("train", "holdout")
        ]
    )
    return pooled_lists(context, None, to_synthetic, space=space, columns=columns), to_synthetic


@shared
def loss_test(
    context: Context, space: Any, columns: Any, ties: str, n_permutations: int, seed: int
) -> Relabelled:
    """Hold the privacy loss on all rows against random relabellings of the real rows."""
    lists, to_synthetic = rivals(context, space, columns)
    within, _ = nearest(context, "synthetic", "synthetic", space=space, columns=columns)
    queries = encoded(context, "synthetic", space, None if columns is None else columns)
    around = pooled_lists(context, queries, within[:, 0], space=space, columns=columns)
    # a tie counts half: the mean of counting it as none and as one
    pairs = [(lists.matrix(below=to_synthetic), around.matrix())]
    if ties == "half":
        pairs.append((lists.matrix(), around.matrix(below=within[:, 0])))
    lengths = [tuple(part.sum(axis=1) for part in pair) for pair in pairs]

    def loss(labels: np.ndarray) -> np.ndarray:
        total = np.zeros(labels.shape[1])
        for (of_real, of_synthetic), (n_real, n_synthetic) in zip(pairs, lengths, strict=True):
            own_nearer = stats.same_label_listed(of_real, labels, n_real)
            in_train = of_synthetic @ labels.astype(np.int32)
            apart = (in_train == n_synthetic[:, None]).mean(axis=0) - (in_train == 0).mean(axis=0)
            total += (apart - stats.train_share_contrast(own_nearer, labels)) / 2.0
        return total / len(pairs)

    return labels_test(loss, relabellings(context, n_permutations, seed))
