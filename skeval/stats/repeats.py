"""How many rows of a release equal a row that is unique in a real table, where nothing was copied.

Real rows repeat each other: in a narrow table most do, in a wide one none. How often they do, pairs
of real rows show.

Rows of a release that equal a unique row of a real table but for a few cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy.stats import nbinom

from skeval.stats.distributions import log_choose
from skeval.utils.formatting import as_float

Form = Literal["copies", "copies of a value", "near copies", "near copies of one"]
UNCOUNTED = "copies of train rows were not counted"  # as where no metric looks for any
CHANCE = 0.01  # of more repeats than the bound, where nothing was copied
_PRIOR = 0.5  # Jeffreys' prior of a Poisson rate, in events seen
_PAIR = np.array([2])
_USUAL = 2.0  # pairs of real rows, by those of train and release, where all tables are of one size


@dataclass(frozen=True)
class Repeats:
    """What was seen of real rows that repeat each other."""

    seen: float
    exposure: float

    @property
    def expected(self) -> float:
        """How many repeats a release of fresh rows has on average."""
        return self.seen / self.exposure

    @property
    def most(self) -> int:
        """The most repeats that a release of fresh rows has, but in one of a hundred."""
        return self.bound(CHANCE)

    def bound(self, chance: float) -> int:
        """Return the most repeats that a release of fresh rows has, but with that chance."""
        # It is a bound of prediction: how many repeats are seen is random as how many
        # there will be is, so that their number is negative binomial.
        success = self.exposure / (1.0 + self.exposure)
        return int(nbinom.ppf(1.0 - chance, self.seen + _PRIOR, success))

    def __add__(self, other: Repeats) -> Repeats:
        return Repeats(self.seen + other.seen, self.exposure + other.exposure)


def repeats_seen(counts: np.ndarray, n_reference: int, n_drawn: int) -> Repeats:
    """Count in a pool of rows how many values are repeats, over all ways to divide it in two."""
    # A value is a repeat if it stands once in the reference and at least once among the rows
    # drawn.
    #
    # With n rows in the pool, of which a are made the reference and b are drawn at random, a
    # value that is in c of them is a repeat with probability
    #
    # .. math:: w_c = h(1; n, c, a) - h(0; n, c, b) \, h(1; n - b, c, a)
    #
    # with h the hypergeometric distribution. The sum over values is how many repeats are
    # expected; a pair of equal rows counts as one event seen.
    pool = int(counts.sum())
    if pool < 2:
        return Repeats(0.0, 1.0 / max(1, n_reference * n_drawn))
    drawn = min(n_drawn, max(1, pool - n_reference), pool - 1) if n_reference < pool else 0
    drawn = drawn or max(1, min(n_drawn, pool // 2))
    reference = min(n_reference, pool - drawn)
    scale = n_reference / reference * n_drawn / drawn
    copies, n_values = np.unique(np.concatenate([counts[counts > 1], _PAIR]), return_counts=True)
    n_values[copies == 2] -= 1  # the pair that stands for what was not seen
    chance = scale * _repeat_chance(copies, pool, reference, drawn)
    heaviest = float(chance.max())
    return Repeats(float(n_values @ chance) / heaviest, 1.0 / heaviest)


def _repeat_chance(copies: np.ndarray, pool: int, reference: int, drawn: int) -> np.ndarray:
    once = chance_of_one(copies, pool, reference)
    undrawn = np.exp(_log_ways(pool - copies, drawn) - _log_ways(pool, drawn))
    return np.maximum(0.0, once - undrawn * chance_of_one(copies, pool - drawn, reference))


def chance_of_one(copies: np.ndarray, pool: int, reference: int) -> np.ndarray:
    """Return the chance that exactly one of the copies is among the reference."""
    log = _log_ways(pool - copies, reference - 1) - _log_ways(pool, reference)
    return np.asarray(copies * np.exp(log))


def _log_ways(n: np.ndarray | int, k: int) -> np.ndarray:
    possible = np.asarray(n) >= k
    return np.where(possible, log_choose(np.where(possible, n, k), k), -np.inf)


@dataclass(frozen=True)
class Copied:
    """How many rows that are unique in a real table are in a release, and how many may be."""

    n: int
    most: int
    usual: int = field(default=-1, compare=False, repr=False)
    repeats: Repeats | None = field(default=None, compare=False, repr=False)

    def of_several(self, n_counts: int) -> Copied:
        """Return the count with a bound that this number of counts together exceeds as seldom."""
        if self.repeats is None or n_counts < 2:
            return self
        return replace(self, most=self.repeats.bound(CHANCE / n_counts))

    @property
    def beyond_chance(self) -> bool:
        """Whether there are more than chance explains."""
        return self.n > self.most

    @property
    def in_doubt(self) -> bool:
        """Whether there are more than chance explains, had more real rows shown how it works."""
        return 0 <= self.usual < self.n <= self.most


@dataclass(frozen=True)
class Copies:
    """How many units of train that nothing else in train equals a release repeats, and may."""

    what: str
    train: Copied
    holdout: Copied | None
    n_distinct: int
    n_expected: int
    known: float = 1.0
    unread: int = 0
    form: Form = "copies"

    @property
    def found(self) -> str:
        """The sentence on copies beyond chance; empty if there are none."""
        if not self.train.beyond_chance:
            return ""
        most = self.train.most
        by_chance = f"at most {most:,}" if most else "none"
        return f"Copies found: {self._standing}, by chance {by_chance} would."

    @property
    def some(self) -> str:
        """The sentence on copies that chance explains; empty if there are none."""
        if not self.train.n or self.train.beyond_chance or self.form.startswith("near"):
            return ""
        return f"{self._standing}, by chance up to {self.train.most:,} would"

    @property
    def _standing(self) -> str:
        n = self.train.n
        if self.form == "copies of a value":
            return f"{n:,} {self.what} that a single training row has are in the release"
        if self.form == "near copies":
            return f"{n:,} {self.what} of the training data have a near copy in the synthetic data"
        if self.form == "near copies of one":
            return f"{n:,} synthetic {self.what} are near copies of one training record"
        which, stand = ("one of the", "stands") if n == 1 else (f"{n:,}", "stand")
        return f"{which} {self.what} that are unique in train {stand} in the release"

    @property
    def of_holdout(self) -> str:
        """The sentence on holdout rows in the release beyond chance; empty if there are none."""
        if self.holdout is None or not self.holdout.beyond_chance:
            return ""
        return (
            f"{self.holdout.n:,} {self.what} that are unique in the holdout stand in the release, "
            f"by chance at most {self.holdout.most:,} would: whoever made the release had them, or "
            "the roles are mixed up."
        )

    @property
    def hidden(self) -> str:
        """The sentence on cells that cannot be read, in more rows than chance copies."""
        if self.unread <= self.train.most:
            return ""
        return (
            f"Of the {self.what} of the release, {self.unread:,} have cells that cannot be read: "
            "whether they are copies cannot be told."
        )

    @property
    def untold(self) -> str:
        """The sentence on copies if too few real rows show whether chance explains them."""
        if not self.train.in_doubt:
            return ""
        return (
            f"{self.train.n:,} {self.what} that are unique in train stand in the release, and too "
            "few real rows show how many would by chance."
        )

    def of_several(self, n_counts: int, where: str) -> Copies:
        """Return what was counted in one of this number of parts of the tables."""
        held = None if self.holdout is None else self.holdout.of_several(n_counts)
        train = self.train.of_several(n_counts)
        return replace(self, what=f"{self.what} {where}", train=train, holdout=held)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        content = asdict(self)
        for role in ("train", "holdout"):
            if content[role] is not None:
                del content[role]["repeats"]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Copies:
        """Rebuild what :meth:`to_dict` gave."""
        numbers = {name: int(content[name]) for name in ("n_distinct", "n_expected")}
        of = {
            role: None
            if (one := content[role]) is None
            else Copied(int(one["n"]), int(one["most"]), int(one.get("usual", -1)))
            for role in ("train", "holdout")
        }
        if of["train"] is None:
            raise TypeError("copies lack those of train.")
        numbers["unread"] = int(content.get("unread", 0))  # which earlier files lack
        known, form = as_float(content["known"]), content.get("form", "copies")
        if form not in get_args(Form):
            raise TypeError(f"copies have an unknown form, {form!r}.")
        what, train, holdout = str(content["what"]), of["train"], of["holdout"]
        return cls(what, train=train, holdout=holdout, **numbers, known=known, form=form)


def copied(
    release: np.ndarray, table: np.ndarray, pool: np.ndarray, chance: float = CHANCE
) -> Copied:
    """Count the unique rows of a table that a release repeats, and how many it may by chance."""
    # How often rows repeat is learned from pairs of real rows. Two things of the release
    # itself count as well. If a release repeats itself more than real rows do, the rate is
    # the geometric mean of both, which by the inequality of Cauchy and Schwarz is the most
    # that two distributions agree: a generator of common rows meets more real ones. That
    # holds only where real rows repeat at all. And a release of more rows than all real ones
    # shows better than these how rare equal rows are: then the pairs of its rows are counted
    # along.
    #
    # A release of fewer distinct rows than real ones would be counts as one of fewer rows:
    # copies that are written out many times are no more than one each.
    n = int(((table == 1) & (release > 0)).sum())
    n_rows, n_distinct = int(release.sum()), int((release > 0).sum())
    drawn = max(1, round(n_rows * min(1.0, n_distinct / distinct_expected(pool, n_rows))))
    real, own = (repeats_seen(counts, int(table.sum()), drawn) for counts in (pool, release))
    if 0.0 < real.expected < own.expected:
        real = Repeats(real.seen * math.sqrt(own.expected / real.expected), real.exposure)
    if drawn > pool.sum() and (real + own).bound(chance) < real.bound(chance):
        real = real + own
    usual = Repeats(real.expected * _USUAL, _USUAL) if real.exposure < _USUAL else real
    return Copied(n, real.bound(chance), usual.bound(chance), real)


def distinct_expected(pool: np.ndarray, n_rows: int) -> float:
    """Return how many distinct rows that many real ones have, at the least."""
    return float((pool > 0).sum()) * min(1.0, n_rows / max(1, int(pool.sum())))


BLANKED = "missing cells left out"
STRANGE = "cells that are missing or of no real row left out"
_MAX_READ = 2 * 10**7  # rows, times the ways to leave cells out
_MAX_PATTERNS = 256
_MIN_COLUMNS = 5  # of a table: narrower rows, of some cells alone, meet too often by chance
_MAX_NAMED = 5  # columns in a sentence


def changed_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], strange: Mapping[str, np.ndarray]
) -> tuple[str, Copied] | None:
    """Find copies of train rows of which a few cells were changed."""
    if part := partial_copies(codes, n_rows):
        names, train = part
        where = ", ".join(names) if len(names) <= _MAX_NAMED else f"{len(names)} columns"
        return f"{where} left out", train
    rules: tuple[tuple[str, Callable[[], Copied | None]], ...] = (
        (BLANKED, lambda: blanked_copies(codes, n_rows, CHANCE / 4)),
        (STRANGE, lambda: strange_copies(codes, n_rows, strange, CHANCE / 4)),
        ("any one cell left out", lambda: scattered_copies(codes, n_rows, 1, CHANCE / 4)),
        ("any two cells left out", lambda: scattered_copies(codes, n_rows, 2, CHANCE / 4)),
    )
    for left_out, rule in rules:
        without = rule()
        if without is not None and without.beyond_chance:
            return left_out, without
    return None


def partial_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...]
) -> tuple[tuple[str, ...], Copied] | None:
    """Find copies of train rows in which one column was changed."""
    # Columns that are constant in the release and not in train are left out at any rate: rows
    # cannot agree in them. Then each of the others is, one at a time. Any count exceeds its
    # bound in one of a hundred releases of fresh rows, at most.
    #
    # A row's value is the sum of random numbers of its cells, 64 bits each, so that leaving a
    # column out is a subtraction.
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


def blanked_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], chance: float = CHANCE
) -> Copied | None:
    """Count the unique training rows that a release repeats except for missing cells."""
    # Each row of the release is compared in the columns in which it has a value. How often
    # real rows repeat each other in these columns is estimated from their pairs. A cell is
    # never left out because of its value, since the cells that remain would agree with real
    # rows more often than pairs of real rows do. In many tables, rows that lack the same
    # cells are of one kind, and repeat each other more often than other rows do. Therefore, a
    # number beyond chance is also compared with the number of holdout rows that the release
    # repeats in the same way. The result is None if no cell is missing, or if the table has
    # fewer than five columns. Among very many combinations of columns, the most frequent ones
    # are compared.
    n_train, start = n_rows[0], sum(n_rows[:2])
    marks = {name: of_column[start:] < 0 for name, of_column in codes.items()}
    met, expected, n_drawn = np.zeros(n_train, dtype=bool), 0.0, 0
    for classes, chosen in _patterns(codes, n_rows, marks):
        real, release_rows = classes[:start], classes[start:]
        train, pool, release, own = _counts(
            classes, real[:n_train], real, release_rows, release_rows[chosen]
        )
        met |= ((train == 1) & (own > 0))[real[:n_train]]
        drawn = int((own > 0).sum())
        expected += _expected(pool, release, n_train, drawn)
        n_drawn += drawn
    if not n_drawn:
        return None
    exposure = repeats_seen(np.ones(start, dtype=int), n_train, n_drawn).exposure
    seen = Repeats(expected * exposure, exposure)
    of_pairs = Copied(int(met.sum()), seen.bound(chance), repeats=seen)
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
    # Every cell that remains is known to be real, and in columns of many levels such cells
    # often agree with a real row. How many rows agree by chance is therefore counted among
    # the holdout rows, from which the cells are selected in the same way. The result is None
    # without holdout rows, if there are no such cells, or if the table has fewer than five
    # columns.
    return _beside_holdout(_patterns(codes, n_rows, strange), n_rows, chance)


def _patterns(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], marks: Mapping[str, np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield classes of all rows without the columns that release rows have marked, and which do."""
    names = list(codes)
    marked = np.column_stack([marks[name] for name in names])
    if len(names) < _MIN_COLUMNS or not marked.any():
        return
    patterns, which, sizes = np.unique(marked, axis=0, return_inverse=True, return_counts=True)
    most = min(_MAX_PATTERNS, max(1, _MAX_READ // sum(n_rows)))
    chosen = np.argsort(-sizes, kind="stable")[:most]
    left_out = [tuple(np.array(names)[patterns[i]]) for i in chosen]
    for i, values in zip(chosen, _without(codes, left_out), strict=True):
        yield pd.factorize(values)[0], which.ravel() == i


def _counts(classes: np.ndarray, *parts: np.ndarray) -> list[np.ndarray]:
    """Return how often each of the classes is in each of the parts."""
    n_classes = int(classes.max(initial=-1)) + 1
    return [np.bincount(part, minlength=n_classes) for part in parts]


def _expected(pool: np.ndarray, release: np.ndarray, n_train: int, n_drawn: int) -> float:
    """Return how many repeats are expected, of a release that may repeat itself more than most."""
    real, own = (repeats_seen(counts, n_train, n_drawn).expected for counts in (pool, release))
    return float(np.sqrt(real * max(real, own)))


def scattered_copies(
    codes: Mapping[str, np.ndarray], n_rows: tuple[int, ...], k: int, chance: float = CHANCE
) -> Copied | None:
    """Count unique training rows that a release repeats except for any `k` cells of each row."""
    # How many rows agree by chance is counted among the holdout rows. The result is None
    # without holdout rows, if no column would be left, or if there are too many rows and
    # columns.
    left_out = list(combinations(codes, k))
    if len(codes) <= k + 1 or len(left_out) * sum(n_rows) > _MAX_READ:
        return None
    every = np.ones(n_rows[2], dtype=bool)
    compared = ((pd.factorize(values)[0], every) for values in _without(codes, left_out))
    return _beside_holdout(compared, n_rows, chance)


def _beside_holdout(
    compared: Iterator[tuple[np.ndarray, np.ndarray]], n_rows: tuple[int, ...], chance: float
) -> Copied | None:
    """Count the training rows that release rows match, and the holdout rows in the same way."""
    # Only a row that no other real row equals counts, so that a row counts for the training
    # data and for the holdout data under the same condition, at any sizes of the two.
    n_train, n_holdout, n_release = n_rows
    start = n_train + n_holdout
    hit, by = np.zeros(start, dtype=bool), np.zeros((2, n_release), dtype=bool)
    n_compared = 0
    for classes, chosen in compared if n_holdout else ():
        real, release = classes[:start], classes[start:]
        train, holdout, own = _counts(classes, real[:n_train], real[n_train:], release[chosen])
        met = (train + holdout == 1) & (own > 0)
        hit |= met[real]
        for side, table in zip(by, (train, holdout), strict=True):
            side |= chosen & (met & (table == 1))[release]
        n_compared += 1
    if not n_compared:
        return None
    of_train, of_holdout = (
        min(int(rows.sum()), int(side.sum()))
        for rows, side in zip((hit[:n_train], hit[n_train:]), by, strict=True)
    )
    repeats = Repeats(float(of_holdout), n_holdout / n_train)
    return Copied(of_train, repeats.bound(chance), repeats=repeats)


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
    # sorted with the table in the two lowest bits, rows are counted without a table of hashes
    tables = np.repeat(np.arange(3, dtype=np.uint64), n_rows)
    rows = np.sort((values & ~np.uint64(3)) | tables)
    starts = np.flatnonzero(np.diff(rows >> np.uint64(2), prepend=np.uint64(2**63)))
    of_table = (rows & np.uint64(3)).astype(np.int8)
    train, holdout, release = (
        np.add.reduceat(of_table == k, starts, dtype=np.int64) for k in range(3)
    )
    return copied(release, train, train + holdout, chance)


def copies_of(what: str, counts: Mapping[str, np.ndarray]) -> Copies:
    """Return how many unique rows of train and of the holdout a release repeats, and may."""
    release, train = counts["synthetic"], counts["train"]
    holdout = counts.get("holdout")
    pool = train if holdout is None else train + holdout
    return Copies(
        what,
        train=copied(release, train, pool),
        holdout=None if holdout is None else copied(release, holdout, pool),
        n_distinct=int((release > 0).sum()),
        n_expected=int(distinct_expected(pool, int(release.sum()))),
    )
