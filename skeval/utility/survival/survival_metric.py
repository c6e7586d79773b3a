"""Base class of survival metrics, and the follow-up times and events of a table."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.core.tags import MetricTags
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MetricWarning
from skeval.results.result import Result, undefined_result
from skeval.steps.problem import as_level, larger_code
from skeval.tables.cells import as_texts
from skeval.tables.preprocessing import NOMINAL, numbers
from skeval.utils.parameters import ColumnName, Label

SURVIVAL_TAGS = MetricTags("utility", greater_is_better=True, bounds=(0.0, 1.0))


@dataclass(frozen=True)
class Outcome:
    """The columns of the duration and the event."""

    duration: str
    event: str
    pos_label: Any = None


class FollowUp(NamedTuple):
    """The rows of a table whose outcome is known."""

    durations: np.ndarray
    events: np.ndarray
    positions: np.ndarray
    n_dropped: int

    def outcomes_of_rows(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return durations and events of some rows."""
        return self.durations[rows], self.events[rows]


@declared
class SurvivalMetric(Metric):
    """Base class of metrics of the time until an event.

    Parameters
    ----------
    duration : str
        The column with the time until the event or until the last observation. The values must be
        nonnegative numbers.
    event : str
        The column that indicates whether the event happened, with two values. If it did not, the
        row is censored.
    pos_label : str, bool or float, optional
        The value of `event` that indicates that it happened. The default is true or the larger
        number. For two categories it is required.
    """

    duration: ColumnName
    event: ColumnName
    _: KW_ONLY
    pos_label: Label | None = None

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the unmet need, for example a duration that is not numerical."""
        return super().missing_input(context) or unmet_outcome(context, self._outcome)

    def _compute(self, context: Context) -> Result:
        for role in ("train", "synthetic"):
            if not follow_up(context, role, self._outcome).durations.size:
                return undefined_result(
                    f"no {role} row has a valid {self.duration} and {self.event}."
                )
        result = self._measure(context)
        return replace(result, warnings=(*result.warnings, *self._skipped(context)))

    def _measure(self, context: Context) -> Result:
        """Return the value. Both tables have rows with an outcome."""
        raise NotImplementedError

    def _in_relation(self, context: Context, result: Result) -> Result:
        if not np.isnan(result.value):
            relation = self._relation(context, result)
            relation["details"] = {
                **relation.get("details", result.details),
                **self._sizes(context),
            }
            result = replace(result, **relation)
        return super()._in_relation(context, result)

    def _relation(self, context: Context, result: Result) -> dict[str, Any]:
        """Return the fields of a defined result that `score` does not need."""
        return {}

    @property
    def _outcome(self) -> Outcome:
        return Outcome(self.duration, self.event, self.pos_label)

    def _sizes(self, context: Context) -> dict[str, dict[str, int]]:
        """Count the rows of each table with an outcome, with the event, and without an outcome."""
        rows = {
            role: follow_up(context, role, self._outcome)
            for role in ("train", "holdout", "synthetic")
            if role in context
        }
        return {
            "n_rows": {role: one.durations.size for role, one in rows.items()},
            "n_events": {role: int(one.events.sum()) for role, one in rows.items()},
            "n_dropped": {role: one.n_dropped for role, one in rows.items()},
        }

    def _skipped(self, context: Context) -> tuple[MetricWarning, ...]:
        n_dropped = follow_up(context, "synthetic", self._outcome).n_dropped
        if not n_dropped:
            return ()
        text = (
            f"{n_dropped:,} synthetic rows are skipped, because their {self.duration} is missing "
            f"or negative, or their {self.event} does not occur in the training data."
        )
        return (DegenerateInputWarning(text),)


def unmet_outcome(context: Context, outcome: Outcome) -> Unmet | None:
    """Return why the columns are not a duration and an event, or None if they are."""
    duration, event = outcome.duration, outcome.event
    if duration == event:
        raise InvalidParameterError(
            f"duration and event must be two columns, got {duration!r} for both."
        )
    if absent := [name for name in (duration, event) if name not in context.schema.kinds]:
        return Unmet(
            f"requires a duration column and an event column, but there is no column {absent[0]}. "
            "Specify columns of the table."
        )
    if duration not in context.schema.columns("continuous"):
        kind = context.schema.kinds[duration]
        return Unmet(
            f"requires a numerical duration, but {duration} is {kind}. Specify a column of "
            "numbers, such as days until the event."
        )
    labels = event_labels(context, event)
    if len(labels) > 2:
        return Unmet(
            f"requires an event with two values, but {event} has {len(labels)} values. Competing "
            "risks are not supported. Create a column that indicates whether the event of "
            "interest happened."
        )
    if positive_label(labels, event in context.schema.columns(*NOMINAL), outcome) is None:
        return Unmet(
            f"requires the value of {event} that indicates that the event happened. Specify it, "
            f"for example pos_label={labels[-1] if labels else 'value'!r}."
        )
    return None


@shared
def event_labels(context: Context, event: str) -> tuple[Any, ...]:
    """Return the sorted values of an event in the real data."""
    tables = [context[role][[event]] for role in ("train", "holdout") if role in context]
    if event in context.schema.columns(*NOMINAL):
        return tuple(sorted({str(one) for table in tables for one in table[event].dropna()}))
    values = np.concatenate([numbers(table)[:, 0] for table in tables])
    return tuple(np.unique(values[np.isfinite(values)]).tolist())


def positive_label(labels: tuple[Any, ...], is_nominal: bool, outcome: Outcome) -> Any:
    """Return the value that indicates an event, or None if the user must specify it."""
    wanted = outcome.pos_label
    if wanted is not None:
        wanted = as_level(wanted) if is_nominal else wanted
        if wanted not in labels:
            raise InvalidParameterError(
                f"pos_label must be a value of the event {outcome.event}, "
                f"got {outcome.pos_label!r}."
            )
        return wanted
    if is_nominal:
        return "True" if set(labels) <= {"False", "True"} else larger_code(labels)
    # a single nonzero number means that every row has the event
    return labels[-1] if labels and labels[-1] else 1.0


@shared
def follow_up(context: Context, role: str, outcome: Outcome) -> FollowUp:
    """Return the rows of a role with a known outcome, sorted by duration."""
    labels, is_nominal = event_labels(context, outcome.event), False
    if outcome.event in context.schema.columns(*NOMINAL):
        is_nominal, column = True, context[role][outcome.event]
        known = np.array(column.notna())
        values = as_texts(column).to_numpy()
    else:
        values = numbers(context[role][[outcome.event]])[:, 0]
        known = np.isfinite(values)
    if len(labels) == 2:
        known &= np.isin(values, np.array(labels))
    events = values == positive_label(labels, is_nominal, outcome)
    durations = numbers(context[role][[outcome.duration]])[:, 0]
    known &= np.isfinite(durations) & (durations >= 0.0)
    rows = np.flatnonzero(known)
    rows = rows[np.lexsort((events[rows], durations[rows]))]
    return FollowUp(durations[rows], events[rows], rows, known.size - rows.size)


def round_to(value: float, digits: int = 3, how: Any = np.round) -> float:
    """Round to significant digits, because an exact quantile may be the value of one record."""
    if value == 0.0 or not np.isfinite(value):
        return value
    decimals = digits - 1 - int(np.floor(np.log10(abs(value))))
    return float(round(how(value * 10.0**decimals) / 10.0**decimals, max(decimals, 0)))
