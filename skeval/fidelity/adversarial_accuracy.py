"""The accuracy of a nearest-neighbor classifier that separates real from synthetic rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric
from skeval.core.tags import MetricTags
from skeval.results.result import Result, undefined_result
from skeval.stats import adversarial_accuracy as stats
from skeval.stats.adversarial_accuracy import Adversarial
from skeval.steps.adversarial_accuracies import TOO_FEW_ROWS, resampled_accuracies
from skeval.steps.columns import ROLES
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count


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
            return undefined_result(TOO_FEW_ROWS)
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
        interval = stats.paired_interval(result.value, variance, samples[0].n_rows)
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
