"""The packages that export metrics, and the metrics that they export."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skeval.core.base import Metric

METRIC_PACKAGES = (
    "skeval.diagnostic",
    "skeval.fidelity",
    "skeval.utility",
    "skeval.privacy",
    "skeval.relational",
    "skeval.text",
    "skeval.core",  # ByGroup, which measures any aspect
)


@cache
def metrics_of_package(package: str) -> dict[str, type[Metric]]:
    """Return the metrics that a package exports, by the names of their classes."""
    from skeval.core.base import Metric  # the command line starts without importing it

    module = import_module(package)
    # a name without its import would stop every test here; tests/test_common.py reports it
    exported = {name: getattr(module, name, None) for name in module.__all__}
    return {
        name: kind
        for name, kind in exported.items()
        if isinstance(kind, type) and issubclass(kind, Metric) and kind is not Metric
    }


def find_metric(name: str) -> type[Metric] | None:
    """Return the exported metric of this name; other metrics are not imported."""
    from skeval.core.base import Metric

    for package in map(import_module, METRIC_PACKAGES):
        if name in package.__all__:
            kind = getattr(package, name)
            return kind if isinstance(kind, type) and issubclass(kind, Metric) else None
    return None


def metric_classes() -> dict[str, type[Metric]]:
    """Return all exported metrics by the names of their classes; this imports every package."""
    found: dict[str, type[Metric]] = {}
    for package in METRIC_PACKAGES:
        found |= metrics_of_package(package)
    return found
