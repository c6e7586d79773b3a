"""Prose is plain English: subject first, one idea a sentence, none of a few words of a dialect."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# packages, pages and files whose prose is looked at
ROOMS = (
    "skeval/*.py",
    *sorted(f"skeval/{path.parent.name}" for path in ROOT.glob("skeval/*/__init__.py")),
    "docs/*.rst",
    "docs/user_guide/*.rst",
    "docs/coming_from/*.rst",
    "examples",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
BEGIN = r"(?:^|[.:;!?]\s+|[\"\u201c])"  # of a sentence
END = r"\s(?![^.?!]*(?:[?]|$))"  # not of questions, titles
BANNED = {  # a word or a turn, as a pattern, and what to write instead
    r"\bso many\b": "'the same number of', or the number",
    r"\bstands? in\b": "'is in' or 'replaces'",
    r"\bsaid\b": "'stated', or 'reported'",
    r"\bbeside\b": "'next to', 'with' or 'in addition to'",
    r"\bwhatever\b": "'any', or 'if'",
    r"\btold apart\b": "'distinguished'",
    rf"{BEGIN}Of{END}": "the noun first, for example 'The worst of several tables'",
    rf"{BEGIN}Where{END}": "'If', 'When' or 'For'",
    r"(?:^|\.\s+)Tells? whether\b": "'Return whether' or 'Whether'",
}
_EXAMPLE = re.compile(r"^ *>>>.*\n(?:.*\S.*\n)*", re.MULTILINE)  # with what it prints
_CODE = re.compile(r"(?::\w+(?::\w+)?:)?`+[^`]*`+|https?://\S+")


def _docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph of docstrings, without examples, after its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            if text := ast.get_docstring(node):
                line = node.body[0].lineno
                shown = _EXAMPLE.sub(lambda hit: "\n" * hit.group().count("\n"), text + "\n")
                yield from _paragraphs(shown, line)
            yield from _of_fields(node)


def _of_fields(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Yield the strings that stand below the constants of a module."""
    for part in node.body[1:]:
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
            yield part.lineno, str(part.value.value)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def _paragraphs(text: str, line: int = 1) -> Iterator[tuple[int, str]]:
    """Yield pieces of prose: a paragraph, an entry of a list, a description of a parameter."""
    piece: list[str] = []
    start, indent = line, 0
    for number, part in enumerate([*text.splitlines(), ""], start=line):
        here = len(part) - len(part.lstrip())
        bullet = part.lstrip().startswith(("- ", "* ", "#. ", "|"))
        if piece and (not part.strip() or here != indent or bullet):
            yield start, " ".join(piece)
            piece = []
        if part.strip():
            if not piece:
                start = number
            piece.append(part.strip().lstrip("-*# "))
            indent = here + (2 if bullet and not part.lstrip().startswith("|") else 0)


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        yield from _docstrings(text)
        yield from _comments(text)
    else:
        yield from _paragraphs(_without_blocks(text))


def _without_blocks(text: str) -> str:
    """Return text with the blocks of code of Markdown and reStructuredText blanked."""
    lines, fenced, block = [], False, -1
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        fenced ^= line.lstrip().startswith("```")
        if line.strip() and block >= 0 and indent <= block:
            block = -1
        lines.append("" if fenced or block >= 0 else line)
        if line.lstrip().startswith((".. code-block", ".. math", ".. plot")) or line.endswith("::"):
            block = indent
    return "\n".join(lines)


def faults_of(prose: str) -> Iterator[str]:
    """Yield what is not used in a sentence, and what to write instead."""
    for pattern, instead in BANNED.items():
        for hit in re.finditer(pattern, prose):
            found = hit.group().strip('.:;!?"\u201c ')
            yield (
                f"'{found}' is not used here; write {instead} (BANNED in tests/test_english.py): "
                f"...{prose[max(0, hit.start() - 30) : hit.end() + 40]}"
            )


def faults(path: Path) -> list[str]:
    """Return the sentences of a file that a newcomer stumbles over."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for line, text in _prose(path)
        for fault in faults_of(_CODE.sub("X", text))
    ]


def files(room: str) -> list[Path]:
    """Return the files of a room: a pattern, or all of a folder."""
    path = ROOT / room
    return sorted(path.rglob("*.py") if path.is_dir() else ROOT.glob(room))


@pytest.mark.parametrize("room", ROOMS)
def test_prose_is_plain(room: str) -> None:
    paths = files(room)
    assert paths
    found = [fault for path in paths for fault in faults(path)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "n_faults"),
    [
        ("Of several tables, the worst. Where none is given, all.", 2),
        ("Where does it leak? Of course it says.", 1),
        ("The table, where it is given, stands next to another.", 0),
        ("It stands in for train, beside the holdout, as was said.", 3),
        ("Tell whether it is there.", 1),
    ],
)
def test_what_is_plain(text: str, n_faults: int) -> None:
    assert len(list(faults_of(text))) == n_faults
