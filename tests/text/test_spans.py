"""Suffixes in order, and the longest runs of words: against looking at every pair."""

from __future__ import annotations

import numpy as np
import pytest

from skeval.neighbors.text_kernels import common_runs, longest_runs, texts_by_run
from skeval.text.spans import gram_hashes, prefix_lists, suffix_order


class Texts:
    """A few short texts of few words, so that they have much in common."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, 12, rng.integers(1, 8))
        self.n = lengths.size
        self.starts = np.concatenate([[0], np.cumsum(lengths)])
        self.ids = rng.integers(0, 3, self.starts[-1]).astype(np.int32)
        self.text_of = np.repeat(np.arange(self.n), lengths)
        self.ends = self.starts[1:][self.text_of]
        self.queries, self.references = rng.random((2, self.n)) < 0.6
        self.order = suffix_order(self.ids, self.ends)
        self.shared = common_runs(self.ids, self.ends, self.order)

    def words(self, text):
        return self.ids[self.starts[text] : self.starts[text + 1]].tolist()

    def longest(self, first, second):
        a, b = self.words(first), self.words(second)
        runs = {tuple(a[i:j]) for i in range(len(a)) for j in range(i + 1, len(a) + 1)}
        others = {tuple(b[i:j]) for i in range(len(b)) for j in range(i + 1, len(b) + 1)}
        return max(map(len, runs & others), default=0)


@pytest.fixture(scope="module")
def samples():
    return [Texts(seed) for seed in range(40)]


@pytest.mark.slow
def test_suffixes_are_in_order(samples):
    for texts in samples:
        suffixes = [texts.ids[i : texts.ends[i]].tolist() for i in range(texts.ids.size)]
        assert texts.order.tolist() == sorted(range(len(suffixes)), key=lambda i: (suffixes[i], i))


def test_what_neighbours_share(samples):
    for texts in samples:
        suffixes = [texts.ids[i : texts.ends[i]].tolist() for i in texts.order]
        for before, after, shared in zip(suffixes, suffixes[1:], texts.shared[1:], strict=False):
            n = sum(
                all(x == y for x, y in zip(before[:k], after[:k], strict=False))
                and min(len(before), len(after)) >= k
                for k in range(1, 12)
            )
            assert shared == n


@pytest.mark.slow
def test_longest_run_with_any_reference(samples):
    for texts in samples:
        longest = longest_runs(
            texts.order, texts.shared, texts.text_of, texts.queries, texts.references
        )
        for query in np.flatnonzero(texts.queries & ~texts.references):
            expected = [texts.longest(query, text) for text in np.flatnonzero(texts.references)]
            assert longest[query] == max(expected, default=0)


@pytest.mark.slow
def test_texts_with_the_longest_runs(samples):
    for texts in samples:
        queries = np.flatnonzero(texts.queries)
        listed, runs = texts_by_run(
            texts.order,
            texts.shared,
            texts.text_of,
            texts.ends,
            queries,
            texts.starts,
            texts.references,
            3,
        )
        for query, own_texts, own_runs in zip(queries, listed, runs, strict=True):
            expected = sorted(
                (texts.longest(query, text) for text in np.flatnonzero(texts.references)),
                reverse=True,
            )
            assert [r for r in own_runs if r] == [r for r in expected if r][:3]
            assert all(
                texts.longest(query, t) == r for t, r in zip(own_texts, own_runs, strict=True) if r
            )


def test_weights_of_lists_add_up_to_the_longest_run():
    listed = np.array([[4, 2, 7, 1], [3, 5, -1, -1]])
    runs = np.array([[9, 9, 5, 2], [6, 1, 0, 0]])
    lists = prefix_lists(listed, runs)
    members = [
        set(lists.values[a:b].tolist())
        for a, b in zip(lists.starts, lists.starts[1:], strict=False)
    ]
    total = sum(w for own, w in zip(members, lists.weights, strict=True) if own & {7, 5})
    assert total == (5 - 2) + 1  # beyond a full list others may have runs of 2


def test_grams_stay_within_texts():
    hashes = np.array([1, 2, 3, 1, 2, 9], dtype=np.uint64)
    starts = np.array([0, 3, 3, 5, 6])
    grams, texts = gram_hashes(hashes, starts, 2)
    assert texts.tolist() == [0, 0, 2, 3]
    assert grams[0] == grams[2]
    assert np.unique(grams).size == 3
    assert gram_hashes(hashes, starts, 2, whole=False)[1].tolist() == [0, 0, 2]
