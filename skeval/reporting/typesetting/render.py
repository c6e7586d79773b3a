"""A document as PDF or as pictures of its pages, by the templates of this package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Protocol

from skeval.reporting.document.blocks import Document
from skeval.reporting.letters import map_texts
from skeval.reporting.typesetting.compiler import compile_pdf, compile_png
from skeval.reporting.typesetting.fonts import font_families
from skeval.reporting.typesetting.letters import has_code_points, make_printable
from skeval.reporting.typesetting.settings import write_settings

ATTACHMENT = "results.json"
SETTINGS = "settings.json"
_NO_LETTERS = (
    "Letters without a font are printed as code points. For Chinese, Japanese, Korean, Thai and "
    "Hindi, run pip install 'skeval[cjk,thai,devanagari]'."
)


def describe_hash(results: bytes) -> str:
    """Return the description of a report that contains these results."""
    return f"results sha256:{hashlib.sha256(results).hexdigest()}"


class Results(Protocol):
    """The results of one table, or a comparison of several."""

    def to_json(self) -> str:
        """Return the text that is attached to the report."""


def render_pdf(
    document: Document, results: Results, settings: Mapping[str, Any] | None = None
) -> bytes:
    """Return the PDF of a document, with the results and the renderer's settings attached."""
    job = _job(document, results.to_json(), write_settings(settings or {}))
    return compile_pdf(job, document.timestamp)


def render_png(document: Document, ppi: float = 144.0) -> list[bytes]:
    """Return a picture of each page."""
    return compile_png(_job(document, "{}", "{}"), document.timestamp, ppi)


def _job(document: Document, results: str, settings: str) -> dict[str, str]:
    """Return the files that the compiler reads, which are templates, document and attachments."""
    folder = files(__package__) / "templates"
    templates = [one for one in folder.iterdir() if one.name.endswith(".typ")]
    content: dict[str, Any] = map_texts(document.to_dict(), make_printable)
    content["letters"] = _NO_LETTERS if has_code_points(content) else ""
    content["fonts"] = [family.name for family in font_families()]
    content["description"] = describe_hash(results.encode())
    return {
        **{one.name: one.read_text(encoding="utf-8") for one in templates},
        "document.json": json.dumps(content, allow_nan=False, ensure_ascii=False),
        ATTACHMENT: results,
        SETTINGS: settings,
    }
