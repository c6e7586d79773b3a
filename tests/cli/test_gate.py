"""Gates of pipelines: exit codes, policies and JUnit's XML."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from importlib.resources import files
from xml.etree import ElementTree

import pandas as pd
import pytest

from skeval import SuiteResult
from skeval.datasets import make_mixed
from skeval.results import Release
from skeval.results.release import PrivacyClaim

THREE = ("train.csv", "holdout.csv", "synthetic.csv")
LEAK = ("train.csv", "holdout.csv", "train.csv")
SCREENS = ("--metrics", "exact_matches,dcr_share,KSComplement")


@pytest.mark.slow
def test_a_leak_ends_with_exit_code_1(folder, run):
    assert run("evaluate", *THREE, *SCREENS, "--fail-on", "leak")[0] == 0
    assert run("evaluate", *LEAK, *SCREENS)[0] == 0
    code, _, err = run("evaluate", *LEAK, *SCREENS, "--fail-on", "leak", "--fail-on", "fact")
    assert code == 1
    assert "policy violated: no leak found (alarm of exact_matches, dcr_share" in err
    assert "120 of 120 synthetic rows are complete copies" in err


@pytest.mark.slow
def test_without_holdout_nothing_is_cleared(folder, run):
    code, _, err = run("evaluate", *THREE[::2], *SCREENS, "--fail-on", "leak")
    assert code == 1
    assert "inconclusive: no privacy test has a result" in err


@pytest.mark.slow
def test_policies_of_files_and_options_add_up(folder, run):
    (folder / "policy.toml").write_text('require = ["ks_complement >= 0.99"]\nfail_on = ["leak"]')
    policy = ("--policy", "policy.toml", "--require", "KSComplement > 0.5 * baseline")
    arguments = ("--metrics", "ks_complement,dcr_share", *policy, "--junit", "gate.xml")
    code, _, err = run("evaluate", *THREE, *arguments)
    assert code == 1
    assert "policy violated: ks_complement >= 0.99 (ks_complement = 0." in err
    suite = ElementTree.parse("gate.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("4", "1")


@pytest.mark.slow
def test_a_report_is_written_before_the_gate_closes(folder, run):
    gate = ("--fail-on", "leak", "--junit", "gate.xml", "--columns", "2")
    code, _, err = run("report", *LEAK, "-o", "r.html", *gate)
    assert code == 1, err
    assert (folder / "r.html").exists()
    assert "policy violated: no leak found" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--require", "tstr >= 0.9"), "the policy names tstr, which is not evaluated"),
        (("--require", "ks_complement"), "'ks_complement' contains no comparison"),
        (("--fail-on", "lek"), "--fail-on must be among leak, alarm, fact, got lek"),
        (("--policy", "none.toml"), "there is no file none.toml"),
        (("--junit", "gate.xml"), "--junit needs --fail-on"),
        (("--fail-on", "leak", "--junit", "gate.txt"), "must end in .xml"),
        (("--metrics", "TSTR"), "--metrics: TSTR needs --target COLUMN"),
        (("--metrics", "ks_complment"), "Did you mean ks_complement"),
        (("--metrics", ","), "--metrics is empty"),
        (
            ("--metrics", "InferenceRisk"),
            "--metrics: InferenceRisk needs secret, which has no option",
        ),
    ],
)
def test_faults_are_found_before_the_tables_are_read(
    run, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("evaluate", "no.csv", "no.csv", *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("stated", ["level = 1e-3", "level = 1e-3\nfail_on = []"])
@pytest.mark.slow
def test_release_file_does_not_lower_the_level(folder, run, stated):
    """The table has 25 copies with other numbers: significant at 5%, not at 0.1%."""
    train, release = (make_mixed(120, random_state=seed) for seed in (0, 2))
    copies = train.head(25)
    numbers = copies.select_dtypes("float").columns
    copies = copies.assign(**(copies[numbers] * 1.01))
    pd.concat([release.iloc[25:], copies]).to_csv("synthetic.csv", index=False)
    (folder / "release.toml").write_text(f"[thresholds]\n{stated}\n")
    asked = ("--metrics", "dcr_share", "--fail-on", "alarm")
    assert run("evaluate", *THREE, *asked)[0] == 1
    code, _, err = run("evaluate", *THREE, *asked, "--release", "release.toml")
    assert code == 1, err
    assert "alarm of dcr_share" in err


@pytest.mark.slow
def test_fact_gate_fails_without_a_count_of_copies(folder, run):
    code, _, err = run("evaluate", *LEAK, "--metrics", "ks_complement", "--fail-on", "fact")
    assert code == 1
    assert "copies of training rows were not counted" in err


@pytest.mark.parametrize(
    "requirement", ["exact_matches <= 10", "exact_matches >= -5", "dcr_share > 0 # or less"]
)
def test_requirement_that_decides_nothing_is_refused_before_the_work(run, folder, requirement):
    code, _, err = run("evaluate", *THREE, *SCREENS, "--require", requirement)
    assert code == 2
    assert len(err.strip().splitlines()) == 1


@pytest.mark.slow
def test_metrics_by_class_and_by_name(folder, run):
    names = "TSTR,coefficients,ks_complement,KSComplement"
    code, out, err = run("evaluate", *THREE, "--metrics", names, "--target", "member")
    assert code == 0, err
    for name in names.split(","):
        assert re.search(rf" {name} ", out), name


@pytest.mark.slow
def test_p_values_are_printed(folder, run):
    _, out, _ = run("evaluate", *LEAK, *SCREENS, "--wide")
    assert "p-value" in out
    assert "<0.0001" in out


@pytest.mark.slow
def test_each_of_several_tables_is_held_to_the_policy(folder, run):
    """One leaking candidate closes the gate, and the rules say which it is."""
    (folder / "copies.csv").write_bytes((folder / "train.csv").read_bytes())
    gate = ("--fail-on", "leak", "--junit", "gate.xml", "--columns", "2")
    code, _, err = run("report", *THREE, "copies.csv", "-o", "r.html", *gate)
    assert code == 1, err
    assert "policy violated: copies: no leak found" in err
    assert "policy holds: synthetic: no metric failed" in err
    cases = list(ElementTree.parse("gate.xml").iter("testcase"))
    failed = [case.attrib["name"] for case in cases if len(case)]
    assert (len(cases), failed) == (4, ["copies: no leak found"])


# ---------------------------------------------------------------------------- release files


def test_a_release_file_is_written_once(folder, run):
    code, _, err = run("init-release")
    assert (code, "Saved: release.toml. Edit it, and pass it: --release release.toml" in err) == (
        0,
        True,
    )
    assert Release.from_toml("release.toml") == Release()  # nothing is stated before it is edited
    (folder / "release.toml").write_text('title = "mine"')
    code, _, err = run("init-release", "-o", "release.toml")
    assert (code, (folder / "release.toml").read_text()) == (2, 'title = "mine"')
    assert "release.toml already exists" in err
    assert run("init-release", "-o", "release.json")[0] == 2


def test_what_the_template_has_in_comments_is_legal(tmp_path):
    text = files("skeval.cli").joinpath("release.toml").read_text(encoding="utf-8")
    example = re.sub(r"(?m)^# (?=\[thresholds\]|\w+ = )", "", text)
    (path := tmp_path / "release.toml").write_text(example, encoding="utf-8")
    release = Release.from_toml(path)
    assert release.dp == PrivacyClaim(1.0, 1e-6)
    assert release.generator.parameters == {"epochs": 300}
    assert release.thresholds.require == ("exact_matches <= 0.001", "tstr >= 0.9 * baseline")
    named = set(tomllib.loads(example))
    assert named == {one.name for one in dataclasses.fields(Release)}


@pytest.mark.slow
def test_thresholds_add_up_with_a_policy(folder, run):
    (folder / "release.toml").write_text(
        'title = "T"\n[thresholds]\nfail_on = []\nrequire = ["ks_complement >= 0.999"]\n'
    )
    arguments = ("--metrics", "ks_complement,dcr_share", "--release", "release.toml")
    code, _, err = run("evaluate", *THREE, *arguments, "--fail-on", "leak", "-o", "s.json")
    assert code == 1
    assert "policy violated: ks_complement >= 0.999" in err
    assert "policy holds: no leak found" in err
    assert SuiteResult.from_json("s.json").provenance.release.title == "T"


@pytest.mark.slow
def test_a_report_has_the_title_of_its_release(folder, run):
    (folder / "release.toml").write_text('title = "For the Ministry"\n')
    code, _, err = run(
        "report", *THREE, "-o", "r.html", "--columns", "2", "--release", "release.toml"
    )
    assert code == 0, err
    assert "<title>For the Ministry" in (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('recipent = "x"', "Did you mean recipient?"),
        (
            '[thresholds]\nrequire = ["tstr >= 0.9"]',
            "the policy names tstr, which is not evaluated",
        ),
        ("title", "is not a TOML file"),
    ],
)
def test_faults_of_a_release_file_are_found_before_the_tables_are_read(
    run, tmp_path, monkeypatch, command, text, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "release.toml").write_text(text)
    output = ("-o", "r.html") if command == "report" else ()
    code, _, err = run(command, "no.csv", "no.csv", "--release", "release.toml", *output)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_an_output_is_no_release_file(folder, run):
    (folder / "release.json").write_text("")
    code, _, err = run("evaluate", *THREE, "--release", "release.json", "-o", "release.json")
    assert code == 2
    assert "would overwrite the input" in err


def test_folders_of_which_nothing_is_evaluated_end_with_exit_code_1(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    for seed, folder in enumerate(("real", "made")):
        (tmp_path / folder).mkdir()
        people = make_mixed(60, random_state=seed).assign(person=range(60))
        people.to_csv(f"{folder}/people.csv", index=False)
        people[["person"]].assign(amount=people["age"]).to_csv(f"{folder}/visits.csv", index=False)
    code, _, err = run("evaluate", "real", "made", "--metrics", "ks_complement")
    assert code == 1, err
