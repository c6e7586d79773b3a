"""Compiled loops over texts, for the edits between them and the words that they share."""

from __future__ import annotations

import heapq

import numpy as np

from skeval.neighbors.machine_code import jit, jit_inline, jit_without_refcounts

_STEPS_A_WORD = 64  # for each word in the search for long runs. Texts that repeat words need more
_WORD = 64  # bits, one for each character


@jit
def common_runs(ids: np.ndarray, ends: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return how many words each suffix shares with the one before it in order."""
    n = order.size
    place = np.empty(n, dtype=np.int64)
    for i in range(n):
        place[order[i]] = i
    shared = np.zeros(n, dtype=np.int32)
    run = 0
    for start in range(n):
        if start > 0 and ends[start] != ends[start - 1]:
            run = 0
        if place[start] > 0:
            other = order[place[start] - 1]
            most = min(ends[start] - start, ends[other] - other)
            while run < most and ids[start + run] == ids[other + run]:
                run += 1
            shared[place[start]] = run
        else:
            run = 0
        run = max(run - 1, 0)
    return shared


@jit
def longest_runs(
    order: np.ndarray,
    shared: np.ndarray,
    text_of: np.ndarray,
    is_query: np.ndarray,
    is_reference: np.ndarray,
) -> np.ndarray:
    """Return for each query the longest run that it shares with any reference, or 0 for others.

    The caller processes texts that are a query and a reference.
    """
    longest = np.zeros(is_query.size, dtype=np.int64)
    n = order.size
    run = 0
    for i in range(n):  # the nearest reference before
        run = min(run, shared[i])
        text = text_of[order[i]]
        if is_query[text]:
            longest[text] = max(longest[text], run)
        if is_reference[text]:
            run = 2**31 - 1
    run = 0
    for i in range(n - 1, -1, -1):  # and after
        text = text_of[order[i]]
        if is_query[text]:
            longest[text] = max(longest[text], run)
        if is_reference[text]:
            run = 2**31 - 1
        run = min(run, shared[i])
    return longest


@jit
def _nearest_references(
    order: np.ndarray,
    shared: np.ndarray,
    text_of: np.ndarray,
    ends: np.ndarray,
    is_reference: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the suffixes of references in order, and the places of all others between them."""
    n, n_references = order.size, 0
    for i in range(n):
        n_references += is_reference[text_of[order[i]]]
    reference = np.empty(n_references, dtype=np.int64)  # suffixes of references alone, in order
    between = np.zeros(n_references + 1, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)  # number of suffixes of references before a suffix
    before = np.empty(n, dtype=np.int32)  # length of the run that it shares with the last of these
    after = np.empty(n, dtype=np.int32)
    m, run = 0, 0
    for i in range(n):
        run = min(run, shared[i])
        at = order[i]
        place[at], before[at] = m, run
        if is_reference[text_of[at]]:
            reference[m], between[m] = at, run
            m, run = m + 1, 2**31 - 1
    run = 0
    for i in range(n - 1, -1, -1):
        at = order[i]
        after[at] = run
        if is_reference[text_of[at]]:
            after[at] = ends[at] - at  # it finds itself
            run = 2**31 - 1
        run = min(run, shared[i])
    return reference, between, place, before, after


@jit
def texts_by_run(
    order: np.ndarray,
    shared: np.ndarray,
    text_of: np.ndarray,
    ends: np.ndarray,
    queries: np.ndarray,
    starts: np.ndarray,
    is_reference: np.ndarray,
    n_kept: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each query the references with the longest runs, and how long these are."""
    reference, between, place, before, after = _nearest_references(
        order, shared, text_of, ends, is_reference
    )
    kept = np.full((queries.size, n_kept), -1, dtype=np.int64)
    runs = np.zeros((queries.size, n_kept), dtype=np.int64)
    for q in range(queries.size):
        first, last = starts[queries[q]], starts[queries[q] + 1]
        ahead = [(0, 0, 0, 0)]
        ahead.clear()
        for at in range(first, last):
            if before[at] > 0:
                i = place[at] - 1
                ahead.append((-int(before[at]), int(text_of[reference[i]]), int(i), -1))
            if after[at] > 0:
                i = place[at]
                ahead.append((-int(after[at]), int(text_of[reference[i]]), int(i), 1))
        heapq.heapify(ahead)
        count, steps = 0, _STEPS_A_WORD * (last - first + n_kept)
        while len(ahead) > 0 and count < n_kept and steps > 0:
            steps -= 1
            minus, text, i, way = heapq.heappop(ahead)
            known = False
            for j in range(count):
                known = known or kept[q, j] == text
            if not known:
                kept[q, count], runs[q, count] = text, -minus
                count += 1
            further = i + way
            if 0 <= further < reference.size:
                least = min(-minus, int(between[i] if way < 0 else between[further]))
                if least > 0:
                    beside = int(text_of[reference[further]])
                    heapq.heappush(ahead, (-least, beside, further, way))
    return kept, runs


@jit
def largest_products(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray,
    columns: np.ndarray,
    rows: np.ndarray,
    values: np.ndarray,
    n_rows: int,
    own: np.ndarray,
    n_kept: int,
) -> np.ndarray:
    """Return the largest scalar products of each query with the rows of a sparse matrix."""
    largest = np.full((indptr.size - 1, n_kept), -1.0)
    sums = np.zeros(n_rows)
    for q in range(indptr.size - 1):
        sums[:] = 0.0
        for i in range(indptr[q], indptr[q + 1]):
            weight = data[i]
            for j in range(columns[indices[i]], columns[indices[i] + 1]):
                sums[rows[j]] += weight * values[j]
        if own[q] >= 0:
            sums[own[q]] = -1.0
        kept = largest[q]
        for row in range(n_rows):
            if sums[row] > kept[n_kept - 1]:
                place = n_kept - 1
                while place > 0 and kept[place - 1] < sums[row]:
                    kept[place] = kept[place - 1]
                    place -= 1
                kept[place] = sums[row]
    return largest


@jit
def common_tokens(
    indptr: np.ndarray, indices: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return how many columns two rows of a sparse matrix have in common, pair by pair."""
    common = np.zeros(first.size, dtype=np.int64)
    for pair in range(first.size):
        i, i_end = indptr[first[pair]], indptr[first[pair] + 1]
        j, j_end = indptr[second[pair]], indptr[second[pair] + 1]
        while i < i_end and j < j_end:
            difference = indices[i] - indices[j]
            common[pair] += difference == 0
            i += difference <= 0
            j += difference >= 0
    return common


def fewest_edits(
    signs: np.ndarray,
    starts: np.ndarray,
    n_signs: int,
    others: np.ndarray,
    ends: np.ndarray,
    chosen: np.ndarray,
) -> np.ndarray:
    """Return the number of edits between each chosen text and the nearest of the others."""
    # The chosen texts should have about the same length. They are compared one character at a time,
    # with the same instructions for all texts, so that a processor handles several texts at once.
    # For texts of more than 64 characters, rapidfuzz compares one character at a time and needs
    # about ten times as long.
    #
    # Source: H. Hyyro, "A bit-vector algorithm for computing Levenshtein and Damerau edit
    # distances", Nordic Journal of Computing 10 (2003) 29-39.
    longest = int((starts[chosen + 1] - starts[chosen]).max(initial=1))
    n_words = -(-longest // _WORD)
    equal = np.zeros((n_signs + 1, n_words, chosen.size), dtype=np.uint64)
    present = np.zeros((n_words, chosen.size), dtype=np.uint64)
    # how many edits more and less than the row above
    more, less = np.empty((2, n_words, chosen.size), dtype=np.uint64)
    risen, fallen, edits = np.empty((3, chosen.size), dtype=np.uint64)
    least = np.full(chosen.size, 2**64 - 1, dtype=np.uint64)
    _count_edits(
        equal, present, signs, starts, others, ends, chosen, more, less, risen, fallen, edits, least
    )
    return least


@jit_without_refcounts
def _count_edits(
    equal: np.ndarray, present: np.ndarray, signs: np.ndarray, starts: np.ndarray,
    others: np.ndarray, ends: np.ndarray, chosen: np.ndarray, more: np.ndarray, less: np.ndarray,
    risen: np.ndarray, fallen: np.ndarray, edits: np.ndarray, least: np.ndarray,
) -> None:  # fmt: skip
    _mark_bits(equal, present, signs, starts, chosen)
    first = 0
    for end in ends:
        for word in range(len(present)):
            for i in range(chosen.size):
                more[word, i], less[word, i] = present[word, i], 0
        for at in range(first, end):
            for i in range(chosen.size):
                risen[i], fallen[i] = 1, 0
            for word in range(len(present)):
                _to_next(equal[others[at], word], more[word], less[word], risen, fallen)
        for i in range(chosen.size):
            edits[i] = end - first
        for word in range(len(present)):
            for i in range(chosen.size):
                edits[i] += _n_bits(more[word, i]) - _n_bits(less[word, i])
        for i in range(chosen.size):
            least[i] = min(least[i], edits[i])
        first = end


@jit_inline
def _mark_bits(
    equal: np.ndarray, present: np.ndarray, signs: np.ndarray, starts: np.ndarray,
    chosen: np.ndarray,
) -> None:  # fmt: skip
    """Mark the positions of each character in the chosen texts, and of any character.

    The texts end at the last bit. Bits before the start of a short text pass on the carry.
    """
    for i in range(chosen.size):
        end = starts[chosen[i] + 1]
        for at in range(starts[chosen[i]], end):
            place = _WORD * len(present) - (end - at)
            bit = np.uint64(1) << np.uint64(place % _WORD)
            equal[signs[at], place // _WORD, i] |= bit
            present[place // _WORD, i] |= bit


@jit_inline
def _to_next(
    equal: np.ndarray, more: np.ndarray, less: np.ndarray, risen: np.ndarray, fallen: np.ndarray
) -> None:
    """Go on by a character in one word of the texts, from and to the words next to it."""
    one, last = np.uint64(1), np.uint64(63)
    for i in range(equal.size):
        above, below, same = more[i], less[i], equal[i]
        vertical = same | below
        same |= fallen[i]
        horizontal = (((same & above) + above) ^ above) | same
        up, down = below | ~(horizontal | above), above & horizontal
        shifted = (up << one) | risen[i]
        more[i] = ((down << one) | fallen[i]) | ~(vertical | shifted)
        less[i] = shifted & vertical
        risen[i], fallen[i] = up >> last, down >> last


@jit_inline
def _n_bits(word: np.uint64) -> np.uint64:
    """Count the bits that are set. Compilers translate this sum into a single instruction."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    ones = np.uint64(0x3333333333333333)
    fours = (pairs & ones) + ((pairs >> np.uint64(2)) & ones)
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (eights * np.uint64(0x0101010101010101)) >> np.uint64(56)
