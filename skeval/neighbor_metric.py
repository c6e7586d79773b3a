"""Base of the metrics that look for nearest rows in a space."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.parameters import Columns, JobCount, Scaling, Seed, Space
from skeval.result import Result, undefined
from skeval.steps.exposure import advice_on_leak
from skeval.steps.neighbors import is_gower, nearest
from skeval.steps.samples import column_key

ColumnKey = tuple[str, ...] | None


class NeighborMetric(Metric):
    """Base of the metrics of nearest rows: first the value, then its evidence.

    Authors write ``_measure(context, columns)``, which returns the value, all that ``score``
    needs, and ``_with_evidence(context, columns, result)``, which adds the interval, the p-value,
    the baseline and the details for ``evaluate``. Columns come in the form of
    :func:`~skeval.steps.samples.column_key`.
    """

    space: Any = "gower"
    columns: int | list[str] | None

    def __init__(
        self,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
        n_jobs: JobCount | None = None,
    ) -> None:
        self.space = space
        self.columns = columns
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _scaling(self) -> Scaling:
        """How it scales: a space of one's own may make many numbers of each."""
        return "neighbours" if is_gower(self.space) else "sampled"

    def _compute(self, context: Context) -> float | Result:
        if isinstance(self.space, str) and not context.schema.measured:
            return undefined("no column of this table can be measured.")
        return self._measure(context, self._key(context))

    def _key(self, context: Context) -> ColumnKey:
        return None if self.columns is None else column_key(context.schema, self.columns)

    def _measure(self, context: Context, columns: ColumnKey) -> float | Result:
        raise NotImplementedError(f"{type(self).__name__} must define _measure.")

    def _in_relation(self, context: Context, result: Result) -> Result:
        if not np.isnan(result.value):
            result = self._with_evidence(context, self._key(context), result)
        return super()._in_relation(context, result)

    def _leak_advice(self, context: Context) -> str:
        return advice_on_leak(context, self._key(context))

    def _with_evidence(self, context: Context, columns: ColumnKey, result: Result) -> Result:
        return result

    def _distances(
        self, context: Context, query: str, reference: str, columns: ColumnKey, **samples: Any
    ) -> np.ndarray:
        """Return the distance of each query row to its nearest reference row; or in `samples`."""
        settings = {"space": self.space, "columns": columns, **samples}
        return nearest(context, query, reference, **settings)[0][:, 0]
