"""Files that are written completely or not at all, to paths that are checked before the work."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from skeval.exceptions import InvalidParameterError


def check_output(path: str | Path, endings: Collection[str], *, owner: str) -> Path:
    """Raise an error before the work if its result cannot be written to a path."""
    path = Path(path)
    if path.is_dir():
        example = path / f"{owner}{next(iter(endings))}"
        raise InvalidParameterError(f"{owner}: {path} is a folder. Specify a file: {example}.")
    if path.suffix.lower() not in endings:
        *others, last = endings
        known = f"{', '.join(others)} or {last}" if others else last
        said = f"{path} must end in {known}."
        raise InvalidParameterError(f"{owner}: {said}")
    if not path.parent.is_dir():
        raise InvalidParameterError(f"{owner}: there is no folder {path.parent}. Create it first.")
    with _add_path_to_errors(path):
        target = _target(path)
    if target.is_file() or not target.exists():
        with _add_path_to_errors(path):
            _create_part_file(target).unlink()
    return path


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary file in the folder of `path` to write to, and rename it on success."""
    # A run that fails leaves an existing file unchanged. The mode of an existing file is kept. If
    # the path is a link, the file that it points to is replaced.
    path = Path(path)
    target = _target(path)
    with _add_path_to_errors(path):
        if target.exists() and not target.is_file():  # a pipe or a device is written to as it is
            yield target
            return
        temporary = _create_part_file(target)
        try:
            yield temporary
            with temporary.open("ab") as written:
                os.fsync(written.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _target(path: Path) -> Path:
    try:
        return path.resolve() if path.is_symlink() else path
    except RuntimeError as error:  # Python 3.11 and 3.12 raise it for a loop of links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error


def _create_part_file(target: Path) -> Path:
    """Return a new, empty file with the same mode in the folder of `target`."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "The file is read-only")
    # the name is short for any target because file systems have a limit
    temporary = target.with_name(f".skeval-{uuid.uuid4().hex}.part")
    temporary.touch(exist_ok=False)
    if target.exists():
        shutil.copymode(target, temporary)
    return temporary


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
