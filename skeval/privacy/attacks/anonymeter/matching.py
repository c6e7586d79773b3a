"""Rows that meet the conditions of predicates, with NumPy for small tables.

The arguments `parts` are the columns, bounds and holes of the predicates, as in `Predicates.parts`,
so that both functions can be used in place of the compiled ones without changes to their callers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.leaves import Floats, Ints

Codes = NDArray[np.int32]

MAX_NUMPY_ROWS = 2_500  # up to this number, NumPy returns the same values and nothing is compiled
_CELLS = 2**18  # pairs of a predicate and a row that are compared in one step
_FIRST_ROWS = 64  # most predicates match two of them


def match_alone(codes: Codes, *parts: np.ndarray) -> np.ndarray:
    """Return for each predicate whether exactly one row matches."""
    if codes.shape[1] > MAX_NUMPY_ROWS:
        from skeval.privacy.attacks.anonymeter import compiled

        return compiled.match_alone(codes, *parts)
    alone = np.zeros(len(parts[0]), dtype=bool)
    first = _blocks(np.ascontiguousarray(codes[:, :_FIRST_ROWS]), *parts)
    few = np.flatnonzero(np.concatenate([inside.sum(axis=1) < 2 for inside in first]))
    if few.size:
        blocks = _blocks(codes, *(part[few] for part in parts))
        alone[few] = np.concatenate([inside.sum(axis=1) == 1 for inside in blocks])
    return alone


def chances(codes: Codes, counts: Ints, absence: Floats, cut: int, *parts: np.ndarray) -> Floats:
    """Return for each predicate the probability that one value in a sample of rows matches."""
    # Row `r` of `codes` is a value that occurs in `counts[r]` rows of the table. `absence[c]` is
    # the probability that none of `c` rows is in the sample, and it is treated as 0 from `cut`
    # on.
    if codes.shape[1] > MAX_NUMPY_ROWS:
        from skeval.privacy.attacks.anonymeter import compiled

        return compiled.chances(codes, counts, absence, cut, *parts)
    expected: list[Floats] = [np.empty(0)]
    for inside in _blocks(codes, *parts):
        q, r = np.nonzero(inside)
        total = (inside @ counts)[q]
        gained = absence[np.minimum(total - counts[r], cut)] - absence[np.minimum(total, cut)]
        sums = np.bincount(q, weights=gained, minlength=len(inside))
        expected.append(sums.astype(np.float64, copy=False))
    return np.concatenate(expected)


def first_matches(codes: Codes, limit: int, *parts: np.ndarray) -> tuple[Ints, Ints]:
    """Return the concatenated lists of rows that each predicate matches, and their lengths.

    A predicate with more than `limit` matches has an empty list.
    """
    if codes.shape[1] > MAX_NUMPY_ROWS:
        from skeval.privacy.attacks.anonymeter import compiled

        return compiled.first_matches(codes, limit, *parts)
    lists, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for inside in _blocks(codes, *parts):
        n_matches = inside.sum(axis=1)
        listed = n_matches <= limit
        lists.append(np.nonzero(inside[listed])[1])
        lengths.append(n_matches * listed)
    return np.concatenate(lists), np.concatenate(lengths)


def _blocks(codes: Codes, *parts: np.ndarray) -> Iterator[np.ndarray]:
    """Yield for some predicates at a time which rows meet all conditions."""
    size = max(1, _CELLS // max(1, codes.shape[1]))
    for start in range(0, max(1, len(parts[0])), size):
        some = [part[start : start + size].T[:, :, None] for part in parts]
        inside = np.ones((some[0].shape[1], codes.shape[1]), dtype=bool)
        for columns, low, high, hole in zip(*some, strict=True):
            lines = codes[columns[:, 0]]
            inside &= (lines >= low) & (lines <= high) & (lines != hole)
        yield inside
