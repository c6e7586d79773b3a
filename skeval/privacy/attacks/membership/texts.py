"""Rows written as text, and how few edits lead from a row to a synthetic one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from skeval.context import Context, shared
from skeval.neighbors.encoding import run_chunks
from skeval.privacy.attacks.membership.rows import WIDE, nominal_features, plain_rows
from skeval.steps.samples import ColumnChoice, named_seed, sample_positions

_MOST_DIGITS = 6  # of a column's largest number
_EXACT = 1e15  # beyond, a number has no digits left for its unit
_FIRST_SIGN = 0xF0000  # of the characters that no text has: one for each level
_MOST_SIGNS = 0x20000
_END, _MISSING = ",", "?"
_MARKS = b"0123456789.-+einf?"  # all characters of numbers
_WORD = 64  # characters that are compared at once
_MOST_STEPS = 2**34  # comparisons of a character with a word
_AT_A_TIME = 128  # queries, of about the same length
_NO_CHARACTER = 2**32 - 1
MOST_TEXTS = 10_000


def least_edits(
    context: Context, rows: dict[str, np.ndarray], space: Any, columns: ColumnChoice, seed: int
) -> list[np.ndarray]:
    """Return for rows of each role the fewest edits that lead from a synthetic row to them.

    Of many columns cells are compared one by one: edits that lead from one row to another, but not
    always the fewest.

    Parameters
    ----------
    context : Context
        With synthetic rows.
    rows : dict of str to ndarray of int
        Positions of rows, by role.
    space : "gower", "euclidean" or transformer
        Numbers and categories are written as they stand; of a transformer its matrix.
    columns : int, tuple of str or None
        Columns to write (in space "gower").
    seed : int
        Of the sample of synthetic rows where comparing all takes too long.

    Returns
    -------
    list of ndarray of shape (n_rows,), float
    """
    decimals = _decimals_of_real(context, space, columns)
    if len(decimals) > WIDE:
        return _least_edits_of_cells(context, rows, space, columns, seed)
    queries = [
        written(plain_rows(context, role, space, columns)[places], decimals)
        for role, places in rows.items()
    ]
    texts = sorted(set(written(plain_rows(context, "synthetic", space, columns), decimals)))
    n_compared = affordable(sum(map(len, queries)), max(map(len, texts)))
    kept = sample_positions(len(texts), n_compared, named_seed("texts", seed))
    return [nearest_edits(own, [texts[i] for i in kept]) for own in queries]


@shared
def _decimals_of_real(context: Context, space: Any, columns: ColumnChoice) -> list[int | None]:
    real = [plain_rows(context, role, space, columns) for role in ("train", "holdout")]
    nominal = nominal_features(context, space, columns, real[0].shape[1])
    return decimals_of(np.concatenate(real), nominal)


def _least_edits_of_cells(
    context: Context, rows: dict[str, np.ndarray], space: Any, columns: ColumnChoice, seed: int
) -> list[np.ndarray]:
    """Return the least sum of edits of cells, as `least_edits` does of whole rows."""
    queries = [_cells(context, role, space, columns).take(places) for role, places in rows.items()]
    cells = _cells(context, "synthetic", space, columns)
    n_compared = affordable(sum(map(len, rows.values())), cells.longest, n_words=1)
    distinct = _distinct(plain_rows(context, "synthetic", space, columns))
    kept = sample_positions(distinct.size, n_compared, named_seed("texts", seed))
    return [nearest_edits_of_cells(own, cells.take(distinct[kept])) for own in queries]


def _distinct(rows: np.ndarray) -> np.ndarray:
    """Return positions of rows that differ, in an order that goes by what they hold."""
    whole = np.ascontiguousarray(rows).view(f"V{rows.itemsize * rows.shape[1]}").ravel()
    return np.unique(whole, return_index=True)[1]


@shared
def _cells(context: Context, role: str, space: Any, columns: ColumnChoice) -> Cells:
    decimals = _decimals_of_real(context, space, columns)
    return cells_of(plain_rows(context, role, space, columns), decimals)


def affordable(n_queries: int, length: int, n_words: int | None = None) -> int:
    """Return how many texts of a length can be compared with as many as there are queries."""
    n_words = n_words or math.ceil(max(1, length) / _WORD)
    steps = max(1, n_queries) * max(1, length) * n_words
    return min(MOST_TEXTS, max(1, _MOST_STEPS // steps))


def decimals_of(rows: np.ndarray, nominal: Sequence[bool]) -> list[int | None]:
    """Return with how many decimals each number is written; None for codes.

    As many as the column needs, and no more than leave its largest number six digits: what a
    generator repeats is seldom longer, and what it adds behind is noise.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.membership.texts import decimals_of
    >>> rows = np.array([[1.0, 2.25, 1 / 3, 0.0], [12.0, 1e4 / 3, 0.5, 1.0]])
    >>> decimals_of(rows, [False, False, False, True])
    [0, 2, 5, None]
    """
    return [
        None if code else _decimals(column[np.isfinite(column)])
        for column, code in zip(rows.T, nominal, strict=True)
    ]


def _decimals(values: np.ndarray) -> int:
    largest = float(np.abs(values).max(initial=1.0))
    most = max(0, _MOST_DIGITS - 1 - math.floor(math.log10(largest)))
    for decimals in range(most):
        if np.abs(np.round(values, decimals) - values).max(initial=0.0) < 1e-9:
            return decimals
    return most


def written(rows: np.ndarray, decimals: Sequence[int | None]) -> list[str]:
    """Write each row as a text.

    Numbers are written in digits and end with a comma. A level is one character, however long its
    name is, and so is a missing number.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.membership.texts import written
    >>> written(np.array([[1.25, 10.0], [np.nan, -3.0]]), [1, 0])
    ['1.2,10,', '?,-3,']
    """
    cells = [
        _signs(column) if places is None else _digits(column, places)
        for column, places in zip(rows.T, decimals, strict=True)
    ]
    return ["".join(row) for row in zip(*cells, strict=True)] if cells else [""] * len(rows)


def _signs(codes: np.ndarray) -> list[str]:
    return [
        _MISSING if np.isnan(code) else chr(_FIRST_SIGN + int(code) % _MOST_SIGNS) for code in codes
    ]


def _digits(values: np.ndarray, decimals: int) -> list[str]:
    whole = f".{decimals}f"
    with np.errstate(over="ignore"):  # of synthetic values near the largest float
        rounded = (np.round(values, decimals) + 0.0).tolist()  # no negative zero
    return [
        _MISSING + _END
        if value != value
        else format(value, whole if abs(value) < _EXACT else ".15g") + _END
        for value in rounded
    ]


def nearest_edits(queries: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return for each query the fewest edits that make one of the texts of it.

    An edit inserts, deletes or replaces one character: Levenshtein's distance.

    Examples
    --------
    >>> from skeval.privacy.attacks.membership.texts import nearest_edits
    >>> nearest_edits(["1999,", "20,"], ["199,", "1998,"]).tolist()
    [1.0, 3.0]
    """
    if not queries:
        return np.empty(0)
    from skeval.neighbors.text_kernels import fewest_edits  # numba is imported on use

    own, ends = _characters(queries)
    others, their_ends = _characters(texts)
    known = np.append(np.unique(own), np.uint32(_NO_CHARACTER))
    place = np.searchsorted(known, others)
    place[known[place] != others] = known.size - 1
    signs, starts = np.searchsorted(known, own), np.append(0, ends)
    by_length = np.argsort(np.diff(starts), kind="stable")
    least = np.empty(len(queries))
    least[by_length] = np.concatenate(
        run_chunks(
            partial(fewest_edits, signs, starts, known.size - 1, place, their_ends),
            by_length,
            n_jobs=None,
            tile=_AT_A_TIME,
            n_chunks=-(-len(queries) // _AT_A_TIME),
        )
    )
    return least


def _characters(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the characters of all texts, as numbers, and where each text ends."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4"), np.cumsum([len(text) for text in texts])


@dataclass(frozen=True)
class Cells:
    """The cells of rows, each written as a text by itself; codes are one character.

    Attributes
    ----------
    marks : ndarray of uint8 of shape (n_rows, n_numbers, n_places)
        Which characters.
    lengths : ndarray of shape (n_rows, n_numbers)
        How many.
    codes : ndarray of int of shape (n_rows, n_codes)
        Missing is -1.
    """

    marks: np.ndarray
    lengths: np.ndarray
    codes: np.ndarray

    @property
    def longest(self) -> int:
        """Characters of the longest row."""
        return int(self.lengths.sum(axis=1).max(initial=0)) + self.codes.shape[1]

    def take(self, places: np.ndarray) -> Cells:
        """Return the cells of some rows."""
        return Cells(self.marks[places], self.lengths[places], self.codes[places])


def cells_of(rows: np.ndarray, decimals: Sequence[int | None]) -> Cells:
    """Write each cell as a text.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.membership.texts import cells_of
    >>> cells_of(np.array([[1.25, 10.0, 2.0], [np.nan, -3.0, 0.0]]), [1, 0, None]).lengths.tolist()
    [[3, 2], [1, 2]]
    """
    from skeval.neighbors.text_kernels import MOST_MARKS  # numba is imported on use

    codes = [column for column, places in zip(rows.T, decimals, strict=True) if places is None]
    texts = [
        np.array(_digits(column, places), dtype=f"S{MOST_MARKS}")
        for column, places in zip(rows.T, decimals, strict=True)
        if places is not None
    ]
    number = np.zeros(256, dtype=np.uint8)
    number[np.frombuffer(_MARKS, dtype=np.uint8)] = np.arange(len(_MARKS))
    written_cells = np.array(texts, dtype=f"S{MOST_MARKS}").reshape(-1, len(rows)).T
    lengths = np.char.str_len(written_cells) - len(_END)
    marks = np.ascontiguousarray(written_cells).view(np.uint8).reshape(*lengths.shape, MOST_MARKS)
    own = np.nan_to_num(np.array(codes).reshape(-1, len(rows)).T, nan=-1.0).astype(np.int32)
    return Cells(number[marks[:, :, : lengths.max(initial=1)]], lengths, own)


def nearest_edits_of_cells(queries: Cells, others: Cells) -> np.ndarray:
    """Return for each query the fewest edits, summed over cells, that make one of the others of it.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.membership.texts import cells_of, nearest_edits_of_cells
    >>> own, other = np.array([[1999.0, 2.0], [20.0, 1.0]]), np.array([[199.0, 2.0], [1998.0, 2.0]])
    >>> nearest_edits_of_cells(cells_of(own, [0, None]), cells_of(other, [0, None])).tolist()
    [1.0, 4.0]
    """
    if not len(queries.codes):
        return np.empty(0)
    from skeval.neighbors.text_kernels import fewest_edits_of_cells  # numba is imported on use

    order = np.arange(len(queries.codes))
    compare = partial(
        fewest_edits_of_cells,
        queries.marks,
        queries.lengths,
        queries.codes,
        others.marks,
        others.lengths,
        others.codes,
        len(_MARKS),
    )
    parts = run_chunks(
        compare, order, n_jobs=None, tile=_AT_A_TIME, n_chunks=-(-order.size // _AT_A_TIME)
    )
    return np.concatenate(parts).astype(np.float64)
