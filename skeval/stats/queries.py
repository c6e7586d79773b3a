"""Counting queries: how many rows have given values, or values in given ranges, in some columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["Answers", "RangeQueries", "answer_queries", "draw_queries"]

_BLOCK = 2**15  # rows looked at together: their codes of a few columns fit in a core's cache


class RangeQueries(NamedTuple):
    """Conjunctions of conditions ``low <= value <= high`` on some columns.

    Attributes
    ----------
    columns : ndarray of shape (n_queries, order)
        Positions of the columns of each query, all distinct.
    low, high : ndarray of shape (n_queries, order)
        The bounds, included.
    """

    columns: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Answers(NamedTuple):
    """Numbers of rows that satisfy queries.

    Attributes
    ----------
    counts : ndarray of shape (n_queries,)
        Rows that satisfy all conditions of a query.
    singles : ndarray of shape (n_queries, order)
        Rows that satisfy each condition on its own.
    """

    counts: np.ndarray
    singles: np.ndarray


def draw_queries(
    columns: Sequence[np.ndarray],
    is_range: Sequence[bool],
    order: int,
    n_queries: int,
    rng: np.random.Generator,
) -> RangeQueries:
    """Draw queries about values that occur.

    Parameters
    ----------
    columns : sequence of ndarray
        Each column's values, ascending, none missing or infinite; none is empty.
    is_range : sequence of bool
        Whether a condition on the column is a range between two of its values, or one value.
    order : int
        Number of columns of a query, at most all.
    n_queries : int
        Number of queries.
    rng : Generator
        Draws them; a value is as likely as it is frequent.

    Returns
    -------
    RangeQueries

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.queries import draw_queries
    >>> column, rng = np.array([1.0, 2.0, 3.0]), np.random.default_rng(0)
    >>> queries = draw_queries([column], [True], 1, 2, rng)
    >>> bool((queries.low <= queries.high).all())
    True
    """
    at = np.array([rng.permutation(len(columns))[:order] for _ in range(n_queries)])
    shares = np.sort(rng.random((2, n_queries, order)), axis=0)
    low, high = np.empty(at.shape), np.empty(at.shape)
    for j, values in enumerate(columns):
        here = at == j
        first, last = (values[(share[here] * values.size).astype(np.int64)] for share in shares)
        low[here], high[here] = first, (last if is_range[j] else first)
    return RangeQueries(at, low, high)


def answer_queries(queries: RangeQueries, columns: Sequence[np.ndarray]) -> Answers:
    """Count the rows that satisfy queries.

    Parameters
    ----------
    queries : RangeQueries
        What is asked.
    columns : sequence of ndarray of shape (n_rows,)
        The values; missing ones (nan) satisfy no condition.

    Returns
    -------
    Answers

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.queries import RangeQueries, answer_queries
    >>> queries = RangeQueries(np.array([[0, 1]]), np.array([[2.0, 5.0]]), np.array([[3.0, 5.0]]))
    >>> columns = [np.array([1.0, 2.0, 3.0, np.nan]), np.array([5.0, 5.0, 4.0, 5.0])]
    >>> answer_queries(queries, columns).counts.tolist()
    [1]
    """
    shape = queries.columns.shape
    first, span, singles = (np.empty(shape, dtype=np.int64) for _ in range(3))
    beyond = np.nextafter(queries.high, np.inf)
    asked = [queries.columns == j for j in range(len(columns))]
    edges = [np.unique(np.concatenate([queries.low[at], beyond[at]])) for at in asked]
    kind = np.min_scalar_type(max(ends.size for ends in edges))  # narrow codes are read faster
    coded: list[np.ndarray] = []
    for values, at, ends in zip(columns, asked, edges, strict=True):
        codes = np.searchsorted(ends, values, side="right")
        start, stop = np.searchsorted(ends, queries.low[at]) + 1, np.searchsorted(ends, beyond[at])
        below = np.append(0, np.bincount(codes, minlength=ends.size + 1).cumsum())
        first[at], span[at] = start, stop - start
        singles[at] = below[stop + 1] - below[start]
        coded.append(codes.astype(kind))
    return Answers(_count(queries.columns, first.astype(kind), span.astype(kind), coded), singles)


def _count(
    columns: np.ndarray, first: np.ndarray, span: np.ndarray, codes: Sequence[np.ndarray]
) -> np.ndarray:
    """Count the rows whose codes lie in [first, first + span] in all columns of a query."""
    counts = np.zeros(len(columns), dtype=np.int64)
    for start in range(0, codes[0].size, _BLOCK):
        block = [column[start : start + _BLOCK] for column in codes]
        for i, conditions in enumerate(zip(columns, first, span, strict=True)):
            # below `low`, the unsigned difference wraps around and is large
            holds = [block[j] - low <= width for j, low, width in zip(*conditions, strict=True)]
            counts[i] += np.count_nonzero(np.logical_and.reduce(holds))
    return counts
