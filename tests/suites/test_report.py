from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pypdf import PdfReader

from skeval import MetricSuite, ReportColumns, SuiteResult, make_suite, report
from skeval.datasets import make_mixed
from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.fidelity import KSComplement
from tests.snapshots import raises, warns

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*with fewer than 50 of either"
)  # few rows are quick
DATED = {"date": "2026-01-02"}
TRAIN, HOLDOUT, SYNTHETIC = (make_mixed(150, random_state=seed) for seed in range(3))


@pytest.fixture
def undrawn(monkeypatch):
    """Leave out the drawing, which takes most of the time."""

    class Blank:
        def __init__(self, **settings):
            self.settings = settings

        def render(self, result, path):
            path.write_text("")

    monkeypatch.setattr("skeval.reporting.PDFRenderer", Blank)


def text_of(path):
    return "\n".join(page.extract_text() for page in PdfReader(path).pages)


def with_a_single_person():
    train = TRAIN.copy()
    train.loc[3, "city"] = "Hermitage"
    train.loc[4, "income"] = 8675309.25
    return train


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_no_value_of_a_single_person_is_left_to_draw(tmp_path):
    text = report(with_a_single_person(), HOLDOUT, SYNTHETIC, tmp_path / "report.pdf").to_json()
    assert "Hermitage" not in text
    assert "8675309" not in text


@pytest.mark.slow
def test_everything_is_reported_and_no_value_of_a_single_person(tmp_path):
    path = tmp_path / "report.pdf"
    result = report(with_a_single_person(), HOLDOUT, SYNTHETIC, path)
    text = text_of(path)
    assert "Hermitage" not in text
    assert "8675309" not in text
    assert "Hermitage" not in result.to_json()
    for column in TRAIN.columns:
        assert column in text
    assert f"{result['similarity'].value:.1f}" in text
    assert len(PdfReader(path).outline) >= 7


@pytest.mark.slow
def test_same_bytes_on_each_run_and_from_saved_scores(tmp_path):
    first, second = tmp_path / "a.pdf", tmp_path / "b.pdf"
    result = report(TRAIN, HOLDOUT, SYNTHETIC, first, columns=2, release=DATED)
    report(pl.DataFrame(TRAIN), HOLDOUT, SYNTHETIC, second, columns=2, release=DATED)
    assert first.read_bytes() == second.read_bytes()
    result.to_json(tmp_path / "scores.json")
    SuiteResult.from_json(tmp_path / "scores.json").to_pdf(second, columns=ReportColumns.of(2))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_without_holdout(tmp_path):
    result = report(TRAIN, None, SYNTHETIC, tmp_path / "report.pdf", columns=2)
    assert "requires holdout data" in result["dcr_overfitting"].error
    assert result.sizes == {"train": 150, "synthetic": 150}


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_rows_are_capped_by_seed(tmp_path):
    suite = MetricSuite([("ks", KSComplement())])
    results = [
        report(
            TRAIN, HOLDOUT, SYNTHETIC, tmp_path / "r.pdf",
            n_max_train=60, n_max_test=50, random_state=seed, suite=suite,
        )
        for seed in (0, 0, 1)
    ]  # fmt: skip
    assert results[0].sizes == {"train": 60, "holdout": 50, "synthetic": 150}
    values = [result["ks"].value for result in results]
    assert values[0] == values[1] != values[2]


