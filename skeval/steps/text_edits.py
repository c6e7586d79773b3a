"""Rows written as text, and the minimum number of edits from a synthetic row to a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from skeval.core.context import Context, shared
from skeval.neighbors.encoding import run_chunks
from skeval.steps.column_choice import ColumnChoice
from skeval.steps.member_rows import WIDE, nominal_features, plain_rows
from skeval.steps.samples import named_seed, sample_positions

_MAX_DIGITS = 6  # number of digits of the largest number of a column
_EXACT = 1e15  # larger floats are not exact in the unit digit
_FIRST_SIGN = 0xF0000  # private characters, one for each category
_MAX_SIGNS = 0x20000
_END, _MISSING = ",", "?"
_WORD = 64  # characters that are compared in one step
_MAX_STEPS = 2**34  # maximum number of comparisons of a character with a word
_AT_A_TIME = 128  # queries of similar length that are processed in one step
_MAX_SMALL = 2**20  # up to this number, rapidfuzz compares the texts and nothing is compiled
_MAX_CELL_EDITS = 64  # more than the characters of any cell
_PAIRS = 2**21  # pairs of rows that are compared cell by cell in one step
_NO_CHARACTER = 2**32 - 1
MAX_TEXTS = 10_000


def least_edits(
    context: Context, rows: dict[str, np.ndarray], space: Any, columns: ColumnChoice, seed: int
) -> list[np.ndarray]:
    """Return for rows of each role the minimum number of edits from a synthetic row."""
    # With many columns, cells are compared one by one. Then, the number of edits is an upper bound
    # of the minimum.
    decimals = _decimals_of_real(context, space, columns)
    if len(decimals) > WIDE:
        return _least_edits_of_cells(context, rows, space, columns, seed)
    queries = [
        rows_as_text(plain_rows(context, role, space, columns)[places], decimals)
        for role, places in rows.items()
    ]
    texts = sorted(set(rows_as_text(plain_rows(context, "synthetic", space, columns), decimals)))
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
    """Return the minimum sum of edits of cells, like `least_edits` for whole rows."""
    settings = (tuple(rows), tuple(rows.values()), space, columns, seed)
    return [least for least, _ in _nearest_cells(context, *settings)]


@shared
def _nearest_cells(
    context: Context,
    roles: tuple[str, ...],
    places: tuple[np.ndarray, ...],
    space: Any,
    columns: ColumnChoice,
    seed: int,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the minimum sums of edits and the synthetic rows, or -1 if only a sample is read."""
    cells = _cells(context, "synthetic", space, columns)
    longest = max(len("".join(row)) for row in cells)
    n_compared = affordable(sum(map(len, places)), longest, n_words=1)
    distinct = _distinct(plain_rows(context, "synthetic", space, columns))
    kept = distinct[sample_positions(distinct.size, n_compared, named_seed("texts", seed))]
    known = [(np.empty(at.size), np.full(at.size, -1)) for at in places]
    if part := _most_of(context):
        # only rows whose nearest synthetic row is not in the part are compared again
        whole, taken = part
        here = np.full(whole.n_rows("synthetic") + 1, -1)
        here[taken] = np.arange(taken.size)
        of_whole = _nearest_cells(whole, roles, places, space, columns, seed)
        known = [(least, here[nearest]) for least, nearest in of_whole]
    found = []
    for role, at, (least, nearest) in zip(roles, places, known, strict=True):
        left = nearest < 0
        queries = _cells(context, role, space, columns)[at[left]]
        edits, positions = nearest_edits_of_cells(queries, cells[kept])
        least, nearest = least.copy(), nearest.copy()
        least[left], nearest[left] = edits, kept[positions] if kept.size == distinct.size else -1
        found.append((least, nearest))
    return found


def _most_of(context: Context) -> tuple[Context, np.ndarray] | None:
    """Return the context of which most synthetic rows were taken, and their positions in it."""
    whole, role, taken = context.taken.get("synthetic", (context, "", np.empty(0)))
    same = role == "synthetic" and whole.real is context.real
    return (whole, taken) if same and 2 * taken.size > whole.n_rows(role) else None


def _distinct(rows: np.ndarray) -> np.ndarray:
    """Return positions of distinct rows, in an order that depends on their content."""
    whole = np.ascontiguousarray(rows).view(f"V{rows.itemsize * rows.shape[1]}").ravel()
    return np.unique(whole, return_index=True)[1]


@shared
def _cells(context: Context, role: str, space: Any, columns: ColumnChoice) -> np.ndarray:
    if role == "synthetic" and (part := _most_of(context)):
        whole, taken = part
        return _cells(whole, role, space, columns)[taken]
    decimals = _decimals_of_real(context, space, columns)
    return cells_as_text(plain_rows(context, role, space, columns), decimals)


