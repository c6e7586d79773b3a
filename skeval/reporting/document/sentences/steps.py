"""What to do next, as imperatives."""

from __future__ import annotations

import math
from collections.abc import Sequence

from skeval.reporting.document.checks import Shortfall, UtilityFindings
from skeval.reporting.document.loss import PairLoss
from skeval.reporting.document.numbers import count, score, whole_percent
from skeval.reporting.document.spans import Text, compose, name, names
from skeval.stats.copied_rows import Copies


def step_close_columns(columns: Sequence[str]) -> Text:
    """Return how to change the columns in which a leak shows."""
    return compose("**Coarsen or drop {columns}**, then fit again.", columns=names(columns))


def step_remove_copies(copies: Copies) -> Text:
    """Return what to do about copies."""
    return compose(
        "**Remove the {n} copies** and fit with more noise or less training.",
        n=count(copies.train.n),
    )


def step_memorize_less() -> Text:
    """Return how to fit a generator that memorizes less."""
    return compose(
        "**Fit with less room to memorize:** fewer steps, larger leaves, more regularization or "
        "noise."
    )


def step_accept_risk(excess: float) -> Text:
    """Return what to decide if no leak was found: whether a leak that went unnoticed matters."""
    return compose(
        "**Decide whether an unnoticed leak** of up to {n} points is acceptable here.",
        n=f"{100.0 * min(1.0, excess):.0f}",
    )


def step_give_holdout() -> Text:
    """Return how to make tests possible."""
    return compose("**Set rows aside before training**, and pass them as holdout.")


def step_new_holdout() -> Text:
    """Return what to do about a holdout that is not comparable."""
    return compose("**Draw a new holdout** at random before training, then evaluate again.")


def step_agree_thresholds() -> Text:
    """Return what to do about a table of a whole population, for which no unseen rows exist."""
    return compose("**Agree on thresholds** for what the table shows of people. No test can tell.")


def step_share_no_rows() -> Text:
    """Return what to do about rows that both real tables contain."""
    return compose("**Remove the rows that training data and holdout share**, then evaluate again.")


def step_include_columns(columns: Sequence[str]) -> Text:
    """Return what to do about columns that no test examined."""
    return compose("**Drop or coarsen {columns}**, which no test examined.", columns=names(columns))


def step_model_jointly(loss: PairLoss) -> Text:
    """Return how to keep the relation of a pair of columns."""
    first, second = loss.names
    lead = "**Model {second} together with {first}.**"
    tail = "is lost" if loss.is_lost else "is weaker than in real rows"
    return compose(f"{lead} Their relation {tail}.", first=name(first), second=name(second))


def step_regularize() -> Text:
    """Return what to do about columns that are too close to the training data."""
    return compose("**Fit with more regularization.** Columns are too close to the training data.")


def step_fix_column(short: Shortfall) -> Text:
    """Return which column a check found to be wrong."""
    column = name(short.column or short.metric)
    return compose("**Check {column}:** {found}.", column=column, found=_finding_words(short))


def _finding_words(short: Shortfall) -> str:
    by_value = f"its score is {score(short.value)}, expected {score(short.expected)}"
    if math.isnan(short.column_value):
        return by_value
    value = whole_percent(short.column_value)
    return {
        "RangeCoverage": f"it spans {value} of its training range",
        "CategoryCoverage": f"it has {value} of its training categories",
        "BoundaryAdherence": f"{value} of its values are within the training range",
        "CategoryAdherence": f"{value} of its values are known categories",
    }.get(short.metric, by_value)


def step_name_target() -> Text:
    """Return how to test utility."""
    return compose("**Name a target column** to test utility.")


def step_keep_target(utility: UtilityFindings) -> Text:
    """Return what to do if models learn less."""
    return compose(
        "**Keep the columns that predict {target}.** A model learns less from the synthetic table.",
        target=name(utility.target),
    )


def step_decide() -> Text:
    """Return what is left if nothing is to be fixed."""
    return compose("**Decide about the release.** These tests found nothing to fix.")
