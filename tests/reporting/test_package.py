"""Imports stay light, findings are careful."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import skeval
import skeval.reporting
from skeval import MetricTags, Result, SuiteResult, make_suite
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.reporting.result_sentence import evidence, finding
from tests.snapshots import warns


@pytest.mark.slow
def test_importing_is_light() -> None:
    code = (
        "import sys, skeval.reporting; "
        "heavy = {'matplotlib', 'seaborn', 'pypdf', 'jinja2', 'typst'} & set(sys.modules); "
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_all_names_are_there_and_documented() -> None:
    for name in skeval.reporting.__all__:
        assert getattr(skeval.reporting, name).__doc__


@pytest.mark.parametrize(
    ("p_value", "alarm", "words"),
    [
        (0.01, None, "Leak found."),
        (0.2, None, "No leak found by this test."),
        (0.01, False, "No leak found by this test."),
        (None, None, ""),
    ],
)
def test_findings_speak_of_leaks(p_value: float | None, alarm: bool | None, words: str) -> None:
    tags = MetricTags("privacy", greater_is_better=True, bounds=(0, 1), evidence="screen")
    result = Result(0.15, p_value=p_value, baseline=0.95, tags=tags)
    assert finding(result, alarm) == words
    assert "leak found" not in finding(result, alarm, shifted=True).lower()
    assert evidence(result) == "distance screen"


def test_findings_name_the_worst(suite_result: SuiteResult) -> None:
    for name, result in suite_result.items():
        assert finding(result), name
        assert not {"private", "safe"} & set(finding(result).lower().split())
    worst = suite_result["ks_complement"].details["worst"]["column"]
    assert f"Worst column: {worst}" in finding(suite_result["ks_complement"])


def test_a_classifier_that_is_fooled_by_copies_is_no_praise() -> None:
    def actual(value: float, below: float) -> Result:
        tags = MetricTags("fidelity", greater_is_better=False, bounds=(0, 1))
        details = {"split": {"p_value_below": below}}
        kind = "ClassifierTwoSampleTest"
        return Result(value, baseline=0.5, details=details, metric=kind, tags=tags)

    said = finding(actual(0.18, 1e-9))
    assert "As good as fresh" not in said
    assert said.endswith("a sign of copies of train, not of fidelity.")
    assert finding(actual(0.48, 0.01)) == "Fresh real rows score 0.500."
    assert finding(actual(0.7, 1.0)) == "Fresh real rows score 0.500."
    again = SuiteResult.from_dict(SuiteResult({"c2st": actual(0.18, 1e-9)}).to_dict())["c2st"]
    assert finding(again) == said


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (None, "Fresh real rows score 0.900."),
        (
            (-0.02, 0.04),
            "As good as fresh real rows, within chance: the difference is "
            "\N{MINUS SIGN}0.0200 to 0.0400 (95%).",
        ),
        ((-0.4, -0.2), "Fresh real rows are better by 0.300 (0.200 to 0.400)."),
        (
            (0.2, 0.4),
            "Closer to train than fresh real rows are, by 0.300 (0.200 to 0.400): a sign of "
            "memorising.",
        ),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_words_go_by_the_interval_of_the_difference(
    difference: tuple[float, float] | None, words: str, sign: int
) -> None:
    tags = MetricTags("fidelity", greater_is_better=sign > 0, bounds=(0, 2))
    ends = None if difference is None else tuple(sorted(sign * end for end in difference))
    said = finding(Result(1.0, baseline=0.9, difference=ends, tags=tags))
    if difference == (-0.02, 0.04) and sign < 0:  # the difference has the sign of the metric
        words = words.replace("\N{MINUS SIGN}0.0200 to 0.0400", "\N{MINUS SIGN}0.0400 to 0.0200")
    assert said == words


@pytest.mark.slow
def test_a_copy_of_train_is_never_as_good_as_fresh_rows(tables: list[pd.DataFrame]) -> None:
    train, holdout, _ = tables
    result = make_suite("fidelity").fit(train, holdout).evaluate(train)
    for name in ("ks_complement", "tv_complement", "similarity"):
        assert "a sign of memorising" in finding(result[name]), name
        assert "As good as" not in finding(result[name]), name


def test_copies_of_train_do_not_read_as_fresh_rows(tables: list[pd.DataFrame]) -> None:
    from skeval.fidelity import ClassifierTwoSampleTest

    train, holdout, _ = tables
    with warns(MetricWarning):
        result = ClassifierTwoSampleTest().fit(train, holdout).evaluate(train)
    assert "As good as fresh" not in finding(result)
    assert "copies of train" in finding(result)


def test_undefined_values_say_why() -> None:
    result = Result(float("nan"), warnings=(DegenerateInputWarning("one row only."),))
    assert finding(result) == "Not defined here: one row only."


def test_files_of_pages_are_in_the_wheel() -> None:
    root = Path(skeval.__file__).parent  # that of the wheel where it is installed
    project = Path(__file__).parents[2] / "pyproject.toml"
    globs = tomllib.loads(project.read_text(encoding="utf-8"))
    given = globs["tool"]["setuptools"]["package-data"]["skeval"]
    packed = {path for pattern in given for path in root.glob(pattern)}
    beside = {p for p in root.rglob("*.*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    kept = {path for path in beside if "__pycache__" not in path.parts}
    assert len(kept) == 12
    assert kept <= packed
