"""The appendix: each column, the pairs of the chosen columns, and all scores by column."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skeval import MetricTags, ReportColumns, Result, SuiteResult
from skeval.reporting.document.blocks import Headline, Page, PictureRows
from skeval.reporting.document.report import make_document
from skeval.reporting.document.spans import plain
from skeval.reporting.typesetting.render import render_pdf
from tests.reporting.document.releases import release
from tests.reporting.document.test_first_page import block, sentences
from tests.reporting.document.test_further_pages import with_results
from tests.reporting.typesetting.test_typesetting import ODD_NAMES
from tests.snapshots import note

NAMES = ("age", "city", "income", "since")


def shadow_attack(membership: Result) -> Result:
    """Return an attack whose curve has intervals, as its display needs them."""
    rates = membership.details["curve"]["fpr"]
    curve = {**dict.fromkeys(("fpr", "tpr", "low", "high"), rates), "n_others": 100}
    return replace(
        membership,
        metric="LikelihoodRatioAttack",
        value=0.6,
        tags=replace(membership.tags, display="ROCDisplay"),
        details={**membership.details, "curve": curve},
    )


def appendix_results() -> SuiteResult:
    """Results with the distributions of four columns and three of their six pairs."""
    results = release("none", NAMES)
    similarity = results["similarity"]
    bins = {"train": [0.5, 0.4, 0.0, 0.1], "synthetic": [0.4, 0.5, 0.05, 0.05]}
    dates = {"train": [0.6, 0.4, 0.0, 0.0], "synthetic": [0.5, 0.5, 0.0, 0.0]}
    counts = [0.3, 0.25, 0.2, 0.1, 0.05, 0.04, 0.03, 0.03, 0.0, 0.0]
    marginals = {
        "age": {"kind": "continuous", "labels": [], "edges": [17.5, 40.5, 63.5], "shares": bins},
        "city": {
            "kind": "categorical",
            "labels": [*(f"city {i}" for i in range(7)), "12 others"],
            "edges": None,
            "shares": {"train": counts, "synthetic": counts[::-1], "holdout": counts},
        },
        "since": {"kind": "datetime", "labels": [], "edges": [0, 8.6e7, 1.7e8], "shares": dates},
        "unreadable": {"kind": "continuous", "labels": [], "edges": [0, 1], "shares": bins},
    }
    matrix = np.full((4, 4), 0.96)
    matrix[0, 1] = matrix[1, 0] = 0.4
    pair = {**similarity.details["pairs"][0], "invented": {"cells": [[1, 1]], "share": 0.2}}
    pairs = [{**pair, "columns": pair_of} for pair_of in (NAMES[:2], NAMES[1:3], NAMES[2:])]
    details = {
        **similarity.details,
        **{"marginals": marginals, "matrix": matrix, "pairs": pairs},
        "columns": {"age": 0.9, "city": 0.52, "since": 0.95},
        "baseline_columns": {"age": 0.97, "city": 0.98},
    }
    missing = {"age": {"train": 0.1, "synthetic": 0.05}}
    return with_results(
        results,
        similarity=replace(similarity, details=details, summary="Columns are alike."),
        missing=Result(
            0.95,
            details={"shares": missing, "columns": {"age": 0.95}},
            metric="MissingValueSimilarity",
            tags=MetricTags("validity", greater_is_better=True, bounds=(0.0, 1.0)),
        ),
        cramers=replace(results["phik"], metric="CramersVDifference"),
        matrix=replace(similarity, details={"names": list(NAMES), "matrix": np.eye(4)}),
        shadow=shadow_attack(results["membership"]),
        curve=Result(
            0.9,
            details={
                "precision": [0.0, 0.8, 1.0],
                "recall": [1.0, 0.9, 0.0],
                **{"f_beta": 0.9, "f_beta_inv": 0.8, "beta": 8},
            },
            metric="PRDCurve",
            tags=MetricTags("fidelity", greater_is_better=True),
        ),
    )


def appendix(**settings: Any) -> dict[str, Page]:
    document = make_document(appendix_results(), **settings)
    return {page.name: page for page in document.pages if page.title.startswith("Appendix")}


def names_of(page: Page, name: str) -> list[str]:
    rows: PictureRows = block(page, name)
    return [plain(row.title) for row in rows.rows]


def test_the_appendix_follows_the_last_page() -> None:
    names = [page.name for page in make_document(appendix_results()).pages]
    assert names[-4:] == ["origin", "each-column", "each-pair", "by-column"]


def test_a_short_report_has_no_appendix() -> None:
    assert appendix(is_short=True) == {}


@pytest.mark.parametrize("name", ["each-column", "each-pair", "by-column"])
def test_sentences(name: str) -> None:
    note([one for one in sentences(appendix()[name].blocks) if one])


def test_alternatives_name_what_is_drawn() -> None:
    rows: PictureRows = block(appendix()["each-column"], "distributions")
    note([picture.alternative for row in rows.rows for picture in row.pictures])


def test_columns_are_chosen_by_section() -> None:
    pages = appendix(columns=ReportColumns(univ=["since", "age"], biv=["city", "income"]))
    assert names_of(pages["each-column"], "distributions") == ["since", "age"]
    assert names_of(pages["each-pair"], "each-pair") == ["city and income"]
    pages = appendix(columns=ReportColumns(univ=1, biv=3))
    assert names_of(pages["each-column"], "distributions") == ["age"]
    assert names_of(pages["each-pair"], "each-pair") == ["age and city", "city and income"]


def test_columns_are_chosen_by_table() -> None:
    results = appendix_results()
    tables = {
        f"{table}/{name}": replace(result, table=table)
        for table in ("people", "visits")
        for name, result in results.items()
    }
    columns = {"people": ReportColumns(univ=1), "visits": ReportColumns(univ=["city"])}
    document = make_document(SuiteResult(tables), columns=columns)
    page = next(one for one in document.pages if one.name == "each-column")
    shown = {one.title: [plain(row.title) for row in one.rows] for one in page.blocks[1:]}
    assert shown == {"people": ["age"], "visits": ["city"]}


def test_all_pairs_are_shown_on_request() -> None:
    results = appendix_results()
    similarity = results["similarity"]
    pair = similarity.details["pairs"][0]
    pairs = [{**pair, "columns": [a, b]} for a in NAMES for b in NAMES if a < b] * 2
    details = {**similarity.details, "pairs": pairs}
    results = with_results(results, similarity=replace(similarity, details=details))

    def n_shown(**settings: Any) -> int:
        document = make_document(results, **settings)
        page = next(one for one in document.pages if one.name == "each-pair")
        return len(block(page, "each-pair").rows)

    assert n_shown() == 8  # those below their ceiling, and some that agree
    assert n_shown(columns=ReportColumns(pairs="all")) == 12


def test_drawings_are_small_and_have_no_address() -> None:
    for page in appendix().values():
        for svg in re.findall(r"<svg xmlns.*?</svg>", repr(page)):
            assert len(svg) < 6_000
            assert svg.count("http") == 1  # of the name space


def test_curves_of_further_attacks_are_shown() -> None:
    figure = block(appendix()["by-column"], "own-figure")
    assert figure.title == "Likelihood ratio attack"
    said = plain(figure.note)
    assert said.startswith("At 1 false alarm in 100, 1.5 of 100 training records are found (1 exp")
    assert "AUC" in said or "value 0.60" in said


def test_cells_that_no_real_row_fills_are_framed() -> None:
    rows: PictureRows = block(appendix()["each-pair"], "each-pair")
    real, synthetic, difference = (one.svg for one in rows.rows[0].pictures)
    assert 'stroke="#b3261e"' in synthetic
    assert "stroke=" not in real + difference
    assert "Framed: 20.0%." in plain(rows.rows[0].note)


def test_matrices_of_all_metrics_are_shown_once() -> None:
    blocks = appendix()["by-column"].blocks
    shown = [one.title for one in blocks if isinstance(one, PictureRows)]
    assert shown == ["Similarity matrix", "Similarity score (matrix)", "Cramér's V-difference"]


def test_odd_names_satisfy_the_standards() -> None:
    results = appendix_results()
    similarity = results["similarity"]
    known = similarity.details["marginals"]
    odd = {name: known["age" if i % 2 else "city"] for i, name in enumerate(ODD_NAMES)}
    labeled = {**known["city"], "labels": [*ODD_NAMES[5:12], "3 others"]}
    details = {**similarity.details, "marginals": {**odd, "labels": labeled}}
    results = with_results(results, similarity=replace(similarity, details=details))
    assert render_pdf(make_document(results), results).startswith(b"%PDF")


def test_scores_of_columns_are_printed_with_those_of_unseen_rows() -> None:
    table = block(appendix()["by-column"], "by-column")
    rows = {
        plain(row[0].text): [plain(cell.text) for cell in row[1:]] for row in table.groups[0][1]
    }
    assert rows["age"] == ["5.0% | 10.0%", "0.90 | 0.97"]
    assert rows["since"] == ["", "0.95"]


def test_the_title() -> None:
    results = appendix_results()
    assert make_document(results).title == "Synthetic data report"
    document = make_document(results, title="A *title*")
    headline: Headline = document.pages[0].blocks[0]  # type: ignore[assignment]
    assert document.title == "A *title*"
    assert plain(headline.facts[0]) == "A *title*"
