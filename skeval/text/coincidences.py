"""Probability that two texts mention the same entity by coincidence or because of a leak.

The probabilities depend on the similarity of the two texts, on the number of other names with the
same words, and on whether other texts write these words in lower case. The labels training and
holdout are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from skeval.core.context import Context
from skeval.steps.entities import Mentions, Reading, mentions
from skeval.steps.texts import units_of

_MAX_FEW_ROWS = 8  # maximum number of synthetic rows evaluated for each entity
_PLACED = 1000  # number of texts for the rank of a similarity
_NUMBERS = ("EMAIL", "URL", "IBAN", "CARD", "IP", "PHONE")  # identify a single individual
_AT_ONCE = 2**12  # pairs of rows
_REAL = ("train", "holdout")
# Ratios of probabilities for a leak and a coincidence, estimated from paragraphs of an encyclopedia
# with planted names. The power changes little if a ratio is doubled or halved.
_LEAKED = 0.013  # fraction of the common entities that leaked, if there is a leak
_ANY, _NEW, _ONLY, _SMALL = 120.0, 1000.0, 3000.0, 30.0
_OTHERS = 0.13  # if the texts share further entities
_SINGLE = 3e-4  # for a single word, which may be a frequent name or a place


@dataclass(frozen=True)
class Coincidence:
    """What is known of entities that real and synthetic texts have in common."""

    nearness: np.ndarray
    others: np.ndarray
    rarest: np.ndarray
    commonest: np.ndarray
    named: np.ndarray
    small: np.ndarray
    single: np.ndarray

    def weightings(self) -> np.ndarray:
        """Return weights of shape (4, n_entities), each against another kind of leaked name."""
        # The four cases are any name, names with a word that occurs in no other text, names that
        # only consist of such words, and names of words that other texts use outside of names. A
        # weight is the logarithm of the likelihood ratio of a leak, because sums of these are the
        # most powerful test of each alternative.
        alike = self.nearness * np.where(self.others, _OTHERS, 1.0)
        alike = alike * np.where(self.single, _SINGLE, 1.0)
        new = self.rarest == 0
        odds = np.array(
            [
                _ANY / np.sqrt(1.0 + self.named),
                _NEW * new / (1.0 + self.commonest) ** 0.3,
                _ONLY * (new & (self.commonest == 0)),
                _SMALL * (1.0 + self.small) ** 1.25 / np.sqrt(1.0 + self.named),
            ]
        )
        return np.asarray(np.log1p(_LEAKED * alike * odds))


def coincidence(
    context: Context, reading: Reading, hashes: np.ndarray, types: np.ndarray
) -> Coincidence:
    """Return the properties of entities in synthetic texts and in at most a few real texts."""
    found = [mentions(context, reading, role) for role in (*_REAL, "synthetic")]
    sizes = [context.n_rows(role) for role in (*_REAL, "synthetic")]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n_real = int(starts[2])
    rows = np.concatenate([start + one.rows for start, one in zip(starts, found, strict=False)])
    keys = np.concatenate([one.hashes[:, 0] for one in found])
    words = np.concatenate([one.words for one in found])
    texts = TextSets.from_context(context, reading.columns)
    own = texts.places(words[_first(keys, hashes)])
    pairs = _pairs(hashes, (rows[rows < n_real], keys[rows < n_real]), found[2])
    held, named = texts.counts(), _count_entity_rows(rows, texts.places(words), texts.held.shape)
    n_own = _n_rows(rows, keys, hashes)[:, None]
    there = own >= 0
    in_texts, in_names = (
        np.where(there, np.maximum(count[own] - n_own, 0.0), np.nan) for count in (held, named)
    )
    none = ~there.any(axis=1)
    in_texts[none], in_names[none] = 0.0, 0.0
    number = np.isin(types, _NUMBERS)
    rarest, commonest, most = (
        np.where(number, 0.0, value)
        for value in (
            np.nanmin(in_texts, axis=1),
            np.nanmax(in_texts, axis=1),
            np.nanmax(in_names, axis=1),
        )
    )
    small = np.where(number, 0.0, np.nanmin(np.maximum(in_texts - in_names, 0.0), axis=1))
    single = (there.sum(axis=1) <= 1) & ~number
    nearness = _nearness(texts, pairs, own, n_real, hashes.size)
    others = _have_other_in_common(rows, keys, pairs, n_real, hashes.size)
    return Coincidence(nearness, others, rarest, commonest, most, small, single)


@dataclass(frozen=True)
class TextSets:
    """Which words the rows of all tables have, train first, and vectors of length 1 of these."""

    keys: np.ndarray
    held: csr_array

    @classmethod
    def from_context(cls, context: Context, columns: Sequence[str]) -> TextSets:
        """Read the words of all tables."""
        rows, words = _words(context, columns, (*_REAL, "synthetic"))
        keys, cells = np.unique(words, return_inverse=True)
        n_rows = sum(context.n_rows(role) for role in (*_REAL, "synthetic"))
        return cls(keys, _indicator_matrix(rows, cells, (n_rows, max(1, keys.size))))

    def places(self, words: np.ndarray) -> np.ndarray:
        """Return the columns of words, -1 for none."""
        if not self.keys.size:
            return np.full(words.shape, -1)
        at = np.minimum(np.searchsorted(self.keys, words), self.keys.size - 1)
        return np.where(self.keys[at] == words, at, -1)

    def counts(self) -> np.ndarray:
        """Return how many rows have each word."""
        return np.bincount(self.held.indices, minlength=self.held.shape[1]).astype(np.float64)

    def rarity(self) -> np.ndarray:
        """Return the weight of each word, the logarithm of one over the share of rows with it."""
        weights: np.ndarray = np.log((self.held.shape[0] + 1.0) / (self.counts() + 1.0))
        return weights

    def vectors(self) -> csr_array:
        """Return the weights of the words of each row, by their length."""
        weighted = csr_array(self.held @ diags_array(self.rarity()))
        lengths = np.sqrt(_sums(weighted.multiply(weighted)))
        return csr_array(diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ weighted)

    def sample(self, start: int, end: int) -> np.ndarray:
        """Return up to 1,000 rows, selected by their words and independent of their order.

        Rows without words come last.
        """
        if end - start <= _PLACED:
            return np.arange(start, end)
        marks = self.keys[: self.held.shape[1]] if self.keys.size else np.zeros(1, np.uint64)
        part = self.held[start:end]
        sums = np.bitwise_xor.reduceat(
            np.append(marks[part.indices], np.uint64(0)), part.indptr[:-1]
        )
        # for an empty row, reduceat returns a word of the next row
        sums[np.diff(part.indptr) == 0] = np.iinfo(np.uint64).max
        return start + np.argsort(sums, kind="stable")[:_PLACED]


def _indicator_matrix(rows: np.ndarray, cells: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """Return 1 for each cell of these rows. Positions below 0 are ignored."""
    cells = cells[cells >= 0]
    held = csr_array((np.ones(cells.size), (rows, cells)), shape=shape)
    held.sum_duplicates()
    held.data[:] = 1.0
    return held


def _sums(rows: csr_array) -> np.ndarray:
    return np.asarray(rows.sum(axis=1)).ravel()


def _first(keys: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Return the first mention of each of some entities."""
    distinct, first = np.unique(keys, return_index=True)
    return np.asarray(first[np.searchsorted(distinct, hashes)])


