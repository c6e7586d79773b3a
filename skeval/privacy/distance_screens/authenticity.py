"""Authenticity: the fraction of rows that are not a noisy copy of a training row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric, RelabelledTest
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.privacy.distance_screens.percentiles import sides_test
from skeval.results.result import Result, undefined_result
from skeval.stats import adversarial_accuracy
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.contrasts import contrast_of, set_against
from skeval.steps.neighbors import MAX_LENGTH, nearest, pool_index
from skeval.steps.relabellings import (
    RelabelledNearest,
    actual_labels,
    first_and_second,
    listed_bits,
    nearest_real,
)
from skeval.utils.formatting import percent


@declared
class Authenticity(NeighborMetric, RelabelledTest):
    """Fraction of synthetic rows that are not noisy copies of a training row.

    A synthetic row is authentic if it is more distant from its nearest training row than this
    training row is from its nearest other training row. A generator that adds a little noise to its
    training rows produces rows that are not authentic. The value is 0 if no row is authentic. Even
    real data rarely reach 1. Higher is better.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the relabelings and of the sample of a large synthetic table for the p-value.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    EpsilonIdentifiability : Fraction of training rows with a very close synthetic row.
    NNDR : Compares the distances to the two nearest training rows.
    NNAAPrivacyLoss : Difference of adversarial accuracy between holdout and training data.

    Notes
    -----
    Let :math:`t(s)` be the training row nearest to s, and :math:`t'` the nearest other training row
    of t. The value is the fraction of synthetic rows with

    .. math:: d(s, t(s)) > d(t(s), t')

    Equal distances are not authentic. A real table without a leak does not score 1, for example
    about 0.44 in three dimensions. Therefore, the baseline is the fraction of holdout rows that are
    authentic with respect to the training data, and ``details["ratio"]`` is the value divided by
    the baseline. Rows of poor quality that are far from all real rows count as authentic.

    The interval is Wilson's interval for new samples of training and synthetic rows. Synthetic rows
    with the same nearest training row, or with two that are nearest neighbors of each other, count
    as one piece of evidence.

    The p-value is one-sided. The statistic is the difference from ``details["on_holdout"]``, the
    fraction that is authentic with respect to the holdout. The statistic is compared with its value
    for random choices of the training rows. If the generator memorized nothing, all choices are
    equally likely, and other faults of the synthetic rows do not matter. The test uses at most
    2,000 synthetic rows and the 16 nearest real rows of each.

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

    tags = replace(NEIGHBOR_TAGS, greater_is_better=True)

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if context.n_rows("train") < 2:
            return undefined_result("train needs two rows to have neighbours.")
        return authentic_share(context, "synthetic", "train", self.space, columns)

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        is_authentic, clusters = authentic(context, "synthetic", "train", self.space, columns)
        variance = adversarial_accuracy.clustered_variance(is_authentic, clusters)
        interval = adversarial_accuracy.paired_interval(result.value, variance, is_authentic.size)
        details = {"standard_error": float(np.sqrt(variance))}
        result = replace(result, interval=interval, details=details)
        if "holdout" not in context or context.n_rows("holdout") < 2:
            return result
        asked = (self.space, columns)
        baseline = authentic_share(context, "holdout", "train", *asked)
        details["on_holdout"] = authentic_share(context, "synthetic", "holdout", *asked)
        details["ratio"] = result.value / baseline if baseline > 0 else float("nan")
        seeds = (self.n_permutations, self.random_state)
        test, share = authenticity_test(context, *asked, *seeds)
        near = replace(test, on_train=1.0 - test.on_train)
        what = "synthetic rows at least as close to a train row as its nearest other train row"
        shown: dict[str, Any] = {"reference": "for the holdout", "n_permutations": seeds[0]}
        return replace(
            result,
            p_value=test.p_value,
            baseline=baseline,
            contrast=contrast_of(context, what, 1.0 - share, near, **shown),
            details=details,
        )

    def _summary(self, result: Result) -> str:
        near = f"{percent(1.0 - result.value)} of synthetic rows are at least as close to a train"
        return set_against(f"{near} row as its nearest other train row", result)


def authentic(
    context: Context, query: str, reference: str, space: Any, columns: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of a role are authentic, and next to which reference row each lies."""
    # Two reference rows that are nearest neighbors of each other share one distance, so they count
    # as one row, the first.
    there, at = nearest(context, query, reference, space=space, columns=columns)
    within, towards = nearest(context, reference, reference, space=space, columns=columns)
    rows = np.arange(len(towards))
    is_mutual = towards[towards[:, 0], 0] == rows
    first = np.where(is_mutual, np.minimum(rows, towards[:, 0]), rows)
    return there[:, 0] > within[at[:, 0], 0], first[at[:, 0]]


def authentic_share(
    context: Context, query: str, reference: str, space: Any, columns: Any
) -> float:
    """Return the share of a role's rows that are authentic."""
    return float(authentic(context, query, reference, space, columns)[0].mean())


@shared
def authenticity_test(
    context: Context, space: Any, columns: Any, n_permutations: int, seed: int
) -> tuple[Relabelled, float]:
    """Test whether synthetic rows are less authentic for training rows than for holdout rows.

    Return the test, and the authenticity with respect to the training rows in the same sample.
    """
    shares = authentic_shares(context, space, columns, seed)
    return sides_test(context, shares, space, columns, n_permutations, seed)


def authentic_shares(
    context: Context, space: Any, columns: Any, seed: int
) -> Callable[[RelabelledNearest], np.ndarray]:
    """Return a function that computes authenticity in both tables for random labels."""
    listed, met = nearest_real(context, space, columns, seed)
    met, place = np.unique(met, return_inverse=True)
    # a real row matters only if it is closer to a real row than a synthetic row with it in its list
    radius = np.zeros(met.size)
    np.maximum.at(radius, place.ravel(), listed.ravel())
    distances, rows = pool_index(context, space, columns).others(met, MAX_LENGTH, radius)
    distances = np.pad(distances, ((0, 0), (0, 1)), constant_values=np.inf)
    whole = listed_bits(rows, np.ones((len(actual_labels(context)), 1), dtype=np.bool_))

    def to_own(labels: np.ndarray) -> np.ndarray:
        """Return the distance of each real row to the nearest real row with the same label."""
        of_train = listed_bits(rows, labels)
        of_own = np.where(labels[met], of_train, of_train ^ whole)
        first = np.minimum(first_and_second()[0, of_own], rows.shape[1])
        return np.asarray(distances[np.arange(met.size)[:, None], first])

    def shares(nearby: RelabelledNearest) -> np.ndarray:
        own, labelings = to_own(nearby.labels), np.arange(nearby.labels.shape[1])[:, None]
        place = np.searchsorted(met, nearby.rows)
        authentic_of = [
            (nearby.distances[:, label, :, 0] > own[place[:, label], labelings])
            & (nearby.rows[:, label] >= 0)
            for label in (0, 1)
        ]
        return np.mean(authentic_of, axis=2).T

    return shares
