"""Several releases on the command line: a table, one page, a gate on all together."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from skeval.datasets import make_mixed

ASKED = ("--metrics", "exact_matches,identity_disclosure", "--known", "age,city")


@pytest.fixture
def given(folder):
    """Add three releases, each with few copies of train rows."""
    train = pd.read_csv("train.csv")
    for i in range(3):
        fresh = make_mixed(120, random_state=10 + i)
        copied = train.sample(3, random_state=i)
        pd.concat([fresh[3:], copied]).to_csv(f"r{i}.csv", index=False)
    return ("releases", "train.csv", "holdout.csv", "r0.csv", "r1.csv", "r2.csv")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["html", "pdf", "csv", "json"])
def test_one_page(given, run, ending):
    page = f"page.{ending}"
    code, out, err = run(*given, *ASKED, "--epsilons", "1,1,0.5", "-o", page)
    assert code == 0
    assert "exact_matches" in out
    assert "together" in out
    assert "3 releases together: " in err
    assert "Their claims add up to epsilon 2.50." in err
    with open(page, "rb") as file:
        assert len(file.read()) > 100
    if ending == "html":
        with open(page, encoding="utf-8") as file:
            assert "All releases together" in file.read()


@pytest.mark.slow
def test_hashes_of_real_rows_are_left_out_where_they_are_not_wanted(given, run):
    numbers = []
    for options in ((), ("--no-hashes",)):
        assert run(*given, *ASKED, *options, "--date", "2026-01-02", "-o", "page.html")[0] == 0
        with open("page.html", encoding="utf-8") as file:
            page = file.read()
        assert "2026-01-02" in page
        assert "train.csv" in page
        numbers.append(len(set(re.findall(r"[0-9a-f]{64}", page))))
    assert numbers[1] == 1 < numbers[0]  # that of the release stays


@pytest.mark.slow
def test_a_gate_holds_all_together(given, run):
    assert run(*given, *ASKED, "--fail-on", "leak")[0] == 1
    fresh = [f"f{i}.csv" for i in range(2)]
    for i, name in enumerate(fresh):
        make_mixed(120, random_state=20 + i).to_csv(name, index=False)
    assert run(*given[:3], *fresh, *ASKED, "--fail-on", "leak")[0] == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda given: given[:4], "expected four files or more"),
        (lambda given: (*given[:5], "."), "releases are of one table each"),
        (lambda given: (*given[:5], given[4]), "the same synthetic table twice"),
        (lambda given: (*given, "--epsilons", "1,x,2"), "--epsilons needs 3 numbers"),
        (lambda given: (*given, "--epsilons", "1,2"), "--epsilons needs 3 numbers"),
        (lambda given: (*given, "--epsilons", "1,2,-1"), "at least 0"),
        (lambda given: (*given, "-o", "r0.csv"), "which it would destroy"),
    ],
)
def test_one_sentence_for_bad_input(given, run, change, said):
    code, out, err = run(*change(given), *ASKED)
    assert (code, out) == (2, "")
    assert said in err
