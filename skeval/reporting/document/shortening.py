"""Cut long names and labels by rule, never by the space that is left."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from skeval.reporting.document.spans import Span

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
T = TypeVar("T")


def shorten_name(text: str, most: int) -> str:
    """Cut a name in the middle, because long names often differ at either end."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}{ELLIPSIS}{text[len(text) - end :]}"


def shorten_end(text: str, most: int) -> str:
    """Cut a text at its end."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}{ELLIPSIS}"


def shorten_names(content: T, most: int) -> T:
    """Return blocks in which each name has at most this number of letters."""
    shortened: Any = _shorten(content, most)
    return shortened


def _shorten(content: Any, most: int) -> Any:
    if isinstance(content, Span):
        return replace(content, text=shorten_name(content.text, most)) if content.name else content
    if isinstance(content, tuple):
        return tuple(_shorten(part, most) for part in content)
    if is_dataclass(content) and not isinstance(content, type):
        parts = {one.name: _shorten(getattr(content, one.name), most) for one in fields(content)}
        return replace(content, **parts)
    return content
