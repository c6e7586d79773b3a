"""Percentiles of numbers that each row has, beside those of fresh real rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning
from skeval.result import Result
from skeval.stats import percentiles as stats
from skeval.stats.relabelling import Relabelled
from skeval.steps import (
    column_key,
    contrast_test,
    nearest,
    relabelled_nearest,
)

__all__ = ["Compared", "label_test", "seen_from_synthetic", "seen_from_train", "statistic"]

_LEVEL = 0.05  # of the test behind "passed"


class Measured(Protocol):
    """A metric of distances in a space."""

    space: Any
    columns: Any


class Resampled(Measured, Protocol):
    """One that relabels real rows."""

    n_permutations: int
    random_state: int


@dataclass(frozen=True)
class Compared:
    """A number of each row, and of the rows to compare with.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        Of the rows whose percentile is asked for.
    alike : ndarray or None
        Of holdout rows, drawn alike if there is no leak.
    fresh : ndarray or None
        Of the rows whose percentile is the baseline.
    kind : str
        Which rows these are: "holdout", "train_loo" or "none".
    labels_decide : bool
        Whether the values are of real rows, so that dividing these from those that are alike is
        itself a relabelling of train and holdout.
    """

    values: np.ndarray
    alike: np.ndarray | None
    fresh: np.ndarray | None
    kind: str
    labels_decide: bool = False

    def result(
        self,
        q: float,
        level: float,
        *,
        test: Relabelled | None,
        top: float,
        seed: int,
        said: Sequence[str],
        **details: Any,
    ) -> Result:
        """Return the `level` quantile beside its baseline; no value is under 0 or above `top`."""
        value = stats.percentile(self.values, level)
        against_holdout = None
        if self.alike is not None:
            against_holdout = stats.percentile_test(self.values, self.alike, level)
        p_value = None if test is None else test.p_value
        if self.labels_decide:
            p_value = against_holdout
        against = {} if self.fresh is None else self._against(self.fresh, level, seed)
        baseline = against.pop("baseline", None)
        said = [*_few(self.values.size, q, level), *said]
        if value == 0.0 == baseline:
            said.append(f"the percentile {q:g} is 0, and so is the baseline: their ratio is 1.")
        return Result(
            value,
            interval=stats.percentile_interval(self.values, level, (0.0, top)),
            p_value=p_value,
            baseline=baseline,
            details={
                "q": q,
                "n_rows": self.values.size,
                "baseline_kind": self.kind,
                **against,
                "p_value_against_holdout": against_holdout,
                "passed": None if against_holdout is None else against_holdout >= _LEVEL,
                **details,
            },
            warnings=tuple(DegenerateInputWarning(sentence) for sentence in said),
        )

    def _against(self, fresh: np.ndarray, level: float, seed: int) -> dict[str, Any]:
        ratio = stats.percentile_ratio(self.values, fresh, level)
        return {
            "baseline": stats.percentile(fresh, level),
            "ratio": ratio,
            "ratio_interval": stats.ratio_interval(self.values, fresh, level, seed=seed),
            "score": min(1.0, ratio),
        }


def _few(n_rows: int, q: float, level: float) -> list[str]:
    """Say so where a percentile is that of one row."""
    if not 0.0 < level < 1.0 or n_rows * min(level, 1.0 - level) >= 1.0:
        return []
    which = "least" if level < 0.5 else "greatest"
    return [f"the percentile {q:g} of {n_rows} rows is little else than the {which} of them."]


def statistic(metric: Measured, context: Context, query: str, reference: str, k: int) -> np.ndarray:
    """Return the distances to the nearest row, or with k of 2 those over the second nearest."""
    found, _ = nearest(context, query, reference, k=k, space=metric.space, columns=metric.columns)
    return found[:, 0] if k == 1 else stats.neighbor_ratios(found)


def seen_from_train(metric: Measured, context: Context, k: int, *, loo: bool = False) -> Compared:
    """Compare synthetic rows with holdout rows, or train rows, by their neighbours in train."""
    values, kind = statistic(metric, context, "synthetic", "train", k), "holdout"
    alike = None
    if "holdout" in context:
        alike = statistic(metric, context, "holdout", "train", k)
    fresh = alike
    if loo or alike is None:
        enough = context.n_rows("train") > k
        kind = "train_loo" if enough else "none"
        fresh = statistic(metric, context, "train", "train", k) if enough else None
    return Compared(values, alike, fresh, kind)


def seen_from_synthetic(metric: Measured, context: Context, k: int) -> Compared:
    """Compare train rows with holdout rows by their neighbours among the synthetic rows."""
    values, alike = statistic(metric, context, "train", "synthetic", k), None
    if "holdout" in context:
        alike = statistic(metric, context, "holdout", "synthetic", k)
    kind = "none" if alike is None else "holdout"
    return Compared(values, alike, alike, kind, labels_decide=True)


def label_test(
    metric: Resampled, context: Context, level: float, values_of: Callable[[np.ndarray], np.ndarray]
) -> Relabelled | None:
    """Hold the quantile of distances to the holdout minus that to train against relabellings."""
    if "holdout" not in context:
        return None
    columns = column_key(context.schema, metric.columns)
    found = relabelled_nearest(
        context, metric.space, columns, metric.n_permutations, metric.random_state
    )
    quantiles = np.array(
        [
            [stats.percentile(values_of(distances), level) for distances in labelled]
            for labelled in found.distances
        ]
    )
    with np.errstate(invalid="ignore"):  # two infinite ones differ by nothing
        return contrast_test(quantiles[:, 1] - quantiles[:, 0])


@shared
def median_test(
    context: Context, space: Any, columns: Any, n_permutations: int, seed: int
) -> Relabelled:
    """Hold the median distance to the holdout minus that to train against relabellings."""
    found = relabelled_nearest(context, space, columns, n_permutations, seed)
    medians = np.median(found.distances[..., 0], axis=2)
    with np.errstate(invalid="ignore"):  # two infinite ones differ by nothing
        return contrast_test(medians[:, 1] - medians[:, 0])
