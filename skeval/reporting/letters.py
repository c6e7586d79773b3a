"""Replacement of invisible letters, such as controls and surrogates, by their code points."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

LINE_ENDS = "\t\n\r\v\f\x85\u2028\u2029"
JOINERS = "\u200c\u200d"  # needed in Persian, Indic languages and emoji
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn")  # controls, direction marks, surrogates, private use


def code_point(char: str) -> str:
    """Return a letter as its code point in angle brackets, such as U+4E2D."""
    return f"\u27e8U+{ord(char):04X}\u27e9"


def show_invisible(text: str) -> str:
    """Write letters that have no shape as code points, and each end of a line as a space."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_show, text))


def _show(char: str) -> str:
    if char in JOINERS:
        return char
    if char in LINE_ENDS:
        return " "
    return code_point(char) if unicodedata.category(char) in _INVISIBLE else char


def map_texts(content: Any, change: Callable[[str], str]) -> Any:
    """Return plain data with each of its texts changed, but not the keys of mappings."""
    if isinstance(content, str):
        return change(content)
    if isinstance(content, Mapping):
        return {name: map_texts(part, change) for name, part in content.items()}
    if isinstance(content, list | tuple):
        return [map_texts(part, change) for part in content]
    return content
