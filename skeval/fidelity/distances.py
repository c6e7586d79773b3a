"""Are synthetic rows as far apart, and as far from real ones, as real rows are.

Distances of two tables as samples of vectors: value, baseline and permutation test.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy.stats import wasserstein_distance

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import AccumulationMetric, NeighborMetric
from skeval.core.tags import COLUMN_TAGS, MetricTags
from skeval.results.result import Result, undefined
from skeval.stats import adversarial_accuracy
from skeval.stats.adversarial_accuracy import Adversarial
from skeval.stats.distributions import MIN_ROWS, common_histograms, kolmogorov_distance
from skeval.stats.pair_sums import permutation_p_value
from skeval.steps.adversarial_accuracies import TOO_FEW_ROWS, resampled_accuracies
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.columns import ROLES
from skeval.steps.encoded_rows import OfTrain, preprocessor
from skeval.steps.neighbors import rows_of
from skeval.steps.samples import sample_positions
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import Count, Interval, MatrixSpace, Seed


@declared
class NNDistanceDistributions(NeighborMetric):
    """Distance of nearest-neighbour distributions: 0 where they are equal, 1 without overlap.

    An analyst draws, for each table, how far its rows are from their nearest neighbour of the same
    table, and of the others. Synthetic rows much closer to each other than real rows are show a
    generator that repeats itself; synthetic rows closer to train than holdout rows are, one that
    repeats train.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the sample of the larger table.

    See Also
    --------
    NearestNeighborAdversarialAccuracy : Whether neighbours distinguish the tables.
    MDAResemblance : Area under the curve of the distances.
    skeval.privacy.HoldoutDistanceRatio : Distances to train relative to those of the holdout.

    Notes
    -----
    The value is the Kolmogorov distance between the distances of train rows to their nearest other
    train row and those of synthetic rows to their nearest other synthetic row, at equal sizes,
    because a smaller table is sparser; it says nothing of privacy.

    ``details["quantiles"]`` and ``details["histogram"]`` hold the five distributions that can be
    formed, as aggregates: at least 10 rows of the smallest sample lie between two levels and beyond
    the outermost, and there is one bar for at least 10 of its rows, but never fewer than 4 bars.
    Under 20 rows the only level is the median, and its values are nan.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import NNDistanceDistributions
    >>> table = make_mixed()
    >>> NNDistanceDistributions().fit(table).score(table)
    0.0
    """

    tags = replace(
        COLUMN_TAGS, greater_is_better=False, display="DistancesDisplay", scaling="neighbours"
    )
    report_columns = "knn"

    _halved = True

    def _measure(self, context: Context, columns: Any) -> float | Result:
        size = min(context.n_rows(role) for role in ROLES)
        if size < 2:
            return undefined("train and synthetic need two rows each to have neighbours.")
        return kolmogorov_distance(*self._within(context, columns).values())

    def _within(self, context: Context, columns: Any) -> dict[str, np.ndarray]:
        """Return the distances of the rows of samples of both tables to each other."""
        size = min(context.n_rows(role) for role in ROLES)
        sample = {"n_reference": size, "seed": self.random_state}
        names = {f"{role} to {role}": role for role in ROLES}
        return {k: self._distances(context, r, r, columns, **sample) for k, r in names.items()}

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        within = self._within(context, columns)
        pairs = [("synthetic", "train")]
        if "holdout" in context:
            pairs += [("holdout", "train"), ("synthetic", "holdout")]
        across = {f"{a} to {b}": self._distances(context, a, b, columns) for a, b in pairs}
        distances = within | across
        details = {
            "wasserstein": wasserstein_distance(*within.values()),
            "n_rows_within": within["train to train"].size,
            "quantiles": _quantiles(distances),
            "histogram": common_histograms(distances),
        }
        return replace(result, details=details)

    def _n_counted(self, context: Context, n_rows: int) -> int:
        return min(n_rows, context.n_rows("train"))  # distances are compared at equal sizes

    def _summary(self, result: Result) -> str:
        curves = "The cumulative curves of distances within train and within synthetic"
        return f"{curves} lie {percent(result.value)} apart."


def _quantiles(samples: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return quantiles of each sample at levels too far apart to show single distances."""
    smallest = min(values.size for values in samples.values())
    if smallest < 2 * MIN_ROWS:
        return {"levels": np.array([0.5]), **{name: np.array([np.nan]) for name in samples}}
    levels = quantile_levels(smallest)
    return {"levels": levels, **{name: np.quantile(d, levels) for name, d in samples.items()}}


