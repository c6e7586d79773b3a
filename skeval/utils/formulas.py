"""Formulas of docstrings as plain text, for a terminal."""

from __future__ import annotations

import re
import textwrap

_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"  # may contain groups, one level deep
_FRACTION = re.compile(rf"(\\ln ?)?\\frac\s*{_GROUP}\s*{_GROUP}(?= ?([\w\\(|\[]))?")
_UPRIGHT = re.compile(r"\\(?:mathrm|text)\{([^{}]*)\}")
_SCRIPT = re.compile(r"([_^])\{([^{}]*)\}")
_BLOCK = re.compile(r"^\.\. math::[ \t]*((?:\S.*)?\n\n?(?:[ \t]+\S.*(?:\n|\Z))*)", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]+)`")
_BRACES = {r"\{": "\ue000", r"\}": "\ue001"}  # kept from groups until all are read
_ENDS = r" ?(?:\\(?:q?quad|right|ge|le|cap|cup)\b|\|$)"
_NAMES = {
    "cap": "∩",
    "cup": "\N{UNION}",
    "in": "∈",
    "le": "≤",
    "ge": "≥",
    "ne": "≠",
    "emptyset": "∅",
    "exists": "∃",
    "pi": "π",
    "delta": "δ",
    "tau": "τ",
    "lambda": "λ",
    "varepsilon": "ε",
    "ldots": "...",
    "sum": "sum",
    "int": "integral",
    "langle": "⟨",
    "rangle": "⟩",
    "lVert": "‖",
    "rVert": "‖",
    "bar": "mean ",
    "left": "",
    "right": "",
    "quad": "  ",
    "qquad": "   ",
}


def formulas_as_text(text: str) -> str:
    """Return a docstring with its formulas, blocks and in lines, as plain text."""
    blocks = _BLOCK.sub(lambda m: textwrap.indent(formula_as_text(m[1]), "    ") + "\n", text)
    return _INLINE.sub(lambda m: formula_as_text(m[1]), blocks).rstrip("\n")


def formula_as_text(formula: str) -> str:
    """Return one formula of LaTeX as plain text, on one line."""
    text = " ".join(formula.replace("\\\\", "\\").split())
    for brace, kept in _BRACES.items():
        text = text.replace(brace, kept)
    text = re.sub(r"\\[!,;]", lambda m: "" if m[0] == r"\!" else " ", text).replace(r"\_", "_")
    before = ""
    while before != text:  # innermost groups first
        before = text
        text = _UPRIGHT.sub(r"\1", text)
        text = _SCRIPT.sub(lambda m: m[1] + _parenthesize(m[2]), text)
        text = _FRACTION.sub(_format_fraction, text)
    text = re.sub(r"\\([A-Za-z]+) ?(?=([A-Za-z])?)", _replace_name, text)
    for brace, kept in _BRACES.items():
        text = text.replace(kept, brace[1])
    text = re.sub(r"(?<! ) {2,3}(?! )", " ", text)  # four and more part two formulas
    return re.sub(r"(?<=\S) +(?=[,)⟩])|(?<=[(⟨]) +", "", text).strip()


def _format_fraction(match: re.Match[str]) -> str:
    before, above, below, after = match.groups()
    text = f"{_parenthesize(above)} / {_parenthesize(below)}"
    alone = not before and (after is None or re.match(_ENDS, match.string[match.end() :]))
    return text if alone else f"{before or ''}({text})"


def _replace_name(match: re.Match[str]) -> str:
    name, spaced = match[1], match[0].endswith(" ")
    return _NAMES.get(name, name) + (" " if spaced and _NAMES.get(name, name) else "")


def _parenthesize(part: str) -> str:
    """Return a part in parentheses, if it is more than one thing."""
    part = part.strip()
    closed = re.fullmatch(r"\|[^|]*\||[\w^.']+|[\w^.']+\([^()]*\)", part)
    return part if closed else f"({part})"
