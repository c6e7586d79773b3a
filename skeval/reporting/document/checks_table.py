"""The checks of structure, ranges, categories and missing cells, with columns that fall short."""

from __future__ import annotations

import math

from skeval.reporting.document.blocks import Cell, Table
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.metric_titles import metric_titles
from skeval.reporting.document.numbers import score
from skeval.reporting.document.sentences import columns as say
from skeval.reporting.document.spans import compose
from skeval.reporting.document.tables import results_with_value
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult

_ROUNDED = 0.005  # below which a score is printed as the best one


def checks_table(results: SuiteResult) -> Table | None:
    """Return the checks below their best value, and name the other checks in a note."""
    titles, rows, at_best = metric_titles(results), [], []
    for name, result in results_with_value(results, "validity").items():
        if result.value == _best(result):
            at_best.append(titles[name])
            continue
        texts = compose(score(result.value)), compose(score(result.baseline))
        worst = say.short_columns(_short_columns(result))
        rows.append(tuple(map(Cell, (compose("{title}", title=titles[name]), *texts, worst))))
    if not rows and not at_best:
        return None
    heads = ("Check", "Value", "Unseen", "Columns below the best value")
    aligned = ("left", "right", "right", "left")
    note = say.checks_note(at_best)
    return Table("checks", "Structure and values", note, heads, aligned, (("", tuple(rows)),))


def _best(result: Result) -> float:
    if result.tags is None:
        return math.inf
    return (max if result.tags.sign >= 0 else min)(result.tags.bounds)


def _short_columns(result: Result) -> dict[str, float]:
    """Return the columns below the best value with their scores, the worst first."""
    best, sign = _best(result), -1 if result.tags is not None and result.tags.sign < 0 else 1
    scores = mapping_at(result.details, "columns")
    known = {column: number_at(scores, column) for column in scores}
    short = [column for column, value in known.items() if sign * (best - value) > _ROUNDED]
    return {column: known[column] for column in sorted(short, key=lambda c: sign * known[c])}
