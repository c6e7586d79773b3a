"""Real rows that are near in what can be measured and alike in free text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack

from skeval.context import Context, shared
from skeval.neighbors.encoding import LARGEST, SMALLEST_RANGE, round_to_grid
from skeval.privacy.row_equality import ROLES, text_values
from skeval.stats.disclosure import joint_classes
from skeval.stats.matches import MatchLists, distinct_rows
from skeval.steps.neighbors import encoded, index_of, is_gower, ranges
from skeval.steps.samples import ColumnChoice, chosen_columns
from skeval.tables.preprocessing import NOMINAL

_CROWD = 64  # rows near in what can be measured: up to so many, texts are compared one by one
_END = "\0"
_WORDS = re.compile(rf"\w+|{_END}")
_NOISE = 1e-9  # 0.9 * 10 may come out above 9
_BLOCK = 2**20  # pairs looked at at once
_ROUND = 64  # the first of a range that are looked at, before those of the others
_AT_ONCE = 2**17  # pairs compared in full at once
_MANY = 8  # candidates a signature that are too many
_MOST_SIGNATURES = 2**24
_HIGHEST_LEVEL = 6


@dataclass(frozen=True)
class NearRule:
    """When rows are near: within a distance of `tau`, with texts similar at least by `text`.

    Without `measures` distances do not matter, without `texts` texts do not.
    """

    tau: float
    measures: bool
    space: Any
    columns: ColumnChoice
    texts: tuple[str, ...]
    text: float


@dataclass(frozen=True)
class Profiles:
    """Distinct rows: what can be measured of them, the number of their texts, how often each is."""

    measured: np.ndarray
    texts: np.ndarray
    counts: Mapping[str, np.ndarray]

    def count(self, role: str) -> np.ndarray:
        """Return how often each distinct row stands in a table; nowhere in one not looked at."""
        return self.counts.get(role, np.zeros(self.texts.size, dtype=np.int64))


@shared
def text_sets(context: Context, texts: tuple[str, ...]) -> TokenSets:
    """Return the token sets of text columns over all tables."""
    return token_sets([text_values(context, column) for column in texts])


def profiles(
    context: Context, rule: NearRule, roles: tuple[str, ...], rows: np.ndarray | None = None
) -> Profiles:
    """Return the distinct rows of some tables; of one table perhaps only the `rows` of a mask."""
    parts = []
    for role in roles:
        part = np.zeros((context.n_rows(role), 1))
        if rule.texts:
            part[:, 0] = _text_numbers(context, rule.texts, role)
        if rule.measures:
            part = np.column_stack([part, encoded(context, role, rule.space, rule.columns)])
        parts.append(part if rows is None else part[rows])
    distinct, which = distinct_rows(np.concatenate(parts))
    ends = np.cumsum([len(part) for part in parts])[:-1]
    counts = [np.bincount(part, minlength=len(distinct)) for part in np.split(which, ends)]
    by_role = dict(zip(roles, counts, strict=True))
    return Profiles(distinct[:, 1:], distinct[:, 0].astype(np.int64), by_role)


def _text_numbers(context: Context, texts: tuple[str, ...], role: str) -> np.ndarray:
    present = [r for r in ROLES if r in context]
    ends = np.cumsum([context.n_rows(r) for r in present])[:-1]
    return np.split(text_sets(context, texts).which, ends)[present.index(role)]


def near_texts(
    context: Context, rule: NearRule, queries: Profiles, real: Profiles, longest: int
) -> NearPairs:
    """Find the real rows near each query.

    Where few real rows are near in what can be measured, their texts are compared one by one; the
    other queries go the other way round, from the rows with similar texts to their distances.

    Parameters
    ----------
    context : Context
        The tables.
    rule : NearRule
        What near means; it has texts.
    queries : Profiles
        Distinct rows of one table.
    real : Profiles
        Distinct real rows, counted in train and in the holdout.
    longest : int
        How many near rows are kept for each query.

    Returns
    -------
    NearPairs
    """
    in_train, in_holdout = (real.count(role) > 0 for role in ("train", "holdout"))
    found = NearPairs(len(queries.texts), in_train, in_holdout, longest)
    crowded = np.ones(len(queries.texts), dtype=np.bool_)
    if rule.measures and len(queries.texts):
        index = index_of(context, real.measured, rule.space, rule.columns)
        radius = np.full(len(queries.texts), rule.tau)
        _, near = index.kneighbors(queries.measured, _CROWD + 1, radius)
        crowded = (near >= 0).sum(axis=1) > _CROWD
        i, place = np.nonzero((near >= 0) & ~crowded[:, None])
        j = near[i, place]
        sets = text_sets(context, rule.texts)
        alike = similar(sets, queries.texts[i], real.texts[j], rule.text)
        found.add(i[alike], j[alike])
    if crowded.any():
        _add_by_text(context, rule, queries, real, np.flatnonzero(crowded), found)
    return found


def _add_by_text(
    context: Context,
    rule: NearRule,
    queries: Profiles,
    real: Profiles,
    wanted: np.ndarray,
    found: NearPairs,
) -> None:
    sets = text_sets(context, rule.texts)
    mine, theirs = _ByText.of(queries.texts, wanted), _ByText.of(real.texts)
    done = np.zeros(sets.columns[0].shape[0], dtype=np.bool_)
    for i, j in similar_pairs(sets, mine.texts, theirs.texts, rule.text, done):
        for pair, place in in_rounds(*mine.slices(i), i, done):
            query = mine.rows[place]
            for which, other in in_rounds(*theirs.slices(j[pair]), query, found.done):
                a, b = query[which], theirs.rows[other]
                near = _within(context, rule, queries.measured[a], real.measured[b])
                found.add(a[near], b[near])
        done[mine.texts] = mine.all_of(found.done)


@dataclass(frozen=True)
class _ByText:
    """Rows in the order of their texts."""

    rows: np.ndarray
    texts: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, numbers: np.ndarray, rows: np.ndarray | None = None) -> _ByText:
        rows = np.arange(numbers.size) if rows is None else rows
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        texts, starts = np.unique(numbers[rows], return_index=True)
        return cls(rows, texts, np.append(starts, rows.size))

    def slices(self, texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return from where to where the rows of each text are."""
        at = np.searchsorted(self.texts, texts)
        return self.starts[at], self.starts[at + 1]

    def all_of(self, holds: np.ndarray) -> np.ndarray:
        """Return for each text whether something holds of all of its rows."""
        found: np.ndarray = np.logical_and.reduceat(holds[self.rows], self.starts[:-1])
        return found


