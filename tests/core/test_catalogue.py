"""All exported metrics are found."""

from __future__ import annotations

import importlib
import pkgutil

import skeval
from skeval import Metric
from skeval.core.catalogue import METRIC_PACKAGES, metric_classes


def test_every_package_that_exports_metrics_is_named():
    modules = [
        importlib.import_module(f"skeval.{m.name}") for m in pkgutil.iter_modules(skeval.__path__)
    ]
    exporting = {
        module.__name__
        for module in modules
        for name in getattr(module, "__all__", ())
        if isinstance(kind := getattr(module, name), type) and issubclass(kind, Metric)
    }
    assert exporting <= set(METRIC_PACKAGES)


def test_metrics_are_found_by_the_names_of_their_classes():
    found = metric_classes()
    assert all(kind.__name__ == name for name, kind in found.items())
    assert {"TableStructure", "TSTR", "DCRShare", "EntityLeakage", "ByGroup"} <= set(found)
