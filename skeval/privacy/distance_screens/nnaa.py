"""Nearest-neighbour adversarial accuracy, and how much of it is lost on train rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from scipy.stats import norm

from skeval.context import Context, shared
from skeval.formatting import percent
from skeval.neighbor_metric import NeighborMetric
from skeval.parameters import Columns, Count, JobCount, Seed, Space
from skeval.result import Result, undefined
from skeval.stats import adversarial as stats
from skeval.stats.relabelling import Relabelled
from skeval.steps.contrasts import contrast_of, set_against
from skeval.steps.neighbors import LONGEST, encoded, list_matrix, nearest, pool_index
from skeval.steps.relabelled import TOO_FEW_ROWS, label_test, resampled_accuracies, rivals
from skeval.tags import CONTRAST_TAGS

_Z = float(norm.ppf(0.975))


class NNAAPrivacyLoss(NeighborMetric):
    """Do neighbours give train away more than holdout: 0 means no, 1 that train alone is copied.

    The adversarial accuracy between synthetic and train rows falls where the generator has learned
    its training rows; that between synthetic and holdout rows does not. The loss is the difference.

    Parameters
    ----------
    n_resample : int, default=30
        Where the tables are of unequal size, this many random samples of the larger are taken,
        each of the size of the smallest, and the losses averaged.
    ties : {"strict", "half"}, default="strict"
        Whether equal distances count as wrong guesses, as published, or as half a right one.
    n_permutations : int, default=1999
        Number of random relabellings of the real rows for the p-value and the standard error;
        fewer are drawn where many reach what was observed.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        Columns to use (in space "gower"): all, the first *n*, or a list of names.
    random_state : int, default=0
        Seed of samples and relabellings.
    n_jobs : int, optional
        Number of threads, as in joblib; the numbers do not depend on it.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    skeval.fidelity.NearestNeighborAdversarialAccuracy : The accuracy on train alone, a measure of
        resemblance.
    EpsilonIdentifiability : Train rows with a synthetic row nearest.
    Authenticity : Synthetic rows that are no noisy copy.

    Notes
    -----
    The value is ``AA(holdout, synthetic) - AA(train, synthetic)`` at equal sizes, both in
    ``details``; it is 0 on average if the synthetic table does not depend on which real rows were
    train. A negative loss is no extra protection: rows were drawn towards the holdout.

    The p-value is one-sided: given the synthetic rows, all choices of which real rows were train
    are then equally likely. Each relabelling counts all rows, whatever the sizes, among the 16
    nearest real rows of each; its standard deviation is the standard error of the interval.

    This is a distance screen: it can raise an alarm and cannot clear a release; it does not see
    leaks of a few outliers.

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

    def __init__(
        self,
        n_resample: Count = 30,
        ties: Literal["strict", "half"] = "strict",
        *,
        n_permutations: Count = 1999,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
        n_jobs: JobCount | None = None,
    ) -> None:
        self.n_resample = n_resample
        self.ties = ties
        self.n_permutations = n_permutations
        super().__init__(space, columns, random_state, n_jobs)

    def _measure(self, context: Context, columns: Any) -> float | Result:
        if min(context.n_rows(role) for role in ("train", "holdout", "synthetic")) < 2:
            return undefined(TOO_FEW_ROWS)
        on_train, on_holdout = map(np.mean, self._accuracies(context, columns))
        return float(on_holdout - on_train)

    def _accuracies(self, context: Context, columns: Any) -> list[list[float]]:
        """Return the accuracies on train, and those on the holdout, one a sample."""
        settings, seeds = (self.space, columns, self.ties), (self.n_resample, self.random_state)
        samples = resampled_accuracies(context, ("train", "holdout"), "synthetic", settings, *seeds)
        return [[one.accuracy for one in of_role] for of_role in zip(*samples, strict=True)]

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        on_train, on_holdout = self._accuracies(context, columns)
        settings = (self.space, columns, self.ties, self.n_permutations, self.random_state)
        test, tested = loss_test(context, *settings)
        half = _Z * test.spread
        what = "synthetic rows told from train rows by their nearest neighbours"
        said: dict[str, Any] = {"reference": "from holdout rows", "high_leaks": False}
        said["n_permutations"] = self.n_permutations
        return replace(
            result,
            contrast=contrast_of(context, what, tested, test, **said),
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
        # that of samples of one size, the test being of all rows
        of_time = f"{result.contrast.written[0] if result.contrast else on_train} of the time"
        return set_against(f"Neighbours tell synthetic rows from train rows {of_time}", result)


@shared
def loss_test(
    context: Context, space: Any, columns: Any, ties: str, n_permutations: int, seed: int
) -> tuple[Relabelled, float]:
    """Hold the privacy loss on all rows against random relabellings of the real rows.

    The accuracy on train that it is of is returned, too.
    """
    of_real, rivals_at, to_synthetic = rivals(context, space, columns)
    within = nearest(context, "synthetic", "synthetic", space=space, columns=columns)[0][:, 0]
    queries = encoded(context, "synthetic", space, columns)
    of_synthetic, at = pool_index(context, space, columns).kneighbors(queries, LONGEST, within)
    n_pool, listed = len(rivals_at), (rivals_at >= 0, at >= 0)
    strictly = of_real < to_synthetic[:, None], of_synthetic < within[:, None]
    # a tie counts half: the mean of counting it as none and as one
    choices = [(strictly[0], listed[1]), (listed[0], strictly[1])][: 2 if ties == "half" else 1]
    pairs = [
        (list_matrix(rivals_at, real, n_pool), list_matrix(at, synthetic, n_pool))
        for real, synthetic in choices
    ]
    lengths = [tuple(part.sum(axis=1) for part in pair) for pair in pairs]

    def accuracies(labels: np.ndarray) -> np.ndarray:
        """Return the accuracies on train and on the holdout, shape (2, n_labelings)."""
        total = np.zeros((2, labels.shape[1]))
        for (real, synthetic), (n_real, n_synthetic) in zip(pairs, lengths, strict=True):
            own_nearer = stats.same_label_listed(real, labels, n_real)
            in_train = synthetic @ labels.astype(np.int32)
            apart = (in_train == 0, in_train == n_synthetic[:, None])
            for i, (of_role, told) in enumerate(zip((labels, ~labels), apart, strict=True)):
                total[i] += (own_nearer & of_role).sum(axis=0) / of_role.sum(axis=0)
                total[i] += told.mean(axis=0)
        return total / (2.0 * len(pairs))

    def loss(labels: np.ndarray) -> np.ndarray:
        on_train, on_holdout = accuracies(labels)
        return np.asarray(on_holdout - on_train)

    actual = np.arange(n_pool) < context.n_rows("train")
    on_train = float(accuracies(actual[:, None])[0, 0])
    return label_test(context, loss, n_permutations, seed), on_train
