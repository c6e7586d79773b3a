"""Machine code kept on disk: what cannot be read or written there is compiled again."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


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


class KeptCode(FunctionCache):
    """The cache of numba, which would end in an error of pickle where a file of it is damaged.

    Files are damaged by a full disk, by a copy that was cut off, by a machine that went down. They
    are written anew then; where that fails, each process compiles again.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        impl = self._impl
        self._cache_file = _Sealed(  # type: ignore[no-untyped-call]
            self.cache_path, impl.filename_base, impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept of a signature; None, after forgetting all, if it is damaged."""
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
