"""Work in a process of its own, which can be stopped, may run out of memory, or may crash.

A helper process imports what is needed once, and forks for each piece of work. So a piece begins as
any other does, whichever came before it, and ends without a trace.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO, Literal, Self

from skeval.exceptions import SkevalError
from skeval.utils.files import without_controls

try:
    import cloudpickle
except ImportError:  # of older versions of joblib, which bring it along
    from joblib.externals import cloudpickle

Status = Literal["ok", "failed", "timeout", "memory", "crashed"]
_LENGTH = struct.Struct("<Q")
_LOOK = 0.5  # seconds between looks whether whoever asked is still there
# one thread a process: bits do not depend on how many run at a time, and costs can be compared
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """What one piece of work may take.

    Parameters
    ----------
    seconds : float, optional
        By the clock on the wall.
    mib : float, optional
        MiB of data beyond what the process has when it starts; nothing is enforced on Windows, and
        little on macOS.
    """

    seconds: float | None = None
    mib: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How a piece of work ended.

    Attributes
    ----------
    status : {"ok", "failed", "timeout", "memory", "crashed"}
    value : object
        What it returned, None unless it is "ok".
    reason : str
        Why there is no value, in a sentence that quotes no cell.
    seconds : float
        By the clock on the wall.
    """

    status: Status
    value: Any = None
    reason: str = ""
    seconds: float = float("nan")


def pickled(value: Any) -> bytes:
    """Return the pickle of a value, functions of a console included, as a process takes it."""
    content: bytes = cloudpickle.dumps(value)
    return content


class Helper:
    """A process that does pieces of work one after the other, each in a fork of its own."""

    def __init__(self) -> None:
        self._process = self._started()
        self.closed = False

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {"PYTHONHASHSEED": "0", **dict.fromkeys(_THREADS, "1"), **os.environ}
        return subprocess.Popen(
            # -P: what lies in the current folder is not imported
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **environment,
                "PYTHONSAFEPATH": "1",
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            },
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it for good."""
        self.closed = True
        self.stop()
        self._close_streams()

    def _close_streams(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def run(
        self,
        function: Callable[..., Any],
        arguments: Iterable[Any],
        limits: Limits,
        modules: Iterable[str] = (),
    ) -> Outcome:
        """Call a function there; see :func:`isolated`."""
        work = cloudpickle.dumps((function, tuple(arguments)))
        if self._process.poll() is not None and not self.closed:
            self._close_streams()
            self._process = self._started()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            _send(stdin, pickle.dumps((tuple(modules), limits.mib, work)))
            began = _received(stdout) is not None  # what is imported before is not counted
        except OSError:
            began = False
        begun = perf_counter()
        with self._stopping(limits.seconds) as late:
            reply = _received(stdout) if began else None
        seconds = perf_counter() - begun
        if late.is_set():
            return Outcome("timeout", None, _too_long(limits), seconds)
        if reply is None:
            self.stop()
            return Outcome("crashed", None, "The process ended without a word.", seconds)
        status, content, _ = pickle.loads(reply)
        if status == "ok":
            return Outcome("ok", cloudpickle.loads(content), "", seconds)
        return Outcome(status, None, str(content), seconds)

    @contextlib.contextmanager
    def _stopping(self, seconds: float | None) -> Iterator[threading.Event]:
        """Stop the helper if the block takes longer; the event says whether it did."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self.stop()

        watch = threading.Timer(seconds or 0.0, stop)
        watch.daemon = True
        if seconds is not None:
            watch.start()
        try:
            yield late
        finally:
            watch.cancel()
            if late.is_set():
                watch.join()

    def stop(self) -> None:
        """End it with all that it started."""
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def isolated(
    function: Callable[..., Any],
    arguments: Iterable[Any],
    limits: Limits | None = None,
    modules: Iterable[str] = (),
) -> Outcome:
    """Call a function in a process of its own.

    Parameters
    ----------
    function : callable
        It gets `arguments`, and returns what can be pickled.
    arguments : iterable
        What can be pickled.
    limits : Limits, optional
        None without one.
    modules : iterable of str
        Modules that the helper imports, so that not each piece of work does.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> from skeval.model_selection.isolation import isolated
    >>> outcome = isolated(abs, [-2])
    >>> outcome.status, outcome.value
    ('ok', 2)
    """
    with Helper() as helper:
        return helper.run(function, arguments, limits or Limits(), modules)


