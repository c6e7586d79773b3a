"""How far values have to be moved, column by column."""

from __future__ import annotations

import numpy as np

from skeval._aggregate import mean_of_columns
from skeval._parameters import Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.fidelity.numeric import (
    emptied_columns,
    finite_pairs,
    infinite_columns,
    mean_of_defined,
    unscaled_columns,
    width,
)
from skeval.result import Result
from skeval.stats.ordered import expected_wasserstein, wasserstein_of_sorted
from skeval.tags import MetricTags

__all__ = ["WassersteinDistance"]


class WassersteinDistance(Metric):
    """Way that values have to be moved: 0 where distributions agree, 1 for the range of train.

    An analyst lays the real and the synthetic values of a numeric or date column side by side, in
    order, and asks how far the one have to be moved to become the other. Unlike the
    Kolmogorov-Smirnov distance this tells a near miss from a far one. The value is the mean over
    the columns, each on the scale of train.

    Parameters
    ----------
    p : float, default=1
        At least 1. The greater it is, the more the longest ways count; infinity is the longest.
    normalize : {"range", "std", "iqr"} or None, default="range"
        What a column's distance is divided by: range, standard deviation or interquartile range
        of its train values. None leaves the column's own unit (seconds for dates), in which columns
        should not be averaged; read ``details["columns"]`` then.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first so many, or these; only numeric and date ones count.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    ``(integral over u of |F^-1(u) - G^-1(u)|^p)^(1/p)``, which for p = 1 is the area between the
    cumulative curves. Missing values are left out, infinite synthetic ones too, with a warning: the
    way to them has no length. One outlier widens train's range and makes all distances small;
    "iqr" is not moved by it. On a column without width in train the distance is 0 for the same
    single value and not defined otherwise. A column whose synthetic values are all missing has
    the distance infinity.

    ``details["similarities"]`` has ``max(0, 1 - distance / scale)`` by column. For p = 1
    ``details["ceilings"]`` has what a relabelling of the pooled rows would have in the mean, the
    least that a generator can be expected to reach; ``details["ceiling"]`` is their mean. No
    interval is given: how far an empirical distance is from the true one depends on tails that no
    sample shows, so that a band would need known bounds of the values, and a bootstrap of the
    distance adds noise twice. Compare with the ceiling and with the baseline.

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

    tags = MetricTags(
        "fidelity",
        greater_is_better=False,
        bounds=(0.0, float("inf")),
        display="ColumnScoresDisplay",
    )
    _legal = {
        "p": Interval(float, 1.0, None),
        "normalize": Options(("range", "std", "iqr", None)),
        "columns": Columns(),
    }

    def __init__(
        self,
        p: float = 1,
        normalize: str | None = "range",
        columns: int | list[str] | None = None,
    ) -> None:
        self.p = p
        self.normalize = normalize
        self.columns = columns

    def _compute(self, context: Context) -> Result:
        pairs = finite_pairs(context, self.columns)
        moved = {name: _distance(x, y, self.p) for name, (x, y) in pairs.items()}
        units = {name: width(x, self.normalize or "range") for name, (x, _) in pairs.items()}
        divisors = units if self.normalize else dict.fromkeys(units, 1.0)
        scores = {name: _on_scale(moved[name], divisors[name]) for name in pairs}
        unscaled = [name for name in pairs if np.isnan(scores[name]) and not np.isnan(moved[name])]
        similarities = {name: _similarity(moved[name], units[name]) for name in pairs}
        chance = {
            name: _on_scale(expected_wasserstein(x, y), divisors[name])
            for name, (x, y) in pairs.items()
            if self.p == 1 and np.isfinite(scores[name])
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
            similarity=mean_of_defined(similarities),
            ceilings=chance,
            ceiling=mean_of_defined(chance),
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
