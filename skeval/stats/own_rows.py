"""What a synthetic table says of a row to somebody who has other rows, and no generator.

Both tables have as many rows, so that they are as dense.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

__all__ = ["agreement_share", "nearness_share"]

_TIE = float(np.nextafter(0.5, 0.0))  # like people at large: no sign of the row


def nearness_share(to_rows: float, to_own: float) -> float:
    """Return how much nearer a row is to a synthetic table than to other rows of its population.

    Parameters
    ----------
    to_rows, to_own : float
        Distances to the nearest synthetic row, and to the nearest of the other rows.

    Returns
    -------
    float
        The latter as a share of both: 1 where the row stands in the synthetic table, just below
        1/2 where both are equal.

    Examples
    --------
    >>> from skeval.stats.own_rows import nearness_share
    >>> nearness_share(0.0, 0.5), nearness_share(0.25, 0.75), nearness_share(0.1, 0.1) < 0.5
    (1.0, 0.75, True)
    """
    return _TIE if to_rows == to_own else to_own / (to_rows + to_own)


def agreement_share(counts: np.ndarray, own: np.ndarray) -> float:
    """Return how much more synthetic rows agree with a row than others of its population do.

    Parameters
    ----------
    counts, own : ndarray of shape (n_queries,)
        The log of one plus the number of synthetic rows, and of other rows, that agree with it.

    Returns
    -------
    float
        In (0, 1): the logistic function of the mean difference, just below 1/2 where it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.own_rows import agreement_share
    >>> own = np.log1p([1.0, 1.0])
    >>> round(agreement_share(np.log1p([2.0, 2.0]), own), 3), agreement_share(own, own) < 0.5
    (0.6, True)
    """
    difference = float(np.mean(counts - own))
    return _TIE if difference == 0.0 else float(expit(difference))
