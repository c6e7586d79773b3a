"""Pages in a real browser: nothing is fetched, nothing complained of, anybody can read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from skeval import MetricSuite, SuiteResult
from skeval.datasets import make_mixed
from skeval.fidelity import SimilarityScore, TVComplement
from tests.notebook import cell_of
from tests.reporting.browser import Browser, axe_core, browser_path

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
    # tables are moved within their boxes
    beyond = """[...document.querySelectorAll("main *:not(svg *, .wide *)")].filter((e) =>
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


BROKEN = """[...document.querySelectorAll("%s")].flatMap((cell) => {
    const words = [], walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
        const node = walker.currentNode
        for (const word of node.data.matchAll(/[^\\s]+/g)) {
            const range = document.createRange()
            range.setStart(node, word.index)
            range.setEnd(node, word.index + word[0].length)
            const tops = [...range.getClientRects()].map((one) => Math.round(one.top))
            if (new Set(tops).size > 1) words.push(word[0])
        }
    }
    return words
})"""


def test_a_notebook_of_700_points_breaks_no_word_and_shows_verdicts(
    browser: Browser, suite_result: SuiteResult, tmp_path: Path
) -> None:
    head = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>a</title></head>'
    page = tmp_path / "notebook.html"
    page.write_text(f"{head}<main>{cell_of(suite_result)}</main></html>", encoding="utf-8")
    browser.open(page, 700)
    assert browser.value("document.documentElement.scrollWidth") <= 700
    cells = ".skeval th, .skeval td"
    assert browser.value(f'document.querySelectorAll("{cells}").length') > 50
    # a hyphen or a dash is where a word may end
    assert [word for word in browser.value(BROKEN % cells) if not set(word) & set("-/\u2013")] == []
    verdicts = """[...document.querySelectorAll(".skeval tr")].map((row) => row.cells[1])
        .filter((cell) => cell.getBoundingClientRect().right > 700).length"""
    assert browser.value(verdicts) == 0
    heads = browser.value(
        '[...document.querySelectorAll("thead tr")].map((r) => r.cells[1].innerText)'
    )
    assert heads == ["Verdict", "Verdict"]


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


ISSUES = """axe.run(document).then((found) => found.violations.map((one) =>
    [one.id, one.nodes.length, one.nodes[0].target.join(" "), one.nodes[0].failureSummary]))"""


@pytest.mark.parametrize("page", ["path", "compared"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_violation(
    browser: Browser, page: str, scheme: str, width: int, request: pytest.FixtureRequest
) -> None:
    """All rules of axe-core, of contrast too, with all columns unfolded."""
    browser.prefer(scheme)
    browser.open(request.getfixturevalue(page), width)
    browser.value('for (const one of document.querySelectorAll("details")) one.open = true')
    browser.value(f"{axe_core()}; 0")
    assert browser.value(ISSUES) == []
    browser.messages.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_have_contrast(browser: Browser, path: Path, scheme: str) -> None:
    """Where axe-core cannot tell, as of letters on colours of a figure, the colours of styles do."""
    browser.prefer(scheme)
    browser.open(path, 1280)
    ratios = browser.value(CONTRASTS)
    assert len(ratios) > 5
    assert {names: ratio for names, ratio in ratios.items() if ratio < 4.5} == {}
    browser.prefer("light")


CONTRASTS = """(() => {
    const style = getComputedStyle(document.documentElement), probe = document.createElement("i")
    document.body.append(probe)
    const light = (name) => {
        probe.style.color = style.getPropertyValue(name)
        const parts = getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map((x) => x / 255)
        const [r, g, b] = parts.map((x) => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
        return .2126 * r + .7152 * g + .0722 * b
    }
    const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05)
    const inks = ["--ink", "--grey", "--train", "--alarm", "--copies", "--doubt", "--calm"]
    return Object.fromEntries(inks.map((ink) => [ink, ratio(light(ink), light("--paper"))]))
})()"""


def test_tables_stay_tables_on_a_phone(browser: Browser, path: Path) -> None:
    browser.open(path, 390)
    cell = f"{SCORES}.tBodies[0].rows[0].cells"
    assert browser.value(f"getComputedStyle({SCORES}).display") == "table"
    assert browser.value(f"getComputedStyle({cell}[3]).display") == "table-cell"
    box = f"{SCORES}.parentElement"
    assert browser.value(f"{box}.scrollWidth") > browser.value(f"{box}.clientWidth")
    left = f"{cell}[0].getBoundingClientRect().left"
    before = browser.value(left)
    browser.value(f"{box}.focus()")
    assert browser.value(f"document.activeElement === {box}")
    browser.value(f"{box}.scrollLeft = 200")
    assert browser.value(f"{cell}[1].getBoundingClientRect().left") < browser.value(left) + 100
    assert browser.value(left) == before  # the name of the metric stays in sight


def test_columns_unfold_by_keys_and_by_links(browser: Browser, path: Path) -> None:
    browser.open(path, 1280)
    first = 'document.querySelector(".folds details")'
    browser.value(f'{first}.querySelector("summary").focus()')
    browser.press("Enter", 13, "\r")
    assert browser.value(f"{first}.open")
    link = 'document.querySelectorAll("#univariate figcaption a")[2]'
    browser.value(f"{link}.focus()")
    browser.press("Enter", 13, "\r")
    browser.value("new Promise((done) => setTimeout(done, 100))")  # the page hears of it later
    named = f"document.getElementById({link}.hash.slice(1))"
    assert browser.value(f"{named}.open")
    heads = browser.value(f"[{named}.querySelector('h3').textContent, {link}.textContent]")
    assert heads[0] == heads[1]
    browser.value('document.querySelector("button.all").click()')
    assert browser.value('[...document.querySelectorAll("details")].every((one) => one.open)')


def test_columns_are_filtered_by_words(browser: Browser, path: Path) -> None:
    browser.open(path, 1280)
    shown = """[...document.querySelectorAll(".folds details")].filter((one) => !one.hidden)
        .map((one) => one.querySelector("h3").textContent)"""
    before = browser.value(shown)
    browser.value(
        """{ const input = document.querySelector("#by_column .filter input")
        input.value = "huge"; input.dispatchEvent(new Event("input")) }"""
    )
    assert "huge" in browser.value(shown)
    assert len(browser.value(shown)) < len(before)


def test_a_figure_says_its_numbers_and_one_shown_again_is_drawn(
    browser: Browser, path: Path
) -> None:
    browser.open(path, 1280)
    browser.value('for (const one of document.querySelectorAll("details")) one.open = true')
    place = """(() => {
        const box = document.querySelector("#univariate .tips rect")
        box.scrollIntoView({ block: "center" })
        const { left, top, width, height } = box.getBoundingClientRect()
        const hit = document.elementFromPoint(left + width / 2, top + height / 2)
        return [hit === box, box.querySelector("title").textContent]
    })()"""
    hit, text = browser.value(place)
    assert hit
    assert "train" in text
    sizes = """[...document.querySelectorAll(".folds figure > svg > use")].map((one) =>
        [one.getBoundingClientRect().width, one.getBoundingClientRect().height])"""
    drawn = browser.value(sizes)
    assert len(drawn) > 5, drawn
    assert not [one for one in drawn if one[0] <= 100 or one[1] <= 50]


def test_it_works_without_scripts(browser: Browser, path: Path) -> None:
    browser.prefer("light", scripts=False)
    browser.open(path, 1280)
    browser.prefer("light")
    assert browser.value('document.querySelectorAll("button, input").length') == 0
    assert browser.value('document.querySelectorAll("#scores tbody tr").length') > 10
    summary = 'document.querySelector(".folds summary")'
    browser.value(f"{summary}.click()")
    assert browser.value(f"{summary}.parentElement.open")
