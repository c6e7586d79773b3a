"""Whether train and holdout are samples of one population: without that, no contrast of them holds.

It is called blind because it looks at no synthetic row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skeval.context import Context, shared
from skeval.exceptions import HoldoutShiftWarning
from skeval.preprocessing import NOMINAL
from skeval.stats.exchangeability import blind_separation
from skeval.steps import nothing_to_measure, rows_of

__all__ = ["HoldoutShift", "holdout_shift", "shift_notices"]

_MOST_ROWS = 10_000
_FEWEST_ROWS = 20
_ALARM = 0.01
_SHIFTED = (
    "Train and holdout are no samples of one population: a classifier that has seen half of each "
    "tells the other halves apart (AUC {auc:.2f}, p {p}). Whatever contrasts the two is void: it "
    "cannot tell what was memorised from what differs. Divide one table at random into the two."
)


@dataclass(frozen=True)
class HoldoutShift:
    """How well train and holdout can be told apart.

    Parameters
    ----------
    auc : float
        Share of pairs of a train row and a holdout row, unseen both, that a classifier puts in
        order; 0.5 if the tables are exchangeable.
    p_value : float
        One-sided; of the null hypothesis that they are.
    n_train, n_holdout : int
        Numbers of rows looked at.
    """

    auc: float
    p_value: float
    n_train: int
    n_holdout: int


@shared
def holdout_shift(context: Context, seed: int = 0) -> HoldoutShift | None:
    """Return how well train and holdout can be told apart by the columns that can be measured.

    Of each table, 10,000 rows at most are looked at. Where a person has several rows and the tables
    were divided by persons, they may be told apart too, and rightly so: tests that take rows for
    independent do not hold there.

    Parameters
    ----------
    context : Context
        The real tables.
    seed : int, default=0
        Of the samples and the halves.

    Returns
    -------
    HoldoutShift or None
        None without a holdout, without a column that can be measured, or with fewer than 20 rows
        in a table.

    Examples
    --------
    >>> from skeval import Context
    >>> from skeval.blind import holdout_shift
    >>> from skeval.datasets import make_mixed
    >>> shift = holdout_shift(Context.of(make_mixed(random_state=0), make_mixed(random_state=1)))
    >>> shift.p_value > 0.01
    True
    """
    if "holdout" not in context or nothing_to_measure(context, "gower"):
        return None
    train, holdout = (
        rows_of(context, role, "gower", None, _MOST_ROWS, seed) for role in ("train", "holdout")
    )
    if min(len(train), len(holdout)) < _FEWEST_ROWS:
        return None
    n_columns = train.shape[1]
    is_nominal = np.arange(n_columns) >= n_columns - len(context.schema.columns(*NOMINAL))
    auc, p_value = blind_separation(train, holdout, categorical=is_nominal, seed=seed)
    return HoldoutShift(auc, p_value, len(train), len(holdout))


def shift_notices(context: Context) -> tuple[HoldoutShiftWarning, ...]:
    """Return a warning if train and holdout can be told apart at a level of 1%, else nothing."""
    shift = holdout_shift(context)
    if shift is None or shift.p_value >= _ALARM:
        return ()
    p = f"= {shift.p_value:.1g}" if shift.p_value >= 1e-16 else "< 1e-16"
    return (HoldoutShiftWarning(_SHIFTED.format(auc=shift.auc, p=p)),)
