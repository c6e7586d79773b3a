"""Distances of rows to their nearest neighbours, within and between the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import wasserstein_distance

from skeval._aggregate import undefined
from skeval._parameters import Anything, Columns, Interval
from skeval.base import Metric
from skeval.context import Context
from skeval.result import Result
from skeval.stats.distributions import kolmogorov_distance
from skeval.steps import nearest
from skeval.tags import MetricTags

__all__ = ["NNDistanceDistributions"]

SPACE = Anything(("fit", "transform"), values=("gower", "euclidean"))
_LEVELS = np.arange(1, 100) / 100.0
_N_BARS = 40


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
    ``details["histogram"]`` hold the five distributions that can be formed, as aggregates.

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
                "quantiles": {
                    "levels": _LEVELS,
                    **{name: _quantiles(d) for name, d in found.items()},
                },
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


def _quantiles(values: np.ndarray) -> np.ndarray:
    return np.quantile(values, _LEVELS)


def histograms(samples: Mapping[str, np.ndarray], aligned: float | None = None) -> dict[str, Any]:
    """Return shares of several samples over common bars from 0; the last bar holds all beyond.

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
    width = top / _N_BARS
    if aligned is not None and 0 < aligned < top:
        width = aligned / max(1, round(aligned / width))
    edges = width * np.arange(int(np.ceil(top / width)) + 1)
    shares = {name: _share_of_bars(values, edges) for name, values in samples.items()}
    return {"edges": edges, "shares": shares}


def _share_of_bars(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    # bars are closed on the right, as a tail "at or under the threshold" is
    bars = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, edges.size - 2)
    return np.bincount(bars, minlength=edges.size - 1) / values.size
