"""Work on the workers of a Dask cluster.

A task that is lost with its worker runs again, so that nothing may exist on one worker alone:
nothing is scattered, and what is large, as a search index, is built by a task.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from skeval.exceptions import InvalidParameterError, MissingDependencyError
from skeval.utils.engines import Engine, LocalEngine, running_on
from skeval.utils.one_thread import one_thread

T = TypeVar("T")
TASKS_A_THREAD = 4  # sent ahead: enough to keep workers busy, few enough to hold their arguments
MERGED_AT_ONCE = 16
_UNHEARD = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}


@dataclass(frozen=True)
class DaskEngine:
    """The workers of a `distributed.Client`."""

    client: Any
    retries: int = 2

    @property
    def n_workers(self) -> int:
        """Number of threads of the workers."""
        return max(1, sum(self.client.nthreads().values()))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a task; the scheduler keeps its arguments, and runs it again where it is lost."""
        import dask
        import distributed

        # A worker that cannot read a message ends, and is not started again; so what a task is made
        # of travels as bytes, which the task itself reads: then it fails, and says why.
        packed, asked = _pickle_without((function, arguments), distributed.Future)
        # never the key of an earlier task: results of tasks are not to be shared, nor kept
        key = f"{getattr(function, '__name__', 'task')}-{uuid4().hex}"
        with dask.config.set(_UNHEARD):  # rows in memory can only be sent
            task = self.client.submit(
                _call, packed, asked, key=key, pure=False, retries=self.retries
            )
        # The scheduler may hear that a result is let go before it has planned the task that asks
        # for it, which then never runs. So results that a task asks for are held until it is done.
        if asked:
            task.add_done_callback(lambda _, held=asked: held.clear())
        return task

    def result(self, handle: Any) -> Any:
        """Wait for a task and fetch what it gave."""
        return handle.result()

    def map(self, function: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> Iterator[T]:
        """Yield the results in order; the arguments of a few tasks are held at a time."""
        ahead = TASKS_A_THREAD * self.n_workers
        waiting: deque[Any] = deque()
        for task in tasks:
            waiting.append(self.submit(function, *task))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def reduce(
        self,
        function: Callable[..., T],
        tasks: Iterable[Sequence[Any]],
        merge: Callable[[list[T]], T],
    ) -> T:
        """Merge on the workers, in groups of neighbours; one result is fetched."""
        level = [self.submit(function, *task) for task in tasks]
        while len(level) > 1:
            groups = [level[i : i + MERGED_AT_ONCE] for i in range(0, len(level), MERGED_AT_ONCE)]
            level = [self.submit(merge, group) for group in groups]
        merged: T = level[0].result()
        return merged


@contextmanager
def engine(client: Any = "local") -> Iterator[Engine]:
    """Say where work within the block runs, even if another client is active.

    Without it, work goes to the active client of Dask, that is the one last made, or of
    ``with client.as_current()``, as collections of Dask do; and where there is none it stays on
    this machine. Real rows are then sent to the workers of that client, within tasks.

    Parameters
    ----------
    client : distributed.Client or "local", default="local"
        The target of tasks. "local" keeps all rows on this machine, though a client be active.

    Yields
    ------
    Engine
        What runs the tasks.

    Raises
    ------
    InvalidParameterError
        If it is no synchronous client.

    Notes
    -----
    Results are the same to the bit wherever they are computed. What goes out: searches for
    neighbours, passes over batches of tables that are read in parts, folds of
    :func:`~skeval.model_selection.cross_validate_generator`, and the fits of attacks and audits
    that run the generator. Packages and the classes of generators must be importable on the
    workers, else the work ends in an `ImportError` that says so; none needs to see the client's
    files, unless tables are given as files.

    A worker may die, and with it what it holds: the scheduler runs lost tasks again. A task that
    kills worker after worker, for want of memory as a rule, ends in `distributed.KilledWorker`.

    Examples
    --------
    >>> import skeval
    >>> with skeval.scale.engine("local") as here:
    ...     print(list(here.map(pow, [(2, 3), (3, 2)])))
    [8, 9]
    """
    chosen = _engine_of(client)
    with running_on(chosen):
        yield chosen


def n_workers(engine: Engine) -> int:
    """Return how many tasks an engine runs at a time elsewhere; 0 where all runs here."""
    return engine.n_workers if isinstance(engine, DaskEngine) else 0


def active_engine() -> DaskEngine | None:
    """Return the engine of the client that collections of Dask would use, if there is one."""
    client = _active_client()
    return None if client is None else DaskEngine(client)


def _engine_of(client: Any) -> Engine:
    if isinstance(client, str) and client == "local":
        return LocalEngine()
    if not hasattr(client, "submit") or not hasattr(client, "nthreads"):
        raise InvalidParameterError(
            f"skeval.scale.engine: expected a distributed.Client or 'local', got {client!r}."
        )
    if client.asynchronous:
        raise InvalidParameterError(
            "skeval.scale.engine: the client is asynchronous, and skeval waits for its results. "
            "Pass Client(..., asynchronous=False)."
        )
    return DaskEngine(client)


def _active_client() -> Any | None:
    """Return the client that collections of Dask would use; nothing is imported to look for it."""
    if "distributed" not in sys.modules:
        return None
    current: Any = sys.modules["distributed"].Client.current
    try:
        client = current()
    except ValueError:
        return None
    return None if client.asynchronous or client.status != "running" else client


def _pickle_without(content: Any, kind: Any) -> tuple[bytes, list[Any]]:
    """Return content as bytes, and what of a kind is in it, which is left out."""
    import cloudpickle

    left_out: list[Any] = []

    class Pickler(cloudpickle.Pickler):
        def persistent_id(self, value: Any) -> int | None:
            if not isinstance(value, kind):
                return None
            left_out.append(value)
            return len(left_out) - 1

    file = io.BytesIO()
    Pickler(file).dump(content)
    return file.getvalue(), left_out


class _Unpickler(pickle.Unpickler):
    """Reads what was packed, with other things in the places of what was left out."""

    def __init__(self, packed: bytes, others: Sequence[Any]) -> None:
        super().__init__(io.BytesIO(packed))
        self.others = others

    def persistent_load(self, at: int) -> Any:
        return self.others[at]


def _call(packed: bytes, results: Sequence[Any]) -> Any:
    """Run a task on a worker; what it calls stays there."""
    try:
        function, arguments = _Unpickler(packed, results).load()
    except (ImportError, AttributeError) as error:
        raise MissingDependencyError(
            f"a worker cannot import what it is to run: {error}. Install it there, or have it "
            "sent: cloudpickle.register_pickle_by_value(module)."
        ) from None
    with engine("local"), one_thread():
        return function(*arguments)
