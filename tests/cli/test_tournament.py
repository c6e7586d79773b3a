"""The command that says which generator to take."""

import json

import pytest

CONFIG = """
metrics = "ks_complement,exact_matches"
cv = 2
by = "ks_complement"

[generators.shuffled]
class = "skeval.generators.IndependentMarginals"

[generators.copies]
class = "skeval.generators.Bootstrap"
"""


@pytest.mark.slow
def test_it_says_whom_to_take_and_keeps_results(folder, run):
    (folder / "t.toml").write_text(CONFIG, encoding="utf-8")
    arguments = ("tournament", "train.csv", "--config", "t.toml", "--folder", "kept")
    code, out, err = run(*arguments, "-o", "t.json")
    assert code == 0
    assert "shuffled" in out
    assert "copies" in err.partition("Not ")[2]
    assert json.loads((folder / "t.json").read_text())["by"] == "ks_complement"
    kept = {path: path.stat().st_mtime_ns for path in (folder / "kept").iterdir()}
    assert run(*arguments)[:2] == (code, out)
    assert {path: path.stat().st_mtime_ns for path in (folder / "kept").iterdir()} == kept


def test_what_is_refused(folder, run):
    for text, said in (
        (CONFIG.replace("skeval.generators.Bootstrap", "os.system"), "--trust os"),
        (CONFIG.replace("cv = 2", "target = 'nope'"), "which is no column"),
        (CONFIG.replace("cv = 2", "suite = 'report'"), "give one of them"),
        (CONFIG.replace("cv = 2", "cv = ["), "is no TOML"),
        (CONFIG.replace("generators.copies", 'generators." "'), "a generator has no name"),
    ):
        (folder / "t.toml").write_text(text, encoding="utf-8")
        code, _, err = run("tournament", "train.csv", "--config", "t.toml")
        assert (code, said in err) == (2, True), err


def test_no_process_is_no_number_of_them(folder, run):
    (folder / "t.toml").write_text(CONFIG, encoding="utf-8")
    code, _, err = run("tournament", "train.csv", "--config", "t.toml", "--jobs", "0")
    assert code == 2
    assert "tournament: n_jobs must be an int other than 0 or None, got 0." in err