def _too_long(limits: Limits) -> str:
    return f"It took longer than {limits.seconds:g} seconds, and was stopped."


def _too_much(mib: float | None) -> str:
    if mib is None:
        return "There was not enough memory for it."
    return f"It took more than {mib:g} MiB, and was stopped."


def _send(stream: BinaryIO | Any, content: bytes) -> None:
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def _received(stream: BinaryIO | Any) -> bytes | None:
    """Return the next message; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content: bytes = stream.read(length)
    return content if len(content) == length else None


def serve() -> None:
    """Do work that comes by standard input until that ends; what work prints goes nowhere."""
    stdin, stdout = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    asking = os.getppid()
    while (message := _received(stdin)) is not None:
        modules, mib, work = pickle.loads(message)
        _import(modules)
        _send(stdout, b"begun")
        done = _done if sys.platform == "win32" else _forked
        reply = done(work, mib, asking)
        _send(stdout, reply)
        _import(pickle.loads(reply)[2])  # what comes next will want the same


def _import(modules: Iterable[str]) -> None:
    for name in modules:
        with contextlib.suppress(Exception):  # the work itself says what is wrong
            importlib.import_module(name)


def _forked(work: bytes, mib: float | None, asking: int) -> bytes:
    """Do work in a fork, and return the reply."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        with os.fdopen(sink, "wb") as stream:
            stream.write(_done(work, mib, asking))
        os._exit(0)
    os.close(sink)
    reply, state = _awaited(child, source, asking)
    try:
        pickle.loads(reply)
    except Exception:  # it ended while it wrote, or before
        return pickle.dumps((*_ended(state, mib), ()))
    return reply


def _awaited(child: int, source: int, asking: int) -> tuple[bytes, int]:
    """Return what a child wrote, and the state in which it ended."""
    parts, state = [], None
    while True:
        ready, _, _ = select.select([source], [], [], _LOOK)
        if ready:
            part = os.read(source, _MIB)
            if not part:
                break
            parts.append(part)
        elif state is not None:  # something that it started holds the pipe open
            break
        elif os.getppid() != asking:
            os.killpg(0, signal.SIGKILL)
        else:
            ended, code = os.waitpid(child, os.WNOHANG)
            state = code if ended else None
    os.close(source)
    return b"".join(parts), os.waitpid(child, 0)[1] if state is None else state


def _ended(state: int, mib: float | None) -> tuple[Status, str]:
    """Return status and reason of a child that gave no reply."""
    if os.WIFSIGNALED(state) and os.WTERMSIG(state) == signal.SIGKILL:
        return "memory", "The system ended it, as it does where memory runs out."
    if os.WIFSIGNALED(state):
        return "crashed", f"It crashed: {signal.Signals(os.WTERMSIG(state)).name}."
    if mib is not None:
        return "memory", _too_much(mib)
    return "crashed", f"The process ended with exit code {os.waitstatus_to_exitcode(state)}."


def _done(work: bytes, mib: float | None, asking: int) -> bytes:
    """Return the reply: status, value or what went wrong, and the modules that were imported."""
    known = set(sys.modules)
    try:
        if mib is not None:
            _limit(mib)
        function, arguments = cloudpickle.loads(work)
        value = cloudpickle.dumps(function(*arguments))
        return pickle.dumps(("ok", value, [name for name in sys.modules if name not in known]))
    except MemoryError:
        return pickle.dumps(("memory", _too_much(mib), ()))
    except (SkevalError, ImportError) as error:
        # one names a place in code, the other a package
        return pickle.dumps(("failed", without_controls(str(error)), ()))
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}, line {last.lineno}"
        reason = f"It raised {type(error).__name__} in {place}. What it says may quote cells."
        return pickle.dumps(("failed", reason, ()))


def _limit(mib: float) -> None:
    """Let allocations fail beyond what the process has, and `mib` more."""
    try:
        import resource
    except ImportError:  # Windows
        return
    from skeval.utils.execution import held_bytes

    most = held_bytes() + int(mib * _MIB)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
