"""Subjects that are copied with all their rows, or with most of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.sparse import csr_array, hstack

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import Sentence
from skeval.formatting import percent
from skeval.parameters import BinCount, Count, OpenFraction, Seed
from skeval.privacy.copies import copies_of, matches_of_singletons
from skeval.privacy.near_texts import NearPairs
from skeval.privacy.similar_texts import TokenSets, similar_pairs
from skeval.relational.per_subject import SubjectName, chosen_subject, with_whole_subjects
from skeval.relational_context import RelationalContext
from skeval.result import Result, undefined
from skeval.stats import matches as stats
from skeval.stats.disclosure import class_counts, joint_classes
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, list_contrast, longest_list
from skeval.stats.relabelling import Relabelled, holm
from skeval.steps.contrasts import contrast_of, set_against
from skeval.steps.samples import sample_positions
from skeval.steps.subjects import Histories, histories, row_codes
from skeval.tags import SCREEN_TAGS
from skeval.verdict import TEST_LEVEL, Contrast

ROLES = ("train", "holdout", "synthetic")
_UNLINK = (
    "What one {subject} row has in {tables} stands together again in a synthetic one: drop these "
    "subjects, or generate {tables} from less of a subject at a time, or with noise."
)
Counts = Mapping[str, np.ndarray]


class SubjectMetric(Metric):
    """Base of metrics of subjects with the rows that belong to them."""

    subject: str | None

    def unmet_need(self, context: Context) -> Sentence | None:
        """Say what the tables leave unmet, and the cure; None if nothing."""
        if unmet := super().unmet_need(context):
            return unmet
        relational = cast("RelationalContext", context)
        if unclear := relational.relations.undetermined:
            return Sentence(unclear)
        if not self._tables(relational):
            return Sentence("looks at rows that belong to a subject, and no table depends on it.")
        return None

    def _subject(self, context: Context) -> str:
        return chosen_subject(cast("RelationalContext", context), self)

    def _tables(self, context: RelationalContext) -> list[str]:
        return context.relations.dependents(self._subject(context))

    def evaluate_context(self, context: Context, *, advise: bool = True) -> Result:
        """Measure a context's synthetic rows; see :meth:`skeval.Metric.evaluate_context`."""
        subject = self._subject(context)
        result = super().evaluate_context(context, advise=advise)
        result = with_whole_subjects(cast("RelationalContext", context), subject, result)
        return replace(result, table=f"{subject} with all their rows")


