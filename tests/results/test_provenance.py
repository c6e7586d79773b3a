"""Provenance: metrics rebuilt from it, inputs known again, the same bytes for the same date."""

from __future__ import annotations

import datetime as dt
import importlib
import json

import numpy as np
import pandas as pd
import polars
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier

import skeval
from skeval import Metric, MetricSuite, MetricTags, Result, SuiteResult, make_suite, report
from skeval.datasets import make_mixed, make_relational
from skeval.exceptions import InvalidParameterError
from skeval.fidelity import SimilarityScore, TVComplement
from skeval.results.calls import text_of
from skeval.results.hashes import hash_of_cells
from skeval.results.provenance import Provenance, stamp
from skeval.results.verification import verify
from skeval.tables.schema import TableSchema
from skeval.utility import TSTR
from skeval.utils.foreign_files import hash_of_file
from tests.snapshots import raises

DATE = "2026-11-22"


@pytest.fixture(scope="module")
def tables():
    return [make_mixed(120, random_state=seed) for seed in range(3)]


@pytest.fixture(scope="module")
def suite():
    return MetricSuite([("ks", TVComplement(n_bins=8)), ("similarity", SimilarityScore())])


@pytest.fixture(scope="module")
def result(suite, tables):
    train, holdout, synthetic = tables
    return suite.fit(train, holdout).evaluate(synthetic, date=DATE)


def rebuilt(text: str) -> Metric:
    for name in ("fidelity", "utility", "privacy", "diagnostic", "text", "relational"):
        importlib.import_module(f"skeval.{name}")
    importlib.import_module("sklearn.ensemble")
    return eval(text, {"skeval": skeval, "sklearn": sklearn})


@pytest.mark.parametrize("preset", ["report", "utility", "privacy", "diagnostic"])
def test_metrics_are_rebuilt_from_their_text(preset):
    for _, metric in make_suite(preset, target="city", sensitive="member").metrics:
        text = text_of(metric)
        again = rebuilt(text)
        assert type(again) is type(metric)
        assert text_of(again) == text


def test_estimators_within_a_metric_are_rebuilt_too():
    metric = TSTR("city", estimators={"forest": RandomForestClassifier(n_estimators=7)})
    again = rebuilt(text_of(metric))
    assert again.get_params()["estimators"]["forest"].n_estimators == 7
    assert "max_depth" not in text_of(metric)  # the default of its version


def test_what_has_no_text_shows_nothing_of_what_it_holds():
    class Own(Metric):
        tags = MetricTags("fidelity")

        def __init__(self, rows, work):
            self.rows = rows
            self.work = work

    text = text_of(Own(pd.DataFrame({"x": ["secret"]}), lambda x: "secret"))
    assert "secret" not in text
    assert "<DataFrame>" in text


def test_numbers_and_texts_of_parameters_are_exact():
    assert text_of([np.float64(0.1), np.inf, float("nan"), (1,), {"a": None}]) == (
        "[0.1, float('inf'), float('nan'), (1,), {'a': None}]"
    )


@pytest.mark.slow
def test_it_names_what_was_done(result):
    provenance = result.provenance
    assert provenance.version == skeval.__version__
    assert provenance.metrics["ks"] == {
        "class": "skeval.fidelity.TVComplement",
        "parameters": {"columns": "None", "n_bins": "8", "nan": "'own'"},
    }
    assert provenance.calls["ks"] == (
        "skeval.fidelity.TVComplement(columns=None, n_bins=8, nan='own')"
    )
    assert [(one.role, one.n_rows) for one in provenance.inputs] == [
        *(("train", 120), ("holdout", 120), ("synthetic", 120))
    ]
    assert {"Python", "numpy", "pandas"} <= set(provenance.packages)
    assert {one.column: one.kind for one in provenance.columns}["joined"] == "datetime"


def test_target_sensitive_and_seeds():
    train = make_mixed(60, random_state=0)
    suite = make_suite("utility", target="member", sensitive="plan", random_state=5)
    chosen = MetricSuite([(n, m) for n, m in suite.metrics if n in {"fairness_gap", "tstr"}])
    provenance = chosen.fit(train, make_mixed(60, random_state=1)).evaluate(train).provenance
    assert (provenance.target, provenance.sensitive) == ("member", "plan")
    assert set(provenance.seeds.values()) == {5}


@pytest.mark.slow
def test_json_keeps_it_and_is_the_same_for_the_same_date(suite, tables, result, tmp_path):
    train, holdout, synthetic = tables
    again = suite.fit(train.copy(), holdout).evaluate(synthetic, date=DATE)
    assert again.to_json() == result.to_json()
    back = SuiteResult.from_json(_written(result, tmp_path))
    assert back.provenance == result.provenance
    assert back.to_json() == result.to_json()


def _written(result, folder):
    path = folder / "scores.json"
    result.to_json(path)
    return path


def test_another_version_of_the_schema_is_refused(result, tmp_path):
    path = _written(result, tmp_path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "schema_version": 99}))
    with raises(InvalidParameterError):
        SuiteResult.from_json(path)


