"""All that a report says, as one text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skeval import Comparison, SuiteResult
from skeval.reporting.document.report import make_document


def report_text(results: SuiteResult | Comparison, *pages: str) -> str:
    """Return the texts of some pages of a report by their names, or of all, one per line."""
    document = make_document(results).to_dict()
    return "\n".join(
        text
        for page in document["pages"]
        if page["name"] in pages or not pages
        for text in _texts(page)
    )


def _texts(content: Any) -> Iterator[str]:
    """Yield texts; the spans of a sentence make one."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for part in content.values():
            yield from _texts(part)
    elif isinstance(content, list | tuple):
        if content and all(isinstance(part, dict) and "strong" in part for part in content):
            yield "".join(span["text"] for span in content)
        else:
            for part in content:
                yield from _texts(part)
