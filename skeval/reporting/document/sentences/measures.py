"""The small print of measures."""

from __future__ import annotations

from skeval.reporting.document.spans import Text, compose, name


def measure_note(worst: str, *, is_lower_better: bool) -> Text:
    """Return which column is worst, and which way is good if it is not the usual one."""
    where = compose("worst: {worst}", worst=name(worst)) if worst else ()
    direction = compose("lower is better") if is_lower_better else ()
    return (*where, *compose("; "), *direction) if where and direction else where or direction