@pytest.mark.calibration
@pytest.mark.parametrize("columns", [4, ["age", "city", "income"], ReportColumns(4, 4, 4, 4)])
@pytest.mark.usefixtures("undrawn")
def test_columns(tmp_path, columns):
    result = report(TRAIN, HOLDOUT, SYNTHETIC, tmp_path / "report.pdf", columns=columns)
    names = ["age", "income", "city"] if isinstance(columns, list) else list(TRAIN.columns[:4])
    assert result["phik_difference"].details["names"] == names
    assert result["similarity"].details["names"] == names
    assert len(result["similarity"].details["pairs"]) == len(names) * (len(names) - 1) / 2
    alone = [table[names] for table in (TRAIN, HOLDOUT, SYNTHETIC)]
    expected = report(*alone, tmp_path / "alone.pdf")
    assert result["dcr_overfitting"].value == expected["dcr_overfitting"].value


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_all_pairs_can_be_drawn(tmp_path):
    columns = ReportColumns(pairs="all")
    result = report(TRAIN, HOLDOUT, SYNTHETIC, tmp_path / "report.pdf", columns=columns)
    assert len(result["similarity"].details["pairs"]) == 21


def test_choices_of_columns():
    assert ReportColumns.of(None) == ReportColumns(100, 20, 100, 20, 24)
    assert ReportColumns.of(7) == ReportColumns(7, 7, 7, 7)
    names = ReportColumns.of(("a", "b"))
    assert names.univ == names.phik == ["a", "b"]
    params = make_suite(columns=ReportColumns(univ=["a"], biv=["b"])).get_params()
    assert params["similarity__columns"] == ["a", "b"]
    params = make_suite(columns=ReportColumns(univ=["a"])).get_params()
    assert params["similarity__columns"] is None


@pytest.mark.slow
def test_a_suite_of_ones_own(tmp_path):
    suite = MetricSuite([("ks", KSComplement())])
    result = report(TRAIN, HOLDOUT, SYNTHETIC, tmp_path / "report.pdf", suite=suite)
    assert list(result) == ["ks"]
    assert "ks" in text_of(tmp_path / "report.pdf")


@pytest.mark.slow
def test_page(tmp_path):
    report(TRAIN, HOLDOUT, SYNTHETIC, tmp_path / "report.html", columns=2)
    assert (
        (tmp_path / "report.html")
        .read_text(encoding="utf-8")
        .lstrip()
        .lower()
        .startswith("<!doctype html>")
    )


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"n_max_train": 0}, InvalidParameterError),
        ({"path": "missing/report.pdf"}, InvalidParameterError),
        ({"columns": ["nope"]}, InvalidParameterError),
        ({"synthetic": SYNTHETIC.drop(columns="age")}, SchemaMismatchError),
    ],
)
def test_a_failed_run_leaves_the_old_report(tmp_path, change, kind):
    old = tmp_path / "report.pdf"
    old.write_text("old")
    arguments = {"train": TRAIN, "holdout": HOLDOUT, "synthetic": SYNTHETIC, "path": old, **change}
    if change.get("path"):
        arguments["path"] = tmp_path / change["path"]
    with raises(kind):
        report(**arguments)
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [1, 2])
def test_narrow_tables(tmp_path, n_columns):
    tables = [
        pd.DataFrame(
            {f"x{j}": np.random.default_rng([i, j]).normal(size=50) for j in range(n_columns)}
        )
        for i in range(3)
    ]
    with warns(UserWarning):
        report(*tables, tmp_path / "report.pdf")
    assert "x0" in text_of(tmp_path / "report.pdf")


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_summary_of_a_leak(tmp_path):
    result = report(TRAIN, HOLDOUT, TRAIN, tmp_path / "report.pdf")
    assert result.summary().count("leak was found") == 1
    assert "dcr_overfitting" in result.verdict().alarms


