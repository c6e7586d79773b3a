"""Rows of a value next to its reference on an axis of percent or of 100, and the ticks of axes."""

from __future__ import annotations

import math
from collections.abc import Iterable

from skeval.reporting.document.blocks import ComparisonRow
from skeval.reporting.document.numbers import NOTHING, hundredths, rate
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import Text
from skeval.reporting.document.trials import Trial

Ends = tuple[float, float]
Ticks = tuple[tuple[float, str], ...]


def trial_row(
    trial: Trial | None,
    label: Text,
    note: Text,
    outcome: Outcome,
    answer: str,
    limit: float | None = None,
) -> ComparisonRow:
    """Return the two rates of a trial in percent, or a row without numbers."""
    if trial is None or not trial.has_tested_numbers:
        return ComparisonRow(label, note, outcome, answer, NOTHING, NOTHING)
    return ComparisonRow(
        label,
        note,
        outcome,
        answer,
        rate(trial.observed),
        rate(trial.expected),
        place(100.0 * trial.observed),
        None if trial.expected is None else place(100.0 * trial.expected),
        _percent_interval(trial.interval),
        _percent_interval(trial.expected_interval),
        None if limit is None else place(100.0 * limit),
    )


def row_of_100(
    label: Text,
    note: Text,
    outcome: Outcome,
    value: float,
    unseen: float | None,
    interval: Ends | None = None,
    limit: float | None = None,
) -> ComparisonRow:
    """Return a value of 100 next to the value of unseen rows."""
    return ComparisonRow(
        label,
        note,
        outcome,
        outcome.word,
        hundredths(value),
        hundredths(unseen),
        None if math.isnan(value) else place(value),
        None if unseen is None else place(unseen),
        None if interval is None else (place(interval[0]), place(interval[1])),
        limit=limit,
    )


def place(value: float) -> float:
    """Return a place on an axis, rounded so that documents are small."""
    return round(value, 3)


def _percent_interval(interval: Ends | None) -> Ends | None:
    if interval is None:
        return None
    low, high = (place(100.0 * min(1.0, max(0.0, end))) for end in interval)
    return low, high


def ticks(low: float, high: float, n: int = 4, unit: str = "") -> Ticks:
    """Return the ends of parts of an axis, of which every second one is labeled."""
    places = (low + i * (high - low) / n for i in range(n + 1))
    return tuple((x, "" if i % 2 else f"{x:g}{unit}") for i, x in enumerate(places))


def axis_of_100(values: Iterable[float | None]) -> tuple[float, Ticks]:
    """Return the lower end and the ticks of an axis up to 100 that shows these values."""
    known = [value for value in values if value is not None]
    low = min(50.0, 25.0 * math.floor(min(known) / 25.0)) if known else 50.0
    step = 25 if low >= 25.0 else 50
    return low, tuple((float(x), str(x)) for x in range(int(low), 101, step))
