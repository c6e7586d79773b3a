"""Pages in a real browser: nothing is fetched, nothing complained of, anybody can read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skeval.reporting.document.report import make_document
from skeval.reporting.web.notebook import notebook_html
from skeval.reporting.web.render import render_html
from tests.reporting.browser import Browser, axe_core, browser_path
from tests.reporting.document.releases import release
from tests.reporting.web.documents import every_kind

pytestmark = pytest.mark.browser

PAGES = ("report", "long names", "every kind", "hostile", "notebook")
LONG = [f"the_{i}th_name_of_sixty_letters_that_differs_{i}_at_either_end_only" for i in range(12)]
ISSUES = """axe.run(document).then((found) => found.violations.map((one) =>
    [one.id, one.nodes.length, one.nodes[0].target.join(" "), one.nodes[0].failureSummary]))"""
# drawings of a figure are moved within its box
BEYOND = """[...document.querySelectorAll("body *:not(svg *, .figure *, .skip)")].filter((one) =>
    one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = browser_path()
    assert path, "no Chromium; install it, or name one in SKEVAL_BROWSER"
    with Browser(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("html")
    cell = notebook_html(make_document(release("leak"), is_short=True))
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>a</title>'
    head += '<meta name="viewport" content="width=device-width">'
    written = {
        "report": render_html(make_document(release("leak"))),
        "long names": render_html(make_document(release("leak", LONG))),
        "every kind": render_html(every_kind()),
        "hostile": render_html(every_kind("<script>document.title = 'run'</script>" + "x" * 200)),
        "notebook": f'{head}<main><h1>a</h1><h2>b</h2><h3 lang="en">c</h3>{cell}</main></html>',
    }
    paths = {name: folder / f"{name.replace(' ', '_')}.html" for name in written}
    for name, text in written.items():
        paths[name].write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 800, 390])
def test_nothing_is_fetched_and_nothing_overflows(
    browser: Browser, paths: dict[str, Path], page: str, width: int
) -> None:
    browser.requests.clear()
    browser.open(paths[page], width)
    assert browser.requests == [paths[page].as_uri()]
    assert browser.messages == []
    assert browser.value("document.title") != "run"
    assert browser.value(BEYOND) == []
    assert browser.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_violation(
    browser: Browser, paths: dict[str, Path], page: str, scheme: str, width: int
) -> None:
    """All rules of axe-core, of contrast too."""
    browser.prefer(scheme)
    browser.open(paths[page], width)
    browser.value('for (const one of document.querySelectorAll("details")) one.open = true')
    browser.value(f"{axe_core()}; 0")
    assert browser.value(ISSUES) == []
    browser.prefer("light")
    browser.messages.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_have_contrast(browser: Browser, paths: dict[str, Path], scheme: str) -> None:
    """Where axe-core cannot tell, as for letters of drawings, the variables of the style do."""
    browser.prefer(scheme)
    browser.open(paths["report"], 1280)
    ratios = browser.value(CONTRASTS)
    assert len(ratios) == 11
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 4.5} == {}
    browser.prefer("light")


CONTRASTS = """(() => {
    const probe = document.createElement("i")
    document.body.append(probe)
    const light = (name) => {
        probe.style.color = `var(${name})`
        const parts = getComputedStyle(probe).color.match(/[0-9.]+/g).slice(0, 3).map((x) => x / 255)
        const [r, g, b] = parts.map((x) => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
        return .2126 * r + .7152 * g + .0722 * b
    }
    const ratio = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05)
    const pairs = [..."ink grey leak copies below calm synthetic".split(" ").map((x) => [x, "paper"]),
        ["leak", "leak-back"], ["copies", "copies-back"], ["below", "below-back"], ["calm", "tile"]]
    return Object.fromEntries(pairs.map(([ink, paper]) =>
        [`${ink} on ${paper}`, ratio(light(`--${ink}`), light(`--${paper}`))]))
})()"""


def test_letters_on_a_table_of_percentages_have_contrast(browser: Browser, tmp_path: Path) -> None:
    """On any part of the ramp, the letters that the page chooses have a contrast of 4.5."""
    cells = "".join(
        f'<td class="{"deep" if part > 77 else ""}" style="--part:{part}%">1</td>'
        for part in range(101)
    )
    text = render_html(make_document(release("leak")))
    table = f'<div class="heat-tables"><table><tbody><tr>{cells}</tr></tbody></table></div>'
    (tmp_path / "a.html").write_text(text.replace("</main>", f"{table}</main>"), encoding="utf-8")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.open(tmp_path / "a.html", 1280)
        assert min(browser.value(ON_CELLS)) >= 4.5
    browser.prefer("light")


ON_CELLS = """[...document.querySelectorAll("main > .heat-tables td")].map((cell) => {
    const draw = document.createElement("canvas").getContext("2d")
    const light = (color) => {
        draw.fillStyle = color
        draw.fillRect(0, 0, 1, 1)
        const [r, g, b] = [...draw.getImageData(0, 0, 1, 1).data].slice(0, 3).map((x) => x / 255)
            .map((x) => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
        return .2126 * r + .7152 * g + .0722 * b
    }
    const [a, b] = ["color", "backgroundColor"].map((x) => light(getComputedStyle(cell)[x]))
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05)
})"""


def test_a_reader_without_scripts_reads_all(browser: Browser, paths: dict[str, Path]) -> None:
    browser.prefer("light", scripts=False)
    browser.open(paths["report"], 1280)
    browser.prefer("light")
    assert browser.value('document.querySelectorAll("main section").length') >= 5
    hidden = (
        '[...document.querySelectorAll("main .block")].filter((one) => !one.offsetHeight).length'
    )
    assert browser.value(hidden) == 0


def test_contents_stay_in_sight(browser: Browser, paths: dict[str, Path]) -> None:
    for width, shown in ((1280, "beside"), (390, "above")):
        browser.open(paths["report"], width)
        browser.value("scrollTo(0, 3000)")
        top = f'document.querySelector("nav.{shown}").getBoundingClientRect().top'
        assert browser.value(top) == 0
        navs = '[...document.querySelectorAll("nav")].filter((one) => one.offsetHeight).length'
        assert browser.value(navs) == 1


def test_the_first_rows_of_a_phone_are_label_and_outcome_above_strip_and_numbers(
    browser: Browser, paths: dict[str, Path]
) -> None:
    browser.open(paths["report"], 390)
    tops = browser.value(
        """[...document.querySelectorAll(".b-privacy tbody tr:not(.group)")].map((row) =>
        [...row.cells].map((cell) => cell.getBoundingClientRect()).map((one) => [one.top, one.bottom]))"""
    )
    assert len(tops) == 8
    for label, strip, value, reference, outcome in tops:
        assert outcome[0] < label[1] <= strip[0] + 1
        assert strip[0] < value[1]
        assert value == reference


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_notebook_has_the_scheme_of_its_application(
    browser: Browser, paths: dict[str, Path], theme: str
) -> None:
    """JupyterLab has a theme of its own, whatever the system prefers."""
    browser.prefer("dark" if theme == "light" else "light")
    browser.open(paths["notebook"], 1280)
    browser.value(f'document.body.dataset.jpThemeLight = "{str(theme == "light").lower()}"; 0')
    color = browser.value('getComputedStyle(document.querySelector(".skeval")).backgroundColor')
    assert color == ("rgb(255, 255, 255)" if theme == "light" else "rgb(18, 22, 27)")
    browser.prefer("light")
