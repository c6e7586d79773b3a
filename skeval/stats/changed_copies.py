"""Rows of a release that equal a unique row of a real table except for a few cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import nbinom

from skeval.stats.copied_rows import CHANCE, Copied, Repeats, count_copies, repeats_seen
from skeval.stats.joint_classes import first_places, joint_classes

BLANKED = "missing cells skipped"
STRANGE = "cells that are missing or that occur in no real row skipped"
_MAX_READ = 2 * 10**7  # maximum number of rows, times the ways to leave cells out
_MAX_PATTERNS = 256
_MIN_COLUMNS = 5  # in a narrower table, too many rows are equal at random
_MAX_NAMED = 5  # maximum number of columns in a sentence
_MIN_REPEATED = 10  # a row is counted separately if the release repeats it this number of times
_MAX_BITS = 26  # of a value, for a table of 64 MB that shows which values may occur in two tables
_RARELY = 1e-4  # probability that a common row of the population is unique among the real rows


def changed_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], strange: Mapping[str, np.ndarray]
) -> tuple[str, Copied] | None:
    """Find copies of training rows in which a few cells were changed."""
    if part := partial_copies(codes, n_rows):
        names, train = part
        return f"{_names_in_words(names)} skipped", train
    if part := repeated_copies(codes, n_rows):
        names, train = part
        where = _names_in_words(names)
        return f"{where} skipped, {_min_repeats(n_rows)} times or more in the release", train
    rules: tuple[tuple[str, Callable[[], Copied | None]], ...] = (
        (BLANKED, lambda: blanked_copies(codes, n_rows, CHANCE / 4)),
        (STRANGE, lambda: strange_copies(codes, n_rows, strange, CHANCE / 4)),
        ("any one cell skipped", lambda: scattered_copies(codes, n_rows, 1, CHANCE / 4)),
        ("any two cells skipped", lambda: scattered_copies(codes, n_rows, 2, CHANCE / 4)),
    )
    for skipped, rule in rules:
        without = rule()
        if without is not None and without.beyond_chance:
            return skipped, without
    return None


def _names_in_words(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= _MAX_NAMED else f"{len(names)} columns"


def partial_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...]
) -> tuple[tuple[str, ...], Copied] | None:
    """Find copies of training rows in which one column was changed."""
    # Columns that are constant in the release and not in the training data are always skipped,
    # because rows cannot agree in them. Then, each of the other columns is skipped in turn. In a
    # release of new rows, the probability that any count exceeds its bound is at most 1%.
    #
    # The value of a row is the sum of random 64-bit numbers of its cells, so that a column is left
    # out by a subtraction.
    start = sum(n_rows[:2])
    idle = [
        name
        for name, of_column in codes.items()
        if np.ptp(of_column[start:]) == 0 < np.ptp(of_column[: n_rows[0]])
    ]
    skipped = [(*idle, name) for name in codes if name not in idle]
    skipped = [names for names in [tuple(idle), *skipped] if 0 < len(names) < len(codes)]
    return _most_beyond_chance(codes, n_rows, skipped)


def repeated_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...]
) -> tuple[tuple[str, ...], Copied] | None:
    """Find training rows that a release repeats many times with a few changed cells."""
    # For example, one patient may be in the release fifty times, with a different birthday in each
    # row. Among all rows of the release, one training row is within the bound. However, among the
    # few rows that the release repeats often, one training row exceeds the bound.
    times = _min_repeats(n_rows)
    if len(codes) < _MIN_COLUMNS or times > n_rows[2]:
        return None
    return _most_beyond_chance(
        codes, n_rows, [(name,) for name in codes], times
    ) or _most_beyond_chance(codes, n_rows, _most_varied(codes, n_rows[0]), times)


def _most_varied(codes: Mapping[str, np.ndarray], n_train: int) -> list[tuple[str, ...]]:
    """Return the two columns with the most training values, then the three, and so on."""
    # Account numbers, addresses and sums of an individual are easily replaced in each row.
    n_values = {name: np.unique(of_column[:n_train]).size for name, of_column in codes.items()}
    names = sorted(codes, key=lambda name: (-n_values[name], name))
    return [tuple(names[:k]) for k in range(2, len(names) - _MIN_COLUMNS + 1)]


def _min_repeats(n_rows: tuple[int, ...]) -> int:
    """Return the number of repeats from which a row is expected several times in real rows."""
    share_real = sum(n_rows[:2]) / sum(n_rows)
    return max(_MIN_REPEATED, int(nbinom.isf(_RARELY, 2, share_real)) + 1)


def _most_beyond_chance(
    codes: Mapping[str, np.ndarray],
    n_rows: tuple[int, ...],
    skipped: list[tuple[str, ...]],
    times: int = 1,
) -> tuple[tuple[str, ...], Copied] | None:
    """Return the columns to leave out for the most copies above the bound, or None."""
    chance = CHANCE / max(1, len(skipped))
    found = [
        (names, one)
        for names, values in zip(skipped, _without(codes, skipped), strict=True)
        if (one := _count_value_copies(values, n_rows, chance, times)).beyond_chance
    ]
    return max(found, key=lambda pair: (pair[1].n - pair[1].most, pair[0]), default=None)


def blanked_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], chance: float = CHANCE
) -> Copied | None:
    """Count the unique training rows that a release repeats except for missing cells."""
    # Each row of the release is compared in the columns in which it has a value. How often
    # real rows repeat each other in these columns is estimated from their pairs. A cell is
    # never skipped because of its value, since the cells that remain would agree with real
    # rows more often than pairs of real rows do. In many tables, rows with the same missing
    # cells are similar, and repeat each other more often than other rows do. Therefore, a
    # number above the bound is also compared with the number of holdout rows that the release
    # repeats in the same way. The result is None if no cell is missing, or if the table has
    # fewer than five columns. Among very many combinations of columns, the most frequent ones
    # are compared.
    n_train, start = n_rows[0], sum(n_rows[:2])
    marks = {name: of_column[start:] < 0 for name, of_column in codes.items()}
    met, expected, n_drawn = np.zeros(n_train, dtype=bool), 0.0, 0
    for values, chosen in _patterns(codes, n_rows, marks):
        classes = pd.factorize(values)[0]
        real, release_rows = classes[:start], classes[start:]
        train, pool, release, own = _counts(
            classes, real[:n_train], real, release_rows, release_rows[chosen]
        )
        met |= ((train == 1) & (own > 0))[real[:n_train]]
        drawn = int((own > 0).sum())
        expected += _expected_repeats(pool, release, n_train, drawn)
        n_drawn += drawn
    if not n_drawn:
        return None
    exposure = repeats_seen(np.ones(start, dtype=int), n_train, n_drawn).exposure
    seen = Repeats(expected * exposure, exposure)
    of_pairs = Copied(int(met.sum()), seen.bound(chance), repeats=seen, chance=chance)
    if not of_pairs.beyond_chance:
        return of_pairs
    beside = _beside_holdout(_patterns(codes, n_rows, marks), n_rows, chance)
    return of_pairs if beside is None or beside.beyond_chance else beside


def strange_copies(
    codes: Mapping[str, np.ndarray],
    n_rows: tuple[int, ...],
    strange: Mapping[str, np.ndarray],
    chance: float = CHANCE,
) -> Copied | None:
    """Count unique training rows that a release repeats except for cells that no real row has."""
    # Every cell that remains is known to be real, and in columns with many categories, such cells
    # often agree with a real row. Therefore, the number expected by chance is counted among the
    # holdout rows, from which the cells are selected in the same way. The result is None without
    # holdout rows, if there are no such cells, or if the table has fewer than five columns.
    return _beside_holdout(_patterns(codes, n_rows, strange), n_rows, chance)


def _patterns(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], marks: Mapping[str, np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield values of all rows without columns marked in release rows, and a mask of these."""
    names = list(codes)
    marked = np.column_stack([marks[name] for name in names])
    if len(names) < _MIN_COLUMNS or not marked.any():
        return
    which = joint_classes(marked)
    sizes, patterns = np.bincount(which), marked[first_places(which)]
    most = min(_MAX_PATTERNS, max(1, _MAX_READ // sum(n_rows)))
    chosen = np.argsort(-sizes, kind="stable")[:most]
    skipped = [tuple(np.array(names)[patterns[i]]) for i in chosen]
    for i, values in zip(chosen, _without(codes, skipped), strict=True):
        yield values, which == i


def _counts(classes: np.ndarray, *parts: np.ndarray) -> list[np.ndarray]:
    """Return how often each class occurs in each part."""
    n_classes = int(classes.max(initial=-1)) + 1
    return [np.bincount(part, minlength=n_classes) for part in parts]


def _expected_repeats(pool: np.ndarray, release: np.ndarray, n_train: int, n_drawn: int) -> float:
    """Return the expected number of repeats, for a release that may repeat itself often."""
    real, own = (
        repeats_seen(counts, n_train, n_drawn).expected_count for counts in (pool, release)
    )
    return float(np.sqrt(real * max(real, own)))


def scattered_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], k: int, chance: float = CHANCE
) -> Copied | None:
    """Count unique training rows that a release repeats except for any `k` cells of each row."""
    # The number expected by chance is counted among the holdout rows. The result is None without
    # holdout rows, if no column would be left, or if there are too many rows and columns.
    skipped = list(combinations(codes, k))
    if len(codes) <= k + 1 or len(skipped) * sum(n_rows) > _MAX_READ:
        return None
    every = np.ones(n_rows[2], dtype=bool)
    compared = ((values, every) for values in _without(codes, skipped))
    return _beside_holdout(compared, n_rows, chance)


