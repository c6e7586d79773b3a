"""Apply a metric of one table to subjects, each with all its rows."""

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
    "no test was made for {subject}, because {subject} in the training data and in the holdout "
    "share rows of {tables}. The larger table then has more of these rows. Split the tables by "
    "this subject only."
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
    """Apply a metric of one table to the subjects, each with all its rows.

    An individual is described by all of their records, for example visits, purchases and transfers.
    If a generator gives the whole history of a real individual to one synthetic individual with
    small changes in every row, each row is similar to thousands of others, but all rows together
    identify the individual. Therefore each subject becomes one row with its own columns and with
    aggregates of its rows in the other tables (number, mean, extremes, most frequent categories).
    Any metric of one table can be applied, for example distances, copies, membership inference or
    attribute inference.

    Parameters
    ----------
    metric : Metric
        Metric to apply. It is cloned and never fitted itself. Columns that it names are columns of
        the subject, or aggregates such as "orders.amount.mean".
    subject : str or None, default=None
        The subject; None for the only one.
    stats : tuple of str, default=("count", "mean", "std", "min", "max", "span", "nunique", \
"mode", "mode_share")
        How the rows are aggregated. "median" is also possible.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject does not exist, or the metric rejects its parameters.
    MissingInputError
        At fit, if the schema does not specify the subjects of the rows, or the metric requires an
        input that is missing.

    Warnings
    --------
    Aggregates do not contain all information about the rows of a subject. For example, they do not
    contain the order of the rows. A table with many columns has more influence than others.

    See Also
    --------
    OfTable : Evaluates a metric on the rows of one table.
    SubjectCopies : Finds complete copies of the rows of a subject.
    SubjectMembership : Membership attack on subjects, using all rows of each subject.

    Notes
    -----
    The result has the name of the applied metric. ``Result.table`` is, for example, "users with all
    their rows". Subjects are independent although rows are not, so the tests of the metrics are
    valid. Numerical columns are aggregated by `mean`, `std`, `min` and `max`, datetime columns by
    `min`, `max` and `span`, and categorical columns by the number of categories, the most frequent
    category and its fraction. A subject without rows has a count of 0, and its other aggregates are
    missing.

    In distances, each aggregate has the same weight as a column of the subject. A table with many
    columns therefore has more influence than other tables.

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
    """Return a result without its test if training data and holdout share rows of subjects."""
    if result.p_value is None or "holdout" not in context:
        return result
    if not (tables := parted_tables(context, subject)):
        return result
    said = NoTestWarning(_PARTED.format(subject=subject, tables=", ".join(tables)))
    return replace(drop_test(result), warnings=(*result.warnings, said))


def chosen_subject(context: RelationalContext, metric: object, *, refuse: bool = False) -> str:
    """Return the subject that a metric's `subject` names, or the only subject if it is None."""
    # With `refuse`, only the error is raised.
    subjects, subject = context.relations.subjects, getattr(metric, "subject", None)
    if subject is None and len(subjects) == 1:
        subject = subjects[0]
    if subject not in subjects:
        raise InvalidParameterError(
            f"{type(metric).__name__}: subject must be among {', '.join(subjects)}, "
            f"got {subject!r}."
        )
    return "" if refuse else str(subject)
