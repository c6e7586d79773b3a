"""The runs of a tournament: one fit, its samples and their evaluation each, kept by content.

A record is a file of results that is named by a hash of everything they depend on, so that work
that was killed goes on where it was. Records hold results alone, and no row.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import queue
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.base import clone

from skeval.exceptions import InvalidParameterError
from skeval.generators.adapter import GeneratorAdapter, reseeded
from skeval.model_selection.cross_validation import Efficiency, efficiency_curve, timed
from skeval.model_selection.entrants import Entrant, module_of
from skeval.model_selection.isolation import Helper, Limits, Outcome, Status, isolated, pickled
from skeval.results.provenance import version_of
from skeval.results.suite_result import SCHEMA_VERSION, SuiteResult
from skeval.suites.suite import MetricSuite
from skeval.utils.engines import LocalEngine, current_engine
from skeval.utils.execution import Progress
from skeval.utils.files import FOREIGN, foreign_json, plain_json, write_json
from skeval.utils.formatting import as_float
from skeval.utils.parameters import JobCount, check_parameters, legal_sets

FORMAT = 1  # of records
Positions = tuple[np.ndarray, np.ndarray]  # to learn from, and to test on


@dataclass(frozen=True)
class Played:
    """How one run ended.

    Attributes
    ----------
    status : {"ok", "failed", "timeout", "memory", "crashed"}
    reason : str
        Why there is no result, in a sentence.
    settings : dict
        What was set of the generator.
    results : tuple of SuiteResult
        One a draw; none unless the status is "ok".
    efficiency : Efficiency
        What fit and sample cost.
    seconds : float
        By the clock, with the evaluation.
    """

    status: Status
    reason: str
    settings: Mapping[str, Any]
    results: tuple[SuiteResult, ...]
    efficiency: Efficiency
    seconds: float


@dataclass(frozen=True)
class Run:
    """One fit of a generator on some rows, its draws and their evaluation on other rows."""

    entrant: Entrant
    settings: Mapping[str, Any]
    positions: Positions
    limits: Limits
    fit_seed: int
    sample_seeds: tuple[int, ...]

    @property
    def adapter(self) -> GeneratorAdapter:
        """The unfitted generator, with its seed and settings."""
        return reseeded(self.entrant.generator, self.fit_seed, self.settings)


def seeds_of(random_state: int, name: str, place: Sequence[int], n_draws: int) -> list[int]:
    """Return the seeds of a fit and of its draws: those of another entrant or place are others.

    Examples
    --------
    >>> from skeval.model_selection.runs import seeds_of
    >>> seeds_of(0, "a", [0], 1) == seeds_of(0, "a", [0], 2)[:2] != seeds_of(0, "b", [0], 1)
    True
    """
    word = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    sequence = np.random.SeedSequence([random_state, word, *place])
    return [int(child.generate_state(1)[0]) for child in sequence.spawn(1 + n_draws)]


@dataclass(frozen=True)
class Field:
    """What all runs of a tournament share.

    Attributes
    ----------
    rows : DataFrame of shape (n_rows, n_columns)
        The real rows.
    suite : MetricSuite
        Unfitted.
    schema : object
        What is known of the columns.
    n_samples : int or None
        Rows of each draw; as many as were learned from if None.
    """

    rows: pd.DataFrame
    suite: MetricSuite
    schema: Any = None
    n_samples: int | None = None

    def hashes(self) -> np.ndarray:
        """Return a hash of each row, of its cells and the columns' names and kinds."""
        cells = [_hashed(self.rows.iloc[:, i]) for i in range(self.rows.shape[1])]
        return np.column_stack(cells) if cells else np.empty((len(self.rows), 0), dtype=np.uint64)

    def key(self) -> str:
        """Return a hash of all but the rows."""
        columns = [[str(name), str(dtype)] for name, dtype in self.rows.dtypes.items()]
        known = (columns, self.n_samples, _content_hash(self.schema), _content_hash(self.suite))
        return json.dumps([*known, FORMAT, SCHEMA_VERSION, version_of("skeval")])


def _hashed(column: pd.Series) -> np.ndarray:
    try:
        return pd.util.hash_pandas_object(column, index=False).to_numpy()
    except TypeError:  # cells such as lists have no hash of their own
        return pd.util.hash_pandas_object(column.map(repr), index=False).to_numpy()


