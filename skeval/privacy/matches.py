"""Synthetic rows that are copies of real ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.privacy.compared import ROLES, TextColumns, compared, value_counts
from skeval.result import Result
from skeval.stats import matches as stats
from skeval.stats.intervals import wilson
from skeval.steps import holdout_in_place, synthetic_sample
from skeval.tags import MetricTags

__all__ = ["ExactMatchShare", "IdenticalMatchShare"]

_LEVEL = 0.05


class ExactMatchShare(Metric):
    """Share of synthetic rows that are copies of train rows: 0 if none is, 1 if all are.

    Somebody compares the release with a register, cell by cell. A synthetic row that agrees in
    every column looks like that person's record, and is it, if the generator has copied it. In
    tables of few values rows agree by chance; what is more than chance shows beside the holdout.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns in which rows must agree: None for all but ids (an id of its own makes no row
        another), free text included; an int for the first so many of these; or names.
    decimals : int or None, default=None
        To how many decimals numbers are rounded first. None keeps 12 significant digits, so that
        rounding errors do not hide a copy. Dates agree to the microsecond.
    count : {"rows", "multiset", "unique"}, default="rows"
        What is counted: synthetic rows that stand in train; pairs of equal rows in which no row
        stands twice; or distinct synthetic rows, as identical match shares are counted.
    alert : float, default=0.05
        ``details["above_alert"]`` tells whether the value exceeds it.
    n_permutations : int, default=999
        Number of relabellings behind the p-value.
    random_state : int, default=0
        Seed of the relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``m(S, T) = |{s in S: s in T}| / |S|``; ``sum_v min(c_S(v), c_T(v)) / |S|`` with "multiset", c
    the number of rows of value v; and the first of distinct rows with "unique". Values are
    compared, not their spelling: 1 is 1.0, and a missing value equals a missing one.

    The baseline is the share of holdout rows that stand in train, ``m(H, T)``: what fresh rows
    would get. With "multiset" and "unique" it depends on the number of rows and is taken at the
    lesser of n_S and n_H; where that is n_H, ``details["at_baseline_size"]`` has the value of a
    sample of so many synthetic rows.
    ``details`` also has the share that stands in the holdout, ``m(S, H)`` (`to_holdout`), the
    difference ``m(S, T) - m(S, H)``, its mean over relabellings (`expected`, not 0 if the tables
    are of unequal size) and their spread (`null_standard_error`).
    The p-value is one-sided: given the synthetic rows and the pool of real ones, all choices of
    which were train are equally likely if none was learnt, and the difference is held against that
    of random choices. Synthetic rows written out twice are no more evidence. `passed` tells whether
    p is above 0.05. `singleton_match_share` counts the matches to rows that stand once in train and
    not in the holdout: those that point at one person.

    The interval is Wilson's, of the share that a table of many more rows from this generator would
    have; of the release itself the value is the whole truth. With "unique" and "multiset" that
    share depends on the number of rows, and the interval is a rough one.
    This is a distance screen: it can raise an alarm and cannot clear a release. A last digit
    changed hides a copy from it; see :class:`~skeval.privacy.NearDuplicateShare`.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what such shares miss.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import ExactMatchShare
    >>> train = pd.DataFrame({"n": [1, 1, 2], "c": ["a", "a", "b"]})
    >>> synthetic = pd.DataFrame({"n": [1, 1, 1, 3], "c": ["a", "a", "a", "c"]})
    >>> ExactMatchShare().fit(train).score(synthetic)
    0.75
    """

    tags = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="screen")
    _legal = {
        "columns": TextColumns(),
        "decimals": Nullable(Interval(int, -15, 15)),
        "count": Options(("rows", "multiset", "unique")),
        "alert": Interval(float, 0.0, 1.0),
        "n_permutations": Interval(int, 1, None),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        columns: int | list[str] | None = None,
        decimals: int | None = None,
        count: str = "rows",
        *,
        alert: float = 0.05,
        n_permutations: int = 999,
        random_state: int = 0,
    ) -> None:
        self.columns = columns
        self.decimals = decimals
        self.count = count
        self.alert = alert
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        compared(context.schema, self.columns)

    def _compute(self, context: Context) -> Result:
        chosen = compared(context.schema, self.columns)
        if not chosen:
            return undefined("all columns are ids, which are not compared.")
        counts = self._counts(context)
        k, n = stats.matches(counts["synthetic"], counts["train"], self.count)
        in_holdout = counts.get("holdout", np.zeros_like(counts["train"]))
        alone = np.where((counts["train"] == 1) & (in_holdout == 0), 1, 0)
        details: dict[str, Any] = {
            "n_compared": n,
            "above_alert": k / n > self.alert,
            "singleton_match_share": stats.matches(counts["synthetic"], alone, self.count)[0] / n,
        }
        result = Result(k / n, interval=wilson(k, n), details=details)
        return self._with_evidence(context, counts, result) if "holdout" in counts else result

    def _counts(self, context: Context) -> dict[str, np.ndarray]:
        chosen = compared(context.schema, self.columns)
        table = value_counts(context, chosen.measured, chosen.texts, self.decimals)
        return dict(zip((role for role in ROLES if role in context), table, strict=True))

    def _with_evidence(
        self, context: Context, counts: dict[str, np.ndarray], result: Result
    ) -> Result:
        test = stats.match_contrast(
            counts["synthetic"],
            counts["train"],
            counts["holdout"],
            self.count,
            n_permutations=self.n_permutations,
            seed=self.random_state,
        )
        k, n = stats.matches(counts["synthetic"], counts["holdout"], self.count)
        details = {
            **result.details,
            "to_holdout": k / n,
            "difference": result.value - k / n,
            "expected": test.mean,
            "null_standard_error": test.spread,
            "passed": test.p_value > _LEVEL,
        }
        n_synthetic, n_fresh = (context.n_rows(role) for role in ("synthetic", "holdout"))
        baseline = stats.matches(counts["holdout"], counts["train"], self.count)
        if self.count != "rows" and n_fresh > n_synthetic:
            fresh = self._counts(holdout_in_place(context, n_synthetic))
            baseline = stats.matches(fresh["synthetic"], fresh["train"], self.count)
        if self.count != "rows" and n_fresh < n_synthetic:
            fewer = self._counts(synthetic_sample(context, n_fresh))
            k, n = stats.matches(fewer["synthetic"], fewer["train"], self.count)
            details["at_baseline_size"] = {"n_rows": n_fresh, "value": k / n}
        return replace(
            result, p_value=test.p_value, baseline=baseline[0] / baseline[1], details=details
        )


class IdenticalMatchShare(ExactMatchShare):
    """Share of distinct synthetic rows that stand in train: 0 if none does, 1 if all do.

    The identical match share (IMS) that reports on synthetic data give: rows that are written out
    several times count once. Somebody who compares the release with a register finds so many of
    its records to be known ones.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns in which rows must agree: None for all but ids, an int for the first so many of
        these, or names.
    decimals : int or None, default=None
        To how many decimals numbers are rounded first; None keeps 12 significant digits.
    count : {"rows", "multiset", "unique"}, default="unique"
        What is counted, as in :class:`ExactMatchShare`.
    alert : float, default=0.05
        ``details["above_alert"]`` tells whether the value exceeds it.
    n_permutations : int, default=999
        Number of relabellings behind the p-value.
    random_state : int, default=0
        Seed of the relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``|set(S) & set(T)| / |set(S)|``; all else is as in :class:`ExactMatchShare`. The share falls
    with the number of synthetic rows, since common rows come first and rare ones follow: compare
    with the baseline. This is a distance screen: it can raise an alarm and cannot clear a release.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.privacy import IdenticalMatchShare
    >>> train = pd.DataFrame({"n": [1, 1, 2], "c": ["a", "a", "b"]})
    >>> synthetic = pd.DataFrame({"n": [1, 1, 1, 3], "c": ["a", "a", "a", "c"]})
    >>> IdenticalMatchShare().fit(train).score(synthetic)
    0.5
    """

    def __init__(
        self,
        columns: int | list[str] | None = None,
        decimals: int | None = None,
        count: str = "unique",
        *,
        alert: float = 0.05,
        n_permutations: int = 999,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            columns,
            decimals,
            count,
            alert=alert,
            n_permutations=n_permutations,
            random_state=random_state,
        )
