"""Files that are written whole or not at all, to paths that are checked before the work starts."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import signal
import threading
import time
import uuid
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from skeval.exceptions import InvalidParameterError

_STALE = 7 * 24 * 3600.0  # seconds after which nobody writes to a part any more
_OPEN: dict[Path, int] = {}  # parts that are written to, and by which process


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
    with _add_path_to_errors(path):
        target = _target(path)
    if target.is_file() or not target.exists():
        with _add_path_to_errors(path):
            _create_part_file(target).unlink()
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
    with _add_path_to_errors(path):
        if target.exists() and not target.is_file():  # a pipe or a device is written to as it is
            yield target
            return
        temporary = _create_part_file(target)
        _OPEN[temporary] = os.getpid()
        try:
            with _remove_on_sigterm():
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


def _create_part_file(target: Path) -> Path:
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
def _remove_on_sigterm() -> Iterator[None]:
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
def _add_path_to_errors(path: Path) -> Iterator[None]:
    """Let errors of the system name the file of the user."""
    try:
        yield
    except OSError as error:
        of_ours = error.filename is None or str(error.filename).endswith(".part")
        if error.errno is None or not of_ours:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error
