"""Distances of rows to their nearest neighbours, within and between the tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import wasserstein_distance

from skeval._aggregate import undefined
from skeval._parameters import SPACE, Columns, Interval
from skeval.base import Metric
from skeval.context import Context
from skeval.result import Result
from skeval.stats.distributions import kolmogorov_distance
from skeval.steps import nearest, nothing_to_measure
from skeval.tags import MetricTags

__all__ = ["NNDistanceDistributions"]

_LEAST = 10  # rows between two quantiles, or beyond the outermost
_MOST_BARS, _FEWEST_BARS = 40, 4


class NNDistanceDistributions(Metric):
    """Distance of nearest-neighbour distributions: 0 where they are equal, 1 without overlap.

    An analyst draws, for each table, how far its rows are from their nearest neighbour of the same
    table, and of the others. Synthetic rows much closer to each other than real rows are show a
    generator that repeats itself; synthetic rows closer to train than holdout rows are, one that
    repeats train.

    Parameters
    ----------
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the sample of the larger table.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The value is the Kolmogorov distance between the distances of train rows to their nearest other
    train row and those of synthetic rows to their nearest other synthetic row, at equal sizes,
    because a smaller table is sparser; it says nothing of privacy. ``details["quantiles"]`` and
    ``details["histogram"]`` hold the five distributions that can be formed, as aggregates: at least
    10 rows of the smallest sample lie between two levels and beyond the outermost, and there is one
    bar for at least 10 of its rows, but never fewer than 4 bars. Under 20 rows the only level is
    the median, and its values are nan.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import NNDistanceDistributions
    >>> table = make_mixed()
    >>> NNDistanceDistributions().fit(table).score(table)
    0.0
    """

    tags = MetricTags(
        "fidelity", greater_is_better=False, bounds=(0.0, 1.0), display="DistancesDisplay"
    )
    _legal = {"space": SPACE, "columns": Columns(), "random_state": Interval(int, 0, None)}

    def __init__(
        self,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        size = min(context.n_rows("train"), context.n_rows("synthetic"))
        if size < 2:
            return undefined("train and synthetic need two rows each to have neighbours.")
        found = {"train to train": self._distances(context, "train", "train", size)}
        found["synthetic to synthetic"] = self._distances(context, "synthetic", "synthetic", size)
        found["synthetic to train"] = self._distances(context, "synthetic", "train", None)
        if "holdout" in context:
            found["holdout to train"] = self._distances(context, "holdout", "train", None)
            found["synthetic to holdout"] = self._distances(context, "synthetic", "holdout", None)
        within = found["train to train"], found["synthetic to synthetic"]
        return Result(
            kolmogorov_distance(*within),
            details={
                "wasserstein": wasserstein_distance(*within),
                "n_rows_within": size,
                "quantiles": _quantiles(found),
                "histogram": histograms(found),
            },
        )

    def _distances(
        self, context: Context, query: str, reference: str, n_reference: int | None
    ) -> np.ndarray:
        found, _ = nearest(
            context,
            query,
            reference,
            space=self.space,
            columns=self.columns,
            n_reference=n_reference,
            seed=self.random_state,
        )
        return found[:, 0]


def _quantiles(samples: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return quantiles of each sample at levels too far apart to tell single distances."""
    smallest = min(values.size for values in samples.values())
    if smallest < 2 * _LEAST:
        return {"levels": np.array([0.5]), **{name: np.array([np.nan]) for name in samples}}
    levels = _levels(smallest)
    return {"levels": levels, **{name: np.quantile(d, levels) for name, d in samples.items()}}


def _levels(n_rows: int) -> np.ndarray:
    """Return whole percentages around the median with `_LEAST` rows between and beyond."""
    apart = max(1, math.ceil(100 * _LEAST / n_rows))
    percentages = np.arange(50 % apart, 100, apart)
    beyond = np.minimum(percentages, 100 - percentages) * n_rows
    return percentages[beyond >= 100 * _LEAST] / 100.0


def histograms(samples: Mapping[str, np.ndarray], aligned: float | None = None) -> dict[str, Any]:
    """Return shares of several samples over common bars from 0; the last bar holds all beyond.

    The smaller the smallest sample, the fewer the bars, lest they tell single values.

    Parameters
    ----------
    samples : mapping of str to ndarray
        Non-negative values by name; infinite ones count as beyond.
    aligned : float, optional
        A value that shall be an edge, so that bars lie wholly on one side of it.

    Returns
    -------
    dict
        `edges` of shape (n_bars + 1,), and `shares` by name, of shape (n_bars,).
    """
    pooled = np.concatenate(list(samples.values()))
    pooled = pooled[np.isfinite(pooled)]
    top = float(np.quantile(pooled, 0.99)) if pooled.size else 1.0
    top = top if top > 0 else 1.0
    edges = _common_edges(top, min(values.size for values in samples.values()), aligned)
    shares = {name: _share_of_bars(values, edges) for name, values in samples.items()}
    return {"edges": edges, "shares": shares}


def _common_edges(top: float, n_rows: int, aligned: float | None) -> np.ndarray:
    width = top / min(max(n_rows // _LEAST, _FEWEST_BARS), _MOST_BARS)
    inside = aligned if aligned is not None and 0 < aligned < top else 0.0
    if inside >= width / 2.0:
        width = inside / max(1, round(inside / width))
    edges = width * np.arange(math.ceil(top / width) + 1)
    # equal bars as narrow as a small `aligned` would be too many
    return np.insert(edges, 1, inside) if 0.0 < inside < edges[1] else edges


def _share_of_bars(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    # bars are closed on the right, as a tail "at or under the threshold" is
    bars = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, edges.size - 2)
    return np.bincount(bars, minlength=edges.size - 1) / values.size
