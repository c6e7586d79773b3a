"""Column by column: do the values have the same distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import kstwo

from skeval._aggregate import mean_of_columns
from skeval._parameters import Columns, Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.result import Result
from skeval.stats import distributions
from skeval.stats.ordered import kolmogorov_of_sorted
from skeval.steps import cells, chosen_columns, histogram, sorted_values
from skeval.tags import MetricTags

__all__ = ["KSComplement", "TVComplement", "emptied", "tv_interval"]


class KSComplement(Metric):
    """Agreement of numeric distributions: 1 where they are the same, 0 where they do not overlap.

    An analyst looks at each numeric, date or boolean column of the synthetic table as a cumulative
    curve beside the real one; the column's score is 1 minus their greatest vertical distance, the
    value is the mean over the columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only numeric, date and boolean
        ones count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``1 - sup_x |F_train(x) - F_synthetic(x)|``, missing values left out: a column can score 1 and
    yet differ in its share of missing values. The statistic is blind to the tails, and one step of
    a grid is a large difference on coarse data. The interval of a column
    (``details["intervals"]``) is the Dvoretzky-Kiefer-Wolfowitz band, that of the mean rests on
    bounded differences; both are conservative. p-values (``details["p_values"]``) are computed
    against the holdout where there is one; against train, to which the generator was fitted, they
    are conservative, and ``details["p_values_against"]`` says so. The result's p-value is that of
    the worst column times the number of columns.

    References
    ----------
    Published under this name by SDMetrics. P. Massart, "The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 18 (1990),
    doi:10.1214/aop/1176990746.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import KSComplement
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> KSComplement().fit(train).score(synthetic)
    0.75
    """

    tags = MetricTags(
        "fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="ColumnScoresDisplay"
    )
    _legal = {"columns": Columns()}

    def __init__(self, columns: int | list[str] | None = None) -> None:
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        measured = chosen_columns(context.schema, self.columns)
        ordered = context.schema.columns("continuous", "datetime", "boolean")
        names = [name for name in measured if name in ordered]
        pairs = {name: _samples(context, name) for name in names}
        scores = {name: _ks_score(x, y) for name, (x, y) in pairs.items()}
        against = (
            "holdout"
            if "holdout" in context
            else "train, to which the generator was fitted: conservative"
        )
        p_values = {name: _p_value(context, name) for name in names}
        result = mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=emptied({name: (x.size, y.size) for name, (x, y) in pairs.items()}),
            intervals={
                name: _ks_band(scores[name], x.size, y.size) for name, (x, y) in pairs.items()
            },
            p_values=p_values,
            p_values_against=against,
        )
        known = [p for p in p_values.values() if not np.isnan(p)]
        sizes = [(x.size, y.size) for name, (x, y) in pairs.items() if not np.isnan(scores[name])]
        return replace(
            result,
            interval=_mean_interval(result.value, sizes),
            p_value=min(1.0, len(known) * min(known)) if known else None,
        )


def _samples(context: Context, column: str) -> tuple[np.ndarray, np.ndarray]:
    return sorted_values(context, "train", column), sorted_values(context, "synthetic", column)


def _ks_score(x: np.ndarray, y: np.ndarray) -> float:
    return float("nan") if x.size == 0 else 1.0 - kolmogorov_of_sorted(x, y)


def _p_value(context: Context, column: str) -> float:
    role = "holdout" if "holdout" in context else "train"
    x, y = sorted_values(context, role, column), sorted_values(context, "synthetic", column)
    if x.size == 0 or y.size == 0:
        return float("nan")
    effective = max(1, round(x.size * y.size / (x.size + y.size)))
    return float(kstwo.sf(kolmogorov_of_sorted(x, y), effective))


def _ks_band(score: float, n: int, m: int) -> tuple[float, float]:
    if n == 0 or m == 0:
        return (float("nan"), float("nan"))
    epsilon = np.sqrt(np.log(4.0 / 0.05) / 2.0) * (n**-0.5 + m**-0.5)
    return max(0.0, score - epsilon), min(1.0, score + epsilon)


def _mean_interval(value: float, sizes: list[tuple[int, int]]) -> tuple[float, float] | None:
    present = [(n, m) for n, m in sizes if m > 0]
    if not present:
        return None
    bias = float(np.sum([distributions.kolmogorov_bias(n, m) for n, m in present])) / len(sizes)
    inverse = float(np.mean([1.0 / n + 1.0 / m for n, m in present]))
    low, high = distributions.deviation_interval(1.0 - value, bias, inverse)
    return 1.0 - high, 1.0 - low


def emptied(sizes: dict[str, tuple[int, int]]) -> tuple[MetricWarning, ...]:
    """Say which columns have no value to measure, given the numbers of values of both tables."""
    none = [name for name, (n, _) in sizes.items() if n == 0]
    lost = [name for name, (n, m) in sizes.items() if n > 0 and m == 0]
    said = []
    if none:
        said.append(f"train has no value in {', '.join(none)}: no score.")
    if lost:
        said.append(f"synthetic has no value in {', '.join(lost)}, train has: the worst score.")
    return tuple(DegenerateInputWarning(text) for text in said)


class TVComplement(Metric):
    """Agreement of category shares: 1 where they are the same, 0 where no category is shared.

    An analyst compares bar charts: how much of the synthetic bars would have to move to other
    categories to match the real ones. The value is the mean over categorical and boolean columns.

    Parameters
    ----------
    nan : {"own", "drop"}, default="own"
        Whether missing counts as a category.
    n_bins : int or None, default=None
        If given, numeric and date columns are measured too, on so many bins of equal width over
        train.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``1 - sum_c |p_c - q_c| / 2`` over the categories of either table; one that train never had
    counts in full. Chance alone keeps a perfect table below 1, the more so the more categories
    there are: ``details["ceilings"]`` has what a relabelling of the pooled rows would score in the
    mean, column by column, and ``details["ceiling"]`` their mean.

    References
    ----------
    Published under this name by SDMetrics, which leaves missing values out and adds a millionth
    to empty categories; ours is exact.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import TVComplement
    >>> train, synthetic = pd.DataFrame({"c": list("aaabbc")}), pd.DataFrame({"c": list("aabbbd")})
    >>> round(TVComplement().fit(train).score(synthetic), 4)
    0.6667
    """

    tags = MetricTags(
        "fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="ColumnScoresDisplay"
    )
    _legal = {
        "nan": Options(("own", "drop")),
        "n_bins": Nullable(Interval(int, 2, None)),
        "columns": Columns(),
    }

    def __init__(
        self, nan: str = "own", n_bins: int | None = None, columns: int | list[str] | None = None
    ) -> None:
        self.nan = nan
        self.n_bins = n_bins
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        counted = {name: self._counts(context, name) for name in self._names(context)}
        scores = {name: _tv_score(p, q) for name, (p, q) in counted.items()}
        ceilings = {
            name: 1.0 - distributions.expected_total_variation(p, q)
            for name, (p, q) in counted.items()
        }
        defined = [name for name in scores if not np.isnan(scores[name])]
        result = mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            warnings=emptied(
                {name: (int(p.sum()), int(q.sum())) for name, (p, q) in counted.items()}
            ),
            ceilings=ceilings,
            ceiling=float(np.mean([ceilings[name] for name in defined]))
            if defined
            else float("nan"),
        )
        interval = (
            tv_interval(result.value, [counted[name] for name in defined]) if defined else None
        )
        return replace(result, interval=interval)

    def _names(self, context: Context) -> list[str]:
        measured = chosen_columns(context.schema, self.columns)
        nominal = context.schema.columns("categorical", "boolean")
        return [name for name in measured if self.n_bins is not None or name in nominal]

    def _counts(self, context: Context, column: str) -> tuple[np.ndarray, np.ndarray]:
        found = [
            histogram(context, role, column, self.n_bins or 10, "uniform", None)
            for role in ("train", "synthetic")
        ]
        if self.nan == "drop":
            missing = cells(context, self.n_bins or 10, "uniform", None).cells_[column].n_own + 1
            found = [np.delete(counts, missing) for counts in found]
        return found[0], found[1]


def _tv_score(p: np.ndarray, q: np.ndarray) -> float:
    return float("nan") if p.sum() == 0 else 1.0 - distributions.total_variation(p, q)


def tv_interval(
    value: float,
    counted: Sequence[tuple[np.ndarray, np.ndarray]],
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """Return where the (weighted) mean complement of total variations lies in the population."""
    weights = np.full(len(counted), 1.0 / max(1, len(counted))) if weights is None else weights
    present = np.array([p.sum() > 0 and q.sum() > 0 for p, q in counted], dtype=bool)
    if not present.any():
        return float("nan"), float("nan")
    kept = [pair for pair, here in zip(counted, present, strict=True) if here]
    bias = np.array([distributions.total_variation_bias(p, q) for p, q in kept])
    inverse = np.array([1.0 / p.sum() + 1.0 / q.sum() for p, q in kept])
    w = weights[present]
    low, high = distributions.deviation_interval(
        1.0 - value, float(bias @ w), float(inverse @ w / w.sum())
    )
    return 1.0 - high, 1.0 - low
