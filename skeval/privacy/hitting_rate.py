"""Boxes around rows: real rows with a synthetic row in the box, and synthetic rows that are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import RelabelledTest, RowMetric
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.privacy.equal_rows import columns_to_compare, name_of_equal_rows, value_counts
from skeval.results.result import Result
from skeval.results.verdict import DROP_COPIES
from skeval.stats.intervals import newcombe, wilson
from skeval.stats.joint_classes import joint_classes
from skeval.stats.matches import MatchLists, distinct_rows, list_contrast, longest_list
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.contrasts import MATCHES, contrast_of, set_against, share_contrast
from skeval.steps.encoded_rows import encoded_columns, encoded_matrix, ranges
from skeval.tables.preprocessing import NUMERIC
from skeval.utils.formatting import percent
from skeval.utils.parameters import Fraction, Interval

_SLACK = 1e-9  # relative to the tolerance, because bounds belong to the box
_APART = 2.0  # distance of rows with different categories, larger than the box radius of 1
_BEYOND = 2.0  # ranges from the real values at which numbers are cut, above any tolerance
_FAR = 1e4  # more than the logarithm of any number
_MISSING, _OTHER = 2, 3  # states of a number other than a sign


@declared
class HittingRate(RowMetric):
    r"""Fraction of training rows with a synthetic row that is close in every column.

    An attacker knows a record approximately, for example the age within a few years and the income
    within a few thousand. A synthetic row that agrees with this may be mistaken for the record, and
    the synthetic values for the true values. The value is 0 if no training row is hit and 1 if all
    training rows are hit. Lower is better.

    Parameters
    ----------
    tau : float, default=1/30
        Maximum difference of numbers and dates, as a fraction of the range of training and holdout
        data together, in [0, 1]. Categories must be the same.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    NewRowShare : Fraction of synthetic rows without a similar training row.
    EpsilonIdentifiability : Fraction of training rows with a very close synthetic row.
    NearDuplicateShare : Uses a distance instead of a tolerance in every column.

    Notes
    -----
    The value is the fraction of training rows t for which some synthetic row s has :math:`s_j =
    t_j` in
    all categories and

    .. math:: |s_j - t_j| \le \tau\, \mathrm{range}_j

    in all numbers. A missing value agrees only with a missing value. In a column without range,
    numbers agree if they are equal. Bounds belong to the box, with a slack of 1e-9 ranges.

    The rate increases with the number of synthetic rows and decreases with the number of columns.
    Because the generator never saw the holdout rows, their rate is the baseline. ``details``
    contains the excess of the training rows over the baseline (``excess``) and Newcombe's interval
    of the excess (``excess_interval``).

    The p-value is one-sided and exact. If the generator memorized nothing, all choices of the
    training rows among the real rows are equally likely given the synthetic rows, and the number of
    hits among the training rows is hypergeometric. The interval of the value is Wilson's interval
    for a fraction of training rows.

    References
    ----------
    Known as hitting rate in SynthEval: A. D. Lautrup, T. Hyrup, A. Zimek, P. Schneider-Kamp,
    "SynthEval: a framework for detailed utility and privacy evaluation of tabular synthetic data",
    Data Mining and Knowledge Discovery 39 (2025), doi:10.1007/s10618-024-01081-4.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import HittingRate
    >>> train, synthetic = pd.DataFrame({"x": [0.0, 1, 4, 9]}), pd.DataFrame({"x": [0, 1.2, 5, 20]})
    >>> HittingRate().fit(train).score(synthetic)
    0.5
    """

    tags = NEIGHBOR_TAGS

    tau: Fraction = 1 / 30

    def _measure(self, context: Context, columns: Any) -> float:
        return float(self._hits(context, "train", columns).mean())

    def _hits(self, context: Context, role: str, columns: Any) -> np.ndarray:
        return box_matches(context, role, "synthetic", "range", self.tau, columns)

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        hits = self._hits(context, "train", columns)
        k, n = int(hits.sum()), hits.size
        result = replace(result, interval=wilson(k, n), details={"n_hit": k})
        if "holdout" not in context:
            return result
        others = self._hits(context, "holdout", columns)
        k_other, n_other = int(others.sum()), others.size
        details = {
            "n_hit": k,
            "n_hit_holdout": k_other,
            "excess": k / n - k_other / n_other,
            "excess_interval": newcombe(k, n, k_other, n_other),
        }
        what = "train rows that a synthetic row hits in every column"
        p_value, contrast = share_contrast(what, k, n, k_other, n_other)
        baseline = k_other / n_other
        return replace(
            result, p_value=p_value, baseline=baseline, contrast=contrast, details=details
        )

    def _summary(self, result: Result) -> str:
        lead = f"{percent(result.value)} of train rows are hit by a synthetic row in every column"
        return set_against(lead, result)


@declared
class NewRowShare(RowMetric, RelabelledTest):
    r"""Fraction of synthetic rows that match no training row within a tolerance.

    An attacker compares a synthetic row with known records. If a record agrees in every category
    and nearly in every number, the row is not new and may be that record. The value is 1 if all
    rows are new and 0 if all rows match a training row. Higher is better.

    Parameters
    ----------
    numerical_match_tolerance : float, default=0.01
        Maximum difference of a training number from the synthetic number, in [0, 1).
    tolerance_kind : {"relative", "range"}, default="relative"
        Reference of the tolerance. "relative" uses the synthetic number, as SDMetrics does, so that
        0 matches only 0, and a match depends on the origin of the scale. "range" uses the range of
        training and holdout data together. Dates have no natural zero, so they always use the
        range.

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    HittingRate : Fraction of training rows with a similar synthetic row.
    ExactMatchShare : Fraction of synthetic rows that equal a training row.
    NearDuplicateShare : Uses a distance instead of a tolerance in every column.

    Notes
    -----
    The value is the fraction of synthetic rows s for which no training row t has :math:`t_j = s_j`
    in all
    categories and

    .. math:: |t_j - s_j| \le \mathrm{tol}\, |s_j|

    in all numbers. With "range", the bound is ``tol`` times the range of the column. A missing
    value agrees only with a missing value. Bounds belong to the box, with a slack of a billionth.

    The fraction of new rows increases with the number of columns and decreases with the number of
    training rows. The baseline is the fraction of holdout rows that are new. ``details`` contains
    the fraction of synthetic rows that are new to the holdout (``new_to_holdout``), the difference
    of the fractions that match the training data and the holdout (``difference``), the mean of this
    difference over relabelings of the real rows (``expected``, not 0 if the tables have unequal
    sizes) and its standard deviation over relabelings (``null_standard_error``).

    The p-value is one-sided. If the generator memorized nothing, the synthetic rows do not depend
    on which real rows were training rows, so all choices of the training rows among the real rows
    are equally likely. The difference is compared with the difference for random choices.
    Repetitions of a synthetic row do not count as additional evidence. For a row with many matches,
    only the nearest matches (16 or more) are used. This rarely changes the result. The interval is
    Wilson's interval for the fraction in a much larger table from the same generator.

    References
    ----------
    Published as NewRowSynthesis by SDMetrics.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import NewRowShare
    >>> metric = NewRowShare().fit(pd.DataFrame({"x": [100.0]}))
    >>> metric.score(pd.DataFrame({"x": [100.9, 101.5]}))
    0.5
    """

    tags = replace(NEIGHBOR_TAGS, greater_is_better=True)

    numerical_match_tolerance: Annotated[float, Interval(0, 1, "left")] = 0.01
    tolerance_kind: Literal["relative", "range"] = "relative"

    def _measure(self, context: Context, columns: Any) -> float:
        known = box_matches(context, "synthetic", "train", *self._box(columns))
        return int((~known).sum()) / known.size

    def _box(self, columns: Any) -> tuple[str, float, Any]:
        return self.tolerance_kind, self.numerical_match_tolerance, columns

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        box = self._box(columns)
        known = box_matches(context, "synthetic", "train", *box)
        k = int((~known).sum())
        result = replace(result, interval=wilson(k, known.size), details={"n_new": k})
        if "holdout" not in context:
            return result
        unseen = box_matches(context, "synthetic", "holdout", *box)
        fresh = box_matches(context, "holdout", "train", *box)
        lists, (train, holdout) = box_lists(context, known | unseen, *box)
        seeds = {"n_permutations": self.n_permutations, "seed": self.random_state}
        test = list_contrast(lists, train, holdout, **seeds)
        name = _name_of_test(context, lists, train + holdout, columns)
        share = (known.size - k) / known.size
        said: dict[str, Any] = {
            "reference": "for holdout rows",
            "name": name,
            "unseen": float(fresh.mean()),
        }
        contrast = contrast_of(context, MATCHES, share, test, **said)
        return replace(
            result,
            p_value=test.p_value,
            baseline=float(1.0 - fresh.mean()),
            contrast=contrast,
            advice=DROP_COPIES,
            refit=True,
            details={
                "n_new": k,
                "new_to_holdout": float(1.0 - unseen.mean()),
                "difference": float(known.mean() - unseen.mean()),
                "expected": test.mean,
                "null_standard_error": test.spread,
            },
        )

    def _summary(self, result: Result) -> str:
        return set_against(
            f"{percent(1.0 - result.value)} of synthetic rows match a train row", result
        )


def _table(context: Context, role: str, columns: ColumnChoice) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and the codes of a role's rows, -1 for a category that is missing."""
    numbers, codes = _places(context, columns)
    matrix = encoded_matrix(context, role, "gower", columns)
    return matrix[:, numbers], np.nan_to_num(matrix[:, codes], nan=-1.0).astype(np.int64)


