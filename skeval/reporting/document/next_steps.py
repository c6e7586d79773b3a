"""What to do next: at most three steps, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from skeval.reporting.document.findings import Findings
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.privacy import Obstacle
from skeval.reporting.document.sentences.steps import (
    step_accept_risk,
    step_agree_thresholds,
    step_close_columns,
    step_decide,
    step_fix_column,
    step_give_holdout,
    step_include_columns,
    step_keep_target,
    step_memorize_less,
    step_model_jointly,
    step_name_target,
    step_new_holdout,
    step_regularize,
    step_remove_copies,
    step_share_no_rows,
)
from skeval.reporting.document.spans import Text

MAX_STEPS = 3


def next_steps(found: Findings) -> tuple[Text, ...]:
    """Return what to do with the release, or that there is nothing to fix."""
    steps = tuple(islice(_steps(found), MAX_STEPS))
    return steps or (step_decide(),)


def _steps(found: Findings) -> Iterator[Text]:
    privacy = found.privacy
    if privacy.is_shifted:
        yield step_new_holdout()
    elif privacy.is_alarm and privacy.columns:
        yield step_close_columns(privacy.columns)
    if privacy.copies:
        yield step_remove_copies(privacy.copies[0])
    elif privacy.is_alarm and not privacy.is_shifted:
        yield step_memorize_less()
    if privacy.outcome is Outcome.NONE_FOUND and privacy.smallest_leaks:
        yield step_accept_risk(privacy.smallest_leaks[1])
    yield from _steps_for_tests(found)
    yield from _steps_for_use(found)
    if found.utility.outcome is Outcome.NOT_EVALUATED:
        yield step_name_target()


def _steps_for_tests(found: Findings) -> Iterator[Text]:
    """Yield what lets tests find more."""
    obstacle = found.privacy.obstacle
    if obstacle is Obstacle.NO_HOLDOUT:
        yield step_give_holdout()
    elif obstacle is Obstacle.WHOLE_POPULATION:
        yield step_agree_thresholds()
    elif obstacle is Obstacle.SHARED_ROWS:
        yield step_share_no_rows()
    elif obstacle is Obstacle.UNTESTED_COLUMNS and found.privacy.unexamined:
        yield step_include_columns(found.privacy.unexamined)
    elif obstacle is Obstacle.HOLDOUT_USED:
        yield step_new_holdout()


def _steps_for_use(found: Findings) -> Iterator[Text]:
    """Yield what makes the table more useful: relations, columns, and what models learn."""
    if found.fidelity.is_relation_lost and found.loss is not None:
        yield step_model_jointly(found.loss)
    if found.utility.outcome is Outcome.BELOW and found.utility.target:
        yield step_keep_target(found.utility)
    for short in found.validity.shortfalls[:1]:
        yield step_fix_column(short)
    if found.fidelity.outcome is Outcome.CLOSER and not found.privacy.is_alarm:
        yield step_regularize()
