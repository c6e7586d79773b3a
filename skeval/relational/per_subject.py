"""Any metric of one table on the subjects, each with all its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from skeval.core.by_group import AnyMetric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.exceptions import InvalidParameterError, NoTestWarning
from skeval.relational.lifted import Lifted, drop_test
from skeval.results.result import Result
from skeval.steps.aggregates import STATS, Stat, aggregated_context
from skeval.steps.subjects import parted_tables
from skeval.utils.parameters import Legal, is_text

_PARTED = (
    "no test is made of {subject}: rows of {tables} stand in train and their {subject} in the "
    "holdout, or the other way round, so that the larger table has more of each. Divide the tables "
    "by this subject alone."
)
SubjectName = Annotated[
    str | None, Legal("the name of a subject or None", lambda v: v is None or is_text(v), -1)
]
Stats = Annotated[
    tuple[Stat, ...],
    Legal(
        f"a tuple of statistics among {', '.join(STATS)} and median",
        lambda value: isinstance(value, tuple | list) and set(value) <= {*STATS, "median"},
        ("sum",),
    ),
]


@declared
class PerSubject(Lifted):
    """A metric of one table on the subjects, each with all the rows that belong to it.

    A person is protected or exposed with everything that is known of them: the visits, the
    purchases, the transfers. A generator that gives one synthetic person the whole history of a
    real one may change every row of it a little; each row alone then looks like one of thousands,
    and all of them together like one person. So each subject becomes one row: its own columns, and
    what its rows in the other tables are like (their number, means, extremes, most frequent
    categories). Any metric of one table applies: distances, copies, membership, attributes.

    Parameters
    ----------
    metric : Metric
        What to measure. It is cloned, never fitted itself. Columns that it names are those of the
        subject, or aggregates: "orders.amount.mean".
    subject : str or None, default=None
        The subject; None for the only one.
    stats : tuple of str, default=("count", "mean", "std", "min", "max", "span", "nunique", \
"mode", "mode_share")
        What the rows are summed up by; "median" is possible too.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject is no subject, or the metric refuses its parameters.
    MissingInputError
        At fit, if the schema does not say whose the rows are, or the metric needs something that is
        not given.

    See Also
    --------
    OfTable : The rows of one table.
    SubjectCopies : Whole histories that are copied, row by row.
    SubjectMembership : Membership of a subject by all its rows.

    Notes
    -----
    The result is that of the metric, under the metric's name; ``Result.table`` says "users with all
    their rows". Subjects are independent where rows are not, so that the tests of the metrics hold
    as they are. Numbers are summed up by `mean`, `std`, `min` and `max`, dates by `min`, `max` and
    `span`, categories by the number of different ones, the most frequent and its share. A subject
    without rows has a count of 0; the rest is missing.

    Distances weight each of these columns like one of the subject's own: a table with many columns
    outweighs the others.

    References
    ----------
    MT-MIA, arXiv:2602.07126, on attacks on single rows, which understate what is known of a user.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import ExactMatchShare
    >>> from skeval.relational import ForeignKey, PerSubject, RelationalSchema
    >>> schema = RelationalSchema(
    ...     ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
    ... )
    >>> users = pd.DataFrame({"id": [1, 2], "age": [30.5, 40.5]})
    >>> train = {"users": users, "orders": pd.DataFrame({"user": [1, 2], "sum": [5.5, 7.5]})}
    >>> other = {"users": users, "orders": pd.DataFrame({"user": [1, 2], "sum": [5.5, 9.5]})}
    >>> PerSubject(ExactMatchShare()).fit(train, schema=schema).score(other)
    0.5
    """

    metric: AnyMetric
    subject: SubjectName = None
    stats: Stats = STATS

    def _refusal(self, context: RelationalContext) -> str:
        return context.relations.undetermined or chosen_subject(context, self, refuse=True)

    def _table_context(self, context: RelationalContext) -> Context:
        return aggregated_context(
            context, chosen_subject(context, self), tuple(self.stats), "subject"
        )

    def _place(self, context: RelationalContext) -> str:
        return f"{chosen_subject(context, self)} with all their rows"

    def _with_valid_test(self, context: RelationalContext, result: Result) -> Result:
        if self.tags.aspect != "privacy":
            return result
        return with_whole_subjects(context, chosen_subject(context, self), result)


def with_whole_subjects(context: RelationalContext, subject: str, result: Result) -> Result:
    """Return a result without its test if train has rows of the holdout's subjects."""
    if result.p_value is None or "holdout" not in context:
        return result
    if not (tables := parted_tables(context, subject)):
        return result
    said = NoTestWarning(_PARTED.format(subject=subject, tables=", ".join(tables)))
    return replace(drop_test(result), warnings=(*result.warnings, said))


def chosen_subject(context: RelationalContext, metric: object, *, refuse: bool = False) -> str:
    """Return the subject that a metric's `subject` names, the only one if it names none."""
    # With `refuse` nothing is returned but the error raised.
    subjects, subject = context.relations.subjects, getattr(metric, "subject", None)
    if subject is None and len(subjects) == 1:
        subject = subjects[0]
    if subject not in subjects:
        raise InvalidParameterError(
            f"{type(metric).__name__}: subject must be among {', '.join(subjects)}, "
            f"got {subject!r}."
        )
    return "" if refuse else str(subject)
