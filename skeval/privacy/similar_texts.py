"""Pairs of texts with nearly the same words or letters, found by an exact join."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, cpdist
from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import CountVectorizer

from skeval.stats.joint_classes import joint_classes

_WORDS = re.compile(r"\w+")
_WORDLESS, _MISSING = "\U0010fffe", "\U0010ffff"  # sorted after all words
_NOISE = 1e-9  # 0.9 * 10 may be above 9
_BLOCK = 2**20  # pairs per block
_DEAR = 8  # number of products with the same cost as a full comparison of two sets
_ROUND = 64  # number of right rows in the first round
_AT_ONCE = 2**17  # pairs that are compared in full together
_GRAM = 3  # number of letters


@dataclass(frozen=True)
class TokenSets:
    """The distinct combinations of token sets in text columns, and the rows that have them."""

    which: np.ndarray
    columns: list[csr_array]
    short: list[np.ndarray]

    @cached_property
    def letters(self) -> list[tuple[np.ndarray, np.ndarray, csr_array]]:
        """For each column, the index of the short text of each combination, the texts and grams."""
        by_column = []
        for short in self.short:
            codes, texts = pd.factorize(short)
            by_column.append((codes, texts, letter_runs(texts)))
        return by_column


def token_sets(columns: Sequence[np.ndarray], edit_length: int = 0) -> TokenSets:
    r"""Return the token sets of text columns. Tokens are runs of ``\w`` in lower case."""
    by_column = [_one_column(np.asarray(texts, dtype=object), edit_length) for texts in columns]
    which = joint_classes(np.column_stack([codes for codes, _, _ in by_column]))
    first = np.unique(which, return_index=True)[1]
    return TokenSets(
        which,
        [sets[codes[first]] for codes, sets, _ in by_column],
        [short[codes[first]] for codes, _, short in by_column],
    )


def _one_column(texts: np.ndarray, edit_length: int) -> tuple[np.ndarray, csr_array, np.ndarray]:
    """Return the index of the token set of each text, the distinct sets, and the short texts."""
    codes, distinct = pd.factorize(texts)  # -1 for missing texts, which selects the last set
    vectorizer = CountVectorizer(analyzer=_tokens, binary=True, dtype=np.float64)
    every = [*distinct, "", None]
    sets = csr_array(vectorizer.fit_transform(every))
    short = np.array(
        [t.lower() if t is not None and len(t) <= edit_length else None for t in every],
        dtype=object,
    )
    number, first = _equal_rows(sets)
    if edit_length:
        number = joint_classes(np.column_stack([number, pd.factorize(short, sort=True)[0]]))
        first = np.unique(number, return_index=True)[1]
    return number[codes], sets[first], short[first]


def _tokens(text: str | None) -> list[str]:
    return [_MISSING] if text is None else _WORDS.findall(text.lower()) or [_WORDLESS]


def _equal_rows(sets: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of each row among the distinct rows, and the first row of each."""
    keys = np.random.default_rng(0).integers(0, 2**62, (sets.shape[1] + 1, 2), dtype=np.uint64)[1:]
    # two sums of 64 bits each, so that equal sums of different rows are practically impossible
    sums = np.add.reduceat(keys[sets.indices], sets.indptr[:-1], axis=0)
    pairs = pd.MultiIndex.from_arrays([sums[:, 0], sums[:, 1]])
    number = pd.factorize(pairs, sort=True)[0]
    return number, np.unique(number, return_index=True)[1]


