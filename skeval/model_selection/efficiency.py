"""What a generator costs: the time of its fit and of its sample, and the memory of both."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np

from skeval.parameters import Positive

_EVERY = 0.005  # seconds
_STATM = Path("/proc/self/statm")
_MIB = 2**20


@dataclass(frozen=True)
class Efficiency:
    """What one fit and one sample cost.

    Attributes
    ----------
    fit_seconds, sample_seconds : float
        By the clock on the wall.
    peak_mib : float
        By how much the memory of the process grew at most, in MiB; nan where the system does not
        say.
    """

    fit_seconds: float
    sample_seconds: float
    peak_mib: float


@dataclass
class PeakMemory:
    """The growth of a process while a block of code ran.

    Attributes
    ----------
    mib : float
        In MiB, set at the end of the block; nan where the system does not say.
    """

    mib: float = field(default=float("nan"))


@contextmanager
def peak_memory(every: Positive = _EVERY) -> Iterator[PeakMemory]:
    """Measure by how much the resident memory of this process grows at most.

    Parameters
    ----------
    every : float, default=0.005
        Seconds between two looks.

    Yields
    ------
    PeakMemory
        Complete when the block is left.

    Notes
    -----
    A thread reads the resident set size, which counts what compiled libraries allocate; a tracer of
    Python's allocators would see a part of it and slow the block down. What lasts for less than
    `every`, or while compiled code keeps Python's lock, is missed unless it is the largest size
    that the process ever had, which the system remembers. Memory that the allocator kept from
    earlier work is used again without growth, so that the first of equal runs grows most; other
    processes that the block starts are not counted, and other threads are.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.model_selection.efficiency import peak_memory
    >>> with peak_memory() as peak:
    ...     size = np.ones(2**24).nbytes
    >>> size / 2**20, bool(np.isnan(peak.mib) or peak.mib >= 0.0)
    (128.0, True)
    """
    peak, start, highest = PeakMemory(), resident_bytes(), highest_bytes()
    seen, done = [start], threading.Event()

    def look() -> None:
        while not done.wait(every):
            seen.append(resident_bytes())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        seen.append(resident_bytes())
        done.set()
        watcher.join()
        if highest_bytes() > highest:
            seen.append(highest_bytes())
        peak.mib = (max(seen) - start) / _MIB if np.isfinite(start) else float("nan")


def resident_bytes() -> float:
    """Return the resident set size of this process; nan where the system does not say."""
    if not _STATM.exists():
        return highest_bytes()
    return float(int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))


def highest_bytes() -> float:
    """Return the largest resident set size that this process ever had; nan on Windows."""
    if sys.platform == "win32":
        return float("nan")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


class Stopwatch:
    """Seconds since it was last read.

    Examples
    --------
    >>> from skeval.model_selection.efficiency import Stopwatch
    >>> watch = Stopwatch()
    >>> watch.read() >= 0.0
    True
    """

    def __init__(self) -> None:
        self._since = perf_counter()

    def read(self) -> float:
        """Return the seconds since the last reading, or since it was made."""
        now = perf_counter()
        passed, self._since = now - self._since, now
        return passed
