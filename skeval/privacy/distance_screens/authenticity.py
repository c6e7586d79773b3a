"""Are synthetic rows the generator's own, or noisy copies of train rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval.base import Metric
from skeval.context import Context, shared
from skeval.parameters import Columns, Count, Seed, Space
from skeval.result import Result, undefined
from skeval.stats import adversarial as stats
from skeval.stats.relabelling import Relabelled
from skeval.steps.neighbors import LONGEST, nearest, pool_index
from skeval.steps.relabelled import contrast_test, relabelled_nearest
from skeval.steps.samples import column_key, nothing_to_measure
from skeval.tags import MetricTags


class Authenticity(Metric):
    """Share of rows that are nobody's noisy copy: 0 where all are copies; 1 is rarely reached.

    A synthetic row is authentic if it is farther from its nearest train row than that train row is
    from its own nearest other train row. A generator that adds a little noise to its training rows
    makes rows that are not.

    Parameters
    ----------
    n_permutations : int, default=200
        Number of random relabellings of the real rows for the p-value.
    space : "gower", "euclidean" or transformer, default="gower"
        The mean over columns of capped differences, or Euclidean distance of a matrix.
    columns : None, int or list of str, default=None
        The columns that distances look at (in space "gower").
    random_state : int, default=0
        Seed of the relabellings and of the sample of a large synthetic table for the p-value.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The mean over synthetic rows s of ``d(s, t) > d(t, its nearest other train row)``, t the train
    row nearest to s; equal distances are not authentic. A fresh real table does not score 1: about
    0.44 in three dimensions. The baseline is therefore the share of holdout rows that are authentic
    with respect to train, and ``details["ratio"]`` the value relative to it. The interval is
    Wilson's, over fresh draws of train and synthetic rows; synthetic rows beside the same train
    row, or two that are each other's nearest, count as one piece of evidence. The p-value is
    one-sided: with ``details["on_holdout"]``, the share that is authentic with respect to the
    holdout, the difference is held against random choices of which real rows were train; all are
    equally likely if none was learnt. At most 2,000 synthetic rows and the 16 nearest real rows of
    each row take part in it. Rows of poor quality, far from all real ones, count as authentic. This
    is a distance screen: it can raise an alarm and cannot clear a release.

    References
    ----------
    A. M. Alaa et al., "How faithful is your synthetic data? Sample-level metrics for evaluating and
    auditing generative models", ICML 2022, arXiv:2102.08921.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import Authenticity
    >>> train = make_mixed(random_state=0)
    >>> Authenticity().fit(train).score(train)
    0.0
    """

    tags = MetricTags("privacy", greater_is_better=True, bounds=(0.0, 1.0), evidence="screen")

    def __init__(
        self,
        n_permutations: Count = 200,
        *,
        space: Space = "gower",
        columns: Columns = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_permutations = n_permutations
        self.space = space
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        if context.n_rows("train") < 2:
            return undefined("train needs two rows to have neighbours.")
        columns = column_key(context.schema, self.columns)
        common = {"space": self.space, "columns": columns}
        is_authentic, clusters = authentic(context, "synthetic", "train", **common)
        value = float(is_authentic.mean())
        variance = stats.clustered_variance(is_authentic, clusters)
        interval = stats.paired_interval(value, variance, is_authentic.size)
        details = {"standard_error": float(np.sqrt(variance))}
        if "holdout" not in context or context.n_rows("holdout") < 2:
            return Result(value, interval=interval, details=details)
        baseline = float(authentic(context, "holdout", "train", **common)[0].mean())
        details["on_holdout"] = float(
            authentic(context, "synthetic", "holdout", **common)[0].mean()
        )
        details["ratio"] = value / baseline if baseline > 0 else float("nan")
        settings = (self.space, columns, self.n_permutations, self.random_state)
        return Result(
            value,
            interval=interval,
            p_value=authenticity_test(context, *settings).p_value,
            baseline=baseline,
            details=details,
        )


def authentic(
    context: Context, query: str, reference: str, *, space: Any, columns: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Tell which rows of a role are authentic, and beside which reference row each lies.

    Two reference rows that are each other's nearest have one distance between them: they count as
    one, the first.
    """
    there, at = nearest(context, query, reference, space=space, columns=columns)
    within, towards = nearest(context, reference, reference, space=space, columns=columns)
    rows = np.arange(len(towards))
    is_mutual = towards[towards[:, 0], 0] == rows
    first = np.where(is_mutual, np.minimum(rows, towards[:, 0]), rows)
    return there[:, 0] > within[at[:, 0], 0], first[at[:, 0]]


@shared
def authenticity_test(
    context: Context, space: Any, columns: Any, n_permutations: int, seed: int
) -> Relabelled:
    """Hold authenticity in the holdout minus that in train against random relabellings."""
    found = relabelled_nearest(context, space, columns, n_permutations, seed)
    index = pool_index(context, space, columns)
    met, place = np.unique(found.rows, return_inverse=True)
    # only what lies nearer to a real row than some synthetic row that it is nearest to matters
    radius = np.full(met.size, -1.0)
    np.maximum.at(radius, place.ravel(), found.distances[..., 0].ravel())
    distances, rows = index.others(np.maximum(met, 0), LONGEST, radius)
    distances = np.pad(distances, ((0, 0), (0, 1)), constant_values=np.inf)
    place = place.reshape(found.rows.shape)

    def share(labelling: int, label: int) -> float:
        mine = found.labels[labelling] == (label == 0)
        nearest_of = place[labelling, label]
        listed = rows[nearest_of]
        is_own = (listed >= 0) & mine[listed]
        first = np.where(is_own.any(axis=1), is_own.argmax(axis=1), distances.shape[1] - 1)
        return float(
            np.mean(found.distances[labelling, label, :, 0] > distances[nearest_of, first])
        )

    return contrast_test(np.array([share(i, 1) - share(i, 0) for i in range(len(found.labels))]))
