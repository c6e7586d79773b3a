"""Time neighbours, a score and refits on clusters of 1, 2 and 4 local workers; prints tables.

    python benchmarks/workers.py                          # 1,000,000 x 1,000,000 rows, some minutes
    python benchmarks/workers.py --rows 100000 --workers 1 2
    python benchmarks/workers.py --machines 1 10 100      # and what 10^9 rows would take there

Wall seconds on this machine: more workers than free cores show what the cluster costs, not what it
gains. Every answer is compared bit for bit with that of one index in one process. The tables are
made, written to a folder of NumPy files, and read there by the workers. Needs `skeval[dask]`.
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
from skeval.engines import DaskEngine
from skeval.generators import GaussianCopula
from skeval.model_selection import cross_validate_generator
from skeval.neighbors.mixed import MixedNearestNeighbors
from skeval.neighbors.parts import Part, PartitionedNearestNeighbors, encoded_rows
from skeval.privacy import DCROverfittingProtection

K = 2
BLOCK = 50_000  # rows of a part
EMPTY_TASKS = 500
ALL = 10**9


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    outcome = function()
    return time.perf_counter() - begin, outcome


def coded(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Numbers, and codes of categories; which columns are codes."""
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
    """Take a task's worth of the scheduler's time."""


def same(found: Any, expected: Any) -> str:
    equal = all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    return "same" if equal else "OTHER BITS"


def at_home(folder: Path, n_rows: int) -> tuple[dict[str, float], Any, np.ndarray]:
    """One index in one process: seconds, the answer, and which columns are codes."""
    for name, seed in (("reference", 0), ("queries", 1)):
        rows, is_code = coded(make_census(n_rows, random_state=seed))
        np.save(folder / f"{name}.npy", rows)
    X, Y = (np.load(folder / f"{name}.npy") for name in ("reference", "queries"))
    near = MixedNearestNeighbors(categorical=is_code)
    near.fit(X[:2000]).kneighbors(Y[:2000], K)  # compiles
    build, _ = timed(lambda: near.fit(X))
    search, answer = timed(lambda: near.kneighbors(Y, K))
    print(f"one process        build {build:6.2f} s   search {search:6.2f} s")
    return {"build": build, "search": search}, answer, is_code


def on_workers(
    n_workers: int, folder: Path, n_rows: int, is_code: np.ndarray, answer: Any, limit: int
) -> dict[str, float]:
    """The same on a cluster of so many processes, whole and in parts; then a score and refits."""
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
        seconds = {"task": empty / EMPTY_TASKS}
        warm = PartitionedNearestNeighbors(categorical=is_code).fit(reference[:1])
        warm.kneighbors(queries[:n_workers], K)
        for name, n_bytes in (("whole", None), ("in 4 parts", n_rows * 60)):
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
    return seconds


def on_paper(
    machines: list[int], n_rows: int, home: dict[str, float], task: float, sent: dict[str, int]
) -> None:
    """What ALL x ALL rows would take on N machines of 16 cores and 64 GB, by what was measured."""
    leaves = np.log2(ALL / n_rows)
    print(
        f"\n{'machines':>8} {'reads':>8} {'build':>8} {'search':>8} {'network':>8} {'scheduler':>9}"
    )
    for n in machines:
        cores = 16 * n
        encode = 2 * ALL * home["encode"] / n_rows / cores
        build = ALL * home["build"] / n_rows / min(cores, 64) * (1 + leaves / 20)
        search = ALL * home["search"] / n_rows / cores * (1 + leaves / 4)
        n_tasks = ALL / BLOCK * 3
        network = ALL * (sent["query row"] + sent["answer row"]) / (1.25e9 * n)
        hours = [seconds / 3600 for seconds in (encode, build, search, network, n_tasks * task)]
        print(f"{n:8} " + " ".join(f"{h:7.2f}h" for h in hours[:4]) + f" {hours[4]:8.2f}h")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--machines", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--memory-limit", type=int, default=4 * 2**30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        home, answer, is_code = at_home(folder, given.rows)
        near = PartitionedNearestNeighbors(categorical=is_code)
        near.fit(parts_of(folder / "reference.npy", given.rows))
        rows = read_rows(str(folder / "queries.npy"), 0, min(BLOCK, given.rows))
        seconds, block = timed(lambda: encoded_rows(near._columns, np.array(rows)))
        home["encode"] = seconds * given.rows / len(rows)
        sent = {
            "query row": len(pickle.dumps(block)) // len(rows),
            "answer row": 16 * K,
            "part": len(pickle.dumps(parts_of(folder / "queries.npy", given.rows)[0])),
        }
        for n_workers in given.workers:
            task = on_workers(n_workers, folder, given.rows, is_code, answer, given.memory_limit)[
                "task"
            ]
        print(f"\nbytes: {sent}; seconds of an empty task: {task:.2g}")
        print(
            f"microseconds a row: { {k: round(v / given.rows * 1e6, 2) for k, v in home.items()} }"
        )
    on_paper(given.machines, given.rows, home, task, sent)


if __name__ == "__main__":
    main()
