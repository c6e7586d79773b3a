"""What a generator costs: the time of its fit and of its sample, and the memory of both."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError
from skeval.generators.adapter import GeneratorAdapter, seeded_copy
from skeval.tables.one_table import as_frame
from skeval.utils.memory import highest_bytes, resident_bytes
from skeval.utils.parameters import Seed, check_parameters, legal_sets

_EVERY = 0.005  # seconds
_MIB = 2**20


@dataclass(frozen=True)
class Efficiency:
    """What one fit and one sample cost."""

    fit_seconds: float
    sample_seconds: float
    peak_mib: float


@dataclass
class PeakMemory:
    """The growth of a process while a block of code ran."""

    mib: float = field(default=float("nan"))


@contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measure by how much the resident memory of this process grows at most."""
    # A thread reads the resident set size, which counts what compiled libraries allocate; a
    # tracer of Python's allocators would see a part of it and slow the block down. What lasts
    # for less than `_EVERY`, or while compiled code keeps Python's lock, is missed unless it
    # is the largest size that the process ever had, which the system remembers. Memory that
    # the allocator kept from earlier work is used again without growth, so that the first of
    # equal runs grows most; other processes that the block starts are not counted, and other
    # threads are.
    peak, start, highest = PeakMemory(), resident_bytes(), highest_bytes()
    seen, done = [start], threading.Event()

    def look() -> None:
        while not done.wait(_EVERY):
            seen.append(resident_bytes())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        seen.append(resident_bytes())
        done.set()
        watcher.join()
        if highest_bytes() > highest:
            seen.append(highest_bytes())
        peak.mib = (max(seen) - start) / _MIB if np.isfinite(start) else float("nan")


def efficiency_curve(
    generator: Any,
    table: Any,
    *,
    n_rows: Sequence[int] | None = None,
    n_columns: Sequence[int] | None = None,
    random_state: Seed = 0,
) -> pd.DataFrame:
    """Return what a generator costs by the number of rows and of columns that it learns from.

    Parameters
    ----------
    generator : GeneratorAdapter, or anything that it takes
        It is cloned, never fitted itself.
    table : table of shape (n_rows, n_columns)
        Real rows: pandas, polars or pyarrow, a path or a URL.
    n_rows : sequence of int, optional
        Numbers of rows to learn from, all columns each; an eighth, a quarter, a half and all by
        default. Rows are drawn at random, and as many are sampled.
    n_columns : sequence of int, optional
        Numbers of columns, the first ones, all rows each; likewise by default.
    random_state : int, default=0
        Seed of the rows, the fits and the samples.

    Returns
    -------
    DataFrame
        One row a size: `varied` ("rows" or "columns"), `n_rows`, `n_columns`, `fit_seconds`,
        `sample_seconds` and `peak_mib`.

    Raises
    ------
    InvalidParameterError
        If a size is below 1 or above that of the table.

    See Also
    --------
    cross_validate_generator : The same costs in each fold, with scores.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import GaussianCopula
    >>> from skeval.model_selection import efficiency_curve
    >>> costs = efficiency_curve(GaussianCopula(), make_mixed(80), n_rows=[40, 80], n_columns=[3])
    >>> costs[["varied", "n_rows", "n_columns"]].values.tolist()
    [['rows', 40, 7], ['rows', 80, 7], ['columns', 80, 3]]
    """
    rows = as_frame(table, "train")
    check_parameters(
        "efficiency_curve", {"random_state": random_state}, legal_sets(efficiency_curve)
    )
    by_rows = _sizes(n_rows, len(rows), "n_rows")
    by_columns = _sizes(n_columns, rows.shape[1], "n_columns")
    order = np.random.default_rng(random_state).permutation(len(rows))
    sizes = [("rows", n, rows.shape[1]) for n in by_rows]
    sizes += [("columns", len(rows), n) for n in by_columns]
    costs = []
    for varied, n, k in sizes:
        part = rows.iloc[np.sort(order[:n]), :k].reset_index(drop=True)
        _, cost = fit_and_sample(seeded_copy(generator, random_state), part, n, random_state)
        costs.append({"varied": varied, "n_rows": n, "n_columns": k, **asdict(cost)})
    return pd.DataFrame(costs)


def _sizes(given: Sequence[int] | None, most: int, name: str) -> list[int]:
    """Return the sizes that are given, or the four that end with all."""
    if given is None:
        return sorted({max(1, most // part) for part in (8, 4, 2, 1)})
    if wrong := [n for n in given if not isinstance(n, int | np.integer) or not 1 <= n <= most]:
        raise InvalidParameterError(
            f"efficiency_curve: {name} must be whole numbers from 1 to {most}, got {wrong}."
        )
    return [int(n) for n in given]


def fit_and_sample(
    adapter: GeneratorAdapter, train: pd.DataFrame, n_rows: int, seed: int
) -> tuple[pd.DataFrame, Efficiency]:
    """Return what a generator samples, and what fit and sample cost."""
    with peak_memory() as peak:
        start = perf_counter()
        adapter.fit(train)
        fitted = perf_counter()
        synthetic = adapter.sample(n_rows, random_state=seed)
        sampled = perf_counter()
    return synthetic, Efficiency(fitted - start, sampled - fitted, peak.mib)
