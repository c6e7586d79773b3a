"""Nearest-neighbor adversarial accuracy, and the difference between holdout and training rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric, RelabelledTest
from skeval.core.tags import CONTRAST_TAGS
from skeval.results.result import Result, undefined_result
from skeval.stats import adversarial_accuracy
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.adversarial_accuracies import TOO_FEW_ROWS, resampled_accuracies
from skeval.steps.contrasts import contrast_of, set_against
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.neighbors import MAX_LENGTH, nearest, pool_index, reference_index
from skeval.steps.relabellings import actual_labels, packed_test, rivals
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count

_Z = float(norm.ppf(0.975))


@declared
class NNAAPrivacyLoss(NeighborMetric, RelabelledTest):
    """Difference of the nearest-neighbor adversarial accuracy between holdout and training rows.

    If the generator memorized its training rows, the adversarial accuracy between synthetic and
    training rows decreases, and the accuracy between synthetic and holdout rows does not. The loss
    is the difference of the two accuracies. The loss is 0 without a leak and 1 if only training
    rows are copied. Lower is better.

    Parameters
    ----------
    n_resample : int, default=30
        Number of random samples of the larger tables, each with the size of the smallest table. The
        losses are averaged over the samples. Tables of equal size are used without sampling.
    ties : {"strict", "half"}, default="strict"
        Whether equal distances count as incorrect guesses, as published, or as half correct.
    n_permutations : int, default=1999
        Number of random relabelings of the real rows for the p-value and the standard error. Fewer
        are drawn if many of them reach the observed value.
    random_state : int, default=0
        Seed of samples and relabelings.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release. It does not
    detect leaks of a few outliers.

    See Also
    --------
    skeval.fidelity.NearestNeighborAdversarialAccuracy : The accuracy on the training data, as a
        measure of fidelity.
    EpsilonIdentifiability : Fraction of training rows with a very close synthetic row.
    Authenticity : Fraction of synthetic rows that are not noisy copies.

    Notes
    -----
    The value is ``AA(holdout, synthetic) - AA(train, synthetic)``, where AA is the adversarial
    accuracy for tables of equal sizes. Both terms are in ``details``. The value is 0 on average if
    the synthetic table does not depend on which real rows were training rows. A negative loss
    indicates that the synthetic rows are closer to the holdout. It does not indicate extra
    protection.

    The p-value is one-sided. If the generator memorized nothing, all choices of the training rows
    are equally likely given the synthetic rows. Each relabeling uses all rows, even if the tables
    have unequal sizes, and the 16 nearest real rows of each row. The standard deviation over
    relabelings is the standard error of the interval.

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

    tags = replace(CONTRAST_TAGS, bounds=(-1.0, 1.0))

    n_resample: Count = 30
    ties: Literal["strict", "half"] = "strict"

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if min(context.n_rows(role) for role in ("train", "holdout", "synthetic")) < 2:
            return undefined_result(TOO_FEW_ROWS)
        on_train, on_holdout = map(np.mean, self._accuracies(context, columns))
        return float(on_holdout - on_train)

    def _accuracies(self, context: Context, columns: Any) -> list[list[float]]:
        """Return the accuracies for training and for holdout rows of each sample."""
        settings, seeds = (self.space, columns, self.ties), (self.n_resample, self.random_state)
        if len({context.n_rows(role) for role in ("train", "holdout", "synthetic")}) == 1:
            return [[one] for one in accuracies_of_all(context, *settings)]
        samples = resampled_accuracies(context, ("train", "holdout"), "synthetic", settings, *seeds)
        return [[one.accuracy for one in of_role] for of_role in zip(*samples, strict=True)]

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        on_train, on_holdout = self._accuracies(context, columns)
        settings = (self.space, columns, self.ties, self.n_permutations, self.random_state)
        test, tested = loss_test(context, *settings)
        half = _Z * test.spread
        what = "synthetic rows distinguished from train rows by their nearest neighbors"
        shown: dict[str, Any] = {"reference": "from holdout rows", "high_leaks": False}
        shown["n_permutations"] = self.n_permutations
        return replace(
            result,
            contrast=contrast_of(context, what, tested, test, **shown),
            interval=(max(-1.0, result.value - half), min(1.0, result.value + half)),
            p_value=test.p_value,
            baseline=0.0,
            details={
                "on_train": float(np.mean(on_train)),
                "on_holdout": float(np.mean(on_holdout)),
                "standard_error": test.spread,
                "n_samples": len(on_train),
            },
        )

    def _summary(self, result: Result) -> str:
        on_train = percent(result.details["on_train"])
        # the accuracy for samples of one size, because the test uses all rows
        of_time = (
            f"{result.contrast.numbers_in_words[0] if result.contrast else on_train} of the time"
        )
        return set_against(f"Neighbors distinguish synthetic from train rows {of_time}", result)


