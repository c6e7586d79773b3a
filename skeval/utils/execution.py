"""Threads that metrics share: what one of them leaves idle, the search of another takes.

A suite of four metrics on two cores runs two of them at a time. When a metric waits for a search
that another one makes, or the last metric runs alone, the idle core goes to whichever search is
running; no more threads compute at a time than were asked for.

Progress of long work: bars, or lines where nothing can move.

Limits of time and memory for one piece of work among many.

How much memory a process may still take: of the machine, and of the container it runs in.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Generic, Literal, TypeVar, cast

from skeval.exceptions import LimitError
from skeval.utils.engines import carried

Progress = Callable[[str, int, int], None]
Shown = bool | Literal["lines"]
_FIRST = 2.0  # seconds before work is long
_MAX_WAIT = 60.0  # seconds between lines
_SHORTEST = 1.0  # seconds that are worth a word


@contextmanager
def shown(wanted: Shown) -> Iterator[Callable[[str], Progress | None]]:
    """Give what makes a callback of a verb, such as "measured": it shows how far the work is."""
    from rich.console import Console

    console = Console(stderr=True)
    if wanted and (console.is_terminal or console.is_jupyter):
        with _bars(console) as tick:
            yield tick
    elif wanted == "lines":
        lines = _Lines(lambda text: console.print(text, soft_wrap=True, highlight=False))
        try:
            yield lines.tick
        finally:
            lines.over.set()
    else:
        yield lambda verb: None


@contextmanager
def _bars(console: object) -> Iterator[Callable[[str], Progress]]:
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bars:  # type: ignore[arg-type]

        def tick(verb: str) -> Progress:
            task = bars.add_task(verb, total=None)

            def advance(name: str, done: int, total: int) -> None:
                bars.update(task, description=f"{name} {verb}", completed=done, total=total)

            return advance

        yield tick


class _Lines:
    """Writes how far work is after 2 seconds, 4, 8 and so on, then every minute."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.over = threading.Event()
        self._write, self._start = write, time.perf_counter()
        self._state: tuple[str, int, list[float]] = ("", 0, [])
        # Thread.start would wait forever for a thread that finds no memory to begin
        with suppress(RuntimeError):  # nor can it be made: then there are no lines
            _thread.start_new_thread(self._run, ())

    def tick(self, verb: str) -> Progress:
        self._start = time.perf_counter()
        ends: list[float] = []
        self._state = verb, 0, ends

        def advance(name: str, done: int, total: int) -> None:
            note_ends(ends, done, time.perf_counter() - self._start)
            self._state = verb, total, ends

        return advance

    def _run(self) -> None:
        for wait in waits():
            if self.over.wait(wait):
                return
            verb, total, ends = self._state
            seconds = time.perf_counter() - self._start
            if total or seconds >= _SHORTEST:  # a piece of work that has just begun says nothing
                self._write(said(verb, total, seconds, list(ends)))


def waits() -> Iterator[float]:
    """Yield the seconds from line to line."""
    wait = _FIRST
    while True:
        yield wait
        wait = min(2 * wait, _MAX_WAIT)


def said(verb: str, total: int, seconds: float, ends: Sequence[float] = ()) -> str:
    """Return a line on how far work is."""
    if not total:
        return f"skeval: at work for {seconds:.0f} s"
    text = f"skeval: {len(ends)} of {total} {verb} after {seconds:.0f} s"
    since = seconds - ends[-1] if ends else seconds
    is_known = 0 < len(ends) < total
    return (
        f"{text}, the next one at work for {since:.0f} s"
        if is_known and since >= _SHORTEST
        else text
    )


def note_ends(ends: list[float], done: int, now: float) -> None:
    """Note when pieces were done, of which several may be at once."""
    ends[done:] = []
    ends += [now] * (done - len(ends))


