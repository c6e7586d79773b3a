"""Threads that metrics share. A core that one metric leaves idle helps in a search of another.

A suite of four metrics on two cores runs two of them at a time. If a metric waits for a search of
another metric, or if the last metric runs alone, the idle core helps in the search that is running.
No more threads compute at a time than requested.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar, cast

from skeval.utils.one_thread import one_thread

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
        """Use a core that nobody uses or waits for, and return whether there was one."""
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
_ALONE = Cores(1)  # for callers that do not share


@contextmanager
def using(cores: Cores) -> Iterator[Cores]:
    """Use one core. Searches of this thread share all cores."""
    cores.take()
    token = _IN_USE.set(cores)
    try:
        with one_thread():
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
    """Use one of the cores that are shared already, or of the requested number.

    Meanwhile, BLAS and OpenMP use one thread.
    """
    cores = _IN_USE.get()
    if cores is None or (cores.n == 1 and n_jobs is not None):
        from joblib import effective_n_jobs

        n = effective_n_jobs(n_jobs)
        if n > 1:
            with using(Cores(n)) as own:
                yield own
            return
    with one_thread():
        yield cores or _ALONE


class _Search(Generic[Item, Outcome]):
    """Items, which are processed by the threads that are free."""

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
        while self._do_next_item():
            pass

    def _do_next_item(self) -> bool:
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
        """Process items on an additional core, which others that wait get between two items."""
        held = True
        while held and self._do_next_item():
            self.cores.give()
            held = self.cores.take_idle()
        if held:
            self.cores.give()