def quantile_levels(n_rows: int) -> np.ndarray:
    """Return whole percentages around the median with `MIN_ROWS` rows between and beyond."""
    apart = max(1, math.ceil(100 * MIN_ROWS / n_rows))
    percentages = np.arange(50 % apart, 100, apart)
    beyond = np.minimum(percentages, 100 - percentages) * n_rows
    return percentages[beyond >= 100 * MIN_ROWS] / 100.0


@declared
class MDAResemblance(AccumulationMetric):
    r"""Reach of the rows for each other: 1 if all find one within the threshold, 0 if none does.

    For each synthetic row the distance to its nearest train row is taken, and for each train row
    that to its nearest synthetic row. The accumulation curve F(u) is the share of these distances
    that are at most u. Its area right of a threshold is the larger, the sooner all rows have found
    another: synthetic rows that are like none of train, and train rows that no synthetic row is
    like, make it smaller. How near rows are within the threshold does not matter here; that is
    :class:`~skeval.privacy.MinimumDistanceAccumulation`.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the sample of the larger of synthetic table and holdout.

    Raises
    ------
    InvalidParameterError
        At fit, if ``scale="max"`` is asked for in another space than "gower".

    See Also
    --------
    skeval.privacy.MinimumDistanceAccumulation : The area left of the threshold, for privacy.
    NNDistanceDistributions : The distributions of the distances.

    Notes
    -----
    With x the distances and t the threshold, the value is the integral of F right of t, exactly:

    .. math:: \frac{1}{1 - t} \int_t^1 F(u)\, du = \frac{1}{n (1 - t)} \sum_i (1 - \max(x_i, t))

    It is near 1 wherever hardly any distance exceeds the threshold, as in tables of few columns:
    "loo-median" then says more. Read it against the baseline, which is the value of holdout rows.

    The baseline at equal sizes, the interval and the curve in ``details`` are as for the metric of
    privacy. A table of copies has the value 1: never read it without a metric of privacy.

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

    tags = replace(COLUMN_TAGS, display="MDADisplay", scaling="neighbours")

    area = "resemblance"

    def _summary(self, result: Result) -> str:
        right = f"right of {number(as_float(result.details['threshold']))}"
        filled = f"Nearest rows fill {percent(result.value)} of the area {right}"
        return f"{filled}: the rest is of rows that find none so near."


@declared
class NearestNeighborAdversarialAccuracy(NeighborMetric):
    """Do neighbours distinguish the tables: 0.5 means no, 1 always, 0 that each row has a copy.

    An adversary guesses that a row belongs to the table in which its nearest other row lies. If
    train and synthetic rows are of one population, half of the guesses are right. An accuracy near
    1 shows tables that lie apart; one near 0 a synthetic row right next to each train row.

    Parameters
    ----------
    n_resample : int, default=30
        Number of random samples of the larger table, each of the size of the smaller one, over
        which the accuracy is averaged.
    ties : {"strict", "half"}, default="strict"
        Whether equal distances count as wrong guesses, as published, or as half a right one, which
        keeps 0.5 as the value of indistinguishable discrete tables.
    random_state : int, default=0
        Seed of the samples.

    Warnings
    --------
    This is a measure of resemblance; on its own it says nothing of leaks: 0.5 is also what half of
    the rows copied and half of them far away give.

    See Also
    --------
    skeval.privacy.NNAAPrivacyLoss : The difference between holdout and train, for privacy.
    NNDistanceDistributions : The distributions of the distances.
    ClassifierTwoSampleTest : A learned classifier in the place of the neighbour.

    Notes
    -----
    The value is the mean of the shares of train rows whose nearest synthetic row is farther than
    their nearest other train row (``details["on_train"]``), and of synthetic rows whose nearest
    train row is farther than their nearest other synthetic row (``details["on_synthetic"]``), at
    equal sizes. The baseline is the accuracy between train and holdout.

    The standard error counts two rows that are each other's nearest as one piece of evidence, for
    they have the same answer; it holds over fresh draws of both tables.

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

    tags = MetricTags("fidelity", greater_is_better=None, bounds=(0.0, 1.0), scaling="neighbours")

    n_resample: Count = 30
    ties: Literal["strict", "half"] = "strict"

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if min(context.n_rows(role) for role in ROLES) < 2:
            return undefined(TOO_FEW_ROWS)
        samples = self._samples(context, "synthetic", columns)
        return float(np.mean([one.accuracy for one in samples]))

    def _samples(self, context: Context, other: str, columns: Any) -> list[Adversarial]:
        settings = ((self.space, columns, self.ties), self.n_resample, self.random_state)
        samples = resampled_accuracies(context, ("train",), other, *settings)
        return [one for (one,) in samples]

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        samples, baseline = self._samples(context, "synthetic", columns), None
        if "holdout" in context and context.n_rows("holdout") >= 2:
            fresh = self._samples(context, "holdout", columns)
            baseline = float(np.mean([one.accuracy for one in fresh]))
        details, variance = _sides_and_spread(samples)
        interval = adversarial_accuracy.paired_interval(result.value, variance, samples[0].n_rows)
        return replace(result, interval=interval, baseline=baseline, details=details)

    def _summary(self, result: Result) -> str:
        guess = "A guess by the nearest neighbour tells train and synthetic rows apart"
        return f"{guess} {percent(result.value)} of the time; 50% would be by chance."


