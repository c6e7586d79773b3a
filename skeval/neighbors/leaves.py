"""Reference rows in leaves: how they lie in memory, what a leaf holds, and bounds of distances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skeval.neighbors.encoding import GRID_SHIFT, MISSING
from skeval.neighbors.machine_code import Bytes, Floats, Ints, inlined, jit, uncounted

FLUSH = 255  # columns that a uint8 count of differences can hold
STEPS = 127  # of a byte, into which the range of a number column is cut to tell who is far
ABSENT = 2 * STEPS  # the byte of a missing number, as far from every other as they can be
MOST_COARSE = 255  # columns: a uint16 holds their steps and those of as many that differ
LEAST_COARSE = 3  # fewer columns are summed as fast as they are looked through


class Forest(NamedTuple):
    """Reference rows in leaf order with a box around each leaf; a structure of arrays.

    Attributes
    ----------
    numbers : ndarray of shape (n_numbers, n_rows)
        Number columns; `MISSING` where missing.
    codes : ndarray of shape (n_codes, n_rows), uint8
        Narrow categorical columns.
    coarse : ndarray of shape (n_numbers, n_rows), uint8
        The numbers in steps of a 127th of what counts as 1, from `base`; none where they are few.
    base : ndarray of shape (n_numbers,)
        The least present number.
    weights : ndarray of shape (n_numbers,)
        What a difference of one unit costs.
    rows : ndarray of shape (n_rows,)
        The original index of each row.
    offsets : ndarray of shape (n_leaves + 1,)
        Leaf `l` is the slice `offsets[l]:offsets[l + 1]`.
    low, high : ndarray of shape (n_numbers, n_leaves)
        The interval of present values.
    complete : ndarray of shape (n_numbers, n_leaves)
        1 where the leaf has no missing value, else 0.
    absent : ndarray of shape (sum of code counts, n_leaves), uint8
        1 where the leaf has no row with the code.
    first : ndarray of shape (n_codes,)
        Row of `absent` where the column's codes begin.
    """

    numbers: Floats
    codes: Bytes
    coarse: Bytes
    base: Floats
    weights: Floats
    rows: Ints
    offsets: Ints
    low: Floats
    high: Floats
    complete: Floats
    absent: Bytes
    first: Ints


@uncounted
def bound_leaves(
    forest: Forest, query: Floats, query_codes: Bytes, counts: Bytes, bounds: Floats
) -> None:
    """Write into `bounds` a sum that no row of the leaf is below, for every leaf."""
    n_leaves, n_codes = bounds.size, query_codes.size
    bounds[:] = 0.0
    for begin in range(0, n_codes, FLUSH):
        counts[:] = 0
        for j in range(begin, min(begin + FLUSH, n_codes)):
            absent = forest.absent[forest.first[j] + query_codes[j]]
            for leaf in range(n_leaves):
                counts[leaf] += absent[leaf]
        for leaf in range(n_leaves):
            bounds[leaf] += np.float64(counts[leaf])
    for j in range(query.size):
        value, weight = query[j], forest.weights[j]
        low, high, complete = forest.low[j], forest.high[j], forest.complete[j]
        if value < MISSING:
            for leaf in range(n_leaves):
                gap = max(0.0, max(low[leaf] - value, value - high[leaf]))
                bounds[leaf] += min(1.0, gap * weight)
        else:
            for leaf in range(n_leaves):
                bounds[leaf] += complete[leaf]
    for leaf in range(n_leaves):
        bounds[leaf] = (bounds[leaf] + GRID_SHIFT) - GRID_SHIFT


@inlined
def in_steps(value: float, base: float, weight: float) -> int:
    """Return the byte of a number: its steps from `base`, 127 at most."""
    if value >= MISSING:
        return ABSENT
    return int(np.float64(STEPS) * min(1.0, max(0.0, (value - base) * weight)))


@inlined
def write_steps(forest: Forest, query: Floats, steps: Bytes) -> None:
    """Write the bytes of a query."""
    for j in range(steps.size):
        steps[j] = in_steps(query[j], forest.base[j], forest.weights[j])


@jit
def box_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, offsets: Ints, first: Ints,
    n_absent: int,
) -> Forest:  # fmt: skip
    """Copy the rows into leaf order and note what each leaf holds."""
    n, n_leaves = order.size, offsets.size - 1
    low = np.full((numbers.shape[0], n_leaves), MISSING)
    high = np.full((numbers.shape[0], n_leaves), -MISSING)
    complete = np.ones((numbers.shape[0], n_leaves))
    absent = np.ones((n_absent, n_leaves), np.uint8)
    moved_numbers = np.empty((numbers.shape[0], n))
    moved_codes = np.empty((codes.shape[0], n), np.uint8)
    n_coarse = min(numbers.shape[0], MOST_COARSE) if numbers.shape[0] >= LEAST_COARSE else 0
    coarse, base = np.empty((n_coarse, n), np.uint8), np.zeros(numbers.shape[0])
    for j in range(numbers.shape[0]):
        for leaf in range(n_leaves):
            for t in range(offsets[leaf], offsets[leaf + 1]):
                value = numbers[j, order[t]]
                moved_numbers[j, t] = value
                if value < MISSING:
                    low[j, leaf] = min(low[j, leaf], value)
                    high[j, leaf] = max(high[j, leaf], value)
                else:
                    complete[j, leaf] = 0.0
    for j in range(n_coarse):
        base[j] = min(low[j].min(), high[j].max())  # of none present the largest, which none is
        for t in range(n):
            coarse[j, t] = in_steps(moved_numbers[j, t], base[j], weights[j])
    for j in range(codes.shape[0]):
        for leaf in range(n_leaves):
            for t in range(offsets[leaf], offsets[leaf + 1]):
                code = codes[j, order[t]]
                moved_codes[j, t] = code
                absent[first[j] + code, leaf] = 0
    return Forest(
        moved_numbers, moved_codes, coarse, base, weights, order, offsets, low, high, complete,
        absent, first,
    )  # fmt: skip
