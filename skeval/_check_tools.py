"""What the common checks are written with."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from sklearn.base import clone

from skeval._check_tables import Tables, default_tables, noise
from skeval.base import Metric
from skeval.exceptions import MetricWarning, SkevalError
from skeval.result import Result

__all__ = ["CheckFailedError", "Evaluations", "demand", "evaluated", "quiet", "same", "value_of"]


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


class Evaluations:
    """What one fit of a metric gives, computed once for all checks that only look at it."""

    def __init__(self, metric: Metric, tables: Tables | None = None) -> None:
        self._metric, self._given = metric, tables

    @cached_property
    def _tables(self) -> Tables:
        return self._given or default_tables()

    @cached_property
    def _fitted(self) -> Metric:
        with quiet():
            return clone(self._metric).fit(*self._tables[:2])

    @cached_property
    def result(self) -> Result:
        """The evaluation of the synthetic table."""
        return self.evaluate(self._tables[2])

    @cached_property
    def of_copy(self) -> float:
        """The value of a copy of train."""
        return self._value_of(self._tables[0])

    @cached_property
    def of_noise(self) -> float:
        """The value of independent uniform columns."""
        return self._value_of(noise(self._tables[0]))

    def evaluate(self, rows: Any) -> Result:
        """Evaluate other rows with the same fit."""
        with quiet():
            return self._fitted.evaluate(rows)

    def _value_of(self, rows: Any) -> float:
        with quiet():
            return self._fitted.score(rows)


@contextmanager
def quiet() -> Iterator[None]:
    """Expect our own warnings: odd tables are what these checks are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        yield
