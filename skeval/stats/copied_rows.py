"""How many rows of a release equal a row that is unique in a real table, where nothing was copied.

Real rows repeat each other: most do in a narrow table, and none in a wide one. Pairs of real rows
show how often they do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
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
    def expected_count(self) -> float:
        """How many repeats a release of fresh rows has on average."""
        return self.seen / self.exposure

    @property
    def upper_bound(self) -> int:
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
    def leak_sentence(self) -> str:
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


def count_copies(
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
    drawn = max(1, round(n_rows * min(1.0, n_distinct / expected_distinct_rows(pool, n_rows))))
    real, own = (repeats_seen(counts, int(table.sum()), drawn) for counts in (pool, release))
    if 0.0 < real.expected_count < own.expected_count:
        real = Repeats(
            real.seen * math.sqrt(own.expected_count / real.expected_count), real.exposure
        )
    if drawn > pool.sum() and (real + own).bound(chance) < real.bound(chance):
        real = real + own
    usual = Repeats(real.expected_count * _USUAL, _USUAL) if real.exposure < _USUAL else real
    return Copied(n, real.bound(chance), usual.bound(chance), real)


def expected_distinct_rows(pool: np.ndarray, n_rows: int) -> float:
    """Return how many distinct rows that many real ones have, at the least."""
    return float((pool > 0).sum()) * min(1.0, n_rows / max(1, int(pool.sum())))


def copies_of(what: str, counts: Mapping[str, np.ndarray]) -> Copies:
    """Return how many unique rows of train and of the holdout a release repeats, and may."""
    release, train = counts["synthetic"], counts["train"]
    holdout = counts.get("holdout")
    pool = train if holdout is None else train + holdout
    return Copies(
        what,
        train=count_copies(release, train, pool),
        holdout=None if holdout is None else count_copies(release, holdout, pool),
        n_distinct=int((release > 0).sum()),
        n_expected=int(expected_distinct_rows(pool, int(release.sum()))),
    )
