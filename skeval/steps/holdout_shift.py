"""A check whether training and holdout data are samples of the same population.

The check uses no synthetic row. A classifier finds differences of several columns together, and a
test of each column finds small shifts, for which a classifier of few rows is too weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, mannwhitneyu, norm, rankdata

from skeval.core.context import Context, shared
from skeval.exceptions import GroupedRowsWarning, HoldoutShiftWarning, UnnoticedShiftWarning
from skeval.results.verdict import WARNING_LEVEL
from skeval.stats.multiple_testing import holm
from skeval.steps.column_choice import nothing_to_measure
from skeval.steps.encoded_rows import encoded_columns
from skeval.steps.neighbors import rows_of
from skeval.steps.samples import measured_on
from skeval.tables.preprocessing import NOMINAL
from skeval.utils.formatting import percent
from skeval.utils.one_thread import one_thread

if TYPE_CHECKING:
    from skeval.core.relational_context import RelationalContext

_MAX_ROWS = 10_000
_MIN_ROWS = 20
_MAX_NAMED = 5
_MIN_EXPECTED = 5.0  # rows of a category in the smaller table, for the chi-square distribution
_POWER = 0.8
_SHIFTED = (
    "Train and holdout are not samples of one population, because {found} (p {p}). Tests that "
    "compare them are not valid because they cannot distinguish memorization from this difference. "
    "Divide one table at random into the two. If an individual has several rows, divide by "
    "individual, and specify the column with groups."
)
_GROUPED = (
    "Train and holdout are divided by {names}. {n:,} of its values occur in several rows, and none "
    "of them occurs in both tables. Tests that treat rows as independent are not valid because "
    "rows of one group are similar, which may be mistaken for a leak. Specify the column, so that "
    "groups are tested and not their rows: make_suite(..., groups={names!r})."
)
_MIN_GROUPS = 20  # a division at random leaves this number in one table each with a chance of 1e-6
_BY_CLASSIFIER = (
    "a classifier that learned from half of each separates the other halves (AUC {auc:.2f})"
)
_UNNOTICED = (
    "The check found no difference between train and holdout. With {n_train:,} and {n_holdout:,} "
    "rows it finds a shift of {shift} in {power} of cases. A smaller shift may go unnoticed, and "
    "can look like a leak."
)
_MAX_CODE = 254  # maximum code of the histograms of the classifier
_LEAF = 10


@dataclass(frozen=True)
class HoldoutShift:
    """Differences between the training and the holdout data."""

    auc: float
    p_value: float
    n_train: int
    n_holdout: int
    columns: tuple[str, ...] = ()
    noticeable: float = float("nan")


@shared
def holdout_shift(context: Context) -> HoldoutShift | None:
    """Return the differences between training and holdout data in the measured columns."""
    # At most 10,000 rows of each table are used. The result is None without a holdout, without a
    # column that can be evaluated, or with fewer than 20 rows in a table.
    if "holdout" not in context or nothing_to_measure(context, "gower"):
        return None
    train, holdout = (
        rows_of(context, role, "gower", None, _MAX_ROWS, 0) for role in ("train", "holdout")
    )
    if min(len(train), len(holdout)) < _MIN_ROWS:
        return None
    n_columns = train.shape[1]
    is_nominal = np.arange(n_columns) >= n_columns - len(context.schema.columns(*NOMINAL))
    auc, p_value = blind_separation(train, holdout, categorical=is_nominal)
    by_column = [
        column_p_value(train[:, j], holdout[:, j], bool(is_code))
        for j, is_code in enumerate(is_nominal)
    ]
    adjusted = holm(by_column)
    names = encoded_columns(context.schema)
    order = sorted(range(n_columns), key=lambda j: (by_column[j], names[j]))
    return HoldoutShift(
        auc,
        min(1.0, 2.0 * min(p_value, *adjusted)),  # Bonferroni's correction for two checks
        len(train),
        len(holdout),
        tuple(names[j] for j in order if 2.0 * adjusted[j] < WARNING_LEVEL),
        noticeable_shift(len(train), len(holdout), is_nominal),
    )


def column_p_value(first: np.ndarray, second: np.ndarray, is_code: bool) -> float:
    """Return the p-value that a column has one distribution in two samples. Missing is nan."""
    # For numbers, their location, their spread and the missing ones are tested, with
    # Bonferroni's correction. Fewer than the expected rows for a test give 1.
    values = np.concatenate([first, second])
    is_second = np.arange(values.size) >= first.size
    missing = np.isnan(values)
    if is_code:
        return _codes_p_value(np.where(missing, -1.0, values), is_second)
    p_values = [_codes_p_value(missing * 1.0, is_second)] if missing.any() else []
    ranks, of_second = rankdata(values[~missing]), is_second[~missing]
    n_present = of_second.sum(), (~of_second).sum()
    if min(n_present) >= _MIN_ROWS and ranks.min() < ranks.max():
        spread = np.abs(ranks - ranks.mean())
        p_values += [
            float(mannwhitneyu(x[~of_second], x[of_second], method="asymptotic").pvalue)
            for x in (ranks, spread)
        ]
    known = [p_value for p_value in p_values if not np.isnan(p_value)]  # nan if all equal
    return min([1.0, *(len(known) * p_value for p_value in known)])


def _codes_p_value(codes: np.ndarray, is_second: np.ndarray) -> float:
    """Return the p-value of a chi-square test with pooled rare categories, or 1 if all are rare."""
    _, code, counts = np.unique(codes, return_inverse=True, return_counts=True)
    share = min(is_second.mean(), 1.0 - is_second.mean())
    frequent = counts * share >= _MIN_EXPECTED
    pooled = np.where(frequent, np.cumsum(frequent), 0)[code]
    n_codes = pooled.max() + 1
    table = np.stack(
        [np.bincount(pooled[part], minlength=n_codes) for part in (~is_second, is_second)]
    )
    table = table[:, table.sum(axis=0) * share >= _MIN_EXPECTED]
    return float(chi2_contingency(table, correction=False).pvalue) if table.shape[1] > 1 else 1.0


def noticeable_shift(n_train: int, n_holdout: int, is_nominal: Sequence[bool]) -> float:
    """Return the smallest shift of one column that the test of columns finds with 80% power."""
    # The shift is in standard deviations of a normal column. If all columns are categorical, it is
    # in the fraction of a category that half of the rows have. The first step of Holm's correction
    # is used.
    all_nominal = bool(np.all(is_nominal))
    level = WARNING_LEVEL / 2.0 / len(is_nominal) / (1.0 if all_nominal else 2.0)
    error = float(np.sqrt(1.0 / n_train + 1.0 / n_holdout))
    deviation = 0.5 if all_nominal else np.sqrt(np.pi / 3.0)
    return float((norm.isf(level / 2.0) + norm.ppf(_POWER)) * error * deviation)


def independent_rows(context: Context) -> Context | None:
    """Return a context of independent rows, which are the rows of one table, or None if unknown."""
    if context.is_relational:
        # imported here because several tables are rare
        from skeval.steps.aggregates import subject_rows

        return subject_rows(cast("RelationalContext", context))
    return context


def _shift_of_rows(context: Context) -> HoldoutShift | None:
    """Return the shift. For several tables, it is the shift of subjects with all their rows."""
    rows = independent_rows(context)
    return None if rows is None else holdout_shift(measured_on(rows, "sampled"))


def grouped_columns(context: Context) -> dict[str, int]:
    """Return the columns by which the rows were divided, and how many of their values recur."""
    # If rows were divided at random, a repeated value is in both tables with a probability of at
    # least one half. Dates are ignored, and so are numbers that are all lower in one table than in
    # the other, because such tables were divided by time.
    found = {}
    for name, kind in context.schema.kinds.items():
        if kind in ("text", "datetime", "boolean"):
            continue
        tables = [context.column(role, name).dropna() for role in ("train", "holdout")]
        if kind == "continuous" and not _may_be_groups(*tables):
            continue
        if tables[0].isin(tables[1]).any():
            continue
        n_groups = sum(int((table.value_counts() > 1).sum()) for table in tables)
        if n_groups >= _MIN_GROUPS:
            found[name] = n_groups
    return found


def _may_be_groups(first: pd.Series, second: pd.Series) -> bool:
    """Return whether numbers are whole, as in numbers of individuals, and the ranges overlap."""
    is_whole = all(bool((values % 1 == 0).all()) for values in (first, second))
    return is_whole and bool(first.min() <= second.max() and second.min() <= first.max())


def shift_notices(context: Context) -> tuple[HoldoutShiftWarning, ...]:
    """Return a warning if train and holdout differ at a level of 1%, and otherwise nothing."""
    # If there are several tables, subjects are compared with all their rows because rows are not
    # independent. If there are several tables of subjects, the first one counts.
    if type(context) is Context and "holdout" in context and (grouped := grouped_columns(context)):
        name = max(grouped, key=lambda one: (context.schema.kinds[one] != "continuous", one))
        return (GroupedRowsWarning(_GROUPED.format(names=name, n=grouped[name])),)
    shift = _shift_of_rows(context)
    if shift is None or shift.p_value >= WARNING_LEVEL:
        return ()
    p = f"= {shift.p_value:.1g}" if shift.p_value >= 1e-16 else "< 1e-16"
    found = _BY_CLASSIFIER.format(auc=shift.auc)
    if shift.columns:
        shown = ", ".join(shift.columns[:_MAX_NAMED]) + ", ..." * (len(shift.columns) > _MAX_NAMED)
        found = f"the distributions of {shown} differ, and {found}"
    return (HoldoutShiftWarning(_SHIFTED.format(found=found, p=p)),)


def unnoticed_shift_notices(context: Context) -> tuple[UnnoticedShiftWarning, ...]:
    """Return the size of a shift that the check would notice, if it was made and found no shift."""
    shift = _shift_of_rows(context)
    if shift is None or shift.p_value < WARNING_LEVEL:
        return ()
    size = f"{shift.noticeable:.2g} standard deviations in one column"
    if not context.is_relational and not set(encoded_columns(context.schema)) - set(
        context.schema.columns(*NOMINAL)
    ):
        size = f"{percent(shift.noticeable, 0)} of the rows from one category to another"
    sizes = {"n_train": shift.n_train, "n_holdout": shift.n_holdout}
    text = _UNNOTICED.format(shift=size, power=percent(_POWER, 0), **sizes)
    return (UnnoticedShiftWarning(text),)


def blind_separation(
    first: np.ndarray, second: np.ndarray, *, categorical: np.ndarray, seed: int = 0
) -> tuple[float, float]:
    """Return the AUC of a classifier on unseen rows of two samples, and a p-value."""
    # The classifier (gradient boosting of small trees) learns on a random half of each sample
    # and scores the other halves.
    #
    # If the rows are exchangeable, then the rows of the other halves are also exchangeable, given
    # the halves from which the classifier learned. Therefore, their scores are exchangeable for
    # any classifier. The size of the test is correct even if the classifier is bad, the samples
    # have unequal sizes, or rows occur in both. Scores that are pooled over folds do not have
    # this property because each fold learns from rows that the others score.
    # imported here because nothing else needs half of its imports
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    (seen, unseen), (other_seen, other_unseen) = (_halves(rows, rng) for rows in (first, second))
    learned_from = np.concatenate([seen, other_seen])
    known = ~np.isnan(learned_from).all(axis=0)
    if not known.any():
        return 0.5, 1.0
    highest = np.fmax.reduce(np.concatenate([first, second]), axis=0)
    is_code = (categorical & (highest <= _MAX_CODE))[known]
    classifier = HistGradientBoostingClassifier(
        max_iter=50,
        max_leaf_nodes=8,
        min_samples_leaf=_LEAF,
        categorical_features=is_code,
        early_stopping=False,
        random_state=seed,
    )
    with one_thread():  # `fit` checks the holdout before a metric is evaluated
        classifier.fit(learned_from[:, known], np.repeat([1, 0], [len(seen), len(other_seen)]))
        scores = [classifier.decision_function(rows[:, known]) for rows in (unseen, other_unseen)]
    test = mannwhitneyu(*scores, alternative="greater", method="asymptotic")
    return float(test.statistic) / (len(unseen) * len(other_unseen)), float(test.pvalue)


def _halves(rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(len(rows))
    return rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]
