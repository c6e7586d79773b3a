"""A synthetic table without train, on the command line."""

from __future__ import annotations

import json

import pytest

from skeval import SuiteResult
from tests.suites.test_alone import BAD, STATED


def test_the_command(folder, run):
    BAD.to_csv("bad.csv", index=False)
    (folder / "stated.json").write_text(json.dumps(STATED))
    arguments = ("--schema", "stated.json", "bad.csv")
    code, out, _ = run("evaluate", *arguments, "-o", "scores.json")
    assert code == 0
    assert "boundary_adherence" in out
    assert (
        "skipped: it compares with real rows or their statistics, and no real data were given."
        in " ".join(out.split())
    )
    assert "Privacy could not be tested: no real rows were given." in out
    assert SuiteResult.from_json("scores.json")["key_uniqueness"].value == 0.5
    gate = ("--require", "rule_adherence >= 0.99")
    assert run("evaluate", *arguments, *gate)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "To evaluate SYNTHETIC without real data, pass --schema FILE"),
        (("--schema", "stated.json", "--target", "plan"), "--target cannot be used without real"),
        (("--schema", "stated.json", "--suite", "privacy"), "--suite cannot be used without real"),
        (("--schema", "stated.json", "--timeout", "9"), "--timeout cannot be used without real"),
    ],
)
def test_the_command_says_what_it_lacks(folder, run, arguments, said):
    (folder / "stated.json").write_text(json.dumps(STATED))
    code, _, err = run("evaluate", "synthetic.csv", *arguments)
    assert code == 2
    assert said in err