def test_columns_of_sections_go_by_the_class_of_a_metric_not_by_its_name():
    metrics = dict(make_suite(columns=ReportColumns(["a"], ["b"], ["c"], ["d"])).metrics)
    looking_at = {n: metric.columns for n, metric in metrics.items() if metric.report_columns}
    assert looking_at == {
        "similarity": ["a", "b"],
        "phik_difference": ["d"],
        "nn_distances": ["c"],
        "dcr_overfitting": ["c"],
    }


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_without_a_holdout_three_are_given_as_on_the_shell(tmp_path):
    suite = MetricSuite([("ks", KSComplement())])
    results = [
        report(*tables, tmp_path / "report.pdf", suite=suite)
        for tables in ((TRAIN, SYNTHETIC), (TRAIN, None, SYNTHETIC))
    ]
    assert results[0]["ks"].value == results[1]["ks"].value
    assert results[0]["ks"].baseline is None


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_preset_is_given_by_its_name(tmp_path):
    named = report(TRAIN, HOLDOUT, SYNTHETIC, tmp_path / "report.pdf", suite="quality")
    made = make_suite("quality").fit(TRAIN, HOLDOUT).evaluate(SYNTHETIC)
    assert {name: r.value for name, r in named.items()} == {n: r.value for n, r in made.items()}


KS = MetricSuite([("ks", KSComplement())])
PAIR = {"a": SYNTHETIC, "b": HOLDOUT}
SEVERAL = {"rows": TRAIN.assign(id=range(len(TRAIN)))}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suite": KS, "target": "income"}, "target would have no effect"),
        ({"suite": KS, "sensitive": "city"}, "sensitive would have no effect"),
        ({"suite": KS, "n_jobs": 2}, "n_jobs would have no effect"),
        ({"suite": KS, "random_state": 2}, "random_state would have no effect"),
        ({"suite": [KSComplement()]}, "suite must be a MetricSuite or the name of a preset"),
        ({"suite": "fidelity", "target": "income"}, "'fidelity' uses target, got 'income'. Omit"),
        ({"sensitive": "city"}, "uses sensitive, got 'city'. Pass target as well"),
        ({"columns": {"rows": 2}}, "columns maps names of tables, but train is one table"),
        ({"n_max_train": {"rows": 2}}, "n_max_train maps names of tables"),
        ({"suite": KS, "columns": 2, "synthetic": PAIR}, "Set the columns of the metrics"),
        (
            {"suite": "quality", "n_max_test": 9, "train": SEVERAL},
            "only the preset 'report' accepts",
        ),
        ({"target": "income", "train": SEVERAL}, "uses target, got 'income'. Report on one table"),
    ],
)
def test_an_argument_that_would_change_nothing_is_refused(tmp_path, change, message):
    tables = {"train": TRAIN, "holdout": None, "synthetic": SYNTHETIC}
    with pytest.raises(InvalidParameterError, match=message):
        report(**{**tables, "path": tmp_path / "r.html", **change})
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_title_and_date_are_those_of_the_release(tmp_path):
    stated = {"title": "Adult for the Ministry", "date": "2026-01-02"}
    path = tmp_path / "r.html"
    result = report(TRAIN, None, SYNTHETIC, path, suite=KS, release=stated, progress=False)
    assert result.provenance.date == "2026-01-02"
    assert "<title>Adult for the Ministry" in path.read_text(encoding="utf-8")
    candidates = {"a": SYNTHETIC, "b": HOLDOUT}
    report(TRAIN, None, candidates, path, suite=KS, release=stated, progress=False)
    assert "<title>Adult for the Ministry" in path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_files_are_named_and_a_page_can_leave_their_hashes_out(tmp_path):
    paths = [tmp_path / name for name in ("train.csv", "holdout.csv", "synthetic.csv")]
    for path, table in zip(paths, (TRAIN, HOLDOUT, SYNTHETIC), strict=True):
        table.to_csv(path, index=False)
    result = report(*paths, tmp_path / "r.html", suite=KS, progress=False)
    inputs = result.provenance.inputs
    assert [one.file for one in inputs] == [path.name for path in paths]
    page = result.to_html(tmp_path / "bare.html", hashes=False).read_text(encoding="utf-8")
    whole = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert [one.file_bytes in whole for one in inputs] == [True, True, True]
    assert [one.file_bytes in page for one in inputs] == [False, False, True]
    assert result.provenance.inputs == inputs
