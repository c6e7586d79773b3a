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
    """Accuracy of a nearest-neighbor classifier that separates real from synthetic rows.

    The classifier assigns each row to the table of its nearest other row. If training and synthetic
    rows are from the same population, half of the predictions are correct. The value ranges from 0
    (each row has a copy in the other table) through 0.5 (indistinguishable tables) to 1 (separate
    tables).

    Parameters
    ----------
    n_resample : int, default=30
        Number of random samples of the larger table over which the accuracy is averaged. Each
        sample has the size of the smaller table.
    ties : {"strict", "half"}, default="strict"
        Whether equal distances count as incorrect, as published, or as half correct. The latter
        keeps the value of indistinguishable discrete tables at 0.5.
    random_state : int, default=0
        Seed of the samples.

    Warnings
    --------
    The metric measures similarity and does not detect leaks. For example, the value is also 0.5 if
    half of the rows are copies and the other half are far from all real rows.

    See Also
    --------
    skeval.privacy.NNAAPrivacyLoss : Difference between holdout and training data, for privacy.
    NNDistanceDistributions : Distributions of the distances.
    ClassifierTwoSampleTest : A trained classifier instead of the nearest neighbor.

    Notes
    -----
    The value is the mean of two fractions, at equal table sizes. ``details["on_train"]`` is the
    fraction of training rows that are closer to another training row than to any synthetic row.
    ``details["on_synthetic"]`` is the fraction of synthetic rows that are closer to another
    synthetic row than to any training row. The baseline is the accuracy for training and holdout
    data.

    Two rows that are mutual nearest neighbors have the same prediction, so the standard error
    counts them as one observation. It accounts for the random variation of both tables.

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
        guess = "The nearest neighbor correctly predicts whether a row is real or synthetic for"
        return f"{guess} {percent(result.value)} of the rows (50% expected by chance)."


def _sides_and_spread(samples: Sequence[Adversarial]) -> tuple[dict[str, float], float]:
    """Return the means over the samples for each table, and the variance of the mean accuracy."""
    first, second, accuracy, variance = (
        [getattr(one, name) for one in samples]
        for name in ("first", "second", "accuracy", "variance")
    )
    n_samples = len(samples)
    between = float(np.var(accuracy, ddof=1)) if n_samples > 1 else 0.0
    # the variance of a single sample includes sampling error, which the mean mostly averages out
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
