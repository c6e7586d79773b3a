"""The report of several tables: one verdict, a section a table, row limits and columns by table."""

import re

import numpy as np
import pytest
from pypdf import PdfReader

from skeval import ReportColumns, SuiteResult, report
from skeval.datasets import make_relational
from skeval.exceptions import InvalidParameterError
from skeval.relational import OfTable, RelationalContext
from skeval.reporting import HTMLRenderer, PDFRenderer
from skeval.suites.report import Limits, suite_of_report
from tests.snapshots import raises

# warnings of tables this small stand in the report, which is what it is for
pytestmark = pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
KEPT = (
    *("schema_structure", "referential_integrity", "cardinality_shape", "sequence_lengths"),
    *("people/similarity", "people/exact_matches", "visits/similarity", "visits/exact_matches"),
)
PEOPLE = ReportColumns(univ=2, biv=2, knn=2, phik=2)


@pytest.fixture(scope="module")
def tables():
    return [make_relational(60, seed) for seed in range(3)]


@pytest.fixture(scope="module")
def suite(tables):
    relations = RelationalContext.of(tables[0]).relations
    whole = suite_of_report("report", relations, {"people": PEOPLE}, Limits(40, 30))
    return whole.set_params(metrics=[pair for pair in whole.metrics if pair[0] in KEPT])


@pytest.fixture(scope="module")
def written(tables, suite, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    result = report(*tables, folder / "a.pdf", suite=suite, columns=3, progress=False)
    HTMLRenderer(columns=ReportColumns.of(3)).render(result, folder / "a.html")
    return folder, result


def titles(outline):
    return [item["/Title"] if not isinstance(item, list) else titles(item) for item in outline]


@pytest.mark.slow
def test_each_table_has_its_pages(written):
    folder, _ = written
    outline = titles(PdfReader(folder / "a.pdf").outline)
    text = "".join(page.extract_text() for page in PdfReader(folder / "a.pdf").pages)
    for table in ("people", "visits"):
        assert any(table in str(title) for title in outline)
        assert table in text


def test_links_of_the_page_lead_to_its_pages(written):
    page = (written[0] / "a.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'<li><a href="#([^"]+)">', page))
    assert len(linked) > 5
    assert linked <= set(re.findall(r'id="([^"]+)"', page))


@pytest.mark.slow
def test_rows_and_columns_are_those_asked_for_by_table(tables, suite):
    of_people, of_visits = (
        dict(suite.metrics)["people/similarity"],
        dict(suite.metrics)["visits/similarity"],
    )
    assert isinstance(of_people, OfTable)
    assert of_people.max_rows == of_visits.max_rows == (40, 30, 40)
    assert (of_people.metric.columns, of_people.metric.pair_columns) == (2, 2)
    assert of_visits.metric.columns == 100
    result = of_people.fit(tables[0], tables[1]).evaluate(tables[2])
    assert len(result.details["names"]) == 2


def test_a_table_that_is_not_there_is_named(tables, tmp_path):
    with raises(InvalidParameterError):
        report(*tables, tmp_path / "a.pdf", n_max_train={"shop": 3})
    with raises(InvalidParameterError):
        report(*tables, tmp_path / "a.pdf", n_max_test={"shops": 0})


def test_one_verdict_over_all_tables(written):
    result = written[1]
    tested = [r for r in result.values() if r.tags.aspect == "privacy" and r.p_value is not None]
    assert {r.table for r in tested} == {"people", "visits"}
    assert result.verdict().n_tests == len(tested)
    assert set(result.frame()["table"]) >= {"", "people", "visits"}


@pytest.mark.slow
def test_the_report_is_rebuilt_from_its_json(written, tmp_path):
    _, result = written
    result.to_json(tmp_path / "a.json")
    again = SuiteResult.from_json(tmp_path / "a.json")
    pages = [
        PDFRenderer().render(each, tmp_path / f"{i}.pdf").read_bytes()
        for i, each in enumerate((result, again))
    ]
    assert pages[0] == pages[1]


def test_the_drawing_of_the_schema_has_every_table(written):
    structure = written[1]["schema_structure"]
    frame = structure.display().frame().set_index("table")
    assert frame["role"].to_dict() == {
        "people": "subject",
        "visits": "dependent",
        "items": "dependent",
        "messages": "dependent",
        "shops": "reference",
    }
    assert frame.loc["people", ["train", "holdout", "synthetic"]].tolist() == [60, 60, 60]
    assert np.isfinite(structure.value)
