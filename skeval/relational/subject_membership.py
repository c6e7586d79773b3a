"""Membership inference for subjects with all the rows that belong to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Literal, cast

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import ATTACK_TAGS
from skeval.exceptions import TableError
from skeval.privacy.attacks.membership.membership_inference import against_half, overview, success
from skeval.relational.subject_metric import SubjectMetric
from skeval.results.result import Result, undefined_result
from skeval.stats.roc import auc
from skeval.steps.aggregates import STATS, aggregated_context
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.foreign_keys import subject_positions
from skeval.steps.leak_advice import advice_on_leak
from skeval.steps.member_rows import drawing_order
from skeval.steps.members import CALIBRATED, MemberScores, member_scores
from skeval.steps.subjects import take_rows
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import OpenFraction, Seed

_PAIRS = (
    "pairs of a training and a holdout record of {subject} with the training one ranked "
    "higher, by {by}"
)
TOGETHER = "all of it together"
Parts = dict[str, np.ndarray]  # scores of the training data and of the holdout


@declared
class SubjectMembership(SubjectMetric):
    """AUC of a membership attack on subjects, using all rows of each subject.

    An attacker knows all purchases of a user and wants to find out whether the user was in the
    training data. Single purchases contain little information, and an attack on rows ignores that a
    user has several rows. A row scores high if the nearest synthetic row is closer to it than the
    nearest reference row. The score of a user is the mean or the maximum of these row scores. The
    maximum is used because one memorized row is enough to identify the user. The AUC is 0.5 if the
    attacker guesses and 1 for a perfect attack. Lower is better.

    Parameters
    ----------
    attack : {"ratio", "distance", "distance_calibrated", "knn_density"}, default="ratio"
        The score of a row, as in :class:`~skeval.privacy.MembershipInference`. "ratio" is the
        logarithm of the distance to the nearest reference row minus the logarithm of the distance
        to the nearest synthetic row. "distance" is minus the distance to the nearest synthetic row.
        "distance_calibrated" is the difference of the two distances. "knn_density" is minus the
        logarithm of the distance to the fifth nearest synthetic row.
    reference_fraction : float, default=0.5
        Fraction of the holdout subjects that the attacker uses as reference.
    random_state : int, default=0
        Seed of the reference sample.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject does not exist.
    MissingInputError
        At fit, if the holdout is missing, the schema does not specify the subjects of the rows, or
        no table depends on the subject.

    Warnings
    --------
    This is the result of one attacker. An AUC of 0.5 does not rule out a leak.

    See Also
    --------
    skeval.privacy.MembershipInference : An attack on single rows.
    PerSubject : Wraps MembershipInference to attack only the aggregates of a subject.
    SharedHistoryShare : Fraction of histories that are copied.

    Notes
    -----
    A subject has several scores. The first is the score of the subject's own row together with
    aggregates of its other rows, as in :class:`PerSubject`. Each table that depends on the subject
    adds two scores, which are the mean and the maximum of the scores of the rows that belong to the
    subject. The last score is the mean of the ranks of all these scores. The value is the largest
    AUC, and ``details["attacks"]`` contains the AUC of each score. The p-value and the interval are
    corrected for this choice (Holm, Bonferroni). If nothing was learned about any subject, the
    labels of subjects are exchangeable, however many rows they have. A subject without rows in a
    table has the median score of this table. The baseline is 0.5.

    The value is an average over all subjects. If few subjects are exposed, it stays close to 0.5.

    References
    ----------
    MT-MIA, arXiv:2602.07126.

    Examples
    --------
    >>> from skeval.relational import SubjectMembership
    >>> SubjectMembership(attack="distance")
    SubjectMembership(attack='distance')
    """

    tags = replace(
        ATTACK_TAGS,
        needs=frozenset({"holdout", "relational"}),
        display="ROCDisplay",
        weight=4.0,  # as in MembershipInference of rows
    )

    attack: Literal["ratio", "distance", "distance_calibrated", "knn_density"] = "ratio"
    _: KW_ONLY
    reference_fraction: OpenFraction = 0.5
    random_state: Seed = 0

    def _subject_scores(self, context: Context) -> dict[str, MemberScores]:
        settings = (self.attack, self.reference_fraction, self.random_state)
        return subject_scores(context, self._subject(context), *settings)

    def _compute(self, context: Context) -> Result:
        scored = self._subject_scores(context)
        if not scored:
            return undefined_result("train and holdout need subjects that can be scored.")
        return success(scored[strongest(scored)], None, ())

    def _in_relation(self, context: Context, result: Result) -> Result:
        scored = self._subject_scores(context)
        if not scored or np.isnan(result.value):
            return result
        best = strongest(scored)
        details = overview(best, scored)
        compared = against_half(scored, details["attacks"])
        shown, subject = compared["contrast"], self._subject(context)
        by = min(scored, key=lambda name: details["attacks"][name]["p_value"])
        compared["contrast"] = replace(shown, what=_PAIRS.format(subject=subject, by=by))
        return replace(result, **compared, details=details)

    def _leak_advice(self, context: Context) -> str:
        relational = cast("RelationalContext", context)
        return advice_on_leak(
            aggregated_context(relational, self._subject(context), STATS, "subject")
        )

    def _summary(self, result: Result) -> str:
        return (
            "An attacker with the synthetic data and all rows of a subject infers whether "
            "the subject "
            f"was in the training data. The best attack ({result.details['attack']}) ranks a "
            "training "
            f"subject above a holdout subject in {percent(as_float(result.details['auc']))} of the "
            "pairs (50% expected by chance)."
        )


def strongest(scored: dict[str, MemberScores]) -> str:
    """Return the scores with the largest AUC."""
    return max(scored, key=lambda name: auc(scored[name].members, scored[name].others))


@shared
def subject_scores(
    context: Context, subject: str, attack: str, reference_fraction: float, seed: int
) -> dict[str, MemberScores]:
    """Return scores of training and holdout subjects by their source.

    The holdout subjects that are the attacker's reference are not scored.
    """
    relational = cast("RelationalContext", context)
    sizes = {role: len(relational.original_frame(role)[subject]) for role in ("train", "holdout")}
    whole = aggregated_context(relational, subject, STATS, "subject")
    is_known = np.zeros(sizes["holdout"], dtype=np.bool_)
    if attack in CALIBRATED and sizes["holdout"] > 1:
        n_known = min(sizes["holdout"] - 1, max(1, round(reference_fraction * sizes["holdout"])))
        is_known[drawing_order(whole, "holdout", seed)[:n_known]] = True
    by_part: dict[str, Parts] = {}
    own = {role: np.arange(n) for role, n in sizes.items()}
    if rows := row_scores(whole, own, is_known, attack, seed):
        by_part["its own row and the aggregates of its rows"] = rows
    for table in relational.relations.dependents(subject):
        owners = {role: subject_positions(relational, role, table, subject) for role in sizes}
        rows = row_scores(relational.table(table), owners, is_known, attack, seed)
        for stat, said in (("mean", "the mean over its"), ("max", "the highest of its")):
            if rows:
                by_part[f"{said} {table}"] = {
                    role: aggregate_by_owner(rows[role], owners[role], n, stat)
                    for role, n in sizes.items()
                }
    return scores_of_parts(by_part, ~is_known)


def row_scores(
    own: Context, owners: dict[str, np.ndarray], is_known: np.ndarray, attack: str, seed: int
) -> Parts | None:
    """Return a score of each training and holdout row, nan for the rows of the reference.

    Return None if there are no rows to score or no rows for reference.
    """
    if nothing_to_measure(own, "gower"):
        return None
    of_known = (owners["holdout"] >= 0) & is_known[np.maximum(owners["holdout"], 0)]
    kept = np.flatnonzero(~of_known)
    if not kept.size or (is_known.any() and not of_known.any()):
        return None
    n_train = own.n_rows("train")
    rows = {
        "train": np.arange(n_train),
        "holdout": kept,
        "synthetic": np.arange(own.n_rows("synthetic")),
    }
    reference = own.holdout[of_known].reset_index(drop=True) if is_known.any() else None
    try:
        scores = member_scores(take_rows(own, rows), attack, seed=seed, reference=reference)
    except TableError:
        return None
    holdout = np.full(own.n_rows("holdout"), np.nan)
    holdout[kept[scores.other_rows]] = scores.others
    train = np.full(n_train, np.nan)
    train[scores.member_rows] = scores.members
    return {"train": train, "holdout": holdout}


def aggregate_by_owner(scores: np.ndarray, owners: np.ndarray, n: int, stat: str) -> np.ndarray:
    """Return mean or maximum of the scores of each owner, or nan for an owner without rows."""
    mine = pd.Series(scores).groupby(owners).agg(stat)
    return mine.reindex(range(n)).to_numpy(dtype=np.float64)


def scores_of_parts(by_part: Mapping[str, Parts], is_scored: np.ndarray) -> dict[str, MemberScores]:
    """Return the scores of subjects for each part, and for the mean of their ranks."""
    scored, ranks = {}, []
    others = np.flatnonzero(is_scored)
    for name, part in by_part.items():
        pooled = np.concatenate([part["train"], part["holdout"][others]])
        if np.isnan(pooled).all():
            continue
        pooled = np.where(np.isnan(pooled), np.nanmedian(pooled), pooled)
        ranks.append(rankdata(pooled))
        scored[name] = member_parts(pooled, part["train"].size, others)
    if len(ranks) > 1:
        n_train = next(iter(scored.values())).members.size
        scored[TOGETHER] = member_parts(np.mean(ranks, axis=0), n_train, others)
    return {name: one for name, one in scored.items() if one.fewest > 0}


def member_parts(pooled: np.ndarray, n_train: int, others: np.ndarray) -> MemberScores:
    """Return pooled scores split into the scores of members and of others."""
    return MemberScores(pooled[:n_train], pooled[n_train:], np.arange(n_train), others)
