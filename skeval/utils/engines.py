"""Engines run work in this process, in processes of joblib, or on a chosen engine.

Work goes out as tasks. A task is a pure function of small descriptors, and its arguments include
the rows if they are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Engine(Protocol):
    """Runs tasks. The results depend neither on the engine nor on its number of workers."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task and return its handle, which may be an argument of another task."""

    def result(self, handle: Any) -> Any:
        """Wait for a task and return its result."""

    def map(self, function: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> Iterator[T]:
        """Call a function on the arguments of each task, and yield the results in order."""

    def reduce(
        self,
        function: Callable[..., T],
        tasks: Iterable[Sequence[Any]],
        merge: Callable[[list[T]], T],
    ) -> T:
        """Call a function on the arguments of each task, and merge the results in order."""


@dataclass(frozen=True)
class LocalEngine:
    """Runs single tasks in this process, and many tasks in processes of joblib."""

    n_jobs: int | None = None

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call the function. The handle is its result."""
        return function(*arguments)

    def result(self, handle: Any) -> Any:
        """Return the handle."""
        return handle

    def map(self, function: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> Iterator[T]:
        """Yield the results in order. Rows reach the processes through pipes, never as files."""
        from joblib import Parallel, delayed  # half of the time of `skeval --help`

        calls = (delayed(function)(*task) for task in tasks)
        results: Iterator[T] = Parallel(n_jobs=self.n_jobs, return_as="generator", max_nbytes=None)(
            calls
        )
        return results

    def reduce(
        self,
        function: Callable[..., T],
        tasks: Iterable[Sequence[Any]],
        merge: Callable[[list[T]], T],
    ) -> T:
        """Merge one result after the other, so that at most two are in memory."""
        results = (function(*task) for task in tasks)
        return reduce(lambda one, other: merge([one, other]), results)


_CHOSEN: ContextVar[Engine | None] = ContextVar("engine", default=None)


@contextmanager
def running_on(chosen: Engine | None) -> Iterator[None]:
    """Run work within the block on an engine, or on the active engine for None."""
    token = _CHOSEN.set(chosen)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def current_engine(n_jobs: int | None = None) -> Engine:
    """Return the engine of the block, or the active one, or otherwise this machine."""
    chosen = _CHOSEN.get()
    if chosen is None:
        # imported here because it depends on this module. Dask is not imported if it is unused
        from skeval.scale.engines import active_engine

        chosen = active_engine()
    return LocalEngine(n_jobs) if chosen is None or isinstance(chosen, LocalEngine) else chosen


def with_current_engine(function: Callable[..., T]) -> Callable[..., T]:
    """Return the function for use in other threads, which do not see the engine of this one."""
    chosen = _CHOSEN.get()

    def call(*arguments: Any, **named: Any) -> T:
        with running_on(chosen):
            return function(*arguments, **named)

    return call
