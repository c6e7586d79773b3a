"""What a notebook shows: the first page of a document, and its numbers folded."""

from __future__ import annotations

from typing import Any

from skeval.reporting.document.blocks import Document
from skeval.reporting.web.environment import environment, printable

_KINDS = ("Headline", "Tiles", "Comparison")  # of which a notebook shows the first


def notebook_html(document: Document) -> str:
    """Return the headline, the tiles and the first rows; tables of numbers are folded."""
    pages = printable(document)["pages"]
    first = (_first(pages[0], kind) for kind in _KINDS)
    tables = [one for page in pages for one in page["blocks"] if one["name"] == "numbers"]
    template = environment().get_template("notebook.html.jinja")
    return template.render(blocks=list(filter(None, first)), tables=tables)


def _first(page: dict[str, Any], kind: str) -> dict[str, Any] | None:
    return next((block for block in page["blocks"] if block["kind"] == kind), None)