def _beside_holdout(
    compared: Iterator[tuple[np.ndarray, np.ndarray]], n_rows: tuple[int, ...], chance: float
) -> Copied | None:
    """Count the training rows that release rows match, and the holdout rows in the same way."""
    # Only unique real rows count, so that the condition is the same for training and holdout rows,
    # for any sizes of the two tables.
    n_train, n_holdout, n_release = n_rows
    start = n_train + n_holdout
    hit, by = np.zeros(start, dtype=bool), np.zeros((2, n_release), dtype=bool)
    n_compared = 0
    for values, chosen in compared if n_holdout else ():
        at, others = _in_both(values[:start], values[start:], chosen)
        classes = pd.factorize(values[np.append(at, start + others)])[0]
        of_real, of_release = classes[: at.size], classes[at.size :]
        is_train = at < n_train
        train, holdout, own = _counts(classes, of_real[is_train], of_real[~is_train], of_release)
        met = (train + holdout == 1) & (own > 0)
        hit[at] |= met[of_real]
        for side, table in zip(by, (train, holdout), strict=True):
            side[others] |= (met & (table == 1))[of_release]
        n_compared += 1
    if not n_compared:
        return None
    of_train, of_holdout = (
        min(int(rows.sum()), int(side.sum()))
        for rows, side in zip((hit[:n_train], hit[n_train:]), by, strict=True)
    )
    repeats = Repeats(float(of_holdout), n_holdout / n_train)
    return Copied(of_train, repeats.bound(chance), repeats=repeats, chance=chance)


