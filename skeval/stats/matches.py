"""Fractions of rows that match rows of another table, and permutation tests of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.stats import hypergeom

from skeval.stats.joint_classes import joint_classes
from skeval.stats.permutation_tests import (
    Relabelled,
    block_sizes,
    least_p_value_of_lists,
    sequential_test,
    share_p_value,
    sides_test,
)

_WHOLE = 2.0**53  # every larger float is an integer
_TENS = np.array([float(f"1e{i}") for i in range(309)])
_BLOCK = 2**21  # maximum number of counts in memory
_DRAWS_A_ROW = 16  # drawing a count costs about as much as shuffling this number of rows
_ALL = np.iinfo(np.uint64).max  # every bit of a word
_WORD = 64  # relabelings per word, one bit each
_AT_ONCE = 16 * _WORD  # relabelings between two checks whether to stop
_LISTS_AT_ONCE = 2**15  # lists whose bits are expanded in one step
_SHORTEST, _MAX_LENGTH = 16, 128


def digits_kept(values: np.ndarray, *, digits: int = 12, decimals: int | None = None) -> np.ndarray:
    """Return rounded numbers, such that numbers that differ by rounding errors are equal."""
    numbers = np.asarray(values, dtype=np.float64)
    if decimals is not None:
        tiny = np.abs(numbers) < _WHOLE / 10.0 ** max(decimals, 0)
        return np.where(tiny, np.round(np.where(tiny, numbers, 0.0), decimals), numbers) + 0.0
    rough = np.isfinite(numbers) & (numbers != np.rint(numbers))
    rough |= np.isfinite(numbers) & (np.abs(numbers) >= 10.0**digits)
    kept = numbers + 0.0
    kept[rough] = _significant(numbers[rough], digits)
    return kept


def _significant(numbers: np.ndarray, digits: int) -> np.ndarray:
    """Round finite numbers other than 0, such that only the decimal number matters."""
    exponents = np.floor(np.log10(np.abs(numbers))).astype(np.int64)
    leading = np.rint(_shift_decimal_point(numbers, digits - 1 - exponents)).astype(np.int64)
    # 9.99...9 rounds to one digit more, and log10 is off by one next to a power of ten
    for _ in range(2):
        over = np.abs(leading) >= 10**digits
        leading[over] = np.rint(leading[over] / 10.0).astype(np.int64)
        exponents[over] += 1
    return _shift_decimal_point(leading.astype(np.float64), exponents - digits + 1)


def _shift_decimal_point(numbers: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Move the decimal point in two steps, because 10^320 and 10^-320 are not floats."""
    half = places // 2
    for part in (half, places - half):
        # powers of ten from 1 are exact floats, and 0.1 is not
        numbers = numbers * _TENS[np.maximum(part, 0)] / _TENS[np.maximum(-part, 0)]
    return numbers


def matches(counts: np.ndarray, others: np.ndarray, count: str = "rows") -> tuple[int, int]:
    """Return how many rows of a table match rows of another table, and the number of rows."""
    if count == "unique":
        counts = np.minimum(counts, 1)
    matched = np.minimum(counts, others) if count == "multiset" else counts[others > 0]
    return int(matched.sum()), int(counts.sum())


