"""What a check demands of a metric, and the error if the metric breaks its promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from skeval.exceptions import SkevalError
from skeval.results.result import Result


class CheckFailedError(SkevalError, AssertionError):
    """A metric breaks a promise of the contract."""


class StyleError(CheckFailedError):
    """A metric is correct, and does not follow a rule of form."""


def demand(kept: bool, promise: str, kind: type[CheckFailedError] = CheckFailedError) -> None:
    """Raise unless the promise is kept."""
    if not kept:
        raise kind(promise)


def demand_the_same_bits(first: Result, second: Result, what: str) -> None:
    """Raise where a number of two results differs; a difference in the last bits is of form."""
    last_bits = []
    for name, (before, after) in _numbers_of(first, second).items():
        one, other = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
        said = f"the {name} depends on {what}: {before}, then {after}."
        demand(np.allclose(one, other, rtol=1e-12, atol=1e-12, equal_nan=True), said)
        last_bits += [] if np.array_equal(one, other, equal_nan=True) else [said]
    demand(not last_bits, f"{' '.join(last_bits)} {_LAST_BITS}", StyleError)


def _numbers_of(first: Result, second: Result) -> dict[str, tuple[Any, Any]]:
    """Return the numbers of two results side by side, those that their tests compared included."""
    demand(
        (first.contrast is None) == (second.contrast is None), "one of two results has a contrast."
    )
    names = ("value", "interval", "p_value", "baseline", "difference")
    pairs = {name: (getattr(first, name), getattr(second, name)) for name in names}
    if first.contrast is not None and second.contrast is not None:
        for name in ("observed", "expected", "least_p", "n_tests"):
            numbers = getattr(first.contrast, name), getattr(second.contrast, name)
            pairs[f"{name} number of the contrast"] = numbers
    return pairs


_LAST_BITS = "Only last bits differ: add with math.fsum, or sort the columns by name before."


def refusal(kind: type[Exception], action: Callable[[], object]) -> Exception | None:
    """Return the error of this kind that an action raises, if it does."""
    try:
        action()
    except kind as error:
        return error
    return None


def same(a: float, b: float, tolerance: float = 1e-6) -> bool:
    """Return whether two values are equal, nan being equal to nan."""
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (
        math.isnan(a) and math.isnan(b)
    )