def similar_pairs(
    sets: TokenSets, left: np.ndarray, right: np.ndarray, threshold: float, done: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of rows whose texts are similar in every column."""
    # Sets x and y with a similarity of t have at least `t |x|` and `t |y|` tokens in common. In
    # any order of the tokens, one of the common tokens is among the first `|x| - ceil(t |x|) + 1`
    # tokens of x, and similarly for y. The tokens are sorted by frequency, with rare tokens
    # first. Then the product of two sparse matrices of these few tokens gives the candidate
    # pairs, which are compared in full. Columns are joined first, because the union of similar
    # columns is similar. Right rows are processed in rounds, because many left rows soon have
    # enough matches. Pairs that are similar only by edit distance in some column come last. An
    # edit changes at most three runs of three letters. Therefore two texts with at most k edits
    # have one of the `3 k + 1` rarest runs of each text in common.
    #
    # Source: R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search", WWW
    # 2007, doi:10.1145/1242572.1242591.
    yield from similar_by_words(sets, left, right, threshold, done)
    for column in range(len(sets.columns)):
        yield from similar_by_letters(sets, column, left, right, threshold, done)


def similar_by_words(
    sets: TokenSets, left: np.ndarray, right: np.ndarray, threshold: float, done: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of rows with similar token sets in every column, as `similar_pairs` does."""
    every = csr_array(hstack(sets.columns, format="csr"))
    sizes, rare = np.diff(every.indptr), rare_tokens(every, threshold)
    n_products = [_n_products(tokens, left[left >= 0], right) for tokens in (every, rare)]
    tokens = every if n_products[0] < _DEAR * n_products[1] else rare
    start, width = 0, _ROUND
    while start < right.size and (open_ := np.flatnonzero(~done & (left >= 0))).size:
        there = tokens[right[start : start + width]].T.tocsr()
        for rows in np.array_split(open_, -(-open_.size * width // _BLOCK)):
            common = (tokens[left[rows]] @ there).tocoo()
            i, j = rows[common.row], common.col + start
            both = sizes[left[i]] + sizes[right[j]]
            least = np.minimum(sizes[left[i]], sizes[right[j]])
            fits = (common.data if tokens is every else least) >= _min_common_tokens(
                both, threshold
            )
            i, j = i[fits], j[fits]
            alike = by_words(sets.columns, left[i], right[j], threshold)
            order = np.lexsort((j[alike], i[alike]))
            yield i[alike][order], j[alike][order]
        start, width = start + width, min(4 * width, _BLOCK)


def similar_by_letters(
    sets: TokenSets,
    column: int,
    left: np.ndarray,
    right: np.ndarray,
    threshold: float,
    done: np.ndarray,
    edited: Callable[..., Iterator[tuple[np.ndarray, np.ndarray]]] | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield similar pairs whose words differ in this column, but not in an earlier column.

    `edited` finds different texts that differ in a few letters. The default finds all of them.
    """
    (codes, texts, grams), edited_ = sets.letters[column], edited or _pairs_by_edits
    open_ = np.flatnonzero(~done & (left >= 0))
    open_ = open_[codes[left[open_]] >= 0]
    there = np.flatnonzero(codes[right] >= 0)
    mine, theirs = codes[left[open_]], codes[right[there]]
    for first, second in edited_(texts, grams, np.unique(mine), np.unique(theirs), threshold):
        for i, j in _expand_pairs(mine, theirs, first, second):
            i, j = open_[i], there[j]
            a, b = left[i], right[j]
            new = ~by_words(sets.columns[column : column + 1], a, b, threshold)
            new &= by_words(sets.columns[:column], a, b, threshold)
            new[new] = similar(sets, a[new], b[new], threshold)
            order = np.lexsort((j[new], i[new]))
            yield i[new][order], j[new][order]


def letter_runs(texts: np.ndarray, width: int = _GRAM) -> csr_array:
    """Return the runs of `width` letters of each text, with repeated runs as separate runs."""

    def runs(text: str) -> list[str]:
        seen: Counter[str] = Counter()
        found = []
        for start in range(len(text) - width + 1):
            run = text[start : start + width]
            found.append(f"{run}{seen[run]}")
            seen[run] += 1
        return found

    if not any(len(text) >= width for text in texts):
        return csr_array((len(texts), 1))
    return csr_array(CountVectorizer(analyzer=runs, dtype=np.float64).fit_transform(texts))


def _pairs_by_edits(
    texts: np.ndarray, grams: csr_array, left: np.ndarray, right: np.ndarray, threshold: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the indices of pairs of different texts that differ in a few letters."""
    loose, rare = _few_runs(texts, grams, threshold)
    yield from _all_pairs_by_edits(texts, left[loose[left]], right, threshold)
    left, further = left[~loose[left]], right[loose[right]]
    yield from _all_pairs_by_edits(texts, left, further, threshold)
    right = right[~loose[right]]
    there = rare[right].T.tocsr()
    for block in _blocks(left, right.size):
        common = (rare[block] @ there).tocsr()
        near = [  # some hundred texts together need a fifth of the time for single pairs
            pair
            for one, places in zip(
                block, np.split(common.indices, common.indptr[1:-1]), strict=True
            )
            for pair in _all_pairs_by_edits(texts, np.array([one]), right[places], threshold)
        ]
        if near:
            first, second = (np.concatenate(side) for side in zip(*near, strict=True))
            yield first, second


def _few_runs(
    texts: np.ndarray, grams: csr_array, threshold: float
) -> tuple[np.ndarray, csr_array]:
    """Return which texts may differ from a similar text in all runs, and the rarest runs."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    # the difference in length between two texts is at most the number of edits
    n_rare = _GRAM * edits(lengths / max(threshold, _NOISE), threshold) + 1
    n_runs = np.diff(grams.indptr)
    return n_runs < n_rare, _rarest(grams, np.minimum(n_rare, n_runs))


def _all_pairs_by_edits(
    texts: np.ndarray, left: np.ndarray, right: np.ndarray, threshold: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the same pairs as `_pairs_by_edits` by comparing all pairs."""
    for block in _blocks(left, right.size):
        a, b = np.nonzero(_differ_in_few(cdist, texts[block], texts[right], threshold))
        other = block[a] != right[b]
        yield block[a[other]], right[b[other]]


def _blocks(rows: np.ndarray, n_columns: int) -> list[np.ndarray]:
    """Divide the rows into parts that form about a million pairs with the columns."""
    if rows.size == 0 or n_columns == 0:
        return []
    return np.array_split(rows, min(rows.size, -(-rows.size * n_columns // _BLOCK)))


def _expand_pairs(
    left: np.ndarray, right: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield in blocks all pairs of positions whose codes are one of the pairs of codes."""
    orders, starts, counts = [], [], []
    for side, codes in ((left, first), (right, second)):
        orders.append(np.argsort(side, kind="stable"))
        ends = [np.searchsorted(side[orders[-1]], codes, end) for end in ("left", "right")]
        starts.append(ends[0])
        counts.append(ends[1] - ends[0])
    n_each = counts[0] * counts[1]
    cuts = np.flatnonzero(np.diff(n_each.cumsum() // _AT_ONCE)) + 1
    for part in np.split(np.arange(n_each.size), cuts):
        n = n_each[part]
        place = np.arange(n.sum()) - np.repeat(n.cumsum() - n, n)
        width = np.repeat(counts[1][part], n)
        i, j = np.repeat(starts[0][part], n), np.repeat(starts[1][part], n)
        yield orders[0][i + place // width], orders[1][j + place % width]


def _n_products(tokens: csr_array, left: np.ndarray, right: np.ndarray) -> float:
    """Return the number of products in the matrix product of two sides."""
    counts = [np.bincount(rows, minlength=tokens.shape[0]) @ tokens for rows in (left, right)]
    return float(counts[0] @ counts[1])


def n_candidates(
    sets: TokenSets, left: np.ndarray, right: np.ndarray, threshold: float
) -> tuple[float, float]:
    """Return upper bounds of the numbers of candidate pairs by words and by letters."""
    # This does not compute the join. A pair counts once for each rare token in common.
    left = left[left >= 0]
    every = csr_array(hstack(sets.columns, format="csr"))
    n_by_letters = 0.0
    for codes, texts, grams in sets.letters:
        mine, theirs = (np.unique(codes[rows][codes[rows] >= 0]) for rows in (left, right))
        loose, rare = _few_runs(texts, grams, threshold)
        tight = mine[~loose[mine]], theirs[~loose[theirs]]
        n_by_letters += float(mine.size * theirs.size - tight[0].size * tight[1].size)
        n_by_letters += _n_products(rare, *tight)
    return _n_products(rare_tokens(every, threshold), left, right), n_by_letters


def rare_tokens(sets: csr_array, threshold: float) -> csr_array:
    """Return the rarest tokens of each set, one more than two similar sets can differ by."""
    sizes = np.diff(sets.indptr)
    return _rarest(sets, sizes - np.ceil(threshold * sizes - _NOISE).astype(np.int64) + 1)


def _rarest(sets: csr_array, kept: np.ndarray) -> csr_array:
    """Return the `kept` rarest tokens of each set."""
    sizes = np.diff(sets.indptr)
    frequency = np.bincount(sets.indices, minlength=sets.shape[1])
    by_rarity = np.argsort(frequency, kind="stable")
    rank = np.empty_like(by_rarity)
    rank[by_rarity] = np.arange(by_rarity.size)
    ranked = csr_array((sets.data, rank[sets.indices], sets.indptr), shape=sets.shape, copy=True)
    ranked.sort_indices()
    place = np.arange(ranked.nnz) - np.repeat(sets.indptr[:-1], sizes)
    tokens = by_rarity[ranked.indices[place < np.repeat(kept, sizes)]]
    starts = np.concatenate([[0], np.cumsum(np.minimum(kept, sizes))])
    return csr_array((np.ones(tokens.size), tokens, starts), shape=sets.shape)


def similar(sets: TokenSets, i: np.ndarray, j: np.ndarray, threshold: float) -> np.ndarray:
    """Return whether pairs of combinations are similar in every column, by words or by letters."""
    alike = np.ones(i.size, dtype=np.bool_)
    for column, short in zip(sets.columns, sets.short, strict=True):
        a, b = i[alike], j[alike]
        by_column = by_words([column], a, b, threshold)
        rest = ~by_column
        by_column[rest] = by_letters(short[a[rest]], short[b[rest]], threshold)
        alike[alike] = by_column
    return alike


def by_words(
    columns: Sequence[csr_array], i: np.ndarray, j: np.ndarray, threshold: float
) -> np.ndarray:
    """Return whether pairs of combinations have similar token sets in every column."""
    alike = np.ones(i.size, dtype=np.bool_)
    for column in columns:
        sizes = np.diff(column.indptr)
        a, b = i[alike], j[alike]
        alike[alike] = _common(column, a, b) >= _min_common_tokens(sizes[a] + sizes[b], threshold)
    return alike


def by_letters(first: np.ndarray, second: np.ndarray, threshold: float) -> np.ndarray:
    """Return whether pairs of texts differ in a few letters, False if one text is None."""
    alike: np.ndarray = pd.notna(first) & pd.notna(second)
    alike[alike] = _differ_in_few(cpdist, first[alike], second[alike], threshold)
    return alike


def _differ_in_few(
    compare: Any, first: np.ndarray, second: np.ndarray, threshold: float
) -> np.ndarray:
    """Return which texts differ in a few letters: all pairs with `cdist`, or rows with `cpdist`."""
    most = 1.0 - threshold + _NOISE
    # rapidfuzz rounds near its cutoff, so that pairs exactly at the threshold would be lost
    cut = {"score_cutoff": min(most + 0.01, 1.0), "dtype": np.float64}
    few: np.ndarray = compare(first, second, scorer=Levenshtein.normalized_distance, **cut) <= most
    return few


def edits(longest: np.ndarray, threshold: float) -> np.ndarray:
    """Return the maximum number of edits between similar texts, given the longer length."""
    return np.floor((1.0 - threshold) * longest + _NOISE).astype(np.int64)


def _min_common_tokens(sizes: np.ndarray, threshold: float) -> np.ndarray:
    """Return the minimum number of common tokens, given the sum of the sizes of two sets."""
    return sizes * (threshold / (1.0 + threshold)) - _NOISE


def _common(sets: csr_array, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the number of common tokens of pairs of rows."""
    if not sets.has_sorted_indices:
        sets.sort_indices()
    from skeval.neighbors.text_kernels import common_tokens

    return common_tokens(sets.indptr, sets.indices, i, j)
