"""Pages in a real browser: nothing is fetched, nothing complained of, keys sort, a phone can read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from skeval import MetricSuite, SuiteResult
from skeval.datasets import make_mixed
from skeval.fidelity import SimilarityScore, TVComplement
from tests.reporting.browser import Browser, browser_path

pytestmark = pytest.mark.browser

SCORES = 'document.querySelectorAll("#scores table.sortable")[0]'
FIRST_COLUMN = f"""[...{SCORES}.tBodies[0].rows]
.map((row) => row.cells[%d].dataset.v ?? row.cells[%d].textContent)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = browser_path()
    assert path, "no Chromium; install it, or name one in SKEVAL_BROWSER"
    with Browser(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def path(odd: SuiteResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odd.to_html(tmp_path_factory.mktemp("html") / "report.html")


@pytest.fixture(scope="module")
def compared(tables: list[pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    candidates = {"one": tables[2], "other": make_mixed(400, random_state=3)}
    suite = MetricSuite([("tv", TVComplement()), ("similarity", SimilarityScore())])
    comparison = suite.fit(*tables[:2]).compare(candidates)
    return comparison.to_html(tmp_path_factory.mktemp("html") / "compared.html")


@pytest.mark.parametrize("page", ["path", "compared"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_fetched_and_nothing_overflows(
    browser: Browser, page: str, width: int, request: pytest.FixtureRequest
) -> None:
    path = request.getfixturevalue(page)
    browser.requests.clear()
    browser.open(path, width)
    assert {url.split(":")[0] for url in browser.requests} <= {"file", "data"}
    assert set(browser.requests) - {u for u in browser.requests if u.startswith("data:")} == {
        path.as_uri()
    }
    assert browser.messages == []
    assert browser.value("document.documentElement.scrollWidth") <= width
    beyond = """[...document.querySelectorAll("main *:not(svg *)")].filter((e) =>
        e.getBoundingClientRect().right > innerWidth + 1).length"""
    assert browser.value(beyond) == 0


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_no_word_of_the_scores_is_broken(browser: Browser, path: Path, width: int) -> None:
    """A cell that holds one word has it on one line."""
    browser.open(path, width)
    broken = """[...document.querySelectorAll("table.sortable td.words > div")].filter((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        const lines = new Set([...range.getClientRects()].map((one) => Math.round(one.top)))
        return lines.size > cell.textContent.split(" ").length
    }).map((cell) => cell.textContent)"""
    assert browser.value('document.querySelectorAll("table.sortable td.words > div").length') > 5
    assert browser.value(broken) == []


def test_columns_are_sorted_by_keys_alone(browser: Browser, path: Path) -> None:
    browser.open(path, 1280)
    heads = browser.value(f"[...{SCORES}.tHead.rows[0].cells].map((head) => head.textContent)")
    place = heads.index("Value")
    script = FIRST_COLUMN % (place, place)
    before = browser.value(script)
    browser.value(f'{SCORES}.querySelectorAll("thead button")[{place - 1}].focus()')
    browser.press("Tab", 9)
    assert browser.value("document.activeElement.textContent") == "Value"
    browser.press("Enter", 13, "\r")
    known = [float(value) for value in browser.value(script) if value]
    assert known == sorted(known)
    assert known != [float(value) for value in before if value]
    state = f'{SCORES}.querySelectorAll("thead th")[{place}].ariaSort'
    assert browser.value(state) == "ascending"
    browser.press("Enter", 13, "\r")
    assert [float(value) for value in browser.value(script) if value] == known[::-1]
    assert browser.value(state) == "descending"
    assert browser.messages == []


def test_no_other_script_runs(browser: Browser, path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    hostile = tmp_path / "hostile.html"
    hostile.write_text(
        text.replace("<main>", '<main><script>document.title = "run"</script>', 1), encoding="utf-8"
    )
    browser.open(hostile, 800)
    assert browser.value("document.title") != "run"
    assert any("Content Security Policy" in message for message in browser.messages)
    browser.messages.clear()


def test_rows_are_filtered_by_words(browser: Browser, path: Path) -> None:
    browser.open(path, 1280)
    shown = (
        f"[...{SCORES}.tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.innerText)"
    )
    before = browser.value(shown)
    for words in ("worse REAL", "no such words"):
        browser.value(
            f"""{{ const input = {SCORES}.parentElement.previousElementSibling.firstElementChild
            input.value = "{words}"; input.dispatchEvent(new Event("input")) }}"""
        )
        expected = [
            row for row in before if all(word in row.lower() for word in words.lower().split())
        ]
        assert browser.value(shown) == expected
        assert len(expected) < len(before)
