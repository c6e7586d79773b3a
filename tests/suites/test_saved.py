"""Suites in files: later releases are measured, and nothing of one person is in a file without rows."""

from __future__ import annotations

import copy
import json
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, make_suite
from skeval.datasets import make_census, make_mixed, make_relational
from skeval.diagnostic import (
    BoundaryAdherence,
    CategoryAdherence,
    CategoryCoverage,
    MissingPatternSimilarity,
    MissingValueSimilarity,
    OutlierCoverage,
    RangeCoverage,
    TableStructure,
)
from skeval.exceptions import InvalidParameterError, MetricWarning, MissingInputError
from skeval.fidelity import (
    ContingencySimilarity,
    ContinuousKLDivergence,
    CorrelationRatioDifference,
    CorrelationSimilarity,
    CramersVDifference,
    DiscreteKLDivergence,
    HellingerDistance,
    JensenShannonDistance,
    KMarginalSimilarity,
    KSComplement,
    MixedAssociationDifference,
    MutualInformationDifference,
    PhikMatrixDifference,
    SimilarityMatrix,
    SimilarityScore,
    StatisticSimilarity,
    TheilsUDifference,
    TVComplement,
    WassersteinDistance,
)
from skeval.privacy import DCRShare, ExactMatchShare
from skeval.suites.saved import column_statistics, does_without_rows, drawn_column
from skeval.suites.saved_steps import MIN_COUNT, STEPS
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


PAIRS = {
    "matrix": SimilarityMatrix(),
    "similarity": SimilarityScore(),
    "contingency": ContingencySimilarity(),
    "pearson": CorrelationSimilarity(),
    "spearman": CorrelationSimilarity("spearman"),
    "phik": PhikMatrixDifference(),
    "v": CramersVDifference(),
    "u": TheilsUDifference(),
    "information": MutualInformationDifference(),
    "eta": CorrelationRatioDifference(),
    "mixed": MixedAssociationDifference(),
    "bins": ContinuousKLDivergence(),
    "levels": DiscreteKLDivergence(),
    "marginals": KMarginalSimilarity(),
}
RANGES = {
    "bounds": BoundaryAdherence(),
    "categories": CategoryAdherence(),
    "ranges": RangeCoverage(),
    "covered": CategoryCoverage(),
    "outliers": OutlierCoverage(columns=["income"]),
}


@pytest.fixture(scope="module")
def tables():
    made = [make_mixed(2000, random_state=seed) for seed in range(3)]
    return [t.assign(income=t["income"].where(t.index % 20 != 3)) for t in made]


@pytest.fixture(scope="module")
def suite(tables):
    metrics = [
        *COLUMNWISE.items(),
        ("patterns", MissingPatternSimilarity()),
        ("copies", ExactMatchShare()),
    ]
    return MetricSuite(metrics).fit(*tables[:2])


@pytest.fixture
def path(suite, tmp_path):
    with pytest.warns(MetricWarning, match="left out: patterns, copies"):
        return suite.save(tmp_path / "suite.json")


@pytest.mark.slow
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
    assert set(saved.skipped_) == {"patterns", "copies"}
    result = saved.evaluate(tables[2])
    assert "the file that the suite came from holds none" in result["patterns"].error
    assert json.loads(path.read_text())["holds_rows"] is False
    # nothing to check: the tables that stand in for the real ones are nobody's
    assert [one.cells != "" for one in result.provenance.inputs] == [False, False, True]
    assert result.sizes == {"train": 2000, "holdout": 2000, "synthetic": 2000}


def saved_and_fitted(metrics, folder, train, holdout=None):
    suite = MetricSuite(list(metrics.items())).fit(train, holdout)
    return MetricSuite.load(suite.save(folder / "suite.json")), suite


def shuffled(table):
    return pd.DataFrame({n: table[n].sample(frac=1.0, random_state=7).array for n in table})


