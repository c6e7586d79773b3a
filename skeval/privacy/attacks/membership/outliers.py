"""Whether an attack does better on rows that lie apart: an average over all rows hides a few."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from skeval.context import Context, shared
from skeval.privacy.attacks.membership.scores import MemberScores
from skeval.stats.roc import auc_p_value, delong
from skeval.steps.neighbors import pool_index
from skeval.steps.samples import ColumnChoice

_N_NEAREST = 5
_N_GROUPS = 10
_TAILS = (0.95, 0.98, 0.99)
_FEWEST = 10  # rows of a group
_FEWEST_OF_A_KIND = 3  # members, and others, of a group


@shared
def outlyingness(context: Context, space: Any, columns: ColumnChoice) -> tuple[np.ndarray, ...]:
    """Return how far each row of train, and of the holdout, is from other real rows.

    The mean distance to the five nearest other rows of both tables together, so that it does not
    depend on which rows were train.
    """
    pool = pool_index(context, space, columns)
    n_rows = len(pool.rows)
    k = min(_N_NEAREST, n_rows - 1)
    distances, _ = pool.others(np.arange(n_rows), k, np.full(n_rows, np.inf))
    means = distances.mean(axis=1)
    n_train = context.n_rows("train")
    return means[:n_train], means[n_train:]


@dataclass(frozen=True)
class Group:
    """The AUC of an attack on rows that lie about equally far apart.

    Attributes
    ----------
    above, up_to : float
        The rows' places in the order of outlyingness, from 0, the most common, to 1.
    n_members, n_others : int
        Numbers of rows.
    auc : float
        Of the group.
    interval : tuple of (float, float)
        DeLong's, simultaneous over all groups.
    p_value : float
        One-sided, of the group alone.
    """

    above: float
    up_to: float
    n_members: int
    n_others: int
    auc: float
    interval: tuple[float, float]
    p_value: float


def groups_by_outlyingness(
    members: np.ndarray, others: np.ndarray, apart: tuple[np.ndarray, np.ndarray]
) -> list[Group]:
    """Return the AUC of each tenth of the rows, and of the outermost 5%, 2% and 1%.

    Parameters
    ----------
    members, others : ndarray of shape (m,), (n,)
        Scores.
    apart : tuple of ndarray of shape (m,), (n,)
        Outlyingness of the same rows.

    Returns
    -------
    list of Group
        Those with at least 10 rows, 3 of them members and 3 others. Tables of fewer than 100 rows
        are cut into fewer parts, of fewer than 20 into none.
    """
    n_rows = members.size + others.size
    places = rankdata(np.concatenate(apart), method="average") / n_rows
    parts = min(_N_GROUPS, n_rows // _FEWEST)
    cuts = [(i / parts, (i + 1) / parts) for i in range(parts)] if parts > 1 else []
    cuts += [(tail, 1.0) for tail in _TAILS if parts == _N_GROUPS]
    of_members, of_others = places[: members.size], places[members.size :]
    chosen = [
        (cut, members[_inside(of_members, cut)], others[_inside(of_others, cut)]) for cut in cuts
    ]
    chosen = [part for part in chosen if _is_large(*part[1:])]
    confidence = 1.0 - 0.05 / max(len(chosen), 1)
    return [_group(cut, m, n, confidence) for cut, m, n in chosen]


def _inside(places: np.ndarray, cut: tuple[float, float]) -> np.ndarray:
    inside: np.ndarray = (places > cut[0]) & (places <= cut[1])
    return inside


def _is_large(members: np.ndarray, others: np.ndarray) -> bool:
    smaller = min(members.size, others.size)
    return smaller >= _FEWEST_OF_A_KIND and members.size + others.size >= _FEWEST


def _group(
    cut: tuple[float, float], members: np.ndarray, others: np.ndarray, confidence: float
) -> Group:
    area = delong(members, others, confidence)
    return Group(
        *cut,
        members.size,
        others.size,
        area.value,
        area.interval,
        auc_p_value(members, others),
    )


def outlier_risk(
    context: Context, scores: MemberScores, space: Any, columns: ColumnChoice
) -> dict[str, Any]:
    """Return the groups, the one that speaks most of a leak, and its p-value after Bonferroni.

    Parameters
    ----------
    context : Context
        The tables.
    scores : MemberScores
        Of one attack.
    space : "gower", "euclidean" or transformer
        In which rows lie apart.
    columns : int, tuple of str or None
        The columns looked at.

    Returns
    -------
    dict
        `groups`; `worst`, the group with the smallest p-value, and `largest_auc`; `p_value`. Empty
        where there are too few rows.
    """
    of_train, of_holdout = outlyingness(context, space, columns)
    apart = (of_train[scores.member_rows], of_holdout[scores.other_rows])
    groups = groups_by_outlyingness(scores.members, scores.others, apart)
    if not groups:
        return {}
    worst = min(groups, key=lambda group: (group.p_value, -group.auc))
    return {
        "groups": [_told(group) for group in groups],
        "worst": _told(worst),
        "largest_auc": max(group.auc for group in groups),
        "p_value": min(1.0, len(groups) * worst.p_value),
    }


def _told(group: Group) -> dict[str, Any]:
    return {**asdict(group), "interval": list(group.interval)}
