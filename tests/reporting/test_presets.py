"""Every ready suite is drawn, where its tests are significant too, whatever its details are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, MetricTags, Result, SuiteResult, make_suite, report
from skeval.datasets import make_mixed, make_relational
from skeval.privacy import ShadowAttributeInference
from skeval.reporting.displays.choice import display_of
from skeval.reporting.filling import bivariate, checked, texts, univariate
from skeval.reporting.flaws import flaws
from skeval.reporting.result_sentence import finding
from skeval.suites.presets import PRESETS
from skeval.suites.relational_presets import PRESETS as RELATIONAL

N_ROWS = 60
ROLES = {"target": "member", "sensitive": "city"}
OTHER_FORMS = {"None": None, "text": "text", "dict": {"a": {"b": 1}}, "array": np.arange(4.0)}


def drawn(preset: str, tmp_path, ending: str) -> SuiteResult:
    """Report on a table that holds train rows word for word."""
    train, holdout = make_mixed(N_ROWS, random_state=0), make_mixed(N_ROWS, random_state=1)
    roles = ROLES if preset in ("report", "utility", "privacy", "attacks") else {}
    path = tmp_path / f"{preset}.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite = make_suite(preset, **roles)
        result = report(train, holdout, train, path, suite=suite, progress=False)
    assert path.stat().st_size > 1_000
    return result


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["quality", "diagnostic", "screens"])
def test_a_ready_suite_is_drawn(preset, tmp_path):
    result = drawn(preset, tmp_path, "html")
    assert not [name for name, one in result.items() if one.error]
    if preset == "screens":
        assert result.verdict().alarm


@pytest.mark.slow
def test_the_suite_of_sdmetrics_is_drawn_on_paper(tmp_path):
    assert "p_values" in drawn("quality", tmp_path, "pdf")["column_pair_trends/correlation"].details


@pytest.mark.calibration
@pytest.mark.parametrize("ending", ["html", "pdf"])
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_ready_suite_is_drawn(preset, ending, tmp_path):
    result = drawn(preset, tmp_path, ending)
    if preset in ("report", "privacy", "screens", "attacks", "syneval"):
        assert result.verdict().alarm


@pytest.mark.calibration
@pytest.mark.parametrize("preset", sorted(RELATIONAL))
def test_every_ready_suite_of_several_tables_is_drawn(preset, tmp_path):
    train, holdout = (make_relational(30, random_state=seed) for seed in range(2))
    suite = make_suite(preset, schema=train.schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = tmp_path / "a.html"
        report(train, holdout, train, path, suite=suite, progress=False)
    assert path.stat().st_size > 1_000


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["report", "quality"])
def test_a_ready_suite_without_a_holdout_is_drawn(preset, tmp_path):
    train = make_mixed(N_ROWS, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = tmp_path / "a.html"
        report(train, None, train, path, suite=make_suite(preset), progress=False)
    assert path.stat().st_size > 1_000


def test_a_significant_shadow_attack_is_reported():
    tags = ShadowAttributeInference.tags
    details = {"control": "out", "targets": [{"accuracy": 0.9}], "n_targets": 1}
    result = Result(0.4, p_value=0.001, metric="ShadowAttributeInference", tags=tags)
    result = replace(result, details=details)
    assert flaws(SuiteResult({"shadow": result})) == []


def test_p_values_of_pairs_leave_the_scores_of_columns():
    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
    details = {
        "columns": {"age": 0.6},
        "baseline_columns": {"age": 0.9},
        "p_values": np.full((2, 2), 0.5),
    }
    result = Result(0.6, metric="CorrelationSimilarity", tags=tags, details=details)
    assert [flaw.column for flaw in flaws(SuiteResult({"m": result}))] == ["age"]


def _places(details: Mapping[str, object], depth: int = 2) -> Iterator[tuple[str, ...]]:
    for key, value in details.items():
        yield (key,)
        if isinstance(value, Mapping) and depth:
            yield from [(key, *rest) for rest in _places(value, depth - 1)][:2]


def _put(details: Mapping[str, object], place: tuple[str, ...], value: object) -> dict:
    first, *rest = place
    return {**details, first: _put(details[first], tuple(rest), value) if rest else value}


def _read(result: Result) -> None:
    """Read all that a report does, but for the strokes."""
    results = SuiteResult({"m": result})
    flaws(results)
    finding(result)
    display = display_of(result)
    assert isinstance(display.frame(), pd.DataFrame)
    checked(results)
    for fill in (univariate, bivariate, texts):
        fill(results, None)


@pytest.fixture(scope="module")
def measured() -> SuiteResult:
    suite = make_suite("report", target="member", random_state=0)
    light = (
        "ks_complement",
        "similarity",
        "phik_difference",
        "reconstruction",
        "anonymeter",
        "tstr",
    )
    train, holdout = make_mixed(N_ROWS, random_state=0), make_mixed(N_ROWS, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = MetricSuite([(name, dict(suite.metrics)[name]) for name in light])
        return small.fit(train, holdout).evaluate(train)


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(OTHER_FORMS))
def test_details_of_another_form_end_no_report(measured, form):
    n_read = 0
    for result in measured.values():
        for place in _places(result.details, 1):
            _read(replace(result, details=_put(result.details, place, OTHER_FORMS[form])))
            n_read += 1
    assert n_read > 50


@pytest.mark.slow
def test_details_that_are_missing_end_no_report(measured):
    for result in measured.values():
        for key in result.details:
            _read(replace(result, details={k: v for k, v in result.details.items() if k != key}))
        _read(replace(result, details={}))
    assert type(display_of(replace(measured["tstr"], details={}))).__name__ == "ValueDisplay"
