"""The page: well formed, self-contained, names shown literally."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from skeval import SuiteResult
from skeval.reporting import HTMLRenderer

VOID = {"meta", "img", "br", "link", "input"}


class Checker(HTMLParser):
    """Notes tags, attributes and text, and that what is opened is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def checked(path: Path) -> Checker:
    checker = Checker()
    checker.feed(path.read_text(encoding="utf-8"))
    checker.close()
    assert checker.open == []
    return checker


@pytest.fixture(scope="module")
def path(odd: SuiteResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return odd.to_html(tmp_path_factory.mktemp("html") / "report.html", title="A <i>report</i>")


@pytest.fixture(scope="module")
def page(path: Path) -> Checker:
    return checked(path)


@pytest.mark.slow
def test_names_are_text_not_markup(page: Checker) -> None:
    tags = {tag for tag, _ in page.seen}
    assert not tags & {"b", "i"} - {"i"}
    assert ("i", {}) not in page.seen
    text = "".join(page.text)
    assert '<b>bold</b> & "quoted"' in text
    assert "price_$_of_$100" in text
    assert "A <i>report</i>" in text


def test_it_needs_nothing_else(page: Checker) -> None:
    tags = [tag for tag, _ in page.seen]
    assert not set(tags) & {"link", "iframe", "base", "object", "form"}
    assert tags.count("script") == 1
    policy = next(a["content"] for t, a in page.seen if "http-equiv" in a)
    assert "default-src 'none'" in (policy or "")
    for tag, attributes in page.seen:
        for key in ("src", "href", "xlink:href"):
            target = attributes.get(key) or ""
            assert target.startswith(("data:", "#")) or not target, (tag, key, target[:60])
        assert "url(http" not in (attributes.get("style") or "")


def test_headings_and_contents(page: Checker) -> None:
    levels = [tag for tag, _ in page.seen if tag in {"h1", "h2", "h3"}]
    assert levels[0] == "h1"
    assert levels.count("h1") == 1
    assert levels.count("h2") == 19
    anchors = [attributes["href"] for tag, attributes in page.seen if tag == "a"]
    sections = [anchor for anchor in anchors if "column-" not in (anchor or "")]
    assert len(sections) == 19
    assert {anchor[1:] for anchor in anchors if anchor} <= set(page.ids)


def test_pictures_have_descriptions(page: Checker) -> None:
    assert "img" not in {tag for tag, _ in page.seen}  # letters of drawings stay letters
    drawings = [attributes for tag, attributes in page.seen if tag == "svg"]
    assert len(drawings) >= sum(tag == "figure" for tag, _ in page.seen) > 24
    assert all(attributes.get("aria-label") for attributes in drawings)


@pytest.mark.slow
def test_saved_results_give_the_same_page(odd: SuiteResult, path: Path, tmp_path: Path) -> None:
    again = SuiteResult.from_dict(odd.to_dict())
    rendered = HTMLRenderer(title="A <i>report</i>").render(again, tmp_path / "again.html")
    assert rendered.read_bytes() == path.read_bytes()


def test_reasons_are_listed(without_holdout: SuiteResult, tmp_path: Path) -> None:
    text = "".join(checked(without_holdout.to_html(tmp_path / "a.html", sections=["scores"])).text)
    assert "Left out" in text
    assert "compares against holdout rows" in text


@pytest.mark.slow
def test_a_failed_render_leaves_the_old_page_alone(
    unprintable: SuiteResult, tmp_path: Path
) -> None:
    old = tmp_path / "report.html"
    old.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError, match="no paper"):
        HTMLRenderer().render(unprintable, old)
    assert old.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.slow
def test_progress_is_told(narrow: SuiteResult, tmp_path: Path) -> None:
    printed: list[tuple[str, int, int]] = []
    renderer = HTMLRenderer(
        sections=["scores", "columns"], progress=lambda *step: printed.append(step)
    )
    renderer.render(narrow, tmp_path / "a.html")
    assert printed == [("scores", 1, 2), ("columns", 2, 2)]


def test_worst_pairs_are_tables_of_the_page(page: Checker) -> None:
    text = " ".join(page.text)
    assert "Pairs that agree least" in text
    assert "Pairs that change most" in text
