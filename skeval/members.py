"""The metrics of a suite: cloned into one space, and drawn side by side."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from skeval.base import Metric


def in_space(metric: Metric, space: Any) -> Metric:
    """Return a clone of a metric that measures in a space, as do the metrics that it holds.

    None leaves each metric its own; a metric that knows no space stays as it is.

    Examples
    --------
    >>> from skeval.members import in_space
    >>> from skeval.privacy import DCRShare
    >>> in_space(DCRShare(), "euclidean").space
    'euclidean'
    """
    own: Metric = clone(metric)
    if space is None:
        return own
    _put(own, space)
    return own


def _put(metric: Metric, space: Any) -> None:
    parameters = metric.get_params(deep=False)
    if "space" in parameters:
        is_default = isinstance(space, str) and space == "gower"
        metric.set_params(space=space, **({} if is_default else metric.in_other_spaces))
    for held in parameters.values():
        if isinstance(held, Metric):
            _put(held, space)


class Block:
    """Metrics side by side, as scikit-learn's diagram reads them: its own class is private."""

    kind = "parallel"
    name_caption = None
    doc_link_label = None
    dash_wrapped = True

    def __init__(self, metrics: list[tuple[str, Metric]]) -> None:
        self.names = [name for name, _ in metrics]
        self.estimators = [metric for _, metric in metrics]
        self.name_details = [str(metric) for metric in self.estimators]

    def _sk_visual_block_(self) -> Block:
        return self