T = TypeVar("T")
_TICK = 0.02  # seconds between looks at clock and memory
_GRACE = 1.0  # seconds for work to end after it was told to
_NO_MEMORY = "there was not enough memory for it; fewer rows, or columns, take less."
_TOO_LONG = "it took longer than {} seconds, and was stopped."
_TOO_MUCH = "it took more than {} bytes, and was stopped."
_STATM = Path("/proc/self/statm")


class Stopped(BaseException):
    """Work went beyond its limit; no error, so that nothing that is stopped swallows it."""


def within_limits(work: Callable[[], T], seconds: float | None, n_bytes: int | None) -> T:
    """Do work in a thread that is told to stop when it takes too long or too much."""
    if seconds is None and n_bytes is None:
        try:
            return work()
        except MemoryError as error:
            raise LimitError(_NO_MEMORY) from error
    outcome: list[T] = []
    failure: list[BaseException] = []

    work = carried(work)

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # raised again below, in the thread that waits
            failure.append(error)

    # it shares the cores of this one, and never keeps the process alive
    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    start, before = time.monotonic(), _memory()
    thread.start()
    exceeded = None
    while thread.is_alive() and not exceeded:
        thread.join(_TICK)
        exceeded = _exceeded(time.monotonic() - start, _memory() - before, seconds, n_bytes)
    if exceeded and thread.is_alive():
        _stop(thread)
        thread.join(_GRACE)
    if outcome:
        return outcome[0]
    if failure and isinstance(failure[0], MemoryError):
        raise LimitError(_NO_MEMORY) from failure[0]
    if failure and not isinstance(failure[0], Stopped):
        raise failure[0]
    raise LimitError(exceeded)


def _exceeded(elapsed: float, grown: int, seconds: float | None, n_bytes: int | None) -> str | None:
    if seconds is not None and elapsed > seconds:
        return _TOO_LONG.format(f"timeout={seconds:g}")
    if n_bytes is not None and grown > n_bytes:
        return _TOO_MUCH.format(f"max_memory={n_bytes:,}")
    return None


def _stop(thread: threading.Thread) -> None:
    """Raise :class:`Stopped` in a thread, at its next step of Python."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Stopped))


def _memory() -> int:
    """Return the bytes of memory that the process holds; where none can be told, its greatest."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    if sys.platform == "win32":
        return 0
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


SHARE = 0.8  # of what is free that a metric may take
_CEILING = 0.9  # of what is free that the process may take
_RESERVED = 2**30  # bytes that allocators reserve and do not use
_NO_LIMIT = 2**60  # what stands for none in groups of the first kind
_GROUPS = Path("sys/fs/cgroup")
# files of a group, by kind: the limit, what is used, and what of that are pages of files
_FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that the process can still take; None where the system does not say."""
    free = [*_of_machine(root), *_of_groups(root)]
    return max(0, min(free)) if free else None


@contextmanager
def bounded() -> Iterator[None]:
    """Let an allocation beyond what is free fail at once, where the system can: `MemoryError`.

    Otherwise the system ends any process that it finds large, without a word.
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
    """Return the bytes of data that the process holds or has reserved."""
    return _entry(Path("/proc/self/status"), "VmData:") or 0


def _of_machine(root: Path) -> list[int]:
    available = _entry(root / "proc/meminfo", "MemAvailable:")
    return [] if available is None else [available]


def _entry(path: Path, name: str) -> int | None:
    """Return an entry of a file of names and kibibytes."""
    for line in _text(path).splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None


def _of_groups(root: Path) -> Iterator[int]:
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, kinds, path = line.split(":", 2)
        for kind in set(kinds.split(",")) & set(_FILES):
            top = root / _GROUPS / kind
            # inside a container the path may be that of the host, and the group the top folder
            own = top / path.lstrip("/")
            for folder in (own, *own.parents):
                yield from _of_group(folder, *_FILES[kind])
                if folder == top:
                    break


