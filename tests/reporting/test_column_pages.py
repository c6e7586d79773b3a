"""A column in one place: figures, scores, pairs, flaws and attacks."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pandas as pd
import pytest

from skeval import MetricTags, Result, SuiteResult, make_suite
from skeval.exceptions import InvalidParameterError
from skeval.reporting import HTMLRenderer, PDFRenderer
from skeval.reporting.column_pages import column_pages
from skeval.reporting.layout import Folded, Grid, Number
from skeval.reporting.old_displays.distributions import MarginalDisplay, PairDisplay
from tests.reporting.conftest import evaluated, repeated
from tests.snapshots import raises

FIDELITY = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
ATTACK = MetricTags("privacy", greater_is_better=False, bounds=(0, 1), evidence="attack")


@pytest.fixture(scope="module")
def pages(suite_result: SuiteResult) -> dict[str, Folded]:
    return {page.title: page for page in column_pages(suite_result, None)}


def grids(page: Folded) -> dict[str, Grid]:
    return {part.title: part for part in page.parts if isinstance(part, Grid)}


def test_each_column_has_its_figures_scores_pairs_and_shares(
    pages: dict[str, Folded], suite_result: SuiteResult
) -> None:
    matrix = suite_result["similarity"].details
    assert list(pages) == matrix["names"]
    for name, page in pages.items():
        (marginal,) = [i.display for i in page.items if isinstance(i.display, MarginalDisplay)]
        pairs = [i.display for i in page.items if isinstance(i.display, PairDisplay)]
        assert marginal.name == name
        assert all(name in pair.columns for pair in pairs)
        tables = grids(page)
        scores = {row[0]: row[1] for row in tables["Scores"].rows}
        score = scores["Similarity score"]
        assert isinstance(score, Number)
        assert score.value == matrix["columns"][name]
        with_ = {row[0]: row for row in next(t for n, t in tables.items() if "Pairs" in n).rows}
        assert name not in with_
        i = matrix["names"].index(name)
        for other, row in with_.items():
            assert isinstance(row[1], Number)
            assert row[1].value == matrix["matrix"][i][matrix["names"].index(other)]
        shares = tables["Shares of rows"]
        assert shares.heads == ("Value", "train", "holdout", "synthetic")
        assert len(shares.rows) == len(marginal.shown)


def attack(secret: str = "", p_value: float = 0.001) -> Result:
    rates = {"attack": {"n": 100, "n_success": 30}, "control": {"n": 100, "n_success": 10}}
    by_column = {} if secret else {"age": {"n": 50, "train": 20, "holdout": 5, "p_value": 0.01}}
    one = {**rates, "p_adjusted": p_value, "columns": by_column}
    named = {"secrets": {secret: one}} if secret else {"attacks": {"singling out": one}}
    return Result(0.2, p_value=p_value, details=named, tags=ATTACK)


@pytest.mark.parametrize("p_value", [0.001, 0.5])
def test_attacks_by_a_column_and_on_it_are_named(p_value: float) -> None:
    ks = Result(0.9, tags=FIDELITY, details={"columns": {"age": 0.9, "sex": 1.0}})
    results = {"ks": ks, "out": attack(p_value=p_value), "in": attack("sex", p_value)}
    age, sex = column_pages(results, None)
    (row,), alarms = grids(age)["Attacks"].rows, grids(age)["Attacks"].alarms
    assert row == ("singling out", "rows singled out in 50 tries", "20", "5", "0.0100")
    (other,) = grids(sex)["Attacks"].rows
    assert other[:4] == ("inference of sex", "rows whose value is inferred", "30.0%", "10.0%")
    assert bool(alarms) == bool(grids(sex)["Attacks"].alarms) == (p_value < 0.05)
    assert sex.note == ("1 fault" if p_value < 0.05 else "no fault found")


def test_odd_details_are_left_out() -> None:
    """Results of a file may hold anything."""
    odd = {"columns": {"a": "no", "b": math.nan}, "names": ["a"], "matrix": [[1]], "attacks": 3}
    results = {
        "ks": Result(0.9, tags=FIDELITY, details=odd),
        "x": Result(0.1, tags=ATTACK, details=odd),
    }
    assert [page.title for page in column_pages(results, None)] == ["a", "b"]
    assert column_pages({}, None) == ()


@pytest.mark.slow
def test_a_page_links_columns_and_shows_a_figure_twice_but_has_it_once(
    suite_result: SuiteResult, tmp_path: Path
) -> None:
    text = suite_result.to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    ids = re.findall(r'<details id="(column-\d+)">', text)
    assert len(ids) == len(set(ids)) == 7
    linked = set(re.findall(r'<figcaption><a href="#(column-\d+)">', text))
    assert linked == set(ids)
    used = re.findall(r'<use href="#(figure-\d+)"', text)
    assert len(used) >= 7
    assert set(used) <= set(re.findall(r'<svg id="(figure-\d+)"', text))


@pytest.mark.slow
def test_it_stands_alone_and_on_no_paper(suite_result: SuiteResult, tmp_path: Path) -> None:
    renderer = HTMLRenderer(sections=["by_column"])
    text = renderer.render(suite_result, tmp_path / "a.html").read_text(encoding="utf-8")
    assert text.count("<details") == 7
    drawn = set(re.findall(r'<svg id="(figure-\d+)"', text))
    assert set(re.findall(r'<use href="#(figure-\d+)"', text)) <= drawn  # a pair is of two columns
    with raises(InvalidParameterError):
        PDFRenderer(sections=["by_column"]).render(suite_result, tmp_path / "a.pdf")


@pytest.mark.slow
def test_forty_columns_stay_under_three_megabytes(
    tables: list[pd.DataFrame], tmp_path: Path
) -> None:
    """All metrics of the preset but attacks, which add no figure a column."""
    wide = [repeated(table.head(300), 40) for table in tables]
    result = evaluated(make_suite("fidelity"), wide)
    path = result.to_html(tmp_path / "a.html")
    assert path.read_text(encoding="utf-8").count("<details") == 40
    assert path.stat().st_size < 2_700_000
