"""A document as one HTML file, by the templates of this package."""

from __future__ import annotations

from markupsafe import Markup

from skeval.reporting.document.blocks import Document
from skeval.reporting.web.environment import environment, printable


def render_html(document: Document, results_json: str | None = None) -> str:
    """Return a page that needs neither other files nor scripts, and that can contain results."""
    # no "<" in the stored results, so that nothing in them ends their element
    stored = None if results_json is None else Markup(results_json.replace("<", "\\u003c"))
    template = environment().get_template("page.html.jinja")
    return template.render(doc=printable(document), results=stored)
