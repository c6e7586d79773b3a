"""What a document is made of, for those who have it read to them: elements, and their content.

An element knows its parent and its children in the order of reading. A piece of content is a number
on a page: matplotlib writes a mark around what is drawn, and an element of the tree names the mark.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """Content that was drawn: the page, counted from 0, and the number of the mark on it."""

    page: int
    number: int


class Mark(NamedTuple):
    """What is written before a piece of content: the tag of its element and its number."""

    tag: str
    number: int


class Element:
    """An element of a document: a heading, a paragraph, a cell, a figure."""

    def __init__(self, tag: str, alt: str = "", heads: str = "") -> None:
        self.tag, self.alt, self.heads = tag, alt, heads
        self.parent: Element | None = None
        self.kids: list[Element | Piece] = []

    def add(self, element: Element) -> Element:
        """Put an element behind those that are there, if it stands nowhere yet; return it."""
        if element.parent is None and element is not self:
            element.parent = self
            self.kids.append(element)
        return element

    def cell(self) -> Element:
        """Return a new cell of this row: one that heads it, if it is the first."""
        if self.heads or not self.kids:
            return self.add(Element("TH", heads=self.heads or "Row"))
        return self.add(Element("TD"))

    def __bool__(self) -> bool:
        """Whether it is worth reading: cells are, even if they are empty."""
        return self.tag in {"TD", "TH"} or any(self.kids)


@contextmanager
def marked(renderer: Any, mark: Mark | None) -> Iterator[None]:
    """Write marks around what is drawn; on a page of marks all that has none is decoration."""
    file = getattr(renderer, "file", None)  # of PDF alone
    if mark is None or file is None:
        yield
        return
    file.write(b"EMC\n/%b <</MCID %d>> BDC\n" % (mark.tag.encode(), mark.number))
    yield
    file.write(b"EMC\n/Artifact BMC\n")


@contextmanager
def decoration(renderer: Any) -> Iterator[None]:
    """Write marks around a page, so that nothing on it is without one."""
    file = getattr(renderer, "file", None)
    if file is not None:
        file.write(b"/Artifact BMC\n")
    yield
    if file is not None:
        file.write(b"EMC\n")
