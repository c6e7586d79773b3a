"""Subjects that are copied with all their rows."""

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
    r"""Share of synthetic subjects that are copies of train ones with all their rows: 0 if none.

    A patient whose age and town are in the release is one of many. With every visit as it was, in
    number and in detail, it is that patient. Single tables do not show it: visits of one clinic are
    alike, and what identifies a person is that these visits belong together. So a synthetic subject
    counts as a copy if its own row and all rows that belong to it, in every table, equal those of
    one train subject.

    Parameters
    ----------
    own_row : bool, default=True
        Whether the subject's own row has to agree too. Without it, subjects that have no other rows
        are not counted: what is looked for are histories under another name.
    n_permutations : int, default=1999
        Number of exchanges of subjects behind the p-value, where it is not known exactly.
    random_state : int, default=0
        Seed of the exchanges.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject is no subject.
    MissingInputError
        At fit, if the schema does not say whose the rows are, or no table depends on the subject.

    Warnings
    --------
    This is a screen: it cannot clear a release.

    See Also
    --------
    SharedHistoryShare : Most of the rows, rather than all, and numbers nearly equal.
    PerSubject : Distances of subjects, which see copies with every number changed.
    skeval.privacy.ExactMatchShare : Rows of one table.

    Notes
    -----
    Two subjects are equal where their rows, and in every table that depends on them the multisets
    of rows are, keys aside:

    .. math:: m = \frac{|\{s \in S: \exists t \in T: r_s = r_t, \; \{\!\{c_s\}\!\} =
        \{\!\{c_t\}\!\} \text{ in every table}\}|}{|S|}

    A key that names a row of a reference table is a value; one that names another row counts as
    that row's own columns, also where that is a subject on the other side of train and holdout:
    else the larger of the two would have more such rows. Rows of a table two steps down belong to
    the subject, through any row between. Numbers agree to 12 digits; letter case and spaces of
    categories and texts do not count. The order of the rows does not matter: if it is important, a
    date states it.

    The p-value exchanges subjects with all their rows between train and holdout. Subjects with few
    rows of few values agree by chance: the holdout's share, the baseline, has as many. A ``fact``
    counts the copies for any p-value. ``details["epsilon"]`` has lower bounds of the epsilon of
    subjects, as :class:`skeval.privacy.ExactMatchShare` has them of rows.

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
        weight=4.0,  # six copied subjects of any number have a p-value of 1 / 64 at best
    )

    own_row: bool = True
    _: KW_ONLY
    n_permutations: Count = 1999
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        counts = subject_counts(context, self._subject(context), self.own_row)
        k, n = stats.matches(counts["synthetic"], counts["train"])
        return Result(k / n) if n else undefined_result("no synthetic subject has rows of its own.")

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
        what = f"synthetic {subject} that equal a train one in {_rows_in_words(self.own_row)}"
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
        lead = f"{percent(result.value)} of the synthetic subjects equal a train subject in {rows}"
        return with_claim(set_against(lead, result), result)


def _rows_in_words(own_row: bool) -> str:
    return "all their rows" if own_row else "all rows but their own"


@shared
def subject_counts(context: Context, subject: str, own_row: bool) -> dict[str, np.ndarray]:
    """Return how many subjects of each role are of each class, of shape (n_classes,)."""
    # Subjects of one class are equal with all their rows; without `own_row` only those are
    # counted that have other rows.
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
    """Return how many synthetic subjects are copies of train subjects with all their rows."""
    # Empty if none is.
    k, n = stats.matches(counts["synthetic"], counts["train"])
    if not k:
        return ""
    alone = stats.matches(counts["synthetic"], np.where(counts["train"] == 1, 1, 0))[0]
    if own_row:
        said = "is a complete copy" if k == 1 else "are complete copies"
        said += f" of train {subject} with all their rows"
    else:
        said = f"{'has' if k == 1 else 'have'} exactly the rows of one of train in other tables"
    unique = f", {f'{alone:,}' if alone else 'none'} of them unique there"
    fresh = ""
    if "holdout" in counts:
        m = stats.matches(counts["synthetic"], counts["holdout"])[0]
        verb = ("is" if m < 2 else "are") if own_row else ("has" if m < 2 else "have")
        fresh = f"; {f'{m:,}' if m else 'none'} {verb} of one of the holdout"
    return f"{k:,} of {n:,} synthetic {subject} {said}{unique}{fresh}."
