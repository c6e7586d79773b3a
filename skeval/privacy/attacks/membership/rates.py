"""What scores of members and others say beyond their AUC: rates, advantage, precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context
from skeval.privacy.attacks.membership.rows import drawing_order, validation_half
from skeval.privacy.attacks.membership.scores import MemberScores
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.relabelling import share_p_value
from skeval.stats.roc import (
    Rates,
    advantage_threshold,
    delong,
    label_tests,
    median_accuracy,
    rates_at,
    roc_curve,
    thinned,
    threshold_at,
    tpr_at_fpr,
)

_SHARES = (0.01, 0.05, 0.5)  # of the scored rows, those with the highest scores


@dataclass(frozen=True)
class Halves:
    """Scored rows in two: attacks and thresholds are chosen on one half, reported on the other.

    Attributes
    ----------
    chosen_on, reported : MemberScores
        Each has about half of the members and half of the others.
    """

    chosen_on: MemberScores
    reported: MemberScores

    @classmethod
    def of(cls, context: Context, scores: MemberScores, seed: int) -> Halves:
        """Divide scores; a row falls to the same half for every attack."""
        members, others = (
            validation_half(context, role, seed)[rows]
            for role, rows in (("train", scores.member_rows), ("holdout", scores.other_rows))
        )
        return cls(_part(scores, members, others), _part(scores, ~members, ~others))

    @property
    def smallest(self) -> int:
        """Number of rows of the smallest of the four parts."""
        return min(
            part.size
            for half in (self.chosen_on, self.reported)
            for part in (half.members, half.others)
        )


def _part(scores: MemberScores, members: np.ndarray, others: np.ndarray) -> MemberScores:
    return MemberScores(
        scores.members[members],
        scores.others[others],
        scores.member_rows[members],
        scores.other_rows[others],
    )


def rates(
    scores: MemberScores,
    halves: Halves,
    alphas: Sequence[float],
    *,
    prior: float,
    n_permutations: int,
    seed: int,
) -> dict[str, Any]:
    """Return the true positive rate at each rate of `alphas`, the advantage, and their tests.

    Parameters
    ----------
    scores : MemberScores
        Of the rows that the result is about.
    halves : Halves
        On one the thresholds are chosen, on the other they are held to account.
    alphas : sequence of float
        False positive rates.
    prior : float
        Share of members that the attacker expects.
    n_permutations, seed : int
        Of the random labels.

    Returns
    -------
    dict
        `tpr_at_fpr`, a list with one entry for each of `alphas`; `advantage`; `max_advantage`;
        `balanced_accuracy`.
    """
    tests, greatest = label_tests(
        scores.members, scores.others, alphas, n_permutations=n_permutations, seed=seed
    )
    learnt, reported = halves.chosen_on, halves.reported
    found = []
    for alpha, test in zip(alphas, tests, strict=True):
        value = tpr_at_fpr(scores.members, scores.others, alpha)
        defined = not np.isnan(value)
        n_hits = round(value * scores.members.size) if defined else 0
        threshold = threshold_at(learnt.members, learnt.others, alpha)
        found.append(
            {
                "fpr": float(alpha),
                "tpr": value,
                "interval": list(clopper_pearson(n_hits, scores.members.size)) if defined else None,
                "n_others_allowed": scores.others.size * float(alpha),
                "by_chance": test.mean if defined else np.nan,
                "p_value": test.p_value if defined else np.nan,
                "at_fixed_threshold": _at(reported, threshold, prior),
            }
        )
    return {
        "tpr_at_fpr": found,
        "advantage": _advantage(reported, advantage_threshold(learnt.members, learnt.others)),
        "max_advantage": {
            "value": greatest.observed,
            "by_chance": greatest.mean,
            "p_value": greatest.p_value,
        },
        "balanced_accuracy": median_accuracy(scores.members, scores.others),
    }


def _at(scores: MemberScores, threshold: float, prior: float) -> dict[str, Any] | None:
    """Return both realised rates at a threshold that other rows chose, and what a call is worth."""
    if np.isnan(threshold):
        return None
    called = rates_at(scores.members, scores.others, threshold)
    of_members, of_others = called.intervals()
    return {
        "tpr": called.tpr,
        "tpr_interval": list(of_members),
        "fpr": called.fpr,
        "fpr_interval": list(of_others),
        "ppv": bayes_precision(called.tpr, called.fpr, prior),
        "prior": prior,
    }


def _advantage(scores: MemberScores, threshold: float) -> dict[str, Any]:
    called: Rates = rates_at(scores.members, scores.others, threshold)
    counts = (called.true_positives, called.n_positives)
    others = (called.false_positives, called.n_negatives)
    return {
        "value": called.tpr - called.fpr,
        "interval": list(newcombe(*counts, *others)),
        "p_value": share_p_value(*counts, *others),
        "tpr": called.tpr,
        "fpr": called.fpr,
    }


def precisions(context: Context, scores: MemberScores, seed: int) -> list[dict[str, Any]]:
    """Return the share of members among the highest scores of as many members as others."""
    n = min(scores.members.size, scores.others.size)
    members, others = (
        values[np.argsort(_place(context, role, seed)[rows])[-n:]]
        for role, values, rows in (
            ("train", scores.members, scores.member_rows),
            ("holdout", scores.others, scores.other_rows),
        )
    )
    found = []
    for share in _SHARES:
        k = max(1, round(share * 2 * n))
        value, interval = precision_at(members, others, k)
        found.append({"share": share, "k": k, "precision": value, "interval": list(interval)})
    return found


def _place(context: Context, role: str, seed: int) -> np.ndarray:
    order = drawing_order(context, role, seed)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    return place


def curve_points(scores: MemberScores) -> dict[str, Any]:
    """Return at most 200 points of the ROC curve, with an interval of each true positive rate."""
    curve = roc_curve(scores.members, scores.others)
    at = thinned(curve)
    low, high = curve.band(at)
    area = delong(scores.members, scores.others)
    return {
        "fpr": curve.fpr[at],
        "tpr": curve.tpr[at],
        "low": low,
        "high": high,
        "auc": area.value,
        "n_members": curve.n_positives,
        "n_others": curve.n_negatives,
    }


def bayes_precision(tpr: float, fpr: float, prior: float) -> float:
    """Return the share of members among rows called so, where a share `prior` of all are members.

    Parameters
    ----------
    tpr, fpr : float
        Rates of an attack.
    prior : float
        What the attacker holds for the share of members among the rows that are looked at.

    Returns
    -------
    float
        ``prior TPR / (prior TPR + (1 - prior) FPR)``; nan if no row is called a member.

    Examples
    --------
    >>> from skeval.privacy.attacks.membership.rates import bayes_precision
    >>> bayes_precision(0.5, 0.5, 0.2), round(bayes_precision(0.1, 0.01, 0.01), 4)
    (0.2, 0.0917)
    """
    called = prior * tpr + (1.0 - prior) * fpr
    return prior * tpr / called if called > 0 else float("nan")


def f1_at(tpr: float, fpr: float, share: float) -> float:
    """Return the F1 score of calls on rows of which a share are positive.

    Parameters
    ----------
    tpr, fpr : float
        Rates of the calls.
    share : float
        Of positive rows, in (0, 1).

    Returns
    -------
    float
        The harmonic mean of precision and recall; 0 if no positive row is found.

    Examples
    --------
    >>> from skeval.privacy.attacks.membership.rates import f1_at
    >>> round(f1_at(40 / 50, 20 / 50, 0.5), 6)
    0.727273
    """
    hits = share * tpr
    return 2.0 * hits / (hits + (1.0 - share) * fpr + share)


def relative_f1(f1: float, share: float) -> float:
    """Return by how much an F1 score improves on calling every row positive: 0 not, 1 wholly.

    Parameters
    ----------
    f1 : float
        The score.
    share : float
        Of positive rows; to call all of them positive has the score ``2 share / (1 + share)``.

    Returns
    -------
    float
        ``(F - F_naive) / (1 - F_naive)``; below 0 where the calls do worse.

    Examples
    --------
    >>> from skeval.privacy.attacks.membership.rates import relative_f1
    >>> round(relative_f1(0.7272727, 0.5), 6)
    0.181818
    """
    naive = f1_at(1.0, 1.0, share)
    return (f1 - naive) / (1.0 - naive)


def precision_at(
    positives: np.ndarray, negatives: np.ndarray, k: int, confidence: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Return the share of positive rows among the k with the highest scores.

    Parameters
    ----------
    positives, negatives : ndarray of shape (m,), (n,)
        Scores. The precision depends on m and n: at m = n, it is 1/2 by chance.
    k : int
        From 1 to m + n.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    precision : float
        Rows that tie at the k-th score count with the share of positive ones among them.
    interval : tuple of (float, float)
        Of Clopper and Pearson; wider where ties leave a count that is not whole.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.membership.rates import precision_at
    >>> precision_at(np.array([0.9, 0.5]), np.array([0.5, 0.1]), 2)[0]
    0.75
    """
    pooled = np.concatenate([positives, negatives])
    at = np.partition(pooled, pooled.size - k)[pooled.size - k]
    above = rates_at(positives, negatives, np.nextafter(at, np.inf))
    up_to = rates_at(positives, negatives, at)
    n_above = above.true_positives + above.false_positives
    n_tied = up_to.true_positives + up_to.false_positives - n_above
    tied = (up_to.true_positives - above.true_positives) / n_tied
    hits = above.true_positives + (k - n_above) * tied
    low, _ = clopper_pearson(int(np.floor(hits)), k, confidence)
    _, high = clopper_pearson(int(np.ceil(hits)), k, confidence)
    return float(hits / k), (low, high)
