"""Packed files: opened as what they contain, and refused if they contain too much."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from skeval.tables.file_endings import PACKINGS

MAX_LINE_LENGTH = 2**24  # bytes of a line of JSON, or in a packed file
MAX_PACKED = 2**30  # bytes that a packed file may hold, where it is read at once
_BLOCK = 2**20
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacked as pandas does."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            if len(archive.namelist()) != 1:
                raise ValueError("a packed file must hold one table.")
            with archive.open(archive.namelist()[0]) as file:
                yield file  # type: ignore[misc]
    else:
        with _OPENERS.get(suffix, open)(path, "rb") as file:
            yield file


def check_unpacked_size(path: Path, most: float = math.inf) -> None:
    """Raise where few packed bytes would fill the memory, as a line without end or many lines."""
    if path.suffix.lower() not in PACKINGS:
        return
    n_bytes = line = 0
    with open_file(path) as file:
        while block := file.read(_BLOCK):
            n_bytes += len(block)
            line = line + len(block) if b"\n" not in block else len(block) - block.rindex(b"\n") - 1
            if line > MAX_LINE_LENGTH:
                too_long = f"it unpacks to a line of over {MAX_LINE_LENGTH >> 20} MiB"
                raise ValueError(f"{too_long}; write each row as a line.")
            if n_bytes > most:
                raise ValueError(f"it unpacks to over {MAX_PACKED >> 20:,} MiB; unpack it before.")
