"""Subjects that are copied with most of their rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import cast

import numpy as np
from scipy.sparse import csr_array, hstack

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import SCREEN_TAGS
from skeval.privacy.near_texts import NearPairs
from skeval.privacy.similar_texts import TokenSets, similar_pairs
from skeval.relational.subject_metric import UNLINK, SubjectMetric, roles_in
from skeval.results.result import Result
from skeval.results.verdict import TEST_LEVEL, Contrast
from skeval.stats.intervals import wilson
from skeval.stats.joint_classes import joint_classes
from skeval.stats.matches import MatchLists, list_contrast, longest_list
from skeval.stats.multiple_testing import holm
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.contrasts import contrast_of, set_against
from skeval.steps.samples import sample_positions
from skeval.steps.subjects import Histories, histories
from skeval.utils.formatting import percent
from skeval.utils.parameters import BinCount, Count, OpenFraction, Seed


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

    def _shared_histories(
        self, context: Context, tables: list[str], role: str = "synthetic"
    ) -> Shared:
        settings = (self.overlap, self.n_bins, self.min_rows, self.max_subjects, self.random_state)
        return shared_histories(context, self._subject(context), tuple(tables), role, *settings)

    def _compute(self, context: Context) -> Result:
        tables = self._tables(cast("RelationalContext", context))
        return Result(self._shared_histories(context, tables).share)

    def _in_relation(self, context: Context, result: Result) -> Result:
        relational, subject = cast("RelationalContext", context), self._subject(context)
        tables = self._tables(relational)
        parts = {" and ".join(tables): tables}
        if len(tables) > 1:
            parts |= {table: [table] for table in tables}
        found = {name: self._shared_histories(context, own) for name, own in parts.items()}
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
        fresh = {
            part: self._shared_histories(context, own, "holdout") for part, own in parts.items()
        }
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
            advice=UNLINK.format(subject=subject, tables=name),
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
    relational, roles = cast("RelationalContext", context), roles_in(context)
    every = [histories(relational, subject, table, roles, n_bins) for table in tables]
    which, sets, long = join_histories(every, min_rows)
    sizes = [len(relational.original_frame(one)[subject]) for one in roles]
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


def join_histories(
    every: list[Histories], min_rows: int
) -> tuple[np.ndarray, csr_array, np.ndarray]:
    """Return the class of each subject by its rows in all tables, and of each class its rows.

    And whether they are at least `min_rows`.
    """
    which = joint_classes(np.column_stack([one.classes for one in every]))
    first = np.unique(which, return_index=True)[1]
    sets = csr_array(hstack([one.tokens[first] for one in every], format="csr"))
    return which, sets, np.diff(sets.indptr) >= min_rows


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
