"""Rates over many seeds as sequential tests, and the seventh of them that a day runs."""

from __future__ import annotations

import math
import zlib
from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, TypeVar

from scipy.optimize import brentq

N_DAYS = 7
_ERROR = 0.02  # how often each side of a rate may be decided wrongly, in either direction
_LIMIT = math.log((1.0 - _ERROR) / _ERROR)

K = TypeVar("K", bound=Hashable)


def day_of(nodeid: str) -> int:
    """Return which of seven days a calibration runs on: the same on each machine."""
    return zlib.crc32(nodeid.encode()) % N_DAYS


class Rate(NamedTuple):
    """What a sequential test found: whether the claim holds, after how many seeds, with which rate."""

    holds: bool
    n_seeds: int
    observed: float


def rate_of(outcomes: Iterable[bool], claim: float, low: float = 0.0, high: float = 1.0) -> Rate:
    """Decide whether a rate is as claimed, rather than outside of `low` to `high`.

    Wald's sequential probability ratio test of the claim against a wrong rate on either side, which
    lies as far beyond the bound as the claim lies within: at the bound itself neither gains. It
    ends as soon as both sides are decided. Outcomes that end before are judged by the bounds.
    """
    return rates_of(({"": outcome} for outcome in outcomes), claim, low, high)[""]


def rates_of(
    outcomes: Iterable[Mapping[K, bool]], claim: float, low: float = 0.0, high: float = 1.0
) -> dict[K, Rate]:
    """Decide on several rates that are counted together, until each of them is decided."""
    found: dict[K, Rate] = {}
    walks: dict[K, _Walk] = {}
    for outcome in outcomes:
        for name in outcome.keys() - found.keys():
            walk = walks.setdefault(name, _Walk(claim, low, high))
            walk.add(outcome[name])
            if (holds := walk.decided()) is not None:
                found[name] = walk.rate(holds)
        if outcome.keys() <= found.keys():
            break
    late = {name: walk for name, walk in walks.items() if name not in found}
    return found | {name: w.rate(low <= w.count / w.n <= high) for name, w in late.items()}


class _Walk:
    """The log likelihood ratios of each wrong rate to the claim."""

    def __init__(self, claim: float, low: float, high: float) -> None:
        if not low < claim < high:
            raise ValueError(f"The claim {claim} does not lie between {low} and {high}.")
        self.n, self.count = 0, 0
        self.open = [
            (math.log(wrong / claim), math.log((1.0 - wrong) / (1.0 - claim)))
            for wrong in _wrong_rates(claim, low, high)
        ]

    def add(self, outcome: bool) -> None:
        self.n += 1
        self.count += bool(outcome)

    def decided(self) -> bool | None:
        """Return whether the claim holds, None while that is open."""
        misses = self.n - self.count
        ratios = [self.count * hit + misses * miss for hit, miss in self.open]
        if any(ratio >= _LIMIT for ratio in ratios):
            return False
        pairs = zip(self.open, ratios, strict=True)
        self.open = [steps for steps, ratio in pairs if ratio > -_LIMIT]
        return None if self.open else True

    def rate(self, holds: bool) -> Rate:
        return Rate(holds, self.n, self.count / self.n)


@cache
def _wrong_rates(claim: float, low: float, high: float) -> tuple[float, ...]:
    """Return for each bound the rate at which an observed rate of the bound speaks for neither."""

    def balance(wrong: float, bound: float) -> float:
        misses = math.log((1.0 - claim) / (1.0 - wrong))
        return misses / (misses + math.log(wrong / claim)) - bound

    tiny = 1e-9
    sides = [(low, tiny, claim - tiny)] if low > 0.0 else []
    sides += [(high, claim + tiny, 1.0 - tiny)] if high < 1.0 else []
    return tuple(brentq(balance, least, most, args=(bound,)) for bound, least, most in sides)
