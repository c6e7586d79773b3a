"""The metric that the guide shows is what the page says: at most 25 lines, sound, and at home in a suite."""

from __future__ import annotations

import importlib.util
import re
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from pypdf import PdfReader

from skeval import Metric, MetricSuite, Result, check_metric, make_suite
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement

PAGE = Path(__file__).parents[1] / "docs" / "user_guide" / "own_metric.rst"
BLOCKS = [
    textwrap.dedent(block)
    for block in re.findall(
        r"code-block:: python\n\n((?:(?:   .*)?\n)+)", PAGE.read_text(encoding="utf-8")
    )
]


@pytest.fixture(scope="module")
def example():
    return [
        next(block for block in BLOCKS if f"class {name}" in block)
        for name in ("TailGap", "TailBars", "RepeatedValueShare")
    ]


@pytest.fixture(scope="module")
def metric(example, tmp_path_factory):
    """Import the example as a module, so that its metric pickles."""
    path = tmp_path_factory.mktemp("page") / "own_metric_example.py"
    path.write_text("\n".join(example))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    yield module.TailGap
    del sys.modules[path.stem]


def screen(metric):
    return sys.modules[metric.__module__].RepeatedValueShare


def test_a_screen_of_twelve_lines_has_a_verdict(example, metric):
    body = example[2].partition("needs=")[2].strip().splitlines()
    assert len([line for line in body if line.strip()]) <= 12
    train, holdout, synthetic = (make_mixed(200, random_state=seed) for seed in range(3))
    suite = make_suite([screen(metric)()]).fit(train, holdout)
    found = suite.evaluate(train).verdict()
    assert found.outcome == "leak found"
    assert found.alarms == ("repeated_value_share",)
    assert suite.evaluate(synthetic).verdict().n_tests == 1


def test_a_screen_without_a_test_is_told_what_to_return(metric):
    class Silent(screen(metric)):
        def _compute(self, context):
            return Result(0.56, details={"train": 0.56, "holdout": 0.0})

    train, holdout, synthetic = (make_mixed(60, random_state=seed) for seed in range(3))
    found = make_suite([Silent()]).fit(train, holdout).evaluate(synthetic).verdict()
    assert found.n_tests == 0
    assert "silent" in found.sentence
    assert "p_value=" in found.sentence
    assert "contrast=" in found.sentence


@pytest.mark.slow
def test_the_screen_keeps_the_contract(metric):
    assert {record["status"] for record in check_metric(screen(metric)())} == {"passed"}


def test_at_most_25_lines(example):
    assert len(example[0].strip().splitlines()) <= 25


@pytest.mark.calibration
def test_keeps_the_contract(metric):
    assert issubclass(metric, Metric)
    assert {record["status"] for record in check_metric(metric())} == {"passed"}


def test_runs_in_a_suite(metric):
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    suite = MetricSuite([("tail", metric(q=0.5)), ("ks", KSComplement())]).fit(train, holdout)
    result = suite.evaluate(synthetic)["tail"]
    limit = train["age"].quantile(0.5)
    expected = abs(np.mean(train["age"] > limit) - np.mean(synthetic["age"] > limit))
    assert result.value == pytest.approx(expected)
    assert result.baseline is not None


@pytest.mark.slow
def test_its_sentence_and_its_figure_are_in_the_report(metric, tmp_path):
    train, holdout, synthetic = (make_mixed(300, random_state=seed) for seed in range(3))
    result = MetricSuite([("tail", metric())]).fit(train, holdout).evaluate(synthetic)
    sentence = f"The share of high values differs by {result['tail'].value:.1%}."
    assert result["tail"].summary == sentence
    assert list(result["tail"].display().frame()["rows"]) == ["train", "synthetic"]
    text = "".join(
        page.extract_text() for page in PdfReader(result.to_pdf(tmp_path / "r.pdf")).pages
    )
    assert sentence in " ".join(text.split())
    assert "Appendix" in text  # where the figures of custom displays are
    page = result.to_html(tmp_path / "r.html").read_text(encoding="utf-8")
    assert sentence in page
