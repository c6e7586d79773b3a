"""Near duplicates among many texts: candidates from MinHash, which are then compared in full."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from skeval.privacy.similar_texts import (
    TokenSets,
    by_letters,
    by_words,
    letter_runs,
    n_candidates,
    similar_by_letters,
    similar_by_words,
)

MAX_CANDIDATES = 10**8  # of a join, which takes up to a minute by words
_HASHES, _RECALL, _MAX_ROWS = 256, 0.99, 64
_AT_ONCE = 2**17  # pairs compared at the same time
_EDGE = "\0"  # before and after a short text
_EXACT = {"by": "exact", "recall": 1.0, "n_skipped": 0}

Pairs = Iterator[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Banding:
    """Bands of MinHash values. Sets that agree in all rows of any band are candidates."""

    n_rows: int
    n_bands: int

    def recall(self, similarity: float) -> float:
        """Return the chance that sets of a Jaccard similarity are candidates."""
        # With similarity s, r rows and b bands this is 1 - (1 - s^r)^b.
        return float(1.0 - (1.0 - similarity**self.n_rows) ** self.n_bands)

    @classmethod
    def from_similarity(cls, similarity: float) -> Banding:
        """Return the strictest banding that finds 99% of the sets of a similarity, if it exists."""
        for n_rows in range(_MAX_ROWS, 0, -1):
            missed = 1.0 - similarity**n_rows
            n_bands = np.ceil(np.log(1.0 - _RECALL) / np.log(missed)) if missed < 1.0 else np.inf
            if n_bands <= _HASHES // n_rows:
                return cls(n_rows, int(n_bands))
        return cls(1, _HASHES)

    @property
    def stricter(self) -> Banding:
        """The banding with a quarter more rows that uses all hashes."""
        n_rows = self.n_rows + -(-self.n_rows // 4)
        return Banding(n_rows, _HASHES // n_rows)


class MinHashJoin:
    """The pairs of sets that agree in a band."""

    # Bands get more rows, and the recall decreases, until there are at most 100 million candidates.
    # If there are still more, each row on the left compares the same number of candidates of each
    # band, starting at a random position. This does not depend on the labels training and holdout.

    def __init__(
        self,
        sets: csr_array,
        left: np.ndarray,
        right: np.ndarray,
        similarity: float,
        seed: int,
        max_candidates: int,
    ) -> None:
        lowest, banding = minima(sets, seed), Banding.from_similarity(similarity)
        while True:
            keys = band_keys(lowest, banding)
            self._bands = [_Band.from_keys(of_sets[left], of_sets[right]) for of_sets in keys]
            n_found = int(sum(band.counts.sum() for band in self._bands))
            if n_found <= max_candidates or banding.stricter.n_rows > _MAX_ROWS:
                break
            banding = banding.stricter
        self.left, self.right, self._keys = left, right, keys
        self._most = right.size
        if n_found > max_candidates:
            self._most = max(1, max_candidates // (len(self._bands) * left.size))
        looked_at = sum(np.minimum(band.counts, self._most).sum() for band in self._bands)
        self.about = {
            "by": "minhash",
            "recall": banding.recall(similarity),
            "n_skipped": n_found - int(looked_at),
        }
        self._turn = np.random.default_rng(seed).random(left.size)

    def pairs(
        self, done: np.ndarray, near: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> Pairs:
        """Yield blocks of positions in `left` and in `right` of the candidates that are near."""
        # Pairs occur once, or possibly several times if candidates are skipped. `done` marks
        # positions on the left that are finished, and it may change between blocks.
        for number, band in enumerate(self._bands):
            for part in _parts(np.minimum(band.counts, self._most)):
                i, j = self._candidates(band, part[~done[part]])
                alike = near(i, j)
                i, j = i[alike], j[alike]
                for before, keys in zip(self._bands[:number], self._keys, strict=False):
                    known = keys[self.left[i]] == keys[self.right[j]]
                    known &= before.counts[i] <= self._most
                    i, j = i[~known], j[~known]
                yield i, j

    def _candidates(self, band: _Band, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates of some rows on the left, or a part if there are too many."""
        size = band.counts[rows]
        n = np.minimum(size, self._most)
        place = np.arange(n.sum()) - np.repeat(n.cumsum() - n, n)
        first = np.where(n < size, self._turn[rows] * size, 0.0).astype(np.int64)
        place = (place + np.repeat(first, n)) % np.repeat(size, n)
        return np.repeat(rows, n), band.order[np.repeat(band.starts[rows], n) + place]


@dataclass(frozen=True)
class _Band:
    """Positions on the right with the key of each row on the left, as a slice of `order`."""

    order: np.ndarray
    starts: np.ndarray
    counts: np.ndarray

    @classmethod
    def from_keys(cls, left: np.ndarray, right: np.ndarray) -> _Band:
        order = np.argsort(right, kind="stable")
        starts, ends = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
        return cls(order, starts, ends - starts)


