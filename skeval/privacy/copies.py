"""Fraction of synthetic rows that are copies of real rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal

import numpy as np
from scipy.stats import hypergeom

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.families import ClaimTested, RelabelledTest
from skeval.core.tags import SCREEN_TAGS
from skeval.privacy.equal_rows import (
    chosen_in_words,
    columns_to_compare,
    copies_of_rows,
    copies_of_values,
    folded_counts,
    name_of_equal_rows,
    value_counts,
)
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import DROP_COPIES, TEST_LEVEL
from skeval.stats import matches as stats
from skeval.stats.epsilon_bounds import Matched
from skeval.stats.intervals import wilson
from skeval.stats.repeated_values import values_in_words
from skeval.steps.contrasts import MATCHES, contrast_of, set_against, with_claim
from skeval.steps.identifiers import advice_on_identifiers, identifier_copies, identifiers_in_words
from skeval.utils.formatting import format_count, percent, risk_level
from skeval.utils.parameters import AnyColumns, Fraction, Interval


@declared
class CopyScreen(RelabelledTest):
    """Base class of the fractions of synthetic rows that repeat real rows in some columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to compare. None uses all columns, including free text, but not IDs, because a
        different ID does not make a row different. An int uses the first columns, and a list the
        named ones.
    """

    _: KW_ONLY
    columns: AnyColumns = None

    def _prepare(self, context: Context) -> None:
        columns_to_compare(context.schema, self.columns)


@declared
class ExactMatchShare(CopyScreen, ClaimTested):
    r"""Fraction of synthetic rows that are exact copies of training rows.

    An attacker compares the release with a register, cell by cell. If a synthetic row agrees with a
    record in every column, the generator may have copied this record. In tables with few distinct
    values, some rows agree without a leak. The comparison with the holdout shows how many more rows
    agree than would agree without a leak. The value is 0 if there are no copies and 1 if all rows
    are copies. Lower is better.

    Parameters
    ----------
    decimals : int or None, default=None
        Number of decimals to which numbers are rounded first. None keeps 12 significant digits, so
        that rounding errors do not hide a copy. Dates are compared to the microsecond.
    count : {"rows", "multiset", "unique"}, default="rows"
        "rows" counts synthetic rows that match a training row. "multiset" counts pairs of equal
        rows, with each row in at most one pair. "unique" counts distinct synthetic rows that match,
        as in reports of identical match shares.
    alert : float, default=0.05
        Threshold. ``details["above_alert"]`` indicates whether the value exceeds it.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release. It does not
    detect a copy with a changed last digit.

    See Also
    --------
    IdenticalMatchShare : The fraction of distinct rows instead of all rows.
    NearDuplicateShare : Also finds copies with small changes.
    NewRowShare : Fraction of rows that do not match a training row within a tolerance.

    Notes
    -----
    Let S, T and H be the synthetic, training and holdout tables, and :math:`c_S(v)` the number of
    rows of S that equal v. The first two counts are

    .. math:: m(S, T) = \frac{|\{s \in S: s \in T\}|}{|S|}, \qquad
        m_\mathrm{multiset}(S, T) = \frac{\sum_v \min(c_S(v), c_T(v))}{|S|}

    and "unique" is :math:`m` for distinct rows. The comparison uses values and not spellings, so 1
    equals 1.0, and a missing value equals a missing value.

    The baseline is the fraction of holdout rows that match a training row, ``m(H, T)``, that is,
    the value for real rows. With "multiset" and "unique" the fraction depends on the number of
    rows, so both tables are reduced to the smaller size. If the holdout is the smaller table,
    ``details["at_baseline_size"]`` is the value of a sample of the synthetic rows with the size of
    the holdout.

    The p-value is one-sided. If the generator memorized nothing, the synthetic rows do not depend
    on which real rows were training rows, so all choices of the training rows among the real rows
    are equally likely. The difference ``m(S, T) - m(S, H)`` is compared with its values for random
    choices of the training rows. Repetitions of a synthetic row do not count as additional
    evidence. ``details`` contains the fraction of matches with the holdout, ``m(S, H)``
    (``to_holdout``), the difference, its mean over relabelings (``expected``, not 0 if the tables
    have unequal sizes) and their standard deviation (``null_standard_error``). ``passed`` indicates
    whether p is above 0.05. ``singleton_match_share`` counts the matches to rows that occur once in
    the training data and not in the holdout, so that they identify one record. ``duplicates``
    contains, for each table, the fraction of rows that occur more than once, and ``alone`` the
    number of training rows without an equal row. If the training data contain duplicates, a
    generator without a leak may produce duplicates too. If the synthetic table contains more
    duplicates than the training data, the generator repeats some rows too often.

    The ``fact`` reports copies even if the test is not significant. The fact contains the number of
    synthetic rows that are copies of training rows, the number of these that are unique in the
    training data, and the number of copies of holdout rows. This count ignores letter case and
    spaces in categories and texts, and rounds numbers to the decimals of the real numbers of the
    column.

    If all columns are compared, ``copies`` contains the number of unique training rows that occur
    in the release, and the largest number that is expected by chance, given how often real rows
    repeat. :meth:`skeval.SuiteResult.verdict` evaluates these numbers. If the number does not
    exceed this maximum, the metric searches for changed copies. It compares the rows several times
    and skips some cells each time. First, it skips one column. Then it skips all missing cells, and
    after this also all cells whose value occurs in no real row. Finally, it skips any one cell and
    any two cells of a row. ``copies`` lists such rows if there are more than expected by chance. It
    also lists a single training row that the release repeats many times with different values in
    one column. In a table of few columns, a small number of changed copies is not found, because
    different real rows also agree in all columns but one or two. ``copies`` also lists columns in
    which the release often repeats a value of a single training row. A column is listed if this
    number of repetitions is improbable without copying. In this case, the probability that any
    column of a release reaches the number is at most 5%. Finally, ``copies`` contains the number of
    identifiers of training records that occur in the release. Identifiers are the values of ID
    columns, and of categorical columns in which nearly all values are unique, such as names and
    e-mail addresses. Counters and other values that can be guessed are not identifiers. Numbers are
    identifiers if the schema declares their column as an ID column.

    With a holdout, ``details["epsilon"]`` contains lower bounds of the generator's epsilon at
    `delta` and 95% confidence, for one row more or less (``add_remove``) and for one exchanged row
    (``replace``). ``skeval.stats.epsilon_bounds.matches_epsilon`` computes them from the real rows
    that equal no other real row. ``matched`` contains, for the training and the holdout data, how
    many of these rows occur in the release and how many rows the table has. A bound of 0 does not
    show that epsilon is small.

    The interval is Wilson's interval for the fraction in a much larger table from the same
    generator. For the release itself, the value is exact. With "unique" and "multiset", the
    fraction depends on the number of rows, and the interval is approximate.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what such shares miss.
    K. Amin et al., "Phantoms and disclosures: a causal framework for auditing synthetic data"
    (2026), arXiv:2606.16952, on tests of an epsilon by matches.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import ExactMatchShare
    >>> train = pd.DataFrame({"n": [1, 1, 2], "c": ["a", "a", "b"]})
    >>> synthetic = pd.DataFrame({"n": [1, 1, 1, 3], "c": ["a", "a", "a", "c"]})
    >>> ExactMatchShare().fit(train).score(synthetic)
    0.75
    """

    tags = replace(
        SCREEN_TAGS,
        scaling="counts",
        risks=frozenset({"singling out"}),
        headline=1,
        quoted="copies",
    )

    columns: AnyColumns = None
    decimals: Annotated[int, Interval(-15, 15)] | None = None
    count: Literal["rows", "multiset", "unique"] = "rows"
    _: KW_ONLY
    alert: Fraction = 0.05

    def _compute(self, context: Context) -> Result:
        if not any(columns_to_compare(context.schema, self.columns)):
            return undefined_result("all columns are ids, which are not compared.")
        counts = self._counts(context)
        k, n = stats.matches(counts["synthetic"], counts["train"], self.count)
        return Result(k / n)

    def _counts(self, context: Context) -> dict[str, np.ndarray]:
        columns = columns_to_compare(context.schema, self.columns)
        return value_counts(context, *columns, self.decimals)

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        counts = self._counts(context)
        k, n = stats.matches(counts["synthetic"], counts["train"], self.count)
        details = {
            "n_compared": n,
            "alone": count_unique_rows(counts["train"]),
            "above_alert": result.value > self.alert,
            "singleton_match_share": matches_of_singletons(counts, self.count) / n,
            "duplicates": {role: duplicated_share(of_role) for role, of_role in counts.items()},
            "syneval": self._as_syneval(result.value, counts),
        }
        chosen = columns_to_compare(context.schema, self.columns)
        if "holdout" in counts:
            result = replace(result, **self._beside_holdout(context, counts))
            details |= self._privacy(unique_matches(counts))
        details |= result.details
        read, spelled = folded_counts(context, *chosen, self.decimals)
        where = chosen_in_words(context.schema, self.columns)
        of_rows = copies_in_words(read, where, spelled=spelled)
        of_whole = () if where else copies_of_rows(context, chosen, self.decimals, read)
        of_identifiers = () if where else identifier_copies(context)
        of_values = () if where else copies_of_values(context, chosen, self.decimals)
        renew = advice_on_identifiers((*of_identifiers, *of_values))
        facts = (
            of_rows,
            identifiers_in_words(of_identifiers),
            values_in_words(of_values, context.n_rows("synthetic")),
        )
        result = replace(
            result,
            interval=wilson(k, n),
            details=details,
            fact=" ".join(filter(None, facts)),
            advice=" ".join(filter(None, (DROP_COPIES if of_rows or not renew else "", renew))),
            refit=bool(of_rows) or not renew,
            copies=() if where else (*of_whole, *of_identifiers, *of_values),
        )
        return super()._in_relation(context, result)

    def _as_syneval(self, share: float, counts: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Return the numbers of SynEval, under its names and by its rule."""
        level = risk_level(share, self.alert)
        return {"exact_match_percentage": 100.0 * share, "risk_level": level}

    def _beside_holdout(self, context: Context, counts: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Return the fields of a result that come from matches to the holdout."""
        synthetic, train, holdout = (counts[role] for role in ("synthetic", "train", "holdout"))
        trials = {"n_permutations": self.n_permutations, "seed": self.random_state}
        test = stats.match_contrast(synthetic, train, holdout, self.count, **trials)
        (k, n), (k_other, _), (k_fresh, n_fresh) = (
            stats.matches(rows, others, self.count)
            for rows, others in ((synthetic, train), (synthetic, holdout), (holdout, train))
        )
        details = {
            "to_holdout": k_other / n,
            "difference": k / n - k_other / n,
            "expected": test.mean,
            "null_standard_error": test.spread,
            "passed": test.p_value > TEST_LEVEL,
        }
        # only the fraction of rows does not depend on the number of rows
        baseline: float | None = None
        what, name = MATCHES, ""
        if self.count == "rows":
            baseline = k_fresh / n_fresh
        if self.count == "rows" and self.decimals is None:
            name = name_of_equal_rows(*columns_to_compare(context.schema, self.columns))
        if self.count == "multiset":
            what = "pairs of a synthetic row and an equal train row"
        if self.count == "unique" and n < synthetic.sum():
            what = f"distinct {MATCHES}"
        said: dict[str, Any] = {"reference": "for holdout rows", "name": name, "unseen": baseline}
        contrast = contrast_of(context, what, k / n, test, **said)
        fields = {"p_value": test.p_value, "baseline": baseline, "contrast": contrast}
        return {**fields, "details": details}

    def _summary(self, result: Result) -> str:
        lead = f"{percent(result.value)} of synthetic rows equal a train row in all columns"
        return with_claim(set_against(lead, result), result)


def count_unique_rows(counts: np.ndarray) -> dict[str, int]:
    """Return the number of rows, and the number of rows without an equal row."""
    return {"n": int(counts.sum()), "n_alone": int((counts == 1).sum())}


@declared
class IdenticalMatchShare(ExactMatchShare):
    r"""Fraction of distinct synthetic rows that are exact copies of training rows.

    Reports on synthetic data call this fraction the identical match share (IMS). A row that occurs
    several times counts once. An attacker who compares the release with a register finds that this
    fraction of its records is known. The value is 0 if there are no copies and 1 if all distinct
    rows are copies. Lower is better.

    Parameters
    ----------
    count : {"rows", "multiset", "unique"}, default="unique"
        Unit of the count, see :class:`ExactMatchShare`.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    ExactMatchShare : The fraction of all rows. Describes the p-value and the details.
    NearDuplicateShare : Also finds copies with small changes.

    Notes
    -----
    .. math:: \frac{|\mathrm{set}(S) \cap \mathrm{set}(T)|}{|\mathrm{set}(S)|}

    ``details["syneval"]`` contains the numbers of SynEval: `ims_syn_train`, the same fraction of
    the holdout (`train_test_ims`), and `passed`, which indicates whether the synthetic fraction is
    at most the fraction of the holdout. Half of all tables without a leak do not pass. For
    everything else, see :class:`ExactMatchShare`. The fraction decreases with the number of
    synthetic rows, because common rows occur first and rare rows later. Therefore, compare the
    fraction with the baseline.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import IdenticalMatchShare
    >>> train = pd.DataFrame({"n": [1, 1, 2], "c": ["a", "a", "b"]})
    >>> synthetic = pd.DataFrame({"n": [1, 1, 1, 3], "c": ["a", "a", "a", "c"]})
    >>> IdenticalMatchShare().fit(train).score(synthetic)
    0.5
    """

    tags = replace(ExactMatchShare.tags, headline=0, quoted="")

    count: Literal["rows", "multiset", "unique"] = "unique"

    def _as_syneval(self, share: float, counts: Mapping[str, np.ndarray]) -> dict[str, Any]:
        if "holdout" not in counts:
            return {"ims_syn_train": share, "train_test_ims": None, "passed": None}
        k, n = stats.matches(counts["holdout"], counts["train"], self.count)
        return {"ims_syn_train": share, "train_test_ims": k / n, "passed": share <= k / n}

    def _summary(self, result: Result) -> str:
        lead = f"{percent(result.value)} of the distinct synthetic rows equal a train row"
        return with_claim(set_against(lead, result), result)


def duplicated_share(counts: np.ndarray) -> float:
    """Return the fraction of the rows of a table that occur more than once."""
    return float(counts[counts > 1].sum() / counts.sum())


def matches_of_singletons(counts: Mapping[str, np.ndarray], count: str) -> int:
    """Return the number of synthetic rows that match a row unique among the real rows."""
    in_holdout = counts.get("holdout", np.zeros_like(counts["train"]))
    alone = np.where((counts["train"] == 1) & (in_holdout == 0), 1, 0)
    return stats.matches(counts["synthetic"], alone, count)[0]


def unique_matches(counts: Mapping[str, np.ndarray]) -> Matched:
    """Return the number of real rows without an equal real row that a release matches, by table."""
    train, holdout = counts["train"], counts["holdout"]
    matched = (counts["synthetic"] > 0) & (train + holdout == 1)
    sizes = int(train.sum()), int(holdout.sum())
    return Matched(int(train[matched].sum()), sizes[0], int(holdout[matched].sum()), sizes[1])


def copies_in_words(
    counts: Mapping[str, np.ndarray], columns: str = "", *, spelled: bool = False
) -> str:
    """Return how many synthetic rows are copies of train rows, and how many of holdout rows."""
    k, n = stats.matches(counts["synthetic"], counts["train"])
    if not k:
        return ""
    alone = stats.matches(counts["synthetic"], np.where(counts["train"] == 1, 1, 0))[0]
    one = k == 1
    said = "is a complete copy of a training row" if one else "are complete copies of training rows"
    if columns:
        said = f"{'equals a training row' if one else 'equal training rows'} in {columns}"
    said += " but for letter case, spaces or further digits" if spelled else ""
    copy = {0: "none of them copies", 1: "1 of them copies", k: "all of them copy"}.get(
        alone, f"{alone:,} of them copy"
    )
    unique = f", and {copy} a row that is unique in the training data"
    if one:
        unique = ", which is unique in the training data" if alone else ""
    of_others = f" {_of_holdout(counts)}." if "holdout" in counts else ""
    return f"{k:,} of {format_count(n, 'synthetic row')} {said}{unique}.{of_others}"


def _of_holdout(counts: Mapping[str, np.ndarray]) -> str:
    """Return how many synthetic rows are copies of holdout rows, at equal sizes."""
    synthetic, train, holdout = (counts[role] for role in ("synthetic", "train", "holdout"))
    m = stats.matches(synthetic, holdout)[0]
    said = f"{m or 'No'} synthetic row matches a holdout row"
    if m > 1:
        said = f"{m:,} synthetic rows match holdout rows"
    n_train, n_holdout = int(train.sum()), int(holdout.sum())
    if n_train == n_holdout:
        return said
    larger, fewer, which = max(
        ((train, n_holdout, "training"), (holdout, n_train, "holdout")),
        key=lambda one: one[0].sum(),
    )
    # hypergeom needs time in proportion to the number of rows, for each of the counts
    n_copies, places = np.unique(larger, return_inverse=True)
    absent = hypergeom.pmf(0, int(larger.sum()), n_copies, fewer)[places]
    expected = float(synthetic @ (1.0 - absent))
    return f"{said}, compared with {expected:,.1f} for a sample of {fewer:,} {which} rows"
