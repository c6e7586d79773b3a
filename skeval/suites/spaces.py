"""Set one space for the metrics of a suite."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from skeval.core.base import Metric


def in_space(metric: Metric, space: Any) -> Metric:
    """Return a clone of a metric that uses a space, including the metrics inside it."""
    # None keeps the space of each metric. A metric without a space is not changed.
    own: Metric = clone(metric)
    if space is None:
        return own
    _set_space(own, space)
    return own


def _set_space(metric: Metric, space: Any) -> None:
    parameters = metric.get_params(deep=False)
    if "space" in parameters:
        is_default = isinstance(space, str) and space == "gower"
        metric.set_params(space=space, **({} if is_default else metric.in_other_spaces))
    for held in parameters.values():
        if isinstance(held, Metric):
            _set_space(held, space)
