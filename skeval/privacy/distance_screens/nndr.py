"""Does a synthetic row sit on one train row rather than among them."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.parameters import Columns, Count, Interval, Seed, Space
from skeval.privacy.distance_screens.percentiles import (
    label_test,
    seen_from_synthetic,
    seen_from_train,
    statistic,
)
from skeval.result import Result, undefined
from skeval.stats import percentiles as stats
from skeval.stats.proximity import ratios
from skeval.steps.neighbors import nearest
from skeval.steps.samples import nothing_to_measure
from skeval.tags import MetricTags

_TENTH = 10
_MANY = 0.05


class NNDR(Metric):
    """Percentile of nearest over second nearest distance: 0 where rows sit on one train row.

    A synthetic row that was drawn from the population is about as far from its nearest train row as
    from the second nearest: the ratio of the two distances is near 1. A row that repeats one
    particular train row, with or without noise, is much nearer to that one than to any other.

    Parameters
    ----------
    q : float, default=5
        The percentile, in [0, 100]; linear between the rows' ratios.
    convention : {"d1/d2", "d2/d1"}, default="d1/d2"
        Which ratio the percentile is taken of. "d2/d1" is there to read numbers that SynEval
        published: they are ``details["d2_d1"]``. The value stays on the scale of d1/d2 and is its
        percentile ``100 - q``, which looks at the rows least like copies and misses the others.
    query : {"synthetic", "train"}, default="synthetic"
        Whose neighbours: those of synthetic rows in train, or those of train rows in the synthetic
        table, as SynthEval has it.
    n_permutations : int, default=200
        Number of random relabellings of the real rows for the p-value.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the relabellings and of the resamples behind ``details["ratio_interval"]``.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    A row with d1 = 0 < d2 has ratio 0, one with d1 = d2 = 0 ratio 1: two equal train rows cannot be
    told apart. ``details["both_zero"]`` is the share of such rows, whose copies this metric does
    not see. The baseline is the same percentile of holdout rows in the synthetic rows' place
    (without a holdout, of train rows among the others). The p-values are those of `DCRPercentile`:
    one relabels train and holdout, the other divides synthetic and holdout rows. With
    ``query="train"`` both are one: as seen from the synthetic table, train and holdout rows are
    alike if it has not learnt its training rows, and the test is exact. The interval holds
    the percentile of the generator's law, train being given; with ``query="train"`` that of the
    population's, the synthetic rows being given. ``details["tenth_smallest"]``, the same to the
    holdout and their quotient `ratio_to_holdout` are what MOSTLY AI reports, with a holdout
    as large as train. `HoldoutDistanceRatio` is called NNDR by some, too. This is a distance
    screen: it can raise an alarm and cannot clear a release.

    References
    ----------
    Z. Yao et al., "The DCR Delusion", ESORICS 2025, arXiv:2505.01524, on what screens miss.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import NNDR
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> NNDR().fit(train, holdout).score(train)
    0.0
    """

    tags = MetricTags("privacy", greater_is_better=True, bounds=(0.0, 1.0), evidence="screen")

    def __init__(
        self,
        q: Annotated[float, Interval(0, 100)] = 5,
        convention: Literal["d1/d2", "d2/d1"] = "d1/d2",
        query: Literal["synthetic", "train"] = "synthetic",
        *,
        n_permutations: Count = 200,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.q = q
        self.convention = convention
        self.query = query
        self.n_permutations = n_permutations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        forwards = self.query == "synthetic"
        searched = "train" if forwards else "synthetic"
        if context.n_rows(searched) < 2:
            return undefined(f"the {searched} table needs two rows to have a second neighbour.")
        seen = seen_from_train if forwards else seen_from_synthetic
        compared, level = seen(self, context, 2), self.q / 100.0
        both_zero = self._both_zero(context, searched)
        looked_at = level if self.convention == "d1/d2" else 1.0 - level
        return compared.result(
            self.q,
            looked_at,
            test=label_test(self, context, looked_at, _known_ratios) if forwards else None,
            top=1.0,
            seed=self.random_state,
            said=[_DOUBLED.format(share=both_zero, table=searched)] if both_zero > _MANY else [],
            mean=float(compared.values.mean()),
            both_zero=both_zero,
            **self._of_others(context, compared.values, level),
        )

    def _both_zero(self, context: Context, searched: str) -> float:
        found, _ = nearest(
            context, self.query, searched, k=2, space=self.space, columns=self.columns
        )
        return float(np.mean(found[:, 1] == 0.0))

    def _of_others(self, context: Context, values: np.ndarray, level: float) -> dict[str, float]:
        """Return the numbers that other tools report under this name."""
        told: dict[str, float] = {}
        if self.convention == "d2/d1":
            inverse = np.divide(1.0, values, out=np.full(values.shape, np.inf), where=values > 0)
            told["d2_d1"] = stats.percentile(inverse, level)
        if self.query == "train":
            return told
        told["tenth_smallest"] = tenth = _tenth(values)
        if "holdout" in context and context.n_rows("holdout") >= 2:
            other = _tenth(statistic(self, context, "synthetic", "holdout", 2))
            told["tenth_smallest_to_holdout"] = other
            told["ratio_to_holdout"] = _quotient(tenth, other)
        return told


def _known_ratios(distances: np.ndarray) -> np.ndarray:
    """Return d1/d2; 0 where the second is not among the rows looked at, 1 where neither is."""
    lost = ~np.isfinite(distances[:, 0])
    return stats.neighbor_ratios(np.where(lost[:, None], 1.0, distances))


_DOUBLED = (
    "{share:.0%} of the rows are equal to two or more rows of the {table} table: their ratio "
    "counts as 1, so that copies of these are not seen."
)


def _quotient(above: float, below: float) -> float:
    if np.isnan(above):
        return above
    return float(ratios(np.array([above]), np.array([below]))[0])


def _tenth(values: np.ndarray) -> float:
    """Return the tenth smallest value; nan where there are fewer."""
    if values.size < _TENTH:
        return float("nan")
    return float(np.partition(values, _TENTH - 1)[_TENTH - 1])
