"""Packages that export metrics, and their metrics."""

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
    "skeval.core",  # exports ByGroup, which applies to any aspect
)


@cache
def metrics_of_package(package: str) -> dict[str, type[Metric]]:
    """Return the metrics that a package exports, by class name."""
    from skeval.core.base import Metric  # imported here, so that the command line starts faster

    module = import_module(package)
    # skip a name without an import, because an error here would stop all tests;
    # tests/test_common.py reports it
    exported = {name: getattr(module, name, None) for name in module.__all__}
    return {
        name: kind
        for name, kind in exported.items()
        if isinstance(kind, type) and issubclass(kind, Metric) and kind is not Metric
    }


def find_metric(name: str) -> type[Metric] | None:
    """Return the exported metric of this name, without importing other metrics."""
    from skeval.core.base import Metric

    for package in map(import_module, METRIC_PACKAGES):
        if name in package.__all__:
            kind = getattr(package, name)
            return kind if isinstance(kind, type) and issubclass(kind, Metric) else None
    return None


def metric_classes() -> dict[str, type[Metric]]:
    """Return all exported metrics by class name. This imports every package."""
    found: dict[str, type[Metric]] = {}
    for package in METRIC_PACKAGES:
        found |= metrics_of_package(package)
    return found