def key_of(run: Run, field_key: str, hashes: np.ndarray) -> str:
    """Return the hash of all that the results of a run depend on."""
    digest = hashlib.sha256(field_key.encode())
    for part in run.positions:
        digest.update(hashes[part].tobytes() + len(part).to_bytes(8, "little"))
    seeds = (run.fit_seed, *run.sample_seeds)
    digest.update(json.dumps([_generator_hash(run), seeds]).encode())
    return digest.hexdigest()


def _generator_hash(run: Run) -> list[str]:
    """Return what a generator is known by: parameters, code and the version of its package."""
    module = module_of(run.entrant.generator)
    package = module.partition(".")[0]
    return [_content_hash(run.adapter), module, _code_of(run.adapter), version_of(package) or ""]


def _code_of(adapter: GeneratorAdapter) -> str:
    """Return a hash of the file of a generator's class, so that an edited one runs anew."""
    kinds = (
        adapter.generator if isinstance(adapter.generator, list | tuple) else [adapter.generator]
    )
    texts = []
    for one in kinds:
        known = one if inspect.isroutine(one) or isinstance(one, type) else type(one)
        try:
            texts.append(inspect.getsource(sys.modules[known.__module__]))
        except (KeyError, OSError, TypeError):  # of a console, or compiled
            texts.append("")
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _content_hash(value: Any) -> str:
    try:
        return str(joblib.hash(value, hash_name="sha1"))
    except Exception:  # functions of a console are pickled by no name
        return hashlib.sha256(pickled(value)).hexdigest()


def play(
    adapter: GeneratorAdapter,
    suite: MetricSuite,
    train: pd.DataFrame,
    holdout: pd.DataFrame,
    n_samples: int | None,
    schema: Any,
    sample_seeds: Sequence[int],
) -> dict[str, Any]:
    """Fit, draw and evaluate; return costs and results as plain numbers and texts."""
    n_rows = len(train) if n_samples is None else n_samples
    drawn, cost = timed(adapter, train, n_rows, sample_seeds[0])
    others = (adapter.sample(n_rows, random_state=seed) for seed in sample_seeds[1:])
    fitted = suite.fit(train, holdout, schema=schema)
    results = [_plain(fitted.evaluate(table)) for table in (drawn, *others)]
    return {"cost": asdict(cost), "results": results}


def _plain(result: SuiteResult) -> dict[str, Any]:
    """Return a result without its provenance: all runs have that of the tournament."""
    kept = SuiteResult(dict(result), sizes=result.sizes, notices=result.notices)
    content: dict[str, Any] = json.loads(json.dumps(kept.to_dict(), allow_nan=False))
    return content


def play_all(
    runs: Sequence[Run],
    field: Field,
    *,
    folder: Path | None,
    n_jobs: JobCount | None,
    progress: Progress | None = None,
) -> list[Played]:
    """Return how runs ended, in their order; those that a record is kept of are not run."""
    check_parameters("tournament", {"n_jobs": n_jobs}, legal_sets(play_all))
    hashes, field_key = field.hashes(), field.key()
    keys = [key_of(run, field_key, hashes) for run in runs]
    records = [_kept(folder, key, run.limits) for key, run in zip(keys, runs, strict=True)]
    left = [i for i, record in enumerate(records) if record is None]
    tasks = ((i, play, _arguments(runs[i], field), runs[i]) for i in left)
    n_done = len(runs) - len(left)
    for i, outcome in _outcomes(tasks, n_jobs) if left else ():
        records[i] = _recorded(outcome, runs[i].limits)
        if folder is not None:
            write_json(records[i] or {}, folder / f"{keys[i]}.json")
        n_done += 1
        if progress is not None:
            progress("fits", n_done, len(runs))
    return [_played(record or {}, run) for record, run in zip(records, runs, strict=True)]


def _arguments(run: Run, field: Field) -> tuple[Any, ...]:
    learned, tested = (
        field.rows.iloc[positions].reset_index(drop=True) for positions in run.positions
    )
    suite = clone(field.suite)
    return run.adapter, suite, learned, tested, field.n_samples, field.schema, run.sample_seeds


