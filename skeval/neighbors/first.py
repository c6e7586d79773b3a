"""The first searches of a machine, where nothing is compiled: small ones do not wait for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from skeval.neighbors.encoding import Encoded
from skeval.utils.ahead import at_work, is_compiled

Index = TypeVar("Index")
MOST_ROWS = 5_000  # of tables that NumPy may search
_MOST = 4e9  # cells that it compares in a process: about the ten seconds that compiling takes
_QUICK = 1e8  # in one search, while another process compiles


@dataclass
class _Spent:
    """What NumPy has compared so far in this process, and whether trees are in use."""

    cells: float = 0.0
    compiled: bool = False


SPENT = _Spent()


def would_compile(n_rows: int) -> bool:
    """Return whether a search among this number of rows would be the first to be compiled."""
    if n_rows <= MOST_ROWS and not SPENT.compiled:
        SPENT.compiled = is_compiled()
    return n_rows <= MOST_ROWS and not SPENT.compiled


@dataclass
class FirstIndex(Generic[Index]):
    """Rows that NumPy searches as long as that is quicker than compiling; the bits are the same.

    Attributes
    ----------
    rows : Encoded
        The reference rows.
    brute : object
        What compares all of them.
    grow : callable
        Returns what is compiled, which is kept.
    """

    rows: Encoded
    brute: Index
    grow: Callable[[], Index]
    _grown: list[Index] = field(default_factory=list)

    def chosen(self, queries: Encoded) -> Index:
        """Return what searches for this number of queries."""
        n_columns = len(self.rows.numbers) + len(self.rows.codes)
        cells = float(self.rows.n_rows) * queries.n_rows * n_columns
        most = _QUICK if at_work() else _MOST - SPENT.cells
        if not (self._grown or SPENT.compiled) and cells <= most:
            SPENT.cells += cells
            return self.brute
        SPENT.compiled = True
        if not self._grown:  # two threads may both grow it, to the same bits
            self._grown.append(self.grow())
        return self._grown[0]
