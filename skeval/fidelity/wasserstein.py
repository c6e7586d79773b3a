"""How far values have to be moved: column by column, and rows along random directions."""

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
from skeval.stats.distributions import expected_wasserstein, wasserstein_of_sorted
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

_BLOCK = 2**21  # projected values held at once


@declared
class WassersteinDistance(Metric):
    """Way that values have to be moved: 0 where distributions agree, 1 for the range of train.

    An analyst lays the real and the synthetic values of a numeric or date column side by side, in
    order, and asks how far the one have to be moved to become the other. Unlike the
    Kolmogorov-Smirnov distance this distinguishes a near miss from a far one. The value is the mean
    over the columns, each on the scale of train.

    Parameters
    ----------
    p : float, default=1
        At least 1. The greater it is, the more the longest ways count; infinity is the longest.
    normalize : {"range", "std", "iqr"} or None, default="range"
        What a column's distance is divided by: range, standard deviation or interquartile range
        of its train values. None leaves the column's own unit (seconds for dates), in which columns
        should not be averaged; read ``details["columns"]`` then.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only numeric and date ones count.

    See Also
    --------
    KSComplement : How many values differ, not how far.
    SlicedWassersteinDistance : Whole rows.

    Notes
    -----
    ``(integral over u of |F^-1(u) - G^-1(u)|^p)^(1/p)``, which for p = 1 is the area between the
    cumulative curves. Missing values are left out, infinite synthetic ones too, with a warning: the
    way to them has no length. One outlier widens train's range and makes all distances small;
    "iqr" is not moved by it. On a column without width in train the distance is 0 for the same
    single value and not defined otherwise. A column whose synthetic values are all missing has
    the distance infinity.

    ``details["similarities"]`` has ``max(0, 1 - distance / scale)`` by column. For p = 1
    ``details["ceilings"]`` has what a relabelling of the pooled rows would have on average, the
    least that a generator can be expected to reach; ``details["ceiling"]`` is their mean.

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

    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

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
        scale = "of train's scale" if self.normalize else "in the columns' units"
        chance = as_float(result.details["ceiling"])
        fresh = "" if math.isnan(chance) else f"; those of fresh rows by {number(chance)}"
        return (
            f"The values of {result.details['n_used']} numeric and date columns have to be moved "
            f"by {number(result.value)} {scale}, on average, to become train's{fresh}."
        )


def _distance(x: np.ndarray, y: np.ndarray, p: float) -> float:
    if x.size == 0:
        return float("nan")
    return wasserstein_of_sorted(x, y, float(p)) if y.size else float("inf")


def _on_scale(distance: float, scale: float) -> float:
    if scale > 0.0 or np.isnan(distance):
        return distance / scale
    return distance if distance in {0.0, float("inf")} else float("nan")


def _similarity(distance: float, scale: float) -> float:
    """Return 1 for equal values, 0 for values at least a scale apart."""
    if np.isnan(distance):
        return float("nan")
    if scale == 0.0:
        return float(distance == 0.0)
    return max(0.0, 1.0 - distance / scale)


@declared
class SlicedWassersteinDistance(RowDistance):
    """Way that rows have to be moved, seen from random directions: 0 where the tables are alike.

    An analyst looks at the clouds of real and synthetic rows from a direction, where all that is
    left of a row is one number, and asks how far the numbers of one table have to be moved to
    become those of the other. If that is 0 from all directions, the joint distributions are equal.

    Parameters
    ----------
    n_projections : int, default=200
        Number of random directions.
    p : float, default=2
        At least 1. The greater it is, the more the longest ways count.
    statistic : {"mean", "max"}, default="mean"
        Whether the powers of the distances are averaged over the directions, or the direction in
        which the tables differ most counts, of those drawn.
    random_state : int, default=0
        Seed of the directions.

    See Also
    --------
    WassersteinDistance : Column by column.
    EnergyDistance : Distances of whole rows, with a test.

    Notes
    -----
    ``(mean W_p^p)^(1/p)`` over directions that are uniform on the sphere. All rows are looked at,
    the cost is that of sorting them. The distance shrinks as there are more features: a shift by a
    vector has its length over the square root of their number. ``details["times_sqrt_features"]``
    is the value times that root, which for p = 2 can be compared between tables of different width.
    Features that are the same in all rows do not count.

    ``details["mean"]`` and ``details["max"]`` have both statistics,
    ``details["projection_error"]`` the standard error of the mean over directions, which more of
    them make smaller. The greatest of some random directions is less than the greatest of all, the
    more so the more features there are.

    Chance alone keeps the value above 0 for a perfect table: hold it against the baseline, which is
    the value of holdout rows. If these are fewer, ``details["at_baseline_size"]`` has the value of
    as many synthetic rows. A value well below the baseline is no merit: a copy of train has 0. No
    interval is given: a bootstrap of the distance adds noise twice, and how far an empirical
    distance is from the true one depends on tails that no sample shows. Infinite synthetic values
    count as missing in the space "euclidean".

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
            "Seen from random directions, rows have to be moved by "
            f"{number(result.details['mean'])}; from the worst of them by "
            f"{number(result.details['max'])}."
        )

    def _distances(
        self, x: np.ndarray, y: np.ndarray, scale: float, n_permutations: int
    ) -> tuple[np.ndarray, dict[str, Any]]:
        directions = random_directions(x.shape[1], self.n_projections, self.random_state)
        details = _moments(sliced_powers(x, y, directions, float(self.p)), float(self.p))
        value = details[self.statistic]
        return np.array([value]), {**details, "times_sqrt_features": value * x.shape[1] ** 0.5}


def _moments(powers: np.ndarray, p: float) -> dict[str, float]:
    """Return mean and greatest of distances, given their powers, and the error of the mean."""
    mean, greatest = (float(power) ** (1.0 / p) for power in (powers.mean(), powers.max()))
    error = float("nan") if powers.size < 2 else powers.std(ddof=1) / powers.size**0.5
    slope = mean ** (1.0 - p) / p if mean > 0.0 else 0.0
    return {"mean": mean, "max": greatest, "projection_error": float(error) * slope}


def random_directions(n_features: int, n_projections: int, seed: int) -> np.ndarray:
    """Return unit vectors that are uniform on the sphere."""
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
    """Return which ordered values of two samples of n and m meet, and with what mass."""
    # in units of 1 / (n m) all ends of steps are whole numbers
    ends = np.union1d(np.arange(1, n + 1) * m, np.arange(1, m + 1) * n)
    starts = np.concatenate([[0], ends[:-1]])
    return starts // m, starts // n, (ends - starts) / (n * m)
