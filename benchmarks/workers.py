"""Measure neighbor searches, a score and refits on clusters of 1, 2 and 4 local workers.

    python benchmarks/workers.py                          # 1,000,000 x 1,000,000 rows, some minutes
    python benchmarks/workers.py --rows 100000 --workers 1 2
    python benchmarks/workers.py --machines 1 10 100      # with an estimate for 10^9 rows

The tables show wall seconds on this machine, and processor seconds of one process. With more
workers than free cores, they show the overhead of the cluster and not its gain. Every answer is
compared bit for bit with the answer of one index in one process. The script generates the tables
and writes them to a folder of NumPy files, which the workers read. Requires `skeval[dask]`.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from skeval.datasets import make_census
from skeval.generators import GaussianCopula
from skeval.model_selection import cross_validate_generator
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.privacy import DCROverfittingProtection
from skeval.scale.engines import DaskEngine
from skeval.scale.part_tasks import encoded_rows
from skeval.scale.partitioned import PartitionedNearestNeighbors
from skeval.scale.parts import MAX_SENT, Part

K = 2
BLOCK = 50_000  # number of rows in a part
EMPTY_TASKS = 500
ALL = 10**9
CELL = 2 * 2**30  # bytes of an index on a worker
NETWORK = 1.25e9  # bytes per second and machine


def timed(
    function: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    begin = clock()
    outcome = function()
    return clock() - begin, outcome


def coded(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and codes of categories, and a mask of the columns with codes."""
    is_code = np.array([frame[name].dtype.kind not in "if" for name in frame])
    columns = [
        pd.factorize(frame[name], sort=True)[0] if code else frame[name]
        for name, code in zip(frame, is_code, strict=True)
    ]
    return np.column_stack(columns).astype(float), is_code


def read_rows(path: str, start: int, stop: int) -> np.ndarray:
    return np.load(path, mmap_mode="r")[start:stop]


def parts_of(path: Path, n_rows: int) -> list[Part]:
    borders = [*range(0, n_rows, BLOCK), n_rows]
    return [Part(b - a, partial(read_rows, str(path), a, b)) for a, b in pairwise(borders)]


def nothing() -> None:
    """Do nothing, to measure the overhead of a task."""


def same(found: Any, expected: Any) -> str:
    equal = all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    return "same" if equal else "OTHER BITS"


def at_home(folder: Path, n_rows: int) -> tuple[dict[str, float], Any, np.ndarray]:
    """Return processor seconds per row, the answer and the code columns for one process."""
    for name, seed in (("reference", 0), ("queries", 1)):
        rows, is_code = coded(make_census(n_rows, random_state=seed))
        np.save(folder / f"{name}.npy", rows)
    X, Y = (np.load(folder / f"{name}.npy") for name in ("reference", "queries"))
    near = MixedNearestNeighbors(categorical=is_code)
    near.fit(X[:2000]).kneighbors(Y[:2000], K)  # compiles the code
    few = n_rows // 10
    near.fit(X[:few])
    search_few, _ = timed(lambda: near.kneighbors(Y[:few], K), time.process_time)
    build, _ = timed(lambda: near.fit(X), time.process_time)
    search, answer = timed(lambda: near.kneighbors(Y, K), time.process_time)
    parted = PartitionedNearestNeighbors(categorical=is_code)
    parted.fit(parts_of(folder / "reference.npy", n_rows))
    encode, block = timed(lambda: encoded_rows(parted._columns, Y[:BLOCK]), time.process_time)
    n_block = block.n_rows
    query_bytes = len(pickle.dumps(block)) / n_block
    measured = {
        "rows": n_rows,
        "build": build / n_rows,
        "search": search / n_rows,
        "growth": float(np.log10(search / search_few)) - 1.0,
        "encode": encode / n_block,
        "query bytes": query_bytes,
        "index bytes": 2 * query_bytes + 16,
    }
    print(f"one process        build {build:6.2f} s   search {search:6.2f} s   of the processor")
    return measured, answer, is_code


