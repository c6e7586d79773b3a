"""What the common checks are written with."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import clone

from skeval._check_tables import Tables
from skeval.base import Metric
from skeval.exceptions import MetricWarning, SkevalError
from skeval.result import Result

__all__ = ["CheckFailedError", "demand", "evaluated", "quiet", "same", "value_of"]


class CheckFailedError(SkevalError, AssertionError):
    """A metric breaks a promise of the contract."""


def demand(kept: bool, promise: str) -> None:
    """Raise unless the promise is kept."""
    if not kept:
        raise CheckFailedError(promise)


def same(a: float, b: float, tolerance: float = 1e-6) -> bool:
    """Tell whether two values are equal, nan being equal to nan."""
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (
        math.isnan(a) and math.isnan(b)
    )


def value_of(metric: Metric, train: Any, holdout: Any, synthetic: Any) -> float:
    """Fit a clone and score."""
    with quiet():
        return clone(metric).fit(train, holdout).score(synthetic)


def evaluated(metric: Metric, tables: Tables) -> Result:
    """Fit a clone and evaluate."""
    with quiet():
        return clone(metric).fit(*tables[:2]).evaluate(tables[2])


@contextmanager
def quiet() -> Iterator[None]:
    """Expect our own warnings: odd tables are what these checks are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        yield
