"""Compiling ahead, once: other processes compile while this one does what needs none.

Machine code is kept on disk. Whoever comes to a loop waits while others may be compiling it, and
compiles only what they have not.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_KEPT = "kernels.nearest_rows-*.nbi"  # what is there once the search is compiled
_BESIDE: list[subprocess.Popen[bytes]] = []


@contextmanager
def compiling(module: str, *parts: str) -> Iterator[None]:
    """Have a module run in other processes during the block, if nothing is compiled yet.

    Parameters
    ----------
    module : str
        What compiles by calling. It is run as ``python -m``, once for each part; with one core,
        nothing is started.
    *parts : str
        Arguments of the module.
    """
    started = [] if is_compiled() or _n_cores() < 2 else _started(module, parts)
    _BESIDE.extend(started)
    try:
        yield
    finally:
        for process in started:
            _BESIDE.remove(process)
            process.terminate()  # what it has compiled by now is kept
            process.wait()


def at_work() -> bool:
    """Return whether other processes compile for this one."""
    return any(process.poll() is None for process in _BESIDE)


def is_compiled() -> bool:
    """Return whether machine code of the search is kept, wherever numba would look for it.

    Examples
    --------
    >>> from skeval.utils.ahead import is_compiled
    >>> is_compiled() in (True, False)
    True
    """
    package = Path(__file__).parents[1] / "neighbors"
    given = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(given)] if given else [package / "__pycache__", _of_user()]
    return any(any(folder.rglob(_KEPT)) for folder in folders)


def _of_user() -> Path:
    """Return the folder that numba takes where the package's own cannot be written to."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "numba"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "numba"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "numba"


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _started(module: str, parts: Sequence[str]) -> list[subprocess.Popen[bytes]]:
    none, started = subprocess.DEVNULL, []
    with suppress(OSError):  # then this process compiles
        for part in parts:
            command = [sys.executable, "-m", module, part]
            started.append(subprocess.Popen(command, stdin=none, stdout=none, stderr=none))
        logging.getLogger("skeval").warning("compiling the search, once, next to the rest.")
    return started
