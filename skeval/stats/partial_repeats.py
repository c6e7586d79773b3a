"""Rows of a release that equal a unique row of a real table but for a few cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, combinations

import numpy as np
import pandas as pd

from skeval.stats.repeats import CHANCE, Copied, Repeats, copied, repeats_seen

STRANGE = "cells that are missing or of no real row left out"
_MOST_READ = 2 * 10**7  # rows, times the ways to leave cells out
_MOST_PATTERNS = 256
_MOST_NAMED = 5  # columns in a sentence
_PAIRS = ((0, 2), (0, 1), (1, 2))  # rows of which table are met by rows of which


def changed_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], strange: Mapping[str, np.ndarray]
) -> tuple[str, Copied] | None:
    """Find copies of train rows of which a few cells were changed.

    Parameters
    ----------
    codes : mapping of str to ndarray of int of shape (n_rows,)
        By column the code of each cell, -1 if missing: of the rows of train, then of the holdout,
        which may have none, then of the release.
    n_rows : tuple of int
        Number of rows of the three.
    strange : mapping of str to ndarray of bool of shape (n_release,)
        By column which cells of the release are missing, or such as no real row has.

    Returns
    -------
    tuple of (str, Copied), or None
        What was left out, and the count without it, by the first rule that finds more than chance
        explains: one column of all rows; the strange cells of each row; any one column of a row;
        any two.
    """
    if part := partial_copies(codes, n_rows):
        names, train = part
        where = ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} columns"
        return f"{where} left out", train
    without = strange_copies(codes, n_rows, strange, CHANCE / 2)
    if without is not None and without.beyond_chance:
        return STRANGE, without
    for k, cells in ((1, "any one cell left out"), (2, "any two cells left out")):
        without = scattered_copies(codes, n_rows, k, CHANCE / 4)
        if without is not None and without.beyond_chance:
            return cells, without
    return None


def partial_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...]
) -> tuple[tuple[str, ...], Copied] | None:
    """Find copies of train rows in which one column was changed.

    Parameters
    ----------
    codes : mapping of str to ndarray of int of shape (n_rows,)
        By column the code of each cell, -1 if missing: of the rows of train, then of the holdout,
        which may have none, then of the release.
    n_rows : tuple of int
        Number of rows of the three.

    Returns
    -------
    tuple of (tuple of str, Copied), or None
        Which columns were left out, and the count without them, where it is most above its bound;
        None if it is nowhere.

    Notes
    -----
    Columns that are constant in the release and not in train are left out at any rate: rows cannot
    agree in them. Then each of the others is, one at a time. Any count exceeds its bound in one of
    a hundred releases of fresh rows, at most.

    A row's value is the sum of random numbers of its cells, 64 bits each, so that leaving a column
    out is a subtraction.

    Examples
    --------
    Twenty of 300 rows are those of train with another age.

    >>> import numpy as np
    >>> from skeval.stats.partial_repeats import partial_copies
    >>> codes = np.random.default_rng(0).integers(0, 100, (4, 900))
    >>> codes[1:, 600:620] = codes[1:, :20]
    >>> partial_copies(dict(zip("abcd", codes)), (300, 300, 300))
    (('a',), Copied(n=20, most=4))
    """
    start = sum(n_rows[:2])
    idle = [
        name
        for name, of_column in codes.items()
        if np.ptp(of_column[start:]) == 0 < np.ptp(of_column[: n_rows[0]])
    ]
    left_out = [(*idle, name) for name in codes if name not in idle]
    left_out = [names for names in [tuple(idle), *left_out] if 0 < len(names) < len(codes)]
    chance = CHANCE / max(1, len(left_out))
    found = [
        (names, one)
        for names, values in zip(left_out, _without(codes, left_out), strict=True)
        if (one := _copied(values, n_rows, chance)).beyond_chance
    ]
    return max(found, key=lambda pair: (pair[1].n - pair[1].most, pair[0]), default=None)


def strange_copies(
    codes: Mapping[str, np.ndarray],
    n_rows: tuple[int, ...],
    strange: Mapping[str, np.ndarray],
    chance: float = CHANCE,
) -> Copied | None:
    """Count the unique train rows that a release repeats but for cells that no real row has.

    Each row of the release is compared in the columns in which it has other cells; how often real
    rows repeat each other there, their pairs show. None if there are no such cells. Of very many
    combinations of columns the most frequent are looked at.

    Examples
    --------
    Twenty rows of 300 are those of train with two cells blanked, in each row others.

    >>> import numpy as np
    >>> from skeval.stats.partial_repeats import strange_copies
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(0, 100, (6, 900))
    >>> codes[:, 600:620] = codes[:, :20]
    >>> for row in range(600, 620):
    ...     codes[rng.choice(6, 2, replace=False), row] = -1
    >>> strange = dict(zip("abcdef", codes[:, 600:] == -1))
    >>> strange_copies(dict(zip("abcdef", codes)), (300, 300, 300), strange)
    Copied(n=20, most=3)
    """
    names, n_train, start = list(codes), n_rows[0], sum(n_rows[:2])
    marks = np.column_stack([strange[name] for name in names])
    if not marks.any():
        return None
    patterns, which, sizes = np.unique(marks, axis=0, return_inverse=True, return_counts=True)
    n_looked_at = min(_MOST_PATTERNS, max(1, _MOST_READ // sum(n_rows)))
    chosen = np.argsort(-sizes, kind="stable")[:n_looked_at]
    left_out = [tuple(np.array(names)[patterns[i]]) for i in chosen]
    met, expected, n_drawn = np.zeros(n_train, dtype=bool), 0.0, 0
    for i, values in zip(chosen, _without(codes, left_out), strict=True):
        classes = pd.factorize(values)[0]
        train, pool, release, own = (
            np.bincount(part, minlength=classes.max() + 1)
            for part in (
                *(classes[:n_train], classes[:start], classes[start:]),
                classes[start:][which.ravel() == i],
            )
        )
        of_train = classes[:n_train]
        met |= (train[of_train] == 1) & (own[of_train] > 0)
        drawn = int((own > 0).sum())
        expected += _expected(pool, release, n_train, drawn)
        n_drawn += drawn
    exposure = repeats_seen(np.ones(start, dtype=int), n_train, n_drawn).exposure
    seen = Repeats(expected * exposure, exposure)
    return Copied(int(met.sum()), seen.bound(chance), repeats=seen)


def _expected(pool: np.ndarray, release: np.ndarray, n_train: int, n_drawn: int) -> float:
    """Return how many repeats are expected, of a release that may repeat itself more than most."""
    real, own = (repeats_seen(counts, n_train, n_drawn).expected for counts in (pool, release))
    return float(np.sqrt(real * max(real, own)))


def scattered_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], k: int, chance: float = CHANCE
) -> Copied | None:
    """Count the unique train rows that a release repeats but for any `k` cells of each row.

    How many there are by chance, the rows of the holdout show: how many of them train repeats so,
    and how many the release does. None without a holdout, where no column would be left, or where
    rows and columns are too many.

    Examples
    --------
    Twenty rows of 300 are those of train with another cell, in each row another one.

    >>> import numpy as np
    >>> from skeval.stats.partial_repeats import scattered_copies
    >>> codes = np.random.default_rng(0).integers(0, 100, (6, 900))
    >>> codes[:, 600:620] = codes[:, :20]
    >>> codes[np.arange(20) % 6, np.arange(600, 620)] = 101
    >>> scattered_copies(dict(zip("abcdef", codes)), (300, 300, 300), 1)
    Copied(n=20, most=5)
    """
    n_train, n_holdout, n_release = n_rows
    left_out = list(combinations(codes, k))
    if not n_holdout or len(codes) <= k + 1 or len(left_out) * sum(n_rows) > _MOST_READ:
        return None
    met = {pair: [np.zeros(n_rows[i], dtype=bool) for i in pair] for pair in _PAIRS}
    for values in _without(codes, left_out):
        classes, distinct = pd.factorize(values)
        parts = np.split(classes, list(accumulate(n_rows))[:-1])
        counts = [np.bincount(part, minlength=len(distinct)) for part in parts]
        for (one, other), (hit, by) in met.items():
            shared = (counts[one] == 1) & (counts[other] > 0)
            hit |= shared[parts[one]]
            by |= shared[parts[other]]
    of_release, of_holdout, unseen = (
        min(int(hit.sum()), int(by.sum())) for hit, by in met.values()
    )
    chances = (
        Repeats(float(of_holdout), n_holdout / n_release),
        Repeats(float(unseen), n_holdout / n_train),
    )
    repeats = max(chances, key=lambda one: one.bound(chance))
    return Copied(of_release, repeats.bound(chance), repeats=repeats)


def _without(
    codes: Mapping[str, np.ndarray], left_out: list[tuple[str, ...]]
) -> Iterator[np.ndarray]:
    """Yield the values of rows without these columns."""
    rng = np.random.default_rng(0)
    drawn = {c: rng.integers(0, 2**64, of.max() + 2, dtype=np.uint64) for c, of in codes.items()}

    def total(names: Iterable[str]) -> np.ndarray:
        cells = [drawn[name][codes[name]] for name in names]
        return np.asarray(np.sum(cells, axis=0, dtype=np.uint64))

    whole = total(codes)
    for names in left_out:
        yield whole - total(names)


def _copied(values: np.ndarray, n_rows: tuple[int, ...], chance: float) -> Copied:
    classes, distinct = pd.factorize(values)
    parts = np.split(classes, list(accumulate(n_rows))[:-1])
    train, holdout, release = (np.bincount(part, minlength=len(distinct)) for part in parts)
    return copied(release, train, train + holdout, chance)
