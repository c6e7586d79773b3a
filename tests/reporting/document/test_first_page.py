"""The first page: what it says of each outcome, and that its rows are always the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from skeval import Result, SuiteResult, make_suite
from skeval.exceptions import GroupedRowsWarning, UnreadCellsWarning
from skeval.fidelity import PhikMatrixDifference, SimilarityScore
from skeval.reporting.document.blocks import (
    Cell,
    Comparison,
    ComparisonRow,
    Document,
    Headline,
    Page,
    Steps,
    Tile,
    Tiles,
)
from skeval.reporting.document.loss import find_loss
from skeval.reporting.document.report import make_document
from skeval.reporting.document.sentences.decks import copies_sentence
from skeval.reporting.document.sentences.untested import check_types
from skeval.reporting.document.spans import Span, plain
from skeval.results.policy import Policy
from skeval.results.release import Release
from skeval.results.result import Contrast
from skeval.stats.copied_rows import Copied, Copies
from tests.reporting.document.releases import COLUMNS, STATES, State, of_privacy, release
from tests.snapshots import note

# legends, facts and footer add about thirty-five words: see the test of the PDF
MAX_WORDS, MAX_WORDS_ON_TOP, MAX_WORDS_OF_STEP = 390, 100, 14
LONG = tuple(f"the_quite_long_name_of_a_column_that_nobody_would_write_{i:04d}" for i in range(3))


def first_page(results: SuiteResult) -> Page:
    return make_document(results).pages[0]


def block(page: Page, name: str) -> Any:
    return next(one for one in page.blocks if one.name == name)


def sentences(content: Any) -> Iterator[str]:
    """Yield the texts of blocks in their order."""
    if isinstance(content, tuple) and content and all(isinstance(one, Span) for one in content):
        yield plain(content)
    elif isinstance(content, tuple) and content and all(isinstance(c, Cell) for c in content):
        yield " | ".join(plain(cell.text) for cell in content)
    elif isinstance(content, str):
        yield content
    elif isinstance(content, tuple):
        for part in content:
            yield from sentences(part)
    elif isinstance(content, ComparisonRow | Tile):
        parts = [getattr(content, one.name) for one in fields(content)]
        yield " | ".join(part for one in parts for part in sentences(one) if part)
    elif is_dataclass(content):
        for one in fields(content):
            if one.name not in ("name", "legend", "ticks", "svg", "footer", "facts"):
                yield from sentences(getattr(content, one.name))


@pytest.mark.parametrize("state", STATES)
def test_sentences_of_each_outcome(state: State) -> None:
    note([one for one in sentences(first_page(release(state)).blocks) if one])


@pytest.mark.parametrize(
    ("state", "headline"),
    [
        ("small", "A small leak was found. Judge it before release."),
        ("leak", "A leak was found. Hold this release."),
        ("severe", "A severe leak was found. Do not release this table."),
        ("copies", "Copies of training records were found. Other leaks were not tested."),
        ("none", "No leak was found by these tests. Four results fall short."),
        ("inconclusive", "Privacy could not be tested: no unseen rows were given."),
    ],
)
def test_headline(state: State, headline: str) -> None:
    found: Headline = block(first_page(release(state)), "headline")
    assert plain(found.title) == headline


def test_copies_weigh_more_than_a_leak_that_is_not_severe() -> None:
    found: Headline = block(first_page(release("leak", n_copies=30)), "headline")
    assert plain(found.title).startswith("Copies of training records were found. Do not release")
    assert "30 rows unique in the training data" in plain(found.deck)
    found = block(first_page(release("severe", n_copies=30)), "headline")
    assert plain(found.title).startswith("A severe leak was found.")


@pytest.mark.parametrize("state", STATES)
def test_the_same_eight_rows_of_privacy(state: State) -> None:
    rows: Comparison = block(first_page(release(state)), "privacy")
    labels = [plain(row.label) for group in rows.groups for row in group.rows]
    assert labels == [
        "Pick out one record",
        "Tell who was in the training data",
        "Guess a hidden value",
        "Link two halves of a record",
        "Complete a whole record",
        "Tell training from unseen records (audit)",
        "Copies of training rows or values",
        "Closer to training than to unseen rows",
    ]


@pytest.mark.parametrize("state", ["small", "leak", "severe"])
def test_a_leak_has_a_row_with_its_points(state: State) -> None:
    page = first_page(release(state))
    rows: Comparison = block(page, "privacy")
    tiles: Tiles = block(page, "tiles")
    first = rows.groups[0].rows[0]
    excess = {"small": "+3", "leak": "+12", "severe": "+40"}[state]
    assert first.answer == f"leak: {excess} points"
    grade = "medium leak: " if state == "leak" else ""
    assert plain(tiles.tiles[0].evidence).startswith(f"{grade}{excess} points")


@pytest.mark.parametrize("state", STATES)
def test_words_on_the_page_are_few(state: State) -> None:
    page = first_page(release(state))
    assert n_words(page.blocks) <= MAX_WORDS
    assert n_words((block(page, "headline"), block(page, "tiles"))) <= MAX_WORDS_ON_TOP


@pytest.mark.parametrize("state", STATES)
def test_three_short_steps(state: State) -> None:
    steps: Steps = block(first_page(release(state)), "steps")
    assert 1 <= len(steps.items) <= 3
    assert all(len(plain(one).split()) <= MAX_WORDS_OF_STEP for one in steps.items)
    assert all(one[0].strong for one in steps.items)


def n_words(content: Any) -> int:
    return sum(
        bool(re.search("[a-zA-Z]", word)) for one in sentences(content) for word in one.split()
    )


@pytest.mark.parametrize("state", STATES)
def test_no_page_calls_data_safe(state: State) -> None:
    text = " ".join(sentences(first_page(release(state)).blocks)).lower()
    assert not re.search(r"\b(safe|anonymous|private)\b", text)
    assert "no test can show that nothing leaks" in text


def test_tiles_in_order_with_few_words() -> None:
    for state in STATES:
        tiles: Tiles = block(first_page(release(state)), "tiles")
        assert [one.label for one in tiles.tiles] == ["Privacy", "Fidelity", "Validity", "Utility"]
        assert all(len(one.answer.split()) <= 4 for one in tiles.tiles)
        assert all(len(plain(one.evidence)) <= 64 for one in tiles.tiles)


def test_long_names_are_cut_by_rule() -> None:
    page = first_page(release("leak", LONG))
    shown = [span for span in spans(page.blocks) if span.name]
    assert shown
    assert max(len(span.text) for span in shown) == 24
    assert {span.text[:7] for span in shown} == {"the_qui", "visits."}


def spans(content: Any) -> Iterator[Span]:
    if isinstance(content, Span):
        yield content
    elif isinstance(content, tuple):
        for part in content:
            yield from spans(part)
    elif is_dataclass(content):
        for one in fields(content):
            yield from spans(getattr(content, one.name))


def test_release_file_has_its_band() -> None:
    rules = Policy(fail_on=(), require=("relations >= 0.95", "ks >= 0.9"))
    stated = Release(title="Visits for the Ministry", recipient="Ministry", thresholds=rules)
    page = first_page(release("leak", stated=stated))
    band = block(page, "release")
    assert [label for label, _ in band.facts] == ["Title", "Recipient"]
    assert [(one.rule, one.answer) for one in band.thresholds] == [
        ("relations >= 0.95", "violated"),
        ("no metric failed", "met"),
        ("ks >= 0.9", "met"),
    ]
    fidelity: Comparison = block(page, "fidelity")
    limits = [row.limit for row in fidelity.groups[0].rows]
    assert limits == [90.0, None, None, None, 95.0]


def test_results_from_json_make_the_same_document() -> None:
    results = release("leak")
    again = SuiteResult.from_json(results.to_json())
    assert make_document(again).to_dict() == make_document(results).to_dict()


def test_no_results_at_all() -> None:
    document = make_document(SuiteResult({}))
    found: Headline = block(document.pages[0], "headline")
    assert plain(found.title) == "Privacy was not evaluated."
    assert isinstance(document, Document)


def test_columns_of_a_leak_come_from_significant_attacks_only() -> None:
    leak: Headline = block(first_page(release("leak")), "headline")
    none: Headline = block(first_page(release("none")), "headline")
    assert f"shows most in {COLUMNS[0]}." in plain(leak.deck)
    assert "shows most" not in plain(none.deck)


@pytest.mark.parametrize(
    ("stated", "label", "plural"),
    [
        (Release(noun="flight"), "Pick out one flight", "flights"),
        (Release(noun="person, people"), "Pick out one person", "people"),
        (Release(unit="subject"), "Pick out one subject", "subjects"),
    ],
)
def test_noun_of_the_release_file(stated: Release, label: str, plural: str) -> None:
    page = first_page(release("leak", stated=stated))
    rows: Comparison = block(page, "privacy")
    found: Headline = block(page, "headline")
    assert plain(rows.groups[0].rows[0].label) == label
    assert f"about training {plural} than about unseen {plural}" in plain(found.deck)


def test_a_test_without_two_rates_has_its_row() -> None:
    own = Result(3.2, p_value=1e-9, metric="OwnTest", tags=of_privacy("attack"))
    results = release("none")
    results = SuiteResult({**results, "own": own}, sizes=results.sizes)
    page = first_page(results)
    rows: Comparison = block(page, "privacy")
    tiles: Tiles = block(page, "tiles")
    row = rows.groups[0].rows[1]
    assert (plain(row.note), row.answer, row.value) == ("Own test", "leak", None)
    assert plain(tiles.tiles[0].evidence).startswith("1 of 5 tests")


def test_columns_with_unread_cells_are_named_also_from_json() -> None:
    results, notice = release("none"), UnreadCellsWarning("synthetic has cells.", ("age", "city"))
    results = SuiteResult(results, sizes=results.sizes, notices=(notice,))
    for one in (results, SuiteResult.from_json(results.to_json())):
        (check,) = block(first_page(one), "checks").paragraphs
        assert plain(check) == (
            "Some cells of age and city could not be read and count as missing."
        )


def test_smallest_leak_that_would_have_been_found() -> None:
    results = release("none")
    for name, excess in (("membership", 0.05), ("closer", 0.12)):
        stated = {"power": 0.8, "levels": [0.05, 0.0005], "excess": [excess, excess]}
        details = {**results[name].details, "smallest_leak": stated}
        results = SuiteResult(
            {**results, name: replace(results[name], details=details)}, sizes=results.sizes
        )
    found: Headline = block(first_page(results), "headline")
    assert (
        "With 500 unseen records, the smallest leak that these tests would have found is about 5 to "
        "12 percentage points, depending on the test." in plain(found.deck)
    )


def test_inconclusive_if_no_test_would_have_found_a_severe_leak() -> None:
    results = release("none")
    stated = {"power": 0.8, "levels": [0.05, 0.0005], "excess": [0.3, "inf"]}
    details = {**results["membership"].details, "smallest_leak": stated}
    results = SuiteResult(
        {**results, "membership": replace(results["membership"], details=details)},
        sizes=results.sizes,
    )
    assert results.verdict().outcome == "inconclusive"
    found: Headline = block(first_page(results), "headline")
    assert plain(found.title) == "Privacy could not be tested: there is too little to compare."


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.879, "Relations between columns are not (88 of 100, unseen real rows 100)."),
        (0.982, "Relations between columns are slightly less similar (98 of 100"),
        (0.9962, "Relations between columns are slightly less similar (99.6 of 100"),
    ],
)
def test_relations_that_are_nearly_as_in_unseen_rows_are_not_called_lost(value, said) -> None:
    results = release("none")
    kept = {name: result for name, result in results.items() if name not in ("phik", "similarity")}
    kept["relations"] = replace(results["relations"], value=value, difference=(-0.15, -0.001))
    page = first_page(SuiteResult(kept, sizes=results.sizes, provenance=results.provenance))
    headline: Headline = block(page, "headline")
    assert said in plain(headline.deck)


def test_copies_of_holdout_rows_are_the_reason_that_is_named() -> None:
    train, holdout, mixed = np.random.default_rng(0).integers(0, 12, (3, 300, 6)).astype(str)
    mixed[:40] = holdout[:40]
    tables = [pd.DataFrame(rows).add_prefix("c") + " of 12" for rows in (train, holdout, mixed)]
    results = make_suite("screens").fit(*tables[:2]).evaluate(tables[2])
    assert results.verdict().void_kinds == ("holdout used",)
    page = first_page(results)
    assert "holdout" in next(sentences(block(page, "headline")))
    assert any("new holdout" in text for text in sentences(block(page, "steps")))


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_cells_that_cannot_be_read_are_the_reason_that_is_named() -> None:
    train, holdout, mixed = np.random.default_rng(1).integers(0, 12, (3, 300, 6)).astype(str)
    tables = [pd.DataFrame(rows).add_prefix("c") + " of 12" for rows in (train, holdout, mixed)]
    tables[2].loc[:30, "c0"] = [
        f"{'; '.join(row)} and further words of any content" for row in mixed[:31]
    ]
    results = make_suite("screens").fit(*tables[:2]).evaluate(tables[2])
    assert results.verdict().void_kinds == ("unreadable cells",)
    page = first_page(results)
    headline: Headline = block(page, "headline")
    assert plain(headline.title) == "Privacy could not be tested: cells are missing or unreadable."
    assert not any("too small" in text for text in sentences(headline))
    assert any("unreadable" in text for text in sentences(block(page, "steps")))


def test_reversed_order_of_two_columns() -> None:
    results = release("leak")
    similarity = results["similarity"]
    pairs = [{**pair, "invented": {}} for pair in similarity.details["pairs"]]
    order = {"columns": ["age", "income"], "kind": "datetime", "synthetic": 0.342}
    for real, words in (
        ({"real": 0.035}, "3.5% of real records"),
        ({"real": None, "real_below": 0.01}, "less than 1.0% of real records"),
    ):
        details = {**similarity.details, "pairs": pairs, "reversed": [order | real]}
        changed = {**results, "similarity": replace(similarity, details=details)}
        document = make_document(SuiteResult(changed, sizes=results.sizes))
        sentence = (
            f"In 34.2% of synthetic records, age is later than income, compared with {words}."
        )
        assert f"Another pair: {sentence}" in plain(block(document.pages[0], "loss").note)
        (page,) = (one for one in document.pages if one.name == "pairs")
        assert plain(block(page, "reversed").paragraphs[0]) == sentence


def test_a_column_of_names_is_not_the_least_similar_pair() -> None:
    rng = np.random.default_rng(0)
    size = rng.normal(size=(2, 1_000))
    given = {
        role: pd.DataFrame(
            {
                "person": [f"{role} {i - (i % 40 == 1):04d}" for i in range(1_000)],
                "height": size[i],
                "weight": rng.normal(size=1_000),
            }
        )
        for i, role in enumerate(("train", "synthetic"))
    }
    suite = make_suite([SimilarityScore(), PhikMatrixDifference()]).fit(given["train"])
    loss = find_loss(suite.evaluate(given["synthetic"]))
    assert loss is not None
    assert set(loss.names) == {"height", "weight"}


@pytest.mark.parametrize(("found", "is_clearest"), [(0.3, True), (0.22, False)])
def test_values_weighted_by_rarity_are_the_clearest_case_if_twice_as_many(found, is_clearest):
    results = release("small")  # picks 3 more of 100 records
    of_values = Result(
        found,
        p_value=1e-6,
        baseline=0.2,
        metric="PartialMembershipInference",
        tags=of_privacy("attack"),
        contrast=Contrast("values", found, 0.2),
        details={"exposed_columns": {}},
    )
    both = SuiteResult({**results, "partial_membership": of_values}, sizes=results.sizes)
    headline: Headline = block(first_page(both), "headline")
    # a leak that is not one of records is not graded
    assert plain(headline.title) == "A leak was found. Hold this release."
    assert ("weighted by rarity" in plain(headline.deck)) == is_clearest


@pytest.mark.parametrize(
    ("kind", "columns", "said"),
    [
        ("combination", ["city"], "values of city in the training data also occur"),
        ("combination", ["age", "city"], "combinations of age and city in the training data also"),
        ("copied cell", ["city"], "synthetic rows have the value of city of the most similar"),
    ],
)
def test_parts_of_rows_are_named_by_their_kind(kind, columns, said):
    results = release("small")
    of_parts = Result(
        0.5,
        p_value=1e-6,
        baseline=0.2,
        metric="PartialMembershipInference",
        tags=of_privacy("attack"),
        contrast=Contrast("values", 0.7, 0.2),
        details={"kind": kind, "columns": columns},
    )
    both = SuiteResult({**results, "partial_membership": of_parts}, sizes=results.sizes)
    headline: Headline = block(first_page(both), "headline")
    assert f"weighted by rarity, 70 of 100 {said}" in plain(headline.deck)


@pytest.mark.parametrize("suffix", ["", ", 11 times or more in the release"])
def test_columns_in_which_copies_differ_are_named(suffix):
    copies = Copies(f"rows (age, city skipped{suffix})", Copied(10, 2), None, 0, 0)
    said = plain(copies_sentence(copies))
    assert "in the synthetic table, apart from age, city." in said
    assert "skipped" not in said


@pytest.mark.parametrize("outcome", ["none", "leak"])
def test_rows_of_groups_are_not_called_a_difference(outcome):
    results = release(outcome)
    notice = GroupedRowsWarning("Train and holdout are divided by person.")
    results = SuiteResult(results, sizes=results.sizes, notices=(notice,))
    headline: Headline = block(first_page(results), "headline")
    assert "rows come in groups" in plain(headline.title)
    assert "differ" not in plain(headline.title) + plain(headline.deck)


def test_names_that_no_table_shares_do_not_make_a_table_useless() -> None:
    results = release("none")
    fixture = results["tv"]
    for value, baseline, is_usable in ((0.47, 0.48, True), (0.2, 0.48, False)):
        gap = (value - baseline - 0.001, value - baseline + 0.001)
        short = replace(fixture, value=value, baseline=baseline, interval=None, difference=gap)
        changed = SuiteResult({**results, "tv": short}, sizes=results.sizes)
        headline: Headline = block(first_page(changed), "headline")
        assert ("not usable yet" not in plain(headline.title)) == is_usable


def test_many_columns_to_check_are_counted() -> None:
    assert plain(check_types(["a", "b"])) == "The type of a and b is in doubt."
    many = plain(check_types(list("abcdef")))
    assert many == "The type of a, b, c and 3 more is in doubt. See the page on provenance."
