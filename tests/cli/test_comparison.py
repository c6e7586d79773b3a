"""Scores of several tables on the command line, and candidates in one report."""

from __future__ import annotations

import pytest

from skeval import MetricSuite, MetricTags, Result, SuiteResult
from skeval.datasets import make_mixed
from skeval.fidelity import TVComplement
from skeval.privacy import ExactMatchShare


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tables = [make_mixed(150, random_state=seed) for seed in range(4)]
    suite = MetricSuite([("tv", TVComplement()), ("matches", ExactMatchShare())])
    suite.fit(*tables[:2])
    names = ("a.json", "b.json", "copies.json")
    for name, table in zip(names, [*tables[2:], tables[0]], strict=True):
        suite.evaluate(table).to_json(name)
    return names


@pytest.mark.slow
def test_any_number_of_scores_are_compared(run, saved):
    code, out, err = run("compare", *saved, "-o", "c.html")
    assert code == 0
    assert "a, b" in next(line for line in out.splitlines() if "matches" in line)
    assert err.startswith("Do not choose copies, because a leak was found.")
    assert run("compare", *saved, "-o", "c.json")[0] == 0
    assert run("compare", *saved, "-o", "c.pdf")[0] == 0
    assert run("render", "c.json", "-o", "again.html")[0] == 0
    with open("c.html", encoding="utf-8") as page, open("again.html", encoding="utf-8") as again:
        assert page.read() == again.read()


def test_a_fall_since_the_release_before_is_printed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
    for i, value in enumerate((0.9, 0.91, 0.6), start=1):
        result = Result(value, (value - 0.02, value + 0.02), tags=tags)
        SuiteResult({"relations": result}).to_json(f"v{i}.json")
    code, _, err = run("compare", "v1.json", "v2.json", "v3.json")
    assert code == 0
    assert "relations (from 0.91 in v2 to 0.60 in v3)" in err
    assert "v1 to" not in err
    assert "from 0.9" not in run("compare", "v1.json", "v2.json")[2]


@pytest.mark.slow
def test_one_table_or_one_name_twice_is_refused(run, saved):
    assert "two tables or more" in run("compare", saved[0])[2]
    assert "the same synthetic table twice" in run("compare", saved[0], saved[0])[2]


@pytest.mark.slow
def test_a_row_that_one_file_lacks_is_named(run, saved):
    train, synthetic = make_mixed(150, random_state=0), make_mixed(150, random_state=2)
    MetricSuite([("tv", TVComplement())]).fit(train).evaluate(synthetic).to_json("few.json")
    code, out, _ = run("compare", "a.json", "few.json")
    assert code == 0
    assert "not in few" in " ".join(out.split())


@pytest.mark.slow
def test_four_files_are_candidates_of_one_report(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("train", "holdout", "one", "other")
    for seed, name in enumerate(names):
        make_mixed(80, random_state=seed).to_csv(f"{name}.csv", index=False)
    code, _, err = run("report", *(f"{name}.csv" for name in names), "-o", "r.html")
    assert code == 0
    assert "one" in err
    assert "other" in err
