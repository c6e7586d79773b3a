"""Files from other people, which are read within limits and refused in one sentence."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from skeval.exceptions import InvalidParameterError, SkevalError

T = TypeVar("T")

_MAX_BYTES = 2**26  # a larger file of scores or a schema is refused
_MAX_TOML_BYTES = 2**20  # a larger policy or release file is refused
MAX_KEY_PARTS = 16  # time and memory of `tomllib` are quadratic in the parts
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{MAX_KEY_PARTS}}}")


def foreign_text(
    path: str | Path, *, error: type[SkevalError] = InvalidParameterError, most: int = _MAX_BYTES
) -> str:
    """Return the text of a file that somebody else may have written."""
    try:
        if _is_endless(Path(path)):
            raise error(f"{path} is not a regular file.")
        with Path(path).open("rb") as file:
            held = file.read(most + 1)
        if len(held) > most:
            raise error(f"{path} is larger than {most:,} bytes, the limit for such files.")
        return held.decode("utf-8-sig")
    except FileNotFoundError as why:
        raise error(f"there is no file {path}.") from why
    except OSError as why:
        raise error(f"{path} cannot be read: {why.strerror or type(why).__name__}.") from why
    except (ValueError, MemoryError) as why:
        if isinstance(why, SkevalError):
            raise
        raise error(f"{str(path)!r} is not a text file in UTF-8.") from why


def _is_endless(path: Path) -> bool:
    """Return whether a path is a pipe or a device, because reading it might never end."""
    return path.exists() and not (path.is_file() or path.is_dir())


def foreign_json(path: str | Path, *, error: type[SkevalError] = InvalidParameterError) -> Any:
    """Return the content of a JSON file that somebody else may have written."""
    text = foreign_text(path, error=error)
    try:
        return json.loads(text)
    except (ValueError, RecursionError, MemoryError) as why:
        said = "it is nested too deeply" if isinstance(why, RecursionError) else str(why)
        raise error(f"{path} is not a JSON file: {said}.") from why


def foreign_toml(path: str | Path, make: Callable[[dict[str, Any]], T]) -> T:
    """Return the object made from a TOML file that somebody else may have written."""
    text = foreign_text(path, most=_MAX_TOML_BYTES)
    if _LONG_KEY.search(text):
        raise InvalidParameterError(
            f"{path} has a key of more than {MAX_KEY_PARTS} parts with dots between them, which "
            "is the limit. Use a shorter key."
        )
    try:
        content = tomllib.loads(text)
    except (ValueError, OverflowError, RecursionError, MemoryError) as why:
        raise InvalidParameterError(f"{path} is not a TOML file: {why}.") from why
    try:
        return make(content)
    except InvalidParameterError as error:
        raise InvalidParameterError(f"{path}: {error}") from error


def hash_of_file(path: str | Path) -> str:
    """Return the SHA-256 of the bytes of a file."""
    try:
        if _is_endless(Path(path)):
            raise InvalidParameterError(f"files: {path} is not a regular file.")
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidParameterError(f"files: {path} cannot be read: {error.strerror}.") from error
