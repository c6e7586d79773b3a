"""Minimum-distance accumulation of synthetic rows around real rows, as a resemblance."""

from __future__ import annotations

from dataclasses import replace

from skeval.core.declared import declared
from skeval.core.families import AccumulationMetric
from skeval.core.tags import COLUMN_TAGS
from skeval.results.result import Result
from skeval.utils.formatting import as_float, number, percent


@declared
class MDAResemblance(AccumulationMetric):
    r"""Area under the accumulation curve of minimum distances, right of a threshold.

    The metric computes the distance from each synthetic row to the nearest training row, and from
    each training row to the nearest synthetic row. The accumulation curve F(u) is the fraction of
    these distances that are at most u. The area under the curve is smaller if synthetic rows are
    far from all training rows, or training rows are far from all synthetic rows. Distances below
    the threshold have no effect, because they are measured by
    :class:`~skeval.privacy.MinimumDistanceAccumulation`. The score ranges from 0 (all distances are
    1) to 1 (all distances are within the threshold). Higher is better.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the sample of the synthetic data or the holdout, if one is larger.

    Raises
    ------
    InvalidParameterError
        At fit, if ``scale="max"`` and the space is not "gower".

    Warnings
    --------
    Copies of the training data score 1, so always use a privacy metric in addition. For tables with
    few columns, almost all scores are close to 1.

    See Also
    --------
    skeval.privacy.MinimumDistanceAccumulation : Area left of the threshold, for privacy.
    NNDistanceDistributions : Distributions of the distances.

    Notes
    -----
    The value is the exact integral of F right of t, where x are the distances and t is the
    threshold:

    .. math:: \frac{1}{1 - t} \int_t^1 F(u)\, du = \frac{1}{n (1 - t)} \sum_i (1 - \max(x_i, t))

    If almost all distances are below the threshold, for example for tables with few columns, the
    value is close to 1. The threshold "loo-median" is more informative then. Compare the value with
    the baseline, which is the value of the holdout rows.

    The baseline at equal sizes, the interval and the curve in ``details`` are the same as for the
    privacy metric. Copies of the training data score 1, so always use this metric together with a
    privacy metric.

    References
    ----------
    A. Pavao (2018) proposed the accumulation curve and its two areas. The definition by exact
    integrals and the choice of directions were developed for skeval.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import MDAResemblance
    >>> table = make_mixed()
    >>> MDAResemblance().fit(table).score(table)
    1.0
    """

    tags = replace(COLUMN_TAGS, display="MDADisplay", scaling="neighbours")

    area = "resemblance"

    def _summary(self, result: Result) -> str:
        right = f"right of {number(as_float(result.details['threshold']))}"
        filled = f"The accumulation curve fills {percent(result.value)} of the area {right}"
        return f"{filled}. The remainder is due to rows without a close row in the other table."
