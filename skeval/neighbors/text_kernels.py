"""The compiled loops over texts: edits between them, words and runs of words in common."""

from __future__ import annotations

import heapq

import numpy as np

from skeval.neighbors.machine_code import jit, jit_inline, jit_without_refcounts

_STEPS_A_WORD = 64  # of the search for texts with long runs; many texts that repeat need more
_SHORT = np.uint32  # a word of bits, each of which stands for a character
MAX_MARKS = 32  # of a cell that is compared by itself: bits of a short word
_MAX_KEPT = 64  # characters that texts begin with after which a column of edits is kept


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
    """Return for each query the longest run that it shares with any reference; 0 for others.

    Texts that are both are left to the caller.
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
    """Return the suffixes of references in order, and where all others stand between them."""
    n, n_references = order.size, 0
    for i in range(n):
        n_references += is_reference[text_of[order[i]]]
    reference = np.empty(n_references, dtype=np.int64)  # suffixes of references alone, in order
    between = np.zeros(n_references + 1, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)  # of a suffix: how many of references come before it
    before = np.empty(n, dtype=np.int32)  # the run that it shares with the last of these
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
    """Return for the chosen texts how many edits lead to the nearest of the others."""
    # The chosen texts, which should be of about the same length, are compared with a
    # character at a time, all by the same instructions, which processors carry out for
    # several of them at once. The other texts are in alphabetical order: a beginning that one
    # shares with the one before it is not read again.
    #
    # Source: H. Hyyro, "A bit-vector algorithm for computing Levenshtein and Damerau edit
    # distances", Nordic Journal of Computing 10 (2003) 29-39.
    longest = int((starts[chosen + 1] - starts[chosen]).max(initial=1))
    word = _SHORT if longest <= MAX_MARKS else np.uint64  # twice as many short ones at once
    n_words = -(-longest // (8 * word().itemsize))
    equal = np.zeros((n_signs + 1, n_words, chosen.size), dtype=word)
    present = np.zeros((n_words, chosen.size), dtype=word)
    n_kept = _MAX_KEPT if n_words == 1 else 0
    # how many edits more and less than the row above, after each of the first characters
    more, less = np.zeros((2, n_kept + n_words, chosen.size), dtype=word)
    risen, fallen = np.empty((2, chosen.size), dtype=word)
    edits, least = np.empty(chosen.size, np.uint64), np.full(chosen.size, 2**64 - 1, np.uint64)
    _count_edits(
        equal, present, signs, starts, others, ends, chosen, n_kept, more, less, risen, fallen,
        edits, least,
    )  # fmt: skip
    return least


@jit_without_refcounts
def _count_edits(
    equal: np.ndarray, present: np.ndarray, signs: np.ndarray, starts: np.ndarray,
    others: np.ndarray, ends: np.ndarray, chosen: np.ndarray, n_kept: int, more: np.ndarray,
    less: np.ndarray, risen: np.ndarray, fallen: np.ndarray, edits: np.ndarray, least: np.ndarray,
) -> None:  # fmt: skip
    _mark_bits(equal, present, signs, starts, chosen)
    n_words = len(present)
    for word in range(n_words):
        for i in range(chosen.size):
            more[word, i] = present[word, i]
    before = first = 0
    for end in ends:
        known, most = 0, min(first - before, end - first, n_kept - 1)
        while known < most and others[before + known] == others[first + known]:
            known += 1
        if n_words == 1:
            for at in range(known, end - first):
                now, then = min(at, n_kept), min(at + 1, n_kept)
                same = equal[others[first + at], 0]
                _to_next(same, more[now], less[now], more[then], less[then])
        else:
            for word in range(n_words):
                for i in range(chosen.size):
                    more[word, i], less[word, i] = present[word, i], 0
            for at in range(first, end):
                for i in range(chosen.size):
                    risen[i], fallen[i] = 1, 0
                for word in range(n_words):
                    _word_to_next(equal[others[at], word], more[word], less[word], risen, fallen)
        last = min(end - first, n_kept)
        for i in range(chosen.size):
            edits[i] = end - first
        for word in range(last, last + n_words):
            _add_rise(more[word], less[word], edits)
        for i in range(chosen.size):
            least[i] = min(least[i], edits[i])
        before, first = first, end


@jit_inline
def _mark_bits(
    equal: np.ndarray, present: np.ndarray, signs: np.ndarray, starts: np.ndarray,
    chosen: np.ndarray,
) -> None:  # fmt: skip
    """Mark where the chosen texts have each character, and where they have any.

    They end at the last bit. Bits before the start of a short one hand on what comes in.
    """
    bits, word = 8 * equal.itemsize, equal.dtype.type
    for i in range(chosen.size):
        end = starts[chosen[i] + 1]
        for at in range(starts[chosen[i]], end):
            place = bits * len(present) - (end - at)
            bit = word(1) << word(place % bits)
            equal[signs[at], place // bits, i] |= bit
            present[place // bits, i] |= bit


@jit_inline
def _to_next(
    equal: np.ndarray, above: np.ndarray, below: np.ndarray, more: np.ndarray, less: np.ndarray
) -> None:
    """Go on by a character, in texts of one word: from one column of edits to the next."""
    # numba computes in 64 bits unless it is told after each step not to, at half the speed
    word = equal.dtype.type
    one = word(1)
    for i in range(equal.size):
        plus, minus, same = above[i], below[i], equal[i]
        vertical = word(same | minus)
        horizontal = word(word(word(word(same & plus) + plus) ^ plus) | same)
        up = word(minus | word(~word(horizontal | plus)))
        down = word(plus & horizontal)
        shifted = word(word(up << one) | one)
        more[i] = word(word(down << one) | word(~word(vertical | shifted)))
        less[i] = word(shifted & vertical)


@jit_inline
def _word_to_next(
    equal: np.ndarray, more: np.ndarray, less: np.ndarray, risen: np.ndarray, fallen: np.ndarray
) -> None:
    """Go on by a character in one word of longer texts, from and to the words next to it."""
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
def _add_rise(more: np.ndarray, less: np.ndarray, edits: np.ndarray) -> None:
    """Add how much a column of edits rises from its top to its end."""
    for i in range(edits.size):
        edits[i] += _n_bits(np.uint64(more[i])) - _n_bits(np.uint64(less[i]))


@jit_inline
def _n_bits(word: np.uint64) -> np.uint64:
    """Count the bits that are set; compilers know this sum for the instruction that it is."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    ones = np.uint64(0x3333333333333333)
    fours = (pairs & ones) + ((pairs >> np.uint64(2)) & ones)
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (eights * np.uint64(0x0101010101010101)) >> np.uint64(56)


