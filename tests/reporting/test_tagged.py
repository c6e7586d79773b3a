"""A report that is read aloud: each text and figure stands in the tree once, and says what it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from pypdf import PdfReader
from pypdf.generic import ArrayObject

from skeval import SuiteResult
from skeval.reporting.structure import Element

# One report is drawn for all of them.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reader(narrow: SuiteResult, tmp_path_factory: pytest.TempPathFactory) -> PdfReader:
    return PdfReader(narrow.to_pdf(tmp_path_factory.mktemp("tagged") / "report.pdf"))


def _catalogue(reader: PdfReader) -> Any:
    return reader.trailer["/Root"]


def _kids(element: Any) -> list[Any]:
    kids = element.get("/K", [])
    kids = kids.get_object() if hasattr(kids, "get_object") else kids
    return [k.get_object() for k in kids] if isinstance(kids, list) else [kids]


def _walk(element: Any) -> Iterator[Any]:
    yield element
    for kid in _kids(element):
        if isinstance(kid, dict) and "/S" in kid:
            yield from _walk(kid)


def _tree(reader: PdfReader) -> list[Any]:
    return list(_walk(_catalogue(reader)["/StructTreeRoot"]["/K"].get_object()))


def _pieces(element: Any) -> Iterator[tuple[int, int]]:
    """Yield the object number of the page and the number of the mark of each piece of content."""
    for kid in _kids(element):
        if isinstance(kid, int):
            yield element.raw_get("/Pg").idnum, int(kid)
        elif kid.get("/Type") == "/MCR":
            yield kid.raw_get("/Pg").idnum, int(kid["/MCID"])


def _marks(page: Any) -> list[tuple[str, int]]:
    found = re.findall(rb"/(\w+) <</MCID (\d+)>> BDC", page.get_contents().get_data())
    return [(tag.decode(), int(number)) for tag, number in found]


def test_the_document_names_its_language_and_shows_its_title(reader: PdfReader) -> None:
    catalogue = _catalogue(reader)
    assert catalogue["/Lang"] == "en"
    assert catalogue["/MarkInfo"]["/Marked"].value is True
    assert catalogue["/ViewerPreferences"]["/DisplayDocTitle"].value is True
    assert reader.metadata is not None
    assert reader.metadata.title == "Synthetic data report"


def test_each_mark_is_in_the_tree_once_under_its_own_tag(reader: PdfReader) -> None:
    in_tree = Counter(
        (*piece, str(element["/S"])) for element in _tree(reader) for piece in _pieces(element)
    )
    on_pages = Counter(
        (page.indirect_reference.idnum, number, f"/{tag}")
        for page in reader.pages
        for tag, number in _marks(page)
    )
    assert in_tree == on_pages
    assert set(on_pages.values()) == {1}


def test_what_has_no_mark_is_decoration(reader: PdfReader) -> None:
    """Marks are opened and closed in turn, and a page begins and ends outside of them."""
    for page in reader.pages:
        data = page.get_contents().get_data()
        steps = re.findall(rb"\b(BDC|BMC|EMC)\b", data)
        assert [s == b"EMC" for s in steps] == [i % 2 == 1 for i in range(len(steps))]
        before, after = data.split(b"BMC", 1)[0], data.rsplit(b"EMC", 1)[1]
        assert not re.search(rb"\b(BT|Do|f|S|B)\b", before.rsplit(b"/Artifact", 1)[0] + after)


def test_pages_lead_back_to_the_elements(reader: PdfReader) -> None:
    nums = _catalogue(reader)["/StructTreeRoot"]["/ParentTree"]["/Nums"]
    parents = {
        int(key): value.get_object() for key, value in zip(nums[::2], nums[1::2], strict=True)
    }
    for page in reader.pages:
        elements = [one.get_object() for one in parents[page["/StructParents"]]]
        assert [(str(e["/S"])[1:], i) for i, e in enumerate(elements)] == sorted(
            _marks(page), key=lambda mark: mark[1]
        )
        for link in page.get("/Annots", ArrayObject()).get_object():
            assert parents[link.get_object()["/StructParent"]]["/S"] == "/Link"
            assert link.get_object()["/Contents"]


def test_figures_have_words_and_tables_have_heads(reader: PdfReader) -> None:
    tree = _tree(reader)
    figures = [element for element in tree if element["/S"] == "/Figure"]
    tables = [element for element in tree if element["/S"] == "/Table"]
    assert len(figures) > 5
    assert all(len(figure["/Alt"]) > 20 for figure in figures)
    assert len(tables) > 2
    for table in tables:
        rows = _kids(table)
        assert {row["/S"] for row in rows} == {"/TR"}
        assert {cell["/S"] for row in rows for cell in _kids(row)} <= {"/TH", "/TD"}
        assert all(_kids(row)[0]["/S"] == "/TH" for row in rows)


def test_headings_come_in_the_order_of_reading(reader: PdfReader) -> None:
    heads = [str(e["/S"]) for e in _tree(reader) if str(e["/S"]) in {"/H1", "/H2", "/H3"}]
    assert heads[0] == "/H1"
    assert heads.count("/H1") == 1
    assert heads.count("/H2") > 2
    pages = {page.indirect_reference.idnum: i for i, page in enumerate(reader.pages)}
    places = [pages[page] for e in _tree(reader) for page, _ in list(_pieces(e))[:1]]
    flow = [a for a, b in pairwise(places) if b < a - 1]
    assert flow == []


def test_an_element_stands_in_one_place_and_an_empty_one_is_nothing() -> None:
    root, row = Element("Document"), Element("TR")
    root.add(row)
    Element("Sect").add(row)
    assert row.parent is root
    assert not root
    assert [row.cell().tag for _ in range(2)] == ["TH", "TD"]
    assert root
    heads = Element("TR", heads="Column")
    assert [heads.cell().tag for _ in range(2)] == ["TH", "TH"]