def _places(context: Context, columns: ColumnChoice) -> tuple[list[int], list[int]]:
    """Return the features of numbers, and of categories, in the order of the columns' names."""
    chosen = chosen_columns(context.schema, columns)
    names = [name for name in encoded_columns(context.schema) if name in chosen]
    numeric = [name for name in names if context.schema.kinds[name] in NUMERIC]
    nominal = [name for name in names if name not in numeric]
    return [names.index(n) for n in sorted(numeric)], [names.index(n) for n in sorted(nominal)]


@shared
def box_scale(context: Context, kind: str, tolerance: float, columns: Any) -> BoxScale:
    """Return the tolerance of each column of numbers, based on the ranges of all real rows."""
    chosen = sorted(chosen_columns(context.schema, columns))
    kinds = [of for of in map(context.schema.kinds.__getitem__, chosen) if of in NUMERIC]
    real = [_table(context, role, columns)[0] for role in ("train", "holdout") if role in context]
    return BoxScale(
        low=np.nan_to_num(np.fmin.reduce(np.concatenate(real))),
        span=ranges(context, columns)[_places(context, columns)[0]],
        relative=np.array([kind == "relative" and of == "continuous" for of in kinds], np.bool_),
        tolerance=tolerance,
    )


@shared
def box_matches(
    context: Context, query: str, reference: str, kind: str, tolerance: float, columns: Any
) -> np.ndarray:
    """Return for each row of `query` whether a row of `reference` lies in the box around it."""
    tables = [_table(context, role, columns) for role in (query, reference)]
    scale = box_scale(context, kind, tolerance, columns)
    return any_within(*box_points(tables, (True, False), scale))


