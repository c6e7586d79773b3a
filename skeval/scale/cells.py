"""Cells of similar rows in a table, so that a nearest neighbor query reads only a few of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skeval.neighbors.encoding import MISSING, Encoded, round_to_grid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
N_CODES = 256  # number of values of a uint8 column


@dataclass(frozen=True)
class CutColumn:
    """Split of a column into two sides, and the further splits of both sides."""

    column: int
    border: float | Mask
    n_left: int
    left: CutColumn | None
    right: CutColumn | None


@dataclass(frozen=True)
class CellBounds:
    """Assignment of rows to cells, which depends only on their values."""

    tree: CutColumn | None

    @classmethod
    def learn(cls, sample: Encoded, weights: Floats, n_cells: int) -> CellBounds:
        """Cut a sample into cells of similar size, each time at the column with most spread."""
        return cls(_grown(sample, weights, np.arange(sample.n_rows), n_cells))

    def cell_of_rows(self, rows: Encoded) -> Ints:
        """Return the cell of each row."""
        cells = np.zeros(rows.n_rows, dtype=np.int64)
        todo = [(self.tree, np.arange(rows.n_rows), 0)]
        while todo:
            split, at, first = todo.pop()
            if split is None:
                cells[at] = first
                continue
            is_left = _is_left(rows, at, split.column, split.border)
            todo.append((split.left, at[is_left], first))
            todo.append((split.right, at[~is_left], first + split.n_left))
        return cells


@dataclass(frozen=True)
class Box:
    """Bounding box of the rows of a cell. No row is closer to a query than the box."""

    low: Floats
    high: Floats
    complete: Mask
    absent: Mask

    @classmethod
    def from_rows(cls, rows: Encoded) -> Box:
        """Compute the box of the rows of a cell, which must have at least one row."""
        present = rows.numbers < MISSING
        absent = np.array([np.bincount(line, minlength=N_CODES) == 0 for line in rows.codes])
        return cls(
            np.min(rows.numbers, axis=1, initial=MISSING),
            np.max(rows.numbers, axis=1, initial=-MISSING, where=present),
            np.asarray(present.all(axis=1)),
            absent.reshape(len(rows.codes), N_CODES),
        )

    def bounds(self, queries: Encoded, weights: Floats) -> Floats:
        """Return a lower bound of the distances to the rows of the cell, as for leaves."""
        sums = np.zeros(queries.n_rows)
        for absent, line in zip(self.absent, queries.codes, strict=True):
            sums += absent[line]
        columns = zip(queries.numbers, weights, self.low, self.high, self.complete, strict=True)
        with np.errstate(over="ignore"):  # the cap of 1 also applies to values that overflow
            for line, weight, low, high, complete in columns:
                gap = np.maximum(0.0, np.maximum(low - line, line - high))
                sums += np.where(line < MISSING, np.minimum(1.0, gap * weight), complete)
        return round_to_grid(sums)


def _grown(rows: Encoded, weights: Floats, at: Ints, n_cells: int) -> CutColumn | None:
    if n_cells == 1:
        return None
    n_left = n_cells // 2
    column, border = _choose_split(rows, weights, at, n_left / n_cells)
    is_left = _is_left(rows, at, column, border)
    left = _grown(rows, weights, at[is_left], n_left)
    right = _grown(rows, weights, at[~is_left], n_cells - n_left)
    return CutColumn(column, border, n_left, left, right)


def _choose_split(
    rows: Encoded, weights: Floats, at: Ints, share: float
) -> tuple[int, float | Mask]:
    """Return the column with the largest spread, and its values on the left side."""
    n_numbers = len(rows.numbers)
    if not at.size:
        return (0, 0.0) if n_numbers else (0, np.zeros(N_CODES, dtype=bool))
    spreads = []
    for line, weight in zip(rows.numbers[:, at], weights, strict=True):
        present = line[line < MISSING]
        centre = present.mean() if present.size else 0.0
        spreads.append(np.minimum(1.0, np.abs(line - centre) * weight).mean())
    counts = [np.bincount(line, minlength=N_CODES) for line in rows.codes[:, at]]
    spreads += [1.0 - count.max() / at.size for count in counts]
    column = int(np.argmax(spreads))
    if column < n_numbers:
        return column, float(np.quantile(rows.numbers[column, at], share, method="inverted_cdf"))
    # The most frequent codes come first. Codes are added while the left side is within its share.
    count, left, filled = counts[column - n_numbers], np.zeros(N_CODES, dtype=bool), 0
    for code in np.argsort(-count, kind="stable"):
        if not filled or filled + count[code] <= share * at.size:
            left[code] = True
            filled += count[code]
    return column, left


def _is_left(rows: Encoded, at: Ints, column: int, border: float | Mask) -> Mask:
    n_numbers = len(rows.numbers)
    if isinstance(border, float):
        return np.asarray(rows.numbers[column, at] <= border)
    return np.asarray(border[rows.codes[column - n_numbers, at]])
