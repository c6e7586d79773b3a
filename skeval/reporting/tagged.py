"""The tree of a document's elements in a PDF: what a screen reader reads, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from skeval.reporting.structure import Element, Piece

if TYPE_CHECKING:
    from pypdf import PdfWriter


LANGUAGE = "en"


def tag(writer: PdfWriter, root: Element, owners: Sequence[Sequence[Element]]) -> _Tree:
    """Add the tree to a document whose pages hold marks."""
    from pypdf.generic import NameObject

    tree = _Tree(writer)
    tree.top[NameObject("/K")] = tree.grown(root, tree.top_reference)
    for number, elements in enumerate(owners):
        tree.page(number, [tree.references[id(element)] for element in elements])
    return tree


def link(writer: PdfWriter, page_number: int, box: Sequence[float], target: int, title: str) -> Any:
    """Lay a link over a place of a page; spelt out, as pypdf's helpers differ between versions."""
    from pypdf.generic import (
        ArrayObject,
        DictionaryObject,
        FloatObject,
        NameObject,
        NumberObject,
        TextStringObject,
    )

    destination = writer.pages[target].indirect_reference
    annotation = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject("/Link"),
            NameObject("/Rect"): ArrayObject([FloatObject(f"{x:.2f}") for x in box]),
            NameObject("/Border"): ArrayObject([NumberObject(0)] * 3),
            NameObject("/Contents"): TextStringObject(title),
            NameObject("/Dest"): ArrayObject([destination, NameObject("/Fit")]),
        }
    )
    page = writer.pages[page_number]
    kept: Any = page["/Annots"].get_object() if "/Annots" in page else ArrayObject()
    reference = writer._add_object(annotation)
    page[NameObject("/Annots")] = ArrayObject([*kept, reference])
    return reference


class _Tree:
    def __init__(self, writer: PdfWriter) -> None:
        self.writer = writer
        self.top = _dictionary({"/Type": "/StructTreeRoot"})
        self.top_reference = writer._add_object(self.top)
        self.references: dict[int, Any] = {}
        self.entries: list[Any] = []

    def grown(self, element: Element, parent: Any) -> Any:
        """Add an element and all below it; return what refers to it."""
        from pypdf.generic import ArrayObject, NameObject, TextStringObject

        made = _dictionary({"/S": f"/{element.tag}"})
        reference = self.references[id(element)] = self.writer._add_object(made)
        made[NameObject("/P")] = parent
        if element.alt:
            made[NameObject("/Alt")] = TextStringObject(element.alt)
        if element.tag == "TH":
            made[NameObject("/A")] = _dictionary({"/O": "/Table", "/Scope": f"/{element.heads}"})
        kids = [self._kid(made, kid, reference) for kid in element.kids if _is_kept(kid)]
        if kids:
            made[NameObject("/K")] = kids[0] if len(kids) == 1 else ArrayObject(kids)
        return reference

    def _kid(self, made: Any, kid: Element | Piece, reference: Any) -> Any:
        from pypdf.generic import NameObject, NumberObject

        if isinstance(kid, Element):
            return self.grown(kid, reference)
        page = self.writer.pages[kid.page].indirect_reference
        if made.setdefault(NameObject("/Pg"), page) == page:
            return NumberObject(kid.number)
        content = _dictionary({"/Type": "/MCR"})
        content[NameObject("/Pg")] = page
        content[NameObject("/MCID")] = NumberObject(kid.number)
        return content

    def page(self, number: int, elements: Sequence[Any]) -> None:
        """Note the elements of the marks of a page, and that keys go through links in order."""
        from pypdf.generic import ArrayObject, NameObject, NumberObject

        page = self.writer.pages[number]
        page[NameObject("/StructParents")] = NumberObject(len(self.entries))
        page[NameObject("/Tabs")] = NameObject("/S")
        self.entries.append(ArrayObject(elements))

    def link(self, annotation: Any, element: Element, page_number: int) -> None:
        """Make an annotation a child of the element whose text it covers."""
        from pypdf.generic import ArrayObject, NameObject, NumberObject

        reference = self.references[id(element)]
        made: Any = reference.get_object()
        annotation.get_object()[NameObject("/StructParent")] = NumberObject(len(self.entries))
        self.entries.append(reference)
        child = _dictionary({"/Type": "/OBJR"})
        child[NameObject("/Pg")] = self.writer.pages[page_number].indirect_reference
        child[NameObject("/Obj")] = annotation
        kids = made["/K"] if isinstance(made["/K"], ArrayObject) else [made["/K"]]
        made[NameObject("/K")] = ArrayObject([*kids, child])

    def close(self) -> None:
        """Say in the catalogue that there is a tree, in which language, and show the title."""
        from pypdf.generic import (
            ArrayObject,
            BooleanObject,
            NameObject,
            NumberObject,
            TextStringObject,
        )

        pairs = [one for i, entry in enumerate(self.entries) for one in (NumberObject(i), entry)]
        numbers = _dictionary({})
        numbers[NameObject("/Nums")] = ArrayObject(pairs)
        self.top[NameObject("/ParentTree")] = self.writer._add_object(numbers)
        self.top[NameObject("/ParentTreeNextKey")] = NumberObject(len(self.entries))
        catalogue: Any = self.writer._root_object
        catalogue[NameObject("/StructTreeRoot")] = self.top_reference
        catalogue[NameObject("/Lang")] = TextStringObject(LANGUAGE)
        for name, entry in (("/MarkInfo", "/Marked"), ("/ViewerPreferences", "/DisplayDocTitle")):
            catalogue[NameObject(name)] = _dictionary({})
            catalogue[NameObject(name)][NameObject(entry)] = BooleanObject(True)


def _is_kept(kid: Element | Piece) -> bool:
    return isinstance(kid, Piece) or bool(kid)


def _dictionary(names: dict[str, str]) -> Any:
    """Return a dictionary of PDF whose values are names."""
    from pypdf.generic import DictionaryObject, NameObject

    return DictionaryObject({NameObject(key): NameObject(name) for key, name in names.items()})
