"""Pairs of dates or numbers whose order synthetic rows reverse, and real rows keep."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skeval.reporting.document.details import number_at, texts_at
from skeval.results.suite_result import SuiteResult


@dataclass(frozen=True)
class ReversedOrder:
    """In which share of the rows the first column is above the second."""

    above: str
    below: str
    is_date: bool
    synthetic: float
    real: float | None
    real_below: float = math.nan  # if the share of few rows is not shown


def find_reversed(results: SuiteResult) -> tuple[ReversedOrder, ...]:
    """Return the pairs of the first metric that looked for them, the worst first."""
    for result in results.values():
        stated = result.details.get("reversed")
        if isinstance(stated, list | tuple) and not result.table:
            return tuple(_read(stated))
    return ()


def _read(stated: list[Any] | tuple[Any, ...]) -> Iterator[ReversedOrder]:
    for one in stated:
        names, synthetic, real = (
            texts_at(one, "columns"),
            number_at(one, "synthetic"),
            number_at(one, "real"),
        )
        if len(names) != 2 or math.isnan(synthetic):
            continue
        shown = None if math.isnan(real) else real
        below = number_at(one, "real_below")
        if shown is not None or not math.isnan(below):
            is_date = one.get("kind") == "datetime"
            yield ReversedOrder(names[0], names[1], is_date, synthetic, shown, below)
