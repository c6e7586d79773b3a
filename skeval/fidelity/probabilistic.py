"""Precision and recall with soft balls of one size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from skeval._parameters import Interval
from skeval.context import Context, shared
from skeval.fidelity._two_sided import LEGAL_BALLS, TwoSided
from skeval.stats.manifolds import soft_cover
from skeval.steps import column_key, rows_of
from skeval.steps.manifolds import distance_blocks, drawn, radii
from skeval.steps.samples import ColumnChoice
from skeval.tags import MetricTags

__all__ = ["ProbabilisticPrecisionRecall"]


class ProbabilisticPrecisionRecall(TwoSided):
    """Harmonic mean of precision and recall in probability: 0 if a side is lost, 1 if none.

    Each train row makes it the more probable that rows occur near it, the nearer they are, and so
    does each synthetic row. Precision is the mean probability of synthetic rows by train, recall
    that of train rows by the synthetic table. All balls of a table have one size, and no row is
    simply in or out: a single far row changes little.

    Parameters
    ----------
    k : int, default=4
        Neighbour whose mean distance is the scale of a table.
    scale : float, default=1.2
        The radius of the balls over that mean distance.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    max_rows : int or None, default=5_000
        Rows of each table that are looked at, a seeded sample: all pairs are compared.
    random_state : int, default=0
        Seed of the sample.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    With R the scaled mean distance of train rows to their k-th nearest other train row, the
    probability of a synthetic row s is ``1 - prod_t min(1, d(t, s) / R)``, precision its mean over
    s; recall is the same with both tables exchanged, R that of the synthetic rows. Where R is 0, as
    among duplicates, only copies have probability 1. Both numbers stand in ``details``, and those
    of the holdout in ``details["holdout"]``; the value is their harmonic mean, of our choosing.
    A fresh real table does not reach 1: read it against the baseline. Copies of train do.

    References
    ----------
    D. Park, S. Kim, "Probabilistic precision and recall towards reliable evaluation of generative
    models", ICCV 2023, arXiv:2309.01590.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import ProbabilisticPrecisionRecall
    >>> table = make_mixed()
    >>> ProbabilisticPrecisionRecall().fit(table).score(table)
    1.0
    """

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0))
    _legal = {name: legal for name, legal in LEGAL_BALLS.items() if name != "strict"} | {
        "scale": Interval(float, 0.0, None, "neither")
    }
    _sides = ("precision", "recall")
    _with_radii = ("train", "synthetic")

    def __init__(
        self,
        k: int = 4,
        scale: float = 1.2,
        *,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        max_rows: int | None = 5_000,
        random_state: int = 0,
    ) -> None:
        self.k = k
        self.scale = scale
        self.space = space
        self.columns = columns
        self.max_rows = max_rows
        self.random_state = random_state

    def _measure(self, context: Context) -> Mapping[str, Any]:
        columns = column_key(context.schema, self.columns)
        settings = (self.space, columns, self.max_rows, self.random_state)
        precision, recall = soft_shares(context, self.k, self.scale, *settings)
        return {"precision": precision, "recall": recall}


@shared
def soft_shares(
    context: Context,
    k: int,
    scale: float,
    space: Any,
    columns: ColumnChoice,
    max_rows: int | None,
    seed: int,
) -> tuple[float, float]:
    """Return the mean probability of synthetic rows by train, and of train by synthetic rows."""
    of_train, of_synthetic = (
        scale * float(radii(context, role, k, space, columns, max_rows, seed).mean())
        for role in ("train", "synthetic")
    )
    train, synthetic = (
        rows_of(context, role, space, columns, drawn(context, role, max_rows), seed)
        for role in ("train", "synthetic")
    )
    by_train, by_synthetic = np.ones(len(synthetic)), np.ones(len(train))
    for block, distances in distance_blocks(context, synthetic, train, space, columns):
        by_train[block] = soft_cover(distances, of_train).prod(axis=1)
        by_synthetic *= soft_cover(distances, of_synthetic).prod(axis=0)
    return 1.0 - float(by_train.mean()), 1.0 - float(by_synthetic.mean())