@shared
def listed_real(context: Context, space: Any, columns: Any) -> tuple[np.ndarray, ...]:
    """Return the real rows as near to each synthetic row as its nearest synthetic row."""
    # Distances and positions of the nearest 16, -1 for none, and the distances to the nearest
    # synthetic rows.
    within = nearest(context, "synthetic", "synthetic", space=space, columns=columns)[0][:, 0]
    queries = encoded_matrix(context, "synthetic", space, columns)
    return *pool_index(context, space, columns).kneighbors(queries, MAX_LENGTH, within), within


@shared
def accuracies_of_all(context: Context, space: Any, columns: Any, ties: str) -> list[float]:
    """Return the accuracies for all training and all holdout rows, from the lists of the test.

    If a list ends without a row of the role, the search continues in the table of the role.
    """
    of_real, rivals_at, to_synthetic = rivals(context, space, columns)
    of_synthetic, at, within = listed_real(context, space, columns)
    is_train = np.arange(len(rivals_at)) < context.n_rows("train")
    queries = encoded_matrix(context, "synthetic", space, columns)
    accuracies = []
    for role, own in (("train", is_train), ("holdout", ~is_train)):
        index = reference_index(context, role, space, columns, None, 0)
        to_own, cut = nearest_in_lists(of_real[own], rivals_at[own], own)
        if cut.size:
            to_own[cut] = index.others(cut, 1, to_synthetic[own][cut])[0][:, 0]
        to_real, cut = nearest_in_lists(of_synthetic, at, own)
        if cut.size:
            to_real[cut] = index.kneighbors(queries[cut], 1, within[cut])[0][:, 0]
        pairs = (to_synthetic[own], to_own), (to_real, within)
        first, second = (adversarial_accuracy.own_is_nearer(*pair, ties).mean() for pair in pairs)
        accuracies.append(float(first + second) / 2.0)
    return accuracies


def nearest_in_lists(
    distances: np.ndarray, rows: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest distance of each list to a chosen row, infinite without such a row."""
    # Also return the full lists without such a row, which may have one after their end.
    least = np.where(chosen[rows] & (rows >= 0), distances, np.inf).min(axis=1)
    return least, np.flatnonzero((least == np.inf) & (rows[:, -1] >= 0))


@shared
def loss_test(
    context: Context, space: Any, columns: Any, ties: str, n_permutations: int, seed: int
) -> tuple[Relabelled, float]:
    """Test the privacy loss for all rows against random relabelings of the real rows.

    The accuracy for the training rows is returned, too.
    """
    accuracies = relabelled_accuracies(context, space, columns, ties)
    actual = np.packbits(actual_labels(context)[:, None], axis=1)
    on_train = float(accuracies(actual)[0, 0])
    return packed_test(context, accuracies, n_permutations, seed, high_leaks=False), on_train


def relabelled_accuracies(
    context: Context, space: Any, columns: Any, ties: str
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that computes both accuracies from packed labels of the real rows."""
    of_real, rivals_at, to_synthetic = rivals(context, space, columns)
    of_synthetic, at, within = listed_real(context, space, columns)
    # a tie counts half, the mean of an incorrect and a correct guess
    nearer = np.where(of_real < to_synthetic[:, None], rivals_at, -1)
    pairs = [(nearer, at)]
    if ties == "half":
        pairs.append((rivals_at, np.where(of_synthetic < within[:, None], at, -1)))
    sizes = context.n_rows("train"), context.n_rows("holdout")

    def accuracies(labels: np.ndarray) -> np.ndarray:
        """Return the accuracies on train and on the holdout, shape (2, n_labelings)."""
        total = np.zeros((2, 8 * labels.shape[1]))
        for real, synthetic in pairs:
            near_train, all_train = adversarial_accuracy.labels_in_lists(real, labels)
            own_nearer = labels & near_train, ~(labels | all_train)
            of_train, only_train = adversarial_accuracy.labels_in_lists(synthetic, labels)
            apart = ~of_train, only_train
            for i, n_rows in enumerate(sizes):
                total[i] += adversarial_accuracy.bit_counts(own_nearer[i]) / n_rows
                total[i] += adversarial_accuracy.bit_counts(apart[i]) / len(synthetic)
        return total / (2.0 * len(pairs))

    return accuracies