def affordable(n_queries: int, length: int, n_words: int | None = None) -> int:
    """Return how many texts of a length can be compared with this number of queries."""
    n_words = n_words or math.ceil(max(1, length) / _WORD)
    steps = max(1, n_queries) * max(1, length) * n_words
    return min(MAX_TEXTS, max(1, _MAX_STEPS // steps))


def decimals_of(rows: np.ndarray, nominal: Sequence[bool]) -> list[int | None]:
    """Return the number of decimals of each numerical column, or None for codes."""
    # It is the number that the column needs, limited such that the largest number has six digits.
    # A generator rarely repeats more digits, and further digits are noise.
    return [
        None if code else _decimals(column[np.isfinite(column)])
        for column, code in zip(rows.T, nominal, strict=True)
    ]


def _decimals(values: np.ndarray) -> int:
    largest = float(np.abs(values).max(initial=1.0))
    most = max(0, _MAX_DIGITS - 1 - math.floor(math.log10(largest)))
    for decimals in range(most):
        if np.abs(np.round(values, decimals) - values).max(initial=0.0) < 1e-9:
            return decimals
    return most


def rows_as_text(rows: np.ndarray, decimals: Sequence[int | None]) -> list[str]:
    """Write each row as a text, in which numbers end with a comma."""
    cells = cells_as_text(rows, decimals)
    cells[:, [places is not None for places in decimals]] += _END
    return ["".join(row) for row in cells]


def cells_as_text(rows: np.ndarray, decimals: Sequence[int | None]) -> np.ndarray:
    """Write each cell as a text, with one character for a category or a missing number."""
    cells = np.empty(rows.shape, dtype=object)
    for column, (values, places) in enumerate(zip(rows.T, decimals, strict=True)):
        cells[:, column] = _signs(values) if places is None else _digits(values, places)
    return cells


def _signs(codes: np.ndarray) -> np.ndarray:
    return _written(codes, lambda code: chr(_FIRST_SIGN + int(code) % _MAX_SIGNS))


def _digits(values: np.ndarray, decimals: int) -> np.ndarray:
    whole = f".{decimals}f"
    with np.errstate(over="ignore"):  # synthetic values may be near the largest float
        rounded = np.round(values, decimals) + 0.0  # no negative zero
    return _written(rounded, lambda x: format(x, whole if abs(x) < _EXACT else ".15g"))


def _written(values: np.ndarray, write: Callable[[float], str]) -> np.ndarray:
    """Return the text of each value, which is written once for all cells that contain it."""
    distinct, place = np.unique(values, return_inverse=True)
    texts = [_MISSING if value != value else write(value) for value in distinct.tolist()]
    return np.array(texts, dtype=object)[place]


def nearest_edits(queries: Sequence[str], texts: Sequence[str]) -> np.ndarray:
    """Return for each query the minimum number of edits to one of the texts."""
    # An edit inserts, deletes or replaces one character (Levenshtein distance).
    if not queries:
        return np.empty(0)
    if len(queries) * len(texts) <= _MAX_SMALL:
        return cdist(queries, texts, scorer=Levenshtein.distance, dtype=np.int32).min(axis=1) * 1.0
    from skeval.neighbors.text_kernels import fewest_edits

    own, ends = _characters(queries)
    others, their_ends = _characters(texts)
    known = np.append(np.unique(own), np.uint32(_NO_CHARACTER))
    place = np.searchsorted(known, others)
    place[known[place] != others] = known.size - 1
    signs, starts = np.searchsorted(known, own), np.append(0, ends)
    by_length = np.argsort(np.diff(starts), kind="stable")
    least = np.empty(len(queries))
    compare = partial(fewest_edits, signs, starts, known.size - 1, place, their_ends)
    n_chunks = -(-by_length.size // _AT_A_TIME)
    parts = run_chunks(compare, by_length, n_jobs=None, tile=_AT_A_TIME, n_chunks=n_chunks)
    least[by_length] = np.concatenate(parts)
    return least


def _characters(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the characters of all texts as numbers, and the end of each text."""
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<u4"), np.cumsum([len(text) for text in texts])


def nearest_edits_of_cells(
    queries: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Get for each query the minimum sum of edits over cells to one of the others, and which."""
    least, nearest = np.empty(len(queries)), np.empty(len(queries), dtype=np.int64)
    columns = [pd.factorize(column) for column in others.T]
    # sums in the type of the distances are several times faster, and a cell has few edits
    kind = np.int16 if len(columns) * _MAX_CELL_EDITS <= np.iinfo(np.int16).max else np.int32
    for part in np.array_split(np.arange(len(queries)), len(queries) * len(others) // _PAIRS + 1):
        edits = np.zeros((part.size, len(others)), dtype=kind)
        for column, (theirs, their_texts) in zip(queries[part].T, columns, strict=True):
            own, texts = pd.factorize(column)
            distances = cdist(texts, their_texts, scorer=Levenshtein.distance, dtype=kind)
            edits += distances.take(theirs, axis=1)[own]
        nearest[part] = edits.argmin(axis=1)
        least[part] = edits.min(axis=1)
    return least, nearest
