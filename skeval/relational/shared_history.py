"""Screen for subjects that are copied with most of their rows."""

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
    r"""Fraction of synthetic subjects that share most of their rows with one training subject.

    A generator may generate each table well but give a synthetic user all or most of the purchases
    of a real user. No single purchase shows the copy, because thousands of users bought each item.
    However, the combination of purchases shows it. The score ranges from 0 (no synthetic subject
    has the history of a real subject) to 1 (all synthetic subjects do). Lower is better.

    Parameters
    ----------
    overlap : float, default=0.5
        Minimum fraction of common rows among all rows of the two subjects.
    n_bins : int, default=20
        Number of quantile bins of the pooled training and holdout data. Numerical and datetime
        values in the same bin count as equal.
    min_rows : int, default=3
        Subjects with fewer rows are counted as not sharing a history.
    max_subjects : int or None, default=5_000
        Maximum number of synthetic subjects, and of holdout subjects for the baseline. Larger
        tables are sampled at random. If None, all are used. They are compared with all real
        subjects.
    n_permutations : int, default=1999
        Number of permutations of subjects for the p-value.
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
    This is a screening metric, which can find a leak but cannot rule one out.

    See Also
    --------
    SubjectCopies : Finds subjects whose rows are all copied exactly.
    PerSubject : Computes distances of subjects, to find copies with changed numbers.

    Notes
    -----
    The rows of a subject, from all tables that depend on the subject, form a multiset. Keys are
    ignored. A synthetic subject counts if

    .. math:: \frac{|\{\!\{c_s\}\!\} \cap \{\!\{c_t\}\!\}|}
        {|\{\!\{c_s\}\!\} \cup \{\!\{c_t\}\!\}|} \ge \mathrm{overlap}

    for some training subject t. Pairs are found by their rarest rows (as
    :class:`~skeval.privacy.NearDuplicateShare` finds texts by their rarest words), so subjects with
    the same popular item are not all compared.

    If several tables depend on the subject, each table has its own fraction
    (``details["columns"]``), because links may be copied in one table only. The p-values are
    computed by permuting subjects with all their rows. The p-value of the result is the smallest
    p-value of the tables and of all rows together after Holm correction, and the advice names the
    table with this p-value. If there are few distinct rows and many rows per subject, histories are
    similar without copying, also in the holdout. In this case, increase `overlap` or `n_bins`. The
    metric does not find a copy that is mixed with the same number of other rows.

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
        what = f"synthetic {subject} with most of the rows of a training one in {name}"
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
        lead = f"{share} of the synthetic subjects have most of the rows of one training subject"
        return set_against(lead, result)


@dataclass(frozen=True)
class Shared:
    """Which synthetic subjects have most of the rows of a real subject."""

    # `share` is the fraction of the `n_looked_at` subjects with the rows of a training subject.
    # `lists` contains the classes of real subjects near each class of synthetic subjects. `train`
    # and `holdout` are the numbers of subjects in each class.

    share: float
    n_looked_at: int
    lists: MatchLists
    train: np.ndarray
    holdout: np.ndarray

    def test(self, *, n_permutations: int, seed: int) -> Relabelled:
        """Permute subjects between training data and holdout."""
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
    """Find the real subjects that have most of their rows in common with a subject of a role.

    Rows of the holdout are compared with training rows only.
    """
    relational, roles = cast("RelationalContext", context), roles_in(context)
    every = [histories(relational, subject, table, roles, n_bins) for table in tables]
    which, sets, long = join_histories(every, min_rows)
    sizes = [len(relational.original_frame(one)[subject]) for one in roles]
    by_role = dict(zip(roles, np.split(which, np.cumsum(sizes)[:-1]), strict=True))
    nobody = np.zeros(0, dtype=np.int64)
    # in the order of the histories, because the order of rows has no meaning
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
    # position among the histories that are long enough, which are never empty
    place = np.cumsum(long) - 1
    pairs = near_pairs(sets[long], place[left], place[right], train[right], holdout[right], overlap)
    # all real subjects are permuted, including subjects with short histories
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
    """Find the sets on the right, counted by role, that are close to each set on the left."""
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
    """Return the class of each subject by its rows in all tables, and the rows of each class.

    Also return whether a class has at least `min_rows` rows.
    """
    which = joint_classes(np.column_stack([one.classes for one in every]))
    first = np.unique(which, return_index=True)[1]
    sets = csr_array(hstack([one.tokens[first] for one in every], format="csr"))
    return which, sets, np.diff(sets.indptr) >= min_rows


def shared_in_words(
    subject: str, tables: str, found: Shared, shown: Contrast | None, p_value: float
) -> str:
    """Return how many synthetic subjects share a history, or nothing if not significant."""
    if shown is None or p_value > TEST_LEVEL:
        return ""
    n = found.n_looked_at
    k, m = (round(share * n) for share in (shown.observed, shown.expected))
    return (
        f"{k:,} of {n:,} synthetic {subject} have most of the {tables} of one training record, "
        f"compared with {m:,} "
        f"{'expected by chance' if shown.reference == 'by chance' else 'for holdout records'}."
    )
