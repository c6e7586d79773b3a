"""Prose is plain English: turns of phrase that a newcomer reads twice are counted, and few are allowed.

`python tests/test_english.py skeval/suites` lists those of a folder or file.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROSE = ("skeval", "docs", "examples", "README.md", "CONTRIBUTING.md", "SECURITY.md")
FIRST_PAGES = ("README.md", "docs/quickstart.rst")
# Highest number of hits in 10,000 words of all prose, of one package, and of one of the first pages.
OVERALL, PACKAGE, FIRST = 40, 60, 40


# pattern => advice (hits in 10,000 words: skeval in the past | packages such as scikit-learn)
PATTERNS = r"""
(?<=[a-z)])[:;] (?=[a-z]) => split the sentence or write because/so/that is/for example (188 | 22)
\b(?:of|by|from|to|with|in|and|than|Return|holds|has) what (?!is the\b|are the\b) => name it: the columns/values/rows that ... (25 | 0.3)
(?:^|[.;] )What (?!is\b|do\b|does\b|are\b)[^?.]*\. => noun phrase that names the thing (15 | 0.1)
\b[Ww]here (?:it|they|none|all|no|one|nothing|there|many|few|some|both|each|any|every|only|these|those|several)\b => if / when / for (22 | 2)
\b(?:none|all|one|any|neither|both) (?:is|are|does|do|has|have|can)(?=[,.;:)]|$)|, [01] (?:if|where|for) (?:all|none|one|any)\b => repeat the noun and the verb; move bounds out of the summary (6 | 0.0)
\b(?:that|those) of\b => repeat the noun (27 | 0.5)
\bas of\b => as in / like that for / as for (2 | 0.1)
(?:^|[.;:,] )[Oo]f (?!course|which|whom|whose)\w+ => move the phrase behind its noun, or for/in/among (29 | 1.1)
\b(?:is|are|was|were|be) no (?!longer|more|less|fewer|better|other|way\b|need)\w+ => is not a / does not / there is no (14 | 2)
\b(?:says?|said|saying|tells?|told)\b => state, report, show, indicate, specify; CLI help: the command's own verb (26 | 0.5)
\b(?:stands?|stood)\b => is, appears, occurs (7 | 0.3)
\b(?:holds?|held)\b => contain; keep; be true; compare with (27 | 2)
\blook(?:s|ed|ing)? at\b => use, examine, evaluate; not looked at => skipped, not evaluated (10 | 0.2)
\btak(?:e|es|en)\b => use, accept, treat as, require, choose (23 | 7)
\b(?:go|goes|going) by\b => use, depend on, be based on (1.5 | 0.0)
\b(?:one|two|three|once|twice|rows?|times|seconds?|lines?|panels?|bars?|bytes?) an? (?:row|column|table|fit|fold|person|subject|metric|group|pair|page|release|cell|split|call|training|query|value)\b => per, for each (2 | 0.0)
[,;] else\b => otherwise; a second sentence (2 | 0.9)
\black(?:s|ed)?\b => does not have, is missing from (3.5 | 0.2)
\bpersons?\b|\bstrangers?\b => record, individual; holdout record (10 | 0.3)
\b(?:whoever|whatever|wherever|whichever|whom)\b => anyone who; any; if (3.1 | 0.6)
\b(?:rightly|wrongly|wholly|hardly|foremost|surest|anew|beforehand|besides|alike|apart|unheard|lest)\b => correctly, incorrectly, completely, rarely, strongest, most confident, again, before, also, similar, distinguish (16 | 0.4)
(?<!expected )\bby chance\b => expected by chance (3.8 | 0.0)
\bat best\b|\bthe (?:former|latter|very)\b => give the number's meaning; repeat the noun (1 | 0.3)
\b[Mm]end(?:s|ed|ing)?\b => fix (0.8 | 0.0)
\bgiv(?:e|es|en|ing) away\b|\bgives? \w+ away\b|\bbetray\w* => reveal, disclose (1.2 | 0.0)
\b(?:is|are) to be\b => must be, is; a weak signal (1.3 | 0.6)
\bof (?:one's|your|our|its|their) own\b => your own X; custom X; its own X (9.5 | 0.2)
\b(?:as|so) many\b => the same number of; drop (7 | 0.2)
\b(?:can|cannot) be told\b|\btold (?:from|apart)\b|\btelling \w+ from\b => can be determined; distinguish (1.5 | 0.0)
\b(?:greatest|(?<!at )least(?! similar| common| likely)|nearer|farther)\b => largest/maximum, smallest/minimum, closer, more distant (16 | 1.1)
(?<![\w`'])(?:of|in|from|to|than|by) (?:train|synthetic|holdout)\b(?! (?:row|table|set|data)) => the training/synthetic/holdout data (43 | 1)
\b(?:beyond|unasked|in vain|a bit of|rooms?)\b => more than, in addition to; without request; unused; package (9 | 0.5)
"""
RULES = [
    (re.compile(pattern), advice)
    for pattern, advice in (line.split(" => ", 1) for line in PATTERNS.strip().splitlines())
]
EXAMPLE = re.compile(r"^ *>>>.*\n(?:.*\S.*\n)*", re.MULTILINE)  # with its output
CODE = re.compile(r"(?::[\w:]+:)?`+[^`]*`+_{0,2}|https?://\S+")
LABEL = re.compile(r"^(?:[\w`*()/-]+ ){0,3}[\w`*()/-]+: ")  # "Most exposed group: ..." is allowed
SKIPPED = {"References", "See Also", "Examples"}
FIELDS = {"Parameters", "Attributes", "Returns", "Raises", "Yields", "Warns"}
MARKUP = (".. ", ":", ">>>", "===", "---", "~~~", "^^^", "+--")
BUILT = {"_build", "api", "auto_examples"}  # by Sphinx


def paragraphs(text: str, line: int = 1) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, list entries and descriptions of parameters, each after its line."""
    piece: list[str] = []
    start, indent = line, 0
    for number, part in enumerate([*text.splitlines(), ""], start=line):
        here = len(part) - len(part.lstrip())
        bullet = part.lstrip().startswith(("- ", "* ", "#. ", "|"))
        if piece and (not part.strip() or here != indent or bullet):
            yield start, " ".join(piece)
            piece = []
        if part.strip():
            start = start if piece else number
            piece.append(part.strip().lstrip("-*# "))
            indent = here + (2 if bullet else 0)


def docstring(text: str, line: int) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a docstring without examples, references and parameter names."""
    text = EXAMPLE.sub(lambda hit: "\n" * hit.group().count("\n"), text + "\n")
    lines, section, kept = text.splitlines(), "", []
    for part, below in zip(lines, [*lines[1:], ""], strict=True):
        is_name = section in FIELDS and not part.startswith(" ")
        if re.match(r"\s*-{3,}\s*$", below):
            section, part = part.strip(), ""
        elif section in SKIPPED or is_name or part.strip().startswith(MARKUP):
            part = ""
        kept.append(part)
    yield from paragraphs("\n".join(kept), line)


def strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the strings of a syntax tree that are not docstrings, with X for a replaced field."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr):
            texts = [p.value if isinstance(p, ast.Constant) else "X" for p in child.values]
            yield child.lineno, "".join(map(str, texts))
        elif not isinstance(child, ast.Constant):
            yield from strings(child)
        elif isinstance(child.value, str) and not isinstance(node, ast.Expr):
            yield child.lineno, child.value


def python(source: str) -> Iterator[tuple[int, str]]:
    """Yield the prose of docstrings, strings of four words or more, and comments."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and (text := ast.get_docstring(node)):
            yield from docstring(text, node.body[0].lineno)
    yield from ((line, s) for line, s in strings(tree) if len(s.split()) >= 4 and "<" not in s[:2])
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")


def page(text: str) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a page of Markdown or reStructuredText without its code."""
    kept, fenced, block = [], False, -1
    for part in text.splitlines():
        stripped, indent = part.strip(), len(part) - len(part.lstrip())
        fenced ^= stripped.startswith("```")
        if stripped and block >= 0 and indent <= block:
            block = -1
        code = fenced or block >= 0 or stripped.startswith(MARKUP) or "====" in part
        kept.append("" if code else re.sub(r"^\s*\* - ", "- ", part))
        if (stripped.startswith(".. ") and "list-table" not in part) or part.endswith("::"):
            block = indent
    yield from paragraphs("\n".join(kept))


def prose(source: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Yield the prose of a Python file (".py") or a page, with X in place of code."""
    for line, text in python(source) if suffix == ".py" else page(source):
        text = LABEL.sub("", re.sub(r"\s+", " ", CODE.sub("X", text)).strip())
        if len(text.split()) >= 3:
            yield line, text


def hits(text: str, place: str) -> list[str]:
    """Return the place, the words and the reason of each match in a paragraph."""
    matches = [(hit, advice) for rule, advice in RULES for hit in rule.finditer(text)]
    return [
        f"{place}: {text[: hit.start()][-40:]}>>{hit[0]}<<{text[hit.end() :][:40]}\n        {advice}"
        for hit, advice in matches
    ]


@cache
def measure_file(path: Path) -> tuple[int, list[str]]:
    """Return the number of words of a file, and its hits."""
    pieces = list(prose(path.read_text("utf-8"), path.suffix))
    found = [hit for n, text in pieces for hit in hits(text, f"{path.relative_to(ROOT)}:{n}")]
    return sum(len(text.split()) for _, text in pieces), found


def files(name: str) -> list[Path]:
    """Return the files with prose in a folder, or in a folder alone ("skeval/*")."""
    found = sorted(
        ROOT.glob(name if name.endswith(("*", ".md", ".rst", ".py")) else f"{name}/**/*")
    )
    fit = [path for path in found if path.suffix in {".py", ".rst", ".md"}]
    return [path for path in fit if not BUILT & {*path.relative_to(ROOT).parts}]


def measure(*names: str) -> tuple[float, str]:
    """Return the number of hits in 10,000 words of files and folders, and a line for each hit."""
    measured = [measure_file(path) for name in names for path in files(name)]
    words, found = sum(n for n, _ in measured), [hit for _, some in measured for hit in some]
    return 10_000 * len(found) / max(1, words), "\n".join(found)


FOLDERS = [
    f"{top}/{path.name}" for top in PROSE[:2] for path in (ROOT / top).iterdir() if path.is_dir()
]
CEILINGS = {
    **dict.fromkeys(["skeval/*", "docs/*", *sorted(filter(files, FOLDERS)), *PROSE[2:]], PACKAGE),
    **dict.fromkeys(FIRST_PAGES, FIRST),
}


@pytest.mark.parametrize("place", CEILINGS)
def test_package_has_few_hits(place: str) -> None:
    rate, listed = measure(place)
    assert rate <= CEILINGS[place], f"{rate:.0f} hits in 10,000 words. Rewrite some of:\n{listed}"


def test_all_prose_has_few_hits() -> None:
    rate, _ = measure(*PROSE)
    assert rate <= OVERALL


def test_a_hit_has_place_words_and_reason() -> None:
    assert not hits("Compute the score of the holdout data, because it is new.", "a.py:3")
    assert hits("Where there are none, the table holds no rows.", "a.py:3") == [
        "a.py:3: >>Where there<< are none, the table holds no rows.\n        if / when / for (22 | 2)",
        "a.py:3: Where there are none, the table >>holds<< no rows.\n"
        "        contain; keep; be true; compare with (27 | 2)",
    ]


def test_code_examples_and_names_of_parameters_are_no_prose() -> None:
    parts = [
        "A title",
        "Parameters\n---",
        "a : a type, no prose\n    Its description is here.",
        "Examples\n---",
        ">>> 'an example, no prose'",
    ]
    source = '"""' + "\n\n".join(parts) + '"""\nx = f"The file {x} is missing."  # a reason why'
    found = ["Its description is here.", "The file X is missing.", "a reason why"]
    assert [text for _, text in prose(source, ".py")] == found


if __name__ == "__main__":
    rate, listed = measure(*sys.argv[1:] or PROSE)
    sys.stdout.write(f"{listed}\n{rate:.0f} hits in 10,000 words\n")
