"""The memory that is free for a process, on the machine and in its container."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SHARE = 0.8  # a metric may use this fraction of the free memory
_CEILING = 0.9  # the process may use this fraction of the free memory
_RESERVED = 2**30  # bytes that allocators reserve and do not use
_NO_LIMIT = 2**60  # the value for no limit in groups of the first kind
_GROUPS = Path("sys/fs/cgroup")
_STATM = Path("/proc/self/statm")
# files of a group by kind, with the limit, the memory in use, and the pages of files in it
_FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that the process can still use, or None if the system does not report it."""
    free = [*_free_of_machine(root), *_free_of_groups(root)]
    return max(0, min(free)) if free else None


@contextmanager
def limit_memory() -> Iterator[None]:
    """Let an allocation that exceeds the free memory fail at once with `MemoryError`, if possible.

    Otherwise, the system may end a large process without a message.
    """
    free = free_memory()
    try:
        import resource
    except ImportError:  # Windows
        free = None
    if free is None:
        yield
        return
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = held_bytes() + int(_CEILING * free) + _RESERVED
    finite = [limit for limit in (most, before, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(finite), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def held_bytes() -> int:
    """Return the bytes of data that the process uses or has reserved."""
    return _read_entry(Path("/proc/self/status"), "VmData:") or 0


def resident_bytes() -> float:
    """Return the resident set size of this process, or the largest one if it is not known."""
    if not _STATM.exists():
        return highest_bytes()
    return float(int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))


def highest_bytes() -> float:
    """Return the largest resident set size that this process had so far, or nan on Windows."""
    if sys.platform == "win32":
        return math.nan
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


def _free_of_machine(root: Path) -> list[int]:
    available = _read_entry(root / "proc/meminfo", "MemAvailable:")
    return [] if available is None else [available]


def _read_entry(path: Path, name: str) -> int | None:
    """Return an entry of a file of names and kibibytes."""
    for line in _read_text(path).splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None


def _free_of_groups(root: Path) -> Iterator[int]:
    for line in _read_text(root / "proc/self/cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        for kind in set(kinds.split(",")) & set(_FILES):
            top = root / _GROUPS / kind
            # inside a container, the path may be a path of the host, and the group is the top
            # folder
            own = top / path.lstrip("/")
            for folder in (own, *own.parents):
                yield from _free_of_group(folder, *_FILES[kind])
                if folder == top:
                    break


def _free_of_group(folder: Path, limit: str, used: str, files: str) -> list[int]:
    numbers = [_read_text(folder / name).strip() for name in (limit, used)]
    if not all(number.isdigit() for number in numbers) or int(numbers[0]) >= _NO_LIMIT:
        return []
    of_files = [
        int(line.split()[1])
        for line in _read_text(folder / "memory.stat").splitlines()
        if line.split()[:1] == [files]
    ]
    return [int(numbers[0]) - int(numbers[1]) + sum(of_files)]


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
