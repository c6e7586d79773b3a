"""Progress of long work with an estimate of what is left: bars, or lines where nothing can move."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

Progress = Callable[[str, int, int], None]
Shown = bool | Literal["lines"]
_FIRST = 2.0  # seconds before work is long
_LONGEST_WAIT = 60.0  # seconds between lines


@contextmanager
def shown(wanted: Shown) -> Iterator[Callable[[str], Progress | None]]:
    """Give what makes a callback of a verb, such as "measured": it shows how far the work is.

    Parameters
    ----------
    wanted : bool or "lines"
        Whether bars are shown in a terminal or notebook. With "lines", whatever takes longer than
        two seconds writes lines to standard error elsewhere, as in the log of a pipeline.

    Yields
    ------
    callable
        Of a verb; it returns the callback, or None where nothing is shown.
    """
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
        progress.TextColumn("left:"),
        progress.TimeRemainingColumn(elapsed_when_finished=False),
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
        self._state: tuple[str, int, int] = ("", 0, 0)
        # Thread.start would wait forever for a thread that finds no memory to begin
        with suppress(RuntimeError):  # nor can it be made: then there are no lines
            _thread.start_new_thread(self._run, ())

    def tick(self, verb: str) -> Progress:
        self._start, self._state = time.perf_counter(), (verb, 0, 0)

        def advance(name: str, done: int, total: int) -> None:
            self._state = (verb, done, total)

        return advance

    def _run(self) -> None:
        wait = _FIRST
        while not self.over.wait(wait):
            seconds, (verb, done, total) = time.perf_counter() - self._start, self._state
            self._write(said(verb, done, total, seconds))
            wait = min(2 * wait, _LONGEST_WAIT)


def said(verb: str, done: int, total: int, seconds: float) -> str:
    """Return a line on how far work is, with an estimate where some of it is done.

    Examples
    --------
    >>> from skeval.progress import said
    >>> said("measured", 3, 12, 10.0)
    'skeval: 3 of 12 measured after 10 s, about 30 s to go'
    """
    if not total:
        return f"skeval: at work for {seconds:.0f} s"
    left = f", about {seconds / done * (total - done):.0f} s to go" if 0 < done < total else ""
    return f"skeval: {done} of {total} {verb} after {seconds:.0f} s{left}"