def _in_both(
    real: np.ndarray, release: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the real rows and the chosen release rows that may have a value in common."""
    # The leading bits of the values are compared first, in a table of all such numbers.
    # In a wide table, this leaves few rows, for which alone the values are compared.
    n_bits = min(_MAX_BITS, (8 * (real.size + release.size)).bit_length())
    chosen_rows, further = np.flatnonzero(chosen), np.uint64(64 - n_bits)
    of_real, of_release = real >> further, release[chosen_rows] >> further
    is_seen = np.zeros(2**n_bits, dtype=bool)
    is_seen[of_release] = True
    in_both = is_seen[of_real]
    is_seen[of_release] = False
    is_seen[of_real[in_both]] = True
    return np.flatnonzero(in_both), chosen_rows[is_seen[of_release]]


def _without(
    codes: Mapping[str, np.ndarray], skipped: list[tuple[str, ...]]
) -> Iterator[np.ndarray]:
    """Yield the values of rows without these columns."""
    rng = np.random.default_rng(0)
    drawn = {c: rng.integers(0, 2**64, of.max() + 2, dtype=np.uint64) for c, of in codes.items()}

    def total(names: Iterable[str]) -> np.ndarray:
        return np.asarray(sum((drawn[name][codes[name]] for name in names), np.uint64(0)))

    whole = total(codes)
    for names in skipped:
        yield whole - total(names)


def _count_value_copies(
    values: np.ndarray, n_rows: tuple[int, ...], chance: float, times: int
) -> Copied:
    """Count distinct copies among the rows that the release repeats at least `times` times."""
    if times > 1 and not _repeats(values[sum(n_rows[:2]) :], times):
        return Copied(0, 0)
    # the table is in the two lowest bits of the sorted rows, so that no hash table is necessary
    tables = np.repeat(np.arange(3, dtype=np.uint64), n_rows)
    rows = np.sort((values & ~np.uint64(3)) | tables)
    values, of_table = rows >> np.uint64(2), (rows & np.uint64(3)).astype(np.int8)
    is_first = np.append(True, values[1:] != values[:-1])
    # most values occur once, and are counted by table without a sum over the rows of each value
    alone = is_first & np.append(is_first[1:], True)
    starts, repeated = np.flatnonzero(is_first[~alone]), of_table[~alone]
    once = np.bincount(of_table[alone], minlength=3)
    train, holdout, release = (
        np.append(
            np.add.reduceat(repeated == k, starts, dtype=np.int64) if starts.size else starts,
            np.repeat(np.eye(3, dtype=np.int64)[k], once),
        )
        for k in range(3)
    )
    if times > 1:
        release = (release >= times).astype(np.int64)
    if not release.any():
        return Copied(0, 0)
    counted = count_copies(release, train, train + holdout, chance)
    if times == 1:
        return counted
    # A generator may make combinations common that are rare among real rows, for example because it
    # draws columns independently, and the bound, which is from pairs of real rows, is too low for
    # them. Most of them also occur in the holdout, but copies of training rows do not. Therefore,
    # only combinations that a single real row has are counted.
    return replace(counted, n=int(train[(release > 0) & (train + holdout == 1)].sum()))


def _repeats(values: np.ndarray, times: int) -> bool:
    """Return whether any value occurs at least `times` times."""
    values = np.sort(values & ~np.uint64(3))
    return bool((values[times - 1 :] == values[: max(0, values.size - times + 1)]).any())
