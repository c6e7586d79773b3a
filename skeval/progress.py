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
        self._state: tuple[str, int, int, float] = ("", 0, 0, self._start)
        # Thread.start would wait forever for a thread that finds no memory to begin
        with suppress(RuntimeError):  # nor can it be made: then there are no lines
            _thread.start_new_thread(self._run, ())

    def tick(self, verb: str) -> Progress:
        self._start = time.perf_counter()
        self._state = verb, 0, 0, self._start

        def advance(name: str, done: int, total: int) -> None:
            self._state = verb, done, total, time.perf_counter()

        return advance

    def _run(self) -> None:
        wait = _FIRST
        while not self.over.wait(wait):
            now, (verb, done, total, last) = time.perf_counter(), self._state
            self._write(said(verb, done, total, now - self._start, now - last))
            wait = min(2 * wait, _LONGEST_WAIT)


def said(verb: str, done: int, total: int, seconds: float, since: float = 0.0) -> str:
    """Return a line on how far work is, with an estimate where enough is known for one.

    Parameters
    ----------
    verb : str
        What is done, such as "measured".
    done, total : int
        How many pieces.
    seconds : float
        Since the start.
    since : float, default=0.0
        Seconds since the last piece was done.

    Returns
    -------
    str
        Without an estimate before a quarter is done, and while a piece takes longer than those
        before it did on average: what it will take is not known.

    Examples
    --------
    >>> from skeval.progress import said
    >>> said("measured", 3, 12, 10.0)
    'skeval: 3 of 12 measured after 10 s, about 30 s to go'
    >>> said("measured", 10, 20, 122.0, 112.0)
    'skeval: 10 of 20 measured after 122 s, the next one at work for 112 s'
    """
    if not total:
        return f"skeval: at work for {seconds:.0f} s"
    text = f"skeval: {done} of {total} {verb} after {seconds:.0f} s"
    if not 0 < done < total or 4 * done < total:
        return text
    each = (seconds - since) / done
    if since > each:
        return f"{text}, the next one at work for {since:.0f} s"
    return f"{text}, about {each * (total - done) - since:.0f} s to go"
