"""Boxes around rows: real rows hit by a synthetic one, synthetic rows that are new."""

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

_SLACK = 1e-9  # of the unit that tolerances are in: bounds belong to the box
_APART = 2.0  # between rows that differ in a category; boxes have a radius of 1
_BEYOND = 2.0  # ranges beyond the real values at which numbers are cut: more than any tolerance
_FAR = 1e4  # more than the logarithm of any number
_MISSING, _OTHER = 2, 3  # states of a number that are no sign


@declared
class HittingRate(RowMetric):
    r"""Share of train rows that a synthetic row comes close to in every column: 0 none, 1 all.

    An attacker knows a person's record roughly: the age within a few years, the income within a few
    thousand. A synthetic row that agrees with this may be taken for the person, and its exact
    values for the person's.

    Parameters
    ----------
    tau : float, default=1/30
        By how much numbers and dates may differ, as a share of the range of train and holdout
        together, in [0, 1]. Categories must be the same.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    NewRowShare : The same boxes, seen from the synthetic rows.
    EpsilonIdentifiability : Train rows with a synthetic row nearest.
    NearDuplicateShare : A distance, rather than a tolerance in every column.

    Notes
    -----
    The value is the share of train rows t for which some synthetic row s has :math:`s_j = t_j` in
    all categories and

    .. math:: |s_j - t_j| \le \tau\, \mathrm{range}_j

    in all numbers. A missing value agrees with a missing one only; in a column without range,
    numbers agree if they are equal. Bounds belong to the box, with a slack of 1e-9 ranges.

    The rate grows with the number of synthetic rows and falls with the number of columns. Rows that
    the generator never saw show what is chance: the baseline is the rate of holdout rows.
    ``details`` has the excess of train over it (``excess``) and Newcombe's interval of that
    (``excess_interval``).

    The p-value is one-sided and exact: given the synthetic rows and the pool of real ones, all
    choices of which were train are equally likely if none was learned, and the number of hits among
    train is hypergeometric. The interval of the value is Wilson's for a share of train rows.

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
    r"""Share of synthetic rows that match no train row: 1 if all are new, 0 if none is.

    An attacker holds a synthetic row next to the records they know. If one agrees in every category
    and nearly in every number, the row is not new: it may be that record.

    Parameters
    ----------
    numerical_match_tolerance : float, default=0.01
        By how much a train number may differ from the synthetic one, in [0, 1).
    tolerance_kind : {"relative", "range"}, default="relative"
        What the tolerance is a share of: the synthetic number, as SDMetrics has it, so that 0
        matches only 0 and a match depends on where the scale starts; or the range of train and
        holdout together. Dates have no natural zero: their tolerance is always a share of the
        range.

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    HittingRate : The same boxes, seen from the train rows.
    ExactMatchShare : Rows that agree in every cell.
    NearDuplicateShare : A distance, rather than a tolerance in every column.

    Notes
    -----
    The value is the share of synthetic rows s for which no train row t has :math:`t_j = s_j` in all
    categories and

    .. math:: |t_j - s_j| \le \mathrm{tol}\, |s_j|

    in all numbers; with "range", ``tol`` times the range of the column. A missing value agrees with
    a missing one only. Bounds belong to the box, with a slack of a billionth.

    What is new grows with the number of columns and falls with the number of train rows; the
    baseline is the share of holdout rows that are new. ``details`` has the share of synthetic rows
    new to the holdout (``new_to_holdout``), how many more match train than match the holdout
    (``difference``), the mean of that over relabellings of the real rows (``expected``, not 0 if
    the tables are of unequal size) and its spread (``null_standard_error``).

    The p-value is one-sided: given the synthetic rows and the pool of real ones, all choices of
    which were train are equally likely if none was learned, and the difference is held against that
    of random choices. Synthetic rows written out twice are no more evidence. A row with many
    matches looks at the nearest of them, 16 or more, which hardly ever changes its answer. The
    interval is Wilson's, of the share that a table of many more rows from this generator would
    have.

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
    """Return the tolerance of each column of numbers; ranges are those of all real rows."""
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
    """Name the test as that of equal rows where no row but equal ones lies in any box."""
    # Equal rows lie in the box, so that as many pairs are the same pairs. No label of a real
    # row is looked at: which tests are one does not depend on who was in train.
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
    """What a tolerance is a share of, column by column."""

    low: np.ndarray
    span: np.ndarray
    relative: np.ndarray
    tolerance: float

    def coordinates(self, numbers: np.ndarray, *, centre: bool) -> np.ndarray:
        """Return numbers on the scale where boxes have radius 1; 0 where missing."""
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
        """Return what two numbers must share at any tolerance: sign, value, missing."""
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
