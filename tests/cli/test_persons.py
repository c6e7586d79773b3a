"""Columns that others know, whole populations and survival, as named on the command line."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from skeval import SuiteResult

TWO, THREE = ("train.csv", "synthetic.csv"), ("train.csv", "holdout.csv", "synthetic.csv")
WHOLE = 'population = "whole"\nindirect_identifiers = ["age", "city"]\n'


@pytest.mark.slow
def test_known_columns_give_identity_disclosure(folder, run):
    asked = ("--metrics", "identity_disclosure", "-o", "s.json")
    assert run("evaluate", *THREE, *asked, "--known", "age,city")[0] == 0
    by_option = SuiteResult.from_json("s.json")["identity_disclosure"]
    (folder / "release.toml").write_text('indirect_identifiers = ["age", "city"]\n')
    assert run("evaluate", *THREE, *asked, "--release", "release.toml")[0] == 0
    assert SuiteResult.from_json("s.json")["identity_disclosure"].value == by_option.value


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--metrics", "identity_disclosure"), "needs --known COLUMN."),
        (("--known", "age,nothing"), "--known COLUMNS"),
        (("--metrics", "SurvivalTSTR", "--duration", "age"), "needs --event COLUMN."),
        (("--duration", "age"), "--duration COLUMN, --event COLUMN"),
        (("--suite", "survival"), "--duration COLUMN, --event COLUMN"),
    ],
)
def test_one_sentence_for_what_is_lacking(folder, run, options, said):
    code, out, err = run("evaluate", *THREE, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_the_threshold_of_agencies_in_a_release_file(folder, run):
    rule = '[thresholds]\nfail_on = []\nrequire = ["identity_disclosure <= {}"]\n'
    for most, code in ((0.09, 1), (0.99, 0)):
        (folder / "release.toml").write_text(WHOLE + rule.format(most))
        asked = ("--metrics", "identity_disclosure", "--release", "release.toml")
        ended, _, err = run("evaluate", *TWO, *asked)
        assert ended == code, err
        held = "holds" if code == 0 else "violated"
        assert f"policy {held}: identity_disclosure <= {most}" in err


@pytest.mark.slow
def test_whole_populations(folder, run):
    (folder / "release.toml").write_text(WHOLE)
    asked = ("--suite", "privacy", "--release", "release.toml", "-o", "s.json")
    code, out, _ = run("evaluate", *TWO, *asked)
    assert code == 0
    said = " ".join(out.split())
    assert re.search(
        r"membership.* skipped: infers who is in the training data, which is known", said
    )
    assert not SuiteResult.from_json("s.json")["identity_disclosure"].error


@pytest.fixture
def patients(folder):
    """Add days until an event to the tables."""
    for seed, name in enumerate(THREE):
        rng, table = np.random.default_rng(seed), pd.read_csv(name)
        table = table[["age", "plan"]].assign(
            days=rng.exponential(100.0, len(table)), died=rng.random(len(table)) < 0.6
        )
        table.to_csv(name, index=False)
    return folder


@pytest.mark.slow
def test_survival(patients, run):
    columns = ("--duration", "days", "--event", "died")
    assert run("evaluate", *THREE, "--suite", "survival", *columns, "-o", "s.json")[0] == 0
    found = SuiteResult.from_json("s.json")
    assert all(not one.error for one in found.values())
    assert run("evaluate", *THREE, "--metrics", "survival_tstr", *columns, "-o", "t.json")[0] == 0
    assert SuiteResult.from_json("t.json")["survival_tstr"].value == found["survival_tstr"].value
    asked = ("-o", "r.html", "--suite", "survival", *columns)
    assert run("report", *THREE, *asked)[0] == 0
    assert "Survival curve distance" in (patients / "r.html").read_text(encoding="utf-8")


def test_competing_risks_end_in_a_sentence(patients, run):
    table = pd.read_csv("train.csv").assign(died=lambda rows: np.arange(len(rows)) % 3)
    table.to_csv("train.csv", index=False)
    asked = ("--suite", "survival", "--duration", "days", "--event", "died")
    code, out, err = run("evaluate", *THREE, *asked)
    assert code == 1
    assert "no metric was evaluated" in err
    assert "died has 3 values. Competing risks are not supported." in " ".join(out.split())
