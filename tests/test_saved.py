"""Suites in files: later releases are measured, and nothing of one person is in a file without rows."""

from __future__ import annotations

import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, make_suite
from skeval.datasets import make_mixed, make_relational
from skeval.diagnostic import MissingValueSimilarity, TableStructure
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.fidelity import (
    HellingerDistance,
    JensenShannonDistance,
    KSComplement,
    SimilarityScore,
    StatisticSimilarity,
    TVComplement,
    WassersteinDistance,
)
from skeval.privacy import DCRShare, ExactMatchShare
from skeval.provenance import rebuilt
from skeval.saved import MIN_COUNT, column_statistics, drawn_column
from skeval.text import TextLengthSimilarity

pytestmark = pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")

COLUMNWISE = {
    "ks": KSComplement(),
    "tv": TVComplement(),
    "js": JensenShannonDistance(),
    "hellinger": HellingerDistance(),
    "wasserstein": WassersteinDistance(),
    "medians": StatisticSimilarity(),
    "missing": MissingValueSimilarity(),
    "structure": TableStructure(),
}


@pytest.fixture(scope="module")
def tables():
    made = [make_mixed(2000, random_state=seed) for seed in range(3)]
    return [t.assign(income=t["income"].where(t.index % 20 != 3)) for t in made]


@pytest.fixture(scope="module")
def suite(tables):
    metrics = [
        *COLUMNWISE.items(),
        ("similarity", SimilarityScore()),
        ("copies", ExactMatchShare()),
    ]
    return MetricSuite(metrics).fit(*tables[:2])


@pytest.fixture
def path(suite, tmp_path):
    with pytest.warns(MetricWarning, match="left out: similarity, copies"):
        return suite.save(tmp_path / "suite.json")


def test_a_later_release_has_the_values_that_the_rows_would_give(suite, path, tables):
    shifted = tables[2].assign(age=tables[2]["age"] + 5, city="Lyon")
    saved = MetricSuite.load(path)
    for release in (tables[2], shifted):
        actual, expected = saved.evaluate(release), suite.evaluate(release)
        for name in COLUMNWISE:
            assert actual[name].value == pytest.approx(expected[name].value, abs=0.01), name
            assert actual[name].baseline == pytest.approx(expected[name].baseline, abs=0.01), name
        assert list(actual) == list(expected)


def test_what_needs_rows_is_named(path, tables):
    saved = MetricSuite.load(path)
    assert set(saved.skipped_) == {"similarity", "copies"}
    result = saved.evaluate(tables[2])
    assert "the file that the suite came from holds none" in result["similarity"].error
    assert json.loads(path.read_text())["holds_rows"] is False
    # nothing to check: the tables that stand in for the real ones are nobody's
    assert [one.cells != "" for one in result.provenance.inputs] == [False, False, True]
    assert result.sizes == {"train": 2000, "holdout": 2000, "synthetic": 2000}


def hostile(n=400):
    rng = np.random.default_rng(0)
    table = make_mixed(n, random_state=0)
    table["income"] = rng.normal(50_000, 10_000, n).round(2)
    table["city"] = table["city"].astype(object)
    table.loc[7, "city"] = "Rarecity"
    table.loc[7, "income"] = 987_654_321.12
    table.loc[8, "income"] = -77_777.77
    table.loc[9, "joined"] = pd.Timestamp("1903-05-17")
    table["note"] = [f"secret{i}" for i in range(n)]
    table["patient_id"] = [f"P{i:05d}" for i in range(n)]
    table["rare_flag"] = np.arange(n) == 5
    return table


@pytest.fixture
def held(tmp_path):
    table = hostile()
    kinds = {"note": "text", "patient_id": "id"}
    suite = MetricSuite([("ks", KSComplement())]).fit(table, schema=kinds)
    path = suite.save(tmp_path / "suite.json")
    return table, path.read_text(encoding="utf-8"), path


def test_no_rare_value_is_in_the_file(held):
    text = held[1]
    for secret in ("Rarecity", "secret", "P000", "987654321", "77777", "1903"):
        assert secret not in text
    counts = json.loads(text)["tables"]["train"]["columns"]["rare_flag"]
    assert counts["levels"] == {"False": 399}
    assert counts["other"] == 0


def test_no_number_of_the_file_is_a_value_of_fewer_than_ten_rows(held):
    table, text, _ = held
    content = json.loads(text)["tables"]["train"]["columns"]
    rare = {v for v, n in table["income"].value_counts().items() if n < MIN_COUNT}
    kept = content["income"]
    edges = {edge for low, high, _ in kept["bins"] for edge in (low, high)}
    assert not edges & rare
    assert min(n for *_, n in kept["bins"]) >= MIN_COUNT
    for statistics in content.values():
        counts = [*statistics.get("levels", {}).values(), statistics["n_missing"]]
        counts += [n for _, n in statistics.get("frequent", [])]
        assert all(n == 0 or n >= MIN_COUNT for n in counts)


def test_the_file_is_the_same_whatever_the_extreme_is(tmp_path):
    """Nothing of an extreme, not even its size, moves a number of the file."""
    texts = []
    for extreme in (1e9, 2e6):
        table = hostile()
        table.loc[7, "income"] = extreme
        table.loc[8, "income"] = -extreme
        suite = MetricSuite([("ks", KSComplement())]).fit(table[["income", "city"]])
        texts.append(suite.save(tmp_path / f"{extreme}.json").read_text())
    assert texts[0] == texts[1]


