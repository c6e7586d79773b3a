"""Gates of pipelines: exit codes, policies and JUnit's XML."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

THREE = ("train.csv", "holdout.csv", "synthetic.csv")
LEAK = ("train.csv", "holdout.csv", "train.csv")
SCREENS = ("--metrics", "exact_matches,dcr_share,KSComplement")


def test_a_leak_ends_with_exit_code_1(folder, run):
    assert run("evaluate", *THREE, *SCREENS, "--fail-on", "leak")[0] == 0
    assert run("evaluate", *LEAK, *SCREENS)[0] == 0
    code, _, err = run("evaluate", *LEAK, *SCREENS, "--fail-on", "leak", "--fail-on", "fact")
    assert code == 1
    assert "policy violated: no leak found (alarm of exact_matches, dcr_share" in err
    assert "120 of 120 synthetic rows are complete copies" in err


def test_without_holdout_nothing_is_cleared(folder, run):
    code, _, err = run("evaluate", *THREE[::2], *SCREENS, "--fail-on", "leak")
    assert code == 1
    assert "nothing can be told" in err


def test_policies_of_files_and_options_add_up(folder, run):
    (folder / "policy.toml").write_text('require = ["ks_complement >= 0.99"]\nfail_on = ["leak"]')
    policy = ("--policy", "policy.toml", "--require", "KSComplement > 0.5 * baseline")
    arguments = ("--metrics", "ks_complement,dcr_share", *policy, "--junit", "gate.xml")
    code, _, err = run("evaluate", *THREE, *arguments)
    assert code == 1
    assert "policy violated: ks_complement >= 0.99 (ks_complement = 0." in err
    suite = ElementTree.parse("gate.xml").getroot()
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("4", "1")


def test_a_report_is_written_before_the_gate_closes(folder, run):
    gate = ("--fail-on", "leak", "--junit", "gate.xml", "--columns", "2")
    code, _, err = run("report", *LEAK, "-o", "r.html", *gate)
    assert code == 1, err
    assert (folder / "r.html").exists()
    assert "policy violated: no leak found" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--require", "tstr >= 0.9"), "the policy names tstr, which is not measured"),
        (("--require", "ks_complement"), "'ks_complement' compares nothing"),
        (("--fail-on", "lek"), "--fail-on must be among leak, alarm, fact, got lek"),
        (("--policy", "none.toml"), "there is no file none.toml"),
        (("--junit", "gate.xml"), "--junit needs --fail-on"),
        (("--fail-on", "leak", "--junit", "gate.txt"), "must end in .xml"),
        (("--metrics", "TSTR"), "--metrics: TSTR needs --target COLUMN"),
        (("--metrics", "ks_complment"), "Did you mean ks_complement"),
        (("--metrics", ","), "--metrics names none"),
        (
            ("--metrics", "InferenceRisk"),
            "--metrics: InferenceRisk needs secret, which only Python",
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


def test_metrics_by_class_and_by_name(folder, run):
    names = "TSTR,coefficients,ks_complement,KSComplement"
    code, out, err = run("evaluate", *THREE, "--metrics", names, "--target", "member")
    assert code == 0, err
    rows = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert rows[:1] + rows[2:] == ["metric", *names.split(",")]
    assert "A model of member that learns from it reaches ROC-AUC" in err


def test_p_values_are_printed(folder, run):
    _, out, _ = run("evaluate", *LEAK, *SCREENS)
    assert "p-value" in out
    assert "<1e-16" in out


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
