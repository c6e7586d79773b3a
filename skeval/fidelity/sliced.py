"""The sliced Wasserstein distance: how far rows have to be moved, seen from random directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._parameters import MATRIX_SPACE, Interval, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.fidelity._matrices import Sampling, fresh_rows, matrices
from skeval.result import Result
from skeval.stats.sliced import random_directions, sliced_powers
from skeval.steps import sample_positions
from skeval.tags import MetricTags

__all__ = ["SlicedWassersteinDistance"]


class SlicedWassersteinDistance(Metric):
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
    space : "euclidean" or transformer, default="euclidean"
        How rows become vectors: numbers and dates standardised by train, a change of category at
        distance 1; or what a transformer makes of the table.
    random_state : int, default=0
        Seed of the directions.

    Attributes
    ----------
    context_ : Context
        The real tables.

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

    Chance alone keeps the value above 0 for a perfect table: hold it against the baseline, holdout
    rows in the synthetic place. Where these are fewer, ``details["at_baseline_size"]`` has the
    value of as many synthetic rows. A value well below the baseline is no merit: a copy of train
    has 0. No interval is given: a bootstrap of the distance adds noise twice, and how far an
    empirical distance is from the true one depends on tails that no sample shows. Infinite
    synthetic values count as missing in the space "euclidean".

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
    _legal = {
        "n_projections": Interval(int, 1, None),
        "p": Interval(float, 1.0, float("inf"), closed="left"),
        "statistic": Options(("mean", "max")),
        "space": MATRIX_SPACE,
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        n_projections: int = 200,
        p: float = 2,
        statistic: str = "mean",
        space: Any = "euclidean",
        random_state: int = 0,
    ) -> None:
        self.n_projections = n_projections
        self.p = p
        self.statistic = statistic
        self.space = space
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        rows = matrices(context, Sampling(self.space, None, self.random_state))
        if isinstance(rows, Result):
            return rows
        train, synthetic = rows["train"], rows["synthetic"]
        found = self._distances(train, synthetic)
        n_features = train.shape[1]
        details: dict[str, Any] = {
            **found,
            "times_sqrt_features": found[self.statistic] * n_features**0.5,
            "n_features": n_features,
        }
        baseline, fresh = None, fresh_rows(rows, self.random_state)
        if fresh is not None:
            baseline = self._distances(train, fresh)[self.statistic]
            if len(fresh) < len(synthetic):
                few = sample_positions(len(synthetic), len(fresh), self.random_state)
                alike = self._distances(train, synthetic[few])[self.statistic]
                details["at_baseline_size"] = {"n_rows": len(fresh), "value": alike}
        return Result(found[self.statistic], baseline=baseline, details=details)

    def _distances(self, x: np.ndarray, y: np.ndarray) -> dict[str, float]:
        p = float(self.p)
        directions = random_directions(x.shape[1], self.n_projections, self.random_state)
        powers = sliced_powers(x, y, directions, p)
        mean = float(powers.mean()) ** (1.0 / p)
        error = float("nan") if powers.size < 2 else powers.std(ddof=1) / powers.size**0.5
        slope = mean ** (1.0 - p) / p if mean > 0.0 else 0.0
        return {
            "mean": mean,
            "max": float(powers.max()) ** (1.0 / p),
            "projection_error": float(error) * slope,
        }