def test_the_rows_of_a_loaded_suite_are_nobodys(held):
    table, _, path = held
    drawn = MetricSuite.load(path).context_.train
    real = set(map(tuple, table[["income", "age"]].to_numpy()))
    assert not real & set(map(tuple, drawn[["income", "age"]].to_numpy()))
    assert drawn["income"].max() < 100_000
    assert drawn["note"].isna().all()


@pytest.mark.parametrize("n", [1, 9, 10, 19, 20, 21, 57, 1003])
def test_intervals_hold_ten_rows_each_or_nothing_is_kept(n):
    values = pd.Series(np.random.default_rng(n).normal(size=n))
    kept = column_statistics(values)
    counts = [count for *_, count in kept["bins"]]
    assert sum(counts) == (n if n >= 2 * MIN_COUNT else 0)
    assert all(count >= MIN_COUNT for count in counts)
    edges = [edge for low, high, _ in kept["bins"] for edge in (low, high)]
    assert edges == sorted(edges)
    drawn = drawn_column(kept, "continuous", n, 0)
    assert len(drawn) == n
    assert drawn.isna().all() == (n < 2 * MIN_COUNT)


def test_frequent_values_whole_numbers_and_missing_cells_are_kept():
    values = pd.Series([0.0] * 300 + [7.0] * 5 + [*range(100, 160)] + [np.nan] * 40, dtype=float)
    kept = column_statistics(values)
    assert kept["frequent"] == [[0.0, 300]]
    drawn = drawn_column(kept, "continuous", len(values), 0)
    assert (drawn.dropna() % 1 == 0).all()
    assert drawn.isna().sum() == pytest.approx(40, abs=3)
    assert (drawn == 0).sum() == pytest.approx(300, abs=6)


def test_invented_levels_count_as_rare(tables, tmp_path):
    real = [t.assign(city=t["city"].astype(object)) for t in tables]
    for table in real[:2]:
        table.loc[:29, "city"] = [f"rare{i}" for i in range(30)]
    suite = MetricSuite([("tv", TVComplement())]).fit(*real[:2])
    saved = MetricSuite.load(suite.save(tmp_path / "suite.json"))
    release = real[2].copy()
    release.loc[:29, "city"] = [f"rare{i}" for i in range(30)]
    expected = suite.evaluate(release)["tv"].value
    assert saved.evaluate(release)["tv"].value == pytest.approx(expected, abs=0.01)


def test_with_rows_all_is_there_and_the_file_says_so(suite, tables, tmp_path):
    path = suite.save(tmp_path / "suite.zip", rows=True)
    with zipfile.ZipFile(path) as file:
        assert file.namelist()[0] == "READ_ME_holds_rows.txt"
        assert "holds rows of real data" in file.read("READ_ME_holds_rows.txt").decode()
    assert suite.context_.remember_rows is False
    loaded = MetricSuite.load(path)
    expected = suite.evaluate(tables[2], date="2026-11-22").to_json()
    assert loaded.evaluate(tables[2], date="2026-11-22").to_json() == expected


def test_presets_can_be_saved(tables, tmp_path):
    suite = make_suite("quality").fit(tables[0])
    with pytest.warns(MetricWarning, match="left out"):
        path = suite.save(tmp_path / "suite.json")
    assert MetricSuite.load(path).evaluate(tables[2])["column_shapes/ks_complement"].value > 0.9


def test_what_was_left_out_at_fit_stays_so(tables, tmp_path):
    """Without a holdout, without texts: for its own reason, or, of what is optional, without a row."""
    metrics = [
        ("ks", KSComplement()),
        ("copies", DCRShare()),
        ("texts", TextLengthSimilarity()),
    ]
    suite = MetricSuite(metrics, optional=("text",)).fit(tables[0])
    saved = MetricSuite.load(suite.save(tmp_path / "suite.json"))
    result, expected = saved.evaluate(tables[2]), suite.evaluate(tables[2])
    assert list(result) == list(expected) == ["ks", "copies"]
    assert result["copies"].error == expected["copies"].error


def test_what_is_no_suite_is_refused(tmp_path, suite, path):
    odd = tmp_path / "odd.json"
    for text in ("nothing", "{}", "[]"):
        odd.write_text(text)
        with pytest.raises(InvalidParameterError, match="holds no suite"):
            MetricSuite.load(odd)
    content = json.loads(path.read_text())
    odd.write_text(json.dumps({**content, "skeval_suite": 2}))
    with pytest.raises(InvalidParameterError, match="is of version 2"):
        MetricSuite.load(odd)
    odd.write_text(json.dumps({**content, "metrics": {"x": "os.system(command='true')"}}))
    with pytest.raises(InvalidParameterError, match=re.escape("cannot be made again: os.system")):
        MetricSuite.load(odd)


def test_several_tables_are_saved_with_rows_only(tmp_path):
    train = make_relational(20, random_state=0)
    suite = make_suite("diagnostic", schema=train.schema).fit(train)
    with pytest.raises(InvalidParameterError, match="rows=True only"):
        suite.save(tmp_path / "a.json")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "skeval.fidelity.KSComplement(columns=open('x'))",
        "skeval.report(1)",
        "skeval.datasets.make_mixed()",
        "subprocess.run(args=['true'])",
        "sklearn.os.system(command='true')",
        "(lambda: 1)()",
        "skeval.fidelity.KSComplement(",
    ],
)
def test_only_estimators_are_made_of_texts(text):
    with pytest.raises(InvalidParameterError, match="cannot be made again"):
        rebuilt(text)
