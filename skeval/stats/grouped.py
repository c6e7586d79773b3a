"""Statistics of the rows of each group, as of each customer's orders, in one pass a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NUMBER_STATS = ("mean", "median", "std", "min", "max", "span")
LEVEL_STATS = ("nunique", "mode", "mode_share")


def grouped_numbers(
    values: np.ndarray, groups: np.ndarray, n_groups: int, stats: Sequence[str] = NUMBER_STATS
) -> dict[str, np.ndarray]:
    """Return statistics of the numbers of each group.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers; missing is nan.
    groups : ndarray of shape (n,)
        The group of each, below `n_groups`; negative ones have none.
    n_groups : int
        Number of groups.
    stats : sequence of str, default=("mean", "median", "std", "min", "max", "span")
        Which ones; `std` divides by the number of values, `span` is the maximum minus the minimum.
        Names that stand for something else are left out.

    Returns
    -------
    dict of str to ndarray of shape (n_groups,)
        nan for groups without a number. The bits do not depend on the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.grouped import grouped_numbers
    >>> found = grouped_numbers(np.array([1.0, 3.0, 5.0]), np.array([1, 1, -1]), 2)
    >>> found["mean"].tolist(), found["std"].tolist()
    ([nan, 2.0], [nan, 1.0])
    """
    kept = (groups >= 0) & ~np.isnan(values)
    values, groups = values[kept] + 0.0, groups[kept]
    counts = np.bincount(groups, minlength=n_groups)
    some = np.flatnonzero(counts)
    counts = counts[some]
    ordered = _ordered_within(values, groups)
    starts = np.cumsum(counts) - counts
    parts = {"min": ordered[starts], "max": ordered[starts + counts - 1]}
    with np.errstate(invalid="ignore"):  # infinite synthetic values
        parts["span"] = parts["max"] - parts["min"]
        if {"mean", "std"} & set(stats) and some.size:
            mean = np.add.reduceat(ordered, starts) / counts
            parts["mean"] = np.where(parts["span"] == 0.0, parts["min"], mean)
            squares = (ordered - np.repeat(parts["mean"], counts)) ** 2
            parts["std"] = np.sqrt(np.add.reduceat(squares, starts) / counts)
        middle = ordered[starts + (counts - 1) // 2], ordered[starts + counts // 2]
        parts["median"] = 0.5 * middle[0] + 0.5 * middle[1]
    result = {}
    for name in stats:
        if name in NUMBER_STATS:
            result[name] = np.full(n_groups, np.nan)
            result[name][some] = parts.get(name, np.empty(0))
    return result


def _ordered_within(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return values by group, ascending in each."""
    order = np.argsort(values)
    ranks = np.empty(values.size, dtype=np.int64)
    ranks[order] = np.arange(values.size)
    keys = np.sort(groups * np.int64(values.size) + ranks)
    ordered: np.ndarray = values[order][keys % max(values.size, 1)]
    return ordered


def grouped_levels(
    codes: np.ndarray, groups: np.ndarray, n_groups: int, n_levels: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of levels, the most frequent one and its share, of each group.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Codes of categories, below `n_levels`; missing is negative.
    groups : ndarray of shape (n,)
        The group of each, below `n_groups`; negative ones have none.
    n_groups, n_levels : int
        Numbers of groups and of levels.

    Returns
    -------
    n_unique : ndarray of shape (n_groups,)
        As float; nan for groups without a level, as the shares.
    modes : ndarray of shape (n_groups,)
        The code of the level of most rows, the first of several; -1 for groups without one.
    shares : ndarray of shape (n_groups,)
        Of the rows that have a level, that have this one.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.grouped import grouped_levels
    >>> [part.tolist() for part in grouped_levels(np.array([2, 0, 2]), np.array([0, 0, 0]), 1, 3)]
    [[2.0], [2], [0.6666666666666666]]
    """
    kept = (groups >= 0) & (codes >= 0)
    keys = np.sort(groups[kept] * np.int64(n_levels) + codes[kept])
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    lengths = np.diff(first, append=keys.size)
    owners, levels = np.divmod(keys[first], max(n_levels, 1))
    n_unique = np.bincount(owners, minlength=n_groups).astype(np.float64)
    totals = np.bincount(owners, lengths, minlength=n_groups)
    n_unique[totals == 0] = np.nan
    modes, shares = np.full(n_groups, -1), np.full(n_groups, np.nan)
    order = np.lexsort((-levels, lengths, owners))  # the last of each group is its first mode
    modes[owners[order]] = levels[order]
    shares[owners[order]] = lengths[order]
    shares /= np.where(totals > 0, totals, 1.0)
    return n_unique, modes, shares
