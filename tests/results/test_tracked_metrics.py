"""Results as flat numbers for trackers of experiments."""

from __future__ import annotations

import math
import posixpath
import re

from skeval import MetricTags, Result, SuiteResult

PRIVACY = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")
ODD = SuiteResult(
    {
        "a|b <script>*x*": Result(0.5, baseline=0.4, p_value=0.01, tags=PRIVACY),
        "../up//x": Result(1.0),
        "/xü:": Result(float("inf"), interval=(0.0, float("inf"))),
        "n" * 400: Result(2.0),
        "N" * 400: Result(3.0),
        "gone": Result(float("nan"), error="needs <holdout> rows."),
    }
)


def is_legal(name: str) -> bool:
    """The rules of MLflow's validate_metric_name."""
    plain = re.fullmatch(r"[/\w.\- ]+", name, re.ASCII) is not None
    path = posixpath.normpath(name)
    unique = path == name and path != "." and not path.startswith(("..", "/"))
    return plain and unique and len(name) <= 250


def test_numbers_are_finite_and_their_names_legal() -> None:
    metrics = ODD.to_metrics(prefix="synthetic/")
    assert all(is_legal(name) for name in metrics), metrics
    assert all(type(value) is float and math.isfinite(value) for value in metrics.values())
    assert len({name.lower() for name in metrics}) == len(metrics)
    assert {1.0, 2.0, 3.0, 0.5, 0.4, 0.01} <= set(metrics.values())


def test_each_number_has_the_name_of_its_field() -> None:
    result = Result(0.5, baseline=0.4, interval=(0.3, 0.6), difference=(0.0, 0.2))
    metrics = SuiteResult({"a/b": result}).to_metrics()
    assert metrics == {
        **{"a/b": 0.5, "a/b.baseline": 0.4, "a/b.low": 0.3, "a/b.high": 0.6},
        **{"a/b.diff_low": 0.0, "a/b.diff_high": 0.2},
        **{"verdict.alarm": 0.0, "verdict.copies": 0.0},
        **{"verdict.n_tests": 0.0, "verdict.n_facts": 0.0},
    }


def test_one_result_is_a_suite_of_its_own() -> None:
    result = Result(0.5, metric="KSComplement")
    alone = SuiteResult({"KSComplement": result})
    assert result.to_metrics(prefix="a/") == alone.to_metrics(prefix="a/")
    assert Result(0.5).to_metrics()["value"] == 0.5
