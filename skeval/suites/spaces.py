"""The metrics of a suite in one space."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from skeval.core.base import Metric


def in_space(metric: Metric, space: Any) -> Metric:
    """Return a clone of a metric that measures in a space, as do the metrics that it holds."""
    # None leaves each metric its own; a metric that knows no space stays as it is.
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
