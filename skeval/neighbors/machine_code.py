"""How loops are compiled, and machine code kept on disk: what is damaged there is compiled again.

Nothing imports numba but through this module.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import time
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher
from numpy.typing import NDArray

from skeval.exceptions import MetricWarning
from skeval.utils.ahead import at_work

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_TICK = 0.05  # seconds between looks at what another process has compiled
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"nnan", "nsz"}}
# one object: it is given once, however many functions there are
_NO_CACHE = MetricWarning(
    "there is no folder for the compiled code of the neighbour engine: each process compiles it "
    "again, which takes some seconds. Set NUMBA_CACHE_DIR to a folder that can be written to."
)


class _Sealed(IndexDataCacheFile):
    """Files that end with a hash: of damaged machine code the process would die."""

    def _save_data(self, name: str, data: Any) -> None:
        held = self._dump(data)  # type: ignore[no-untyped-call]
        super()._save_data(name, (_seal(held), held))  # type: ignore[no-untyped-call]

    def _load_data(self, name: str) -> Any:
        seal, held = super()._load_data(name)  # type: ignore[no-untyped-call]
        if seal != _seal(held):
            raise ValueError("damaged")
        return pickle.loads(held)


def _seal(held: bytes) -> bytes:
    return hashlib.sha256(held).digest()


def _stamps(function: Any) -> frozenset[Any]:
    """Return the stamps of a function's file, and of those whose loops may be compiled into it."""
    loops = [one for one in function.__globals__.values() if isinstance(one, CPUDispatcher)]
    caches = [getattr(one, "_cache", None) for one in loops]
    return frozenset(c._impl.locator.get_source_stamp() for c in caches if isinstance(c, KeptCode))


class KeptCode(FunctionCache):
    """The cache of numba, which would end in an error of pickle where a file of it is damaged.

    Files are damaged by a full disk, by a copy that was cut off, by a machine that went down. They
    are written anew then; where that fails, each process compiles again.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        impl = self._impl
        self._cache_file = _Sealed(  # type: ignore[no-untyped-call]
            self.cache_path,
            impl.filename_base,
            _stamps(function) | {impl.locator.get_source_stamp()},
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept of a signature, or will be once another process has compiled it.

        None, after forgetting all, if it is damaged.
        """
        while True:
            awaited = at_work()
            kept = self._load(sig, target_context)
            if kept is not None or not awaited:
                return kept
            time.sleep(_TICK)

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:  # pickle raises what the damaged bytes happen to ask for
            self._write(self.flush)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if there is room."""
        self._write(super().save_overload, sig, data)

    @staticmethod
    def _write(write: Any, *what: Any) -> None:
        try:
            write(*what)
        except OSError:  # the code is there, and works without being kept
            return


class CompilingOnce(event.Listener):
    """Says when kernels of ours are compiled, which is once where a cache can be written."""

    said = False

    def on_start(self, compiling: event.Event) -> None:
        """Log the first time."""
        function = compiling.data["dispatcher"].py_func
        if not self.said and function.__module__.startswith("skeval."):
            self.said = True
            logging.getLogger("skeval").warning("compiling the search, once: about 20 s.")

    def on_end(self, compiling: event.Event) -> None:
        """Say nothing more."""


event.register("numba:compile", CompilingOnce())  # type: ignore[no-untyped-call]


def jit(function: Kernel) -> Kernel:
    """Compile lazily, release the GIL, keep the machine code on disk, where there is a place.

    What is kept is compiled anew where the file of the function has changed, or one whose compiled
    functions it imports: any other constant that is compiled into it never changes.
    """
    return _compiled(function)


def uncounted(function: Kernel) -> Kernel:
    """Compile without counting who refers to an array: that takes half of a search's time.

    Such a function may look at arrays, and at parts of them, and may make none.
    """
    return _compiled(function, _nrt=False)


def inlined(function: Kernel) -> Kernel:
    """Compile into the caller: handing over a dozen arrays costs as much as reading a leaf."""
    return _compiled(function, inline="always")


def _compiled(function: Kernel, **options: Any) -> Kernel:
    compiled = numba.njit(function, **OPTIONS, **options)
    try:
        compiled._cache = KeptCode(function)
    except RuntimeError:  # of a read-only installation, and no folder of the user's own
        warnings.warn(_NO_CACHE, stacklevel=2)
    return cast(Kernel, compiled)
