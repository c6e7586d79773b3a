"""Find metrics by the name of their class or of their result in a preset."""

from __future__ import annotations

import inspect

from skeval.core.base import Metric
from skeval.core.catalogue import metric_classes
from skeval.suites.presets import PRESETS, disclosure, survival

_COLUMNS = ("target", "sensitive")
_MAKERS = PRESETS | {
    "survival": lambda target, sensitive: survival("duration", "event"),
    "disclosure": lambda target, sensitive: disclosure(["known"], sensitive),
}


def preset_metrics(
    target: str | None = "target", sensitive: str | None = "sensitive"
) -> dict[str, Metric]:
    """Return the metrics of all presets by the names of their results."""
    named: dict[str, Metric] = {}
    for make in _MAKERS.values():
        for name, metric in make(target, sensitive):
            named.setdefault(name, metric)
    return named


def metric_of_name(
    proper: str, target: str | None, sensitive: str | None
) -> tuple[type[Metric], Metric | None]:
    """Return the class of a metric, and the metric itself if a preset contains it by this name."""
    if (kind := metric_classes().get(proper)) is not None:
        return kind, None
    metric = preset_metrics(target, sensitive)[proper]
    return type(metric), metric


def parameters_in_preset(name: str) -> str:
    """Return the parameters of a metric of a preset that differ from the defaults of its class.

    Parameters that contain columns of the table are omitted.
    """
    metric = preset_metrics()[name]
    signature = inspect.signature(type(metric)).parameters
    defaults = {n: p.default for n, p in signature.items() if p.default is not p.empty}
    own = metric.get_params(deep=False)
    changed = {n: v for n, v in own.items() if n not in defaults or defaults[n] != v}
    return ", ".join(f"{n}={v!r}" for n, v in changed.items() if n not in _COLUMNS)
