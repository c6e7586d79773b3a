"""Smallest leaks that the tests of a suite would have found, from the details of its metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from skeval.results.result import Result
from skeval.stats.smallest_leaks import excess_at
from skeval.utils.formatting import as_float

_SEVERAL = ("attacks", "secrets")  # keys of details with one entry for each attack


def smallest_excess(details: Any, level: float) -> float:
    """Return the smallest excess fraction that a test at this level finds, or nan."""
    stated = details.get("smallest_leak") if isinstance(details, Mapping) else None
    if not isinstance(stated, Mapping):
        return math.nan
    try:
        levels, excesses = ([as_float(one) for one in stated[k]] for k in ("levels", "excess"))
        return excess_at(level, levels, excesses)
    except (TypeError, ValueError, KeyError):
        return math.nan


def smallest_leaks(results: Mapping[str, Result], levels: Mapping[str, float]) -> dict[str, float]:
    """Return the smallest excess that each test would have found, if it is known."""
    found = {
        name: min(_excesses(results[name].details, level), default=math.nan)
        for name, level in levels.items()
    }
    return {name: one for name, one in found.items() if not math.isnan(one)}


def _excesses(details: Mapping[str, Any], level: float) -> Iterator[float]:
    of_attacks = (details.get(key) for key in _SEVERAL)
    several = (
        one for attacks in of_attacks if isinstance(attacks, Mapping) for one in attacks.values()
    )
    for one in (details, *several):
        if not math.isnan(excess := smallest_excess(one, level)):
            yield excess