def _n_rows(rows: np.ndarray, keys: np.ndarray, hashes: np.ndarray) -> np.ndarray:
    """Return how many rows of all tables mention each of some entities."""
    own = np.isin(keys, hashes)
    mentioned = np.unique(np.column_stack([np.searchsorted(hashes, keys[own]), rows[own]]), axis=0)
    return np.bincount(mentioned[:, 0], minlength=hashes.size).astype(np.float64)


def _count_entity_rows(rows: np.ndarray, places: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return how many rows have each word in an entity."""
    there = places >= 0
    pairs = np.column_stack([np.repeat(rows, there.sum(axis=1)), places[there]])
    in_names = np.unique(pairs, axis=0)[:, 1]
    return np.bincount(in_names, minlength=shape[1]).astype(np.float64)


def _nearness(
    texts: TextSets,
    pairs: tuple[np.ndarray, np.ndarray, np.ndarray],
    own: np.ndarray,
    n_real: int,
    n_keys: int,
) -> np.ndarray:
    """Return the similarity of the two texts of each entity, or the maximum over several pairs."""
    key, left, right = pairs
    vectors, nearness = texts.vectors(), np.ones(n_keys)
    real, other = (
        csr_array(vectors[texts.sample(*ends)].T)
        for ends in ((0, n_real), (n_real, vectors.shape[0]))
    )
    for start in range(0, key.size, _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        rows, which = _distinct_pairs(left[block], n_real + right[block])
        a, b = vectors[rows[0]], vectors[rows[1]]
        both = csr_array(a.multiply(b))
        like = _sums(both)[which] - _likeness_of_names(both, which, own[key[block]])
        # the number of other texts that are equally similar without the name
        shares = []
        for ends, them in zip(rows, (other, real), strict=True):
            texts_of, at = np.unique(ends, return_inverse=True)
            alike = (vectors[texts_of] @ them).toarray()[at[which]]
            n_alike = (alike >= like[:, None] - 1e-12).sum(axis=1)
            shares.append((1.0 + n_alike) / (them.shape[1] + 1.0))
        np.minimum.at(nearness, key[block], np.sqrt(shares[0] * shares[1]))
    return nearness


def _have_other_in_common(
    rows: np.ndarray,
    keys: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray, np.ndarray],
    n_real: int,
    n_keys: int,
) -> np.ndarray:
    """Return for each entity whether two of its texts have another one in common."""
    distinct, code = np.unique(keys, return_inverse=True)
    n_rows = int(max(rows.max(initial=0), n_real + pairs[2].max(initial=0))) + 1
    held = _indicator_matrix(rows, code, (n_rows, max(1, distinct.size)))
    key, left, right = pairs
    shared = np.zeros(n_keys, dtype=np.bool_)
    for start in range(0, key.size, _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        rows, which = _distinct_pairs(left[block], n_real + right[block])
        both = csr_array(held[rows[0]].multiply(held[rows[1]]))
        shared[key[block][_sums(both)[which] > 1]] = True
    return shared


def _distinct_pairs(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct pairs of rows and their index, because long texts have many names."""
    pairs, which = np.unique(np.column_stack([left, right]), axis=0, return_inverse=True)
    return pairs.T, which.ravel()


def _likeness_of_names(both: csr_array, which: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the part of the similarity of each pair that is due to the words of names."""
    own = np.sort(own, axis=1)
    own[:, 1:][own[:, 1:] == own[:, :-1]] = -1
    row, place = np.nonzero(own >= 0)
    both.sort_indices()
    wide, n_each = both.shape[1], np.diff(both.indptr)
    held = np.repeat(np.arange(n_each.size), n_each) * wide + both.indices
    wanted = which[row] * wide + own[row, place]
    at = np.searchsorted(held, wanted)
    found = np.append(held, -1)[at] == wanted
    values = np.where(found, np.append(both.data, 0.0)[at], 0.0)
    return np.bincount(row, weights=values, minlength=which.size)


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
    n_each = np.minimum(end - first, _MAX_FEW_ROWS)
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
