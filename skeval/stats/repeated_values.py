"""Values that a single training row has and that many rows of a release repeat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from skeval.stats.copied_rows import CHANCE, Copied, Copies, chance_of_one
from skeval.stats.joint_classes import first_places, joint_classes

MIN_ROWS = 3  # a value is examined if at least this number of release rows repeats it
_LEVEL_OF_FACTS = 0.05
_PRIOR = 0.5  # Jeffreys' prior of a Poisson rate, in observed events


def value_copies(codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...]) -> tuple[Copies, ...]:
    """Return the columns in which a release often repeats a value of a single training row."""
    # A row that the release contains several times counts once, because a generator of few
    # rows repeats all of their values.
    start = sum(n_rows[:2])
    rows = joint_classes((of_column[start:] for of_column in codes.values()), n_rows[2])
    first = first_places(rows)
    found = []
    for name, of_column in codes.items():
        tables = (of_column[: n_rows[0]], of_column[n_rows[0] : start], of_column[start:][first])
        n_values = int(of_column.max(initial=-1)) + 1
        counts = (np.bincount(cells[cells >= 0], minlength=n_values) for cells in tables)
        expected = expected_values(*counts)
        if expected.size >= MIN_ROWS and expected[-1] * len(codes) <= _LEVEL_OF_FACTS:
            most = int((expected * len(codes) > CHANCE).sum())
            one = Copied(expected.size, most)
            what = f"rows with one value of {name}"
            found.append(
                Copies(what, one, None, n_distinct=0, n_expected=0, form="copies of a value")
            )
    return tuple(found)


def values_in_words(found: Iterable[Copies], n_rows: int) -> str:
    """Return sentences on how often a release repeats values of single training rows."""
    return " ".join(
        f"{one.train.n:,} of {n_rows:,} synthetic {one.what}, which a single training row has. "
        f"At most {one.train.most:,} are expected by chance."
        for one in found
        if not one.train.beyond_chance
    )


def expected_values(train: np.ndarray, holdout: np.ndarray, release: np.ndarray) -> np.ndarray:
    """Return the expected numbers of repeated values of single training rows by frequency."""
    # Two numbers are computed, and the larger one is returned. For the first number, a release of
    # new rows is a sample of the same population as the real rows. Therefore, a known proportion
    # of all values that occur `c` times in the three tables together occurs only once in the real
    # tables. However, a generator may repeat values more often. Therefore, the second number is
    # extrapolated from the repeats of values of single holdout rows.
    n_real = train + holdout
    alone = (train == 1) & (holdout == 0)
    most = int(release[alone].max(initial=0))
    if not most:
        return np.empty(0)
    others = release[(train == 0) & (holdout == 1)]
    if holdout.any():
        ratio = float(train.sum() / holdout.sum())
    else:
        ratio, others = 1.0, np.sort(release[alone])[:-1]
    new = release[(n_real == 0) & (release > 0)]
    by_release = ratio * _extrapolate_counts(others, new, most)
    of_train = float(train.sum() / n_real.sum())
    return np.maximum(by_release, of_train * _of_new_rows(n_real, release, alone, most))


def _of_new_rows(
    n_real: np.ndarray, release: np.ndarray, alone: np.ndarray, most: int
) -> np.ndarray:
    """Return how many values of single real rows new rows repeat once, twice, and so on."""
    n_rows, n_released = int(n_real.sum()), int(release.sum())
    # the repeated values themselves are skipped, and an unobserved value may be as frequent
    usual, n_values = np.unique((n_real + release)[~alone], return_counts=True)
    totals = np.concatenate([usual, np.arange(2, most + 2)])
    chances = chance_of_one(totals, n_rows + n_released, n_rows)
    seen, unseen = chances[: usual.size] * n_values, chances[usual.size :]
    several = np.array([seen[usual > k].sum() for k in range(1, most + 1)])
    repeated = (n_values[usual > 1].sum() + _PRIOR) / (n_values[usual > 0].sum() + 2.0 * _PRIOR)
    return np.asarray(several + _PRIOR * repeated * unseen)


def _extrapolate_counts(others: np.ndarray, new: np.ndarray, most: int) -> np.ndarray:
    """Return how many of such values a release has once, twice, and so on."""
    # The ratios of subsequent numbers are constant for geometric numbers and decrease for Poisson
    # numbers. To be conservative, they are not allowed to decrease. If few of the values are in
    # the release, the ratio of new values is used.
    rare = np.concatenate([new, others])
    usual = ((rare > 1).sum() + _PRIOR) / ((rare > 0).sum() + 2.0 * _PRIOR)
    at_least = np.array([(others >= k).sum() for k in range(1, most + 1)], dtype=np.float64)
    steps = np.maximum.accumulate((at_least[1:] + usual) / (at_least[:-1] + 1.0))
    return np.asarray((at_least[0] + _PRIOR) * np.cumprod(np.append(1.0, steps)))
