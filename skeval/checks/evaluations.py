"""Evaluations of a metric that its checks share."""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone

from skeval.checks.tables import Tables, change_tables, default_tables, half, noise
from skeval.core.base import Metric
from skeval.exceptions import MetricWarning
from skeval.results.result import Result
from skeval.tables.schema import TableSchema


def value_of(
    metric: Metric, train: Any, holdout: Any, synthetic: Any, schema: TableSchema | None = None
) -> float:
    """Fit a clone and return its score."""
    with quiet():
        return clone(metric).fit(train, holdout, schema=schema).score(synthetic)


def fit_and_evaluate(metric: Metric, tables: Tables) -> Result:
    """Fit a clone and return its result."""
    with quiet():
        return clone(metric).fit(*tables[:2]).evaluate(tables[2])


class First(NamedTuple):
    """Result of the first fit and evaluation, and whether inputs and global state were kept."""

    metric: Metric
    result: Result
    fit_returns_self: bool
    inputs_kept: bool
    state_kept: bool


class Evaluations:
    """Evaluations of a metric on one set of tables, computed once for all checks."""

    def __init__(self, metric: Metric, tables: Tables | None = None) -> None:
        self._metric, self._given = metric, tables

    @cached_property
    def _tables(self) -> Tables:
        given = self._given or default_tables(self._metric)
        train, holdout, synthetic = (change_tables(table, pd.DataFrame.copy) for table in given)
        return train, holdout, synthetic

    @cached_property
    def first(self) -> First:
        """The first fit and evaluation, with a check for changes of inputs and global state."""
        inputs, state = _content(self._tables), _global_state()
        metric = clone(self._metric)
        with quiet():
            returned = metric.fit(*self._tables[:2])
            result = metric.evaluate(self._tables[2])
        inputs_kept, state_kept = inputs == _content(self._tables), state == _global_state()
        return First(metric, result, returned is metric, inputs_kept, state_kept)

    @property
    def result(self) -> Result:
        """The result for the synthetic table."""
        return self.first.result

    @cached_property
    def value_of_copy(self) -> float:
        """The value for a copy of the training data."""
        return self.score(self._tables[0])

    @cached_property
    def results_of_leaks(self) -> tuple[Result, Result]:
        """The results for a copy of the training data, and for half of it."""
        train = self._tables[0]
        return self.evaluate(train), self.evaluate(half(train))

    @cached_property
    def value_of_noise(self) -> float:
        """The value for independent uniform columns."""
        return self.score(noise(self._tables[0]))

    def evaluate(self, rows: Any) -> Result:
        """Evaluate other rows with the first fit."""
        with quiet():
            return self.first.metric.evaluate(rows)

    def score(self, rows: Any) -> float:
        """Return the score of other rows with the first fit."""
        with quiet():
            return self.first.metric.score(rows)


def _content(tables: Tables) -> bytes:
    written = io.BytesIO()
    pickler = pickle.Pickler(written)
    pickler.fast = True  # equal cells are equal bytes, whether or not they are one object
    pickler.dump([_cells(table) for table in tables])
    return written.getvalue()


def _cells(table: Any) -> Any:
    """Return the content of a table, because column types change when they are used."""
    if isinstance(table, Mapping):
        return {name: _cells(part) for name, part in table.items()}
    columns = [column.tolist() for _, column in table.items()]
    return [*table.columns], [*map(str, table.dtypes)], table.index.tolist(), columns


def _global_state() -> tuple[str | None, int]:
    # other code may have changed the global generator
    state = np.random.get_state()  # noqa: NPY002
    return joblib.hash(state), pd.options.display.max_rows


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings of skeval, because these checks use unusual tables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        yield
