"""Minimum distance accumulation, a measure of how close training and synthetic rows are."""

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
    r"""Area under the accumulation curve of small distances between training and synthetic rows.

    The metric uses the distance of each synthetic row to its nearest training row, and of each
    training row to its nearest synthetic row. The accumulation curve F(u) is the fraction of these
    distances that are at most u. If rows are closer to each other than they should be, the area
    left of a threshold increases. The source document calls the area left of the threshold the
    privacy area. The area to the right is :class:`~skeval.fidelity.MDAResemblance`. The value is 0
    if no pair of rows is within the threshold, and 1 if all rows are copies. Lower is better. A
    perfect table has a step at the threshold, so that the privacy area is 0 and the resemblance is
    1.

    Parameters
    ----------
    random_state : int, default=0
        Seed of the relabelings, and of the sample of the larger of synthetic table and holdout.

    Raises
    ------
    InvalidParameterError
        At fit, if ``scale="max"`` is requested in another space than "gower".

    Warnings
    --------
    This is a distance-based screen. It can raise an alarm but cannot clear a release.

    See Also
    --------
    skeval.fidelity.MDAResemblance : The area above the threshold, as a measure of fidelity.
    DCRPercentile : One percentile of the distances.
    NearDuplicateShare : Fraction of synthetic rows within a distance of a training row.

    Notes
    -----
    Let x be the distances and t the threshold. The privacy area is the exact integral of F left of
    t:

    .. math:: \frac{1}{t} \int_0^t F(u)\, du = \frac{1}{n t} \sum_i \max(0, t - x_i)

    ``details["privacy"]`` is one minus the value, as in later versions of the source. The value
    depends on the threshold, and distances grow with the number of columns, so no value is good or
    bad in itself. Compare the value with the baseline, the area for holdout rows in place of the
    synthetic rows, and use ``details["relative_privacy"]``. This ratio of one minus the value to
    one minus the baseline is below 1 if synthetic rows are closer than holdout rows.

    Training rows find a closer row in a larger table. If the holdout is smaller than the synthetic
    table, ``details["at_baseline_size"]`` is the value at the size of the holdout. If the holdout
    is larger, the baseline uses a sample of the holdout. Only the direction "real" depends on
    sizes. ``scale="observed"`` divides the distances of both tables by the same number, the largest
    distance between training and synthetic rows.

    The p-value is one-sided. It tests whether training rows are closer to the synthetic table than
    holdout rows are. The mean of ``max(0, t - x)`` over the training rows is compared with random
    choices of the training rows. If the synthetic rows do not depend on which real rows were
    training rows, all choices are equally likely. Other faults of the synthetic rows and the choice
    of `direction` do not matter. A direct comparison between synthetic and holdout rows would also
    be significant for tables that are only drawn from the middle of the population.

    The interval describes the generator. The interval contains the value for synthetic tables of
    this size that the generator could draw, for the given training data. It is computed by a
    jackknife over the synthetic rows, because many training rows have the same nearest synthetic
    row. For ``direction="real"``, the interval is wider than necessary. The interval is also
    widened if fewer than 10 rows are within the threshold, or if fewer than 10 rows are not copies.
    For fewer than 10 synthetic rows, no interval is computed.

    ``details["pooled"]`` contains both areas over the points of both tables together, as published.
    If the tables have unequal sizes, the pooled areas differ from the mean of the directions.

    ``details["curve"]`` contains F for the synthetic rows and the holdout, at points with at least
    10 rows between and outside them. The areas at many thresholds describe the curve more finely.

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
        """Test whether training rows are closer to the synthetic table than holdout rows are."""
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
