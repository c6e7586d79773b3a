"""What the command line says of the metrics themselves."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from itertools import takewhile

import pytest

from skeval.cli.catalogue import explanation_lines
from skeval.cli.suites import suite_of_names
from skeval.core.catalogue import metric_classes
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.privacy import DCRShare
from skeval.suites.named_metrics import preset_metrics
from tests.snapshots import raises

NO_IMPORTS = """
import sys
from skeval.cli import main
sys.argv = ["skeval", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
print(*sorted({"numpy", "pandas", "sklearn", "scipy", "joblib", "numba"} & set(sys.modules)))
"""


def test_explain(run):
    code, out, _ = run("explain", "singling_out_univariate")
    assert code == 0
    for said in (
        "singling_out_univariate: SinglingOutRisk (privacy)",
        "Scale               0 to 1; lower is better.",
        "Evidence            attack.",
        "mode='univariate'",
        "Parameters\nmode : ",
        "References\n",
    ):
        assert said in out
    assert ":class:" not in out


def test_every_name_is_explained():
    names = {*metric_classes(), *preset_metrics()}
    assert len(names) > 100
    for name in names:
        lines = list(explanation_lines(name))
        assert lines[0].split(" ")[0].rstrip(":") == name
        assert len(lines[2]) > 20


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("people/tv_complement", "people/tv_complement: TVComplement (fidelity)"),
        ("referential_integrity", "ReferentialIntegrity (validity)"),
        ("relationship_validity/referential_integrity", "ReferentialIntegrity (validity)"),
    ],
)
def test_names_of_several_tables(name, first):
    assert next(explanation_lines(name)) == first


def test_an_unknown_name(run):
    code, _, err = run("explain", "KSComplemet")
    assert code == 2
    assert "unknown metric KSComplemet. Did you mean KSComplement" in err


@pytest.mark.parametrize("width", ["40", "60", "80", "100"])
@pytest.mark.slow
def test_names_are_whole_in_tables(folder, run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    _, out, _ = run("evaluate", "train.csv", "synthetic.csv", "--suite", "quality")
    assert "…" not in out
    lines, names = out.splitlines(), []
    head = next(i for i, line in enumerate(lines) if line.startswith(" outcome"))
    start, end = lines[head].index("metric"), lines[head].index("in data")
    for line in takewhile(str.strip, lines[head + 2 :]):
        if line[:start].strip():
            names.append("")
        names[-1] += line[start:end].split()[0]
    assert names == [
        "column_shapes/ks_complement",
        "column_shapes/tv_complement",
        "column_pair_trends/correlation",
        "column_pair_trends/contingency",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--schema", "kinds.json"), "kinds must be among"),
        (("--suite", "utility"), "--target COLUMN"),
        (("--target", "nothing"), "--target COLUMN"),
        (("--sensitive", "nothing", "--target", "member"), "--sensitive COLUMN"),
    ],
)
def test_errors_name_the_options_that_cure_them(folder, run, arguments, said):
    (folder / "kinds.json").write_text('{"age": "number"}')
    code, _, err = run("evaluate", "train.csv", "holdout.csv", "synthetic.csv", *arguments)
    assert code == 2
    assert said in err


@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sensitive", "city"), "'report' takes it, got 'city'. Give --target as well, or leave"),
        (("--suite", "fidelity", "--target", "city"), "--target: no metric of the preset"),
    ],
)
def test_a_column_that_no_metric_takes_is_refused(folder, run, command, arguments, said):
    code, _, err = run(command, "train.csv", "holdout.csv", "synthetic.csv", *arguments)
    assert code == 2
    assert said in err
    assert not list(folder.glob("*.pdf"))


def test_without_docstrings_metrics_are_listed_and_not_explained(run, monkeypatch):
    """Python removes them with -OO."""
    for kind in metric_classes().values():
        monkeypatch.setattr(kind, "__doc__", None)
    code, out, _ = run("list", "--all")
    assert code == 0
    assert "DCRShare" in out
    code, _, err = run("explain", "dcr_share")
    assert code == 2
    assert "without -OO" in err


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), ("evaluate", "--help"), ("report", "--help"), ("list", "--help")],
    ids=" ".join,
)
@pytest.mark.slow
def test_what_computes_nothing_imports_nothing_that_computes(arguments):
    done = subprocess.run(
        [sys.executable, "-c", NO_IMPORTS, *arguments], capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "", done.stderr


def test_errors_name_what_is_lacking():
    with pytest.raises(MissingInputError) as raised:
        DCRShare().fit(make_mixed(30, random_state=0))
    assert raised.value.need == "holdout"
    again = pickle.loads(pickle.dumps(raised.value.with_prefix("users")))
    assert again.need == "holdout"
    assert str(again) == f"users: {raised.value}"


def test_list_begins_with_questions(run):
    _, out, _ = run("list")
    assert len(out.splitlines()) == 22
    assert re.search(r"Are people copied\? +ExactMatchShare +exact_matches", out)


def test_list_by_aspect_and_word(run):
    code, out, _ = run("list", "--aspect", "Privacy", "--find", "Distance", "--json")
    rows = {row["class"]: row for row in json.loads(out)}
    assert code == 0
    assert {row["aspect"] for row in rows.values()} == {"privacy"}
    assert rows["DCRPercentile"]["names"] == ["dcr_percentile", "dcr"]
    assert "KSComplement" not in rows
    _, out, _ = run("list", "--all")
    assert all(f"  {name} " in out for name in metric_classes())
    assert "[dcr_percentile, dcr]" in out
    code, _, err = run("list", "--aspect", "privcy")
    assert code == 2
    assert "--aspect must be among fidelity, utility, privacy, validity" in err


def test_list_of_nothing(run):
    _, out, err = run("list", "--find", "zebra")
    assert out == ""
    assert "no metric matches" in err


def test_metrics_are_chosen_by_any_name():
    suite = suite_of_names(
        "ims,KsComplement,CSTest", dict.fromkeys(["target", "sensitive"]), seed=0
    )
    assert [type(metric).__name__ for _, metric in suite.metrics] == [
        "IdenticalMatchShare",
        "KSComplement",
        "ChiSquaredTest",
    ]


def test_explain_says_what_others_call_it():
    lines = list(explanation_lines("TSPR"))
    assert lines[0] == "PrivacyScore (privacy)"
    assert "Name in results  privacy_score." in lines
    assert (
        "Name in Aindo    compute_privacy_stats, PrivacyStats, TSPR, TTPR, risk_confidence."
        in lines
    )


@pytest.mark.parametrize(
    ("name", "first", "then"),
    [
        ("get_column_plot", "get_column_plot (SDMetrics): plot_column(", "plot_column(train, "),
        (
            "Closer to training",
            "closer_to_training (SDMetrics): DCROv",
            "DCROverfittingProtection (",
        ),
        ("compute_privacy_stats", "compute_privacy_stats(train, synthetic, holdout", ""),
        ("RelationalSchema", "RelationalSchema", ""),
        ("accuracy", "accuracy (the lecture): TSTR(", "SimilarityMatrix (fidelity)"),
    ],
)
def test_explain_options_details_plots_and_classes(name, first, then):
    lines = list(explanation_lines(name))
    assert lines[0].startswith(first)
    assert lines[2 if then else 0].startswith(then)
    assert "Parameters" in "\n".join(lines)


def test_what_is_no_metric_is_said_where_metrics_are_chosen():
    with raises(InvalidParameterError):
        suite_of_names("get_column_plot", dict.fromkeys(["target", "sensitive"]), seed=0)


def test_find_looks_at_what_others_call_options(run):
    _, out, _ = run("list", "--find", "closer_to_training")
    assert "DCROverfittingProtection" in out
    assert "KSComplement" not in out
