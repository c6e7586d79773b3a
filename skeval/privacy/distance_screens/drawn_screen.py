"""Screens that may use samples of the tables, drawn once or several times."""

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
    """Base of the screens that may look at samples of the tables, once or several times.

    Parameters
    ----------
    num_rows_subsample : int or None, default=None
        If given, this many rows of each table are drawn, `num_iterations` times, and the numbers
        averaged.
    num_iterations : int, default=1
        Number of draws; more than one needs `num_rows_subsample`.
    """

    _: KW_ONLY
    num_rows_subsample: Count | None = None
    num_iterations: Count = 1

    def _prepare(self, context: Context) -> None:
        if self.num_iterations > 1 and self.num_rows_subsample is None:
            raise InvalidParameterError(
                f"{type(self).__name__}: num_iterations={self.num_iterations} repeats one "
                "computation; give num_rows_subsample, or leave num_iterations at 1."
            )

    def _samples(self) -> Iterator[dict[str, Any]]:
        """Yield, by draw, which rows are looked at."""
        n = self.num_rows_subsample
        for seed in range(self.random_state, self.random_state + self.num_iterations):
            yield {"n_query": n, "n_reference": n, "seed": seed}
