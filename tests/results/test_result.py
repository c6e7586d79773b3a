from __future__ import annotations

import json

import numpy as np
import pytest

from skeval import MetricTags, Result, SuiteResult
from skeval.exceptions import ConstantColumnWarning, InvalidParameterError, MetricWarning
from skeval.results.verdict import Contrast
from tests.notebook import cell_of
from tests.snapshots import raises

HIGH = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
LOW = MetricTags("fidelity", greater_is_better=False, bounds=(0, float("inf")))
BETWEEN = MetricTags("validity")


def full_result():
    return Result(
        np.float64(0.5),
        interval=(0.25, float("inf")),
        p_value=0.04,
        baseline=float("nan"),
        details={"matrix": np.array([[1.0, np.nan]]), "n": np.int64(3), "nested": {"a": (1, 2)}},
        warnings=(ConstantColumnWarning("x is constant"), MetricWarning("another")),
        metric="Example",
        tags=LOW,
        seconds=0.1,
    )


def test_value_is_a_plain_float():
    assert type(full_result().value) is float


def test_frame():
    row = full_result().frame().iloc[0]
    assert (row["metric"], row["value"], row["low"], row["high"]) == (
        "Example",
        0.5,
        0.25,
        float("inf"),
    )
    assert row["direction"] == "lower is better"


def test_json_is_strict_and_round_trips():
    text = full_result().to_json()
    content = json.loads(text, parse_constant=lambda constant: pytest.fail(f"not JSON: {constant}"))
    assert content["details"] == {"matrix": [[1.0, None]], "n": 3, "nested": {"a": [1, 2]}}
    again = Result.from_dict(content)
    assert again.to_json() == text
    assert again.interval == (0.25, float("inf"))
    assert again.baseline is None
    assert [type(warning) for warning in again.warnings] == [ConstantColumnWarning, MetricWarning]
    assert again.tags == LOW


def test_json_file_is_written_whole(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("old")
    full_result().to_json(path)
    assert json.loads(path.read_text())["value"] == 0.5
    assert list(tmp_path.iterdir()) == [path]
    broken = Result(0.0, details={"object": object()})
    with pytest.raises(TypeError):
        broken.to_json(path)
    assert json.loads(path.read_text())["value"] == 0.5


def test_repr():
    assert repr(Result(0.123456, interval=(0, 1), metric="M")) == "M 0.1235 (0 to 1)"
    assert repr(Result(float("nan"), metric="M", error="no rows")) == "M skipped: no rows"


@pytest.fixture
def two_suites():
    first = {
        "up": Result(0.5, tags=HIGH),
        "down": Result(2.0, tags=LOW),
        "mid": Result(1.0, tags=BETWEEN),
    }
    second = {
        "up": Result(0.6, tags=HIGH),
        "down": Result(3.0, tags=LOW),
        "mid": Result(2.0, tags=BETWEEN),
    }
    second["only here"] = Result(0.0, tags=HIGH)
    sizes = {"train": 10, "synthetic": 5}
    return SuiteResult(first, sizes=sizes, notices=(MetricWarning("hm"),)), SuiteResult(second)


def test_suite_result_is_a_mapping(two_suites):
    first, _ = two_suites
    assert list(first) == ["up", "down", "mid"]
    assert first["up"].value == 0.5
    assert first.frame()["metric"].tolist() == ["up", "down", "mid"]
    assert "up" in repr(first)
    assert "<table" in cell_of(first)


def test_compare_goes_by_direction(two_suites):
    frame = two_suites[0].compare(two_suites[1])
    assert frame["better"].to_dict() == {
        **{"up": "other", "down": "this", "mid": ""},
        "only here": "",
    }
    np.testing.assert_allclose(frame["difference"], [0.1, 1.0, 1.0, np.nan])


def test_compare_with_a_missing_value(two_suites):
    lost = SuiteResult({"up": Result(float("nan"), tags=HIGH)})
    frame = two_suites[0].compare(lost)
    assert frame["better"].tolist() == ["", "", ""]
    assert frame["other"].isna().all()  # rows that one side lacks are there


def test_suite_result_round_trips(two_suites, tmp_path):
    path = tmp_path / "scores.json"
    text = two_suites[0].to_json(path)
    again = SuiteResult.from_json(path)
    assert again.to_json() == text
    assert again.sizes == {"train": 10, "synthetic": 5}
    assert SuiteResult.from_json(text).to_json() == text
    with raises(InvalidParameterError):
        SuiteResult.from_json(text[:-9])


def test_foreign_files_cannot_steer_a_terminal_or_a_spreadsheet(tmp_path):
    path = tmp_path / "scores.json"
    odd = Result(0.5, metric="\x1b]0;title\x07", summary="line\x9b2J\nnext", error="\u202edesrever")
    SuiteResult({"=1+1": odd, "@x\x1b[2J": Result(0.5)}).to_json(path)
    result = SuiteResult.from_json(path)
    assert list(result) == ["'=1+1", "'@x\ufffd[2J"]
    assert result["'=1+1"].metric == "\ufffd]0;title\ufffd"
    assert result["'=1+1"].summary == "line\ufffd2J\nnext"
    assert "\u202e" not in repr(result)


@pytest.mark.parametrize(
    "text",
    ["no JSON", "[]", "[" * 100_000, '{"results": {"a": {}}}'],
    ids=["text", "list", "deep", "no results"],
)
def test_files_without_scores_are_refused(tmp_path, text):
    (tmp_path / "scores.json").write_text(text)
    with raises(InvalidParameterError):
        SuiteResult.from_json(tmp_path / "scores.json")


@pytest.mark.parametrize(
    "wrong",
    [{"details": []}, {"metric": 5}, {"interval": [1]}, {"interval": "ab"}, {"p_value": []}],
)
def test_results_of_other_types_are_refused(tmp_path, wrong):
    content = SuiteResult({"a": full_result()}).to_dict()
    content["results"]["a"] |= wrong
    (tmp_path / "scores.json").write_text(json.dumps(content))
    with raises(InvalidParameterError):
        SuiteResult.from_json(tmp_path / "scores.json")


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("contrast", {"what": ["x"]}),
        ("contrast", {"tests": 5}),
        ("contrast", {"observed": {}}),
        ("contrast", {"n_tests": "2"}),
        ("tags", {"needs": [["train"]]}),
        ("tags", {"bounds": [0.0]}),
        ("tags", {"aspect": []}),
    ],
)
def test_parts_of_other_types_are_refused(tmp_path, part, wrong):
    contrast = Contrast("copies", 0.5, 0.1, high_leaks=True)
    content = SuiteResult({"a": Result(0.5, tags=HIGH, contrast=contrast)}).to_dict()
    content["results"]["a"][part] |= wrong
    (tmp_path / "scores.json").write_text(json.dumps(content))
    with raises(InvalidParameterError):
        SuiteResult.from_json(tmp_path / "scores.json")
