"""Files that are written whole or not at all, and are looked at before the work starts.

Results as strict JSON, and what of a foreign file may not reach a terminal or a spreadsheet.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import platform
import re
import shutil
import signal
import tempfile
import threading
import time
import tomllib
import uuid
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from skeval import exceptions
from skeval.exceptions import InvalidParameterError, MetricWarning, SkevalError
from skeval.utils.formatting import as_float, printable

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

Shape = tuple[int, ...]
LARGEST = 2**26  # bytes of a file of scores, a suite or a schema
MAX_KEY_PARTS = 16  # of TOML: the time and the memory that `tomllib` takes are quadratic in them
_KEY_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-]){_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART}){{{MAX_KEY_PARTS}}}")
_STALE = 7 * 24 * 3600.0  # seconds after which nobody writes to a part any more
_OPEN: dict[Path, int] = {}  # parts that are written to, and by which process

T = TypeVar("T")


def mapped(shape: Shape, dtype: Any) -> np.ndarray:
    """Return an array, column by column, in a temporary file: it may be larger than memory."""
    # The file ends with the array; the system keeps in memory what of it is in use.
    import numpy as np

    with tempfile.TemporaryFile(prefix="skeval-") as file:
        # nothing can be mapped that is empty
        flat = np.memmap(file, dtype=dtype, mode="w+", shape=(max(1, math.prod(shape)),))
    return cast("np.ndarray", flat[: math.prod(shape)].reshape(shape, order="F"))


def foreign_text(
    path: str | Path, *, error: type[SkevalError] = InvalidParameterError, most: int = LARGEST
) -> str:
    """Return the text of a file that somebody else may have written."""
    try:
        if _is_endless(Path(path)):
            raise error(f"{path} is not a regular file.")
        with Path(path).open("rb") as file:
            held = file.read(most + 1)
        if len(held) > most:
            raise error(f"{path} is larger than {most:,} bytes, which no such file is.")
        return held.decode("utf-8-sig")
    except FileNotFoundError as why:
        raise error(f"there is no file {path}.") from why
    except OSError as why:
        raise error(f"{path} cannot be read: {why.strerror or type(why).__name__}.") from why
    except (ValueError, MemoryError) as why:
        if isinstance(why, SkevalError):
            raise
        raise error(f"{str(path)!r} holds no text in UTF-8.") from why


def _is_endless(path: Path) -> bool:
    """Return whether a path is a pipe or a device: opening or reading it might never end."""
    return path.exists() and not (path.is_file() or path.is_dir())


def foreign_json(path: str | Path, *, error: type[SkevalError] = InvalidParameterError) -> Any:
    """Return the content of a JSON file that somebody else may have written."""
    text = foreign_text(path, error=error)
    try:
        return json.loads(text)
    except (ValueError, RecursionError, MemoryError) as why:
        said = "it is nested too deeply" if isinstance(why, RecursionError) else str(why)
        raise error(f"{path} is no JSON: {said}.") from why


def foreign_toml(path: str | Path, make: Callable[[dict[str, Any]], T], *, most: int) -> T:
    """Return what is made of the content of a TOML file that somebody else may have written."""
    text = foreign_text(path, error=InvalidParameterError, most=most)
    if _LONG_KEY.search(text):
        raise InvalidParameterError(
            f"{path} has a key of more than {MAX_KEY_PARTS} parts with dots between them, and no "
            "such file needs one; write a shorter key."
        )
    try:
        content = tomllib.loads(text)
    except (ValueError, OverflowError, RecursionError, MemoryError) as why:
        raise InvalidParameterError(f"{path} is no TOML: {why}.") from why
    try:
        return make(content)
    except InvalidParameterError as error:
        raise InvalidParameterError(f"{path}: {error}") from error


def check_output(path: str | Path, endings: Collection[str], *, owner: str) -> Path:
    """Refuse a path that nothing can be written to, before the work whose result it is for."""
    path = Path(path)
    if path.is_dir():
        example = path / f"{owner}{next(iter(endings))}"
        raise InvalidParameterError(f"{owner}: {path} is a folder; name a file, such as {example}.")
    if path.suffix.lower() not in endings:
        *others, last = endings
        known = f"{', '.join(others)} or {last}" if others else last
        said = f"{path} must end in {known}."
        raise InvalidParameterError(f"{owner}: {said}")
    if not path.parent.is_dir():
        raise InvalidParameterError(f"{owner}: there is no folder {path.parent}; make it first.")
    with _named(path):
        target = _target(path)
    if target.is_file() or not target.exists():
        with _named(path):
            _opened(target).unlink()
    return path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary file in the folder of `path` to write to, and rename it on success."""
    # A failed run leaves an existing file as it was, and nothing else behind; nor does one
    # that the system asks to end. What a run left that was killed is removed by the next one,
    # if that knows that it is over: on the same machine, in the same space of process numbers
    # (containers have their own), or after a week. The mode of an existing file is kept, and
    # a link stays one: the file that it points to is replaced.
    path = Path(path)
    target = _target(path)
    with _named(path):
        if target.exists() and not target.is_file():  # a pipe or a device is written to as it is
            yield target
            return
        temporary = _opened(target)
        _OPEN[temporary] = os.getpid()
        try:
            with _removed_if_terminated():
                yield temporary
            temporary.replace(target)
        finally:
            _OPEN.pop(temporary, None)
            temporary.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    try:
        return path.resolve() if path.is_symlink() else path
    except RuntimeError as error:  # of Python 3.11 and 3.12
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error


