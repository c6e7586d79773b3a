"""Requirements of the checks, and the errors if a metric violates them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from skeval.exceptions import SkevalError
from skeval.results.result import Result


class CheckFailedError(SkevalError, AssertionError):
    """A metric violates the contract."""


class StyleError(CheckFailedError):
    """A metric is correct, but violates a rule of form."""


def demand(kept: bool, promise: str, kind: type[CheckFailedError] = CheckFailedError) -> None:
    """Raise an error if a requirement is violated."""
    if not kept:
        raise kind(promise)


def demand_the_same_bits(first: Result, second: Result, what: str) -> None:
    """Raise an error if two results differ. A difference in the last bits is a style failure."""
    last_bits = []
    for name, (before, after) in _numbers_of(first, second).items():
        one, other = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
        said = f"the {name} depends on {what}: {before}, then {after}."
        demand(np.allclose(one, other, rtol=1e-12, atol=1e-12, equal_nan=True), said)
        last_bits += [] if np.array_equal(one, other, equal_nan=True) else [said]
    demand(not last_bits, f"{' '.join(last_bits)} {_LAST_BITS}", StyleError)


def _numbers_of(first: Result, second: Result) -> dict[str, tuple[Any, Any]]:
    """Return pairs of numbers of two results, including the numbers of their contrasts."""
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
    """Return the error of this class that an action raises, or None."""
    try:
        action()
    except kind as error:
        return error
    return None


def same(a: float, b: float, tolerance: float = 1e-6) -> bool:
    """Return whether two values are equal, where nan equals nan."""
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (
        math.isnan(a) and math.isnan(b)
    )
