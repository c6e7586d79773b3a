"""Base class of screening metrics that use one or several samples of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Any

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.families import NeighborMetric
from skeval.exceptions import InvalidParameterError
from skeval.utils.parameters import Count


@declared
class DrawnScreen(NeighborMetric):
    """Base class of screening metrics that use one or several samples of the tables.

    Parameters
    ----------
    num_rows_subsample : int or None, default=None
        Number of rows that are sampled from each table, `num_iterations` times. The results are
        averaged. If None, all rows are used.
    num_iterations : int, default=1
        Number of samples. More than one requires `num_rows_subsample`.
    """

    _: KW_ONLY
    num_rows_subsample: Count | None = None
    num_iterations: Count = 1

    def _prepare(self, context: Context) -> None:
        if self.num_iterations > 1 and self.num_rows_subsample is None:
            raise InvalidParameterError(
                f"{type(self).__name__}: num_iterations={self.num_iterations} without "
                "num_rows_subsample would repeat the same computation. Set num_rows_subsample, "
                "or num_iterations=1."
            )

    def _samples(self) -> Iterator[dict[str, Any]]:
        """Yield the arguments that select the rows of each sample."""
        n = self.num_rows_subsample
        for seed in range(self.random_state, self.random_state + self.num_iterations):
            yield {"n_query": n, "n_reference": n, "seed": seed}