def _of_group(folder: Path, limit: str, used: str, files: str) -> list[int]:
    numbers = [_text(folder / name).strip() for name in (limit, used)]
    if not all(number.isdigit() for number in numbers) or int(numbers[0]) >= _NO_LIMIT:
        return []
    of_files = [
        int(line.split()[1])
        for line in _text(folder / "memory.stat").splitlines()
        if line.split()[:1] == [files]
    ]
    return [int(numbers[0]) - int(numbers[1]) + sum(of_files)]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Cores:
    """A number of threads that may compute at a time."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._free = n
        self._n_waiting = 0
        self._given = threading.Condition()

    def take(self) -> None:
        """Wait for a core."""
        with self._given:
            self._n_waiting += 1
            try:
                self._given.wait_for(lambda: self._free > 0)
                self._free -= 1
            finally:
                self._n_waiting -= 1

    def take_idle(self) -> bool:
        """Take a core that nobody uses or waits for; return whether there was one."""
        with self._given:
            idle = self._free > self._n_waiting
            self._free -= idle
            return idle

    def give(self) -> None:
        """Give a core back."""
        with self._given:
            self._free += 1
            self._given.notify()

    def map(self, function: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
        """Call a function that releases the GIL on each item, in this thread and on idle cores."""
        search = _Search(self, function, items)
        search.work()
        with waiting():
            for helper in search.helpers:  # helpers call further ones before they end
                helper.join()
        if search.failures:
            raise search.failures[0]
        return cast("list[Outcome]", search.outcomes)


_IN_USE: ContextVar[Cores | None] = ContextVar("cores", default=None)
_ALONE = Cores(1)  # of whoever asked for no more; nobody takes it


@contextmanager
def using(cores: Cores) -> Iterator[Cores]:
    """Hold a core; searches of this thread share all of them."""
    cores.take()
    token = _IN_USE.set(cores)
    try:
        yield cores
    finally:
        _IN_USE.reset(token)
        cores.give()


@contextmanager
def waiting() -> Iterator[None]:
    """Leave the core of this thread to others while it waits for another thread."""
    cores = _IN_USE.get()
    if cores is None:
        yield
        return
    cores.give()
    try:
        yield
    finally:
        cores.take()


@contextmanager
def sharing(n_jobs: int | None) -> Iterator[Cores]:
    """Hold one of the cores that are shared already, or of as many as are asked for."""
    cores = _IN_USE.get()
    if cores is None or (cores.n == 1 and n_jobs is not None):
        from joblib import effective_n_jobs

        n = effective_n_jobs(n_jobs)
        if n > 1:
            with using(Cores(n)) as own:
                yield own
            return
    yield cores or _ALONE


class _Search(Generic[Item, Outcome]):
    """Items, each taken by whichever thread is free."""

    def __init__(
        self, cores: Cores, function: Callable[[Item], Outcome], items: Sequence[Item]
    ) -> None:
        self.cores, self.function, self.items = cores, function, items
        self.outcomes: list[Outcome | None] = [None] * len(items)
        self.failures: list[BaseException] = []
        self.helpers: list[threading.Thread] = []
        self._n_taken = 0
        self._taking = threading.Lock()

    def work(self) -> None:
        """Take items while there are any, and call helpers."""
        while self._one():
            pass

    def _one(self) -> bool:
        with self._taking:
            at = self._n_taken
            if at == len(self.items) or self.failures:
                return False
            self._n_taken += 1
            if self._n_taken < len(self.items) and self.cores.take_idle():
                helper = threading.Thread(target=self._help, daemon=True)
                self.helpers.append(helper)
                helper.start()
        try:
            self.outcomes[at] = self.function(self.items[at])
        except BaseException as error:  # raised again in the thread that asked
            self.failures.append(error)
        return True

    def _help(self) -> None:
        """Take items on a core of its own, which whoever waits for one gets between two items."""
        held = True
        while held and self._one():
            self.cores.give()
            held = self.cores.take_idle()
        if held:
            self.cores.give()
