"""Whether a subject was learned from, by its own row and all the rows that belong to it.

Subjects that are copied with all their rows, or with most of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, cast

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, hstack
from scipy.stats import rankdata

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import ClaimTested
from skeval.core.needs import Unmet
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import ATTACK_TAGS, SCREEN_TAGS
from skeval.exceptions import TableError
from skeval.privacy.attacks.membership.membership_inference import against_half, overview, success
from skeval.privacy.copies import matches_of_singletons, unique_matches
from skeval.privacy.near_texts import NearPairs, TokenSets, similar_pairs
from skeval.relational.per_table import SubjectName, chosen_subject, with_whole_subjects
from skeval.results.result import Result, undefined
from skeval.results.verdict import TEST_LEVEL, Contrast
from skeval.stats import matches as stats
from skeval.stats.disclosure import class_counts, joint_classes
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, list_contrast, longest_list
from skeval.stats.relabelling import Relabelled, holm
from skeval.stats.repeats import copies_of
from skeval.stats.roc import auc
from skeval.steps.aggregates import STATS, aggregated_context
from skeval.steps.exposure import advice_on_leak
from skeval.steps.joins import subject_positions
from skeval.steps.member_rows import drawing_order
from skeval.steps.members import CALIBRATED, MemberScores, member_scores
from skeval.steps.relabelled import contrast_of, set_against, with_claim
from skeval.steps.samples import nothing_to_measure, sample_positions
from skeval.steps.subjects import Histories, histories, row_codes, rows_taken
from skeval.utils.formatting import as_float, percent
from skeval.utils.parameters import BinCount, Count, OpenFraction, Seed

ROLES = ("train", "holdout", "synthetic")
_UNLINK = (
    "What one {subject} row has in {tables} stands together again in a synthetic one: drop these "
    "subjects, or generate {tables} from less of a subject at a time, or with noise."
)
Counts = Mapping[str, np.ndarray]


@declared
class SubjectMetric(Metric):
    """Base of metrics of subjects with the rows that belong to them.

    Parameters
    ----------
    subject : str or None, default=None
        The subject; None for the only one.

    Attributes
    ----------
    context_ : RelationalContext
        The real tables.
    """

    subject: SubjectName = None

    def unmet_need(self, context: Context) -> Unmet | None:
        """Say what the tables leave unmet, and the cure; None if nothing."""
        if unmet := super().unmet_need(context):
            return unmet
        relational = cast("RelationalContext", context)
        if unclear := relational.relations.undetermined:
            return Unmet(unclear)
        if not self._tables(relational):
            return Unmet("looks at rows that belong to a subject, and no table depends on it.")
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
        rows = _compared(self.own_row)
        lead = f"{percent(result.value)} of the synthetic subjects equal a train subject in {rows}"
        return with_claim(set_against(lead, result), result)


@declared
class SharedHistoryShare(SubjectMetric):
    r"""Share of synthetic subjects that have most of their rows in common with one train subject.

    A generator may write each table well and give a synthetic user the very set of purchases that a
    real one made, or most of them. No purchase shows it: thousands bought each of these things. The
    combination does. The share is 0 if no synthetic subject has a real one's history, and 1 if all
    do.

    Parameters
    ----------
    overlap : float, default=0.5
        The least share of rows in common, of all rows that either of the two subjects has.
    n_bins : int, default=20
        Number of quantile cells of train and holdout; numbers and dates of one cell count as equal.
    min_rows : int, default=3
        Subjects with fewer rows have no history to share; they are counted as not sharing one.
    max_subjects : int or None, default=5_000
        Synthetic subjects, and holdout subjects for the baseline, that are looked at: a seeded
        sample, None for all. They are compared with all real ones.
    n_permutations : int, default=1999
        Number of exchanges of subjects behind the p-value.
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

    If several tables depend on the subject, each has its own share too (``details["columns"]``):
    links may be copied in one of them only. The p-value exchanges subjects with all their rows; it
    is the least after Holm of the tables and of all rows together, and the advice names the table
    that it belongs to. If there are few distinct rows, and many of them a subject, histories are
    alike by chance, in the holdout as well: raise `overlap` or `n_bins`. A copy among as many other
    rows again is missed.

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

    overlap: OpenFraction = 0.5
    _: KW_ONLY
    n_bins: BinCount = 20
    min_rows: Count = 3
    max_subjects: Count | None = 5_000
    n_permutations: Count = 1999
    random_state: Seed = 0

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
        fresh = {part: self._shared(context, own, "holdout") for part, own in parts.items()}
        shown = contrast_of(
            relational.table(subject),
            what,
            found[name].share,
            tests[name],
            reference="a holdout's",
            unseen=fresh[name].share,
        )
        least_here = min(1.0, len(tests) * min(test.least for test in tests.values()))
        details["baseline_columns"] = {part: one.share for part, one in fresh.items()}
        return replace(
            result,
            p_value=adjusted[name],
            baseline=fresh[" and ".join(tables)].share,
            contrast=shown and replace(shown, n_tests=len(tests), least_here=least_here),
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
    """Which synthetic subjects have most of the rows of a real one."""

    # `share` is that of those who have a train subject's, of `n_looked_at`; `lists` are the
    # classes of real subjects near each class of synthetic ones, `train` and `holdout` the
    # numbers of subjects of each class.

    share: float
    n_looked_at: int
    lists: MatchLists
    train: np.ndarray
    holdout: np.ndarray

    def test(self, *, n_permutations: int, seed: int) -> Relabelled:
        """Exchange subjects between train and holdout."""
        if not self.lists.weights.size:
            return Relabelled(0.0, 0.0, 0.0, 1.0, 1.0, on_train=0.0)
        return list_contrast(
            self.lists, self.train, self.holdout, n_permutations=n_permutations, seed=seed
        )


def _roles(context: Context) -> tuple[str, ...]:
    return tuple(role for role in ROLES if role in context)


def _compared(own_row: bool) -> str:
    return "all their rows" if own_row else "all rows but their own"


@shared
def subject_counts(context: Context, subject: str, own_row: bool) -> dict[str, np.ndarray]:
    """Return how many subjects of each role are of each class, of shape (n_classes,)."""
    # Subjects of one class are equal with all their rows; without `own_row` only those are
    # counted that have other rows.
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

    Rows of the holdout are compared with train alone.
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


_PAIRS = (
    "pairs of a train and a holdout one of {subject} in which the train one ranks higher, by {by}"
)
TOGETHER = "all of it together"
Parts = dict[str, np.ndarray]  # scores of train and of the holdout


@declared
class SubjectMembership(SubjectMetric):
    """AUC of telling train from holdout subjects by all their rows: 0.5 by chance, 1 faultless.

    An attacker knows a user, with every purchase, and wants to know whether the user was in the
    data. Single purchases say little, and an attack on rows asks the wrong question: nobody is a
    member by one row. Each row is scored by how much nearer the release comes to it than other
    people's rows do; a user's score is the mean of these, or the largest, since one row that was
    remembered gives the user away.

    Parameters
    ----------
    attack : {"ratio", "distance", "distance_calibrated", "knn_density"}, default="ratio"
        The score of a row, as in :class:`~skeval.privacy.MembershipInference`: the log of the
        distance to the nearest reference row less that to the nearest synthetic row; minus the
        latter distance; their difference; or minus the log of the distance to the fifth nearest
        synthetic row.
    reference_fraction : float, default=0.5
        Which part of the holdout's subjects the attacker has for reference.
    random_state : int, default=0
        Seed of that part.

    Raises
    ------
    InvalidParameterError
        At fit, if the subject is no subject.
    MissingInputError
        At fit, if there is no holdout, the schema does not say whose the rows are, or no table
        depends on the subject.

    Warnings
    --------
    This is what one adversary achieves: an AUC of 0.5 does not clear a release.

    See Also
    --------
    skeval.privacy.MembershipInference : The same for rows; by PerSubject, for aggregates alone.
    SharedHistoryShare : Histories that are copied.

    Notes
    -----
    There are several scores of a subject: that of its own row with aggregates of the others (as in
    :class:`PerSubject`); for each table that depends on it, mean and maximum over its rows; and
    the mean of the ranks by all of these. The value is the largest AUC, ``details["attacks"]`` has
    all; p-value and interval hold for the choice (Holm, Bonferroni). Labels of subjects are
    exchangeable if nothing was learned of any of them, however many rows they have. A subject
    without rows in a table has the median score there. The baseline is 0.5.

    The value is an average over all subjects: if a few are exposed, it stays near 0.5.

    References
    ----------
    MT-MIA, arXiv:2602.07126.

    Examples
    --------
    >>> from skeval.relational import SubjectMembership
    >>> SubjectMembership(attack="distance")
    SubjectMembership(attack='distance')
    """

    tags = replace(
        ATTACK_TAGS,
        needs=frozenset({"holdout", "relational"}),
        display="ROCDisplay",
        weight=4.0,  # as MembershipInference of rows
    )

    attack: Literal["ratio", "distance", "distance_calibrated", "knn_density"] = "ratio"
    _: KW_ONLY
    reference_fraction: OpenFraction = 0.5
    random_state: Seed = 0

    def _scored(self, context: Context) -> dict[str, MemberScores]:
        settings = (self.attack, self.reference_fraction, self.random_state)
        return subject_scores(context, self._subject(context), *settings)

    def _compute(self, context: Context) -> Result:
        scored = self._scored(context)
        if not scored:
            return undefined("train and holdout need subjects that can be scored.")
        return success(scored[strongest(scored)], None, ())

    def _in_relation(self, context: Context, result: Result) -> Result:
        scored = self._scored(context)
        if not scored or np.isnan(result.value):
            return result
        best = strongest(scored)
        details = overview(best, scored)
        compared = against_half(scored, details["attacks"])
        shown, subject = compared["contrast"], self._subject(context)
        by = min(scored, key=lambda name: details["attacks"][name]["p_value"])
        compared["contrast"] = replace(shown, what=_PAIRS.format(subject=subject, by=by))
        return replace(result, **compared, details=details)

    def _leak_advice(self, context: Context) -> str:
        relational = cast("RelationalContext", context)
        return advice_on_leak(
            aggregated_context(relational, self._subject(context), STATS, "subject")
        )

    def _summary(self, result: Result) -> str:
        return (
            "An attacker who has the release and all rows of some subject guesses whether it was "
            f"in train, best by {result.details['attack']}: a train subject ranks above a holdout "
            f"one {percent(as_float(result.details['auc']))} of the time, by chance 50%."
        )


def strongest(scored: dict[str, MemberScores]) -> str:
    """Return which scores have the largest AUC."""
    return max(scored, key=lambda name: auc(scored[name].members, scored[name].others))


@shared
def subject_scores(
    context: Context, subject: str, attack: str, reference_fraction: float, seed: int
) -> dict[str, MemberScores]:
    """Return scores of train and holdout subjects, by what they are made of.

    The subjects of the holdout that are the attacker's reference are not scored.
    """
    relational = cast("RelationalContext", context)
    sizes = {role: len(relational.given(role)[subject]) for role in ("train", "holdout")}
    whole = aggregated_context(relational, subject, STATS, "subject")
    is_known = np.zeros(sizes["holdout"], dtype=np.bool_)
    if attack in CALIBRATED and sizes["holdout"] > 1:
        n_known = min(sizes["holdout"] - 1, max(1, round(reference_fraction * sizes["holdout"])))
        is_known[drawing_order(whole, "holdout", seed)[:n_known]] = True
    by_part: dict[str, Parts] = {}
    own = {role: np.arange(n) for role, n in sizes.items()}
    if rows := row_scores(whole, own, is_known, attack, seed):
        by_part["its own row and what its rows are like"] = rows
    for table in relational.relations.dependents(subject):
        owners = {role: subject_positions(relational, role, table, subject) for role in sizes}
        rows = row_scores(relational.table(table), owners, is_known, attack, seed)
        for stat, said in (("mean", "the mean over its"), ("max", "the highest of its")):
            if rows:
                by_part[f"{said} {table}"] = {
                    role: grouped(rows[role], owners[role], n, stat) for role, n in sizes.items()
                }
    return scores_of_parts(by_part, ~is_known)


def row_scores(
    own: Context, owners: dict[str, np.ndarray], is_known: np.ndarray, attack: str, seed: int
) -> Parts | None:
    """Return a score of each row of train and of the holdout, nan for those of the reference.

    None where there is no row to score, or none for reference.
    """
    if nothing_to_measure(own, "gower"):
        return None
    of_known = (owners["holdout"] >= 0) & is_known[np.maximum(owners["holdout"], 0)]
    kept = np.flatnonzero(~of_known)
    if not kept.size or (is_known.any() and not of_known.any()):
        return None
    n_train = own.n_rows("train")
    rows = {
        "train": np.arange(n_train),
        "holdout": kept,
        "synthetic": np.arange(own.n_rows("synthetic")),
    }
    reference = own.holdout[of_known].reset_index(drop=True) if is_known.any() else None
    try:
        scores = member_scores(rows_taken(own, rows), attack, seed=seed, reference=reference)
    except TableError:
        return None
    holdout = np.full(own.n_rows("holdout"), np.nan)
    holdout[kept[scores.other_rows]] = scores.others
    train = np.full(n_train, np.nan)
    train[scores.member_rows] = scores.members
    return {"train": train, "holdout": holdout}


def grouped(scores: np.ndarray, owners: np.ndarray, n: int, stat: str) -> np.ndarray:
    """Return mean or maximum of the scores of each owner; nan for one without rows."""
    mine = pd.Series(scores).groupby(owners).agg(stat)
    return mine.reindex(range(n)).to_numpy(dtype=np.float64)


def scores_of_parts(by_part: Mapping[str, Parts], is_scored: np.ndarray) -> dict[str, MemberScores]:
    """Return the scores of subjects by each part, and by the mean of their ranks."""
    scored, ranks = {}, []
    others = np.flatnonzero(is_scored)
    for name, part in by_part.items():
        pooled = np.concatenate([part["train"], part["holdout"][others]])
        if np.isnan(pooled).all():
            continue
        pooled = np.where(np.isnan(pooled), np.nanmedian(pooled), pooled)
        ranks.append(rankdata(pooled))
        scored[name] = member_parts(pooled, part["train"].size, others)
    if len(ranks) > 1:
        n_train = next(iter(scored.values())).members.size
        scored[TOGETHER] = member_parts(np.mean(ranks, axis=0), n_train, others)
    return {name: one for name, one in scored.items() if one.fewest > 0}


def member_parts(pooled: np.ndarray, n_train: int, others: np.ndarray) -> MemberScores:
    """Return pooled scores as those of members and of others."""
    return MemberScores(pooled[:n_train], pooled[n_train:], np.arange(n_train), others)
