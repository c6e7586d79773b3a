"""Reference rows in leaves, their layout in memory, and bounds of distances to a leaf."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.encoding import MISSING

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
# FLUSH, STEPS and ABSENT never change because machine code on disk contains them
FLUSH = 255  # maximum of a uint8 count of columns that differ
STEPS = 127  # steps of a byte over the range of a number column, for finding distant rows
ABSENT = 2 * STEPS  # byte of a missing number, at the maximum distance from all other bytes
MAX_COARSE = 255  # columns, whose steps and differences together fit in a uint16
MIN_COARSE = 3  # with fewer columns, coarse steps save no time


class Forest(NamedTuple):
    """Reference rows in leaf order with a box around each leaf, as a structure of arrays."""

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


def box_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, offsets: Ints, first: Ints,
    n_absent: int,
) -> Forest:  # fmt: skip
    """Copy the rows into leaf order and compute the box of each leaf."""
    n, n_leaves, starts = order.size, offsets.size - 1, offsets[:-1]
    shape = (len(numbers), n_leaves)
    low, high, complete = np.full(shape, MISSING), np.full(shape, -MISSING), np.ones(shape)
    n_coarse = min(len(numbers), MAX_COARSE) if len(numbers) >= MIN_COARSE else 0
    coarse, base = np.empty((n_coarse, n), np.uint8), np.zeros(len(numbers))
    moved_numbers, moved_codes = np.empty((len(numbers), n)), np.empty((len(codes), n), np.uint8)
    absent = np.ones((n_absent, n_leaves), np.uint8)
    for j, moved in enumerate(moved_numbers if n else ()):
        np.take(numbers[j], order, out=moved)
        is_missing = moved >= MISSING
        low[j] = np.minimum.reduceat(moved, starts)
        if is_missing.any():
            complete[j] = ~np.logical_or.reduceat(is_missing, starts)
            high[j] = np.maximum.reduceat(np.where(is_missing, -MISSING, moved), starts)
        else:
            high[j] = np.maximum.reduceat(moved, starts)
        if j < n_coarse:
            # if no value is present, the largest number that a value cannot have
            base[j] = min(low[j].min(), high[j].max())
            with np.errstate(over="ignore"):  # overflow is capped
                far = np.clip((moved - base[j]) * weights[j], 0.0, 1.0)
            coarse[j] = np.where(is_missing, ABSENT, np.floor(STEPS * far))
    leaf_of_row = np.repeat(np.arange(n_leaves), np.diff(offsets))
    for j, moved_code in enumerate(moved_codes):
        np.take(codes[j], order, out=moved_code)
        absent[first[j] + moved_code.astype(np.int64), leaf_of_row] = 0
    return Forest(
        moved_numbers, moved_codes, coarse, base, weights, order, offsets, low, high, complete,
        absent, first,
    )  # fmt: skip
