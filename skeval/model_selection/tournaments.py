"""Which generator for a table, in one call: cross-validated, with limits, resumable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError
from skeval.model_selection.cross_validation import Efficiency, splits_of
from skeval.model_selection.entrants import INNER, Entrant, check_limit, entrants_of
from skeval.model_selection.isolation import Limits
from skeval.model_selection.runs import Field, Played, Positions, Run, costs_of, play_all, seeds_of
from skeval.model_selection.standings import AXES, Tournament, score_of
from skeval.results.policy import Policy
from skeval.results.provenance import version_of
from skeval.suites.ready import make_suite
from skeval.suites.suite import MetricSuite
from skeval.tables.frames import as_frame
from skeval.utils.execution import Progress
from skeval.utils.formatting import did_you_mean
from skeval.utils.parameters import Count, Fraction, Seed, check_parameters, legal_sets


def tournament(
    generators: Mapping[str, Any] | Sequence[Any],
    table: Any,
    suite: Metric | MetricSuite | str = "report",
    *,
    cv: Any = 5,
    n_draws: Count = 1,
    by: str | None = None,
    constraint: Policy | None = None,
    n_samples: Count | None = None,
    schema: Any = None,
    groups: str | Sequence[Any] | None = None,
    stratify: str | Sequence[Any] | None = None,
    seconds: float | None = None,
    mib: float | None = None,
    folder: str | Path | None = None,
    efficiency: bool = False,
    level: Fraction = 0.05,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Tournament:
    """Say which generator to take for a table.

    In each fold each generator learns from the training rows and is evaluated against the rows that
    are held out, in a process of its own. One that fails, takes too long or too much memory is a
    row of the outcome with its reason, and costs the others nothing.

    Parameters
    ----------
    generators : mapping of str to generator, or sequence of generators
        What :class:`~skeval.generators.GeneratorAdapter` takes, or :class:`Entrant` with settings
        to search and limits of its own.
    table : table of shape (n_rows, n_columns)
        Real rows: pandas, polars or pyarrow.
    suite : MetricSuite, Metric or str, default="report"
        What to measure; a text is a preset of :func:`skeval.make_suite`.
    cv : int or splitter, default=5
        As of :func:`cross_validate_generator`.
    n_draws : int, default=1
        Tables drawn of each fit. The score of a fold is their mean.
    by : str, optional
        What to rank by: a facet, whose score :class:`skeval.OverallScore` gives, or a metric of the
        suite, negated if lower values are better. By default what a model learns (TSTR), if the
        suite measures it, else utility, else fidelity.
    constraint : Policy, optional
        What a generator must meet to be recommended. By default that no leak is found, if the suite
        has metrics of privacy.
    n_samples : int, optional
        Rows of each draw; as many as were learned from if None.
    schema, groups, stratify
        As of :func:`cross_validate_generator`.
    seconds, mib : float, optional
        What one fit with its draws and their evaluation may take, by the clock and in MiB of
        memory.
    folder : str or Path, optional
        A folder that keeps results, a file each run, and no rows. The same call goes on there after
        it was killed, and does again only what depends on something that was changed.
    efficiency : bool, default=False
        Whether to measure what each generator costs as rows and columns grow, one at a time.
    level : float, default=0.05
        Chance of any false difference between generators.
    random_state : int, default=0
        Seed of folds, fits and draws; each has its own from it.
    n_jobs : int, optional
        Number of processes; the numbers, costs aside, do not depend on it. Under a client of Dask
        runs go to its workers instead, see :func:`skeval.engine`.
    progress : callable, optional
        Called as ``progress(name, n_done, n_total)`` when a run is done.

    Returns
    -------
    Tournament
        `sentence` says whom to take; `ranks()`, `front()`, `to_frame()`, `costs`, and one page by
        `to_html` or `to_pdf`.

    Raises
    ------
    InvalidParameterError
        If there is no generator, the suite measures nothing to rank by, or a parameter is outside
        its legal set.

    See Also
    --------
    cross_validate_generator : One generator.
    skeval.MetricSuite.compare : Tables that are there already.

    Notes
    -----
    Generators are compared in the same folds, by the corrected resampled t-test of Nadeau and
    Bengio, all pairs together by Holm's procedure, and get ranks with the ends that the test leaves
    open. In few folds only large differences are found: that two cannot be distinguished does not
    make them equal.

    The setting of a generator with a grid is chosen in each fold by three folds of its training
    rows: of settings that break no rule of the constraint the best. Rows that score a generator
    have chosen nothing of it.

    Processes are not sandboxes: a generator can do what its user can. What it prints is dropped.
    Limits of memory are enforced on Linux. Each process uses one thread, unless
    ``OMP_NUM_THREADS`` says otherwise.

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003),
    doi:10.1023/A:1024068626366.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import CorrelationSimilarity, KSComplement
    >>> from skeval.generators import GaussianCopula, IndependentMarginals
    >>> from skeval.model_selection import tournament
    >>> suite = MetricSuite([("ks", KSComplement()), ("trends", CorrelationSimilarity())])
    >>> generators = {"copula": GaussianCopula(), "shuffled": IndependentMarginals()}
    >>> outcome = tournament(generators, make_mixed(300), suite, cv=3, by="trends")
    >>> outcome.ranks()["rank"].to_dict()
    {'copula': 1.0, 'shuffled': 2.0}
    """
    entrants = entrants_of(generators)
    measured = _suite_of(suite)
    given = {"n_draws": n_draws, "n_samples": n_samples, "level": level}
    given["random_state"] = random_state
    check_parameters("tournament", given, legal_sets(tournament))
    limits = _limits(efficiency, seconds, mib)
    constraint = _constraint(constraint, measured)
    ranked = _ranked_by(by, measured)
    rows = as_frame(table, "train")
    if isinstance(table, pd.DataFrame):
        rows = rows.set_axis(table.columns, axis="columns")
    splits = splits_of(rows, cv, groups=groups, stratify=stratify, random_state=random_state)
    together = (
        None if groups is None else pd.Series(rows[groups] if isinstance(groups, str) else groups)
    )
    field = Field(rows, measured, schema, n_samples)
    run_all = _Runner(field, _folder(folder), n_jobs, progress)
    plan = _Plan(entrants, splits, limits, n_draws, random_state)
    chosen = _settings(plan, run_all, ranked, constraint, together)
    runs = _outer(plan, chosen, run_all)
    settings = {name: own[0].settings for name, own in runs.items()}
    costs = (
        costs_of(entrants, settings, rows, limits, random_state) if efficiency else pd.DataFrame()
    )
    share = float(np.mean([len(tested) / len(learned) for learned, tested in splits]))
    return Tournament(runs, share, ranked, constraint, level, costs, _about(field, plan))


class _Plan:
    """The entrants, the folds and the seeds."""

    def __init__(
        self,
        entrants: Mapping[str, Entrant],
        splits: Sequence[Positions],
        limits: Limits,
        n_draws: int,
        random_state: int,
    ) -> None:
        self.entrants = entrants
        self.splits = splits
        self.limits = limits
        self.n_draws = n_draws
        self.random_state = random_state

    def run(
        self, name: str, settings: Mapping[str, Any], positions: Positions, place: Sequence[int]
    ) -> Run:
        """Return a run of an entrant, with seeds of its own."""
        entrant = self.entrants[name]
        seed = self.random_state if entrant.seed is None else entrant.seed
        fit_seed, *samples = seeds_of(seed, name, place, self.n_draws)
        limits = entrant.limits(self.limits)
        return Run(entrant, settings, positions, limits, fit_seed, tuple(samples))


class _Runner:
    """Runs what is left of many runs."""

    def __init__(
        self, field: Field, folder: Path | None, n_jobs: int | None, progress: Progress | None
    ) -> None:
        self.field = field
        self.folder = folder
        self.n_jobs = n_jobs
        self.progress = progress

    def __call__(self, runs: Sequence[Run]) -> list[Played]:
        return play_all(
            runs, self.field, folder=self.folder, n_jobs=self.n_jobs, progress=self.progress
        )


def _about(field: Field, plan: _Plan) -> dict[str, Any]:
    """Return what was done."""
    return {
        "skeval": version_of("skeval"),
        "n_rows": len(field.rows),
        "n_columns": field.rows.shape[1],
        "n_folds": len(plan.splits),
        "n_draws": plan.n_draws,
        "random_state": plan.random_state,
        "metrics": [name for name, _ in field.suite.all_metrics],
    }


def _limits(efficiency: bool, seconds: float | None, mib: float | None) -> Limits:
    """Return the limits of each run; refuse what is none, before anything runs."""
    if not isinstance(efficiency, bool):
        raise InvalidParameterError(
            f"tournament: efficiency must be True or False, got {efficiency!r}."
        )
    for name, limit in (("seconds", seconds), ("mib", mib)):
        check_limit("tournament", name, limit)
    return Limits(seconds, mib)


def _suite_of(suite: Metric | MetricSuite | str) -> MetricSuite:
    """Return the suite: the names of a preset, and a metric alone, make one."""
    if isinstance(suite, str):
        return make_suite(suite)
    if isinstance(suite, Metric):
        return make_suite([suite])
    if isinstance(suite, MetricSuite):
        return suite
    raise InvalidParameterError(
        "tournament: suite must be a MetricSuite, a Metric or the name of a preset, got "
        f"{type(suite).__name__}."
    )


def _aspects(suite: MetricSuite) -> set[str]:
    return {metric.tags.aspect for _, metric in suite.all_metrics}


def _constraint(constraint: Policy | None, suite: MetricSuite) -> Policy:
    if constraint is None:
        return Policy(("leak",) if "privacy" in _aspects(suite) else ())
    if not isinstance(constraint, Policy):
        raise InvalidParameterError(
            f"tournament: constraint must be a Policy, got {type(constraint).__name__}."
        )
    constraint.check_names({name: type(metric).__name__ for name, metric in suite.all_metrics})
    return constraint


def _ranked_by(by: str | None, suite: MetricSuite) -> str:
    """Return what to rank by."""
    signs = {name: metric.tags.sign for name, metric in suite.all_metrics}
    facets = [facet for facet in AXES if facet in _aspects(suite)]
    if by is None:
        learning = (n for n, metric in suite.all_metrics if metric.tags.quoted == "learning")
        order = (facet for facet in ("utility", "fidelity", "privacy", "diagnostic"))
        by = next(iter([*learning, *(facet for facet in order if facet in facets)]), None)
    known = [*facets, *(name for name, sign in signs.items() if sign)]
    if by is None or by not in known:
        raise InvalidParameterError(
            f"tournament: by must be among {', '.join(known)}, got {by!r}."
            f"{did_you_mean([str(by)], known)}"
        )
    return by


def _folder(folder: str | Path | None) -> Path | None:
    if folder is None:
        return None
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise InvalidParameterError(f"tournament: folder {path} is a file; name a folder.")
    path.mkdir(parents=True, exist_ok=True)
    return path


def _settings(
    plan: _Plan, run_all: _Runner, by: str, constraint: Policy, groups: pd.Series | None
) -> dict[tuple[str, int], dict[str, Any] | None]:
    """Return the setting of each entrant in each fold; None where none gave a result."""
    runs: list[Run] = []
    places: list[tuple[str, int, int]] = []
    for name, entrant in plan.entrants.items():
        if entrant.grid is None:
            continue
        for k, (learned, _) in enumerate(plan.splits):
            own = None if groups is None else groups.iloc[learned].tolist()
            part = run_all.field.rows.iloc[learned].reset_index(drop=True)
            inner = splits_of(
                part, INNER, groups=own, stratify=None, random_state=plan.random_state
            )
            for i, settings in enumerate(entrant.settings()):
                for j, (first, second) in enumerate(inner):
                    positions = learned[first], learned[second]
                    runs.append(plan.run(name, settings, positions, (k, j, i)))
                    places.append((name, k, i))
    tried: dict[tuple[str, int], dict[int, list[Played]]] = {}
    for (name, k, i), played in zip(places, run_all(runs) if runs else [], strict=True):
        tried.setdefault((name, k), {}).setdefault(i, []).append(played)
    chosen = {(n, k): _best(own, by, constraint) for (n, k), own in tried.items()}
    plain: dict[tuple[str, int], dict[str, Any] | None] = {
        (name, k): {}
        for name, entrant in plan.entrants.items()
        for k in range(len(plan.splits))
        if entrant.grid is None
    }
    return plain | chosen


def _best(
    tried: Mapping[int, Sequence[Played]], by: str, constraint: Policy
) -> dict[str, Any] | None:
    """Return the best of the settings that ran in all folds, of those that break no rule if any."""
    rated = []
    for i, runs in tried.items():
        results = [one for run in runs for one in run.results]
        scores = [score_of(one, by) for one in results]
        if all(run.status == "ok" for run in runs) and np.isfinite(scores).all():
            tests = replace(constraint, level=constraint.level / len(results))
            kept = sum(all(rule.passed for rule in tests.judge(one)) for one in results)
            rated.append((kept == len(results), float(np.mean(scores)), -i))
    return dict(tried[-max(rated)[2]][0].settings) if rated else None


def _outer(
    plan: _Plan, chosen: Mapping[tuple[str, int], dict[str, Any] | None], run_all: _Runner
) -> dict[str, tuple[Played, ...]]:
    """Return how the run of each entrant in each fold ended."""
    places = [(n, k) for n in plan.entrants for k in range(len(plan.splits))]
    there = [place for place in places if chosen[place] is not None]
    runs = [plan.run(n, chosen[n, k] or {}, plan.splits[k], (k,)) for n, k in there]
    played = dict(zip(there, run_all(runs), strict=True))
    nan = float("nan")
    none = Played(
        "failed", "No setting of its grid gave a result.", {}, (), Efficiency(nan, nan, nan), nan
    )
    return {
        name: tuple(played.get((name, k), none) for k in range(len(plan.splits)))
        for name in plan.entrants
    }
