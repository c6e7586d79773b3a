"""Documents of several tables, of sequences and of free text, and of metrics of the user."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from skeval import MetricTags, Result, SuiteResult
from skeval.reporting.document.blocks import Comparison, Headline, HeatTables, Page, Table
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.report import make_document
from skeval.reporting.document.spans import plain
from skeval.results.provenance import ColumnRecord, InputRecord
from skeval.results.result import Contrast
from tests.reporting.document.releases import N, State, of_privacy, release
from tests.reporting.document.test_first_page import block, sentences
from tests.snapshots import note

OF_KEYS = MetricTags(
    "validity", greater_is_better=True, bounds=(0.0, 1.0), needs=frozenset({"relational"})
)
OF_LINKS = replace(OF_KEYS, aspect="fidelity")
OF_TEXTS = MetricTags(
    "fidelity", greater_is_better=True, bounds=(0.0, 1.0), needs=frozenset({"text"})
)
KEY = "visits.person -> people.person"


def of_tables(**states: State) -> SuiteResult:
    """Return results of several tables, each with an outcome of its own, and of their keys."""
    results = dict(relations())
    provenance = release("none").provenance
    assert provenance is not None
    inputs, columns = [], []
    for table, state in states.items():
        own = release(state, ("age", "city", table))
        results |= {f"{table}/{n}": replace(one, table=table) for n, one in own.items()}
        roles = ("train", "holdout", "synthetic")
        inputs += [InputRecord(f"{role}/{table}", N, N, "33dbac0a" * 8) for role in roles]
        columns += [ColumnRecord(c, "continuous", table=table) for c in ("age", "city", table)]
    whole = replace(provenance, inputs=tuple(inputs), columns=tuple(columns))
    sizes = {"train": 2 * N, "holdout": 2 * N, "synthetic": 2 * N}
    return SuiteResult(results, sizes=sizes, provenance=whole)


def relations() -> dict[str, Result]:
    lengths = {"visits": {"n_sequences": 120, "mean": 5.65}}
    return {
        "schema": Result(
            1.0,
            baseline=1.0,
            metric="SchemaStructure",
            tags=OF_KEYS,
            details={
                "tables": {"people": {"role": "subject", "n_rows": {"train": N, "synthetic": N}}}
            },
        ),
        "references": Result(
            0.98,
            baseline=1.0,
            metric="ReferentialIntegrity",
            tags=OF_KEYS,
            details={"columns": {KEY: 0.98}, "null": {KEY: 0.1}, "null_of_train": {KEY: 0.2}},
        ),
        "children": Result(
            0.94,
            baseline=0.93,
            metric="CardinalityShapeSimilarity",
            tags=OF_LINKS,
            details={"columns": {KEY: 0.94}, "mean": {KEY: {"train": 3.9, "synthetic": 4.1}}},
        ),
        "lengths": Result(
            0.45,
            baseline=0.93,
            difference=(-0.5, -0.46),
            metric="SequenceLengthSimilarity",
            tags=OF_LINKS,
            details={"lengths": lengths, "worst": {"column": "visits", "value": 0.45}},
        ),
    }


def pages(results: SuiteResult) -> dict[str, Page]:
    return {page.name: page for page in make_document(results).pages}


@pytest.fixture(scope="module")
def two_tables() -> dict[str, Page]:
    return pages(of_tables(people="none", visits="leak"))


def test_page_1_has_the_strongest_evidence_of_all_tables(two_tables: dict[str, Page]) -> None:
    page = two_tables["decision"]
    rows: Comparison = block(page, "privacy")
    first = rows.groups[0].rows[0]
    assert first.answer == "leak: +12 points"
    assert plain(first.note).startswith("visits: ")
    headline: Headline = block(page, "headline")
    assert plain(headline.title).startswith("A leak was found")
    assert "The leak shows most in visits.age" in plain(headline.deck)
    assert len(rows.groups[0].rows) + len(rows.groups[1].rows) == 8
    assert {plain(row.note) for row in block(page, "fidelity").groups[0].rows} == {"people"}
    loss: HeatTables = block(page, "loss")
    assert plain(loss.title).startswith("The biggest loss in people: ")


def test_pages_tell_tables_apart(two_tables: dict[str, Page]) -> None:
    titles = [page.title for page in two_tables.values()]
    assert len(set(titles)) == len(titles)
    headlines = [plain(block(page, "headline").title) for page in two_tables.values()]
    assert len(set(headlines)) == len(headlines)
    assert "table2-attacks" in two_tables
    assert two_tables["table2-attacks"].title == "visits: Privacy: attacks on records"
    # names of pages are used as addresses, so that they have no name of the user
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in two_tables)


def test_a_leak_of_one_table_is_not_one_of_another(two_tables: dict[str, Page]) -> None:
    outcomes = {
        name: {row.outcome for group in block(page, "attacks").groups for row in group.rows}
        for name, page in two_tables.items()
        if name.endswith("attacks")
    }
    assert Outcome.LEAK in outcomes["table2-attacks"]
    assert Outcome.LEAK not in outcomes["table1-attacks"]


def test_all_numbers_by_table(two_tables: dict[str, Page]) -> None:
    numbers: Table = block(two_tables["numbers"], "numbers")
    titles = [title for title, _ in numbers.groups]
    assert titles[:2] == ["Fidelity", "Validity"]
    assert titles[2:5] == ["people: Privacy", "people: Fidelity", "people: Validity"]
    first = {plain(row[0].text) for _, rows in numbers.groups for row in rows}
    assert len(first) == sum(len(rows) for _, rows in numbers.groups)


def test_keys_children_and_sequences(two_tables: dict[str, Page]) -> None:
    note([one for one in sentences(two_tables["relations"].blocks) if one])


def test_further_measures_on_page_1(two_tables: dict[str, Page]) -> None:
    more = plain(block(two_tables["decision"], "fidelity").more)
    assert more == "Of 2 further measures of linked rows, 1 is below unseen rows."


# free text -------------------------------------------------------------------------------------


def of_texts() -> SuiteResult:
    results = release("none")
    texts = replace(of_privacy("screen"), needs=frozenset({"text"}))
    shares = {role: [0.5, 0.3, 0.2] for role in ("train", "holdout", "synthetic")}
    more = {
        "text_copies": Result(
            0.17,
            p_value=1e-9,
            metric="TextExactMatch",
            tags=texts,
            contrast=Contrast("distinct synthetic texts that equal a train text", 0.17, 0.0),
        ),
        "novelty": Result(
            0.44,
            interval=(0.4, 0.48),
            p_value=1e-9,
            metric="NGramNovelty",
            tags=replace(texts, greater_is_better=True),
            contrast=Contrast("runs of words", 0.44, 0.67, high_leaks=False),
        ),
        "passages": Result(
            8.1,
            p_value=0.4,
            baseline=7.4,
            metric="LongestCommonSubstring",
            tags=texts,
            contrast=Contrast("words", 8.1, 7.4, share=False),
        ),
        "entities": Result(
            0.2,
            p_value=0.2,
            metric="EntityLeakage",
            tags=texts,
            contrast=Contrast("share of train", 0.6, 0.5),
            details={"types": {"EMAIL": {"train": 50, "holdout": 1}}},
        ),
        "text_lengths": Result(
            0.94,
            baseline=0.95,
            difference=(-0.02, 0.01),
            metric="TextLengthSimilarity",
            tags=OF_TEXTS,
            details={"marginals": {"note": {"shares": shares}}},
        ),
    }
    return SuiteResult({**results, **more}, sizes=results.sizes, provenance=results.provenance)


def test_the_page_of_texts() -> None:
    note([one for one in sentences(pages(of_texts())["texts"].blocks) if one])


def test_a_low_rate_that_leaks_is_shown_as_its_complement() -> None:
    row = block(pages(of_texts())["texts"], "tests").groups[0].rows[1]
    assert (row.shown, row.shown_reference, row.answer) == ("56.0%", "33.0%", "leak: +23 points")
    assert row.interval == pytest.approx((52.0, 60.0))


def test_a_copied_text_is_no_copied_row() -> None:
    results = of_texts()
    without = {n: one for n, one in results.items() if n != "novelty"}
    found: Headline = block(
        pages(SuiteResult(without, sizes=results.sizes))["decision"], "headline"
    )
    assert "**" not in plain(found.deck)
    assert "17 of 100 distinct synthetic texts equal a training text" in plain(found.deck)


# survival --------------------------------------------------------------------------------------


def test_survival_is_utility() -> None:
    tags = MetricTags("utility", greater_is_better=True, bounds=(0.0, 1.0))
    details = {"difference": {"low": -0.2, "high": -0.1}}
    survival = Result(0.6, baseline=0.75, metric="SurvivalTSTR", tags=tags, details=details)
    found = pages(SuiteResult({**release("none"), "survival": survival}))
    tile = block(found["decision"], "tiles").tiles[3]
    assert (tile.answer, plain(tile.evidence)) == (
        "Below baseline",
        "worst measure 0.60, real rows 0.75",
    )
    title = plain(block(found["utility"], "headline").title)
    assert title == "Analyses of the synthetic table fall short of analyses of real rows"
    steps = " ".join(map(plain, block(found["decision"], "steps").items))
    assert "Name a target column" not in steps


# a metric of the user --------------------------------------------------------------------------


def test_a_metric_of_the_user_is_among_all_numbers() -> None:
    own = Result(0.25, baseline=0.1, tags=MetricTags("fidelity", greater_is_better=False))
    results: dict[str, Any] = {**release("none"), "city_gap": own}
    numbers: Table = block(pages(SuiteResult(results))["numbers"], "numbers")
    rows = {plain(row[0].text): row for _, rows in numbers.groups for row in rows}
    assert plain(rows["city_gap"][1].text) == "0.25"
