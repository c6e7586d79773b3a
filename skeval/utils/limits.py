"""Limits of time and memory for one piece of work among many."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from skeval.exceptions import LimitError
from skeval.utils.engines import with_current_engine
from skeval.utils.memory import resident_bytes

T = TypeVar("T")
_TICK = 0.02  # seconds between checks of the clock and the memory
_GRACE = 1.0  # seconds for work to end after the request to stop
_NO_MEMORY = "there was not enough memory for it. Use fewer rows or columns."
_TOO_LONG = "it took longer than {} seconds, and was stopped."
_TOO_MUCH = "it took more than {} bytes, and was stopped."


class Stopped(BaseException):
    """Work exceeded its limit. It is not an Exception, so that stopped work does not catch it."""


def within_limits(work: Callable[[], T], seconds: float | None, n_bytes: int | None) -> T:
    """Do work in a thread that is stopped if it exceeds the time or the memory."""
    if seconds is None and n_bytes is None:
        try:
            return work()
        except MemoryError as error:
            raise LimitError(_NO_MEMORY) from error
    outcome: list[T] = []
    failure: list[BaseException] = []

    work = with_current_engine(work)

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # raised again below, in the thread that waits
            failure.append(error)

    # it shares the cores of this one, and never keeps the process alive
    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    start, before = time.monotonic(), resident_bytes()
    thread.start()
    exceeded = None
    while thread.is_alive() and not exceeded:
        thread.join(_TICK)
        exceeded = _exceeded_limit(
            time.monotonic() - start, resident_bytes() - before, seconds, n_bytes
        )
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


def _exceeded_limit(
    elapsed: float, grown: float, seconds: float | None, n_bytes: int | None
) -> str | None:
    if seconds is not None and elapsed > seconds:
        return _TOO_LONG.format(f"timeout={seconds:g}")
    if n_bytes is not None and grown > n_bytes:
        return _TOO_MUCH.format(f"max_memory={n_bytes:,}")
    return None


def _stop(thread: threading.Thread) -> None:
    """Raise :class:`Stopped` in a thread, at its next step of Python."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Stopped))
