"""The next steps as imperatives, sorted by urgency."""

from __future__ import annotations

import math
from collections.abc import Iterator

from skeval.reporting.document.checks import Shortfall
from skeval.reporting.document.findings import Findings
from skeval.reporting.document.numbers import count, score, whole_percent
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.privacy import Obstacle, PrivacyFindings
from skeval.reporting.document.spans import Text, compose, name, names, paragraph, plain

_MAX_STEPS, _MAX_WORDS = 3, 14
_NEW_HOLDOUT = "**Draw a new holdout** at random before training, then evaluate again."
_GROUPS = "**Name the column of these groups** with the option groups, then evaluate again."
_AGAINST_OBSTACLES = {
    Obstacle.NO_HOLDOUT: "**Set real rows aside before you fit the generator** and pass "
    "them as holdout.",
    Obstacle.WHOLE_POPULATION: "**Agree on thresholds** for facts about people, because no test "
    "can run.",
    Obstacle.SHARED_ROWS: "**Remove the rows that training data and holdout share**, then evaluate "
    "again.",
    Obstacle.UNTESTED_COLUMNS: "**Drop or coarsen {columns}**, which no test examined.",
    Obstacle.UNREADABLE_CELLS: "**Replace cells that are missing or unreadable**, then evaluate "
    "again.",
    Obstacle.HOLDOUT_USED: _NEW_HOLDOUT,
}


def next_steps(found: Findings) -> tuple[Text, ...]:
    """Return at most three next steps, or that there is nothing to fix."""
    steps = (*_steps_for_privacy(found.privacy), *_steps_for_use(found))[:_MAX_STEPS]
    nothing = compose("**Decide about the release.** These tests found nothing to fix.")
    return (*steps[:-1], _with_new_report(steps[-1])) if steps else (nothing,)


def _with_new_report(step: Text) -> Text:
    """Return the last step, followed by a new report if the step remains short."""
    again, words = compose("Then make the report again."), plain(step).split()
    has_room = len(words) + len(plain(again).split()) <= _MAX_WORDS
    return paragraph(step, again) if has_room and "again." not in words else step


def _steps_for_privacy(privacy: PrivacyFindings) -> Iterator[Text]:
    """Yield how to close leaks and how to make tests possible."""
    if privacy.is_shifted:
        yield compose(_GROUPS if privacy.is_grouped else _NEW_HOLDOUT)
    elif privacy.is_alarm and privacy.columns:
        columns = names(privacy.columns)
        yield compose("**Coarsen or drop {columns}**, then refit the generator.", columns=columns)
    if privacy.copies:
        n = count(privacy.copies[0].train.n)
        yield compose(
            "**Remove the {n} copies** and fit the generator with more noise or less training.", n=n
        )
    elif privacy.is_alarm and not privacy.is_shifted:
        yield compose(
            "**Let the generator memorize less:** noise, fewer training steps or larger tree "
            "leaves."
        )
    if privacy.outcome is Outcome.NONE_FOUND and privacy.smallest_leaks:
        most = f"{100.0 * min(1.0, privacy.smallest_leaks[1]):.0f}"
        yield compose(
            "**Decide whether an unnoticed leak** of up to {n} points is acceptable here.", n=most
        )
    if privacy.obstacle in _AGAINST_OBSTACLES:
        yield compose(_AGAINST_OBSTACLES[privacy.obstacle], columns=names(privacy.unexamined))


def _steps_for_use(found: Findings) -> Iterator[Text]:
    """Yield how to make the table more useful."""
    loss, utility = found.loss, found.utility
    if found.fidelity.is_relation_lost and loss is not None:
        yield compose(
            "**Model {second} together with {first}.** Their relation {change}.",
            first=name(loss.names[0]),
            second=name(loss.names[1]),
            change="is lost" if loss.is_lost else "is weaker than in real rows",
        )
    if utility.outcome is Outcome.BELOW and utility.target:
        yield compose(
            "**Keep the columns that predict {target}.** A model learns less from the synthetic "
            "table.",
            target=name(utility.target),
        )
    for short in found.validity.shortfalls[:1]:
        column = name(short.column or short.metric)
        yield compose("**Check {column}:** {found}.", column=column, found=_shortfall_words(short))
    if found.fidelity.outcome is Outcome.CLOSER and not found.privacy.is_alarm:
        yield compose(
            "**Fit the generator with more regularization.** Columns are too close to the training "
            "data."
        )
    if utility.outcome is Outcome.NOT_EVALUATED:
        yield compose("**Name a target column** to test utility.")


def _shortfall_words(short: Shortfall) -> str:
    value = "" if math.isnan(short.column_value) else whole_percent(short.column_value)
    known = {
        "RangeCoverage": f"it covers {value} of the training range",
        "CategoryCoverage": f"it has {value} of the training categories",
        "BoundaryAdherence": f"{value} of its values are within the training range",
        "CategoryAdherence": f"{value} of its values are known categories",
    }
    if value and short.metric in known:
        return known[short.metric]
    return f"its score is {score(short.value)}, expected {score(short.expected)}"