def _opened(target: Path) -> Path:
    """Return a new, empty file next to `target`, of the same mode; clean what others left there."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "The file is read-only")
    start = f".skeval-{zlib.crc32(os.fsencode(target.name)):08x}"
    for left in target.parent.glob(f"{start}-*.part"):
        _remove_stale(left)
    # the name is short for any target: file systems have a limit
    own = f"{start}-{_place()}-{os.getpid()}-{uuid.uuid4().hex[:8]}.part"
    temporary = target.with_name(own)
    temporary.touch(exist_ok=False)
    if target.exists():
        shutil.copymode(target, temporary)
    return temporary


@cache
def _place() -> str:
    """Return what names the space of this process's number: host, start of it, and namespace."""
    parts = [platform.node()]
    with suppress(OSError):  # where the system says so
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return f"{zlib.crc32(' '.join(parts).encode(errors='replace')):08x}"


def _remove_stale(part: Path) -> None:
    """Remove what a run left that is over; parts of runs that may go on stay."""
    try:
        old = time.time() - part.stat().st_mtime > _STALE
        _, _, place, *process, _ = part.name.split("-")
        # numbers of processes elsewhere, as of other containers, say nothing here
        over = place == _place() and len(process) == 1 and not _is_running(int(process[0]))
        if old or over:
            part.unlink(missing_ok=True)
    except (OSError, ValueError):  # of another user, or gone in the meantime
        return