def _name_of_test(context: Context, lists: MatchLists, copies: np.ndarray, columns: Any) -> str:
    """Name the test as the test of equal rows if only equal rows lie in the boxes."""
    # Equal rows lie in the box, so equal numbers of pairs imply the same pairs. The name does not
    # depend on the labels of the real rows.
    measured, texts = columns_to_compare(context.schema, columns)
    if texts or set(measured) != set(chosen_columns(context.schema, columns)):
        return ""
    within = np.add.reduceat(copies[lists.values], lists.starts[:-1]) if lists.weights.size else 0
    counts = value_counts(context, measured, texts, None)
    equal = counts["synthetic"] @ (counts["train"] + counts["holdout"])
    return name_of_equal_rows(measured, texts) if np.sum(within * lists.weights) == equal else ""


def box_lists(
    context: Context, matched: np.ndarray, kind: str, tolerance: float, columns: Any
) -> tuple[MatchLists, tuple[np.ndarray, np.ndarray]]:
    """Return which distinct real rows lie in the boxes around the synthetic rows that match any."""
    roles = ("synthetic", "train", "holdout")
    tables = [_table(context, role, columns) for role in roles]
    scale = box_scale(context, kind, tolerance, columns)
    synthetic, *real = box_points(tables, (True, False, False), scale)
    queries, which = distinct_rows(synthetic[matched])
    weights = np.bincount(which, minlength=len(queries))
    points, values = distinct_rows(np.concatenate(real))
    n_train, n_holdout = (len(rows) for rows in real)
    counts = [np.bincount(part, minlength=len(points)) for part in np.split(values, [n_train])]
    near = lists_within(queries, points, longest_list(n_train, n_holdout))
    return MatchLists.of_matrix(near, weights, len(synthetic)), (counts[0], counts[1])


