"""Cost of a generator in time and memory."""

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
    """Cost of one fit and one sample."""

    fit_seconds: float
    sample_seconds: float
    peak_mib: float


@dataclass
class PeakMemory:
    """Growth of the memory of a process while a block of code ran."""

    mib: float = field(default=float("nan"))


@contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measure the maximum growth of the resident memory of this process."""
    # A thread reads the resident set size, which includes the memory that compiled libraries
    # allocate. A tracer of Python's allocators would see only a part of it and slow the block down.
    # A peak is missed if it is shorter than `_EVERY` or occurs while compiled code keeps Python's
    # lock, unless it is the largest size that the process ever had, which the system remembers.
    # Memory that the allocator kept from earlier work is reused without growth, so the first of
    # several equal runs grows most. Other threads are counted. Other processes that the block
    # starts are not counted.
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
    """Measure the cost of a generator by the numbers of training rows and columns.

    Parameters
    ----------
    generator : GeneratorAdapter, or anything that GeneratorAdapter accepts
        Generator to measure. Only clones are fitted.
    table : table of shape (n_rows, n_columns)
        Real data as a pandas, polars or pyarrow table, a path or a URL.
    n_rows : sequence of int, optional
        Numbers of training rows, each with all columns. By default, an eighth, a quarter, a half
        and all of the rows are used. Rows are drawn at random, and the same number of rows is
        sampled.
    n_columns : sequence of int, optional
        Numbers of columns, each with all rows. The first columns of the table are used. The default
        fractions are the same as for `n_rows`.
    random_state : int, default=0
        Seed for the choice of rows, the fits and the samples.

    Returns
    -------
    DataFrame
        One row per size with the columns `varied` ("rows" or "columns"), `n_rows`, `n_columns`,
        `fit_seconds`, `sample_seconds` and `peak_mib`.

    Raises
    ------
    InvalidParameterError
        If a size is less than 1 or larger than the size of the table.

    See Also
    --------
    cross_validate_generator : Measures the same costs in each fold, with scores.

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
    """Return the given sizes, or by default four sizes up to the maximum."""
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
    """Return a sample of a generator, and the cost of fit and sample."""
    with peak_memory() as peak:
        start = perf_counter()
        adapter.fit(train)
        fitted = perf_counter()
        synthetic = adapter.sample(n_rows, random_state=seed)
        sampled = perf_counter()
    return synthetic, Efficiency(fitted - start, sampled - fitted, peak.mib)