def _parts(counts: np.ndarray) -> list[np.ndarray]:
    """Return the rows that have candidates, in parts with about `_AT_ONCE` of these."""
    rows = np.flatnonzero(counts)
    return np.split(rows, np.flatnonzero(np.diff(counts[rows].cumsum() // _AT_ONCE)) + 1)


def minima(sets: csr_array, seed: int) -> np.ndarray:
    """Return of each set the first token in each of 256 random orders, shape (256, n_sets).

    Two sets have the same one with a chance that is their Jaccard similarity.
    """
    rng = np.random.default_rng(seed)
    lowest = np.empty((_HASHES, sets.shape[0]), dtype=np.uint32)
    for row in lowest:
        order = rng.permutation(sets.shape[1]).astype(np.uint32)
        np.minimum.reduceat(order[sets.indices], sets.indptr[:-1], out=row)
    return lowest


def band_keys(lowest: np.ndarray, banding: Banding) -> list[np.ndarray]:
    """Return for each band a number of each set, equal if all minima of the band are equal."""
    factors = np.random.default_rng(0).integers(2**63, size=banding.n_rows, dtype=np.uint64)
    bands = lowest[: banding.n_bands * banding.n_rows].reshape(banding.n_bands, banding.n_rows, -1)
    # others have the same number once in 2^62 pairs or so, and are compared in full like all
    return [(2 * factors + 1) @ band.astype(np.uint64) for band in bands]


def join_texts(
    sets: TokenSets,
    left: np.ndarray,
    right: np.ndarray,
    threshold: float,
    done: np.ndarray,
    join: str,
    seed: int,
) -> tuple[dict[str, dict[str, Any]], Pairs]:
    """Return how texts of one column are joined, and the pairs that are similar."""
    how: dict[str, dict[str, Any]] = {side: dict(_EXACT) for side in ("words", "letters")}
    hashed_sides = _hashed_sides(sets, left, right, threshold, join)
    by_word = similar_by_words(sets, left, right, threshold, done)
    if "words" in hashed_sides:
        words = MinHashJoin(sets.columns[0], left, right, threshold, seed, MAX_CANDIDATES)
        how["words"] = words.about
        by_word = words.pairs(
            done, lambda i, j: by_words(sets.columns, left[i], right[j], threshold)
        )
    edited = None
    if "letters" in hashed_sides:
        codes, texts, _ = sets.letters[0]
        mine, theirs = (np.unique(codes[rows][codes[rows] >= 0]) for rows in (left, right))
        runs = letter_runs(np.array([_EDGE + text + _EDGE for text in texts], dtype=object), 2)
        letters = MinHashJoin(runs, mine, theirs, runs_in_common(threshold), seed, MAX_CANDIDATES)
        how["letters"] = letters.about
        edited = partial(_pairs_by_edits, letters)
    by_letter = similar_by_letters(sets, 0, left, right, threshold, done, edited)
    return how, chain(by_word, by_letter)


def _hashed_sides(
    sets: TokenSets, left: np.ndarray, right: np.ndarray, threshold: float, join: str
) -> set[str]:
    """Return the word or letter sets that MinHash joins."""
    if join == "exact":
        return set()
    numbers = (np.inf, np.inf)
    if join == "auto":
        numbers = n_candidates(sets, left, right, threshold)
    any_short = (sets.letters[0][0][left] >= 0).any() and (sets.letters[0][0][right] >= 0).any()
    sides = zip(("words", "letters"), numbers, (True, any_short), strict=True)
    return {side for side, n, present in sides if present and n > MAX_CANDIDATES}


def runs_in_common(threshold: float) -> float:
    """Return the minimum Jaccard similarity of the letter pairs of two texts with few edits."""
    # An edit changes at most two of the L + 1 pairs of a text, its edges being letters too;
    # with up to (1 - t) L edits this leaves (2 t - 1) / (3 - 2 t).
    return max(0.0, (2.0 * threshold - 1.0) / (3.0 - 2.0 * threshold))


def _pairs_by_edits(
    hashed: MinHashJoin,
    texts: np.ndarray,
    _grams: csr_array,
    left: np.ndarray,
    _right: np.ndarray,
    threshold: float,
) -> Pairs:
    """Yield the candidates with few different letters for the texts on the left still open."""

    def near(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        a, b = hashed.left[i], hashed.right[j]
        return (a != b) & by_letters(texts[a], texts[b], threshold)

    for i, j in hashed.pairs(~np.isin(hashed.left, left), near):
        yield hashed.left[i], hashed.right[j]