def on_workers(
    n_workers: int, folder: Path, n_rows: int, is_code: np.ndarray, answer: Any, limit: int
) -> float:
    """Measure a cluster of this number of processes, and return the seconds of an empty task."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0",
            memory_limit=limit,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        client.wait_for_workers(n_workers)
        engine = DaskEngine(client)
        list(engine.map(nothing, [()] * 10))
        empty, _ = timed(lambda: list(engine.map(nothing, [()] * EMPTY_TASKS)))
        reference, queries = (
            parts_of(folder / f"{name}.npy", n_rows) for name in ("reference", "queries")
        )
        warm = PartitionedNearestNeighbors(categorical=is_code).fit(reference[:1])
        warm.kneighbors(queries[:n_workers], K)
        for name, n_bytes in (("whole", None), ("in cells", n_rows * 30)):
            near = PartitionedNearestNeighbors(categorical=is_code, max_memory=n_bytes)
            fit, _ = timed(lambda near=near: near.fit(reference))
            search, found = timed(lambda near=near: near.kneighbors(queries, K))
            print(
                f"{n_workers} workers, {name:10} fit {fit:8.2f} s   search {search:6.2f} s   "
                f"{near.n_indexes_} indexes   {same(found, answer)} bits"
            )
        tables = [make_census(min(n_rows, 100_000), random_state=seed) for seed in range(3)]
        metric = DCROverfittingProtection().fit(*tables[:2])
        score, _ = timed(lambda: metric.score(tables[2]))
        few = make_census(5_000)
        folds, _ = timed(
            lambda: cross_validate_generator(GaussianCopula(), few, DCROverfittingProtection())
        )
        print(f"{n_workers} workers            score {score:6.2f} s   5 folds {folds:6.2f} s")
    return empty / EMPTY_TASKS


def on_paper(machines: list[int], measured: dict[str, float]) -> None:
    """Print estimates for ALL x ALL rows on machines with 16 cores, from one measured machine.

    The cost of a query grows as a power of the number of reference rows, fitted to two sizes. Each
    cell reads the whole table once. Each block of queries visits each cell twice, with one task per
    visit. Rows cross the network once as queries, and one client receives the answers.
    """
    cells = ALL * measured["index bytes"] / CELL
    n_tasks = 2 * cells * ALL / MAX_SENT
    slower = (ALL / measured["rows"]) ** measured["growth"]
    print(f"\nfor {ALL:.0e} rows: {cells:.0f} cells of 2 GiB, {n_tasks:.0f} tasks")
    print(f"memory of the client {ALL * (16 * K + 16) / 2**30:.0f} GiB, hours")
    print("machines    reads    build   search  network    tasks")
    for n in machines:
        cores = 16 * n
        hours = (
            (cells + 2) * ALL * measured["encode"] / cores,
            ALL * measured["build"] / min(cells, cores),
            ALL * measured["search"] * slower / cores,
            ALL * measured["query bytes"] / (NETWORK * n) + ALL * 16 * K / NETWORK,
            n_tasks * measured["task"],
        )
        print(f"{n:8}" + "".join(f" {seconds / 3600:8.2f}" for seconds in hours))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--machines", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--memory-limit", type=int, default=4 * 2**30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        measured, answer, is_code = at_home(folder, given.rows)
        for n_workers in given.workers:
            limits = (given.rows, is_code, answer, given.memory_limit)
            measured["task"] = on_workers(n_workers, folder, *limits)
    descriptor = len(pickle.dumps(parts_of(folder / "queries.npy", given.rows)[0]))
    print(f"\na part on disk is sent as {descriptor} bytes. Seconds and bytes per row:")
    print(", ".join(f"{name} {value:.3g}" for name, value in measured.items()))
    on_paper(given.machines, measured)


if __name__ == "__main__":
    main()