def _within(context: Context, rule: NearRule, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    if not rule.measures:
        return np.ones(len(rows), dtype=np.bool_)
    if not is_gower(rule.space):
        return euclidean_pairs(rows, others) <= rule.tau
    n_numbers = rows.shape[1] - len(
        set(chosen_columns(context.schema, rule.columns)) & set(context.schema.columns(*NOMINAL))
    )
    is_nominal = np.arange(rows.shape[1]) >= n_numbers
    found: np.ndarray = (
        gower_pairs(rows, others, ranges(context, rule.columns), is_nominal) <= rule.tau
    )
    return found


@dataclass(frozen=True)
class TokenSets:
    """The distinct combinations of token sets in columns of text, and which rows have them.

    Attributes
    ----------
    which : ndarray of shape (n_rows,)
        The combination of each row. Numbers depend on the texts alone, not on their places.
    columns : list of csr_array of shape (n_combinations, n_tokens)
        For each column, 1 where a combination has a token. An empty text and a missing one have one
        token each, which no other text has.
    """

    which: np.ndarray
    columns: list[csr_array]

    @property
    def joined(self) -> csr_array:
        """Return the token sets of all columns as one; rare tokens come first in each row."""
        joined = csr_array(hstack(self.columns, format="csr"))
        frequency = np.bincount(joined.indices, minlength=joined.shape[1])
        rank = np.empty(frequency.size, dtype=joined.indices.dtype)
        rank[np.argsort(frequency, kind="stable")] = np.arange(frequency.size)
        ranked = csr_array((joined.data, rank[joined.indices], joined.indptr), shape=joined.shape)
        ranked.sort_indices()
        return ranked


def token_sets(columns: Sequence[np.ndarray]) -> TokenSets:
    r"""Return the token sets of columns of text: the runs of ``\w`` in lower case, each once.

    Parameters
    ----------
    columns : sequence of ndarray of shape (n_rows,)
        Strings, None where missing. At least one column.

    Returns
    -------
    TokenSets

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.near_texts import token_sets
    >>> sets = token_sets([np.array(["To be", "be, to be!", None, ""], dtype=object)])
    >>> np.unique(sets.which[:2]).size, np.unique(sets.which).size
    (1, 3)
    """
    found = [_one_column(np.asarray(texts, dtype=object)) for texts in columns]
    which = joint_classes(np.column_stack([codes for codes, _ in found]))
    first = np.unique(which, return_index=True)[1]
    return TokenSets(which, [sets[codes[first]] for codes, sets in found])


def _one_column(texts: np.ndarray) -> tuple[np.ndarray, csr_array]:
    """Return which distinct token set each text has, and the sets."""
    codes, distinct = pd.factorize(texts, use_na_sentinel=True)
    flat = _WORDS.findall("".join(t.replace(_END, " ").lower() + _END for t in distinct))
    tokens, vocabulary = pd.factorize(np.array(flat, dtype=object), sort=True)
    is_end = tokens == (list(vocabulary).index(_END) if flat else 0)
    owners = (np.cumsum(is_end) - is_end)[~is_end]
    # columns for the words, one for "no words" and one for "missing"
    n_texts, n_tokens = len(distinct), len(vocabulary) + 2
    wordless = np.setdiff1d(np.arange(n_texts), owners)
    owners = np.concatenate([owners, wordless, [n_texts]])
    tokens = np.concatenate([tokens[~is_end], np.full(wordless.size, n_tokens - 2), [n_tokens - 1]])
    sets = csr_array((np.ones(tokens.size), (owners, tokens)), shape=(n_texts + 1, n_tokens))
    sets.sum_duplicates()
    sets.data[:] = 1.0
    number, first = _equal_rows(sets)
    return number[codes], sets[first]


def _equal_rows(sets: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each row among the distinct ones, and the first row of each."""
    keys = np.random.default_rng(0).integers(0, 2**62, (sets.shape[1], 2), dtype=np.uint64)
    # two sums of 64 bits each: that two rows have the same ones by chance is out of the question
    sums = np.add.reduceat(keys[sets.indices], sets.indptr[:-1], axis=0)
    pairs = pd.MultiIndex.from_arrays([sums[:, 0], sums[:, 1]])
    number = pd.factorize(pairs, sort=True)[0]
    return number, np.unique(number, return_index=True)[1]


def similar_pairs(
    sets: TokenSets,
    left: np.ndarray,
    right: np.ndarray,
    threshold: float,
    done: np.ndarray | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    r"""Yield all pairs of combinations whose texts are similar in every column.

    Parameters
    ----------
    sets : TokenSets
        The combinations.
    left, right : ndarray of int
        Distinct combinations to pair; both sides may have the same ones.
    threshold : float
        In (0, 1]; the least Jaccard similarity, ``|a & b| / |a | b|``, of two token sets.
    done : ndarray of bool of shape (n_combinations,), optional
        Whose pairs are not looked for any more. The caller may set entries between two blocks.

    Yields
    ------
    i, j : ndarray of int
        A block of pairs, of `left` and of `right`. A pair may come again in another block.

    Notes
    -----
    Sets x and y with a similarity of t have ``o >= t |x|`` tokens in common, and ``o >= t |y|``.
    Whatever order tokens are put in, the first l of the common ones stand among the first ``|x| -
    ceil(t |x|) + l`` of x, and likewise in y. Two sets are looked at if they share l tokens there
    (a signature), are of fit sizes, and can have enough tokens in common behind. Rare tokens come
    first, so that few sets share them; where l = 1 leaves too many pairs, l is raised. Pairs with
    fewer than l tokens in common are small sets, and are found with a smaller l. What is looked at
    is compared in full. Columns are joined for the search: where all are similar, so is their
    union.

    References
    ----------
    R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search", WWW 2007,
    doi:10.1145/1242572.1242591; J. Wang, G. Li, J. Feng, "Can we beat the prefix filtering?",
    SIGMOD 2012, doi:10.1145/2213836.2213847.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.near_texts import similar_pairs, token_sets
    >>> sets = token_sets([np.array(["a b c d", "a b c e", "f g"], dtype=object)])
    >>> ((i, j),) = similar_pairs(sets, sets.which[:1], sets.which, 0.6)
    >>> set(j) == set(sets.which[:2])
    True
    """
    join = _Join(sets.joined, left, right, threshold)
    done = np.zeros(sets.columns[0].shape[0], dtype=np.bool_) if done is None else done
    highest = join.best_level()
    for level in range(highest, 0, -1):
        for i, j in join.candidates(level, done, small_only=level < highest):
            kept = similar(sets, i, j, threshold)
            if kept.any():
                yield i[kept], j[kept]


def similar(sets: TokenSets, i: np.ndarray, j: np.ndarray, threshold: float) -> np.ndarray:
    """Return whether pairs of combinations are similar in every column.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.near_texts import similar, token_sets
    >>> sets = token_sets([np.array(["a b c d", "a b c e", None], dtype=object)])
    >>> a, b, missing = sets.which
    >>> similar(sets, np.array([a, a, missing]), np.array([b, missing, missing]), 0.6)
    array([ True, False,  True])
    """
    found = np.ones(i.size, dtype=np.bool_)
    for column in sets.columns:
        sizes = np.diff(column.indptr)
        a, b = i[found], j[found]
        found[found] = _common(column, a, b) >= _needed(sizes[a] + sizes[b], threshold)
    return found


def in_rounds(
    low: np.ndarray, high: np.ndarray, owners: np.ndarray, done: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the places of ranges, the first few of every range before the next of any.

    Parameters
    ----------
    low, high : ndarray of shape (n_ranges,)
        Each range is from `low` up to but not with `high`.
    owners : ndarray of int of shape (n_ranges,)
        Who has each range.
    done : ndarray of bool of shape (n_owners,)
        Whose ranges are left out. The caller may set entries between two blocks.

    Yields
    ------
    which, place : ndarray of int
        Ranges, and places in them; blocks of bounded size.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.near_texts import in_rounds
    >>> low, high, done = np.array([0, 7]), np.array([2, 8]), np.array([False])
    >>> [(a.tolist(), b.tolist()) for a, b in in_rounds(low, high, np.array([0, 0]), done)]
    [([0, 0, 1], [0, 1, 7])]
    """
    at, width = np.array(low, dtype=np.int64), _ROUND
    while (open_ := np.flatnonzero((at < high) & ~done[owners])).size:
        step = max(1, _BLOCK // width)
        for start in range(0, open_.size, step):
            ranges = open_[start : start + step]
            ranges = ranges[~done[owners[ranges]]]
            counts = np.minimum(high[ranges] - at[ranges], width)
            first = np.repeat(at[ranges] - np.cumsum(counts) + counts, counts)
            yield np.repeat(ranges, counts), first + np.arange(counts.sum())
        at, width = at + width, min(4 * width, _BLOCK)


def _needed(sizes: np.ndarray, threshold: float) -> np.ndarray:
    """Return the least number of common tokens, given the sum of the sizes of two sets."""
    return sizes * (threshold / (1.0 + threshold)) - _NOISE


def _common(sets: csr_array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the number of common tokens of pairs of rows."""
    common = np.empty(i.size)
    for start in range(0, i.size, _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        common[block] = sets[i[block]].multiply(sets[j[block]]).sum(axis=1)
    return common


@dataclass(frozen=True)
class _Signatures:
    """What sets share if they are similar: owner, key and place of the last token, by owner."""

    owners: np.ndarray
    keys: np.ndarray
    places: np.ndarray


class _Join:
    """The search for pairs of sets that share a signature."""

    def __init__(
        self, sets: csr_array, left: np.ndarray, right: np.ndarray, threshold: float
    ) -> None:
        self.sets, self.left, self.right, self.threshold = sets, left, right, threshold
        self.sizes = np.diff(sets.indptr).astype(np.int64)
        self.least = np.ceil(threshold * self.sizes - _NOISE).astype(np.int64)
        self._size_bits = int(self.sizes.max()).bit_length() + 1
        keys = np.random.default_rng(0).integers(0, 2**62, sets.shape[1], dtype=np.uint64)
        self._token_keys = keys << np.uint64(self._size_bits)

    def best_level(self) -> int:
        """Return how many tokens a signature should have."""
        level = 1
        while level < _HIGHEST_LEVEL:
            n_signatures = self._n_signatures(level)
            low, high, _, _ = self._matched(level, small_only=False)
            higher = self._n_signatures(level + 1)
            if int((high - low).sum()) <= _MANY * max(n_signatures, higher // 2):
                break
            if higher > _MOST_SIGNATURES:
                break
            level += 1
        return level

    def _n_signatures(self, level: int) -> int:
        rows = np.concatenate([self.left, self.right])
        lengths, counts = np.unique(self._prefix_lengths(rows, level), return_counts=True)
        return sum(
            comb(int(length), level) * int(n) for length, n in zip(lengths, counts, strict=True)
        )

    def _prefix_lengths(self, rows: np.ndarray, level: int) -> np.ndarray:
        lengths: np.ndarray = np.minimum(
            self.sizes[rows], self.sizes[rows] - self.least[rows] + level
        )
        return lengths

    def _signatures(self, rows: np.ndarray, level: int) -> _Signatures:
        parts, lengths = [], self._prefix_lengths(rows, level)
        for length in np.unique(lengths[lengths >= level]):
            own = rows[lengths == length]
            chosen = np.array(list(combinations(range(length), level)))
            tokens = self.sets.indices[self.sets.indptr[own][:, None] + np.arange(length)]
            keys = self._token_keys[tokens]
            sums = sum(keys[:, chosen[:, i]] for i in range(level))
            parts.append(
                (np.repeat(own, len(chosen)), sums.ravel(), np.tile(chosen[:, -1], len(own)))
            )
        if not parts:
            return _Signatures(*(np.empty(0, dtype=t) for t in (np.int64, np.uint64, np.int64)))
        owners, keys, places = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(owners, kind="stable")
        return _Signatures(owners[order], keys[order], places[order])

    def _matched(
        self, level: int, *, small_only: bool
    ) -> tuple[np.ndarray, np.ndarray, _Signatures, _Signatures]:
        """Return, for each signature on the left, the slice of those on the right of fit sizes."""
        sides = [self.left, self.right]
        if small_only:
            sides = [rows[self.least[rows] <= level] for rows in sides]
        queries, postings = (self._signatures(rows, level) for rows in sides)
        keys = postings.keys | self.sizes[postings.owners].astype(np.uint64)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        own = self.sizes[queries.owners]
        largest = np.minimum(np.floor(own / self.threshold + _NOISE), 2**self._size_bits - 1)
        least = self.least[queries.owners].astype(np.uint64)
        low = np.searchsorted(keys, queries.keys | least)
        high = np.searchsorted(keys, queries.keys | largest.astype(np.uint64), side="right")
        ordered = _Signatures(postings.owners[order], keys, postings.places[order])
        return low, high, queries, ordered

    def candidates(
        self, level: int, done: np.ndarray, *, small_only: bool
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the pairs that share a signature and may be similar."""
        low, high, queries, postings = self._matched(level, small_only=small_only)
        for query, posting in in_rounds(low, high, queries.owners, done):
            i, j = queries.owners[query], postings.owners[posting]
            behind = np.minimum(
                self.sizes[i] - queries.places[query], self.sizes[j] - postings.places[posting]
            )
            kept = level - 1 + behind >= _needed(self.sizes[i] + self.sizes[j], self.threshold)
            pairs = np.unique(i[kept] * self.sizes.size + j[kept])
            yield pairs // self.sizes.size, pairs % self.sizes.size


def gower_pairs(
    rows: np.ndarray, others: np.ndarray, ranges: np.ndarray, categorical: np.ndarray
) -> np.ndarray:
    """Return Gower's distance of each row to the other row beside it.

    Parameters
    ----------
    rows, others : ndarray of shape (n, n_columns)
        Numbers, and codes of categories; missing is nan.
    ranges : ndarray of shape (n_columns,)
        Range of each number column; where it is 0, values differ or not.
    categorical : ndarray of bool of shape (n_columns,)
        Which columns hold codes.

    Returns
    -------
    ndarray of shape (n,)
        As :class:`~skeval.neighbors.mixed.MixedNearestNeighbors` has them, ties included.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.near_texts import gower_pairs
    >>> rows, others = np.array([[1.0, 0.0]]), np.array([[3.0, 1.0]])
    >>> gower_pairs(rows, others, np.array([4.0, 1.0]), np.array([False, True]))
    array([0.75])
    """
    total = np.zeros(len(rows))
    metric = ~categorical & np.isfinite(ranges) & (ranges >= SMALLEST_RANGE)
    for j in [*np.flatnonzero(~metric), *np.flatnonzero(metric)]:
        a, b = (np.clip(table[:, j], -LARGEST, LARGEST) for table in (rows, others))
        missing = np.isnan(a), np.isnan(b)
        apart = np.minimum(1.0, np.abs(a - b) / ranges[j]) if metric[j] else (a != b) * 1.0
        total += np.where(missing[0] | missing[1], missing[0] ^ missing[1], apart)
    distances: np.ndarray = round_to_grid(total) / rows.shape[1]
    return distances


def euclidean_pairs(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the Euclidean distance of each row to the other row beside it.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.near_texts import euclidean_pairs
    >>> euclidean_pairs(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([5.])
    """
    distances: np.ndarray = np.sqrt(((rows - others) ** 2).sum(axis=1))
    return distances


class NearPairs:
    """Which real rows were found near which queries; what is not needed is not kept.

    Parameters
    ----------
    n_queries : int
        Number of queries.
    in_train, in_holdout : ndarray of bool of shape (n_values,)
        In which tables each distinct real row stands.
    longest : int
        How many near rows a query keeps; those found first.

    Attributes
    ----------
    near_train, near_holdout : ndarray of bool of shape (n_queries,)
        Whether a row of train, of the holdout, was found near.
    done : ndarray of bool of shape (n_queries,)
        Whether nothing more needs to be known of a query.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.near_texts import NearPairs
    >>> pairs = NearPairs(2, np.array([True, False]), np.array([False, True]), longest=1)
    >>> pairs.add(np.array([0, 0]), np.array([0, 1]))
    >>> pairs.near_train, pairs.done
    (array([ True, False]), array([ True, False]))
    """

    def __init__(
        self, n_queries: int, in_train: np.ndarray, in_holdout: np.ndarray, longest: int
    ) -> None:
        self._in_train, self._in_holdout, self._longest = in_train, in_holdout, longest
        self.near_train = np.zeros(n_queries, dtype=np.bool_)
        self.near_holdout, self.done = self.near_train.copy(), self.near_train.copy()
        self._lengths = np.zeros(n_queries, dtype=np.int64)
        self._found: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, queries: np.ndarray, values: np.ndarray) -> None:
        """Note pairs of a query and a distinct real row; those known may come again."""
        self.near_train[queries[self._in_train[values]]] = True
        self.near_holdout[queries[self._in_holdout[values]]] = True
        open_ = self._lengths[queries] < self._longest
        self._found.append((queries[open_], values[open_]))
        # pairs that come again may be counted twice: at worst some list ends a little early
        self._lengths += np.bincount(queries[open_], minlength=self._lengths.size)
        self.done |= self._lengths >= self._longest
        self.done &= self.near_train | (not self._in_train.any())
        self.done &= self.near_holdout | (not self._in_holdout.any())

    def lists(self, weights: np.ndarray, n_rows: int) -> MatchLists:
        """Return the lists of the queries that have any.

        `weights` says for how many rows each query stands, of `n_rows` in all.
        """
        if not self._found:
            empty = np.empty(0, dtype=np.int64)
            return MatchLists.of_pairs(empty, empty, weights, n_rows)
        both = [np.concatenate(part) for part in zip(*self._found, strict=True)]
        pairs = pd.DataFrame(np.column_stack(both)).drop_duplicates()
        kept = pairs[pairs.groupby(0).cumcount() < self._longest]
        return MatchLists.of_pairs(kept[0].to_numpy(), kept[1].to_numpy(), weights, n_rows)
