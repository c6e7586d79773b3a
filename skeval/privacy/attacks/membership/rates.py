"""Rates, advantage, precision and outlier risk of membership inference, in addition to the AUC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from scipy.stats import rankdata

from skeval.core.context import Context
from skeval.stats import roc
from skeval.stats.abstention import SHARES
from skeval.stats.excess_tests import abstaining_test
from skeval.stats.intervals import clopper_pearson, newcombe
from skeval.stats.permutation_tests import share_p_value
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.leak_advice import outlyingness
from skeval.steps.member_rows import in_drawing_order, validation_half
from skeval.steps.members import MemberScores
from skeval.utils.parameters import Interval, Legal

PAIRS = "pairs of a train and a holdout row in which the train row ranks higher, by {by}"
_SHARES = (0.01, 0.05, 0.5)  # fractions of the rows with the highest scores
_N_NEAREST = 5
_N_GROUPS = 10
_TAILS = (0.95, 0.98, 0.99)
_MIN_GROUP_ROWS = 10  # minimum number of rows of a group by outlyingness
_MIN_OF_A_KIND = 3  # minimum number of members and of other rows in a group


Halves = tuple[MemberScores, MemberScores]


def _are_rates(value: object) -> bool:
    rates = value if isinstance(value, list | tuple) else [value]
    return len(rates) > 0 and all(map(Interval(0, 1, "neither").accepts, rates))


FalsePositiveRates = Annotated[
    float | list[float] | tuple[float, ...],
    Legal("a float in (0, 1), or a list of such", _are_rates, 2.0),
]


def in_halves(context: Context, scores: MemberScores, seed: int) -> Halves:
    """Divide scored rows into a half that chooses a threshold and a half that reports results."""
    # Each half contains about half of the members and half of the other rows. A row is in the
    # same half for every attack.
    members, others = (
        validation_half(context, role, seed)[rows]
        for role, rows in (("train", scores.member_rows), ("holdout", scores.other_rows))
    )
    return scores.take(members, others), scores.take(~members, ~others)


def rate_with_test(scores: MemberScores, alpha: float, p_value: float) -> dict[str, Any]:
    """Return the maximum true positive rate at a false positive rate, with a p-value."""
    tpr, n_members = roc.tpr_at_fpr(scores.members, scores.others, alpha), scores.members.size
    defined = not np.isnan(tpr)
    interval = list(clopper_pearson(round(tpr * n_members), n_members)) if defined else None
    return {
        "fpr": float(alpha),
        "tpr": tpr,
        "interval": interval,
        "p_value": p_value if defined else np.nan,
    }


def rates(
    scores: MemberScores,
    chosen_on: MemberScores,
    reported: MemberScores,
    alphas: Sequence[float],
    *,
    prior: float,
    n_permutations: int,
    seed: int,
) -> dict[str, Any]:
    """Return the true positive rate at each rate of `alphas`, the advantage, and their tests."""
    tests, greatest = roc.label_tests(
        scores.members, scores.others, alphas, n_permutations=n_permutations, seed=seed
    )
    at_rates = []
    for alpha, test in zip(alphas, tests, strict=True):
        rate = rate_with_test(scores, alpha, test.p_value)
        threshold = roc.threshold_at(chosen_on.members, chosen_on.others, alpha)
        at_rates.append(
            {
                **rate,
                "n_others_allowed": scores.others.size * float(alpha),
                "by_chance": np.nan if np.isnan(rate["tpr"]) else test.mean,
                "at_fixed_threshold": _at_threshold(reported, threshold, prior),
            }
        )
    best = roc.advantage_threshold(chosen_on.members, chosen_on.others)
    return {
        "tpr_at_fpr": at_rates,
        "advantage": _advantage(reported, best),
        "max_advantage": {
            "value": greatest.observed,
            "by_chance": greatest.mean,
            "p_value": greatest.p_value,
        },
        "balanced_accuracy": roc.median_accuracy(scores.members, scores.others),
    }


def _at_threshold(scores: MemberScores, threshold: float, prior: float) -> dict[str, Any] | None:
    """Return the rates and the precision at a threshold that was chosen on other rows."""
    if np.isnan(threshold):
        return None
    called = roc.rates_at(scores.members, scores.others, threshold)
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
    called = roc.rates_at(scores.members, scores.others, threshold)
    return {
        "value": called.tpr - called.fpr,
        "interval": list(newcombe(*called)),
        "p_value": share_p_value(*called),
        "tpr": called.tpr,
        "fpr": called.fpr,
    }


def precisions(context: Context, scores: MemberScores, seed: int) -> list[dict[str, Any]]:
    """Return the fraction of members among the highest scores, for equal numbers of both."""
    n = min(scores.members.size, scores.others.size)
    members = scores.members[in_drawing_order(context, "train", scores.member_rows, seed)[-n:]]
    others = scores.others[in_drawing_order(context, "holdout", scores.other_rows, seed)[-n:]]
    precisions = []
    for share in _SHARES:
        k = max(1, round(share * 2 * n))
        value, interval = precision_at(members, others, k)
        precisions.append({"share": share, "k": k, "precision": value, "interval": list(interval)})
    return precisions


def surest(scores: MemberScores, seed: int) -> dict[str, Any]:
    """Return the number of correct most confident guesses, with a test over all fractions."""
    # Each guess is that a row is a training row. The expected `precision` under the null hypothesis
    # is the fraction of training rows.
    n = scores.members.size
    pooled = np.concatenate([scores.members, scores.others])
    found = abstaining_test(np.ones(pooled.size), pooled, n, seed=seed)
    by_share = zip(SHARES, *found.pooled, found.p_values, strict=True)
    return {
        "p_value": found.p_value,
        "clearest": SHARES[found.clearest],
        "by_share": [
            {
                "share": share,
                "train": float(train),
                "holdout": float(holdout),
                "precision": float(train / (train + holdout)),
                "p_value": float(p_value),
            }
            for share, train, holdout, p_value in by_share
        ],
    }


def curve_points(scores: MemberScores) -> dict[str, Any]:
    """Return at most 200 points of the ROC curve, with an interval of each true positive rate."""
    curve = roc.roc_curve(scores.members, scores.others)
    at = roc.points_to_draw(curve)
    low, high = curve.band(at)
    area = roc.delong(scores.members, scores.others)
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
    """Return the precision if a fraction `prior` of all rows are members."""
    called = prior * tpr + (1.0 - prior) * fpr
    return prior * tpr / called if called > 0 else float("nan")


def precision_at(
    positives: np.ndarray, negatives: np.ndarray, k: int, confidence: float = 0.95
) -> tuple[float, tuple[float, float]]:
    """Return the fraction of positive rows among the k highest scores."""
    pooled = np.concatenate([positives, negatives])
    at = np.partition(pooled, pooled.size - k)[pooled.size - k]
    above = roc.rates_at(positives, negatives, np.nextafter(at, np.inf))
    up_to = roc.rates_at(positives, negatives, at)
    n_above = above.true_positives + above.false_positives
    n_tied = up_to.true_positives + up_to.false_positives - n_above
    tied = (up_to.true_positives - above.true_positives) / n_tied
    hits = above.true_positives + (k - n_above) * tied
    low, _ = clopper_pearson(int(np.floor(hits)), k, confidence)
    _, high = clopper_pearson(int(np.ceil(hits)), k, confidence)
    return float(hits / k), (low, high)


def groups_by_outlyingness(
    members: np.ndarray, others: np.ndarray, apart: tuple[np.ndarray, np.ndarray]
) -> list[dict[str, Any]]:
    """Return the AUC of each tenth of the rows, and of the outermost 5%, 2% and 1%."""
    n_rows = members.size + others.size
    places = rankdata(np.concatenate(apart), method="average") / n_rows
    parts = min(_N_GROUPS, n_rows // _MIN_GROUP_ROWS)
    cuts = [(i / parts, (i + 1) / parts) for i in range(parts)] if parts > 1 else []
    cuts += [(tail, 1.0) for tail in _TAILS if parts == _N_GROUPS]
    groups = []
    for above, up_to in cuts:
        inside = (places > above) & (places <= up_to)
        group = members[inside[: members.size]], others[inside[members.size :]]
        if inside.sum() >= _MIN_GROUP_ROWS and min(part.size for part in group) >= _MIN_OF_A_KIND:
            groups.append((above, up_to, *group))
    confidence = 1.0 - 0.05 / max(len(groups), 1)
    return [
        {"above": above, "up_to": up_to, **area_with_test(some_members, some_others, confidence)}
        for above, up_to, some_members, some_others in groups
    ]


def area_with_test(
    members: np.ndarray, others: np.ndarray, confidence: float = 0.95
) -> dict[str, Any]:
    """Return the AUC of an attack with its interval and p-value."""
    area = roc.delong(members, others, confidence)
    return {
        "auc": area.value,
        "interval": list(area.interval),
        "standard_error": area.standard_error,
        "p_value": roc.auc_p_value(members, others),
        "n_members": members.size,
        "n_others": others.size,
    }


def outlier_risk(
    context: Context, scores: MemberScores, space: Any, columns: ColumnChoice
) -> dict[str, Any]:
    """Return the AUC by outlyingness, because an overall AUC hides a few exposed records."""
    apart = outlyingness(context, space, columns, scores.member_rows, scores.other_rows)
    groups = groups_by_outlyingness(scores.members, scores.others, apart)
    if not groups:
        return {}
    worst = min(groups, key=lambda group: (group["p_value"], -group["auc"]))
    return {
        "groups": groups,
        "worst": worst,
        "largest_auc": max(group["auc"] for group in groups),
        "p_value": min(1.0, len(groups) * worst["p_value"]),
    }
