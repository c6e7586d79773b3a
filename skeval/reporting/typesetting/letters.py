"""Text that a PDF can print, with code points for letters without a glyph."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from skeval.reporting.letters import JOINERS, code_point, show_invisible
from skeval.reporting.typesetting.fonts import Family, font_families


def make_printable(text: str, families: tuple[Family, ...] | None = None) -> str:
    """Write letters that cannot be printed as code points, such as U+4E2D in angle brackets."""
    if text.isascii() and text.isprintable():
        return text
    families = font_families() if families is None else families
    printed: list[str] = []
    able = families  # the families of the last letter, because a mark must be in one of them
    for char in show_invisible(unicodedata.normalize("NFC", text)):
        if char in JOINERS:
            printed.append(char)
            continue
        kind = unicodedata.category(char)
        if kind == "Zs" and char != "\u00a0":
            printed.append(" ")
            able = families
            continue
        candidates = able if kind[0] == "M" else families
        fitting = tuple(family for family in candidates if ord(char) in family.letters)
        printed.append(char if fitting else code_point(char))
        able = fitting or tuple(family for family in families if ord("\u27e9") in family.letters)
    return "".join(printed).replace("\u27e9\u27e8U+", " ")  # one pair of brackets for a run


def has_code_points(content: Any) -> bool:
    """Return whether a letter somewhere in plain data is printed as its code point."""
    return any("\u27e8U+" in text for text in _texts(content))


def _texts(content: Any) -> Iterable[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for part in content.values():
            yield from _texts(part)
    elif isinstance(content, list | tuple):
        for part in content:
            yield from _texts(part)
