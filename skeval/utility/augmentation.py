"""Do synthetic rows help a model that has the real ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from skeval._parameters import Interval
from skeval.base import Metric
from skeval.context import Context
from skeval.result import Result
from skeval.tags import MetricTags
from skeval.utility._results import SCORED, directed
from skeval.utility._transferred import check_scoring, transferred
from skeval.utility.models import Training

__all__ = ["AugmentationGain"]


class AugmentationGain(Metric):
    """By how much synthetic rows, added to the real ones, raise a model's score on real rows.

    A team keeps its real rows and adds synthetic ones, in the hope of a better model. 0 if they
    change nothing, which is the rule: beyond its training rows a generator knows only what its form
    assumes. Below 0, they harm.

    Parameters
    ----------
    target, scoring, estimators
        As of :class:`TSTR`.
    ratio : float, default=1.0
        Synthetic rows to add for each row of train; all, if there are fewer.
    task, pos_label, features, n_repeats, n_bootstrap, random_state
        As of :class:`TSTR`.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    The value is ``score(train + synthetic) - score(train)`` on the holdout, for losses the other
    way round, so that more is better; the baseline is 0. ``details["scaled"]`` is
    ``value / 2 + 1/2``, in [0, 1] for scores in [0, 1]. The interval is of bootstrap samples of
    holdout rows, the same for both models.

    References
    ----------
    SDMetrics, "ML augmentation" metrics, https://docs.sdv.dev/sdmetrics.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.utility import AugmentationGain
    >>> train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    >>> result = AugmentationGain("member").fit(train, holdout).evaluate(synthetic)
    >>> result.details["n_learnt"]
    {'train': 300, 'augmented': 600}
    """

    tags = MetricTags("utility", greater_is_better=True, needs=frozenset({"holdout", "target"}))
    _legal = {**SCORED, "ratio": Interval(float, 0.0, None, "neither")}

    def __init__(
        self,
        target: str,
        scoring: str = "auto",
        estimators: Any = None,
        *,
        ratio: float = 1.0,
        task: str = "auto",
        pos_label: Any = None,
        features: list[str] | int | None = None,
        n_repeats: int = 1,
        n_bootstrap: int = 1000,
        random_state: int = 0,
    ) -> None:
        self.target = target
        self.scoring = scoring
        self.estimators = estimators
        self.ratio = ratio
        self.task = task
        self.pos_label = pos_label
        self.features = features
        self.n_repeats = n_repeats
        self.n_bootstrap = n_bootstrap
        self.random_state = random_state

    def _prepare(self, context: Context) -> None:
        check_scoring(self, context)

    def _compute(self, context: Context) -> Result:
        augmented = Training("both", ratio=float(self.ratio))
        found = transferred(self, context, {"augmented": (augmented, "holdout")})
        if np.isnan(found.value):
            return found
        sign = 1.0 if directed(self.tags, found.details["scoring"]).greater_is_better else -1.0
        gain = {
            name: None if value is None else sign * value
            for name, value in found.details["difference"].items()
        }
        ends = [end for end in (gain["low"], gain["high"]) if end is not None]
        return Result(
            gain["value"] if gain["value"] is not None else float("nan"),
            interval=(min(ends), max(ends)) if ends else None,
            baseline=0.0,
            details={
                **found.details,
                "scaled": (gain["value"] or 0.0) / 2.0 + 0.5,
            },
        )
