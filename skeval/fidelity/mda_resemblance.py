"""How closely synthetic rows accumulate around real rows, compared with other real rows."""

from __future__ import annotations

from dataclasses import replace

from skeval.core.declared import declared
from skeval.core.families import AccumulationMetric
from skeval.core.tags import COLUMN_TAGS
from skeval.results.result import Result
from skeval.utils.formatting import as_float, number, percent


@declared
class MDAResemblance(AccumulationMetric):
    r"""Reach of the rows for each other: 1 if all find one within the threshold, 0 if none does.

    For each synthetic row the distance to its nearest train row is taken, and for each train row
    that to its nearest synthetic row. The accumulation curve F(u) is the share of these distances
    that are at most u. Its area right of a threshold is the larger, the sooner all rows have found
    another: synthetic rows that are like none of train, and train rows that no synthetic row is
    like, make it smaller. How near rows are within the threshold does not matter here; that is
    :class:`~skeval.privacy.MinimumDistanceAccumulation`.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the sample of the larger of synthetic table and holdout.

    Raises
    ------
    InvalidParameterError
        At fit, if ``scale="max"`` is asked for in another space than "gower".

    See Also
    --------
    skeval.privacy.MinimumDistanceAccumulation : The area left of the threshold, for privacy.
    NNDistanceDistributions : The distributions of the distances.

    Notes
    -----
    With x the distances and t the threshold, the value is the integral of F right of t, exactly:

    .. math:: \frac{1}{1 - t} \int_t^1 F(u)\, du = \frac{1}{n (1 - t)} \sum_i (1 - \max(x_i, t))

    It is near 1 wherever hardly any distance exceeds the threshold, as in tables of few columns:
    "loo-median" then says more. Read it against the baseline, which is the value of holdout rows.

    The baseline at equal sizes, the interval and the curve in ``details`` are as for the metric of
    privacy. A table of copies has the value 1: never read it without a metric of privacy.

    References
    ----------
    A. Pavao (2018) proposed the accumulation curve and its two areas; the definition by exact
    integrals, and the choice of directions, are ours.

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
        filled = f"Nearest rows fill {percent(result.value)} of the area {right}"
        return f"{filled}: the rest is of rows that find none so near."
