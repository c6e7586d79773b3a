"""Wasserstein distances, for single columns and for rows along random directions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS, MetricTags
from skeval.fidelity.row_distance import RowDistance
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import expected_wasserstein, wasserstein_of_ascending
from skeval.steps.columns import (
    emptied_columns,
    finite_pairs,
    infinite_columns,
    mean_ignoring_nan,
    unscaled_columns,
    width,
)
from skeval.utils.formatting import as_float, number
from skeval.utils.parameters import Columns, Count, Interval

_BLOCK = 2**21  # maximum number of projected values in memory


@declared
class WassersteinDistance(Metric):
    """Mean Wasserstein distance of numerical and datetime columns.

    For each column, the distance is the mean distance by which the synthetic values have to be
    moved to obtain the training values. Unlike the Kolmogorov-Smirnov distance, it distinguishes
    small from large differences. Each distance is divided by the scale of the training data, and
    the value is the mean over the columns. It is 0 for equal distributions and has no upper bound
    (1 is the range of the training data). Lower is better.

    Parameters
    ----------
    p : float, default=1
        Exponent, at least 1. A larger exponent gives long distances more weight, and for infinity
        the value is the longest distance.
    normalize : {"range", "std", "iqr"} or None, default="range"
        Scale by which the distance of a column is divided, which is the range, the standard
        deviation or the interquartile range of the training values. If None, each distance has the
        unit of the column (seconds for datetimes). Their mean is not meaningful then, so use
        ``details["columns"]``.
    columns : None, int or list of str, default=None
        Columns to use: all, the first *n*, or a list of names. Only numerical and datetime columns
        are used.

    Warnings
    --------
    One outlier in the training data widens the range and makes all distances small. Use the scale
    "iqr" in this case. Joint distributions are not compared.

    See Also
    --------
    KSComplement : Depends on how many values differ, and not on how far they differ.
    SlicedWassersteinDistance : Compares whole rows.

    Notes
    -----
    The distance is ``(integral over u of |F^-1(u) - G^-1(u)|^p)^(1/p)``, which is the area between
    the cumulative distribution functions for p = 1. Missing values are ignored. Infinite synthetic
    values are also ignored, with a warning, because the distance to them is not finite. A single
    outlier widens the range of the training data and makes all distances small, but it has no
    effect on "iqr". If a column has a scale of 0 in the training data, the distance is 0 if both
    distributions are equal, and undefined otherwise. If all synthetic values of a column are
    missing, the distance is infinite.

    ``details["similarities"]`` contains ``max(0, 1 - distance / scale)`` for each column. For p =
    1, ``details["ceilings"]`` contains the expected distances if the values of both tables are
    pooled and divided again at random. A generator is not expected to reach smaller distances.
    ``details["ceiling"]`` is their mean.

    References
    ----------
    L. N. Vaserstein, "Markov processes over denumerable products of spaces describing large systems
    of automata", Problemy Peredachi Informatsii 5 (1969).

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.fidelity import WassersteinDistance
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [1, 2, 3, 9]})
    >>> round(WassersteinDistance().fit(train).score(synthetic), 5)
    0.41667
    """

    tags = replace(
        COLUMN_TAGS, greater_is_better=False, bounds=(0.0, float("inf")), scaling="sorted runs"
    )

    _halved = True  # intervals: skeval/core/intervals.py

    p: Annotated[float, Interval(1)] = 1
    normalize: Literal["range", "std", "iqr"] | None = "range"
    columns: Columns = None

    def _compute(self, context: Context) -> Result:
        pairs = finite_pairs(context, self.columns)
        moved = {name: _distance(x, y, self.p) for name, (x, y) in pairs.items()}
        units = {name: width(x, self.normalize or "range") for name, (x, _) in pairs.items()}
        divisors = units if self.normalize else dict.fromkeys(units, 1.0)
        scores = {name: _on_scale(way, divisors[name]) for name, way in moved.items()}
        unscaled = [name for name in pairs if np.isnan(scores[name]) and not np.isnan(moved[name])]
        similarities = {name: _similarity(way, units[name]) for name, way in moved.items()}
        finite = [name for name in pairs if self.p == 1 and np.isfinite(scores[name])]
        chance = {
            name: _on_scale(expected_wasserstein(*pairs[name]), divisors[name]) for name in finite
        }
        return mean_of_columns(
            scores,
            n_total=len(context.schema.kinds),
            greater_is_better=False,
            warnings=(
                *infinite_columns(context, pairs),
                *emptied_columns(pairs),
                *unscaled_columns(unscaled, self.normalize),
            ),
            similarities=similarities,
            similarity=mean_ignoring_nan(similarities),
            ceilings=chance,
            ceiling=mean_ignoring_nan(chance),
        )

    def _summary(self, result: Result) -> str:
        scale = "times the training scale" if self.normalize else "in the units of the columns"
        chance = as_float(result.details["ceiling"])
        fresh = "" if math.isnan(chance) else f" ({number(chance)} expected for real data)"
        return (
            f"The mean Wasserstein distance of {result.details['n_used']} numerical and datetime "
            f"columns is {number(result.value)} {scale}{fresh}."
        )


def _distance(x: np.ndarray, y: np.ndarray, p: float) -> float:
    if x.size == 0:
        return float("nan")
    return wasserstein_of_ascending(x, y, float(p)) if y.size else float("inf")


def _on_scale(distance: float, scale: float) -> float:
    if scale > 0.0 or np.isnan(distance):
        return distance / scale
    return distance if distance in {0.0, float("inf")} else float("nan")


def _similarity(distance: float, scale: float) -> float:
    """Return 1 for a distance of 0, and 0 for a distance of at least the scale."""
    if np.isnan(distance):
        return float("nan")
    if scale == 0.0:
        return float(distance == 0.0)
    return max(0.0, 1.0 - distance / scale)


@declared
class SlicedWassersteinDistance(RowDistance):
    """Wasserstein distance between rows, averaged over random projections.

    The metric projects the real and the synthetic rows on random directions and computes the
    one-dimensional Wasserstein distance for each direction. If the distance is 0 for all
    directions, the joint distributions are equal. The value is 0 for equal tables and has no upper
    bound. Lower is better.

    Parameters
    ----------
    n_projections : int, default=200
        Number of random directions.
    p : float, default=2
        Exponent, at least 1. A larger exponent gives long distances more weight.
    statistic : {"mean", "max"}, default="mean"
        "mean" averages the powers of the distances over the directions. "max" uses the direction
        with the largest distance.
    random_state : int, default=0
        Seed of the directions.

    Warnings
    --------
    The distance decreases with the number of features, so do not compare tables of different width.
    A copy of the training data has the value 0, which is not better than the baseline.

    See Also
    --------
    WassersteinDistance : Compares single columns.
    EnergyDistance : Distances between whole rows, with a test.

    Notes
    -----
    The mean distance is ``(mean W_p^p)^(1/p)`` over directions that are uniform on the sphere. All
    rows are used, and the computation time is the time to sort them. The distance decreases with
    the number of features. For example, a shift by a vector has a distance of its length divided by
    the square root of the number of features. ``details["times_sqrt_features"]`` is the value
    multiplied by that square root, which is comparable between tables of different width for p = 2.
    Features that are constant over all rows are ignored.

    ``details["mean"]`` and ``details["max"]`` contain both statistics.
    ``details["projection_error"]`` is the standard error of the mean over the directions, which
    decreases with their number. The maximum over random directions is smaller than the maximum over
    all directions, in particular for many features.

    The value is above 0 even for new real data because of random differences, so compare it with
    the baseline, which is the value of the holdout rows. If there are fewer holdout rows,
    ``details["at_baseline_size"]`` contains the value for a synthetic sample of that size. A value
    far below the baseline is not better, because a copy of the training data has the value 0. The
    result contains no interval, because a bootstrap counts the random error twice and because the
    difference between an empirical and the true distance depends on tails that a sample does not
    show. Infinite synthetic values count as missing in the space "euclidean".

    References
    ----------
    N. Bonneel, J. Rabin, G. Peyre, H. Pfister, "Sliced and Radon Wasserstein barycenters of
    measures", Journal of Mathematical Imaging and Vision 51 (2015), doi:10.1007/s10851-014-0506-3.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import SlicedWassersteinDistance
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> SlicedWassersteinDistance().fit(train).score(fresh) < 0.2
    True
    """

    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, float("inf")))

    n_projections: Count = 200
    p: Annotated[float, Interval(1, float("inf"), "left")] = 2
    statistic: Literal["mean", "max"] = "mean"

    def _summary(self, result: Result) -> str:
        return (
            "The sliced Wasserstein distance between the rows is "
            f"{number(result.details['mean'])} on average over random directions, and "
            f"{number(result.details['max'])} in the direction with the largest distance."
        )

    def _distances(
        self, x: np.ndarray, y: np.ndarray, scale: float, n_permutations: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        directions = random_directions(x.shape[1], self.n_projections, self.random_state)
        details = _moments(sliced_powers(x, y, directions, float(self.p)), float(self.p))
        value = details[self.statistic]
        return np.array([value]), {**details, "times_sqrt_features": value * x.shape[1] ** 0.5}


def _moments(powers: np.ndarray, p: float) -> dict[str, float]:
    """Return the mean and maximum of distances, given their powers, and the error of the mean."""
    mean, greatest = (float(power) ** (1.0 / p) for power in (powers.mean(), powers.max()))
    error = float("nan") if powers.size < 2 else powers.std(ddof=1) / powers.size**0.5
    slope = mean ** (1.0 - p) / p if mean > 0.0 else 0.0
    return {"mean": mean, "max": greatest, "projection_error": float(error) * slope}


def random_directions(n_features: int, n_projections: int, seed: int) -> np.ndarray:
    """Return random unit vectors that are uniform on the sphere."""
    drawn = np.random.default_rng(seed).standard_normal((n_projections, n_features))
    unit: np.ndarray = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def sliced_powers(x: np.ndarray, y: np.ndarray, directions: np.ndarray, p: float) -> np.ndarray:
    """Return the p-th power of the Wasserstein distance along each direction."""
    of_x, of_y, weights = coupling(len(x), len(y))
    powers = np.empty(len(directions))
    step = max(1, _BLOCK // (len(x) + len(y)))
    for start in range(0, len(directions), step):
        some = directions[start : start + step]
        first, second = (np.sort(some @ rows.T, axis=1) for rows in (x, y))
        if len(x) != len(y):
            first, second = first[:, of_x], second[:, of_y]
        gaps = np.abs(first - second)
        powers[start : start + step] = (gaps if p == 1.0 else gaps**p) @ weights
    return powers


def coupling(n: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the matched ordered values of samples of sizes n and m, and their mass."""
    # in units of 1 / (n m), all ends of steps are integers
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    starts = np.concatenate([[0], ends[:-1]])
    return starts // m, starts // n, (ends - starts) / (n * m)
