"""Whether a subject was learned from, by its own row and all the rows that belong to it."""

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
    "pairs of a train and a holdout one of {subject} in which the train one ranks higher, by {by}"
)
TOGETHER = "all of it together"
Parts = dict[str, np.ndarray]  # scores of train and of the holdout


@declared
class SubjectMembership(SubjectMetric):
    """AUC of telling train from holdout subjects by all their rows: 0.5 by chance, 1 faultless.

    An attacker knows a user, with every purchase, and wants to know whether the user was in the
    data. Single purchases say little, and an attack on rows asks the wrong question: nobody is a
    member by one row. Each row is scored by how much nearer the release comes to it than other
    people's rows do; a user's score is the mean of these, or the largest, since one row that was
    remembered gives the user away.

    Parameters
    ----------
    attack : {"ratio", "distance", "distance_calibrated", "knn_density"}, default="ratio"
        The score of a row, as in :class:`~skeval.privacy.MembershipInference`: the log of the
        distance to the nearest reference row less that to the nearest synthetic row; minus the
        latter distance; their difference; or minus the log of the distance to the fifth nearest
        synthetic row.
    reference_fraction : float, default=0.5
        Which part of the holdout's subjects the attacker has for reference.
    random_state : int, default=0
        Seed of that part.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject is no subject.
    MissingInputError
        At fit, if there is no holdout, the schema does not say whose the rows are, or no table
        depends on the subject.

    Warnings
    --------
    This is what one adversary achieves: an AUC of 0.5 does not clear a release.

    See Also
    --------
    skeval.privacy.MembershipInference : The same for rows; by PerSubject, for aggregates alone.
    SharedHistoryShare : Histories that are copied.

    Notes
    -----
    There are several scores of a subject: that of its own row with aggregates of the others (as in
    :class:`PerSubject`); for each table that depends on it, mean and maximum over its rows; and
    the mean of the ranks by all of these. The value is the largest AUC, ``details["attacks"]`` has
    all; p-value and interval hold for the choice (Holm, Bonferroni). Labels of subjects are
    exchangeable if nothing was learned of any of them, however many rows they have. A subject
    without rows in a table has the median score there. The baseline is 0.5.

    The value is an average over all subjects: if a few are exposed, it stays near 0.5.

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
        weight=4.0,  # as MembershipInference of rows
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
            "An attacker who has the release and all rows of some subject guesses whether it was "
            f"in train, best by {result.details['attack']}: a train subject ranks above a holdout "
            f"one {percent(as_float(result.details['auc']))} of the time, by chance 50%."
        )


def strongest(scored: dict[str, MemberScores]) -> str:
    """Return which scores have the largest AUC."""
    return max(scored, key=lambda name: auc(scored[name].members, scored[name].others))


@shared
def subject_scores(
    context: Context, subject: str, attack: str, reference_fraction: float, seed: int
) -> dict[str, MemberScores]:
    """Return scores of train and holdout subjects, by what they are made of.

    The subjects of the holdout that are the attacker's reference are not scored.
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
        by_part["its own row and what its rows are like"] = rows
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
    """Return a score of each row of train and of the holdout, nan for those of the reference.

    None where there is no row to score, or none for reference.
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
    """Return mean or maximum of the scores of each owner; nan for one without rows."""
    mine = pd.Series(scores).groupby(owners).agg(stat)
    return mine.reindex(range(n)).to_numpy(dtype=np.float64)


def scores_of_parts(by_part: Mapping[str, Parts], is_scored: np.ndarray) -> dict[str, MemberScores]:
    """Return the scores of subjects by each part, and by the mean of their ranks."""
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
    """Return pooled scores as those of members and of others."""
    return MemberScores(pooled[:n_train], pooled[n_train:], np.arange(n_train), others)