def without_rare_cells(n, seed):
    """Whole numbers and levels, related, each of which and each two of which many rows have."""
    rng = np.random.default_rng(seed)
    level, noise = rng.integers(0, 4, n), rng.integers(0, 4, (4, n))
    numbers = {"x": level + noise[0], "y": 6 - level + noise[1]}
    levels = {
        name: np.array(list("abcd"))[(level + noise[i]) % 4] for name, i in {"c": 2, "d": 3}.items()
    }
    return pd.DataFrame({**numbers, **levels})


@pytest.mark.slow
def test_pairs_have_the_same_values_where_no_cell_is_rare(tmp_path):
    train, holdout, release = (without_rare_cells(6000, seed) for seed in range(3))
    metrics = PAIRS | {name: one for name, one in RANGES.items() if name != "outliers"}
    saved, suite = saved_and_fitted(metrics, tmp_path, train, holdout)
    for table in (release, shuffled(release), release.astype({"x": "float32"})):
        actual, expected = saved.evaluate(table), suite.evaluate(table)
        for name, result in expected.items():
            # associations are kept to three digits
            close = 5e-4 if name in {"pearson", "spearman", "eta", "mixed"} else 1e-12
            assert actual[name].value == pytest.approx(result.value, abs=close), name
            assert actual[name].baseline == pytest.approx(result.baseline, abs=5e-5), name
    of_file = json.loads((tmp_path / "suite.json").read_text())
    assert max(gap for gap in of_file["differences"].values() if gap is not None) <= 0.01


@pytest.mark.slow
def test_values_of_a_mixture_are_no_further_off_than_is_said(tmp_path):
    check_what_is_said([make_mixed(2000, random_state=i) for i in range(3)], "income", tmp_path)


@pytest.mark.slow
def test_values_of_a_census_are_no_further_off_than_is_said(tmp_path):
    tables = [make_census(4000, random_state=i) for i in range(3)]
    check_what_is_said(tables, "capital_gain", tmp_path)


def check_what_is_said(tables, wealth, tmp_path):
    train, holdout, release = tables
    ranges = RANGES | {"outliers": OutlierCoverage(columns=[wealth])}
    metrics = {n: m for n, m in (PAIRS | ranges).items() if n not in {"matrix", "marginals"}}
    saved, suite = saved_and_fitted(metrics, tmp_path, train, holdout)
    said = json.loads((tmp_path / "suite.json").read_text())["differences"]
    assert said.pop("mixed") is None  # it has no bounds
    assert saved.context_.notices[0].args[0].startswith("The real tables are aggregates")
    for table in (release, shuffled(release)):
        actual, expected = saved.evaluate(table), suite.evaluate(table)
        for name, gap in said.items():
            hundredth = 1.0 if name == "similarity" else 0.01
            off = abs(actual[name].value - expected[name].value)
            assert off <= gap + hundredth, name
        for name in ("similarity", "contingency", "pearson", "eta"):
            off = actual[name].value - expected[name].value
            assert abs(off) <= (0.5 if name == "similarity" else 0.005), name
        said_of = "; ".join(str(notice) for notice in actual.notices)
        assert "Values may be off by about: similarity" in said_of
        assert "intervals of the difference to it and pictures of pairs are left out" in said_of
        assert actual["similarity"].difference is None
        assert actual["similarity"].details["pairs"] == []


