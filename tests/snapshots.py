"""What errors and warnings say, compared with the sentences in the folder `snapshots`.

A test states the kind of an error or a warning with `raises` or `warns`. The messages are noted,
and when the test ends, they are compared with the section of the test in the text file of its
module. `SKEVAL_SNAPSHOTS=write pytest ...` stores the messages of the tests that run.
"""

from __future__ import annotations

import difflib
import errno
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FOLDER = TESTS / "snapshots"
IS_WRITING = os.environ.get("SKEVAL_SNAPSHOTS") == "write"
# what the operating system says of a file, which other systems say in another way
REASONS = {os.strerror(code) for code in (errno.ENOENT, errno.EISDIR, errno.EACCES)}
COLLECTED = pytest.StashKey[dict[Path, set[str]]]()

_noted: list[str] | None = None  # the messages of the test that runs; None in fixtures


@contextmanager
def raises(
    kind: type[BaseException] | tuple[type[BaseException], ...],
) -> Iterator[pytest.ExceptionInfo]:
    """Expect an error, as `pytest.raises` does, and note its message."""
    __tracebackhide__ = True
    with pytest.raises(kind) as caught:
        yield caught
    _note([str(caught.value)])


@contextmanager
def warns(kind: type[Warning] | tuple[type[Warning], ...]) -> Iterator[pytest.WarningsRecorder]:
    """Expect warnings, as `pytest.warns` does, and note the messages of all that are of the kind."""
    __tracebackhide__ = True
    with pytest.warns(kind) as caught:
        yield caught
    _note(sorted({str(w.message) for w in caught if issubclass(w.category, kind)}))


def note(sentences: list[str]) -> None:
    """Note sentences that are no errors, such as those of a report."""
    _note(sentences)


def _note(messages: list[str]) -> None:
    if _noted is None:
        raise RuntimeError("Only tests have sentences. In a fixture, use those of pytest.")
    _noted.extend(messages)


def remember_collected(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note which tests the collected modules define, before some are deselected."""
    if IS_WRITING and config.getoption("dist", "no") not in ("no", "loadfile"):
        raise pytest.UsageError("Two processes would write one snapshot. Add --dist=loadfile.")
    collected = config.stash[COLLECTED] = defaultdict(set)
    if not config.getoption("lf", False) and not any("::" in arg for arg in config.args):
        for item in items:
            collected[item.path].add(name_section(item))


@contextmanager
def compare_sentences(item: pytest.Item) -> Iterator[None]:
    """Compare, or write, what is said until the end of the block, unless an error ends it."""
    global _noted
    before, _noted = _noted, []
    try:
        yield
        body = _format_body([_normalize(message, item) for message in dict.fromkeys(_noted)])
    finally:
        _noted = before
    stored = read_sections(path := find_snapshot(item.path))
    name = name_section(item)
    if IS_WRITING:
        known = item.config.stash[COLLECTED].get(item.path)
        kept = {n: text for n, text in stored.items() if known is None or n in known}
        _write_sections(path, kept | {name: body})
    elif body != stored.get(name, ""):
        pytest.fail(_describe_difference(item, path, stored.get(name, ""), body), pytrace=False)


def name_section(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[2]


def find_snapshot(module: Path) -> Path:
    """Return the file with the sentences of a module of tests."""
    return (FOLDER / module.relative_to(TESTS)).with_suffix(".txt")


def find_module(snapshot: Path) -> Path:
    return (TESTS / snapshot.relative_to(FOLDER)).with_suffix(".py")


def read_sections(path: Path) -> dict[str, str]:
    """Return the text of each section after the name of its test; some sections share a text."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    names: list[str] = []
    sections = {}
    for part in re.split(r"^(\S.*\n)", text, flags=re.MULTILINE)[1:]:
        if part[:1].strip():
            names.append(part.rstrip("\n"))
        elif body := part.rstrip():
            sections |= dict.fromkeys(names, body)
            names = []
    return sections


def _write_sections(path: Path, sections: dict[str, str]) -> None:
    """Write the sections in order; cases of a test that say the same are written above one text."""
    named = sorted((_sort_key(name), name, body) for name, body in sections.items() if body)
    text = "\n".join(
        "".join(f"{name}\n" for _, name, _ in cases) + f"{body}\n"
        for (_, body), cases in groupby(named, lambda case: (case[1].partition("[")[0], case[2]))
    )
    if text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    else:
        path.unlink(missing_ok=True)


def _sort_key(name: str) -> list[str | int]:
    """Order case 2 before case 10."""
    parts: list[str | int] = re.split(r"(\d+)", name)
    parts[1::2] = map(int, parts[1::2])
    return parts


def _format_body(messages: list[str]) -> str:
    """Begin each message with a dash; further lines of a message are indented."""
    lines = []
    for message in messages:
        first, *more = message.splitlines() or [""]
        lines += [f"  - {first}".rstrip(), *(f"    {line}".rstrip() for line in more)]
    return "\n".join(lines).rstrip()


def _normalize(message: str, item: pytest.Item) -> str:
    """Replace folders, addresses, lines of code and reasons of the system, which differ or move."""
    known = {str(TESTS.parent): "<repository>", sys.prefix: "<python>"}
    known |= dict.fromkeys(REASONS, "<reason>")
    if factory := getattr(item, "funcargs", {}).get("tmp_path_factory"):
        message = _replace_folder(message, f"{factory.getbasetemp()}")
    for text, name in known.items():
        message = message.replace(text, name)
    message = re.sub(r"\b0x[0-9a-fA-F]{6,}", "<address>", message)
    return re.sub(r"(\.py, line )\d+", r"\1<number>", message)


def _replace_folder(message: str, base: str) -> str:
    """Write the folder that a test gets as `<folder>`, and paths in it with slashes."""
    message = re.sub(
        rf"{re.escape(base)}[\\/][^\\/\s'\",;:]+", "<folder>", message.replace(r"\\", "\\")
    )
    return re.sub(r"<folder>[^\s'\"]*", lambda path: path[0].replace("\\", "/"), message)


def _describe_difference(item: pytest.Item, path: Path, stored: str, said: str) -> str:
    lines = difflib.ndiff(stored.splitlines(), said.splitlines())
    where = f"tests/snapshots/{path.relative_to(FOLDER).as_posix()}"
    test = item.nodeid.partition("[")[0]
    return "\n".join(
        [
            f"{name_section(item)} says other sentences (+) than {where} holds (-):",
            *(line.rstrip() for line in lines),
            "If the new sentences are right, store them and look at the diff:",
            f'SKEVAL_SNAPSHOTS=write pytest -n 0 -m "" {test}',
        ]
    )
