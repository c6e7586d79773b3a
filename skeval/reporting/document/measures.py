"""Measures without a row on the first page, next to the values of unseen rows."""

from __future__ import annotations

import math
from collections.abc import Mapping

from skeval.reporting.document.axis_rows import row_of_100, ticks
from skeval.reporting.document.blocks import Comparison, ComparisonRow, RowGroup
from skeval.reporting.document.details import mapping_at
from skeval.reporting.document.fidelity import outcome_of_difference
from skeval.reporting.document.numbers import score
from skeval.reporting.document.sentences.fidelity import measure_note
from skeval.reporting.document.spans import compose
from skeval.results.result import Result

LEGEND = (("value", "synthetic rows"), ("reference", "unseen rows"), ("interval", "95% interval"))


def measure_rows(
    title: str, results: Mapping[str, Result], titles: Mapping[str, str]
) -> Comparison:
    """Return one row per measure. Measures from 0 (worst) to 100 (best) share one axis."""
    rows = tuple(_row(titles[name], result) for name, result in results.items())
    return Comparison(
        name="measures",
        title=title,
        heads=("Measure", "synth.", "unseen", "outcome"),
        legend=LEGEND,
        groups=(RowGroup("", rows),),
        low=0.0,
        high=100.0,
        ticks=ticks(0.0, 100.0),
        alternative="Values of synthetic and unseen rows on a scale of 100.",
    )


def _row(title: str, result: Result) -> ComparisonRow:
    outcome = outcome_of_difference(result)
    label, baseline = compose("{title}", title=title), result.baseline
    worst = str(mapping_at(result.details, "worst").get("column") or "")
    sign = result.tags.sign if result.tags is not None else 0
    is_of_100 = sign > 0 and result.tags is not None and result.tags.bounds == (0.0, 1.0)
    note = measure_note(worst, is_lower_better=sign < 0)
    if not is_of_100:
        return ComparisonRow(
            label, note, outcome, outcome.word, score(result.value), score(baseline)
        )
    unseen = None if baseline is None or math.isnan(baseline) else 100.0 * baseline
    ends = None if result.interval is None else (100 * result.interval[0], 100 * result.interval[1])
    return row_of_100(label, note, outcome, 100.0 * result.value, unseen, ends)
