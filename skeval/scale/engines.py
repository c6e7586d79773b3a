"""Execution of tasks on the workers of a Dask cluster.

If a worker dies, its tasks run again. Data must therefore not exist on only one worker, so nothing
is scattered, and large objects such as search indexes are built by tasks.
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
TASKS_A_THREAD = 4  # number of tasks to send ahead, a trade-off between idle workers and memory
MERGED_AT_ONCE = 16
_UNHEARD = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}


@dataclass(frozen=True)
class DaskEngine:
    """Engine that runs tasks on the workers of a `distributed.Client`."""

    client: Any
    retries: int = 2

    @property
    def n_workers(self) -> int:
        """Number of threads of the workers."""
        return max(1, sum(self.client.nthreads().values()))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a task. The scheduler keeps its arguments and runs it again if it is lost."""
        import dask
        import distributed

        # A worker that cannot read a message ends and is not restarted. The content of a task is
        # therefore sent as bytes that the task reads, so a failure is reported as its error.
        packed, asked = _pickle_without((function, arguments), distributed.Future)
        # The key is unique, because results of tasks must not be shared or kept.
        key = f"{getattr(function, '__name__', 'task')}-{uuid4().hex}"
        with dask.config.set(_UNHEARD):  # rows in memory must be sent
            task = self.client.submit(
                _call, packed, asked, key=key, pure=False, retries=self.retries
            )
        # If a result is released before the scheduler has planned the task that needs it, the task
        # never runs. The results that a task needs are therefore kept until the task is done.
        if asked:
            task.add_done_callback(lambda _, held=asked: held.clear())
        return task

    def result(self, handle: Any) -> Any:
        """Wait for a task and fetch its result."""
        return handle.result()

    def map(self, function: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> Iterator[T]:
        """Yield the results in order. Only the arguments of a few tasks are in memory."""
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
        """Merge results on the workers in groups of adjacent results, and fetch the last one."""
        level = [self.submit(function, *task) for task in tasks]
        while len(level) > 1:
            groups = [level[i : i + MERGED_AT_ONCE] for i in range(0, len(level), MERGED_AT_ONCE)]
            level = [self.submit(merge, group) for group in groups]
        merged: T = level[0].result()
        return merged


@contextmanager
def engine(client: Any = "local") -> Iterator[Engine]:
    """Set where work within the block runs, even if another client is active.

    Without this context manager, work runs on the active Dask client, as for Dask collections. The
    active client is the client that was created last, or the client of ``with
    client.as_current()``. If no client is active, work runs on this machine. With a client, tasks
    send real rows to its workers.

    Parameters
    ----------
    client : distributed.Client or "local", default="local"
        Target of the tasks. "local" keeps all rows on this machine, even if a client is active.

    Yields
    ------
    Engine
        The engine that runs the tasks.

    Raises
    ------
    InvalidParameterError
        If `client` is not a synchronous client.

    Notes
    -----
    Results are bitwise identical on all engines. Workers run nearest neighbor
    searches, passes over batches of tables that are read in parts, folds of
    :func:`~skeval.model_selection.cross_validate_generator`, and the fits of attacks and audits
    that run the generator. The workers must be able to import the packages and the classes of
    generators. If they cannot, an `ImportError` explains what is missing. Workers need access to
    the files of the client only if tables are passed as files.

    If a worker dies with its data, the scheduler runs the lost tasks again. If a task repeatedly
    kills its worker, usually because memory is exhausted, `distributed.KilledWorker` is raised.

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
    """Return the number of tasks that an engine runs in parallel on workers, or 0 if local."""
    return engine.n_workers if isinstance(engine, DaskEngine) else 0


def active_engine() -> DaskEngine | None:
    """Return the engine of the client that Dask collections would use, or None."""
    client = _active_client()
    return None if client is None else DaskEngine(client)


def _engine_of(client: Any) -> Engine:
    if isinstance(client, str) and client == "local":
        return LocalEngine()
    if not hasattr(client, "submit") or not hasattr(client, "nthreads"):
        raise InvalidParameterError(
            f"skeval.scale.engine: expected a distributed.Client or 'local', but got {client!r}."
        )
    if client.asynchronous:
        raise InvalidParameterError(
            "skeval.scale.engine: the client is asynchronous, but skeval waits for its results. "
            "Pass Client(..., asynchronous=False)."
        )
    return DaskEngine(client)


def _active_client() -> Any | None:
    """Return the client that Dask collections would use, without importing `distributed`."""
    if "distributed" not in sys.modules:
        return None
    current: Any = sys.modules["distributed"].Client.current
    try:
        client = current()
    except ValueError:
        return None
    return None if client.asynchronous or client.status != "running" else client


def _pickle_without(content: Any, kind: Any) -> tuple[bytes, list[Any]]:
    """Return content as bytes without its objects of a given kind, and these objects."""
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
    """Unpickler that inserts other objects in place of the objects that were removed."""

    def __init__(self, packed: bytes, others: Sequence[Any]) -> None:
        super().__init__(io.BytesIO(packed))
        self.others = others

    def persistent_load(self, at: int) -> Any:
        return self.others[at]


def _call(packed: bytes, results: Sequence[Any]) -> Any:
    """Run a task on a worker, with further calls on the same worker."""
    try:
        function, arguments = _Unpickler(packed, results).load()
    except (ImportError, AttributeError) as error:
        raise MissingDependencyError(
            f"a worker cannot import an object of its task ({error}). Install the package on the "
            "worker, or send the module with "
            "cloudpickle.register_pickle_by_value(module)."
        ) from None
    with engine("local"), one_thread():
        return function(*arguments)
