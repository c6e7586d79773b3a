"""Common sequences of words of texts, found with sorted suffixes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.stats.matches import MatchLists
from skeval.text.corpus import corpus, words

_ODD, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)  # constants of a hash of hashes
N_LISTED = 16  # texts with the longest sequences, rarely all with the same label


@dataclass(frozen=True)
class Suffixes:
    """The suffixes of all texts, each up to the end of its text, in order."""

    order: np.ndarray
    shared: np.ndarray
    text_of: np.ndarray
    ends: np.ndarray


@shared
def suffixes(context: Context, columns: tuple[str, ...], group: str | None = None) -> Suffixes:
    """Return the suffixes of the distinct texts of all tables in order."""
    of_texts = words(context, columns, group)
    text_of = np.repeat(np.arange(of_texts.lengths.size), of_texts.lengths)
    # numbers of half the size, because there are as many suffixes as words
    ends = of_texts.starts[1:].astype(np.int32)[text_of]
    order = suffix_order(of_texts.ids, ends)
    from skeval.neighbors.text_kernels import common_runs

    return Suffixes(order, common_runs(of_texts.ids, ends, order), text_of, ends)


def suffix_order(ids: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the order of all suffixes up to the end of their text. Ties keep their order."""
    # Ranks by the first k words give ranks by the first 2 k words for suffixes that are still tied
    # [1]_. In ordinary texts, few ties are left after eight words.
    #
    # Source: .. [1] N. J. Larsson, K. Sadakane, "Faster suffix sorting", Theoretical Computer
    # Science 387 (2007) 258-272, doi:10.1016/j.tcs.2007.07.017.
    order = np.argsort(ids, kind="stable").astype(np.int32)
    ranks = np.empty(ids.size, dtype=np.int32)  # 1 + how many suffixes come before all equal ones
    heads = np.flatnonzero(np.diff(ids[order], prepend=-1))
    ranks[order] = np.repeat(heads + 1, np.diff(heads, append=ids.size))
    places = np.arange(ids.size, dtype=np.int32)  # positions in the order that are still tied
    step = 1
    while places.size:
        group = ranks[order[places]]
        alone = np.diff(group, prepend=-1) != 0
        alone &= np.append(alone[1:], True)
        places = places[~alone]
        here, group = order[places], group[~alone]
        further = here + step
        ongoing = further < ends[here]
        second = np.zeros(here.size, dtype=np.int32)
        second[ongoing] = ranks[further[ongoing]]
        by = np.argsort(group * np.int64(ids.size + 1) + second, kind="stable")
        here, group, second = here[by], group[by], second[by]
        order[places] = here
        new = (np.diff(group, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 0)
        heads = np.flatnonzero(new)
        ranks[here] = np.repeat(places[heads] + 1, np.diff(heads, append=here.size))
        # suffixes that have ended with a tie stay in their order
        places, step = places[second > 0], 2 * step
    return order


@shared
def longest_shared_runs(
    context: Context, role: str, columns: tuple[str, ...], group: str | None = None
) -> np.ndarray:
    """Return the longest run that each distinct synthetic text shares with a text of a role."""
    texts, of_texts = corpus(context, columns, group), words(context, columns, group)
    ordered = suffixes(context, columns, group)
    held = texts.held["synthetic"], texts.held[role]
    from skeval.neighbors.text_kernels import longest_runs

    longest = longest_runs(ordered.order, ordered.shared, ordered.text_of, *held)
    both = held[0] & held[1]
    longest[both] = of_texts.lengths[both]
    return longest[held[0]]


def run_lists(
    context: Context, columns: tuple[str, ...], group: str | None, max_words: int
) -> MatchLists:
    """Return lists of texts whose weights add up to the longest run with any text of a label."""
    # If the longest common sequences of a synthetic text have 9, 7 and 4 words, the first text has
    # weight 2, the first two texts have weight 3, and all texts have weight 4. The weights of lists
    # with a training text then add up to the longest sequence shared with the training data. Only
    # the 16 texts with the longest sequences are used, because a sequence that all texts share does
    # not change a difference. Longer sequences count as `max_words`.
    texts, of_texts = corpus(context, columns, group), words(context, columns, group)
    ordered = suffixes(context, columns, group)
    queries = np.flatnonzero(texts.held["synthetic"])
    is_real = np.zeros(texts.texts.size, dtype=np.bool_)
    is_real[texts.numbers("train", "holdout")] = True
    from skeval.neighbors.text_kernels import texts_by_run

    listed, runs = texts_by_run(
        ordered.order,
        ordered.shared,
        ordered.text_of,
        ordered.ends,
        queries,
        of_texts.starts,
        is_real,
        N_LISTED,
    )
    return prefix_lists(listed, np.minimum(runs, max_words))


def prefix_lists(listed: np.ndarray, runs: np.ndarray) -> MatchLists:
    """Return the lists of the first values of each row, weighted by how far the runs drop."""
    # after a full row, there may be texts with sequences of the same length
    after = np.where(listed[:, -1] >= 0, runs[:, -1], 0)
    drops = runs - np.column_stack([runs[:, 1:], after])
    rows, ends = np.nonzero(drops > 0)
    lengths = ends + 1
    starts = np.concatenate([[0], np.cumsum(lengths)])
    owners = np.repeat(np.arange(rows.size), lengths)
    values = listed[rows[owners], np.arange(owners.size) - starts[owners]]
    return MatchLists.of_pairs(owners, values, drops[rows, ends], len(listed))


@shared
def gram_numbers(
    context: Context, n: int, columns: tuple[str, ...], group: str | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the text and the number of each n-gram of the distinct texts."""
    # A text with fewer words has one n-gram with all its words. N-grams are numbered among the
    # n-grams of synthetic texts, and other n-grams are ignored.
    texts, of_texts = corpus(context, columns, group), words(context, columns, group)
    hashed, text_of = gram_hashes(of_texts.keys[of_texts.ids], of_texts.starts, n)
    mine = texts.held["synthetic"][text_of]
    known = pd.Index(pd.unique(hashed[mine]))
    number = known.get_indexer(hashed)
    kept = number >= 0
    pairs = np.unique(text_of[kept] * max(len(known), 1) + number[kept])
    return pairs // max(len(known), 1), pairs % max(len(known), 1)


def gram_hashes(
    hashes: np.ndarray, starts: np.ndarray, n: int, *, whole: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return 64 bits for each run of n words, and its text."""
    lengths = np.diff(starts)
    n_grams = np.maximum(lengths - n + 1, np.minimum(lengths, 1) if whole else 0)
    texts = np.repeat(np.arange(lengths.size), n_grams)
    first = np.arange(texts.size) - np.repeat(np.cumsum(n_grams) - n_grams, n_grams)
    first += starts[texts]
    sums = np.zeros(texts.size, dtype=np.uint64)
    for i in range(min(n, int(lengths.max(initial=0)))):
        inside = first + i < starts[texts + 1]
        added = (sums ^ (sums >> _SHIFT)) * _ODD + hashes[np.where(inside, first + i, 0)]
        sums = np.where(inside, added, sums)
    return sums, texts
