"""Base class of metrics of subjects with all the rows that belong to them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.needs import Unmet
from skeval.core.relational_context import RelationalContext
from skeval.relational.per_subject import SubjectName, chosen_subject, with_whole_subjects
from skeval.results.result import Result

ROLES = ("train", "holdout", "synthetic")
UNLINK = (
    "Combinations of values of one {subject} record in {tables} also occur in a synthetic "
    "record. Drop "
    "these subjects, or generate {tables} from fewer rows of a subject, or with noise."
)


@declared
class SubjectMetric(Metric):
    """Base class of metrics of subjects with the rows that belong to them.

    Parameters
    ----------
    subject : str or None, default=None
        Name of the subject. If None, the only subject is used.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.
    """

    subject: SubjectName = None

    def missing_input(self, context: Context) -> Unmet | None:
        """Return an unmet need of the tables with its remedy, or None."""
        if unmet := super().missing_input(context):
            return unmet
        relational = cast("RelationalContext", context)
        if unclear := relational.relations.undetermined:
            return Unmet(unclear)
        if not self._tables(relational):
            return Unmet("evaluates rows that belong to a subject, and no table depends on it.")
        return None

    def _subject(self, context: Context) -> str:
        return chosen_subject(cast("RelationalContext", context), self)

    def _tables(self, context: RelationalContext) -> list[str]:
        return context.relations.dependents(self._subject(context))

    def evaluate_context(self, context: Context, *, advise: bool = True) -> Result:
        """Measure the synthetic rows of a context. See :meth:`skeval.Metric.evaluate_context`."""
        subject = self._subject(context)
        result = super().evaluate_context(context, advise=advise)
        result = with_whole_subjects(cast("RelationalContext", context), subject, result)
        return replace(result, table=f"{subject} with all their rows")


def roles_in(context: Context) -> tuple[str, ...]:
    """Return the roles of the tables that a context has."""
    return tuple(role for role in ROLES if role in context)
