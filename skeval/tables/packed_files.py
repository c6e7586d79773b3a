"""Opening of compressed files, with a limit for their decompressed size."""

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

MAX_LINE_LENGTH = 2**24  # maximum bytes of a line of JSON, or of any line in a compressed file
MAX_PACKED = 2**30  # maximum decompressed bytes of a file that is read at once
_BLOCK = 2**20
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file and decompress it in the same way as pandas."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            if len(archive.namelist()) != 1:
                raise ValueError("a zip file must contain exactly one file.")
            with archive.open(archive.namelist()[0]) as file:
                yield file  # type: ignore[misc]
    else:
        with _OPENERS.get(suffix, open)(path, "rb") as file:
            yield file


def check_unpacked_size(path: Path, most: float = math.inf) -> None:
    """Raise an error if the decompressed file has a very long line or more than `most` bytes."""
    if path.suffix.lower() not in PACKINGS:
        return
    n_bytes = line = 0
    with open_file(path) as file:
        while block := file.read(_BLOCK):
            n_bytes += len(block)
            line = line + len(block) if b"\n" not in block else len(block) - block.rindex(b"\n") - 1
            if line > MAX_LINE_LENGTH:
                too_long = f"the file contains a line of more than {MAX_LINE_LENGTH >> 20} MiB"
                raise ValueError(f"{too_long}. Write each row as a line.")
            if n_bytes > most:
                raise ValueError(
                    f"the decompressed size is more than {MAX_PACKED >> 20:,} MiB. Decompress the "
                    "file first."
                )
