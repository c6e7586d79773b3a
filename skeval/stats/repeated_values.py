"""Values that a single training row has and that many rows of a release repeat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.special import betaln
from scipy.stats import poisson

from skeval.stats.copied_rows import CHANCE, Copied, Copies, chance_of_one
from skeval.stats.joint_classes import first_places, joint_classes

MIN_ROWS = 3  # a value is examined if at least this number of release rows repeats it
_LEVEL_OF_FACTS = 0.05
# Several values have a low level because repeats of uneven generators depend on each other. In
# simulations with other rows, 1 of 4,000 columns was below it.
_LEVEL_OF_SEVERAL = 1e-4
_MAX_SEVERAL = 10  # the most frequent values, of which several are counted
_PRIOR = 0.5  # Jeffreys' prior of a Poisson rate, in observed events
_MIN_OTHERS = 30  # values of holdout rows from which the number of repeats is estimated
_UNEVEN = 3.0  # generators of other rows repeat some values this much more often in simulations
_MIN_TAIL = 10  # from the largest of these values, the numbers of repeats are extrapolated


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
        counts = [np.bincount(cells[cells >= 0], minlength=n_values) for cells in tables]
        expected = expected_values(*counts)
        if expected.size < MIN_ROWS:
            continue
        one = Copied(expected.size, int((expected * len(codes) > CHANCE).sum()))
        several = _several_values(counts, expected, _LEVEL_OF_SEVERAL / len(codes))
        if several.beyond_chance and not one.beyond_chance:
            what = f"frequent values of {name}"
            found.append(Copies(what, several, None, n_distinct=0, n_expected=0))
        elif expected[-1] * len(codes) <= _LEVEL_OF_FACTS:
            what = f"rows with one value of {name}"
            found.append(
                Copies(what, one, None, n_distinct=0, n_expected=0, form="copies of a value")
            )
    return tuple(found)


def _several_values(counts: Sequence[np.ndarray], expected: np.ndarray, level: float) -> Copied:
    """Return how many values of single training rows a release repeats often, and the bound."""
    train, holdout, release = counts
    repeats = np.sort(release[(train == 1) & (holdout == 0)])[::-1][:_MAX_SEVERAL]
    rows = repeats[1:][repeats[1:] >= MIN_ROWS]
    if not rows.size:
        return Copied(0, 0)
    n = 2 + int(poisson.sf(np.arange(1, rows.size + 1), expected[rows - 1]).argmin())
    return Copied(n, int(poisson.isf(level, expected[rows[n - 2] - 1])))


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
    # Three numbers are computed, and the largest one is returned. For the first number, a release
    # of new rows is a sample of the same population as the real rows. Therefore, a known proportion
    # of all values that occur `c` times in the three tables together occurs only once in the real
    # tables. However, a generator may repeat values more often. Therefore, the second number is
    # extrapolated from the repeats of values of the holdout and of new values. Finally, a generator
    # may draw from the training values, and repeats all of these. A generator of other rows draws
    # from the values of its own training data, and repeats them less evenly than new rows do.
    # Therefore, the largest number is tripled.
    n_real = train + holdout
    alone = (train == 1) & (holdout == 0)
    most = int(release[alone].max(initial=0))
    if not most:
        return np.empty(0)
    of_train = float(train.sum() / n_real.sum())
    return _UNEVEN * np.maximum.reduce([
        of_train * _of_new_rows(n_real, release, alone, most),
        alone.sum() * _share_of_others(n_real, holdout, release, most),
        alone.sum() * _share_of_drawn(n_real, holdout, release, most),
    ])  # fmt: skip


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


def _share_of_others(
    n_real: np.ndarray, holdout: np.ndarray, release: np.ndarray, most: int
) -> np.ndarray:
    """Return the shares of rare values of other rows that a release has once, twice, and so on."""
    # The values of the fewest real rows are used. If a value has more than two real rows, a
    # corresponding part of its repeats counts.
    others = np.flatnonzero((holdout > 0) if holdout.any() else (n_real > 1))
    rarest = np.sort(n_real[others])[:_MIN_OTHERS]
    others = others[n_real[others] <= rarest.max(initial=0)]
    repeats = np.ceil(release[others] * np.minimum(1.0, 2.0 / n_real[others])).astype(np.int64)
    return _share_of_values(repeats, release[n_real == 0], most)


def _share_of_drawn(
    n_real: np.ndarray, holdout: np.ndarray, release: np.ndarray, most: int
) -> np.ndarray:
    """Return the shares of values that a generator which draws from train has once, twice, ..."""
    # The value with the most repeats is skipped. Without a holdout, the generator is not assumed to
    # draw all values equally often.
    own = release[(n_real == 1) & (holdout == 0)]
    others = np.sort(own)[:-1]
    if holdout.any():
        return np.asarray(poisson.sf(np.arange(most), (others.sum() + _PRIOR) / own.size))
    return _share_of_values(others, release[n_real == 0], most)


def _share_of_values(repeats: np.ndarray, new: np.ndarray, most: int) -> np.ndarray:
    """Return which share of values is repeated once, twice, and so on, like these and new ones."""
    released = (np.count_nonzero(repeats) + _PRIOR) / (repeats.size + 2.0 * _PRIOR)
    return np.asarray(released * _extrapolate_counts(np.concatenate([repeats, new]), most))


def _extrapolate_counts(repeats: np.ndarray, most: int) -> np.ndarray:
    """Return the share of the repeated values that a release has once, twice, and so on."""
    # The largest numbers of repeats are assumed to be geometric, with a beta distribution of the
    # parameter, because its estimate is not exact.
    n_values = np.bincount(repeats, minlength=most + 2)
    at_least = np.cumsum(n_values[::-1])[::-1].astype(np.float64)
    start = int(min(most, np.flatnonzero(at_least[1:] >= _MIN_TAIL).max(initial=0) + 1))
    further, ended = at_least[start + 1 :].sum() + _PRIOR, at_least[start] + _PRIOR
    steps = np.arange(1, most + 1)
    seen = (at_least[np.minimum(steps, start)] + _PRIOR) / (at_least[1] + _PRIOR)
    beyond = betaln(further + np.maximum(steps - start, 0), ended) - betaln(further, ended)
    return np.asarray(seen * np.exp(beyond))
