"""Results in notebooks, model cards and trackers of experiments."""

from __future__ import annotations

import math
import posixpath
import re

import pytest

from skeval import MetricSuite, MetricTags, Result, SuiteResult, make_suite
from skeval.datasets import make_mixed
from skeval.fidelity import KSComplement
from skeval.reporting import Display
from skeval.reporting.displays.property_scores import PropertyDisplay
from skeval.reporting.displays.scores import ScoresDisplay
from tests.notebook import cell_of

PRIVACY = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="screen")


@pytest.fixture(scope="module")
def measured():
    train, holdout, fresh = (make_mixed(150, random_state=seed) for seed in (3, 4, 5))
    return make_suite("quality").fit(train, holdout).evaluate(fresh)


ODD = SuiteResult(
    {
        "a|b <script>*x*": Result(0.5, baseline=0.4, p_value=0.01, tags=PRIVACY, summary="A | b."),
        "../up//x": Result(1.0),
        "/x\u00fc:": Result(float("inf"), interval=(0.0, float("inf"))),
        "n" * 400: Result(2.0),
        "N" * 400: Result(3.0),
        "gone": Result(float("nan"), error="needs <holdout> rows."),
    },
    sizes={"train": 1200},
)


def is_legal(name):
    """The rules of MLflow's validate_metric_name."""
    plain = re.fullmatch(r"[/\w.\- ]+", name, re.ASCII) is not None
    path = posixpath.normpath(name)
    unique = path == name and path != "." and not path.startswith(("..", "/"))
    return plain and unique and len(name) <= 250


@pytest.mark.slow
def test_metrics_are_finite_and_their_names_legal(measured):
    for result in (measured, ODD):
        metrics = result.to_metrics(prefix="synthetic/")
        assert all(is_legal(name) for name in metrics), metrics
        assert all(type(value) is float and math.isfinite(value) for value in metrics.values())
        assert len({name.lower() for name in metrics}) == len(metrics)
    assert {1.0, 2.0, 3.0, 0.5, 0.4, 0.01} <= set(ODD.to_metrics().values())
    name = "column_shapes/ks_complement"
    assert measured.to_metrics()[name] == measured[name].value
    assert measured.to_metrics()[f"{name}.low"] == measured[name].interval[0]
    assert measured.to_metrics()["verdict.alarm"] == 0.0
    assert measured.to_metrics()["verdict.copies"] == 0.0


def test_markdown_is_a_table_whatever_the_names():
    text = ODD.to_markdown(title="Card", level=3)
    lines = text.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert lines[0] == "### Card"
    scores, tests = rows[: 2 + 4], rows[2 + 4 :]  # a table each
    assert len(tests) == 2 + 1
    for table, n_columns in ((scores, 8), (tests, 9)):
        assert {len(re.findall(r"(?<!\\)\|", row)) for row in table} == {n_columns + 1}
    assert "<script>" not in text
    assert r"gone: needs \<holdout\> rows." in text
    assert "1,200 rows of train" in text
    assert "No test" in text or "Leak" in text or "no" in text


def test_a_single_result_has_the_same_verbs(measured):
    result = measured["column_shapes/ks_complement"]
    alone = SuiteResult({"KSComplement": result})
    assert result.to_metrics(prefix="a/") == alone.to_metrics(prefix="a/")
    assert result.to_metrics()["KSComplement"] == result.value
    assert result.to_markdown(title="Card", level=3) == alone.to_markdown(title="Card", level=3)
    assert Result(0.5).to_metrics()["value"] == 0.5


def test_findings_stand_in_frames(measured):
    frame = measured.frame(findings=True)
    assert "finding" not in measured.frame()
    said = frame.set_index("metric")["finding"]["column_shapes/ks_complement"]
    assert said.startswith(measured["column_shapes/ks_complement"].summary)
    assert measured["column_shapes/ks_complement"].frame(findings=True)["finding"][0]


def test_notebooks_show_sentences_and_scales(measured):
    for page in (cell_of(measured), cell_of(measured["column_shapes/ks_complement"])):
        assert page.count("<svg") == page.count("<tr>") - 1
        assert ">high<" in page
        assert "Worst column" in page
        assert "<script" not in page
    odd = cell_of(ODD)
    assert "<script>" not in odd
    assert "needs &lt;holdout&gt; rows." in odd
    assert "left out" in cell_of(Result(float("nan"), metric="KS", error="why."))


def test_suites_show_what_their_metrics_measure():
    suite = make_suite("privacy")
    page = cell_of(suite)
    for name, metric in suite.metrics:
        assert f'<th scope="row">{name}<small>{type(metric).__name__}</small>' in page
    assert "lower is better" in page
    assert "What it measures" in cell_of(suite)


def test_displays_return_themselves(measured):
    for one in (measured, measured["column_shapes/ks_complement"]):
        display = one.plot()
        assert isinstance(display, Display)
        assert display.figure_ is display.ax_.figure
        assert cell_of(display).startswith("<img alt=")
        assert type(one.display()) is type(display)
    assert isinstance(measured.display(), ScoresDisplay)
    assert "base64" in cell_of(measured.display())  # drawn where it was not


def test_properties_as_one_frame_and_figure(measured):
    details = measured.details()
    assert set(details["property"]) == {"column_shapes", "column_pair_trends"}
    for name, own in details.groupby("property"):
        assert len(own) == len(measured.details(name)) == measured.properties().loc[name, "n_used"]
        assert len(measured.display(name).plot().ax_.get_yticks()) == len(own)
    whole = PropertyDisplay(measured)
    n_drawn = len(whole.plot().ax_.get_yticks())
    assert f"{len(details) - n_drawn} more columns not drawn" in whole.subtitle()
    assert whole.frame()["column"].str.contains("column_shapes: age").any()
    alone = MetricSuite([("ks", KSComplement())]).fit(make_mixed(30)).evaluate(make_mixed(30))
    assert alone.details().empty
