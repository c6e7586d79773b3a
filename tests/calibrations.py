"""Rates over many seeds as sequential tests, and the seventh of them that a day runs."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from scipy.optimize import brentq

N_DAYS = 7
_ERROR = 0.02  # how often each side of a rate may be decided wrongly, in either direction
_LIMIT = math.log((1.0 - _ERROR) / _ERROR)


def day_of(name: str) -> int:
    """Return which of seven days a test of this name runs on: the same on each machine."""
    return zlib.crc32(name.encode()) % N_DAYS


class Rate(NamedTuple):
    """What a sequential test found: whether the claim holds, after how many seeds, with which rate."""

    holds: bool
    n_seeds: int
    observed: float


class Claim(NamedTuple):
    """A rate that is claimed, and the bounds that what is observed must not leave."""

    rate: float
    low: float = 0.0
    high: float = 1.0


LEVEL = Claim(0.05, 0.02, 0.08)  # of a test: that it is kept, and that it is used


def rate_of(outcomes: Iterable[bool], claim: Claim) -> Rate:
    """Decide whether a rate is as claimed, rather than outside of the bounds.

    Wald's sequential probability ratio test of the claim against a wrong rate on either side, which
    is so far beyond the bound that an observed rate at the bound speaks for neither. It ends as
    soon as both sides are decided. Outcomes that end before are judged by the bounds.
    """
    return rates_of(({"": outcome} for outcome in outcomes), {"": claim})[""]


def rates_of(
    outcomes: Iterable[Mapping[str, bool]], claims: Mapping[str, Claim]
) -> dict[str, Rate]:
    """Decide on several rates that are counted together, until each of them is decided."""
    found: dict[str, Rate] = {}
    walks = {name: _Walk(claim) for name, claim in claims.items()}
    for outcome in outcomes:
        for name in claims.keys() - found.keys():
            walks[name].add(outcome[name])
            if (holds := walks[name].decided()) is not None:
                found[name] = walks[name].rate(holds)
        if len(found) == len(claims):
            break
    late = {name: walk for name, walk in walks.items() if name not in found}
    return found | {name: walk.rate(walk.is_within()) for name, walk in late.items()}


def all_hold(rates: Mapping[str, Rate]) -> bool:
    """Tell whether each claim holds."""
    return all(rate.holds for rate in rates.values())


class _Walk:
    """The log likelihood ratios of each wrong rate to the claim."""

    def __init__(self, claim: Claim) -> None:
        if not claim.low < claim.rate < claim.high:
            raise ValueError(f"{claim.rate} does not lie between {claim.low} and {claim.high}.")
        self.claim, self.n, self.count = claim, 0, 0
        self.open = [
            (math.log(wrong / claim.rate), math.log((1.0 - wrong) / (1.0 - claim.rate)))
            for wrong in _wrong_rates(claim)
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

    def is_within(self) -> bool:
        return self.claim.low <= self.count / self.n <= self.claim.high

    def rate(self, holds: bool) -> Rate:
        return Rate(holds, self.n, self.count / self.n)


@cache
def _wrong_rates(claim: Claim) -> tuple[float, ...]:
    """Return for each bound the rate at which an observed rate of the bound speaks for neither."""

    def balance(wrong: float, bound: float) -> float:
        misses = math.log((1.0 - claim.rate) / (1.0 - wrong))
        return misses / (misses + math.log(wrong / claim.rate)) - bound

    tiny = 1e-9
    sides = [(claim.low, tiny, claim.rate - tiny)] if claim.low > 0.0 else []
    sides += [(claim.high, claim.rate + tiny, 1.0 - tiny)] if claim.high < 1.0 else []
    return tuple(brentq(balance, least, most, args=(bound,)) for bound, least, most in sides)
