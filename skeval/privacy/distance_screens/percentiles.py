"""Are the nearest train rows of synthetic rows nearer than those of fresh real rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning
from skeval.parameters import Columns, Count, Interval, Seed, Space
from skeval.result import Result, undefined
from skeval.stats import percentiles as stats
from skeval.stats.relabelling import Relabelled
from skeval.steps.neighbors import is_gower, nearest
from skeval.steps.relabelled import contrast_test, relabelled_nearest
from skeval.steps.samples import column_key, nothing_to_measure
from skeval.tags import MetricTags

_LEVEL = 0.05  # of the test behind "passed"


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

    def __init__(
        self,
        q: Annotated[float, Interval(0, 100)] = 5,
        baseline: Literal["holdout", "train_loo"] = "holdout",
        *,
        n_permutations: Count = 200,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
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


class Measured(Protocol):
    """A metric of distances in a space."""

    space: Any
    columns: Any


class Resampled(Measured, Protocol):
    """One that relabels real rows."""

    n_permutations: int
    random_state: int


@dataclass(frozen=True)
class Compared:
    """A number of each row, and of the rows to compare with.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Of the rows whose percentile is asked for.
    alike : ndarray or None
        Of holdout rows, drawn alike if there is no leak.
    fresh : ndarray or None
        Of the rows whose percentile is the baseline.
    kind : str
        Which rows these are: "holdout", "train_loo" or "none".
    labels_decide : bool
        Whether the values are of real rows, so that dividing these from those that are alike is
        itself a relabelling of train and holdout.
    """

    values: np.ndarray
    alike: np.ndarray | None
    fresh: np.ndarray | None
    kind: str
    labels_decide: bool = False

    def result(
        self,
        q: float,
        level: float,
        *,
        test: Relabelled | None,
        top: float,
        seed: int,
        said: Sequence[str],
        **details: Any,
    ) -> Result:
        """Return the `level` quantile beside its baseline; no value is under 0 or above `top`."""
        value = stats.percentile(self.values, level)
        against_holdout = None
        if self.alike is not None:
            against_holdout = stats.percentile_test(self.values, self.alike, level)
        p_value = None if test is None else test.p_value
        if self.labels_decide:
            p_value = against_holdout
        against = {} if self.fresh is None else self._against(self.fresh, level, seed)
        baseline = against.pop("baseline", None)
        said = [*_few(self.values.size, q, level), *said]
        if value == 0.0 == baseline:
            said.append(f"the percentile {q:g} is 0, and so is the baseline: their ratio is 1.")
        return Result(
            value,
            interval=stats.percentile_interval(self.values, level, (0.0, top)),
            p_value=p_value,
            baseline=baseline,
            details={
                "q": q,
                "n_rows": self.values.size,
                "baseline_kind": self.kind,
                **against,
                "p_value_against_holdout": against_holdout,
                "passed": None if against_holdout is None else against_holdout >= _LEVEL,
                **details,
            },
            warnings=tuple(DegenerateInputWarning(sentence) for sentence in said),
        )

    def _against(self, fresh: np.ndarray, level: float, seed: int) -> dict[str, Any]:
        ratio = stats.percentile_ratio(self.values, fresh, level)
        return {
            "baseline": stats.percentile(fresh, level),
            "ratio": ratio,
            "ratio_interval": stats.ratio_interval(self.values, fresh, level, seed=seed),
            "score": min(1.0, ratio),
        }


def _few(n_rows: int, q: float, level: float) -> list[str]:
    """Say so where a percentile is that of one row."""
    if not 0.0 < level < 1.0 or n_rows * min(level, 1.0 - level) >= 1.0:
        return []
    which = "least" if level < 0.5 else "greatest"
    return [f"the percentile {q:g} of {n_rows} rows is little else than the {which} of them."]


def statistic(metric: Measured, context: Context, query: str, reference: str, k: int) -> np.ndarray:
    """Return the distances to the nearest row, or with k of 2 those over the second nearest."""
    found, _ = nearest(context, query, reference, k=k, space=metric.space, columns=metric.columns)
    return found[:, 0] if k == 1 else stats.neighbor_ratios(found)


def seen_from_train(metric: Measured, context: Context, k: int, *, loo: bool = False) -> Compared:
    """Compare synthetic rows with holdout rows, or train rows, by their neighbours in train."""
    values, kind = statistic(metric, context, "synthetic", "train", k), "holdout"
    alike = None
    if "holdout" in context:
        alike = statistic(metric, context, "holdout", "train", k)
    fresh = alike
    if loo or alike is None:
        enough = context.n_rows("train") > k
        kind = "train_loo" if enough else "none"
        fresh = statistic(metric, context, "train", "train", k) if enough else None
    return Compared(values, alike, fresh, kind)


def seen_from_synthetic(metric: Measured, context: Context, k: int) -> Compared:
    """Compare train rows with holdout rows by their neighbours among the synthetic rows."""
    values, alike = statistic(metric, context, "train", "synthetic", k), None
    if "holdout" in context:
        alike = statistic(metric, context, "holdout", "synthetic", k)
    kind = "none" if alike is None else "holdout"
    return Compared(values, alike, alike, kind, labels_decide=True)


def label_test(
    metric: Resampled, context: Context, level: float, values_of: Callable[[np.ndarray], np.ndarray]
) -> Relabelled | None:
    """Hold the quantile of distances to the holdout minus that to train against relabellings."""
    if "holdout" not in context:
        return None
    columns = column_key(context.schema, metric.columns)
    found = relabelled_nearest(
        context, metric.space, columns, metric.n_permutations, metric.random_state
    )
    quantiles = np.array(
        [
            [stats.percentile(values_of(distances), level) for distances in labelled]
            for labelled in found.distances
        ]
    )
    with np.errstate(invalid="ignore"):  # two infinite ones differ by nothing
        return contrast_test(quantiles[:, 1] - quantiles[:, 0])


@shared
def median_test(
    context: Context, space: Any, columns: Any, n_permutations: int, seed: int
) -> Relabelled:
    """Hold the median distance to the holdout minus that to train against relabellings."""
    found = relabelled_nearest(context, space, columns, n_permutations, seed)
    medians = np.median(found.distances[..., 0], axis=2)
    with np.errstate(invalid="ignore"):  # two infinite ones differ by nothing
        return contrast_test(medians[:, 1] - medians[:, 0])
