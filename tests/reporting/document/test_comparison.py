"""The document of several synthetic tables: which is ahead, by how much, and what is not known."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from skeval import MetricTags, Result, SuiteResult, compare
from skeval.reporting.document.blocks import Document, DotRows, Headline, Page, Table
from skeval.reporting.document.compared_report import make_comparison_document
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import plain
from skeval.results.comparison import Comparison
from skeval.results.policy import Policy
from skeval.results.release import Release
from tests.reporting.document.releases import State, release
from tests.reporting.document.test_first_page import block, sentences
from tests.snapshots import note

LEARNS = MetricTags("utility", greater_is_better=True, bounds=(0.0, 1.0), quoted="learning")
RELATIONS = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0), quoted="relations")


def table(
    state: State = "none",
    learned: float = 0.8,
    relations: float = 0.8,
    *,
    stated: Release | None = None,
    without: str = "",
) -> SuiteResult:
    """Return results of a table of which a model learns, and that keeps some relations."""
    results = release(state, stated=stated)
    more = {
        "relations": replace(
            results["relations"],
            value=relations,
            interval=(relations - 0.02, relations + 0.02),
            difference=(relations - 1.02, relations - 0.98),
            tags=RELATIONS,
        ),
        "tstr": Result(
            learned,
            (learned - 0.02, learned + 0.02),
            baseline=0.9,
            metric="TSTR",
            tags=LEARNS,
            details={
                "target": "city",
                "scoring": "roc_auc",
                "difference": {"low": learned - 0.92, "high": learned - 0.88},
            },
        ),
    }
    kept = {name: one for name, one in {**results, **more}.items() if name != without}
    return SuiteResult(kept, sizes=results.sizes, provenance=results.provenance)


def of_other_rows(results: SuiteResult) -> SuiteResult:
    assert results.provenance is not None
    inputs = tuple(replace(one, cells="0" * 64) for one in results.provenance.inputs)
    provenance = replace(results.provenance, inputs=inputs)
    return SuiteResult(dict(results), sizes=results.sizes, provenance=provenance)


STRICT = Release(thresholds=Policy(fail_on=(), require=("tstr >= 0.95",)))
CASES = {
    "ahead": lambda: {"tree": table(), "copula": table(learned=0.72, relations=0.6)},
    "against": lambda: {"tree": table(relations=0.6), "copula": table(learned=0.72)},
    "tied": lambda: {"tree": table(), "copula": table()},
    "only one": lambda: {"tree": table("leak"), "copula": table()},
    "leaks": lambda: {"tree": table("leak"), "copula": table("small")},
    "copies": lambda: {"tree": table("leak"), "copula": table("copies")},
    "useless": lambda: {"tree": table(learned=0.55), "copula": table(learned=0.55)},
    "violated": lambda: {"tree": table(stated=STRICT), "copula": table(stated=STRICT)},
    "other rows": lambda: {"tree": table(), "copula": of_other_rows(table())},
    "incomplete": lambda: {"tree": table(), "copula": table(without="similarity"), "c": table()},
}


def comparison(case: str) -> Comparison:
    return compare(CASES[case]())


@cache
def pages(case: str, *, is_short: bool = False) -> dict[str, Page]:
    document: Document = make_comparison_document(comparison(case), is_short=is_short)
    return {page.name: page for page in document.pages}


def title(case: str) -> str:
    found: Headline = block(pages(case)["choice"], "headline")
    return plain(found.title)


@pytest.mark.parametrize("case", CASES)
def test_what_is_found_and_what_decided(case: str) -> None:
    page = pages(case)["choice"]
    blocks = tuple(block(page, one) for one in ("headline", "tables", "reasons", "untold"))
    note([one for one in sentences(blocks) if one])


@pytest.mark.parametrize("page", ["rule", "metrics", "differences"])
def test_sentences_of_further_pages(page: str) -> None:
    note([one for one in sentences(pages("ahead")[page].blocks) if one])


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("ahead", "tree is ahead in utility. Use this table."),
        ("tied", "tree and copula cannot be distinguished. Use any of them."),
        ("only one", "Only copula is not ruled out. Use this table."),
        ("leaks", "No table can be recommended. A leak was found in each."),
        ("useless", "No table can be recommended. None is good enough."),
        ("violated", "No table can be recommended. Each violates a threshold."),
        ("other rows", "No table can be recommended. The real tables differ."),
    ],
)
def test_headline(case: str, expected: str) -> None:
    assert title(case) == expected


def test_a_dot_per_table_and_the_same_rows_of_privacy() -> None:
    page = pages("incomplete")["choice"]
    privacy: DotRows = block(page, "privacy")
    fidelity: DotRows = block(page, "fidelity")
    assert [plain(one) for one in privacy.tables] == ["tree", "copula", "c"]
    assert len(privacy.rows) == 8
    assert {len(row.dots) for row in (*privacy.rows, *fidelity.rows)} == {3}
    missing = fidelity.rows[2].dots[1]
    assert missing.value is None


def test_a_leak_is_marked_in_its_row_with_its_points() -> None:
    row = block(pages("leaks")["choice"], "privacy").rows[0]
    assert [dot.value for dot in row.dots] == [12.0, 3.0]
    assert row.outcome is Outcome.LEAK
    assert plain(row.answer) == "leak: tree +12, one more"


def test_ahead_and_by_how_much() -> None:
    rows = block(pages("ahead")["choice"], "fidelity").rows
    assert re.fullmatch(r"tree ahead by \d+\.\d to \d+\.\d", plain(rows[-1].answer))


def test_all_metrics_and_all_differences() -> None:
    found = comparison("incomplete")
    by_name = {page.name: page for page in make_comparison_document(found).pages}
    values: Table = block(by_name["metrics"], "metrics")
    assert sum(len(rows) for _, rows in values.groups) == len(found.metrics)
    differences: Table = block(by_name["differences"], "differences")
    assert sum(len(rows) for _, rows in differences.groups) == len(found.differences)
    lacking = " ".join(sentences(block(by_name["metrics"], "lacking")))
    assert "Similarity score. copula: Not measured." in lacking


def with_map(shift: int) -> SuiteResult:
    cells = [[0.5, 0.5], [None, None]]
    shifted = cells[shift:] + cells[:shift]
    details = {
        "maps": {"train": cells, "holdout": cells, "synthetic": shifted},
        "edges": {"x": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 2.0]},
    }
    tags = MetricTags("fidelity", greater_is_better=False, bounds=(0.0, 1.0))
    result = Result(0.1 * shift, details=details, metric="MapDistance", tags=tags)
    return SuiteResult({**table(), "map": result})


def test_all_tables_are_on_one_map_and_on_one_front() -> None:
    found = compare({"same": with_map(0), "shifted": with_map(1)})
    page = {one.name: one for one in make_comparison_document(found).pages}["rule"]
    (row,) = block(page, "maps").rows
    assert [one.caption for one in row.pictures] == ["Training", "Unseen", "same", "shifted"]
    assert row.pictures[0].svg == row.pictures[2].svg != row.pictures[3].svg
    front = block(page, "front")
    assert front.alternative == "No table is better in both scores than same and shifted."


def test_many_tables_are_shown_in_several_parts() -> None:
    found = compare({f"table {i}": table() for i in range(7)})
    page = {one.name: one for one in make_comparison_document(found).pages}["metrics"]
    tables = [one for one in page.blocks if isinstance(one, Table)]
    assert [len(one.heads) for one in tables] == [9, 6]


def test_a_short_document_has_three_pages() -> None:
    assert list(pages("ahead", is_short=True)) == ["choice", "metrics", "origin"]


def test_thresholds_name_their_table() -> None:
    rows = block(pages("violated")["origin"], "thresholds").groups[0][1]
    assert [plain(row[0].text) for row in rows] == ["tree"] * 2 + ["copula"] * 2


def test_no_page_calls_data_safe() -> None:
    for case in CASES:
        text = " ".join(one for page in pages(case).values() for one in sentences(page.blocks))
        assert not re.search(r"\b(safe|anonymous|private)\b", text.lower())
        assert "No test can show that nothing leaks" in text
