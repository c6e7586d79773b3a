"""The names of metrics as people write them."""

from __future__ import annotations

from collections import Counter

from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import title_of


def metric_titles(results: SuiteResult) -> dict[str, str]:
    """Return the title of each result, with its name if several are of one class."""
    titles = {name: _title(name, result) for name, result in results.items()}
    n_same = Counter(titles.values())
    return {
        name: title if n_same[title] == 1 or name == title else f"{title} ({name})"
        for name, title in titles.items()
    }


def _title(name: str, result: Result) -> str:
    title = title_of(result.metric) if result.metric else name
    return f"{title}, {result.table}" if result.table and result.metric else title
