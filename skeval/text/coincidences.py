"""How much else two texts share that mention one entity: what a common subject explains.

A name that two texts on one matter have in common is no surprise, and one in texts that share
nothing else is. Which real text is of train plays no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.sparse import csr_array

from skeval.core.context import Context
from skeval.steps.entities import Mentions, Reading, mentions
from skeval.steps.texts import units_of

_FEW_ROWS = 8  # synthetic rows of one entity that are looked at
_COMMON = 0.02  # share of all rows beyond which a word is common
_A_WORD = 0.2  # what a coincidence is worth for each rare word that is shared besides
_LEAST = 0.02
_SINGLE = 0.05  # of a word by itself, which is a name of thousands, or of a place
_NUMBERS = ("EMAIL", "URL", "IBAN", "CARD", "IP", "PHONE")  # that nobody else has
_AT_ONCE = 2**14  # pairs of rows
_REAL = ("train", "holdout")


def surprise(
    context: Context, reading: Reading, hashes: np.ndarray, lengths: np.ndarray, types: np.ndarray
) -> np.ndarray:
    """Return for each entity how little explains that real and synthetic texts have it in common.

    Parameters
    ----------
    context : Context
        With all three roles.
    reading : Reading
        How texts are read.
    hashes : ndarray of uint64
        Entities of the synthetic texts that one real text or few mention, ascending.
    lengths, types : ndarray
        Their words and types.

    Returns
    -------
    ndarray in (0, 1]
        1 where the texts share no other rare word, and no other text has one of those of the
        entity. Each further rare word makes it 0.2 times as much, further entities the least of
        all. A word by itself that is no address or number has a twentieth of it.
    """
    found = [mentions(context, reading, role) for role in (*_REAL, "synthetic")]
    n_rows = [context.n_rows(role) for role in _REAL]
    real_rows = np.concatenate([found[0].rows, n_rows[0] + found[1].rows])
    real_keys = np.concatenate([one.hashes[:, 0] for one in found[:2]])
    key, left, right = _pairs(hashes, (real_rows, real_keys), found[2])
    entities = [(real_rows, real_keys), (found[2].rows, found[2].hashes[:, 0])]
    words = [_words(context, reading.columns, roles) for roles in (_REAL, ("synthetic",))]
    sizes = sum(n_rows), context.n_rows("synthetic")
    n_others = np.concatenate([n for n, _ in _shared(entities, sizes, left, right)]) - 1
    rare = list(_shared(words, sizes, left, right, most=max(2.0, _COMMON * sum(sizes))))
    n_words, fewest = (np.concatenate(part) for part in zip(*rare, strict=True))
    mentioned = np.unique(np.column_stack([key, right]), axis=0)[:, 0]
    n_same = np.bincount(mentioned, minlength=hashes.size)[key]
    worth = _A_WORD ** np.maximum(n_words - lengths[key], 0) / np.maximum(fewest - n_same, 1.0)
    worth = np.where(n_others > 0, _LEAST, np.maximum(worth, _LEAST))
    least = np.ones(hashes.size)
    np.minimum.at(least, key, worth)
    least[(lengths <= 1) & ~np.isin(types, _NUMBERS)] *= _SINGLE
    return least


def _pairs(
    hashes: np.ndarray, real: tuple[np.ndarray, np.ndarray], found: Mentions
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return entities, and of each the real rows that mention it with a few synthetic ones."""
    sides = []
    for rows, keys in (real, (found.rows, found.hashes[:, 0])):
        own = np.isin(keys, hashes)
        pairs = np.column_stack([np.searchsorted(hashes, keys[own]), rows[own]])
        sides.append(np.unique(pairs, axis=0))
    (key, left), (others, right) = (side.T for side in sides)
    first, end = (np.searchsorted(others, key, side) for side in ("left", "right"))
    n_each = np.minimum(end - first, _FEW_ROWS)
    turn = np.arange(n_each.sum()) - np.repeat(n_each.cumsum() - n_each, n_each)
    return np.repeat(key, n_each), np.repeat(left, n_each), right[np.repeat(first, n_each) + turn]


def _words(
    context: Context, columns: Sequence[str], roles: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and hashes of the words of these roles' texts, row after row."""
    rows, keys, start = [np.empty(0, np.int64)], [np.empty(0, np.uint64)], 0
    for role in roles:
        for column in columns:
            units = units_of(context, role, column)
            lengths = np.append(np.diff(units.starts), 0)[units.which]
            first = np.append(units.starts[:-1], 0)[units.which]
            places = np.arange(lengths.sum()) - np.repeat(lengths.cumsum() - lengths, lengths)
            rows.append(start + np.repeat(np.arange(lengths.size), lengths))
            keys.append(units.keys[units.codes[places + np.repeat(first, lengths)]])
        start += context.n_rows(role)
    return np.concatenate(rows), np.concatenate(keys)


def _shared(
    tables: Sequence[tuple[np.ndarray, np.ndarray]],
    sizes: tuple[int, int],
    left: np.ndarray,
    right: np.ndarray,
    most: float = np.inf,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield of each pair of rows how many keys it shares, and how many rows have the rarest.

    Keys that more than `most` rows have do not count; the rarest of none is in no row.
    """
    columns = np.intersect1d(tables[0][1], tables[1][1])
    sets: list[csr_array] = []
    for (rows, keys), n in zip(tables, sizes, strict=True):
        of_both = np.isin(keys, columns)
        cells = np.searchsorted(columns, keys[of_both])
        held = csr_array(
            (np.ones(cells.size), (rows[of_both], cells)), shape=(n, max(columns.size, 1))
        )
        held.sum_duplicates()
        held.data[:] = 1.0
        sets.append(held)
    counts = [np.bincount(one.indices, minlength=one.shape[1]) for one in sets]
    frequency = counts[0] + counts[1]
    kept = np.flatnonzero(frequency <= most)
    sets, frequency = [one[:, kept] for one in sets], frequency[kept]
    yield np.empty(0, np.int64), np.empty(0)
    for start in range(0, left.size, _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        both = csr_array(sets[0][left[block]].multiply(sets[1][right[block]]))
        n_shared, fewest = np.diff(both.indptr), np.zeros(both.shape[0])
        some = np.flatnonzero(n_shared)
        if some.size:
            fewest[some] = np.minimum.reduceat(frequency[both.indices], both.indptr[:-1][some])
        yield n_shared, fewest
