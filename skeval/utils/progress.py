"""Progress of long work, as bars or as lines if the terminal cannot show bars."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

Progress = Callable[[str, int, int], None]
Shown = bool | Literal["lines"]
_FIRST = 2.0  # seconds until the first line
_MAX_WAIT = 60.0  # maximum number of seconds between lines
_SHORTEST = 1.0  # shorter times are not shown


@contextmanager
def show_progress(wanted: Shown) -> Iterator[Callable[[str], Progress | None]]:
    """Yield a function that makes a progress callback from a verb such as "evaluated"."""
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
    """Writes the progress of the work after 2 seconds, 4, 8 and so on, then every minute."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.over = threading.Event()
        self._write, self._start = write, time.perf_counter()
        self._state: tuple[str, int, list[float]] = ("", 0, [])
        # Thread.start would wait forever for a thread that finds no memory to begin
        with suppress(RuntimeError):  # if no thread can be made, no lines are written
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
            if total or seconds >= _SHORTEST:  # no line for work that has just begun
                self._write(progress_line(verb, total, seconds, list(ends)))


def waits() -> Iterator[float]:
    """Yield the numbers of seconds between lines."""
    wait = _FIRST
    while True:
        yield wait
        wait = min(2 * wait, _MAX_WAIT)


def progress_line(verb: str, total: int, seconds: float, ends: Sequence[float] = ()) -> str:
    """Return a line about the progress of the work."""
    if not total:
        return f"skeval: {seconds:.0f} s elapsed"
    text = f"skeval: {len(ends)} of {total} {verb} after {seconds:.0f} s"
    since = seconds - ends[-1] if ends else seconds
    is_known = 0 < len(ends) < total
    return (
        f"{text}, the current one running for {since:.0f} s"
        if is_known and since >= _SHORTEST
        else text
    )


def note_ends(ends: list[float], done: int, now: float) -> None:
    """Record the end times of pieces of work, of which several may end at once."""
    ends[done:] = []
    ends += [now] * (done - len(ends))