def _is_running(process: int) -> bool:
    if os.name == "nt":  # where signal 0 is no question
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _removed_if_terminated() -> Iterator[None]:
    """Let a SIGTERM that would end the process remove its parts first, unless others handle it."""
    in_charge = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if in_charge:
        signal.signal(signal.SIGTERM, _remove_and_end)
    try:
        yield
    finally:
        if in_charge:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _remove_and_end(number: int, frame: Any) -> None:
    for part, process in list(_OPEN.items()):
        if process == os.getpid():  # not those of the process that this one was forked of
            with suppress(OSError):
                part.unlink(missing_ok=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors of the system name the file of the user."""
    try:
        yield
    except OSError as error:
        of_ours = error.filename is None or str(error.filename).endswith(".part")
        if error.errno is None or not of_ours:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


# what content raises that is not of the form it should have
FOREIGN = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
_SCORES = ("columns", "baseline_columns")  # of details, where they are mappings


@contextmanager
def details_of(source: object) -> Iterator[None]:
    """Say of results from a file that their details are none of a metric, where that shows.

    For results that were made here, `source` is None and errors are left as they are.
    """
    try:
        yield
    except FOREIGN as error:
        if source is None or isinstance(error, SkevalError):
            raise
        raise InvalidParameterError(
            f"{source} holds details of another form than metrics write "
            f"({type(error).__name__}); evaluate again."
        ) from error


def check_details(details: Mapping[str, Any]) -> None:
    """Refuse scores by column that are neither numbers nor mappings."""
    for name in _SCORES:
        if isinstance(scores := details.get(name), Mapping):
            for score in scores.values():
                if not isinstance(score, Mapping):  # of a column, what an attack on it gave
                    as_float(score)


def plain_json(value: Any) -> Any:
    """Reduce arrays, numpy numbers and tuples to what strict JSON knows."""
    import numpy as np

    if isinstance(value, Mapping):
        return {str(key): plain_json(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain_json(value.tolist())
    if isinstance(value, list | tuple):
        return [plain_json(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(
        f"a result holds {type(value).__name__}, which JSON does not know; put lists, dicts, "
        "numbers, strings and arrays into details."
    )


def without_controls(content: Any) -> Any:
    """Return content of a JSON file with the control characters in its texts replaced."""
    if isinstance(content, str):
        return printable(content)
    if isinstance(content, list):
        return [without_controls(part) for part in content]
    if isinstance(content, dict):
        return {without_controls(name): without_controls(part) for name, part in content.items()}
    return content


def no_formula(name: str) -> str:
    """Return a text that spreadsheets do not take for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def csv_of(frame: pd.DataFrame) -> str:
    """Return a table as CSV in which no text and no name of a column is a formula."""
    plain = frame.map(lambda cell: no_formula(cell) if isinstance(cell, str) else cell)
    return plain.rename(columns=lambda name: no_formula(str(name))).to_csv(index=False)


def named_warnings(warnings: Iterable[MetricWarning]) -> list[list[Any]]:
    """Return the class and the text of each warning, and the columns of those that name some."""
    return [[type(warning).__name__, str(warning), *_columns_of(warning)] for warning in warnings]


def _columns_of(warning: MetricWarning) -> list[list[str]]:
    if not isinstance(warning, exceptions.UnexaminedColumnsWarning):
        return []
    return [[*warning.columns], [*warning.unique]]


def rebuilt_warnings(named: Iterable[Sequence[Any]]) -> tuple[MetricWarning, ...]:
    """Return the warnings of these classes and texts."""
    return tuple(_rebuilt_warning(*one) for one in named)


def _rebuilt_warning(
    name: str, text: str, columns: Sequence[str] = (), unique: Sequence[str] = ()
) -> MetricWarning:
    kind = getattr(exceptions, str(name), None)
    if kind is exceptions.UnexaminedColumnsWarning:
        return exceptions.UnexaminedColumnsWarning(str(text), columns, unique)
    if isinstance(kind, type) and issubclass(kind, MetricWarning):
        return kind(str(text))
    return MetricWarning(str(text))


def read_versioned(
    path: str | Path, version: int, make: Callable[[dict[str, Any]], T], *, what: str
) -> T:
    """Return what `make` rebuilds of a JSON file that may be another's."""
    text = foreign_text(path)
    try:
        content = without_controls(json.loads(text))
        if content["schema_version"] == version:
            return make(content)
    except FOREIGN as error:
        raise InvalidParameterError(f"{path} holds no {what}.") from error
    raise InvalidParameterError(f"{path} is of another version of the schema.")


def write_json(content: Mapping[str, Any], path: str | Path | None) -> str:
    """Return the text of strict JSON, and write it to `path` if given."""
    text = json.dumps(content, indent=1, allow_nan=False)
    if path is not None:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return text


def hash_of_file(path: str | Path) -> str:
    """Return the SHA-256 of the bytes of a file.

    Raises
    ------
    InvalidParameterError
        If there is no such file.
    """
    try:
        if _is_endless(Path(path)):
            raise InvalidParameterError(f"files: {path} is not a regular file.")
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InvalidParameterError(f"files: {path} cannot be read: {error.strerror}.") from error