def test_the_date_of_the_environment_is_taken(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert stamp() == "1970-01-01T00:00:00Z"
    assert stamp(dt.date(2026, 1, 2)) == "2026-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with raises(InvalidParameterError):
        stamp()


@pytest.mark.parametrize("date", ["tomorrow", 3, []])
def test_what_is_no_date_is_refused_before_the_work(suite, tables, date):
    suite.fit(tables[0])
    with raises(InvalidParameterError):
        suite.evaluate(None, date=date)


def test_cells_have_one_hash_in_whatever_storage(tables, tmp_path):
    train = tables[0]
    schema = TableSchema.infer(train)
    train.to_csv(tmp_path / "a.csv", index=False)
    read = pd.read_csv(tmp_path / "a.csv")
    of_polars = polars.from_pandas(train).to_pandas()
    wanted = hash_of_cells(train, schema)
    assert {hash_of_cells(each, schema) for each in (read, of_polars, train.iloc[:, ::-1])} == {
        wanted
    }
    for other in (train[::-1].reset_index(drop=True), train.assign(age=train["age"] + 1)):
        assert hash_of_cells(other, schema) != wanted


def test_texts_and_keys_count_in_the_hash():
    table = pd.DataFrame({"id": [1, 2, 3], "note": ["a b c d e f", "b", None]})
    schema = TableSchema({"id": "id", "note": "text"})
    wanted = hash_of_cells(table, schema)
    assert hash_of_cells(table.astype({"id": "float64"}), schema) == wanted
    assert hash_of_cells(table.assign(note=["a b c d e g", "b", None]), schema) != wanted
    assert hash_of_cells(table.assign(id=["1", "2", "3"]), schema) == wanted


@pytest.mark.slow
def test_verify_knows_files_and_tables_again(tables, suite, tmp_path):
    train = tables[0]
    paths = {role: tmp_path / f"{role}.csv" for role in ("train", "holdout", "synthetic")}
    for path, table in zip(paths.values(), tables, strict=True):
        table.to_csv(path, index=False)
    result = report(
        *paths.values(), tmp_path / "a.html", suite=suite, release={"date": DATE}, progress=False
    )
    assert [one.file for one in result.provenance.inputs] == [
        *("train.csv", "holdout.csv", "synthetic.csv")
    ]
    assert str(tmp_path) not in result.to_json()  # folders name users and projects
    train.to_parquet(tmp_path / "train.parquet")
    changed = tmp_path / "changed.csv"
    train.assign(age=1).to_csv(changed, index=False)
    given = [paths["train"], tmp_path / "train.parquet", changed]
    found = verify(result.provenance, given)
    assert found["found"].tolist() == [
        *("the same bytes", "the same cells", "not among the inputs"),
        *("not checked", "not checked"),
    ]
    assert found["input"].tolist() == ["train", "train", "", "holdout", "synthetic"]


@pytest.mark.slow
def test_of_a_sample_the_whole_table_is_known_again(tables, suite, tmp_path):
    result = report(
        *tables,
        tmp_path / "a.html",
        suite=suite,
        n_max_train=50,
        release={"date": DATE},
        progress=False,
    )
    train = result.provenance.inputs[0]
    assert (train.n_rows, train.n_measured, result.provenance.seeds["rows"]) == (120, 50, 0)
    assert verify(result.provenance, {"t": tables[0]}).loc[0, "input"] == "train"


def test_hashes_of_real_tables_can_be_skipped(result, tables):
    bare = result.provenance.without_hashes()
    assert [bool(one.cells) for one in bare.inputs] == [False, False, True]
    found = verify(bare, {"train": tables[0]})
    assert found.loc[0, "found"] == "not among the inputs"
    assert found["found"].str.contains("without hashes").sum() == 2


def test_files_of_no_role_and_no_file_are_named(result, tmp_path):
    with raises(InvalidParameterError):
        result.provenance.with_files({"real": tmp_path})
    with raises(InvalidParameterError):
        result.provenance.with_files({"train": tmp_path / "none.csv"})
    assert hash_of_file(__file__) == hash_of_file(__file__)


def test_several_tables_have_hashes_and_kinds_of_their_own():
    train, synthetic = make_relational(30, random_state=0), make_relational(30, random_state=1)
    suite = make_suite("diagnostic", schema=train.schema)
    provenance = suite.fit(train).evaluate(synthetic, date=DATE).provenance
    roles = {one.role for one in provenance.inputs}
    assert {f"train/{name}" for name in train} <= roles
    assert {one.table for one in provenance.columns} == set(train)
    name = next(iter(train))
    assert f"train/{name}" in verify(provenance, {"x": train[name]}).loc[0, "input"]
    assert Provenance.from_dict(provenance.to_dict()) == provenance


@pytest.mark.slow
def test_equal_dates_and_tables_give_the_same_page_and_paper(tables, tmp_path):
    suite = MetricSuite([("tv", TVComplement())])
    for ending in ("html", "pdf"):
        paths = [tmp_path / f"{i}.{ending}" for i in range(2)]
        for path in paths:
            report(*tables, path, suite=suite, release={"date": DATE}, progress=False)
        first, second = (path.read_bytes() for path in paths)
        assert first == second
        other = tmp_path / f"other.{ending}"
        report(*tables, other, suite=suite, release={"date": "2026-11-23"}, progress=False)
        assert other.read_bytes() != first


def test_results_made_by_hand_have_none():
    assert SuiteResult({"a": Result(0.5)}).provenance is None