@dataclass(frozen=True)
class BoxScale:
    """Reference of the tolerance of each column."""

    low: np.ndarray
    span: np.ndarray
    relative: np.ndarray
    tolerance: float

    def coordinates(self, numbers: np.ndarray, *, centre: bool) -> np.ndarray:
        """Return numbers on the scale on which boxes have radius 1, and 0 for missing numbers."""
        # With t at most a share of `tol` off s, `log(t / s)` lies between `log(1 - tol)`
        # and `log(1 + tol)`: the centre of a relative box is shifted to the middle
        # between the two.
        scaled = np.zeros(numbers.shape)
        for j, values in enumerate(numbers.T):
            present = ~np.isnan(values)
            if self.relative[j]:
                up, down = np.log1p(self.tolerance), np.log1p(-self.tolerance)
                present &= values != 0.0
                logs = np.minimum(np.log(np.abs(values[present])), _FAR)
                shift = (up + down) / 2.0 if centre else 0.0
                scaled[present, j] = (logs + shift) / ((up - down) / 2.0 + _SLACK)
            elif self.span[j] > 0.0:
                shares = (values[present] - self.low[j]) / self.span[j]
                shares = np.clip(shares, -_BEYOND, 1.0 + _BEYOND)
                scaled[present, j] = shares / (self.tolerance + _SLACK)
        return scaled

    def states(self, numbers: np.ndarray) -> np.ndarray:
        """Return the properties that matching numbers share: sign, value, missing."""
        constant = np.where(numbers == self.low, 0, _OTHER)
        of_range = np.where(self.span > 0.0, 0, constant)
        with np.errstate(invalid="ignore"):
            signs = np.sign(numbers)
        states = np.where(self.relative, np.where(np.isnan(signs), 0, signs), of_range)
        return np.where(np.isnan(numbers), _MISSING, states).astype(np.int64)


def box_points(
    tables: Sequence[tuple[np.ndarray, np.ndarray]], centres: Sequence[bool], scale: BoxScale
) -> list[np.ndarray]:
    """Return rows as points of which two match if no coordinate differs by more than 1."""
    agree = [np.column_stack([codes, scale.states(numbers)]) for numbers, codes in tables]
    joint = joint_classes(np.concatenate(agree)).astype(np.float64)
    groups = np.split(joint, np.cumsum([len(rows) for rows in agree])[:-1])
    return [
        np.column_stack([_APART * group, scale.coordinates(numbers, centre=centre)])
        for group, (numbers, _), centre in zip(groups, tables, centres, strict=True)
    ]


def any_within(queries: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return for each query whether a point differs by at most 1 in every coordinate."""
    tree = _tree(pd.DataFrame(points).drop_duplicates().to_numpy())
    # a point that is found is proof enough, and is found sooner if it need not be the nearest
    distances, _ = tree.query(queries, p=np.inf, eps=1.0, distance_upper_bound=1.0)
    matched: np.ndarray = distances <= 1.0
    distances, _ = tree.query(queries[~matched], p=np.inf, distance_upper_bound=1.0)
    matched[~matched] = distances <= 1.0
    return matched


def lists_within(queries: np.ndarray, points: np.ndarray, longest: int) -> np.ndarray:
    """Return the positions of the nearest points that differ by at most 1 in every coordinate."""
    k = list(range(1, longest + 1))
    distances, positions = _tree(points).query(queries, k, p=np.inf, distance_upper_bound=1.0)
    return np.where(distances <= 1.0, positions, -1)


def _tree(points: np.ndarray) -> cKDTree:
    # a balanced tree would look for the median of long runs of equal numbers
    return cKDTree(points, balanced_tree=False)
