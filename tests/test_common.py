"""Every exported metric keeps the contract: a new metric is tested by being exported."""

from __future__ import annotations

import importlib

import pytest

import skeval
from skeval import Metric, parametrize_with_metric_checks
from skeval.checks.contract import example_of

PACKAGES = ("diagnostic", "fidelity", "privacy", "utility")


def exported() -> list[Metric]:
    modules = [importlib.import_module(f"skeval.{name}") for name in PACKAGES]
    kinds = [getattr(module, name) for module in modules for name in module.__all__]
    return [
        example_of(kind) for kind in kinds if isinstance(kind, type) and issubclass(kind, Metric)
    ]


# what these evaluate beside the evaluations that all checks share takes seconds a metric
SLOW = (
    "check_column_order_ignored",
    "check_context_untouched",
    "check_faulty_columns_are_named",
    "check_half_the_rows",
    "check_index_ignored",
    "check_memory",
    "check_missing_needs_are_named",
    "check_odd_tables",
    "check_pickles",
    "check_refit_forgets",
    "check_row_order_ignored",
    "check_suite_agrees",
)
NAMES, CASES = parametrize_with_metric_checks(exported()).args


@pytest.mark.parametrize(
    NAMES, [c._replace(marks=[pytest.mark.slow]) if c.id.endswith(SLOW) else c for c in CASES]
)
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
