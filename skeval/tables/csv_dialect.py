"""Separator, encoding and decimal sign of a CSV file, specified or detected."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError
from skeval.tables.packed_files import open_file
from skeval.utils.formatting import format_count

_HEAD = 1 << 16  # number of bytes that are read to detect the dialect
_MAX_LINES = 50
_SEPARATORS = (",", ";", "\t", "|")
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_REGULAR = 0.9  # minimum fraction of lines with the same number of cells as the header
_MARKS = {  # UTF-32 comes first, because its mark begins with the mark of UTF-16
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
    codecs.BOM_UTF8: "utf-8",
}
_HALF_EMPTY = 0.25  # minimum fraction of the high bytes that are 0 in UTF-16, in any script
_WITH_COMMA, _WITH_POINT = (re.compile(rf"\s*[-+]?\d+{sign}\d+\s*") for sign in (",", r"\."))
_NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d+)?\s*")
_INSTRUCTION = re.compile(r"\s*\"?sep=.?\"?[\s,;|]*", re.IGNORECASE)  # an instruction for Excel
FALLBACK = "cp1252"  # used if a file is not in UTF-8, because Western European spreadsheets use it


@dataclass(frozen=True)
class Dialect:
    """Dialect of CSV files. Values that are None are detected for each file."""

    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n'):
            raise InvalidParameterError(f"sep must be one character, got {self.sep!r}.")
        if self.decimal not in (None, ".", ","):
            raise InvalidParameterError(f"decimal must be '.' or ',', got {self.decimal!r}.")
        if self.decimal is not None and self.decimal == self.sep:
            both = f"must be different, but both are {self.sep!r}."
            said = f"sep and decimal {both}"
            raise InvalidParameterError(said)
        if self.encoding is not None:
            try:
                "".encode(self.encoding)  # fails for codecs that do not encode text
            except (LookupError, ValueError) as error:
                none = f"encoding must be a text encoding of Python, got {self.encoding}."
                raise InvalidParameterError(none) from error

    def detect(self, path: Path) -> Dialect:
        """Return the dialect of one file. Missing values are detected from its first lines."""
        plain = "\t" if ".tsv" in path.suffixes else ","
        with open_file(path) as file:
            head = file.read(_HEAD)
        encoding = self.encoding or _encoding_of(head)
        lines = head.decode(encoding, errors="replace").splitlines()
        # The last line may be incomplete.
        lines = lines[: -1 if len(head) == _HEAD and len(lines) > 1 else None]
        _check_first_line(lines, (self.sep,) if self.sep else _SEPARATORS)
        sep = self.sep or _separator(lines, plain)
        return Dialect(sep, encoding, self.decimal or _decimal(lines, sep))

    def describe_guesses(self, read: Dialect, path: Path) -> str:
        """Return a text on detected properties that are not the default, or an empty text."""
        plain = "\t" if ".tsv" in path.suffixes else ","
        parts = [
            f"cells separated by {_NAMES[read.sep]}"
            if self.sep is None and read.sep in _NAMES and read.sep != plain
            else "",
            "the comma as decimal sign" if self.decimal is None and read.decimal == "," else "",
            f"the encoding {read.encoding}"
            if self.encoding is None and read.encoding != "utf-8"
            else "",
        ]
        return ", ".join(filter(None, parts))

    def settings(self) -> dict[str, Any]:
        """Return the arguments of :func:`pandas.read_csv`."""
        return {"sep": self.sep, "encoding": self.encoding, "decimal": self.decimal}

    def in_fallback(self) -> Dialect:
        """Return this dialect with the encoding for files that are not in UTF-8."""
        return replace(self, encoding=FALLBACK)


def _encoding_of(head: bytes) -> str:
    """Detect the encoding from the first bytes."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    for name, high, low in (
        ("utf-16-le", head[1::2], head[::2]),
        ("utf-16-be", head[::2], head[1::2]),
    ):
        if high.count(0) > _HALF_EMPTY * len(high) and not low.count(0):
            return name
    if b"\0" in head:
        raise ValueError("the file contains null bytes. Write the table as CSV or Parquet.")
    return "utf-8"


def _rows(lines: list[str], sep: str) -> list[list[str]]:
    try:
        return [row for row in islice(csv.reader(lines, delimiter=sep), _MAX_LINES) if row]
    except csv.Error:
        return []


def _separator(lines: list[str], plain: str) -> str:
    """Return the separator that splits most lines like the header, or the default separator."""
    regular = {}
    for sep in (plain, *_SEPARATORS):
        rows = _rows(lines, sep)
        if rows and (n_names := len(rows[0])) > 1:
            regular[sep] = sum(len(row) == n_names for row in rows) / len(rows)
    if not regular or regular.get(plain, 0.0) >= max(regular.values()):
        return plain
    best = max(regular, key=lambda sep: regular[sep])
    return best if regular[best] >= _REGULAR else plain


def _check_first_line(lines: list[str], separators: Sequence[str]) -> None:
    """Raise an error if the first line is a spreadsheet instruction or a title."""
    first = lines[0] if lines else ""
    if _INSTRUCTION.fullmatch(first):
        raise ValueError(
            f"the first line is {first.strip()}, an instruction for spreadsheets. Remove this "
            "line, so that the first line contains the names of the columns."
        )
    for sep in separators:
        # If the line has one separator, the other cell may be an unnamed column such as an index.
        if sep in first.strip(sep) or first.count(sep) == 1:
            continue
        rows = [[cell for cell in row if cell.strip()] for row in _rows(lines, sep)]
        n_titles = next((i for i, row in enumerate(rows) if len(row) > 1), 0)
        if n_titles and _has_header_of_numbers(rows[n_titles:]):
            raise ValueError(
                f"the file seems to have a title of {format_count(n_titles, 'line')} above the "
                "column names. Remove the title, or specify the separator with --sep."
            )


def _has_header_of_numbers(rows: list[list[str]]) -> bool:
    """Return whether most rows have the length of the first, and a name is above numbers."""
    names, *others = rows
    regular = [row for row in others if len(row) == len(names)]
    if not regular or len(regular) < _REGULAR * len(others):
        return False
    return any(
        not _NUMBER.fullmatch(name) and all(_NUMBER.fullmatch(row[j]) for row in regular)
        for j, name in enumerate(names)
    )


def _decimal(lines: list[str], sep: str) -> str:
    """Return the comma if numbers contain commas and no points, and the point otherwise."""
    if sep == ",":
        return "."
    cells = [cell for row in _rows(lines, sep)[1:] for cell in row]
    with_comma = any(_WITH_COMMA.fullmatch(cell) for cell in cells)
    return "," if with_comma and not any(_WITH_POINT.fullmatch(cell) for cell in cells) else "."


PLAIN = Dialect()
