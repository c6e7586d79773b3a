"""Every exported metric keeps the contract: a new metric is tested by being exported."""

from __future__ import annotations

import importlib
import math
import re

import pytest
from sklearn.base import clone

import skeval
from skeval import Metric
from skeval.checks.contract import CHECKS
from skeval.checks.evaluations import Evaluations
from skeval.checks.tables import default_tables
from skeval.core.catalogue import METRIC_PACKAGES, metrics_of_package
from skeval.reporting.document.sentences.finding import finding_sentences, other_question
from skeval.results.verdict import raises_alarm
from tests.metric_examples import example_of

# what skeval.core exports is composed of others
PACKAGES = [package for package in METRIC_PACKAGES if package != "skeval.core"]


def exported() -> list[Metric]:
    kinds = [kind for package in PACKAGES for kind in metrics_of_package(package).values()]
    return [example_of(kind) for kind in kinds]


# what these evaluate beside the evaluations that all checks share takes seconds a metric
SLOW = (
    "check_column_order_ignored",
    "check_context_untouched",
    "check_deterministic",
    "check_faulty_columns_are_named",
    "check_half_the_rows",
    "check_index_ignored",
    "check_memory",
    "check_missing_needs_are_named",
    "check_odd_tables",
    "check_pickles",
    "check_refit_forgets",
    "check_row_order_ignored",
    "check_score_is_the_value",
    "check_suite_agrees",
    "check_tests_exist_by_size",
)
METRICS = exported()
# one evaluation of each metric serves all tests that only look at it
SHARED = {type(metric): Evaluations(metric) for metric in METRICS}
of_each = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)


@of_each
@pytest.mark.slow
def test_contract(metric):
    for check in CHECKS:  # one test of many: to run and to report each costs more than most of them
        if check.__name__ not in SLOW:
            check(clone(metric), default_tables(metric), SHARED[type(metric)])


def at_length():
    """Yield the checks that take seconds a metric: together they are a long product."""
    for check in CHECKS:
        if check.__name__ in SLOW:
            yield pytest.param(check, marks=pytest.mark.calibration, id=check.__name__)


@pytest.mark.parametrize("check", list(at_length()))
@of_each
def test_contract_at_length(metric, check):
    check(clone(metric), default_tables(metric), SHARED[type(metric)])


@of_each
def test_what_was_found_is_said(metric):
    """Each has a sentence, which reads and never clears a release."""
    result = SHARED[type(metric)].result
    said = finding_sentences(result)
    if math.isnan(result.value):
        assert said.startswith("Not evaluated.")
        return
    assert result.summary, (
        f"write _summary(result) of {type(metric).__name__}, the sentence that reports print "
        "(CONTRIBUTING.md, step 1)"
    )
    assert re.fullmatch(r"[A-Z0-9<-].*\.", said)
    assert not re.search(r"\b(nan|private|safe)\b", said)


@pytest.mark.parametrize(
    "metric",
    [m for m in METRICS if getattr(getattr(m, "tags", None), "aspect", "") == "privacy"],
    ids=lambda m: type(m).__name__,
)
def test_what_was_tested_is_said(metric):
    """Whoever reads that a copy of train is a leak reads the number that was tested."""
    for result in SHARED[type(metric)].results_of_leaks:
        if raises_alarm(result):
            said, (observed, _) = finding_sentences(result), result.contrast.numbers_in_words
            assert observed in said
            assert other_question(result) in said


@of_each
def test_the_least_p_value_is_known_from_sizes(metric):
    """A test that cannot alarm by its sizes leaves the family: without that bound it never does."""
    result = SHARED[type(metric)].result
    if result.contrast is None or result.p_value is None:
        return
    assert result.contrast.least_p <= result.p_value + 1e-12
    if type(metric).__module__.split(".")[1] in ("text", "relational"):
        assert result.contrast.least_p > 0.0


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_sorted_and_complete(name):
    module = importlib.import_module(name)
    # as ruff sorts: names in capitals throughout come first
    assert list(module.__all__) == sorted(module.__all__, key=lambda n: (not n.isupper(), n))
    lacking = [public for public in module.__all__ if not hasattr(module, public)]
    path = f"{name.replace('.', '/')}/__init__.py"
    assert not lacking, f"import {', '.join(lacking)} in {path} (CONTRIBUTING.md, step 2)"


def test_framework_names():
    assert list(skeval.__all__) == sorted(skeval.__all__)
    assert all(hasattr(skeval, name) for name in skeval.__all__)
