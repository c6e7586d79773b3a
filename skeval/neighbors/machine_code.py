"""Compilation of loops. All modules import numba through this one."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.caching import FunctionCache
from numpy.typing import NDArray

from skeval.exceptions import MetricWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"nnan", "nsz"}}
# one object, so that the warning is given once for all functions
_NO_CACHE = MetricWarning(
    "the compiled code of the neighbor engine cannot be stored, so each process compiles it again, "
    "which needs some seconds. Set NUMBA_CACHE_DIR to a folder that can be written to."
)


class _Cache(FunctionCache):
    """Cache of numba. A full disk or a damaged file leads to a compilation, not to an error."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # damaged bytes can make pickle raise any error
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]


class CompilingOnce(event.Listener):
    """Logs when kernels of skeval are compiled, once if a cache can be written."""

    said = False

    def on_start(self, compiling: event.Event) -> None:
        """Log the first time."""
        function = compiling.data["dispatcher"].py_func
        if not self.said and function.__module__.startswith("skeval."):
            self.said = True
            logging.getLogger("skeval").warning(
                "the first use compiles the neighbor search, which takes about 10 s."
            )

    def on_end(self, compiling: event.Event) -> None:
        """Do nothing."""


event.register("numba:compile", CompilingOnce())  # type: ignore[no-untyped-call]


def jit(function: Kernel) -> Kernel:
    """Compile at the first call, release the GIL, and keep the machine code on disk."""
    # The cache of numba notices a change of the file of the function, and of no other file.
    # Therefore a compiled function uses no compiled function of another file.
    return _compile(function)


def jit_without_refcounts(function: Kernel) -> Kernel:
    """Compile without counting references to arrays, which is half of the time of a search.

    Such a function creates no array. The caller passes all arrays that it writes to.
    """
    return _compile(function, _nrt=False)


def jit_inline(function: Kernel) -> Kernel:
    """Compile into the caller: handing over a dozen arrays costs as much as reading a leaf."""
    return cast(Kernel, numba.njit(function, inline="always", **OPTIONS))


def has_machine_code(function: Callable[..., Any]) -> bool:
    """Return whether machine code of a function exists in memory or on disk."""
    compiled = cast(Any, function)
    if compiled.overloads or not isinstance(compiled._cache, _Cache):
        return bool(compiled.overloads)
    try:
        return bool(compiled._cache._cache_file._load_index())  # type: ignore[no-untyped-call]
    except Exception:  # damaged bytes can make pickle raise any error
        return False


def _compile(function: Kernel, **options: Any) -> Kernel:
    compiled = numba.njit(function, **OPTIONS, **options)
    try:
        compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    except RuntimeError:  # neither the installation nor a folder of the user is writable
        warnings.warn(_NO_CACHE, stacklevel=2)
    return cast(Kernel, compiled)
