"""Authenticity: the fraction of rows that are not a noisy copy of a training row."""

from __future__ import annotations

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
    """Share of rows that are no noisy copy of a train row: 0 if all are; 1 is rarely reached.

    A synthetic row is authentic if it is farther from its nearest train row than that train row is
    from its own nearest other train row. A generator that adds a little noise to its training rows
    makes rows that are not.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the relabellings and of the sample of a large synthetic table for the p-value.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    EpsilonIdentifiability : The same comparison, seen from the train rows.
    NNDR : Whether a row sits on one train row rather than among them.
    NNAAPrivacyLoss : Adversarial accuracy lost on train.

    Notes
    -----
    With :math:`t(s)` the train row nearest to s, and :math:`t'` the nearest other train row of t,
    the value is the share of synthetic rows with

    .. math:: d(s, t(s)) > d(t(s), t')

    Equal distances are not authentic. A fresh real table does not score 1: about 0.44 in three
    dimensions. The baseline is therefore the share of holdout rows that are authentic with respect
    to train, and ``details["ratio"]`` the value relative to it. Rows of poor quality, far from all
    real ones, count as authentic.

    The interval is Wilson's, over fresh draws of train and synthetic rows; synthetic rows next to
    the same train row, or to two that are each other's nearest, count as one piece of evidence.

    The p-value is one-sided: the difference to ``details["on_holdout"]``, the share that is
    authentic with respect to the holdout, is held against random choices of which real rows were
    train. All choices are equally likely if none was learned; other faults of the synthetic rows do
    not matter. At most 2,000 synthetic rows take part, and the 16 nearest real rows of each.

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
        what = "synthetic rows as near to a train row as its nearest other train row, or nearer"
        shown: dict[str, Any] = {"reference": "for the holdout", "n_permutations": seeds[0]}
        return replace(
            result,
            p_value=test.p_value,
            baseline=baseline,
            contrast=contrast_of(context, what, 1.0 - share, near, **shown),
            details=details,
        )

    def _summary(self, result: Result) -> str:
        near = f"{percent(1.0 - result.value)} of synthetic rows are as near to a train row"
        return set_against(f"{near} as its nearest other train row, or nearer", result)


def authentic(
    context: Context, query: str, reference: str, space: Any, columns: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows of a role are authentic, and next to which reference row each lies."""
    # Two reference rows that are each other's nearest have one distance between them: they
    # count as one, the first.
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
    """Hold authenticity in the holdout minus that in train against random relabellings.

    Returns the test and authenticity in train, of the same sample.
    """
    listed, met = nearest_real(context, space, columns, seed)
    met, place = np.unique(met, return_inverse=True)
    # only what lies nearer to a real row than a synthetic row that has it in its list matters
    radius = np.zeros(met.size)
    np.maximum.at(radius, place.ravel(), listed.ravel())
    distances, rows = pool_index(context, space, columns).others(met, MAX_LENGTH, radius)
    distances = np.pad(distances, ((0, 0), (0, 1)), constant_values=np.inf)
    whole = listed_bits(rows, np.ones((len(actual_labels(context)), 1), dtype=np.bool_))

    def to_own(labels: np.ndarray) -> np.ndarray:
        """Return the distance of each real row to the nearest one of its label."""
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

    return sides_test(context, shares, space, columns, n_permutations, seed)
