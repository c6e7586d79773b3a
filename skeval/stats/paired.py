"""How far two synthetic tables are apart, measured against the same real rows."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import norm

from skeval.stats.intervals import halves_interval

Varied = Literal["halves", "roots", "rows"]
Ends = tuple[float, float] | None
_FEWEST_BEYOND = 5  # replicates beyond an end, for their quantile to be one


class Sampled(NamedTuple):
    """A value and how it varies, given the real rows.

    Parameters
    ----------
    value : float
        At the number of rows that the tables have in common.
    values : ndarray
        Of halves of the synthetic rows, shape (n_halvings, 2); or bootstrap replicates over the
        same tested rows, shape (n_replicates,).
    kind : {"halves", "roots", "rows"}
        Halves; halves of a sum of squares, whose root shrinks as noise does; tested rows.
    share : float, default=1
        Which share of the rows both halves have together.
    """

    value: float
    values: np.ndarray
    kind: Varied
    share: float = 1.0


def paired_interval(first: Sampled, second: Sampled, confidence: float = 0.95) -> Ends:
    """Return an interval of the difference of one measure of two synthetic tables.

    Both are measured against the same real rows, whose noise is shared: it is in the interval only
    as far as it moves the two values apart.

    Parameters
    ----------
    first, second : Sampled
        Of one kind.
    confidence : float, default=0.95
        In (0, 1).

    Returns
    -------
    tuple of float or None
        None where too little is defined.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.paired import Sampled, paired_interval
    >>> replicates = np.array([0.7, 0.8, 0.9])
    >>> first, second = Sampled(0.8, replicates, "rows"), Sampled(0.5, replicates - 0.3, "rows")
    >>> [round(end, 3) for end in paired_interval(first, second)]
    [0.3, 0.3]
    """
    difference = first.value - second.value
    if not np.isfinite(difference):
        return None
    if first.kind == "rows":
        moves = first.values - second.values
        known = moves[np.isfinite(moves)]
        if known.size < 2 or 2 * known.size < moves.size:
            return None
        tail = (1 - confidence) / 2
        if tail * known.size < _FEWEST_BEYOND:  # what so few replicates show of the tails is chance
            reach = float(norm.ppf(1 - tail) * known.std(ddof=1))
            return difference - reach, difference + reach
        low, high = np.quantile(known, [tail, 1 - tail])
        return min(float(low), difference), max(float(high), difference)
    if first.kind == "halves":
        return halves_interval(
            difference, first.values, second.values, confidence, share=first.share
        )
    slopes = 2.0 * np.sqrt(max(first.value, 0.0)), 2.0 * np.sqrt(max(second.value, 0.0))
    roots = [np.sqrt(np.maximum(part.values, 0.0)) for part in (first, second)]
    return halves_interval(
        difference, roots[0], roots[1], confidence, slopes=slopes, share=first.share
    )


def independent_interval(
    first: float, ends: Ends, second: float, others: Ends, confidence: float = 0.95
) -> Ends:
    """Return an interval of a difference from the 95% intervals of both values.

    They are taken to be independent. Of two tables that were measured against the same real rows
    they are not, so that the interval is mostly too wide, and seldom too narrow.

    Parameters
    ----------
    first, second : float
        The values.
    ends, others : tuple of float or None
        Their intervals, at 95%.
    confidence : float, default=0.95
        Of the interval of the difference; it is scaled as of a normal distribution.

    Returns
    -------
    tuple of float or None
        None where an interval lacks or has no finite end.

    Notes
    -----
    The square-and-add method: ``low = d - sqrt((a - l_a)^2 + (u_b - b)^2)``, and so for the other
    end.

    References
    ----------
    R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 17 (1998) 873-890.

    Examples
    --------
    >>> from skeval.stats.paired import independent_interval
    >>> independent_interval(0.5, (0.2, 0.8), 0.5, (0.1, 0.9))
    (-0.5, 0.5)
    """
    if ends is None or others is None or not np.isfinite([first, second, *ends, *others]).all():
        return None
    scale = float(norm.ppf(0.5 + confidence / 2) / norm.ppf(0.975))
    down = float(np.hypot(first - ends[0], others[1] - second)) * scale
    up = float(np.hypot(ends[1] - first, second - others[0])) * scale
    return first - second - down, first - second + up
