"""Is a train row nearer to a synthetic one than to every other real one."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import SPACE, Columns, Interval, Options
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.privacy.adversarial import rivals
from skeval.privacy.entropy import entropy_space
from skeval.result import Result
from skeval.stats import adversarial as stats
from skeval.stats.relabelling import Relabelled, labels_test
from skeval.steps import column_key, is_gower, nearest, nothing_to_measure, relabellings
from skeval.tags import MetricTags

__all__ = ["EpsilonIdentifiability"]


class EpsilonIdentifiability(Metric):
    """Share of train rows with a synthetic row nearer than any other train row: 1 is all of them.

    A train row is called identifiable if some synthetic row comes nearer to it than the nearest
    other train row does. A table is published as "epsilon-identifiable" if their share is below
    epsilon.

    Parameters
    ----------
    feature_weights : {"uniform", "entropy"}, default="uniform"
        Whether all columns count alike, or Euclidean distance weighs each by the inverse of its
        entropy, so that rare values count more.
    n_permutations : int, default=200
        Number of random relabellings of the real rows for the p-value.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the relabellings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        At fit, if ``feature_weights="entropy"``, which has a space of its own, is asked for in
        another than "gower".

    Notes
    -----
    The mean over train rows t of ``d(t, nearest synthetic) < d(t, nearest other train row)``. It is
    not 0 without a leak: a fresh real table of the size of train scores about 1/2, more rows score
    more. What a leak adds is ``details["excess"]``, the share on train minus that on holdout rows
    (``details["on_holdout"]``), relative to its mean over relabellings, which is 0 at equal sizes;
    the baseline is the value without the excess. The p-value is one-sided: given the synthetic
    rows, all choices of which real rows were train are equally likely if none was learnt. Without
    a holdout there is neither. The interval is over fresh draws of train and synthetic rows; two
    train rows that are each other's nearest count as one piece of evidence. Weights ``w_j``: the
    entropies are those of ten quantile bins or of the categories of the real rows; ``w_j`` is
    proportional to ``1 / H_j``, at most ten times the median, 0 for a constant column, and
    multiplies squared differences relative to the range; a missing value is at least a whole range
    away from all others. This is a distance screen: it can raise an alarm and cannot clear a
    release.

    References
    ----------
    J. Yoon, L. N. Drumright, M. van der Schaar, "Anonymization through data synthesis using
    generative adversarial networks (ADS-GAN)", IEEE JBHI 24 (2020) 2378-2388,
    doi:10.1109/JBHI.2020.2980262.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import EpsilonIdentifiability
    >>> train = make_mixed(random_state=0)
    >>> EpsilonIdentifiability().fit(train).score(train)
    1.0
    """

    tags = MetricTags("privacy", greater_is_better=False, bounds=(0.0, 1.0), evidence="screen")
    _legal = {
        "feature_weights": Options(("uniform", "entropy")),
        "n_permutations": Interval(int, 1, None),
        "space": SPACE,
        "columns": Columns(),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        feature_weights: str = "uniform",
        *,
        n_permutations: int = 200,
        space: Any = "gower",
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.feature_weights = feature_weights
        self.n_permutations = n_permutations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        if self.feature_weights == "entropy" and not is_gower(self.space):
            raise InvalidParameterError(
                "EpsilonIdentifiability: feature_weights='entropy' has a space of its own; leave "
                "space at 'gower', or weights at 'uniform'."
            )

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        if context.n_rows("train") < 2:
            return undefined("train needs two rows to have neighbours.")
        columns = column_key(context.schema, self.columns)
        space = self.space
        if self.feature_weights == "entropy":
            space, columns = entropy_space(context, columns), None
            if space is None:
                return undefined("every column is constant: no column has a weight.")
        value, variance = identified(context, "train", space, columns)
        interval = stats.paired_interval(value, variance, context.n_rows("train"))
        if "holdout" not in context or context.n_rows("holdout") < 2:
            return Result(value, interval=interval)
        test = excess_test(context, space, columns, self.n_permutations, self.random_state)
        n_train, n_holdout = context.n_rows("train"), context.n_rows("holdout")
        expected = 0.0 if n_train == n_holdout else test.mean
        excess = test.observed - expected
        return Result(
            value,
            interval=interval,
            p_value=test.p_value,
            baseline=float(np.clip(value - excess, 0.0, 1.0)),
            details={
                "on_holdout": identified(context, "holdout", space, columns)[0],
                "excess": excess,
                "standard_error": float(np.sqrt(variance)),
                "null_standard_error": test.spread,
            },
        )


def identified(context: Context, role: str, space: Any, columns: Any) -> tuple[float, float]:
    """Return the share of a role's rows that have a synthetic row nearest, and its variance."""
    common: dict[str, Any] = {"space": space, "columns": columns}
    to_synthetic, _ = nearest(context, role, "synthetic", **common)
    within, at = nearest(context, role, role, **common)
    holds = to_synthetic[:, 0] < within[:, 0]
    return stats.share_with_pairs(holds, np.where(holds, -1, at[:, 0]))


@shared
def excess_test(
    context: Context, space: Any, columns: Any, n_permutations: int, seed: int
) -> Relabelled:
    """Hold the excess on train over holdout against random relabellings of the real rows."""
    lists, _ = rivals(context, space, columns)
    matrix, lengths = lists.matrix(), lists.lengths

    def excess(labels: np.ndarray) -> np.ndarray:
        holds = ~stats.same_label_listed(matrix, labels, lengths)
        return stats.train_share_contrast(holds, labels)

    return labels_test(excess, relabellings(context, n_permutations, seed))