def _outcomes(tasks: Iterator[Any], n_jobs: int | None) -> Iterator[tuple[int, Outcome]]:
    """Yield the position and outcome of each task as it ends, from helpers or Dask's workers."""
    engine = current_engine(n_jobs)
    if not isinstance(engine, LocalEngine):
        places: list[int] = []

        def sent() -> Iterator[tuple[Any, ...]]:
            for i, function, arguments, run in tasks:
                places.append(i)
                yield function, arguments, run.limits, (module_of(run.entrant.generator),)

        for k, outcome in enumerate(engine.map(isolated, sent())):
            yield places[k], outcome
        return
    with _helpers(max(1, effective_n_jobs(n_jobs))) as (pool, idle):

        def work(task: tuple[Any, ...]) -> tuple[int, Outcome]:
            i, function, arguments, run = task
            helper = idle.get()
            try:
                modules = [module_of(run.entrant.generator)]
                return i, helper.run(function, arguments, run.limits, modules)
            finally:
                idle.put(helper)

        yield from _as_they_end(pool, work, tasks, ahead=2 * idle.qsize())


def _as_they_end(pool: ThreadPoolExecutor, work: Any, tasks: Iterator[Any], ahead: int) -> Any:
    """Yield results as they come; few arguments are held at a time."""
    waiting = {pool.submit(work, task) for task in islice(tasks, ahead)}
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        waiting |= {pool.submit(work, task) for task in islice(tasks, len(done))}
        for one in done:
            yield one.result()


@contextmanager
def _helpers(n: int) -> Iterator[tuple[ThreadPoolExecutor, queue.Queue[Helper]]]:
    """Give threads and as many helpers, and end both at the end of the block."""
    idle: queue.Queue[Helper] = queue.Queue()
    helpers = [Helper() for _ in range(n)]
    for helper in helpers:
        idle.put(helper)
    pool = ThreadPoolExecutor(n)
    try:
        yield pool, idle
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for helper in helpers:
            helper.close()


def _kept(folder: Path | None, key: str, limits: Limits) -> dict[str, Any] | None:
    """Return the record of a run, if there is one; one that failed counts for its limits only."""
    if folder is None or not (path := folder / f"{key}.json").exists():
        return None
    try:
        record: dict[str, Any] = foreign_json(path)
        known = record["format"] == FORMAT and record["status"]
        if known and (known == "ok" or record["limits"] == plain_json(asdict(limits))):
            [SuiteResult.from_dict(one) for one in record["results"]]
            return record
    except (*FOREIGN, InvalidParameterError):  # of another hand: it runs anew
        return None
    return None


def _recorded(outcome: Outcome, limits: Limits) -> dict[str, Any]:
    value = outcome.value if outcome.status == "ok" else {"cost": {}, "results": []}
    record = {
        "format": FORMAT,
        "status": outcome.status,
        "reason": outcome.reason,
        "seconds": outcome.seconds,
        "limits": asdict(limits),
        **value,
    }
    plain: dict[str, Any] = plain_json(record)
    return plain


def _played(record: Mapping[str, Any], run: Run) -> Played:
    names = ("fit_seconds", "sample_seconds", "peak_mib")
    cost = Efficiency(*(as_float(record["cost"].get(name)) for name in names))
    results = tuple(SuiteResult.from_dict(one) for one in record["results"])
    status, reason, seconds = (record[name] for name in ("status", "reason", "seconds"))
    return Played(status, reason, dict(run.settings), results, cost, as_float(seconds))


def costs_of(
    entrants: Mapping[str, Entrant],
    settings: Mapping[str, Mapping[str, Any]],
    rows: pd.DataFrame,
    limits: Limits,
    random_state: int,
) -> pd.DataFrame:
    """Return what each entrant costs as rows and columns grow; see :func:`efficiency_curve`."""
    frames = []
    with Helper() as helper:  # one at a time: costs are compared
        for name, entrant in entrants.items():
            adapter = reseeded(entrant.generator, random_state, settings.get(name, {}))
            modules = [module_of(entrant.generator)]
            own = entrant.limits(limits)
            outcome = helper.run(_curve, (adapter, rows, random_state), own, modules)
            if outcome.status == "ok":
                frames.append(outcome.value.assign(generator=name))
    columns = ["generator", "varied", "n_rows", "n_columns"]
    columns += ["fit_seconds", "sample_seconds", "peak_mib"]
    return (
        pd.concat(frames, ignore_index=True)[columns]
        if frames
        else pd.DataFrame([], columns=columns)
    )


def _curve(adapter: GeneratorAdapter, rows: pd.DataFrame, random_state: int) -> pd.DataFrame:
    few = max(1, len(rows) // 8)  # the first fit of a process pays for what is loaded
    efficiency_curve(adapter, rows, n_rows=[few], n_columns=[], random_state=random_state)
    return efficiency_curve(adapter, rows, random_state=random_state)
