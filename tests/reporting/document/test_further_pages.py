"""The pages behind the first: their sentences, and that a short report has fewer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skeval import MetricTags, Result, SuiteResult
from skeval.reporting.document.blocks import Comparison, Headline, HeatTables, Page, Table
from skeval.reporting.document.report import make_document
from skeval.reporting.document.spans import plain
from tests.reporting.document.releases import N, anonymeter_result, release
from tests.reporting.document.test_first_page import block, sentences
from tests.snapshots import note


def with_results(results: SuiteResult, **more: Result) -> SuiteResult:
    return SuiteResult({**results, **more}, sizes=results.sizes, provenance=results.provenance)


def detailed() -> SuiteResult:
    """Results with all that further pages show."""
    quantiles = {
        "levels": [0.25, 0.5, 0.75],
        "synthetic to train": [0.1, 0.2, 0.3],
        "synthetic to holdout": [0.1, 0.21, 0.32],
    }
    shares = {role: [0.5, 0.3, 0.2, 0.0] for role in ("train", "holdout", "synthetic")}
    results = release("leak")
    similarity = results["similarity"]
    details = {**similarity.details, "marginals": {"age": {"shares": shares}}}
    membership = results["membership"]
    ranked = [{"k": 100, "precision": 0.62, "interval": [0.5, 0.7]}]
    worst = {"above": 0.1, "up_to": 0.2, "auc": 0.575, "interval": [0.52, 0.63]}
    about = {"precision_at": ranked, "outliers": {"p_value": 0.001, "worst": worst}}
    return with_results(
        results,
        similarity=replace(similarity, details=details),
        membership=replace(membership, details={**membership.details, **about}),
        ks=replace(
            results["ks"],
            details={
                "columns": {"age": 0.7, "income": 0.99},
                "baseline_columns": {"age": 0.98, "income": 0.985},
                "p_values": {"age": 1e-9, "income": 0.4},
            },
        ),
        distances=Result(
            0.1,
            metric="NNDistanceDistributions",
            tags=MetricTags("fidelity", greater_is_better=False),
            details={"quantiles": quantiles},
        ),
        tstr=Result(
            0.54,
            baseline=0.98,
            metric="TSTR",
            tags=MetricTags("utility", greater_is_better=True, quoted="learning"),
            details={
                "target": "city",
                "scoring": "roc_auc",
                "difference": {"low": -0.5, "high": -0.4},
                "scores": {"roc_auc": {"tstr": 0.54, "trtr": 0.98}},
            },
        ),
    )


def pages() -> dict[str, Page]:
    return {page.name: page for page in make_document(detailed()).pages}


def test_names_of_pages() -> None:
    assert list(pages())[:8] == [
        *("decision", "attacks", "distances", "columns", "pairs", "utility", "numbers", "origin")
    ]


def test_a_short_report() -> None:
    document = make_document(detailed(), is_short=True)
    assert [page.name for page in document.pages] == ["decision", "numbers", "origin"]


@pytest.mark.parametrize(
    "name", ["attacks", "distances", "columns", "pairs", "utility", "numbers", "origin"]
)
def test_sentences_of_each_page(name: str) -> None:
    # definitions are the first lines of other modules' documentation
    blocks = tuple(one for one in pages()[name].blocks if one.name != "definitions")
    note([one for one in sentences(blocks) if one])


def test_pages_without_results_are_skipped() -> None:
    document = make_document(release("inconclusive"))
    assert [page.name for page in document.pages][:5] == [
        *("decision", "distances", "pairs", "numbers", "origin")
    ]


def test_attacks_are_sorted_and_significant_ones_first() -> None:
    rows: Comparison = block(pages()["attacks"], "attacks")
    answers = [row.answer for row in rows.groups[0].rows]
    assert answers[0] == "+12.0"
    assert len(answers) == 7


def test_numbers_are_those_that_were_tested() -> None:
    attacked = anonymeter_result(0.12, ("age", "city", "income"))
    attacks: dict[str, Any] = dict(attacked.details["attacks"])
    guess = {"p_value": 1e-6, "p_adjusted": 1e-6, "tested": {"observed": 0.4, "expected": 0.1}}
    attacks["inference of city"] = {**attacks["inference of city"], **guess}
    details = {**attacked.details, "attacks": attacks}
    results = with_results(release("leak"), anonymeter=replace(attacked, details=details))
    rows: Comparison = block(make_document(results).pages[0], "privacy")
    row = next(row for row in rows.groups[0].rows if plain(row.label) == "Guess a hidden value")
    assert (row.shown, row.shown_reference, row.answer) == ("80.0%", "50.0%", "leak: +30 points")
    assert plain(row.note) == "city, confident guesses (chance: 50%)"
    headline: Headline = block(make_document(results).pages[0], "headline")
    deck = plain(headline.deck)
    assert "of the most confident guesses of city that are correct, 80 of 100 are about" in deck


@pytest.mark.parametrize(
    ("share", "picked", "said"),
    [
        (0.02, 0.1, "15 of 15 correct guesses of city, of which an attacker is most confident"),
        (0.02, 0.4, "attempts to pick out"),  # more than the lower end of 15 of 15
        (0.2, 0.4, "of the most confident guesses of city that are correct, 100 of 100"),
    ],
)
def test_few_confident_guesses_are_counted(share, picked, said):
    attacked = anonymeter_result(picked, ("age", "city", "income"))
    attacks: dict[str, Any] = dict(attacked.details["attacks"])
    guess = {
        "p_value": 1e-6,
        "p_adjusted": 1e-6,
        "abstaining": {"p_value": 1e-6, "clearest": share},
        "tested": {"observed": 0.75, "expected": 0.0},
    }
    attacks["inference of city"] = {**attacks["inference of city"], **guess}
    details = {**attacked.details, "attacks": attacks}
    results = with_results(release("leak"), anonymeter=replace(attacked, details=details))
    headline: Headline = block(make_document(results).pages[0], "headline")
    assert said in plain(headline.deck)


def test_rates_that_were_not_stored_are_a_dash() -> None:
    attacked = anonymeter_result(0.12, ("age", "city", "income"))
    attacks: dict[str, Any] = dict(attacked.details["attacks"])
    old = {**attacks["inference of city"], "p_value": 1e-6, "p_adjusted": 1e-6}
    del old["tested"]
    attacks["inference of city"] = {**old, "abstaining": {"p_value": 1e-6, "clearest": 0.2}}
    details = {**attacked.details, "attacks": attacks}
    results = with_results(release("leak"), anonymeter=replace(attacked, details=details))
    rows: Comparison = block(make_document(results).pages[0], "privacy")
    row = next(row for row in rows.groups[0].rows if plain(row.label) == "Guess a hidden value")
    assert (row.shown, row.answer, row.value) == ("\N{EN DASH}", "leak", None)


def test_combinations_that_no_real_row_has_are_framed() -> None:
    loss: HeatTables = block(pages()["decision"], "loss")
    real, synthetic = (cells for _, cells in loss.tables)
    framed = [
        (i, j) for i, row in enumerate(synthetic) for j, one in enumerate(row) if one.is_invented
    ]
    assert framed == [(2, 1)]
    assert real[2][1].shown == "0"
    assert "20% of synthetic rows have combinations that no real row has" in plain(loss.note)


def test_a_metric_that_failed_is_listed_with_its_reason() -> None:
    failed = Result(
        np.nan, metric="TVComplement", error="needs categories.", tags=MetricTags("fidelity")
    )
    found = make_document(with_results(release("none"), tv=failed)).pages
    page = next(page for page in found if page.name == "numbers")
    skipped = block(page, "skipped")
    assert plain(skipped.paragraphs[0]) == "Total variation complement. Needs categories."


def test_all_metrics_are_in_the_table_of_numbers() -> None:
    table: Table = block(pages()["numbers"], "numbers")
    n_rows = sum(len(rows) for _, rows in table.groups)
    assert n_rows == len(detailed())
    assert {len(row) for _, rows in table.groups for row in rows} == {len(table.heads)}


def test_documents_are_plain_data() -> None:
    content = json.loads(json.dumps(make_document(detailed()).to_dict(), allow_nan=False))
    kinds = {one["kind"] for page in content["pages"] for one in page["blocks"]}
    assert {"Headline", "Tiles", "Comparison", "HeatTables", "Figure", "Table"} <= kinds


def test_sizes_are_stated() -> None:
    document = make_document(detailed())
    assert plain(document.facts[2]) == f"{N} training, {N} unseen and {N} synthetic rows"


def test_attacks_with_long_names_fit_on_their_page() -> None:
    many = tuple(f"column_{i:02d}" for i in range(40))
    rows: Comparison = block(make_document(release("leak", many)).pages[1], "attacks")
    assert len(rows.groups[0].rows) == 22
    assert (
        plain(rows.more)
        == "22 further attacks have a difference of 0.0 points. None is significant."
    )
    long = tuple(f"{name}_of_which_the_name_is_long" for name in many)
    rows = block(make_document(release("leak", long)).pages[1], "attacks")
    assert len(rows.groups[0].rows) == 16


def test_columns_of_a_leak_that_distances_show() -> None:
    results = release("none")
    closer = results["closer"]
    details = {**closer.details, "exposed_columns": ["tail", "time"]}
    for p_value, is_shown in ((1e-6, True), (0.02, False)):
        changed = with_results(results, closer=replace(closer, p_value=p_value, details=details))
        document = make_document(changed)
        text = " ".join(sentences(document.pages))
        assert (
            "Training records are closer to synthetic rows than unseen records are, most of all "
            "in tail and time." in text
        ) == is_shown
        assert ("Coarsen or drop tail and time, then refit the generator." in text) == is_shown
        assert ("The leak shows most in tail and time." in text) == is_shown
