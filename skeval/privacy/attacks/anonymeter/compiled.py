"""Compiled loops over rows for predicates, for large tables (see `matching`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.machine_code import Bytes, Floats, Ints, jit_inline, jit_without_refcounts

Codes = NDArray[np.int32]
BLOCK = 512  # rows between two checks of the number of matches


@jit_inline
def _read_block(
    codes: Codes, columns: Ints, low: Codes, high: Codes, hole: Codes, start: int, stop: int,
    inside: Bytes,
) -> int:  # fmt: skip
    """Mark the rows of a block that meet all conditions, and return their number."""
    width, n_inside = stop - start, 0
    for r in range(width):
        inside[r] = 1
    for c in range(columns.size):
        column, least, most, none = codes[columns[c], start:stop], low[c], high[c], hole[c]
        for r in range(width):
            code = column[r]
            inside[r] &= np.uint8((code >= least) & (code <= most) & (code != none))
    for r in range(width):
        n_inside += inside[r]
    return n_inside


def match_alone(
    codes: Codes, columns: Ints, low: Codes, high: Codes, hole: Codes
) -> NDArray[np.bool_]:
    """Return for each predicate whether exactly one row matches, and stop at the second match."""
    alone = np.zeros(columns.shape[0], np.bool_)
    inside = np.empty(BLOCK, np.uint8)
    _match_alone(inside, alone, *map(_fix_type, (codes, columns, low, high, hole)))
    return alone


@jit_without_refcounts
def _match_alone(
    inside: Bytes, alone: NDArray[np.bool_], codes: Codes, columns: Ints, low: Codes, high: Codes,
    hole: Codes,
) -> None:  # fmt: skip
    n_rows = codes.shape[1]
    for q in range(columns.shape[0]):
        n_matches = 0
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            n_matches += _read_block(
                codes, columns[q], low[q], high[q], hole[q], start, stop, inside
            )
            if n_matches > 1:
                break
        alone[q] = n_matches == 1


def chances(
    codes: Codes, counts: Ints, absence: Floats, cut: int, columns: Ints, low: Codes, high: Codes,
    hole: Codes,
) -> Floats:  # fmt: skip
    """Return for each predicate the probability that one value in a sample of rows matches."""
    # Row `r` of `codes` is a value that occurs in `counts[r]` rows of the table. `absence[c]` is
    # the probability that none of `c` rows is in the sample, and it is treated as 0 from `cut`
    # on.
    expected, matched = np.zeros(columns.shape[0]), np.empty(codes.shape[1], np.int64)
    read = map(_fix_type, (codes, columns, low, high, hole, counts, absence))
    _add_chances(cut, np.empty(BLOCK, np.uint8), matched, expected, *read)
    return expected


@jit_without_refcounts
def _add_chances(
    cut: int, inside: Bytes, matched: Ints, expected: Floats, codes: Codes, columns: Ints,
    low: Codes, high: Codes, hole: Codes, counts: Ints, absence: Floats,
) -> None:  # fmt: skip
    n_values = codes.shape[1]
    for q in range(columns.shape[0]):
        n_matched, total, largest = 0, 0, 0
        for start in range(0, n_values, BLOCK):
            stop = min(start + BLOCK, n_values)
            n_inside = _read_block(codes, columns[q], low[q], high[q], hole[q], start, stop, inside)
            if n_inside == 0:
                continue
            for r in range(stop - start):
                if inside[r]:
                    count = counts[start + r]
                    matched[n_matched] = count
                    n_matched += 1
                    total += count
                    largest = max(largest, count)
            if total - largest >= cut:
                break
        if total - largest < cut:
            for m in range(n_matched):
                others = absence[min(total - matched[m], cut)]
                expected[q] += others - absence[min(total, cut)]


def first_matches(
    codes: Codes, limit: int, columns: Ints, low: Codes, high: Codes, hole: Codes
) -> tuple[Ints, Ints]:
    """Return the concatenated lists of rows that each predicate matches, and their lengths.

    A predicate with more than `limit` matches has an empty list.
    """
    n = columns.shape[0]
    lists, lengths = np.empty(n * limit, np.int64), np.zeros(n, np.int64)
    read = map(_fix_type, (codes, columns, low, high, hole))
    end = _list_matches(limit, np.empty(BLOCK, np.uint8), lists, lengths, *read)
    return lists[:end].copy(), lengths


@jit_without_refcounts
def _list_matches(
    limit: int, inside: Bytes, lists: Ints, lengths: Ints, codes: Codes, columns: Ints, low: Codes,
    high: Codes, hole: Codes,
) -> int:  # fmt: skip
    n_rows, end = codes.shape[1], 0
    for q in range(columns.shape[0]):
        n_matches = 0
        for start in range(0, n_rows, BLOCK):
            stop = min(start + BLOCK, n_rows)
            new = _read_block(codes, columns[q], low[q], high[q], hole[q], start, stop, inside)
            if n_matches + new > limit:
                n_matches = 0
                break
            if new:
                for r in range(stop - start):
                    if inside[r]:
                        lists[end + n_matches] = start + r
                        n_matches += 1
        lengths[q] = n_matches
        end += n_matches
    return end


def _fix_type(array: Any) -> Any:
    """Return a read-only view, because numba would compile again for a writable array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
