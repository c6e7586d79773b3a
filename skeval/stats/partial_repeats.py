"""Rows of a release that equal a unique row of a real table in all columns but one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

import numpy as np
import pandas as pd

from skeval.stats.repeats import CHANCE, Copied, copied


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