def fewest_edits_of_cells(
    marks: np.ndarray,
    lengths: np.ndarray,
    codes: np.ndarray,
    others: np.ndarray,
    their_lengths: np.ndarray,
    their_codes: np.ndarray,
    n_marks: int,
    chosen: np.ndarray,
) -> np.ndarray:
    """Return for the chosen rows how many edits lead to the nearest of the others, cell by cell."""
    n_cells = lengths.shape[1]
    equal = np.zeros((n_cells, n_marks, chosen.size), dtype=_SHORT)
    present = np.zeros((n_cells, chosen.size), dtype=_SHORT)
    own, columns = codes[chosen].T.copy(), np.empty((2, chosen.size), dtype=_SHORT)
    edits, least = np.empty(chosen.size, np.uint64), np.full(chosen.size, 2**64 - 1, np.uint64)
    _compare_cells(
        equal, present, marks, lengths, chosen, own, others, their_lengths, their_codes, columns,
        edits, least,
    )  # fmt: skip
    return least


@jit_without_refcounts
def _compare_cells(
    equal: np.ndarray, present: np.ndarray, marks: np.ndarray, lengths: np.ndarray,
    chosen: np.ndarray, own: np.ndarray, others: np.ndarray, their_lengths: np.ndarray,
    their_codes: np.ndarray, columns: np.ndarray, edits: np.ndarray, least: np.ndarray,
) -> None:  # fmt: skip
    _mark_short_bits(equal, present, marks, lengths, chosen)
    more, less = columns[0], columns[1]
    for other in range(len(others)):
        n_signs = 0
        for j in range(len(present)):
            n_signs += their_lengths[other, j]
        for i in range(edits.size):
            edits[i] = n_signs
        for j in range(len(own)):
            for i in range(edits.size):
                edits[i] += np.uint64(own[j, i] != their_codes[other, j])
        for j in range(len(present)):
            for i in range(edits.size):
                more[i], less[i] = present[j, i], 0
            for at in range(their_lengths[other, j]):
                _to_next(equal[j, others[other, j, at]], more, less, more, less)
            _add_rise(more, less, edits)
        for i in range(edits.size):
            least[i] = min(least[i], edits[i])


@jit_inline
def _mark_short_bits(
    equal: np.ndarray, present: np.ndarray, marks: np.ndarray, lengths: np.ndarray,
    chosen: np.ndarray,
) -> None:  # fmt: skip
    """Mark where the cells of the chosen rows have each character, and any, up to the last bit."""
    for i in range(chosen.size):
        for j in range(lengths.shape[1]):
            length = lengths[chosen[i], j]
            for at in range(length):
                bit = _SHORT(1) << _SHORT(MAX_MARKS - length + at)
                equal[j, marks[chosen[i], j, at], i] |= bit
                present[j, i] |= bit
