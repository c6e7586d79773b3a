"""Rates of groups and the gaps between them, for many weightings of the tested rows at once.

Counts have shape (n_replicates, n_groups, 2, 2), the last two axes being truth and call; their
first replicate is the tested rows as they are. Rates have shape (n_replicates, n_groups).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_matrix

__all__ = [
    "CRITERIA",
    "average_odds_difference",
    "gap",
    "gap_interval",
    "group_counts",
    "group_rates",
    "preservation",
    "rate_ratio",
    "spread",
]

# which rates must be equal
CRITERIA = {
    "demographic_parity": ("selection",),
    "equalized_odds": ("tpr", "fpr"),
    "equal_opportunity": ("tpr",),
}
Rates = Mapping[str, np.ndarray]


def group_counts(
    groups: np.ndarray, truth: np.ndarray, called: np.ndarray, weights: np.ndarray, n_groups: int
) -> np.ndarray:
    """Count rows by group, truth and call.

    Parameters
    ----------
    groups : ndarray of int of shape (n_rows,)
        Codes below `n_groups`.
    truth, called : ndarray of bool of shape (n_rows,)
        Whether a row is positive, and whether it is called so.
    weights : ndarray of shape (n_replicates, n_rows)
        How often each row counts.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (n_replicates, n_groups, 2, 2)
    """
    cells = 4 * groups + 2 * truth + called
    members = csr_matrix(
        (np.ones(cells.size), (cells, np.arange(cells.size))), shape=(4 * n_groups, cells.size)
    )
    return np.asarray((members @ weights.T).T).reshape(-1, n_groups, 2, 2)


def group_rates(counts: np.ndarray, min_cell: int = 1) -> dict[str, np.ndarray]:
    """Return the rates by which fairness is judged.

    Parameters
    ----------
    counts : ndarray of shape (n_replicates, n_groups, 2, 2)
        As of :func:`group_counts`.
    min_cell : int, default=1
        A rate of fewer rows than that, in the first replicate, is nan in all.

    Returns
    -------
    dict of str to ndarray of shape (n_replicates, n_groups)
        "selection", the share called positive; "tpr" and "fpr", that share of the positive and of
        the negative rows.
    """
    called, actual = counts[..., 1], counts.sum(axis=-1)
    parts = {"selection": called.sum(axis=-1), "tpr": called[..., 1], "fpr": called[..., 0]}
    wholes = {"selection": actual.sum(axis=-1), "tpr": actual[..., 1], "fpr": actual[..., 0]}
    rates = {}
    for name, whole in wholes.items():
        known = (whole > 0) & (whole[:1] >= min_cell)
        rates[name] = np.divide(parts[name], whole, out=np.full(whole.shape, np.nan), where=known)
    return rates


def spread(rates: np.ndarray) -> np.ndarray:
    """Return largest minus smallest rate of the groups that have one; nan if fewer than two do."""
    low, high = _ends(rates)
    found: np.ndarray = high - low
    return found


def _ends(rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(rates)
    low = np.where(known, rates, np.inf).min(axis=-1, initial=np.inf)
    high = np.where(known, rates, -np.inf).max(axis=-1, initial=-np.inf)
    enough = known.sum(axis=-1) >= 2
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def gap(rates: Rates, criterion: str, aggregate: str = "max") -> np.ndarray:
    """Return how far the groups are from equal rates.

    Parameters
    ----------
    rates : mapping of str to ndarray of shape (..., n_groups)
        As of :func:`group_rates`.
    criterion : {"demographic_parity", "equalized_odds", "equal_opportunity"}
        Equal "selection", equal "tpr" and "fpr", or equal "tpr".
    aggregate : {"max", "mean"}, default="max"
        Of the spreads of the two rates of equalized odds.

    Returns
    -------
    ndarray of shape (...)
        In [0, 1]; nan where a rate is known of fewer than two groups.
    """
    spreads = np.stack([spread(rates[name]) for name in CRITERIA[criterion]])
    found: np.ndarray = spreads.max(axis=0) if aggregate == "max" else spreads.mean(axis=0)
    return found


def rate_ratio(rates: Rates, criterion: str) -> np.ndarray:
    """Return smallest over largest rate, of two rates the lower ratio; 1 where all are equal."""
    ratios = []
    for name in CRITERIA[criterion]:
        low, high = _ends(rates[name])
        equal = np.where(np.isnan(high), np.nan, 1.0)
        ratios.append(np.divide(low, high, out=equal, where=high > 0))
    found: np.ndarray = np.stack(ratios).min(axis=0)
    return found


def average_odds_difference(rates: Rates) -> np.ndarray:
    """Return the mean of the differences in TPR and in FPR, second group minus first.

    It is signed: 0 can be two differences that cancel. nan unless there are two groups.
    """
    both = np.stack([rates["tpr"], rates["fpr"]])
    if both.shape[-1] != 2:
        return np.full(both.shape[1:-1], np.nan)
    found: np.ndarray = (both[..., 1] - both[..., 0]).mean(axis=0)
    return found


def preservation(rates: Rates, others: Rates, criterion: str) -> np.ndarray:
    """Return 1 minus the largest change of a group's rate from `others` to `rates`.

    Two models may have the same gap with the groups in opposite order; this sees it.
    """
    changes = np.concatenate(
        [np.abs(rates[name] - others[name]) for name in CRITERIA[criterion]], axis=-1
    )
    known = ~np.isnan(changes)
    worst = np.where(known, changes, 0.0).max(axis=-1, initial=0.0)
    return np.where(known.any(axis=-1), 1.0 - worst, np.nan)


def gap_interval(
    rates: Rates, criterion: str, aggregate: str = "max", confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return an interval of the gap, from replicates of the rates.

    Parameters
    ----------
    rates : mapping of str to ndarray of shape (..., 1 + n_replicates, n_groups)
        The rates, then their bootstrap replicates. Leading axes are models, whose mean gap it is.
    criterion, aggregate : str
        As of :func:`gap`.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    tuple of float or None
        None where the gap, or too many replicates, are not defined.

    Notes
    -----
    Noise spreads equal rates apart, so that a gap, and each bootstrap gap still more, is too large:
    quantiles of bootstrap gaps never reach 0. But no gap differs from the true one by more than
    the errors of the rates are spread. The interval is the gap plus and minus a quantile of the
    spread of (replicate - rate): exact for two groups, conservative for more.
    """
    value = _over_models(gap(rates, criterion, aggregate))[0]
    errors = {name: part[..., 1:, :] - part[..., :1, :] for name, part in rates.items()}
    reach = _over_models(gap(errors, criterion, aggregate))
    known = reach[~np.isnan(reach)]
    if np.isnan(value) or known.size == 0 or 2 * known.size < reach.size:
        return None
    radius = float(np.quantile(known, confidence))
    return max(float(value) - radius, 0.0), min(float(value) + radius, 1.0)


def _over_models(values: np.ndarray) -> np.ndarray:
    mean: np.ndarray = values.mean(axis=tuple(range(values.ndim - 1)))
    return mean
