"""Do two samples of categories follow one law."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

__all__ = ["Homogeneity", "homogeneity_test", "pool_rare_cells"]


class Homogeneity(NamedTuple):
    """What the chi-square test of a 2 x K table says; all but `n_cells` are nan if K < 2.

    Attributes
    ----------
    statistic : float
        Chi-square.
    degrees : float
        Of freedom, K - 1.
    p_value : float
        Of the null hypothesis that both rows follow one law.
    cramers_v : float
        0 for equal shares, 1 where no cell is used by both.
    expected_v : float
        The root mean square of `cramers_v` over all relabellings of the pooled rows.
    n_cells : int
        K, after rare cells were pooled.
    """

    statistic: float
    degrees: float
    p_value: float
    cramers_v: float
    expected_v: float
    n_cells: int


def homogeneity_test(
    counts_x: np.ndarray, counts_y: np.ndarray, min_expected: float = 5.0
) -> Homogeneity:
    """Test whether two tables of counts on common cells come from one law.

    Parameters
    ----------
    counts_x, counts_y : ndarray of shape (n_cells,)
        Counts on common cells.
    min_expected : float, default=5.0
        Cells of which less is expected in either table are pooled, see :func:`pool_rare_cells`.

    Returns
    -------
    Homogeneity

    Notes
    -----
    For a cell with counts x and y, chi-square adds (x m - y n)^2 / (n m (x + y)). Its mean over all
    relabellings is (K - 1) N / (N - 1), exactly; hence ``expected_v = sqrt((K - 1) / (N - 1))``.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.homogeneity import homogeneity_test
    >>> found = homogeneity_test(np.array([50, 30, 20]), np.array([40, 40, 20]))
    >>> round(found.statistic, 6), round(found.p_value, 6), found.degrees
    (2.539683, 0.280876, 2.0)
    """
    x, y = pool_rare_cells(counts_x, counts_y, min_expected)
    n, m, k = float(x.sum()), float(y.sum()), x.size
    if k < 2 or n == 0 or m == 0:
        nan = float("nan")
        return Homogeneity(nan, nan, nan, nan, nan, k)
    statistic = float(((x * m - y * n) ** 2 / (n * m * (x + y))).sum())
    return Homogeneity(
        statistic,
        k - 1.0,
        float(chi2.sf(statistic, k - 1)),
        min(1.0, float(np.sqrt(statistic / (n + m)))),
        float(np.sqrt((k - 1.0) / (n + m - 1.0))),
        k,
    )


def pool_rare_cells(
    counts_x: np.ndarray, counts_y: np.ndarray, min_expected: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables with all cells in one of which less than `min_expected` is expected.

    Which cells are pooled follows from the pooled counts alone, so that no table is favoured. If
    that one cell is still too rare, the rarest other one joins it. Cells that neither table uses
    are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.homogeneity import pool_rare_cells
    >>> x, y = pool_rare_cells(np.array([40, 4, 2, 0]), np.array([30, 3, 7, 0]), 5.0)
    >>> x.tolist(), y.tolist()
    ([40, 6], [30, 10])
    """
    both = np.asarray(counts_x + counts_y)
    order = np.argsort(-both, kind="stable")
    order = order[both[order] > 0]
    x, y, total = counts_x[order], counts_y[order], both[order]
    share = min(int(x.sum()), int(y.sum())) / max(1, int(total.sum()))
    enough = total * share >= min_expected
    n_kept = int(enough.sum())
    if n_kept < total.size and total[n_kept:].sum() * share < min_expected:
        n_kept = max(0, n_kept - 1)
    if n_kept == total.size:
        return x, y
    return tuple(np.append(z[:n_kept], z[n_kept:].sum()) for z in (x, y))  # type: ignore[return-value]
