"""Releases on the command line: files in their order, or a folder in that of the dates."""

from __future__ import annotations

import json

import pytest

from skeval import MetricTags, Result, SuiteResult, make_suite
from skeval.datasets import make_mixed

TAGS = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1), quoted="relations")


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "releases").mkdir()
    names = []
    for i, value in enumerate((0.9, 0.91, 0.6), start=1):
        result = SuiteResult({"relations": Result(value, (value - 0.02, value + 0.02), tags=TAGS)})
        result.to_json(name := f"v{i}.json")
        names.append(name)
    return names


def test_a_fall_is_printed_with_a_word(run, saved):
    code, out, err = run("history", *saved)
    assert code == 0
    row = next(line for line in out.splitlines() if line.strip().startswith("relations"))
    assert row.split() == ["relations", "0.900", "0.910", "0.600", "worse", "v3"]
    assert "cannot be told" in next(line for line in out.splitlines() if "privacy" in line)
    assert "relations 0.910 in v2, 0.600 in v3" in " ".join(err.split())


@pytest.mark.parametrize("ending", ["html", "pdf", "png", "json"])
def test_it_is_written(run, saved, tmp_path, ending):
    assert run("history", *saved, "-o", f"h.{ending}")[0] == 0
    assert (tmp_path / f"h.{ending}").stat().st_size > 500


@pytest.mark.slow
def test_a_folder_is_in_the_order_of_its_dates(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all").mkdir()
    train, holdout, one, two = (make_mixed(80, random_state=seed) for seed in range(4))
    suite = make_suite("fidelity").fit(train, holdout)
    suite.evaluate(one, date="2026-02-01").to_json("all/a.json")
    suite.evaluate(two, date="2026-01-01").to_json("all/b.json")
    assert run("history", "all", "-o", "h.json")[0] == 0
    assert [row["release"] for row in json.loads((tmp_path / "h.json").read_text())["numbers"]][
        :2
    ] == ["b", "a"]
    refused = run("history", "all", "-o", "all/h.json")[2]
    assert "lies in the input all" in " ".join(refused.split())
    assert "b to a" in run("history", "all/a.json", "all/b.json", "--by-date")[2]
    assert "a to b" in run("history", "all/a.json", "all/b.json")[2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["v1.json"], "scores of two releases or more, or a folder of them, got 1"),
        (["releases"], "got 0"),
        (["v1.json", "v1.json"], "twice"),
        (["v1.json", "v2.json", "-o", "h.txt"], ".png"),
        (["v1.json", "v2.json", "-o", "v1.json"], "is the input"),
        (["v1.json", "v2.json", "--metrics", "relation"], "Did you mean"),
        (["v1.json", "v2.json", "--level", "2"], "level must be between 0 and 1"),
    ],
)
def test_bad_input_ends_in_one_sentence(run, saved, arguments, said):
    code, _, err = run("history", *arguments)
    assert code == 2
    assert said in " ".join(err.split())
