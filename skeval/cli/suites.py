"""Which suite a command measures: a preset, metrics by their names, or one that was saved."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from skeval.cli.options import Given
from skeval.exceptions import InvalidParameterError
from skeval.suites.names import proper_name, unknown_name
from skeval.suites.ready import make_suite
from skeval.suites.registry import metric_named
from skeval.suites.suite import MetricSuite
from skeval.tables.places import Place
from skeval.tables.reading import check_exists
from skeval.tables.relational_schema import RelationalSchema

if TYPE_CHECKING:
    from skeval.core.base import Metric


def made_suite(
    metrics: str | None, preset: str, given: Given, relations: RelationalSchema | None = None
) -> MetricSuite:
    """Return the suite of these metrics, or of a preset."""
    target, sensitive, seed = given.target, given.sensitive, given.seed
    if metrics is not None:
        return suite_of_names(metrics, target=target, sensitive=sensitive, seed=seed)
    return make_suite(
        preset, target=target, sensitive=sensitive, random_state=seed, n_jobs=-1, schema=relations
    )


def suite_of_names(
    names: str, *, target: str | None, sensitive: str | None, seed: int
) -> MetricSuite:
    """Return the suite of metrics by any of their names: "tstr,KSComplement,IMS".

    Raises
    ------
    InvalidParameterError
        If there is no such metric, or it needs more than a target or a sensitive column.
    """
    given = {"target": target, "sensitive": sensitive}
    chosen: dict[str, Metric] = {}
    for name in dict.fromkeys(part.strip() for part in names.split(",") if part.strip()):
        proper = proper_name(name)
        if proper is None:
            raise InvalidParameterError(f"--metrics: {unknown_name(name)}")
        kind, ready = metric_named(proper, target or "", sensitive or "")
        _check_required(kind, given)
        metric = _made(kind, given) if ready is None else ready
        lacking = [n for n in given if n in metric.get_params() and not getattr(metric, n)]
        if lacking and lacking[0] in _required(type(metric)):
            raise InvalidParameterError(f"--metrics: {name} needs --{lacking[0]} COLUMN.")
        seeds = [p for p in metric.get_params() if p.split("__")[-1] == "random_state"]
        chosen[proper] = metric.set_params(**dict.fromkeys(seeds, seed))
    if not chosen:
        raise InvalidParameterError("--metrics names none; separate names by commas.")
    return MetricSuite(list(chosen.items()), n_jobs=-1)


def _required(kind: type[Metric]) -> list[str]:
    parameters = inspect.signature(kind).parameters
    return [name for name, one in parameters.items() if one.default is one.empty]


def _check_required(kind: type[Metric], given: dict[str, str | None]) -> None:
    """Refuse a metric that needs more than the command can give."""
    if foreign := [name for name in _required(kind) if name not in given]:
        raise InvalidParameterError(
            f"--metrics: {kind.__name__} needs {', '.join(foreign)}, which only Python can give."
        )


def _made(kind: type[Metric], given: dict[str, str | None]) -> Metric:
    own = inspect.signature(kind).parameters
    required = _required(kind)
    return kind(**{n: v or "" for n, v in given.items() if n in own and (v or n in required)})


def suite_of_file(
    path: Path, tables: list[Place], given: Given, metrics: str | None, *, rows: bool
) -> MetricSuite:
    """Return a suite that was saved, where one synthetic table is given and nothing of train."""
    options = {
        **{"--target": given.target, "--sensitive": given.sensitive, "--schema": given.schema},
        **{"--categorical": given.categorical, "--numeric": given.numeric},
        "--accept-doubts": given.accept_doubts or None,
        "--metrics": metrics,
    }
    if foreign := [name for name, value in options.items() if value is not None]:
        raise InvalidParameterError(
            f"{' and '.join(foreign)}: --saved has it from the suite; leave it out."
        )
    if len(tables) != 1 or tables[0].is_folder:
        raise InvalidParameterError("--saved takes one file, SYNTHETIC: it is the real tables.")
    check_exists(path)
    return MetricSuite.load(path, rows=rows)
