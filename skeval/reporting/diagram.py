"""The diagram of a suite in a notebook: its metrics beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

__all__ = ["parallel_block"]

# scikit-learn keeps the class to itself, and has moved it
_HOMES = ("sklearn.utils._repr_html.estimator", "sklearn.utils._estimator_html_repr")


def parallel_block(metrics: Sequence[tuple[str, Any]]) -> Any:
    """Return what scikit-learn's diagram draws as estimators beside each other.

    Parameters
    ----------
    metrics : list of (str, Metric)
        Names and metrics.

    Returns
    -------
    object
        scikit-learn's own block, or a plain one with the same fields if it has moved once more.

    Examples
    --------
    >>> from skeval.fidelity import KSComplement
    >>> from skeval.reporting.diagram import parallel_block
    >>> parallel_block([("ks", KSComplement())]).kind
    'parallel'
    """
    names = [name for name, _ in metrics]
    estimators = [metric for _, metric in metrics]
    return _block_class()(
        "parallel", estimators, names=names, name_details=[str(e) for e in estimators]
    )


def _block_class() -> Any:
    for home in _HOMES:
        try:
            return import_module(home)._VisualBlock
        except (ImportError, AttributeError):
            continue
    return PlainBlock


class PlainBlock:
    """The fields that scikit-learn's diagram reads of a block.

    Parameters
    ----------
    kind : {"parallel", "serial", "single"}
        How the estimators stand.
    estimators : list of estimators
        What is drawn.
    names : list of str
        Their names.
    name_details : list of str
        What is shown when a name is opened.
    """

    name_caption = None
    doc_link_label = None
    dash_wrapped = True

    def __init__(
        self, kind: str, estimators: list[Any], *, names: list[str], name_details: list[str]
    ) -> None:
        self.kind = kind
        self.estimators = estimators
        self.names = names
        self.name_details = name_details

    def _sk_visual_block_(self) -> PlainBlock:
        return self
