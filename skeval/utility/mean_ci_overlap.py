"""Compare the confidence intervals of column means."""

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
    r"""Overlap of the confidence intervals of column means.

    An analyst reports the mean of each column with its 95% interval from the training data and from
    the synthetic data. For each column, the score is the fraction of each interval that lies in the
    other interval, averaged over both. The value is the mean over numerical and datetime columns.
    The value is 1 for equal intervals, and negative if the intervals do not overlap. In this case,
    a reader of one table would exclude the results of the other table. Higher is better.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only numerical and
        datetime columns are used.
    confidence : float, default=0.95
        Confidence level of the intervals, in (0, 1).
    clip : bool, default=False
        Whether the overlap of intervals that do not overlap is 0 instead of negative. A single
        column with a large difference then no longer dominates the mean.
    spread : {"sem", "std"}, default="sem"
        "sem" uses intervals of the mean, based on the standard error. "std" uses intervals that
        contain most rows, based on the standard deviation, as in SynthEval. These overlap even for
        very different means.

    Warnings
    --------
    A score of 1 is not the goal, because intervals of new real rows overlap by 0.71 on average. In
    large tables, even irrelevant differences separate the intervals.

    See Also
    --------
    CoefficientOverlap : The overlap of the intervals of regression coefficients.
    skeval.fidelity.StatisticSimilarity : Compares means and other statistics, without intervals.

    Notes
    -----
    For the training interval :math:`(l, u)` and the synthetic interval :math:`(l', u')`, each
    computed as the mean plus and minus a normal quantile times the standard error, the overlap is

    .. math:: IO = \frac{1}{2} \left( \frac{o}{u - l} + \frac{o}{u' - l'} \right),
        \quad o = \min(u, u') - \max(l, l').

    ``details["means"]`` contains both intervals, with training values rounded to the digits that
    are certain.

    A value of 1 is not the goal. Intervals of a new real sample of the same size overlap by 0.71 on
    average for any number of rows. Intervals of synthetic data whose means vary around the training
    means, as for a fitted model, overlap by 0.80. Values near 1 for all columns indicate copied
    means. ``details["ceiling"]`` is the mean for a new real sample with these numbers of rows, and
    the baseline is the value of the holdout. If the synthetic data have a different size, their
    intervals have a different width, which lowers the overlap, so compare tables of equal size. In
    large tables, even small differences separate the intervals, whether they are relevant or not.

    Missing values are ignored, and infinite synthetic values are ignored with a warning. A constant
    training column has no score. If the synthetic data have fewer than two different values, the
    column counts as 0 with a warning. The value has no interval, because an overlap is limited to
    1, and resampling adds noise that only lowers it.

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
    """Return a mean with standard error and interval, or nan for fewer than two values."""
    mean = float(values.mean()) if values.size else float("nan")
    error = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
    return {"estimate": mean, "error": error, "low": mean - z * error, "high": mean + z * error}


def overlap_of_means(x: np.ndarray, y: np.ndarray, z: float, spread: str, clip: bool) -> float:
    """Return the overlap of intervals of two means, nan for constant x, 0 for constant y."""
    if not _varies(x):
        return float("nan")
    if not _varies(y):
        return 0.0
    # centered on the mean of x, because dates in seconds are large numbers
    ends = []
    for values in (x - x.mean(), y - x.mean()):
        half = z * values.std(ddof=1) / (np.sqrt(values.size) if spread == "sem" else 1.0)
        ends += [np.array([values.mean() - half]), np.array([values.mean() + half])]
    return float(interval_overlap(*ends, clip=clip)[0])


def fresh_overlap(n: int, m: int, z: float, spread: str, clip: bool) -> float:
    """Return the mean overlap for samples of one population, given standardized sizes."""
    if min(n, m) < 2:
        return float("nan")
    units = np.sqrt([n, m]) if spread == "sem" else np.ones(2)
    width, other = (float(2.0 * z / unit) for unit in units)
    return expected_overlap(width, other, float(np.sqrt(1.0 / n + 1.0 / m)), clip=clip)


def _varies(values: np.ndarray) -> bool:
    return values.size > 1 and values[0] < values[-1]


def _without_interval(pairs: Pairs) -> tuple[MetricWarning, ...]:
    """Return warnings about columns without interval in the training or synthetic data."""
    none = [name for name, (x, _) in pairs.items() if not _varies(x)]
    lost = [name for name, (x, y) in pairs.items() if _varies(x) and not _varies(y)]
    said: list[MetricWarning] = []
    if none:
        text = (
            f"no score for {', '.join(none)}: the training data have fewer than two "
            "different values."
        )
        said.append(ConstantColumnWarning(text))
    if lost:
        named = ", ".join(lost)
        text = (
            f"{named} counts as 0, because the synthetic data have fewer than two different values."
        )
        said.append(DegenerateInputWarning(text))
    return tuple(said)
