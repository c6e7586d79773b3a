"""Which cells of a row are missing: patterns, their counts, and shares that differ."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from skeval.stats.intervals import newcombe

__all__ = ["difference_interval", "pattern_codes", "pattern_counts"]

_WORD = 62  # columns in one whole number


def pattern_codes(missing: Iterable[np.ndarray], n_rows: int) -> np.ndarray:
    """Return a code for each row, the same for rows in which the same cells are missing.

    Parameters
    ----------
    missing : iterable of ndarray of shape (n_rows,), bool
        Whether each row's cell is missing, column by column; they are read one by one.
    n_rows : int
        Number of rows, for tables without a column.

    Returns
    -------
    ndarray of shape (n_rows,), int64
        0, 1, 2, ... in the order of first appearance.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.missingness import pattern_codes
    >>> pattern_codes([np.array([True, False, True]), np.array([True, True, True])], 3)
    array([0, 1, 0])
    """
    codes, word, n_bits = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.int64), 0
    for is_missing in missing:
        if n_bits == _WORD:
            codes, word, n_bits = _joined(codes, word), np.zeros(n_rows, dtype=np.int64), 0
        word |= is_missing.astype(np.int64) << n_bits
        n_bits += 1
    return _joined(codes, word)


def _joined(codes: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return a code for each pair of values; neither has more than there are rows."""
    found = np.asarray(pd.factorize(word)[0], dtype=np.int64)
    pairs = codes * (int(found.max(initial=0)) + 1) + found
    return np.asarray(pd.factorize(pairs)[0], dtype=np.int64)


def pattern_counts(codes: np.ndarray, n_first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each pattern occurs in the first table and in the second.

    Parameters
    ----------
    codes : ndarray of shape (n_first + n_second,)
        As :func:`pattern_codes` gives them for the rows of both tables, one below the other.
    n_first : int
        Number of rows of the first table.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.missingness import pattern_counts
    >>> pattern_counts(np.array([0, 0, 1, 0]), 2)
    (array([2, 0]), array([1, 1]))
    """
    n_patterns = int(codes.max(initial=-1)) + 1
    first, second = (
        np.bincount(part, minlength=n_patterns) for part in (codes[:n_first], codes[n_first:])
    )
    return first, second


def difference_interval(
    k: int, n: int, k_other: int, n_other: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Return the interval of the absolute difference of two independent shares.

    It holds the true difference whenever Newcombe's interval of the signed one does.

    Examples
    --------
    >>> from skeval.stats.missingness import difference_interval
    >>> [round(bound, 4) for bound in difference_interval(48, 80, 56, 70)]
    [0.0524, 0.3339]
    """
    low, high = newcombe(k, n, k_other, n_other, confidence)
    if low <= 0.0 <= high:
        return 0.0, max(-low, high)
    return min(abs(low), abs(high)), max(abs(low), abs(high))
