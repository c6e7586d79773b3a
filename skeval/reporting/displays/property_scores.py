"""The scores behind a property of a quality report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skeval.reporting.displays.column_scores import ColumnScoresDisplay
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult


class PropertyDisplay(ColumnScoresDisplay):
    """The scores behind a property of a quality report, the worst first."""

    def __init__(self, suite_result: SuiteResult, property: str | None = None) -> None:
        details = suite_result.details(property)
        places = details[["table", "what"] if property else ["property", "table", "what"]]
        names = [": ".join(filter(None, map(str, place))) for place in places.to_numpy()]
        columns: dict[str, Any] = {
            to: dict(zip(names, details[of], strict=True))
            for to, of in (("columns", "score"), ("baseline_columns", "baseline"))
        }
        group = (
            result
            for name, result in suite_result.items()
            if name.startswith(f"{property or name.partition('/')[0]}/")
        )
        first = next(group, Result(float("nan")))
        tags = None if first.tags is None else replace(first.tags, bounds=(0.0, 1.0))
        super().__init__(Result(float(details["score"].mean()), tags=tags, details=columns))
