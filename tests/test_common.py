"""Every exported metric keeps the contract: a new metric is tested by being exported."""

from __future__ import annotations

import importlib

import pytest

import skeval
from skeval import Metric, parametrize_with_metric_checks
from skeval.checks.tables import example_of

PACKAGES = ("diagnostic", "fidelity", "privacy", "utility")


def exported() -> list[Metric]:
    modules = [importlib.import_module(f"skeval.{name}") for name in PACKAGES]
    kinds = [getattr(module, name) for module in modules for name in module.__all__]
    return [
        example_of(kind) for kind in kinds if isinstance(kind, type) and issubclass(kind, Metric)
    ]


@parametrize_with_metric_checks(exported())
def test_contract(metric, check):
    check(metric)


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_sorted_and_complete(name):
    module = importlib.import_module(f"skeval.{name}")
    # as ruff sorts: names in capitals throughout come first
    assert list(module.__all__) == sorted(module.__all__, key=lambda n: (not n.isupper(), n))
    assert all(hasattr(module, public) for public in module.__all__)


def test_framework_names():
    assert list(skeval.__all__) == sorted(skeval.__all__)
    assert all(hasattr(skeval, name) for name in skeval.__all__)