@pytest.mark.slow
def test_what_small_or_odd_tables_lack_is_nan_or_said_and_no_crash(tmp_path):
    metrics = {**COLUMNWISE, **PAIRS, **RANGES, "outliers": OutlierCoverage(columns=["age"])}
    for n, has_holdout in ((1, False), (15, True)):
        table = hostile(n + 10).tail(n).assign(empty=np.nan, one="a", yes=np.arange(n) < 7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            holdout = table if has_holdout else None
            saved, _ = saved_and_fitted(metrics, tmp_path, table, holdout)
            assert set(saved.metrics_) == set(metrics)
            assert not [one.error for one in saved.evaluate(table).values() if one.error]


def test_without_a_holdout_half_of_train_shows_how_far_values_are_off(tables, tmp_path):
    saved, suite = saved_and_fitted(RANGES, tmp_path, tables[0])
    said = json.loads((tmp_path / "suite.json").read_text())["differences"]
    assert said["ranges"] >= 0.01
    actual, expected = (one.evaluate(tables[2]) for one in (saved, suite))
    for name, gap in said.items():
        assert abs(actual[name].value - expected[name].value) <= gap + 0.02, name


def test_a_release_smaller_than_the_holdout_has_no_baseline_of_pairs(tables, tmp_path):
    saved, _ = saved_and_fitted({"phik": PAIRS["phik"]}, tmp_path, *tables[:2])
    assert saved.evaluate(tables[2])["phik"].baseline is not None
    assert saved.evaluate(tables[2].head(500))["phik"].baseline is None


def test_a_loaded_suite_is_copied_with_what_it_holds(tables, tmp_path):
    saved, _ = saved_and_fitted({"similarity": SimilarityScore()}, tmp_path, tables[0])
    expected = saved.evaluate(tables[2])["similarity"].value
    assert copy.deepcopy(saved).evaluate(tables[2])["similarity"].value == expected


def test_what_takes_more_than_pairs_is_left_out(tables, tmp_path):
    metrics = {
        "triples": SimilarityMatrix(order=3),
        "sets": KMarginalSimilarity(k=3),
        "by_group": KMarginalSimilarity(group_by="city"),
    }
    with pytest.warns(MetricWarning, match="left out: triples, sets, by_group"):
        saved, _ = saved_and_fitted(metrics, tmp_path, tables[0])
    assert set(saved.skipped_) == set(metrics)


def test_a_step_that_the_file_does_not_hold_is_not_made_of_drawn_rows(tables, tmp_path):
    saved, _ = saved_and_fitted({"v": CramersVDifference()}, tmp_path, tables[0])
    other = CramersVDifference(n_bins=7).fit_context(saved.context_)
    with pytest.raises(MissingInputError, match="does not hold what the metric asks"):
        other.evaluate_context(saved.context_.with_synthetic(tables[2]))


@pytest.mark.slow
def test_pages_are_made_of_a_loaded_suite(tables, tmp_path):
    metrics = {**COLUMNWISE, "similarity": SimilarityScore(), "phik": PAIRS["phik"], **RANGES}
    saved, _ = saved_and_fitted(metrics, tmp_path, *tables[:2])
    page = saved.evaluate(tables[2]).to_html(tmp_path / "page.html")
    assert "aggregates from a file without rows" in page.read_text(encoding="utf-8")


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_joint_counts_are_of_ten_rows_and_rounded_beside_rarer_ones(tmp_path):
    table = hostile()
    suite = MetricSuite([*PAIRS.items(), *RANGES.items()])
    path = suite.fit(table, schema={"note": "text", "patient_id": "id"}).save(tmp_path / "s.json")
    text = path.read_text(encoding="utf-8")
    for secret in ("Rarecity", "secret", "P000", "987654321", "77777", "1903"):
        assert secret not in text
    steps = json.loads(text)["steps"]
    assert {step["step"] for step in steps} == set(STEPS)
    joint = [step["value"] for step in steps if step["step"] == "joint_tables"]
    written = [one for value in joint for key in ("single", "pairs") for one in value[key]]
    assert any("rest" in one for one in written)
    for one in written:
        counts = [int(word.partition(":")[2]) for word in one.split() if word != "rest"]
        assert all(count >= MIN_COUNT for count in counts)
        assert "rest" not in one or all(count % 5 == 0 for count in counts)


def test_nothing_of_two_columns_moves_with_an_extreme(tmp_path):
    contents = []
    for extreme in (1e9, 2e6):
        table = hostile().assign(income=lambda t, e=extreme: t["income"].where(t.index != 7, e))
        suite = MetricSuite([("a", SimilarityScore()), ("b", BoundaryAdherence())])
        path = suite.fit(table[["income", "age", "city"]]).save(tmp_path / "suite.json")
        contents.append(json.loads(path.read_text()))
    assert contents[0]["tables"] == contents[1]["tables"]
    assert contents[0]["steps"] == contents[1]["steps"]


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
    loaded = MetricSuite.load(path, rows=True)
    expected = suite.evaluate(tables[2], date="2026-11-22").to_json()
    assert loaded.evaluate(tables[2], date="2026-11-22").to_json() == expected


def test_presets_can_be_saved(tables, tmp_path):
    suite = make_suite("quality").fit(tables[0])
    saved = MetricSuite.load(suite.save(tmp_path / "suite.json"))  # all of it
    expected = suite.evaluate(tables[2])
    for name, result in saved.evaluate(tables[2]).items():
        assert result.value == pytest.approx(expected[name].value, abs=0.002), name


@pytest.mark.slow
def test_of_the_report_what_needs_no_rows_is_kept(tables, tmp_path):
    suite = make_suite("report").fit(*tables[:2])
    with pytest.warns(MetricWarning, match="left out: relations, nn_distances, precision_recall"):
        saved = MetricSuite.load(suite.save(tmp_path / "suite.json"))
    assert list(saved.metrics_) == [
        "table_structure",
        "boundary_adherence",
        "range_coverage",
        "category_adherence",
        "category_coverage",
        "missing_values",
        "ks_complement",
        "tv_complement",
        "similarity",
        "spreads",
        "phik_difference",
    ]


def test_what_was_left_out_at_fit_stays_so(tables, tmp_path):
    """Without a holdout, without texts: for its own reason, or, of what is optional, without a row."""
    metrics = [("ks", KSComplement()), ("copies", DCRShare()), ("texts", TextLengthSimilarity())]
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
    odd.write_text(json.dumps({**content, "skeval_suite": 1}))
    with pytest.raises(InvalidParameterError, match="is of version 1"):
        MetricSuite.load(odd)
    odd.write_text(
        json.dumps({**content, "metrics": {"x": {"class": "os.system", "parameters": {}}}})
    )
    with pytest.raises(InvalidParameterError, match=r"cannot be made again: .*os\.system"):
        MetricSuite.load(odd)


def test_several_tables_are_saved_with_rows_only(tmp_path):
    train = make_relational(20, random_state=0)
    suite = make_suite("diagnostic", schema=train.schema).fit(train)
    with pytest.raises(InvalidParameterError, match="rows=True only"):
        suite.save(tmp_path / "a.json")


@pytest.mark.parametrize(
    "metric",
    [
        "__import__('os').system('true')",
        {"class": "skeval.fidelity.KSComplement", "parameters": {"columns": {"name": "open"}}},
        {"class": "skeval.report", "parameters": {}},
        {"class": "skeval.datasets.make_mixed", "parameters": {}},
        {"class": "subprocess.run", "parameters": {"args": ["true"]}},
        {"class": "sklearn.os.system", "parameters": {"command": "true"}},
        {"class": "skeval.fidelity.KSComplement()", "parameters": {}},
        {"class": "skeval.fidelity.KSComplement"},
    ],
)
def test_only_estimators_are_made_of_files(path, metric):
    content = json.loads(path.read_text())
    path.with_name("odd.json").write_text(json.dumps({**content, "metrics": {"x": metric}}))
    with pytest.raises(InvalidParameterError, match=r"cannot be made again|no Metric: x"):
        MetricSuite.load(path.with_name("odd.json"))


def test_what_a_metric_reads_decides_whether_it_does_without_rows():
    class Mine(KSComplement):
        tags = replace(KSComplement.tags, reads="rows")

    class Older(Mine):
        needs_no_rows = True  # as metrics said it before there was the tag

    assert [does_without_rows(one) for one in (KSComplement(), Mine(), Older())] == [1, 0, 1]
    assert [does_without_rows(KMarginalSimilarity(k)) for k in (2, 3)] == [1, 0]
    assert [does_without_rows(SimilarityMatrix(order=order)) for order in (2, 3)] == [1, 0]
    assert not does_without_rows(TextLengthSimilarity())  # nothing is kept of texts
