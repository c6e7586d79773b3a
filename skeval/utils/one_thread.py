"""BLAS and OpenMP use one thread while skeval computes.

The cores are busy with whole metrics, folds or searches already. Further threads for the many small
products in them would mostly wait for each other, and the last bits of a sum depend on their
number.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


class _WholeProcess:
    """The limit of BLAS, which applies to the process: the first thread sets it, the last ends it.

    If each thread saved and restored it, a thread could save the limit that another one has set.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._n_threads = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if not self._n_threads:
                _take_control()
                self._limit = _libraries("blas", len(sys.modules)).limit(limits=1)
            self._n_threads += 1

    def forget_other_threads(self) -> None:
        """Count only this thread, which is the only one in a forked process."""
        self.lock = threading.Lock()  # another thread may have held the lock
        self._n_threads = int(getattr(_THIS_THREAD, "is_limited", False))

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self._n_threads -= 1
            if not self._n_threads:
                _take_control()
                self._limit.restore_original_limits()
                _take_control()


BLAS = _WholeProcess()
_THIS_THREAD = threading.local()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BLAS.forget_other_threads)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and OpenMP use one thread within the block, and as before after it."""
    if getattr(_THIS_THREAD, "is_limited", False):
        yield
        return
    # OpenMP has a limit for each thread that calls it
    with BLAS, _libraries("openmp", len(sys.modules)).limit(limits=1):
        _THIS_THREAD.is_limited = True
        try:
            yield
        finally:
            _THIS_THREAD.is_limited = False


def _take_control() -> None:
    """Let any thread set the limit of OpenBLAS, which threadpoolctl 3.8 leaves to the first one."""
    if clear := getattr(OpenBLASController, "clear_controlling_thread", None):
        clear(force=True)


@lru_cache(maxsize=2)
def _libraries(user_api: str, n_modules: int) -> ThreadpoolController:
    """Return the libraries of a kind, which are found again after more modules are loaded."""
    return ThreadpoolController().select(user_api=user_api)
