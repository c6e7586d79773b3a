"""Minimum distance accumulation: how near to each other train and synthetic rows lie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.families import AccumulationMetric
from skeval.core.tags import NEIGHBOR_TAGS
from skeval.results.result import Result
from skeval.results.verdict import Contrast
from skeval.stats.permutation_tests import least_p_value
from skeval.steps.contrasts import with_contrast
from skeval.steps.relabellings import label_test
from skeval.utils.formatting import as_float, number, percent

_N_PERMUTATIONS = 1999


@declared
class MinimumDistanceAccumulation(AccumulationMetric):
    r"""Accumulation of very near rows: 0 where no pair is within the threshold, 1 where all copy.

    For each synthetic row the distance to its nearest train row is taken, and for each train row
    that to its nearest synthetic row. The accumulation curve F(u) is the share of these distances
    that are at most u. Its area left of a threshold grows as rows come nearer to each other than
    they should: this is the privacy area of the source document. The area to the right is
    :class:`~skeval.fidelity.MDAResemblance`. A perfect table would be a step at the threshold: a
    privacy area of 0 and a resemblance of 1.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the relabellings, and of the sample of the larger of synthetic table and holdout.

    Raises
    ------
    InvalidParameterError
        At fit, if ``scale="max"`` is asked for in another space than "gower".

    Warnings
    --------
    This is a distance screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    skeval.fidelity.MDAResemblance : The area right of the threshold, a measure of fidelity.
    DCRPercentile : One percentile of the distances.
    NearDuplicateShare : Share of rows within a distance.

    Notes
    -----
    With x the distances and t the threshold, the privacy area is the integral of F left of t,
    exactly:

    .. math:: \frac{1}{t} \int_0^t F(u)\, du = \frac{1}{n t} \sum_i \max(0, t - x_i)

    ``details["privacy"]`` is one minus the value, as later versions of the source have it. No value
    is good or bad in itself: it depends on the threshold, and distances grow with the number of
    columns. Read it against the baseline, the area of the holdout in the synthetic rows' place, and
    ``details["relative_privacy"]``, the quotient of the two one-minus-areas, below 1 where
    synthetic rows are nearer than fresh ones.

    Train rows find a nearer row in a larger table. If the holdout is smaller than the synthetic
    table, ``details["at_baseline_size"]`` holds the value at the holdout's size; if it is larger,
    the baseline is that of a sample of the holdout. Only the direction "real" depends on sizes.
    ``scale="observed"`` divides the distances of both tables by the same number, the largest
    distance between train and synthetic rows.

    The p-value is one-sided and asks whether train rows lie nearer to the synthetic table than
    holdout rows do: the mean of ``max(0, t - x)`` over train is held against random choices of
    which real rows were train. All choices are equally likely if the synthetic rows do not depend
    on which of them the generator learned from. Other faults of the synthetic rows and the choice
    of `direction` do not matter. A comparison of synthetic with holdout rows would also alarm at
    tables that are merely drawn from the middle of the population.

    The interval is that of the generator: where the value lies for the synthetic tables of this
    size that it could draw, train being given. It is a jackknife over the synthetic rows, because
    many train rows have the same nearest synthetic row; for ``direction="real"`` it is wider than
    need be. It is widened if fewer than 10 rows lie within the threshold, or fewer than 10 are no
    copies. Fewer than 10 synthetic rows have no interval.

    ``details["pooled"]`` has both areas over the points of both tables together, as published: that
    differs from the mean of the directions where the tables are of unequal sizes.

    ``details["curve"]`` holds F for the synthetic rows and the holdout, at points that at least 10
    rows lie between and beyond. The areas at many thresholds describe the curve more finely.

    References
    ----------
    A. Pavao (2018) proposed the accumulation curve and its two areas; the definition by exact
    integrals, and the choice of directions, are ours.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MinimumDistanceAccumulation
    >>> table = make_mixed()
    >>> MinimumDistanceAccumulation().fit(table).score(table)
    1.0
    """

    tags = replace(NEIGHBOR_TAGS, display="MDADisplay")

    area = "privacy_area"

    def _with_evidence(self, context: Context, columns: Any, result: Result) -> Result:
        result = super()._with_evidence(context, columns, result)
        details = {**result.details, "privacy": 1.0 - result.value}
        if result.baseline is None:
            return replace(result, details=details)
        value = details.get("at_baseline_size", {"value": result.value})["value"]
        left = 1.0 - result.baseline
        details["relative_privacy"] = (1.0 - value) / left if left > 0.0 else float("nan")
        p_value, contrast = self._evidence(context, columns)
        return replace(result, p_value=p_value, contrast=contrast, details=details)

    def _evidence(self, context: Context, columns: Any) -> tuple[float, Contrast]:
        """Test whether train rows lie nearer to the synthetic table than holdout rows do."""
        distances = self._by_direction(context, "synthetic", columns)
        largest, thresholds = self._scale_of(context, distances, columns)
        to_synthetic = [
            self._distances(context, role, "synthetic", columns) for role in ("train", "holdout")
        ]
        terms = np.maximum(0.0, float(thresholds[0]) * largest - np.concatenate(to_synthetic))
        n_train = to_synthetic[0].size
        test = label_test(
            context, lambda chosen: terms @ chosen / n_train, _N_PERMUTATIONS, self.random_state
        )
        unit = float(thresholds[0]) * largest or 1.0
        near, fresh = (float(part.mean()) / unit for part in np.split(terms, [n_train]))
        what = "area filled from train rows to their nearest synthetic rows"
        least = least_p_value(n_train, terms.size - n_train, _N_PERMUTATIONS)
        return test.p_value, Contrast(what, near, fresh, "from holdout rows", least_p=least)

    def _summary(self, result: Result) -> str:
        left = f"left of {number(as_float(result.details['threshold']))}"
        filled = f"Nearest rows fill {percent(result.value)} of the area under the curve {left}"
        return with_contrast(filled, result)