class SubjectCopies(SubjectMetric):
    r"""Share of synthetic subjects that are copies of train ones with all their rows: 0 if none.

    A patient whose age and town stand in the release is one of many; with every visit, in number
    and in detail, as they were, it is that patient. Tables that are looked at one by one do not
    show it: visits of one clinic are alike, and it is that they belong together which is known of a
    person. So a synthetic subject counts as a copy where its own row and all rows that belong to
    it, in every table, equal those of one train subject.

    Parameters
    ----------
    subject : str or None, default=None
        The subject; None for the only one.
    own_row : bool, default=True
        Whether the subject's own row has to agree too. Without it, subjects that have no other rows
        are not counted: what is looked for are histories under another name.
    n_permutations : int, default=1999
        Number of exchanges of subjects behind the p-value, where it is not known exactly.
    random_state : int, default=0
        Seed of the exchanges.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

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
    the subject, whatever row they hang on between. Numbers agree to 12 digits, categories
    and texts but for letter case and spaces. The order of the rows does not matter: where it is of
    importance, a date says it.

    The p-value exchanges subjects with all their rows between train and holdout. Subjects with few
    rows of few values agree by chance: the holdout's share, the baseline, has as many. Whatever the
    p-value, a ``fact`` counts the copies.

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

    tags = replace(SCREEN_TAGS, needs=frozenset({"relational"}), risks=frozenset({"singling out"}))

    def __init__(
        self,
        subject: SubjectName = None,
        own_row: bool = True,
        *,
        n_permutations: Count = 1999,
        random_state: Seed = 0,
    ) -> None:
        self.subject = subject
        self.own_row = own_row
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        counts = subject_counts(context, self._subject(context), self.own_row)
        k, n = stats.matches(counts["synthetic"], counts["train"])
        return Result(k / n) if n else undefined("no synthetic subject has rows of its own.")

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
            copies=(copies_of(f"{subject} with {_compared(self.own_row)}", counts),),
            advice=_UNLINK.format(subject=subject, tables=" and ".join(tables)),
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
        what = f"synthetic {subject} that equal a train one in {_compared(self.own_row)}"
        reference = "a holdout one"
        return replace(
            result,
            p_value=test.p_value,
            baseline=m / n_holdout if n_holdout else None,
            contrast=contrast_of(
                relational.table(subject), what, result.value, test, reference=reference
            ),
            details={**details, "difference": test.observed, "expected": test.mean},
        )

    def _summary(self, result: Result) -> str:
        rows = _compared(self.own_row)
        lead = f"{percent(result.value)} of the synthetic subjects equal a train subject in {rows}"
        return set_against(lead, result)


class SharedHistoryShare(SubjectMetric):
    r"""Share of synthetic subjects that have most of their rows in common with one train subject.

    A generator may write each table well and give a synthetic user the very set of purchases that a
    real one made, or most of them. No purchase shows it: thousands bought each of these things. It
    shows in what stands together. The share is 0 where no synthetic subject has a real one's
    history, and 1 where all do.

    Parameters
    ----------
    subject : str or None, default=None
        The subject; None for the only one.
    overlap : float, default=0.5
        The least share of rows in common, of all rows that either of the two subjects has.
    n_bins : int, default=20
        Numbers and dates count as equal within so many quantile cells of train and holdout.
    min_rows : int, default=3
        Subjects with fewer rows have no history to share; they are counted as not sharing one.
    max_subjects : int or None, default=5_000
        Synthetic subjects, and holdout subjects for the baseline, that are looked at: a seeded
        sample, None for all. They are held against all real ones.
    n_permutations : int, default=1999
        Number of exchanges of subjects behind the p-value.
    random_state : int, default=0
        Seed of the exchanges.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject is no subject.
    MissingInputError
        At fit, if the schema does not say whose the rows are, or no table depends on the subject.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    SubjectCopies : All rows, and exactly.
    PerSubject : Distances of subjects, which see copies with every number changed.

    Notes
    -----
    The rows of a subject, of all tables that depend on it and keys aside, are a multiset. A
    synthetic subject counts where

    .. math:: \frac{|\{\!\{c_s\}\!\} \cap \{\!\{c_t\}\!\}|}
        {|\{\!\{c_s\}\!\} \cup \{\!\{c_t\}\!\}|} \ge \mathrm{overlap}

    for some train subject t. Pairs are found by their rarest rows (as in
    :class:`~skeval.privacy.NearDuplicateShare` texts by their rarest words), so that the subjects
    of one popular item are not all compared.

    Where several tables depend on the subject, the share is given of each of them too
    (``details["columns"]``): links may be copied in one of them only. The p-value exchanges
    subjects with all their rows; it is the least after Holm of the tables and of all rows together,
    and the advice names the table that it is of. With few distinct rows and many of them a subject,
    histories are alike by chance, in the holdout as well: raise `overlap` or `n_bins`. A copy among
    as many other rows again is missed.

    References
    ----------
    R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search", WWW 2007,
    doi:10.1145/1242572.1242591.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.relational import ForeignKey, RelationalSchema, SharedHistoryShare
    >>> schema = RelationalSchema(
    ...     ["users", "orders"], {"users": "id"}, [ForeignKey("orders", "user", "users", "id")]
    ... )
    >>> users = pd.DataFrame({"id": [1, 2]})
    >>> orders = pd.DataFrame({"user": [1, 1, 1, 2, 2, 2], "item": list("abcdef")})
    >>> mixed = orders.assign(item=list("abxcde"))
    >>> metric = SharedHistoryShare().fit({"users": users, "orders": orders}, schema=schema)
    >>> metric.score({"users": users, "orders": mixed})
    1.0
    """

    tags = replace(SCREEN_TAGS, needs=frozenset({"relational"}))

    def __init__(
        self,
        subject: SubjectName = None,
        overlap: OpenFraction = 0.5,
        *,
        n_bins: BinCount = 20,
        min_rows: Count = 3,
        max_subjects: Count | None = 5_000,
        n_permutations: Count = 1999,
        random_state: Seed = 0,
    ) -> None:
        self.subject = subject
        self.overlap = overlap
        self.n_bins = n_bins
        self.min_rows = min_rows
        self.max_subjects = max_subjects
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _shared(self, context: Context, tables: list[str], role: str = "synthetic") -> Shared:
        settings = (self.overlap, self.n_bins, self.min_rows, self.max_subjects, self.random_state)
        return shared_histories(context, self._subject(context), tuple(tables), role, *settings)

    def _compute(self, context: Context) -> Result:
        tables = self._tables(cast("RelationalContext", context))
        return Result(self._shared(context, tables).share)

    def _in_relation(self, context: Context, result: Result) -> Result:
        relational, subject = cast("RelationalContext", context), self._subject(context)
        tables = self._tables(relational)
        parts = {" and ".join(tables): tables}
        if len(tables) > 1:
            parts |= {table: [table] for table in tables}
        found = {name: self._shared(context, own) for name, own in parts.items()}
        of_all = found[" and ".join(tables)]
        details = {"columns": {name: one.share for name, one in found.items()}}
        n = of_all.n_looked_at
        result = replace(result, interval=wilson(round(of_all.share * n), n), details=details)
        if "holdout" not in context:
            return result
        settings = {"n_permutations": self.n_permutations, "seed": self.random_state}
        tests = {name: one.test(**settings) for name, one in found.items()}
        adjusted = dict(zip(tests, holm([t.p_value for t in tests.values()]), strict=True))
        name = min(adjusted, key=lambda part: (adjusted[part], -tests[part].observed))
        details["p_values"] = {part: test.p_value for part, test in tests.items()}
        what = f"synthetic {subject} with most of a train one's rows in {name}"
        shown = contrast_of(
            relational.table(subject), what, found[name].share, tests[name], reference="a holdout's"
        )
        fresh = {part: self._shared(context, own, "holdout") for part, own in parts.items()}
        details["baseline_columns"] = {part: one.share for part, one in fresh.items()}
        return replace(
            result,
            p_value=adjusted[name],
            baseline=fresh[" and ".join(tables)].share,
            contrast=shown and replace(shown, n_tests=len(tests)),
            fact=shared_in_words(subject, name, found[name], shown, tests[name].p_value),
            advice=_UNLINK.format(subject=subject, tables=name),
            details=details,
        )

    def _summary(self, result: Result) -> str:
        share = percent(result.value)
        lead = f"{share} of the synthetic subjects have most of one train subject's rows"
        return set_against(lead, result)


@dataclass(frozen=True)
class Shared:
    """Which synthetic subjects have most of the rows of a real one.

    `share` is that of those who have a train subject's, of `n_looked_at`; `lists` are the classes
    of real subjects near each class of synthetic ones, `train` and `holdout` the numbers of
    subjects of each class.
    """

    share: float
    n_looked_at: int
    lists: MatchLists
    train: np.ndarray
    holdout: np.ndarray

    def test(self, *, n_permutations: int, seed: int) -> Relabelled:
        """Exchange subjects between train and holdout."""
        if not self.lists.weights.size:
            return Relabelled(0.0, 0.0, 0.0, 1.0)
        return list_contrast(
            self.lists, self.train, self.holdout, n_permutations=n_permutations, seed=seed
        )


def _roles(context: Context) -> tuple[str, ...]:
    return tuple(role for role in ROLES if role in context)


def _compared(own_row: bool) -> str:
    return "all their rows" if own_row else "all rows but their own"


@shared
def subject_counts(context: Context, subject: str, own_row: bool) -> dict[str, np.ndarray]:
    """Return how many subjects of each role are of each class, of shape (n_classes,).

    Subjects of one class are equal with all their rows; without `own_row` only those are counted
    that have other rows.
    """
    relational, roles = cast("RelationalContext", context), _roles(context)
    tables = relational.relations.dependents(subject)
    every = [histories(relational, subject, table, roles) for table in tables]
    codes = [one.classes for one in every]
    if own_row:
        codes.append(np.concatenate(row_codes(relational, subject, roles)))
    classes = joint_classes(np.column_stack(codes))
    counted_too = own_row | (sum(one.n_rows for one in every) > 0)
    sizes = [len(relational.given(role)[subject]) for role in roles]
    ends = np.cumsum(sizes)[:-1]
    kept = [
        own[chosen]
        for own, chosen in zip(np.split(classes, ends), np.split(counted_too, ends), strict=True)
    ]
    return dict(zip(roles, class_counts(*kept), strict=True))


@shared
def shared_histories(
    context: Context,
    subject: str,
    tables: tuple[str, ...],
    role: str,
    overlap: float,
    n_bins: int,
    min_rows: int,
    max_subjects: int | None,
    seed: int,
) -> Shared:
    """Find the real subjects that have most of their rows in common with one of a role.

    Rows of the holdout are held against train alone.
    """
    relational, roles = cast("RelationalContext", context), _roles(context)
    every = [histories(relational, subject, table, roles, n_bins) for table in tables]
    which, sets, long = joined(every, min_rows)
    sizes = [len(relational.given(one)[subject]) for one in roles]
    by_role = dict(zip(roles, np.split(which, np.cumsum(sizes)[:-1]), strict=True))
    nobody = np.zeros(0, dtype=np.int64)
    # in an order that is that of their histories: the order of rows means nothing
    looked_at = np.sort(by_role[role])
    looked_at = looked_at[sample_positions(looked_at.size, max_subjects, seed)]
    train, holdout, queries = (
        np.bincount(own, minlength=long.size)
        for own in (by_role["train"], by_role.get("holdout", nobody), looked_at)
    )
    if role == "holdout":
        holdout = np.zeros_like(holdout)
    n, right = int(queries.sum()), np.flatnonzero((train + holdout > 0) & long)
    left = np.flatnonzero((queries > 0) & long)
    if not left.size or not right.size:
        return Shared(0.0, n, MatchLists.of_pairs(nobody, nobody, nobody, n), train, holdout)
    place = np.cumsum(long) - 1  # among the histories that are long enough: none of them is empty
    pairs = near_pairs(sets[long], place[left], place[right], train[right], holdout[right], overlap)
    # all real subjects take part in the exchange, those with short histories too
    counts = [np.append(table[right], table[~long].sum()) for table in (train, holdout)]
    share = float(queries[left][pairs.near_train].sum() / n)
    return Shared(share, n, pairs.lists(queries[left], n), *counts)


def near_pairs(
    sets: csr_array,
    left: np.ndarray,
    right: np.ndarray,
    train: np.ndarray,
    holdout: np.ndarray,
    overlap: float,
) -> NearPairs:
    """Find the sets on the right, counted in train and in the holdout, near each on the left."""
    n_real = int(train.sum()), int(holdout.sum())
    longest = longest_list(*n_real) if n_real[1] else 0
    pairs = NearPairs(left.size, train > 0, holdout > 0, longest)
    known = TokenSets(left, [sets], [np.full(sets.shape[0], None, dtype=object)])
    for i, j in similar_pairs(known, left, right, overlap, pairs.done):
        pairs.add(i, j)
    return pairs


def joined(every: list[Histories], min_rows: int) -> tuple[np.ndarray, csr_array, np.ndarray]:
    """Return the class of each subject by its rows in all tables, and of each class its rows.

    And whether they are at least `min_rows`.
    """
    which = joint_classes(np.column_stack([one.classes for one in every]))
    first = np.unique(which, return_index=True)[1]
    sets = csr_array(hstack([one.tokens[first] for one in every], format="csr"))
    return which, sets, np.diff(sets.indptr) >= min_rows


def copies_in_words(counts: Counts, subject: str, own_row: bool = True) -> str:
    """Return how many synthetic subjects are copies of train subjects with all their rows.

    Empty if none is.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.relational.subject_copies import copies_in_words
    >>> counts = {"synthetic": np.array([2, 1, 4]), "train": np.array([1, 3, 0])}
    >>> copies_in_words(counts, "users")
    '3 of 7 synthetic users are complete copies of train users with all their rows, 2 of them \
unique there.'
    """
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


def shared_in_words(
    subject: str, tables: str, found: Shared, shown: Contrast | None, p_value: float
) -> str:
    """Return how many synthetic subjects share a history; empty if no more do than by chance."""
    if shown is None or p_value > TEST_LEVEL:
        return ""
    n = found.n_looked_at
    k, m = (round(share * n) for share in (shown.observed, shown.expected))
    return (
        f"{k:,} of {n:,} synthetic {subject} {'has' if k == 1 else 'have'} most of one train row's "
        f"{tables}; {f'{m:,}' if m else 'none'} {'has' if m < 2 else 'have'} it "
        f"{'by chance' if shown.reference == 'by chance' else 'of a holdout row'}."
    )
