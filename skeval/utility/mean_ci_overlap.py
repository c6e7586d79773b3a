"""Do the confidence intervals of column means agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from scipy.stats import norm

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.exceptions import ConstantColumnWarning, DegenerateInputWarning, MetricWarning
from skeval.results.result import Result, mean_of_columns
from skeval.stats.interval_overlap import expected_overlap, interval_overlap
from skeval.stats.intervals import to_its_error
from skeval.steps.columns import Pairs, finite_pairs, infinite_columns, mean_ignoring_nan
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, OpenFraction


@declared
class MeanCIOverlap(Metric):
    r"""Overlap of the intervals of column means: 1 where they are the same, 0 or less where apart.

    An analyst reports the mean of each column with its 95% interval, once from train and once from
    the synthetic table. The score of a column is what share of each interval lies in the other, on
    average over the two. It is negative where they do not meet: who reads the one table would then
    rule out what the other takes for likely. The value is the mean over numeric and date columns.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or a list of names; only numeric and date ones
        count.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not meet is 0 rather than negative. One column that
        is far off then no longer outweighs all others.
    spread : {"sem", "std"}, default="sem"
        "sem" takes intervals of the mean, standard errors wide. "std" takes intervals that hold
        most rows, standard deviations wide, as in SynthEval; they overlap even if the means are far
        apart.

    See Also
    --------
    CoefficientOverlap : The same of regression coefficients.
    skeval.fidelity.StatisticSimilarity : Means and other statistics, without intervals.

    Notes
    -----
    The overlap of the intervals :math:`(l, u)` of train and :math:`(l', u')` of the synthetic
    table, each the mean with normal quantiles of standard errors to both sides (both are in
    ``details["means"]``, that of train to the digits that its error leaves certain), is

    .. math:: IO = \frac{1}{2} \left( \frac{o}{u - l} + \frac{o}{u' - l'} \right),
        \quad o = \min(u, u') - \max(l, l').

    1 is no goal. Intervals of fresh rows, as many as train has, overlap by 0.71 on average (at any
    number of rows), and those of a table whose means vary around those of train, as a fitted
    model's do, by 0.80. Values near 1 in all columns come of means that were copied or set.
    ``details["ceiling"]`` has what fresh rows have on average at these numbers of rows, and the
    baseline is what the holdout has. A synthetic table of another size than train has intervals of
    another width, which lowers the overlap: compare tables of equal size. The more rows, the
    smaller the difference that makes intervals part; the score does not say whether it matters.

    Missing values are left out, infinite synthetic ones too, with a warning. A column that does not
    vary in train has no score. One that has no interval in the synthetic table, for want of two
    different values, counts as 0, with a warning. No interval of the value is given: an overlap has
    its best at the end of its range, and resampling adds noise that only lowers it.

    References
    ----------
    A. F. Karr et al., "A framework for evaluating the utility of data altered to protect
    confidentiality", The American Statistician 60 (2006) 224-232, doi:10.1198/000313006X124640.
    A. D. Lautrup et al., "SynthEval: a framework for detailed utility and privacy evaluation of
    tabular synthetic data", Data Mining and Knowledge Discovery 39 (2025),
    doi:10.1007/s10618-024-01081-4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skeval.utility import MeanCIOverlap
    >>> table = load_iris(as_frame=True).data[["sepal length (cm)"]]
    >>> round(MeanCIOverlap().fit(table[::2]).score(table[1::2]), 6)
    0.971234
    """

    tags = replace(COLUMN_TAGS, aspect="utility", bounds=(-np.inf, 1.0), scaling="sorted runs")

    columns: Columns = None
    confidence: OpenFraction = 0.95
    clip: bool = False
    spread: Literal["sem", "std"] = "sem"

    def _compute(self, context: Context) -> Result:
        pairs = finite_pairs(context, self.columns)
        z, asked = float(norm.ppf((1.0 + self.confidence) / 2.0)), (self.spread, self.clip)
        scores = {name: overlap_of_means(x, y, z, *asked) for name, (x, y) in pairs.items()}
        known = [name for name, score in scores.items() if not np.isnan(score)]
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            greater_is_better=True,
            warnings=(*infinite_columns(context, pairs), *_without_interval(pairs)),
            means={name: _means(*pairs[name], z) for name in known},
            share_apart=float(np.mean([scores[name] <= 0.0 for name in known])) if known else None,
            ceiling=_ceiling(pairs, known, z, *asked),
        )

    def _summary(self, result: Result) -> str:
        means = f"Intervals of the means of {result.details['n_used']} columns"
        return f"{means} overlap by {percent(result.value)} on average."


def _ceiling(pairs: Pairs, names: list[str], z: float, spread: str, clip: bool) -> float:
    sizes = {name: [values.size for values in pairs[name]] for name in names}
    fresh = {name: fresh_overlap(n, m, z, spread, clip) for name, (n, m) in sizes.items()}
    return mean_ignoring_nan(fresh)


def _means(x: np.ndarray, y: np.ndarray, z: float) -> dict[str, dict[str, float]]:
    return {"train": to_its_error(stated_mean(x, z)), "synthetic": stated_mean(y, z)}


def stated_mean(values: np.ndarray, z: float) -> dict[str, float]:
    """Get a mean with its standard error and interval; these are nan of fewer than two values."""
    mean = float(values.mean()) if values.size else float("nan")
    error = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
    return {"estimate": mean, "error": error, "low": mean - z * error, "high": mean + z * error}


def overlap_of_means(x: np.ndarray, y: np.ndarray, z: float, spread: str, clip: bool) -> float:
    """Return the overlap of intervals of two means; nan without a spread in x, 0 in y alone."""
    if not _varies(x):
        return float("nan")
    if not _varies(y):
        return 0.0
    # around the mean of x: dates in seconds are long numbers
    ends = []
    for values in (x - x.mean(), y - x.mean()):
        half = z * values.std(ddof=1) / (np.sqrt(values.size) if spread == "sem" else 1.0)
        ends += [np.array([values.mean() - half]), np.array([values.mean() + half])]
    return float(interval_overlap(*ends, clip=clip)[0])


def fresh_overlap(n: int, m: int, z: float, spread: str, clip: bool) -> float:
    """Return the mean overlap for samples of one population, in standard deviations of it."""
    if min(n, m) < 2:
        return float("nan")
    units = np.sqrt([n, m]) if spread == "sem" else np.ones(2)
    width, other = (float(2.0 * z / unit) for unit in units)
    return expected_overlap(width, other, float(np.sqrt(1.0 / n + 1.0 / m)), clip=clip)


def _varies(values: np.ndarray) -> bool:
    return values.size > 1 and values[0] < values[-1]


def _without_interval(pairs: Pairs) -> tuple[MetricWarning, ...]:
    """Say which columns have no interval in train or in the synthetic table."""
    none = [name for name, (x, _) in pairs.items() if not _varies(x)]
    lost = [name for name, (x, y) in pairs.items() if _varies(x) and not _varies(y)]
    said: list[MetricWarning] = []
    if none:
        text = f"train has not two different values in {', '.join(none)}: no score."
        said.append(ConstantColumnWarning(text))
    if lost:
        named = ", ".join(lost)
        text = f"synthetic has not two different values in {named}, train has: counts as 0."
        said.append(DegenerateInputWarning(text))
    return tuple(said)
