"""Base class of metrics that fit a survival model."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.steps.column_choice import chosen_columns
from skeval.steps.problem import Question, positions_of_role
from skeval.utility.survival.survival_metric import Outcome, SurvivalMetric, follow_up
from skeval.utils.parameters import Columns


@declared
class CovariateMetric(SurvivalMetric):
    """Base class of metrics that explain the time until an event by other columns.

    Parameters
    ----------
    features : list of str or int, optional
        The covariates. If None, all other measurable columns except the primary key are used.
    """

    _: KW_ONLY
    features: Columns = None

    def _question(self, context: Context) -> Question:
        """Return a regression question for the duration, without the event as a feature."""
        names = chosen_columns(context.schema, self.features)
        keys = context.schema.primary_key if self.features is None else ()
        taken = {self.duration, self.event, *keys}
        features = tuple(name for name in names if name not in taken)
        return Question(self.duration, "regression", None, features)


def outcome_of_rows(
    context: Context, role: str, question: Question, outcome: Outcome
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of the rows with an outcome, with their durations and events."""
    rows = follow_up(context, role, outcome)
    place = np.full(context.n_rows(role), -1)
    place[rows.positions] = np.arange(rows.positions.size)
    own = place[positions_of_role(context, role, question)]
    known = np.flatnonzero(own >= 0)
    return known, *rows.outcomes_of_rows(own[known])
