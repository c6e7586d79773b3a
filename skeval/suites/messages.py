"""What an exception says, without what may be a cell of the real tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.exceptions import SkevalError
from skeval.utils.formatting import printable

HIDDEN = "\N{HORIZONTAL ELLIPSIS}"
_MIN_ROWS = 10  # rows that have a number, if it is shown
_MAX_LENGTH = 300  # characters of a message
_READ = 5000
_RUN = 3  # words in a row that give a text away
_MAX_WORDS = 30  # of a cell that is looked for whole
_OPTION = "on_error='raise'"  # that shows where an error was raised
_QUOTED = re.compile(r"(?<!\w)[bfru]{0,2}(['\"`])(?:(.*?)\1(?!\w)|.*$)")
_NUMBER = re.compile(r"(?<![\w.])[+-]?\d(?:[\w.:/+-]|,(?=\d))*")
_SHORT = re.compile(r"[+-]?\d{1,4}|\d{1,2}-?[A-Za-z]+")  # counts, and "2D"
_MIXED = re.compile(r"\b[A-Za-z_]\w*\d\w*")
_NAME = re.compile(r"[A-Za-z_]+\d{0,2}")  # "float64"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class RealCells:
    """What the real tables hold, as messages may quote it."""

    names: set[str]
    numbers: set[float]
    whole: set[str]
    texts: str
    words: set[str]


def describe_error(error: Exception, context: Context) -> str:
    """Return the class of an exception and what it says, without what may be a real cell."""
    # Messages of skeval quote no cell. In those of others, text in quotes is hidden, but for
    # names of columns and words that no cell has; and so are cells that fewer than ten rows
    # have, three words of such a cell in a row, and numbers with a fraction or of more than
    # four digits. For tables larger than memory, only the class is reported.
    kind, text = type(error).__name__, " ".join(str(error).split())
    if isinstance(error, SkevalError):
        return f"{kind}: {error}"
    frames = dict(_real_frames(context))
    in_memory = [isinstance(frame, pd.DataFrame) for frame in frames.values()]
    if not text or not frames or not all(in_memory):
        return f"{kind}: {_OPTION} shows where"
    shown = mask_cells(text[:_READ], _cells(frames))
    cut = shown if len(shown) <= _MAX_LENGTH else shown[:_MAX_LENGTH].rsplit(" ", 1)[0] + HIDDEN
    said = f"{kind}: {printable(cut)}"
    return said if cut == text else f"{said} ({_OPTION} shows all)"


def mask_cells(text: str, cells: RealCells) -> str:
    """Return a message with what may be a cell hidden."""
    text = _QUOTED.sub(lambda found: _mask_quotation(found, cells), text)
    text = _without_cells(text, cells)
    text = _NUMBER.sub(lambda found: _number(found[0], cells), text)
    return _MIXED.sub(lambda found: found[0] if _NAME.fullmatch(found[0]) else HIDDEN, text)


def _mask_quotation(found: re.Match[str], cells: RealCells) -> str:
    mark, inner = found[1], found[2]
    if inner in cells.names:
        return f"{mark}{inner}{mark}"
    parts = inner.split(".") if inner else [""]
    is_name = all(_NAME.fullmatch(part) and part.casefold() not in cells.words for part in parts)
    return f"{mark}{inner if is_name else HIDDEN}{mark}"


def _number(text: str, cells: RealCells) -> str:
    bare = text.rstrip(".:,/+-")
    if not _SHORT.fullmatch(bare):
        return HIDDEN + text[len(bare) :]
    is_cell = bare.lstrip("+-").isdigit() and float(bare) in cells.numbers
    return HIDDEN + text[len(bare) :] if is_cell else text


def _without_cells(text: str, cells: RealCells) -> str:
    """Hide runs of words that are a cell, or three words of one."""
    places = [found.span() for found in _WORD.finditer(text)]
    hidden: list[tuple[int, int]] = []
    for i, (start, _) in enumerate(places):
        for n, (_, end) in enumerate(places[i : i + _MAX_WORDS], start=1):
            run = _plain(text[start:end])
            if run in cells.whole or (n == _RUN and f" {run} " in cells.texts):
                hidden.append((start, end))
    for start, end in _merge_spans(hidden)[::-1]:
        text = text[:start] + HIDDEN + text[end:]
    return text


def _merge_spans(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans with those that overlap made one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _real_frames(context: Context) -> Iterator[tuple[str, Any]]:
    """Yield the real tables as they were given, by role and name."""
    for role in ("train", "holdout"):
        if role in context:
            given = context.original_frame(role)
            for name, frame in given.items() if isinstance(given, Mapping) else [("", given)]:
                yield f"{role} {name}", frame


def _cells(frames: Mapping[str, pd.DataFrame]) -> RealCells:
    numbers: set[float] = set()
    whole: set[str] = set()
    for frame in frames.values():
        for column in (frame[name] for name in frame):
            if pd.api.types.is_bool_dtype(column):
                continue
            is_number = pd.api.types.is_numeric_dtype(column)
            counts = (column if is_number else column.dropna().map(str)).value_counts()
            rare = counts.index[(counts < _MIN_ROWS).to_numpy()]
            if is_number:
                numbers.update(rare.to_numpy(dtype=float, na_value=np.nan))
            else:
                whole.update(_plain(cell) for cell in rare)
    names = {name.partition(" ")[2] for name in frames}
    names |= {str(column) for frame in frames.values() for column in frame}
    texts = "\n".join(f" {cell} " for cell in whole)
    return RealCells(names - {""}, numbers, whole - {""}, texts, set(texts.split()))