def _sides_and_spread(samples: Sequence[Adversarial]) -> tuple[dict[str, float], float]:
    """Return what the samples say of each table and how they vary, and the variance of the mean."""
    first, second, accuracy, variance = (
        [getattr(one, name) for one in samples]
        for name in ("first", "second", "accuracy", "variance")
    )
    n_samples = len(samples)
    between = float(np.var(accuracy, ddof=1)) if n_samples > 1 else 0.0
    # one sample's variance holds that of sampling, most of which the mean averages out
    single = float(np.mean(variance)) - between * (1.0 - 1.0 / n_samples)
    of_mean = max(single, between / n_samples)
    details = {
        "on_train": float(np.mean(first)),
        "on_synthetic": float(np.mean(second)),
        "standard_error": float(np.sqrt(of_mean)),
        "between_samples": float(np.sqrt(between)),
        "n_samples": n_samples,
    }
    return details, of_mean


_LARGEST = 1e150  # squares of larger numbers are infinite


@declared
class RowDistance(Metric):
    """Base of the distances of train and synthetic rows as vectors, which chance alone makes.

    Authors write `_distances`, and `_scale` if the distance has one. The value and its baseline
    share the scale of train and synthetic. :meth:`score` does not pay for the baseline.

    Parameters
    ----------
    space : "euclidean" or transformer, default="euclidean"
        How rows become vectors: numbers and dates standardised by train, a change of category at
        distance 1; or what a transformer makes of the table.
    random_state : int, default=0
        Seed of samples, and of what else is drawn.
    """

    _: KW_ONLY
    space: MatrixSpace = "euclidean"
    random_state: Seed = 0
    _fewest: ClassVar[int] = 1  # rows that a sample needs

    def _distances(
        self, x: np.ndarray, y: np.ndarray, scale: float, n_permutations: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Return the values under the actual labels, then under permuted ones, and details."""
        raise NotImplementedError(f"{type(self).__name__} must define _distances(...).")

    def _scale(self, x: np.ndarray, y: np.ndarray, train: np.ndarray) -> float:
        """Return the scale on which two samples are compared."""
        return 1.0

    def _rows(self, context: Context) -> dict[str, np.ndarray]:
        return row_matrices(context, self.space, None, self.random_state)

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        rows = self._rows(context)
        train, synthetic = rows["train"], rows["synthetic"]
        if train.shape[1] == 0:
            return undefined("no column of this table can be measured.")
        if any(np.abs(part).max() > _LARGEST for part in rows.values()):
            return undefined("some values are so large that distances to them are infinite.")
        if min(len(train), len(synthetic)) < self._fewest:
            return undefined(f"train and synthetic need {self._fewest} rows each.")
        scale = self._scale(train, synthetic, train)
        values, details = self._distances(train, synthetic, scale, 0)
        details["n_rows"] = {role: len(part) for role, part in rows.items()}
        return Result(float(values[0]), details={**details, "n_features": train.shape[1]})

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return super()._in_relation(context, result)
        rows = self._rows(context)
        result = self._with_test(rows, result)
        train, synthetic, holdout = rows["train"], rows["synthetic"], rows.get("holdout", ())
        n_fresh = min(len(holdout), len(synthetic))
        if n_fresh < self._fewest:  # where there is a holdout, a warning says why it is of no use
            return super()._in_relation(context, result)
        scale, details = self._scale(train, synthetic, train), dict(result.details)
        fresh = rows["holdout"][sample_positions(len(holdout), n_fresh, self.random_state)]
        if n_fresh < len(synthetic):
            some = synthetic[sample_positions(len(synthetic), n_fresh, self.random_state)]
            value = float(self._distances(train, some, scale, 0)[0][0])
            details["at_baseline_size"] = {"n_rows": n_fresh, "value": value}
        baseline = float(self._distances(train, fresh, scale, 0)[0][0])
        return replace(result, baseline=baseline, details=details)

    def _with_test(self, rows: dict[str, np.ndarray], result: Result) -> Result:
        """Add a test, where the distance has one."""
        return result


@declared
class PermutedDistance(RowDistance):
    """Base of the distances of all pairs of rows, with a permutation test of equal distributions.

    The test has the scale of the two samples that it permutes, pooled: a scale that does not change
    with the labels is what makes it valid. :meth:`score` does not pay for the test.

    Parameters
    ----------
    n_permutations : int, default=199
        Number of permutations for the p-value; 0 for none.
    max_rows : int or None, default=2500
        Rows of each table that are looked at, a seeded sample: the cost grows with the square.
    random_state : int, default=0
        Seed of samples and permutations.
    """

    _: KW_ONLY
    n_permutations: Annotated[int, Interval(0)] = 199
    max_rows: Annotated[int, Interval(2)] | None = 2500

    def _rows(self, context: Context) -> dict[str, np.ndarray]:
        return row_matrices(context, self.space, self.max_rows, self.random_state)

    def _with_test(self, rows: dict[str, np.ndarray], result: Result) -> Result:
        """Add the permutation test: against the holdout, which the generator has not seen."""
        if not self.n_permutations:
            return result
        against = "holdout" if len(rows.get("holdout", ())) >= self._fewest else "train"
        real, synthetic = rows[against], rows["synthetic"]
        scale = self._scale(real, synthetic, rows["train"])
        values, _ = self._distances(real, synthetic, scale, self.n_permutations)
        details = {**result.details, "p_value_rows": against}
        return replace(result, p_value=permutation_p_value(values), details=details)


@shared
def row_matrices(
    context: Context, space: Any, max_rows: int | None, seed: int
) -> dict[str, np.ndarray]:
    """Return a seeded sample of each table's rows in a space, by role."""
    # Features that are the same in all rows are left out, since they add nothing but
    # dimensions. The others are sorted by name, so that random directions do not depend on
    # the order of columns, and have a mean of 0 in train.
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    with np.errstate(invalid="ignore"):  # a column without any value has no mean to standardise by
        rows = {
            role: rows_of(context, role, OfTrain(space), None, max_rows, seed) for role in roles
        }
    low = np.min([part.min(axis=0) for part in rows.values()], axis=0)
    high = np.max([part.max(axis=0) for part in rows.values()], axis=0)
    order = _by_name(context, space, low.size)
    varying = order[(high > low)[order]]
    kept = varying if varying.size else order[:1]
    center = rows["train"][:, kept].mean(axis=0)
    return {role: part[:, kept] - center for role, part in rows.items()}


def _by_name(context: Context, space: Any, n_features: int) -> np.ndarray:
    if not isinstance(space, str):  # what a transformer's features are called is its own affair
        return np.arange(n_features)
    order: np.ndarray = np.argsort(preprocessor(context, OfTrain(space)).get_feature_names_out())
    return order
