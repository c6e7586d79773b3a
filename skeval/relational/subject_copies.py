"""Screen for subjects that are copied with all their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import cast

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import ClaimTested
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import SCREEN_TAGS
from skeval.privacy.copies import matches_of_singletons, unique_matches
from skeval.relational.subject_metric import UNLINK, SubjectMetric, roles_in
from skeval.results.result import Result, undefined_result
from skeval.stats import matches as stats
from skeval.stats.copied_rows import copies_of
from skeval.stats.intervals import wilson
from skeval.stats.joint_classes import class_counts, joint_classes
from skeval.steps.contrasts import contrast_of, set_against, with_claim
from skeval.steps.subjects import histories, row_codes
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count, Seed

Counts = Mapping[str, np.ndarray]


@declared
class SubjectCopies(SubjectMetric, ClaimTested):
    r"""Fraction of synthetic subjects that are copies of training subjects with all their rows.

    The age and the town of a patient usually occur many times. A record that also has the same
    number of visits with the same details identifies the patient. Single tables do not show such a
    copy, because visits of one clinic are similar. Only the combination of visits identifies an
    individual. Therefore a synthetic subject counts as a copy if its own row and all rows that
    belong to it, in every table, equal the rows of one training subject. The score ranges from 0
    (no copies) to 1. Lower is better.

    Parameters
    ----------
    own_row : bool, default=True
        Whether the subject's own row must match, too. If False, the metric finds histories under
        another name. Subjects without other rows are then not counted.
    n_permutations : int, default=1999
        Number of permutations of subjects for the p-value if it cannot be computed exactly.
    random_state : int, default=0
        Seed of the exchanges.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject does not exist.
    MissingInputError
        At fit, if the schema does not specify the subjects of the rows, or no table depends on the
        subject.

    Warnings
    --------
    This is a screening metric. It cannot rule out a leak.

    See Also
    --------
    SharedHistoryShare : Finds subjects with most rows copied, or copied with small changes.
    PerSubject : Computes distances of subjects, to find copies with changed numbers.
    skeval.privacy.ExactMatchShare : Finds copies of the rows of one table.

    Notes
    -----
    Two subjects are equal if their rows are equal and if the multisets of rows in every table that
    depends on them are equal. Keys are ignored:

    .. math:: m = \frac{|\{s \in S: \exists t \in T: r_s = r_t, \; \{\!\{c_s\}\!\} =
        \{\!\{c_t\}\!\} \text{ in every table}\}|}{|S|}

    If a key refers to a row of a reference table, the key is compared as a value. If the key refers
    to another row, the columns of that row are compared instead, even if the row is a subject of
    the other real table. Otherwise the larger real table would contain more such rows. Rows of a
    table two levels below the subject belong to the subject through the rows of the table between
    them. Numbers are compared to 12 digits. Letter case and spaces of categories and texts are
    ignored. The order of the rows is ignored. If the order is important, add a date column.

    The p-value is computed by permuting subjects with all their rows between training data and
    holdout. Subjects with few rows and few values match without copying. The baseline, which is the
    fraction of the holdout, shows how often such matches occur. The ``fact`` reports the number of
    copies for any p-value. ``details["epsilon"]`` contains lower bounds on epsilon for subjects, as
    :class:`skeval.privacy.ExactMatchShare` contains them for rows.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey, RelationalSchema, SubjectCopies
    >>> schema = RelationalSchema(
    ...     ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
    ... )
    >>> users = pd.DataFrame({"id": [1, 2], "age": [30, 30]})
    >>> train = {"users": users, "orders": pd.DataFrame({"user": [1, 1, 2], "sum": [5, 7, 9]})}
    >>> other = {"users": users, "orders": pd.DataFrame({"user": [2, 1, 2], "sum": [7, 8, 5]})}
    >>> SubjectCopies().fit(train, schema=schema).score(other)
    0.5
    """

    tags = replace(
        SCREEN_TAGS,
        needs=frozenset({"relational"}),
        risks=frozenset({"singling out"}),
        weight=4.0,  # for six copies among any number of subjects, the smallest p-value is 1 / 64
    )

    own_row: bool = True
    _: KW_ONLY
    n_permutations: Count = 1999
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        counts = subject_counts(context, self._subject(context), self.own_row)
        k, n = stats.matches(counts["synthetic"], counts["train"])
        return Result(k / n) if n else undefined_result("the synthetic subjects have no rows.")

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        subject, relational = self._subject(context), cast("RelationalContext", context)
        counts = subject_counts(context, subject, self.own_row)
        k, n = stats.matches(counts["synthetic"], counts["train"])
        details = {"n_compared": n, "singleton_matches": matches_of_singletons(counts, "rows")}
        tables = self._tables(relational)
        result = replace(
            result,
            interval=wilson(k, n),
            details=details,
            fact=copies_in_words(counts, subject, self.own_row),
            copies=(copies_of(f"{subject} with {_rows_in_words(self.own_row)}", counts),),
            advice=UNLINK.format(subject=subject, tables=" and ".join(tables)),
        )
        if "holdout" not in counts:
            return result
        test = stats.match_contrast(
            counts["synthetic"],
            counts["train"],
            counts["holdout"],
            n_permutations=self.n_permutations,
            seed=self.random_state,
        )
        m, n_holdout = stats.matches(counts["holdout"], counts["train"])
        what = f"synthetic {subject} that equal a training one in {_rows_in_words(self.own_row)}"
        reference = "a holdout one"
        return replace(
            result,
            p_value=test.p_value,
            baseline=m / n_holdout if n_holdout else None,
            contrast=contrast_of(
                relational.table(subject),
                what,
                result.value,
                test,
                reference=reference,
                unseen=m / n_holdout if n_holdout else None,
            ),
            details={
                **details,
                "difference": test.observed,
                "expected": test.mean,
                **self._privacy(unique_matches(counts)),
            },
        )

    def _summary(self, result: Result) -> str:
        rows = _rows_in_words(self.own_row)
        lead = (
            f"{percent(result.value)} of the synthetic subjects equal a training subject in {rows}"
        )
        return with_claim(set_against(lead, result), result)


def _rows_in_words(own_row: bool) -> str:
    return "all their rows" if own_row else "all rows except their own"


@shared
def subject_counts(context: Context, subject: str, own_row: bool) -> dict[str, np.ndarray]:
    """Return the number of subjects of each role in each class, as arrays of n_classes."""
    # Subjects of one class are equal in all their rows. Without `own_row`, only subjects with other
    # rows are counted.
    relational, roles = cast("RelationalContext", context), roles_in(context)
    tables = relational.relations.dependents(subject)
    every = [histories(relational, subject, table, roles) for table in tables]
    codes = [one.classes for one in every]
    if own_row:
        codes.append(np.concatenate(row_codes(relational, subject, roles)))
    classes = joint_classes(np.column_stack(codes))
    counted_too = own_row | (sum(one.n_rows for one in every) > 0)
    sizes = [len(relational.original_frame(role)[subject]) for role in roles]
    ends = np.cumsum(sizes)[:-1]
    kept = [
        own[chosen]
        for own, chosen in zip(np.split(classes, ends), np.split(counted_too, ends), strict=True)
    ]
    return dict(zip(roles, class_counts(*kept), strict=True))


def copies_in_words(counts: Counts, subject: str, own_row: bool = True) -> str:
    """Return how many synthetic subjects are copies of training subjects with all their rows."""
    # The text is empty if there are no copies.
    k, n = stats.matches(counts["synthetic"], counts["train"])
    if not k:
        return ""
    alone = stats.matches(counts["synthetic"], np.where(counts["train"] == 1, 1, 0))[0]
    if own_row:
        said = "is a complete copy" if k == 1 else "are complete copies"
        said += f" of training {subject} with all their rows"
    else:
        said = (
            f"{'has' if k == 1 else 'have'} exactly the rows of a training record in other tables"
        )
    match = f"{alone:,} of them match" if alone > 1 else f"{alone or 'none'} of them matches"
    unique = f", and {match} a record that is unique in the training data"
    fresh = ""
    if "holdout" in counts:
        m = stats.matches(counts["synthetic"], counts["holdout"])[0]
        verb = "matches" if m < 2 else "match"
        fresh = f" {f'{m:,}' if m else 'None'} of the synthetic {subject} {verb} a holdout record."
    return f"{k:,} of {n:,} synthetic {subject} {said}{unique}.{fresh}"
