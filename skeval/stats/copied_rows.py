"""The number of rows of a release that equal a unique real row if nothing was copied.

Real rows repeat each other. In a narrow table, most rows do, and in a wide table, no rows do.
The number of such rows is estimated from pairs of real rows.
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

Form = Literal[
    "copies",
    "copies of a value",
    "near copies",
    "near copies in part",
    "near copies of one",
    "values in a cell",
    "values inside cells",
]
UNCOUNTED = "copies of training rows were not counted"  # for example without a metric of copies
CHANCE = 0.01  # probability of more repeats than the bound if nothing was copied
_PRIOR = 0.5  # Jeffreys' prior of a Poisson rate, in observed events
_PAIR = np.array([2])
# Number of pairs of real rows, divided by the number of pairs of a training row and a release row,
# if all tables have the same size
_USUAL = 2.0


@dataclass(frozen=True)
class Repeats:
    """The observed number of real rows that repeat each other."""

    seen: float
    exposure: float

    @property
    def expected_count(self) -> float:
        """The mean number of repeats in a release of new real rows."""
        return self.seen / self.exposure

    def bound(self, chance: float) -> int:
        """Return the number of repeats that new real rows exceed with this probability."""
        # It is a prediction bound. Both the observed and the future number of repeats are
        # random, so that the future number is negative binomial.
        success = self.exposure / (1.0 + self.exposure)
        return int(nbinom.ppf(1.0 - chance, self.seen + _PRIOR, success))

    def __add__(self, other: Repeats) -> Repeats:
        return Repeats(self.seen + other.seen, self.exposure + other.exposure)


def repeats_seen(counts: np.ndarray, n_reference: int, n_drawn: int) -> Repeats:
    """Count in a pool of rows how many values are repeats, over all ways to divide it in two."""
    # A value is a repeat if it occurs once in the reference and at least once among the drawn
    # rows.
    #
    # Let the pool have n rows, of which a rows are the reference and b rows are drawn at random.
    # A value that occurs in c rows of the pool is a repeat with probability
    #
    # .. math:: w_c = h(1; n, c, a) - h(0; n, c, b) \, h(1; n - b, c, a)
    #
    # with h the hypergeometric distribution. The sum over values is the expected number of
    # repeats. A pair of equal rows counts as one observed event.
    pool = int(counts.sum())
    if pool < 2:
        return Repeats(0.0, 1.0 / max(1, n_reference * n_drawn))
    drawn = min(n_drawn, max(1, pool - n_reference), pool - 1) if n_reference < pool else 0
    drawn = drawn or max(1, min(n_drawn, pool // 2))
    reference = min(n_reference, pool - drawn)
    scale = n_reference / reference * n_drawn / drawn
    copies, n_values = np.unique(np.concatenate([counts[counts > 1], _PAIR]), return_counts=True)
    n_values[copies == 2] -= 1  # the added pair, which was not observed
    chance = scale * _repeat_chance(copies, pool, reference, drawn)
    heaviest = float(chance.max())
    return Repeats(float(n_values @ chance) / heaviest, 1.0 / heaviest)


def _repeat_chance(copies: np.ndarray, pool: int, reference: int, drawn: int) -> np.ndarray:
    once = chance_of_one(copies, pool, reference)
    undrawn = np.exp(_log_ways(pool - copies, drawn) - _log_ways(pool, drawn))
    return np.maximum(0.0, once - undrawn * chance_of_one(copies, pool - drawn, reference))


def chance_of_one(copies: np.ndarray, pool: int, reference: int) -> np.ndarray:
    """Return the probability that exactly one of the copies is in the reference."""
    log = _log_ways(pool - copies, reference - 1) - _log_ways(pool, reference)
    return np.asarray(copies * np.exp(log))


def _log_ways(n: np.ndarray | int, k: int) -> np.ndarray:
    possible = np.asarray(n) >= k
    return np.where(possible, log_choose(np.where(possible, n, k), k), -np.inf)


@dataclass(frozen=True)
class Copied:
    """The number of rows of a release that are unique in a real table, with its bound."""

    n: int
    most: int
    usual: int = field(default=-1, compare=False, repr=False)
    repeats: Repeats | None = field(default=None, compare=False, repr=False)
    chance: float = field(default=CHANCE, compare=False, repr=False)

    def of_several(self, n_counts: int) -> Copied:
        """Return the count with a bound that is corrected for this number of counts."""
        if self.repeats is None or n_counts < 2:
            return self
        return replace(self, most=max(self.most, self.repeats.bound(self.chance / n_counts)))

    @property
    def beyond_chance(self) -> bool:
        """Whether there are more than the bound."""
        return self.n > self.most

    @property
    def in_doubt(self) -> bool:
        """Whether there would be more than the bound if there were more real rows."""
        return 0 <= self.usual < self.n <= self.most


@dataclass(frozen=True)
class Copies:
    """The number of unique training records that a release repeats, with its bound."""

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
        """The sentence on copies if there are more than the bound, or an empty text."""
        if not self.train.beyond_chance:
            return ""
        most = self.train.most
        by_chance = f"at most {most:,}" if most else "none"
        return f"Copies found: {self._standing}, compared with {by_chance} expected by chance."

    @property
    def some(self) -> str:
        """The sentence on copies if there are no more than the bound, or an empty text."""
        if not self.train.n or self.train.beyond_chance or self.form.startswith("near"):
            return ""
        return f"{self._standing}, compared with up to {self.train.most:,} expected by chance"

    @property
    def _standing(self) -> str:
        n = self.train.n
        if self.form == "copies of a value":
            return f"{n:,} {self.what} that a single training row has are in the release"
        if self.form == "near copies":
            return f"{n:,} {self.what} of the training data have a near copy in the synthetic data"
        if self.form == "near copies in part":
            return f"{n:,} {self.what} of the training data have many values in one synthetic row"
        if self.form == "near copies of one":
            return f"{n:,} synthetic {self.what} are near copies of one training record"
        if self.form == "values in a cell":
            rows = "row" if n == 1 else "rows"
            return f"single cells of the release contain {self.what} of {n:,} training {rows}"
        which, stand = ("one of the", "occurs") if n == 1 else (f"{n:,}", "occur")
        if self.form == "values inside cells":
            said = f"cells of the release contain, at least in part, {which} {self.what}"
            return f"{said} that are unique in the training data"
        return f"{which} {self.what} that are unique in the training data {stand} in the release"

    @property
    def of_holdout(self) -> str:
        """The sentence on copies of holdout rows if there are more than the bound."""
        if self.holdout is None or not self.holdout.beyond_chance:
            return ""
        return (
            f"{self.holdout.n:,} {self.what} that are unique in the holdout occur in the release, "
            f"compared with at most {self.holdout.most:,} expected by chance. The generator may "
            "have had access to holdout rows, unless the roles are mixed up."
        )

    @property
    def hidden(self) -> str:
        """The sentence on cells that cannot be read if they are in more rows than the bound."""
        if self.unread <= self.train.most:
            return ""
        return (
            f"In {self.unread:,} {self.what} of the release, cells cannot be read. Therefore, it "
            "cannot be determined whether these are copies."
        )

    @property
    def untold(self) -> str:
        """The sentence on copies if there are too few real rows to estimate the bound."""
        if not self.train.in_doubt:
            return ""
        return (
            f"{self.train.n:,} {self.what} that are unique in the training data occur in the "
            "release. There are too few real rows to estimate how many are expected by chance."
        )

    def of_several(self, n_counts: int, where: str) -> Copies:
        """Return the counts as the counts of one of this number of parts of the tables."""
        held = None if self.holdout is None else self.holdout.of_several(n_counts)
        train = self.train.of_several(n_counts)
        return replace(self, what=f"{self.what} {where}", train=train, holdout=held)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        content = asdict(self)
        for role in ("train", "holdout"):
            if content[role] is not None:
                del content[role]["repeats"], content[role]["chance"]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Copies:
        """Rebuild the object from the result of :meth:`to_dict`."""
        numbers = {name: int(content[name]) for name in ("n_distinct", "n_expected")}
        of = {
            role: None
            if (one := content[role]) is None
            else Copied(int(one["n"]), int(one["most"]), int(one.get("usual", -1)))
            for role in ("train", "holdout")
        }
        if of["train"] is None:
            raise TypeError("copies: the counts of the training data are missing.")
        numbers["unread"] = int(content.get("unread", 0))  # earlier files do not have this field
        known, form = as_float(content["known"]), content.get("form", "copies")
        if form not in get_args(Form):
            raise TypeError(f"copies: unknown form {form!r}.")
        what, train, holdout = str(content["what"]), of["train"], of["holdout"]
        return cls(what, train=train, holdout=holdout, **numbers, known=known, form=form)


def count_copies(
    release: np.ndarray, table: np.ndarray, pool: np.ndarray, chance: float = CHANCE
) -> Copied:
    """Count the unique rows of a table that a release repeats, and compute the bound."""
    # The rate of repeats is estimated from pairs of real rows. Two properties of the release are
    # used as well. First, a release may repeat itself more than real rows do, for example because
    # a generator of common rows matches more real rows. Then, the rate is the geometric mean of
    # both rates, which is the maximum agreement of two distributions by the inequality of Cauchy
    # and Schwarz. This requires that some real rows repeat. Second, a release may have more rows
    # than all real tables. Then, its pairs of rows are counted as well, because they give a better
    # estimate of the rate.
    #
    # A release with fewer distinct rows than real rows would have counts as a smaller release,
    # because several copies of one row count once.
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
    return Copied(n, real.bound(chance), usual.bound(chance), real, chance)


def expected_distinct_rows(pool: np.ndarray, n_rows: int) -> float:
    """Return the minimum number of distinct rows among this number of real rows."""
    return float((pool > 0).sum()) * min(1.0, n_rows / max(1, int(pool.sum())))


def copies_of(what: str, counts: Mapping[str, np.ndarray]) -> Copies:
    """Return how many unique training and holdout rows a release repeats, with bounds."""
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
