"""Results as a section of Markdown for model cards, with the headline and all numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skeval.reporting.document.blocks import Block, Headline, Paragraphs, Table
from skeval.reporting.document.report import make_document
from skeval.reporting.document.spans import Text, plain
from skeval.reporting.plain_text import cell_text
from skeval.results.suite_result import SuiteResult

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")
_MAX_LEVEL = 6
_RULES = {"left": "---", "right": "---:"}


def markdown(results: SuiteResult, *, title: str, level: int) -> str:
    """Return a section of Markdown, as :meth:`skeval.SuiteResult.to_markdown` documents it."""
    pages = make_document(results, is_short=True).pages
    numbers = [block for page in pages if page.name == "numbers" for block in page.blocks]
    blocks = [f"{'#' * level} {_escape(title)}"]
    for block in pages[0].blocks:
        if isinstance(block, Headline):
            blocks += [f"**{_text(block.title)}**", _text(block.deck)]
    blocks += [part for block in numbers for part in _numbers(block, min(level + 1, _MAX_LEVEL))]
    blocks += [_escape(text) for text in _origin(results)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _numbers(block: Block, level: int) -> Iterator[str]:
    if isinstance(block, Table):
        for title, rows in block.groups:
            cells = [[_escape(cell_text(cell)) for cell in row] for row in rows]
            rules = [_RULES[aligned] for aligned in block.aligned]
            yield f"{'#' * level} {_escape(title)}"
            yield "\n".join(map(_line, [block.heads, rules, *cells]))
    elif isinstance(block, Paragraphs):
        listed = "\n".join(f"- {_text(text)}" for text in block.paragraphs)
        yield f"{'#' * level} {_escape(block.title)}"
        yield listed
    elif isinstance(block, Headline):
        yield _text(block.deck)


def _origin(results: SuiteResult) -> Iterator[str]:
    sizes = [f"{n:,} rows of {role}" for role, n in results.sizes.items()]
    made = results.provenance
    version = [] if made is None else [f"skeval {made.version}, {made.date}"]
    if parts := [", ".join(sizes), *version]:
        yield "; ".join(filter(None, parts))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: Text) -> str:
    return _escape(plain(text))


def _escape(text: str) -> str:
    """Return text that Markdown shows as it is, because names of columns may contain anything."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
