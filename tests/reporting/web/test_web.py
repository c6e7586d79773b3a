"""A document becomes one HTML file that shows all of it, whatever the names of its columns are."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from skeval.reporting.document import blocks
from skeval.reporting.document.drawings.heat_map import HeatMap
from skeval.reporting.document.report import make_document
from skeval.reporting.letters import map_texts, show_invisible
from skeval.reporting.web.drawings import inline_svg
from skeval.reporting.web.render import render_html
from tests.reporting.document.releases import STATES, State, release
from tests.reporting.web.documents import HOSTILE, every_kind, texts_of
from tests.reporting.web.page import Page

MAX_BYTES = 3_000_000


def test_every_kind_of_block_is_drawn():
    drawn = {type(block) for page in every_kind().pages for block in page.blocks}
    assert drawn == set(blocks.Block.__subclasses__())
    page = Page(render_html(every_kind()))
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("state", STATES)
def test_every_text_of_a_document_is_shown(state: State):
    document = make_document(release(state))
    page = Page(render_html(document))
    missing = [t for t in texts_of(document.to_dict()) if " ".join(t.split()) not in page.shown]
    assert not missing


def test_blocks_have_the_order_of_the_document():
    document = make_document(release("leak"))
    expected = [f"{page.name}-{block.name}" for page in document.pages for block in page.blocks]
    page = Page(render_html(document))
    assert [
        a["id"] for a in page.all("div") if "block" in (a.get("class") or "").split()
    ] == expected


@pytest.mark.parametrize("word", HOSTILE)
def test_names_are_text_and_nothing_else(word: str):
    usual = Page(render_html(every_kind()))
    html = render_html(every_kind(word))
    page = Page(html)
    html.encode("utf-8")
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in usual.tags]
    assert "\u202e" not in html
    shown = " ".join(show_invisible(word).split()) or "(empty name)"
    assert shown in page.shown
    assert len(page.all("bdi")) > 30


def test_a_page_asks_for_nothing():
    page = Page(render_html(make_document(release("leak"))))
    for tag, attributes in page.tags:
        assert tag not in ("script", "img", "link", "iframe", "object", "use", "image")
        assert not {"src", "srcset", "onload", "action"} & set(attributes), tag
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in page.shown
    assert "@import" not in page.shown
    (policy,) = (a["content"] for a in page.all("meta") if "http-equiv" in a)
    assert "default-src 'none'" in (policy or "")


def test_stored_results_end_nowhere():
    html = render_html(every_kind(), '{"name": "</script><b>x</b>"}')
    page = Page(html)
    assert len(page.all("script")) == 1
    assert page.all("script")[0]["type"] == "application/json"
    assert r'{"name": "\u003c/script>\u003cb>x\u003c/b>"}' in html


def test_a_page_can_be_read_by_a_machine():
    page = Page(render_html(make_document(release("leak"))))
    assert page.all("html") == [{"lang": "en"}]
    assert page.headings[0] == page.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(page.headings))
    assert all("scope" in head for head in page.all("th"))
    for drawing in page.all("svg"):
        is_labeled = drawing.get("role") == "img" and drawing.get("aria-label")
        assert (
            is_labeled
            or drawing.get("aria-hidden") == "true"
            or drawing["class"] in ("limit", "table t-0")
        )
    targets = {a["id"] for _, a in page.tags if "id" in a}
    assert {(a["href"] or "")[1:] for a in page.all("a")} <= targets


def test_drawings_have_no_color_of_their_own():
    for state in STATES:
        html = render_html(make_document(release(state)))
        drawings = html.partition("</style>")[2]
        assert not re.findall(r'"#[0-9a-f]{6}"', drawings)
    unknown = '<svg width="1"><rect fill="#123456"/></svg>'
    assert "#123456" in inline_svg(unknown, "unknown")


def test_colors_of_a_ramp_are_parts_of_a_variable():
    values = [[0.0, 0.25, 1.0]]
    one_end = inline_svg(HeatMap(values, 1.0).to_svg(), "map")
    assert "var(--paper)" in one_end
    assert "var(--amount) 25%" in one_end
    assert "var(--amount) 100%" in one_end
    two_ends = inline_svg(HeatMap([[-1.0, 1.0]], 1.0, is_difference=True).to_svg(), "map")
    assert "var(--less) 100%" in two_ends
    assert "var(--more) 100%" in two_ends


def test_forty_columns_are_less_than_three_megabytes():
    columns = [f"column_{i:02d}_with_a_long_name" for i in range(40)]
    assert len(render_html(make_document(release("leak", columns))).encode()) < MAX_BYTES


def test_the_same_document_has_the_same_bytes():
    assert render_html(make_document(release("leak"))) == render_html(
        make_document(release("leak"))
    )


def test_invisible_letters_are_code_points():
    assert (
        show_invisible("a\u202eb\ud800\x00")
        == "a\u27e8U+202E\u27e9b\u27e8U+D800\u27e9\u27e8U+0000\u27e9"
    )
    assert show_invisible("a\nb\u2028c") == "a b c"
    assert show_invisible("\u05e9\u05dd \u540d e\u0301") == "\u05e9\u05dd \u540d e\u0301"
    assert map_texts({"a": ["x", 1]}, str.upper) == {"a": ["X", 1]}