def match_contrast(
    synthetic: np.ndarray,
    train: np.ndarray,
    holdout: np.ndarray,
    count: str = "rows",
    *,
    n_permutations: int,
    seed: int,
) -> Relabelled:
    """Test the difference of the fractions that match the training and the holdout data."""
    # The test relabels the real rows. In a relabeling, k of the `c` pooled copies of a value are
    # training rows, with a multivariate hypergeometric distribution over the values of the
    # synthetic rows. A value with one copy counts as +1 or -1. Such values are drawn as one class,
    # so that the number of draws does not grow with the table. If there are only such values, the
    # p-value is exact and equals the p-value of Fisher's test.
    used = (synthetic > 0) & (train + holdout > 0)
    copies = (train + holdout)[used]
    if count == "multiset":
        unit, cap = np.full(copies.size, 1.0 / synthetic.sum()), synthetic[used]
    else:
        weights = np.minimum(synthetic, 1) if count == "unique" else synthetic
        unit, cap = weights[used] / weights.sum(), np.ones(copies.size, dtype=np.int64)
    observed = float(_differences(train[used], copies, cap) @ unit)
    n_train, n_real = int(train.sum()), int((train + holdout).sum())
    mean = mean_difference(copies, unit, n_train, n_real)
    on_train = mean_on_train(copies, unit, n_train, n_real)
    copies, cap, unit = _classes(copies, cap, unit)
    if copies.size == 1 and copies[0] <= cap[0]:
        return _one_class(observed, float(unit[0]), int(copies[0]), n_train, n_real)
    counts = np.append(copies, n_real - int(copies.sum()))
    rng = np.random.default_rng(seed)
    method: Literal["count", "marginals"] = "marginals"  # draws value after value
    if counts.size * _DRAWS_A_ROW > counts.sum():
        method = "count"  # shuffles all rows

    def sides(n: int) -> np.ndarray:
        drawn = rng.multivariate_hypergeometric(counts, n_train, size=n, method=method)[:, :-1]
        return np.column_stack([np.minimum(of, cap) @ unit for of in (drawn, copies - drawn)])

    width = min(_AT_ONCE, max(1, _BLOCK // counts.size))
    drawn = map(sides, block_sizes(n_permutations, width))
    test = sides_test(chain([np.array([[observed, 0.0]])], drawn))
    test = replace(
        test, least=least_p_value_of_lists(int(copies.sum()), n_train, n_real, n_permutations)
    )
    return test if count == "multiset" else replace(test, mean=mean, on_train=on_train)


def mean_difference(copies: np.ndarray, weights: np.ndarray, n_train: int, n_real: int) -> float:
    """Get the mean difference of the fractions only in training and only in holdout data."""
    by_copies, which = np.unique(copies, return_inverse=True)
    in_train = hypergeom.pmf(by_copies, n_real, by_copies, n_train)
    in_holdout = hypergeom.pmf(0, n_real, by_copies, n_train)
    totals = np.bincount(which, weights=weights, minlength=by_copies.size)
    return float(totals @ (in_train - in_holdout))


def mean_on_train(copies: np.ndarray, weights: np.ndarray, n_train: int, n_real: int) -> float:
    """Return the mean fraction of values in the training data over all relabelings.

    The parameters are those of :func:`mean_difference`.
    """
    by_copies, which = np.unique(copies, return_inverse=True)
    absent = hypergeom.pmf(0, n_real, by_copies, n_train)
    totals = np.bincount(which, weights=weights, minlength=by_copies.size)
    return float(totals @ (1.0 - absent))


def _one_class(observed: float, unit: float, n: int, n_train: int, n_real: int) -> Relabelled:
    """Return the exact test of the difference of copies in the training and the holdout data.

    The number of the n copies that are in the training data is hypergeometric.
    """
    in_train = round((observed / unit + n) / 2.0)
    p_value = share_p_value(in_train, n_train, n - in_train, n_real - n_train)
    share = n_train / n_real
    variance = n * share * (1.0 - share) * (n_real - n) / max(1, n_real - 1)
    mean, spread = unit * n * (2.0 * share - 1.0), 2.0 * unit * float(np.sqrt(variance))
    most = min(n, n_train)
    least = share_p_value(most, n_train, n - most, n_real - n_train)
    return Relabelled(observed, mean, spread, p_value, least, on_train=unit * n * share)


def _differences(train: np.ndarray, copies: np.ndarray, cap: np.ndarray) -> np.ndarray:
    return np.minimum(train, cap) - np.minimum(copies - train, cap)


def _classes(
    copies: np.ndarray, cap: np.ndarray, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pool values whose copies all count equally, and sort them to ignore the row order."""
    linear = copies <= cap
    units, which = np.unique(unit[linear], return_inverse=True)
    pooled = np.bincount(which, weights=copies[linear], minlength=units.size).astype(np.int64)
    order = np.lexsort((unit[~linear], cap[~linear], copies[~linear]))
    parts = zip((pooled, pooled, units), (copies, cap, unit), strict=True)
    joined = [np.concatenate([first, rest[~linear][order]]) for first, rest in parts]
    return joined[0], joined[1], joined[2]


@dataclass(frozen=True)
class MatchLists:
    """Lists of the distinct real rows that match a synthetic row, one list per matched row."""

    starts: np.ndarray
    values: np.ndarray
    weights: np.ndarray
    n_rows: int

    @classmethod
    def of_pairs(
        cls, lists: np.ndarray, values: np.ndarray, weights: np.ndarray, n_rows: int
    ) -> MatchLists:
        """Build lists of pairs (list, value) in any order, without empty lists."""
        order = np.lexsort((values, lists))
        lengths = np.bincount(lists, minlength=weights.size)
        starts = np.concatenate([[0], np.cumsum(lengths[lengths > 0])])
        return cls(starts, values[order], weights[lengths > 0], n_rows)

    @classmethod
    def of_matrix(cls, values: np.ndarray, weights: np.ndarray, n_rows: int) -> MatchLists:
        """Build lists of the rows of a matrix, in which -1 means no value."""
        lists, places = np.nonzero(values >= 0)
        return cls.of_pairs(lists, values[lists, places], weights, n_rows)

    def some(self, chosen: np.ndarray) -> MatchLists:
        """Return the lists that a mask selects."""
        lengths = np.diff(self.starts)
        starts = np.concatenate([[0], np.cumsum(lengths[chosen])])
        values = self.values[np.repeat(chosen, lengths)]
        return MatchLists(starts, values, self.weights[chosen], self.n_rows)


def longest_list(n_train: int, n_holdout: int) -> int:
    """Return the number of nearest real rows after which a list may be cut off."""
    # The probability that all rows of a list of this length have the same label is at most 1 in
    # 1,000, unless one table has more than 18 times the rows of the other. Therefore, a longer list
    # would not change the result.
    larger = max(n_train, n_holdout) / (n_train + n_holdout)
    enough = np.log(1e-3) / np.log(larger)
    return int(np.clip(np.ceil(enough), _SHORTEST, _MAX_LENGTH))


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct rows of a matrix, and the number of each row among them."""
    # The order depends only on the values. If a list of equally near rows is cut off, the table
    # and the position of a row must not matter. Missing values (nan) are equal.
    ranks = [pd.factorize(column, sort=True)[0] for column in rows.T]
    which = joint_classes(np.column_stack(ranks) if ranks else np.empty((len(rows), 0)))
    first = np.empty(int(which.max(initial=-1)) + 1, dtype=np.int64)
    first[which[::-1]] = np.arange(len(rows))[::-1]
    return rows[first], which


def list_contrast(
    lists: MatchLists, train: np.ndarray, holdout: np.ndarray, *, n_permutations: int, seed: int
) -> Relabelled:
    """Test the difference of the fractions with a training and a holdout match by rows."""
    # The test relabels rows. The number of training rows among the real rows in lists is
    # hypergeometric, and the training rows are then drawn among the rows in lists. Rows in no list
    # do not matter. The labels of a row under 64 relabelings are the bits of one word, so that
    # "has a training row" is one `or` over a list for all of the relabelings.
    #
    # Lists may be cut off if the removed rows do not depend on the labels. The test is exact for
    # the statistic of the lists that it receives.
    copies = train + holdout
    lonely = _lonely(lists, copies)
    heads, weights = lists.values[lists.starts[:-1]][lonely], lists.weights[lonely]
    alone = np.bincount(heads, weights=weights, minlength=copies.size).astype(np.int64)
    others = lists.some(~lonely)
    listed, others_values = np.unique(others.values, return_inverse=True)
    observed = int(((train - holdout) * alone).sum())
    if listed.size:
        in_train, in_holdout = (np.where(table[listed] > 0, 1, 0) for table in (train, holdout))
        observed += int(_statistics(others, others_values, in_train, in_holdout, 1)[0])
    # a row alone in its lists counts +1 or -1, so that only the number of training rows matters
    units, sizes = np.unique(alone[alone > 0], return_counts=True)
    n_listed = int(copies[listed].sum())
    classes = [*sizes, n_listed, int(copies.sum()) - int(sizes.sum()) - n_listed]
    n_train, n_real = int(train.sum()), int(copies.sum())
    if not listed.size and units.size == 1:
        share = 1.0 / lists.n_rows * float(units[0])
        return _one_class(observed / lists.n_rows, share, int(sizes[0]), n_train, n_real)
    rng = np.random.default_rng(seed)

    def values(n: int) -> np.ndarray:
        counts = rng.multivariate_hypergeometric(classes, n_train, n, "marginals")
        draws = (2 * counts[:, :-2] - sizes) @ units
        if listed.size:
            relabelled = _relabelled_sides(copies[listed], counts[:, -2], rng)
            parts = [_statistics(others, others_values, *sides, m) for m, sides in relabelled]
            draws = draws + np.concatenate(parts)
        return np.asarray(draws / lists.n_rows)

    test = sequential_test(
        observed / lists.n_rows, map(values, block_sizes(n_permutations, _AT_ONCE))
    )
    in_lists = np.add.reduceat(copies[lists.values], lists.starts[:-1])
    weighted = in_lists, lists.weights / lists.n_rows, n_train, n_real
    least = least_p_value_of_lists(int(sum(classes[:-1])), n_train, n_real, n_permutations)
    means = {"mean": mean_difference(*weighted), "on_train": mean_on_train(*weighted)}
    return replace(test, **means, least=least)


def held_contrast(
    lists: MatchLists, holders: csr_array, n_train: int, *, n_permutations: int, seed: int
) -> Relabelled:
    """Test the difference of the fractions with a training and a holdout match by units."""
    # The test relabels units. A list matches the training data if a training unit has one of the
    # values of the list. Values that no unit has are ignored. If each unit has at most one value,
    # the test equals list_contrast, which is exact if possible.
    lists = _held_lists(lists, np.diff(holders.indptr) > 0)
    n_units = holders.shape[1]
    is_train = np.arange(n_units) < n_train
    if not lists.weights.size or np.diff(holders.tocsc().indptr).max(initial=0) <= 1:
        sides = (is_train, ~is_train)
        train, holdout = (np.asarray(holders @ side.astype(np.int64)) for side in sides)
        return list_contrast(lists, train, holdout, n_permutations=n_permutations, seed=seed)
    listed, values = np.unique(lists.values, return_inverse=True)
    units, held = np.unique(holders[listed].indices, return_inverse=True)
    starts = holders[listed].indptr[:-1]

    def statistics_of_labels(train: np.ndarray, n: int) -> np.ndarray:
        in_train, in_holdout = (np.bitwise_or.reduceat(w[held], starts) for w in (train, ~train))
        return _statistics(lists, values, in_train, in_holdout, n) / lists.n_rows

    observed = float(
        statistics_of_labels(np.where(is_train[units], _ALL, 0).astype(np.uint64), 1)[0]
    )
    rng = np.random.default_rng(seed)

    def draws(n: int) -> np.ndarray:
        in_train = rng.hypergeometric(n_train, n_units - n_train, units.size, n)
        return np.concatenate(
            [statistics_of_labels(*side) for side in label_words(units.size, in_train, rng)]
        )

    test = sequential_test(observed, map(draws, block_sizes(n_permutations, _AT_ONCE)))
    of_lists = np.repeat(np.arange(lists.weights.size), np.diff(lists.starts))
    shape = lists.weights.size, listed.size
    in_lists = csr_array((np.ones(values.size), (of_lists, values)), shape=shape) @ holders[listed]
    n_each, weights = np.diff(in_lists.indptr), lists.weights / lists.n_rows
    return replace(
        test,
        least=least_p_value_of_lists(units.size, n_train, n_units, n_permutations),
        on_train=mean_on_train(n_each, weights, n_train, n_units),
    )


def _held_lists(lists: MatchLists, is_held: np.ndarray) -> MatchLists:
    """Return lists without values that no unit has, with equal lists of one value pooled."""
    owners = np.repeat(np.arange(lists.weights.size), np.diff(lists.starts))
    kept = is_held[lists.values]
    owners, values = owners[kept], lists.values[kept]
    alone = np.bincount(owners, minlength=lists.weights.size)[owners] == 1
    totals = np.bincount(values[alone], weights=lists.weights[owners[alone]])
    single = np.flatnonzero(totals)
    weights = np.concatenate([lists.weights, totals[single].astype(np.int64)])
    owners = np.concatenate([owners[~alone], lists.weights.size + np.arange(single.size)])
    return MatchLists.of_pairs(
        owners, np.concatenate([values[~alone], single]), weights, lists.n_rows
    )


def _lonely(lists: MatchLists, copies: np.ndarray) -> np.ndarray:
    """Return which lists contain one row whose value occurs once and in no longer list."""
    lengths = np.diff(lists.starts)
    heads = lists.values[lists.starts[:-1]]
    in_longer = np.zeros(copies.size, dtype=np.bool_)
    in_longer[lists.values[np.repeat(lengths > 1, lengths)]] = True
    lonely: np.ndarray = (lengths == 1) & (copies[heads] == 1) & ~in_longer[heads]
    return lonely


def _relabelled_sides(
    copies: np.ndarray, n_train: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[int, tuple[np.ndarray, np.ndarray]]]:
    """Yield whether values have a copy in the training and holdout data, as bits of words.

    For each relabeling, `n_train` is the number of copies in the training data.
    """
    starts = np.concatenate([[0], np.cumsum(copies)[:-1]])
    for words, n in label_words(int(copies.sum()), n_train, rng):
        yield n, (np.bitwise_or.reduceat(words, starts), np.bitwise_or.reduceat(~words, starts))


def label_words(
    n_rows: int, n_train: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, int]]:
    """Yield random labels of rows, as words of 64 relabelings, and the number of used bits."""
    for start in range(0, n_train.size, _WORD):
        labels = np.zeros((_WORD, n_rows), dtype=np.bool_)
        n = min(_WORD, n_train.size - start)
        for i in range(n):
            chosen = rng.choice(n_rows, n_train[start + i], replace=False, shuffle=False)
            labels[i, chosen] = True
        packed = np.packbits(labels, axis=0, bitorder="little")
        yield np.ascontiguousarray(packed.T).view(np.uint64).reshape(-1), n


def _statistics(
    lists: MatchLists, values: np.ndarray, in_train: np.ndarray, in_holdout: np.ndarray, n: int
) -> np.ndarray:
    """Return the statistic under each of the first `n` bits."""
    total = np.zeros(_WORD)
    for block, sign in signs(lists, values, in_train, in_holdout):
        total += lists.weights[block] @ sign
    return total[:n]


def signs(
    lists: MatchLists, values: np.ndarray, in_train: np.ndarray, in_holdout: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield lists with 1 per bit for training rows only, and -1 for holdout rows only."""
    train, holdout = (
        np.bitwise_or.reduceat(words.astype(np.uint64)[values], lists.starts[:-1])
        for words in (in_train, in_holdout)
    )
    for start in range(0, train.size, _LISTS_AT_ONCE):
        block = slice(start, start + _LISTS_AT_ONCE)
        only_train = _bits(train[block] & ~holdout[block])
        only_holdout = _bits(holdout[block] & ~train[block])
        yield block, only_train.astype(np.int8) - only_holdout


def _bits(words: np.ndarray) -> np.ndarray:
    bytes_ = words.view(np.uint8).reshape(-1, 8)
    return np.unpackbits(bytes_, axis=1, bitorder="little").view(np.int8)
