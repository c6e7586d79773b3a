"""What models see of the rows: ranks for trees, standardised and one-hot columns for others.

Both are learned from the rows that the model learns from, whatever table they are of. Rows come
as numbers and codes of categories in one matrix, missing is nan. A level that these rows lack is a
rare one: to know that no real row has it would be to know that a row with it is synthetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_LARGEST = 1e150  # squares of larger numbers overflow; they are as good as infinite
_MOST_LEVELS = 50
_MOST_COLUMNS = 500
_FEWEST = 10  # rows of a level with a column of its own


@dataclass(frozen=True)
class Ranks:
    """Each value as its place among the values seen, which is all that a tree asks for.

    Places are exact in single precision, as dates in seconds are not, and finite for infinite
    values. The levels of a category are placed from frequent to rare, so that one split tells the
    rare ones.

    Attributes
    ----------
    seen : list of ndarray
        For numbers the distinct values, ascending.
    places : list of ndarray
        For categories the place of each code, then that of levels not seen.
    nominal : tuple of bool
        Which columns are codes.
    """

    seen: list[np.ndarray]
    places: list[np.ndarray]
    nominal: tuple[bool, ...]

    @classmethod
    def of(cls, rows: np.ndarray, nominal: Sequence[bool]) -> Ranks:
        """Learn the places."""
        seen, places = [], []
        for column, is_code in zip(rows.T, nominal, strict=True):
            present = column[~np.isnan(column)]
            seen.append(np.empty(0) if is_code else np.unique(present))
            places.append(_places(present.astype(np.int64)) if is_code else np.empty(0))
        return cls(seen, places, tuple(nominal))

    @property
    def owners(self) -> np.ndarray:
        """For each feature the column of the rows that it stems from."""
        return np.arange(len(self.nominal))

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Return the places of the values, those between two seen ones halfway; missing is nan."""
        ranked = np.full(rows.shape, np.nan)
        for j, is_code in enumerate(self.nominal):
            present = ~np.isnan(rows[:, j])
            values = rows[present, j]
            if is_code:
                codes = np.minimum(values.astype(np.int64), self.places[j].size - 1)
                ranked[present, j] = self.places[j][codes]
            else:
                left, right = (
                    np.searchsorted(self.seen[j], values, side=side) for side in ("left", "right")
                )
                # a value that was seen is one place further on the right than on the left
                ranked[present, j] = (left + right - 1.0) / 2.0
        return ranked


def _places(codes: np.ndarray) -> np.ndarray:
    """Return the place of each code; all that were not seen have the last one."""
    counts = np.append(np.bincount(codes), 0)
    order = np.argsort(-counts, kind="stable")
    places = np.empty(counts.size)
    places[order] = np.arange(counts.size)
    return np.where(counts == 0, float((counts > 0).sum()), places)


@dataclass(frozen=True)
class OneHot:
    """Numbers standardised, with an indicator of missing ones; categories one-hot.

    The most frequent levels have a column each, the others share one, missing has one; columns that
    do not vary are left out.

    Attributes
    ----------
    centres, scales : ndarray of shape (n_columns,)
        Means and standard deviations of the numbers.
    levels : list of ndarray
        Codes that have a column, most frequent first.
    nominal : tuple of bool
        Which columns are codes.
    kept : ndarray of int
        The columns of the full design that vary.
    owners : ndarray of int
        For each of these the column of the rows that it stems from.
    """

    centres: np.ndarray
    scales: np.ndarray
    levels: list[np.ndarray]
    nominal: tuple[bool, ...]
    kept: np.ndarray
    owners: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, nominal: Sequence[bool]) -> OneHot:
        """Learn means, scales and levels."""
        most = max(2, min(_MOST_LEVELS, _MOST_COLUMNS // max(1, sum(nominal))))
        numbers = _finite(rows)
        counts = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
        centres = np.nansum(numbers, axis=0) / counts
        scales = np.sqrt(np.nansum((numbers - centres) ** 2, axis=0) / counts)
        scales = np.where(scales > 1e-12 * np.abs(centres), scales, 1.0)
        levels = [
            _frequent(column, most) if is_code else np.empty(0, dtype=np.int64)
            for column, is_code in zip(rows.T, nominal, strict=True)
        ]
        none = np.empty(0, dtype=np.int64)
        design, owners = cls(centres, scales, levels, tuple(nominal), none, none)._full(rows)
        varies = np.flatnonzero((design != design[:1]).any(axis=0))
        return cls(centres, scales, levels, tuple(nominal), varies, owners[varies])

    def transform(self, rows: np.ndarray) -> np.ndarray:
        """Return the design, shape (n_rows, n_kept)."""
        return self._full(rows)[0][:, self.kept]

    def _full(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = [
            _indicators(rows[:, j], self.levels[j])
            if is_code
            else _standardised(rows[:, j], self.centres[j], self.scales[j])
            for j, is_code in enumerate(self.nominal)
        ]
        owners = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        return np.hstack(parts), owners


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) <= _LARGEST, values, np.nan)


def _standardised(values: np.ndarray, centre: float, scale: float) -> np.ndarray:
    values = _finite(values)
    missing = np.isnan(values)
    return np.column_stack([np.where(missing, 0.0, (values - centre) / scale), missing])


def _frequent(codes: np.ndarray, most: int) -> np.ndarray:
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
    order = np.argsort(-counts, kind="stable")
    return order[: min(most, int((counts >= _FEWEST).sum()))]


def _indicators(codes: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return one column a level, then one for the others and one for missing."""
    n, missing = levels.size, np.isnan(codes)
    known = np.where(missing, 0, codes).astype(np.int64)
    cell_of = np.full(max(known.max(initial=0), levels.max(initial=0)) + 1, n, dtype=np.int64)
    cell_of[levels] = np.arange(n)
    cells = np.where(missing, n + 1, cell_of[known])
    one_hot = np.zeros((codes.size, n + 2))
    one_hot[np.arange(codes.size), cells] = 1.0
    return one_hot
