"""Compiled building of the neighbour engine's tree: order rows, cut and box leaves.

Rows are split where they differ most, seen on a sample: this shapes the tree only, and whatever its
shape, the neighbours found are the same.
"""

from __future__ import annotations

import numpy as np

from skeval.stats._columns import MISSING
from skeval.stats._kernels import Bytes, Floats, Forest, Ints, jit

__all__ = ["box_leaves", "grow_leaves"]

N_CODES = 256  # of a uint8 column


@jit
def _number_spread(column: Floats, weight: float, order: Ints, span: Ints, size: int) -> float:
    """Return the mean capped deviation from the mean, over a strided sample of the span."""
    start, width = span[0], span[1] - span[0]
    total, present = 0.0, 0
    for t in range(size):
        value = column[order[start + t * width // size]]
        if value < MISSING:
            total += value
            present += 1
    mean = total / max(present, 1)
    spread = 0.0
    for t in range(size):
        spread += min(1.0, abs(column[order[start + t * width // size]] - mean) * weight)
    return spread / size


@jit
def _count_codes(column: Bytes, order: Ints, span: Ints, size: int, counts: Ints) -> int:
    """Count the codes of a strided sample into `counts`; return the largest count."""
    start, width = span[0], span[1] - span[0]
    counts[:] = 0
    top = 0
    for t in range(size):
        code = column[order[start + t * width // size]]
        counts[code] += 1
        top = max(top, counts[code])
    return int(top)


@jit
def _widest_column(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, span: Ints, size: int, counts: Ints
) -> int:
    """Return the column with the largest spread, numbers first; -1 if none varies in the sample."""
    best, widest = 0.0, -1
    for j in range(numbers.shape[0]):
        spread = _number_spread(numbers[j], weights[j], order, span, size)
        if spread > best:
            best, widest = spread, j
    for j in range(codes.shape[0]):
        spread = 1.0 - _count_codes(codes[j], order, span, size, counts) / size
        if spread > best:
            best, widest = spread, numbers.shape[0] + j
    return int(widest)


@jit
def _sample_sorted(column: Floats, order: Ints, span: Ints, size: int) -> Floats:
    """Return a strided sample of the span in ascending order (by insertion: it is small)."""
    start, width = span[0], span[1] - span[0]
    sample = np.empty(size)
    for t in range(size):
        value, slot = column[order[start + t * width // size]], t
        while slot > 0 and sample[slot - 1] > value:
            sample[slot] = sample[slot - 1]
            slot -= 1
        sample[slot] = value
    return sample


@jit
def _put_back(order: Ints, border: int, spare: Ints, held: int) -> None:
    for t in range(held):  # a slice assignment takes two seconds to compile
        order[border + t] = spare[t]


@jit
def _part_numbers(column: Floats, order: Ints, span: Ints, size: int, spare: Ints) -> int:
    """Move rows below the sample median to the left, in place and stably; return the border."""
    sample = _sample_sorted(column, order, span, size)
    median = sample[size // 2]
    take_median = sample[0] == median  # else nothing would go left
    border, held = span[0], 0
    for t in range(span[0], span[1]):
        row = order[t]
        if column[row] < median or (take_median and column[row] == median):
            order[border] = row
            border += 1
        else:
            spare[held] = row
            held += 1
    _put_back(order, border, spare, held)
    return int(border)


@jit
def _left_codes(counts: Ints, size: int) -> Bytes:
    """Mark codes for the left side: most frequent first, while it stays at or under half."""
    side = np.zeros(N_CODES, np.uint8)
    filled = 0
    while True:
        top = np.argmax(counts)
        if counts[top] == 0:
            return side
        if filled == 0 or filled + counts[top] <= size // 2:
            filled += counts[top]
            side[top] = 1
        counts[top] = 0


@jit
def _part_codes(
    column: Bytes, order: Ints, span: Ints, size: int, counts: Ints, spare: Ints
) -> int:
    """Move the rows with left codes to the left, in place and stably; return the border."""
    _count_codes(column, order, span, size, counts)
    side = _left_codes(counts, size)
    border, held = span[0], 0
    for t in range(span[0], span[1]):
        row = order[t]
        if side[column[row]]:
            order[border] = row
            border += 1
        else:
            spare[held] = row
            held += 1
    _put_back(order, border, spare, held)
    return int(border)


@jit
def _part(
    numbers: Floats, codes: Bytes, weights: Floats, order: Ints, span: Ints, size: int,
    counts: Ints, spare: Ints,
) -> int:  # fmt: skip
    """Split a span at its widest column, or in the middle if nothing separates it."""
    border = span[0]
    column = _widest_column(numbers, codes, weights, order, span, size, counts)
    if column >= numbers.shape[0]:
        border = _part_codes(codes[column - numbers.shape[0]], order, span, size, counts, spare)
    elif column >= 0:
        border = _part_numbers(numbers[column], order, span, size, spare)
    if border == span[0] or border == span[1]:
        border = (span[0] + span[1]) // 2
    return int(border)


@jit
def grow_leaves(
    numbers: Floats, codes: Bytes, weights: Floats, rows: Ints, leaf_size: int, sample_size: int
) -> tuple[Ints, Ints]:
    """Order `rows` so that close ones are neighbours, cut into leaves of at most `leaf_size`.

    Returns the ordered rows and the leaves' offsets. Of two halves the smaller goes first, so that
    the stack stays below log2(n) spans.
    """
    n = rows.size
    order, spare, counts = rows.copy(), np.empty(n, np.int64), np.zeros(N_CODES, np.int64)
    is_stop = np.zeros(n + 1, np.uint8)
    is_stop[0] = 1
    stack = np.empty((66, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    depth = 1 if n > 0 else 0
    while depth > 0:
        depth -= 1
        span = stack[depth].copy()
        width = span[1] - span[0]
        if width <= leaf_size:
            is_stop[span[1]] = 1
            continue
        size = min(sample_size, width)
        border = _part(numbers, codes, weights, order, span, size, counts, spare)
        left_first = border - span[0] <= span[1] - border
        small, large = (depth + 1, depth) if left_first else (depth, depth + 1)
        stack[small, 0], stack[small, 1] = span[0], border
        stack[large, 0], stack[large, 1] = border, span[1]
        depth += 2
    return order, np.flatnonzero(is_stop)


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
    for j in range(codes.shape[0]):
        for leaf in range(n_leaves):
            for t in range(offsets[leaf], offsets[leaf + 1]):
                code = codes[j, order[t]]
                moved_codes[j, t] = code
                absent[first[j] + code, leaf] = 0
    return Forest(
        moved_numbers, moved_codes, weights, order, offsets, low, high, complete, absent, first
    )
