"""Comparison of several generators by cross-validation on the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Memory

from skeval.core.base import Metric
from skeval.exceptions import GeneratorFailedError, InvalidParameterError
from skeval.model_selection.cross_validation import (
    CrossValidated,
    bounds_of,
    cross_validate_generator,
)
from skeval.model_selection.scorers import signed_value
from skeval.results.policy import Policy
from skeval.results.requirement import RuleOutcome
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.stats.folds import fold_mean
from skeval.stats.ranks import Ranks, ranks_of
from skeval.suites.ready import make_suite
from skeval.suites.suite import MetricSuite
from skeval.utils.formatting import as_float, did_you_mean, format_count, names_in_words, number
from skeval.utils.parameters import Fraction, Seed, check_parameters, legal_sets

Standing = Literal["meets", "breaks", "inconclusive", "failed"]


@dataclass(frozen=True)
class Tournament:
    """Result of a comparison of generators that were cross-validated on the same folds.

    Attributes
    ----------
    runs : mapping of str to CrossValidated
        The results of each generator that could be fitted and sampled in each fold.
    by : str
        The metric that ranks the generators.
    constraint : Policy
        Requirements for a recommendation.
    failures : mapping of str to str
        The error message of each generator that failed, by its name.
    level : float
        Probability of at least one false difference between generators.

    See Also
    --------
    tournament : Returns this object.
    pareto_front, aspect_table : Compare `runs` by several aspects.

    Examples
    --------
    See :func:`tournament`.
    """

    runs: Mapping[str, CrossValidated]
    by: str
    constraint: Policy
    failures: Mapping[str, str] = field(default_factory=dict)
    level: float = 0.05

    def scores(self) -> pd.DataFrame:
        """Return the score of each generator in each fold, oriented so that higher is better.

        Returns
        -------
        DataFrame
            One row per fold and one column per generator. If lower values of the metric are better,
            the values are negated.
        """
        scores = {
            n: [signed_value(r[self.by]) for r in run.results] for n, run in self.runs.items()
        }
        return pd.DataFrame(scores, dtype=float).rename_axis("fold")

    def frame(self) -> pd.DataFrame:
        """Return ranks, scores, and whether each generator meets the constraint.

        Returns
        -------
        DataFrame
            One row per generator, the best first. `rank` is 1 for the best generator, and `low` and
            `high` are the ends of a confidence set of the rank. `score` is the mean score and
            `score_low` to `score_high` its interval. `constraint` is "meets", "breaks",
            "inconclusive" (for example because no privacy test was possible) or "failed", and
            `reason` explains it.
        """
        columns = ["rank", "low", "high", "score", "score_low", "score_high"]
        frame = pd.DataFrame(index=[*self.runs, *self.failures], columns=columns, dtype=float)
        if self.runs:
            scores = self.scores()
            ranks = self._ranks(scores)
            means = [self._mean(scores, name) for name in scores]
            numbers = [[mean["mean"], mean["low"], mean["high"]] for mean in means]
            frame.loc[[*self.runs]] = np.column_stack([ranks.rank, ranks.low, ranks.high, numbers])
        frame = frame.assign(
            constraint=[self.standing(name) for name in frame.index],
            reason=[self._reason(name) for name in frame.index],
        )
        return frame.sort_values("rank", kind="stable").rename_axis("generator")

    def standing(self, name: str) -> Standing:
        """Return whether a generator meets the constraint.

        Parameters
        ----------
        name : str
            Name of the generator.

        Returns
        -------
        {"meets", "breaks", "inconclusive", "failed"}
        """
        if name in self.failures:
            return "failed"
        violated = self._violations[name]
        if not violated:
            return "meets"
        return "breaks" if any(rule.is_decided for rule in violated) else "inconclusive"

    def choice(self) -> list[str]:
        """Return the best generator that meets the constraint, and those that may be equally good.

        Returns
        -------
        list of str
            Names, the best first. The list is empty if no generator meets the constraint.
        """
        names = [name for name in self.runs if self.standing(name) == "meets"]
        scores = self.scores()[names]
        if scores.empty:
            return []
        ranks = self._ranks(scores)
        order = np.argsort(ranks.rank, kind="stable")
        return [names[i] for i in order if ranks.p_value[order[0], i] > self.level]

    @property
    def sentence(self) -> str:
        """Recommendation of a generator, with the reasons against the others."""
        chosen, every = self.choice(), [*self.runs, *self.failures]
        said = [self._advice(chosen, len(every))]
        for name in every:
            if name not in chosen and (reason := self._reason(name)):
                begin = {"breaks": "Not ", "failed": ""}.get(self.standing(name), "Inconclusive: ")
                said.append(f"{begin}{name}: {reason}.")
        if chosen and {"leak", "alarm"} & set(self.constraint.fail_on):
            said.append("That no leak was found does not show that there is none.")
        return " ".join(said)

    def plot(self, ax: Any = None) -> Any:
        """Draw the ranks with their confidence sets.

        Parameters
        ----------
        ax : Axes, optional
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        RanksDisplay
            With `ax_` and `figure_`.
        """
        from skeval.reporting.displays.ranks import (
            RanksDisplay,
        )  # imported late, because figures are a higher layer

        return RanksDisplay(self.frame()).plot(ax)

    @cached_property
    def _violations(self) -> dict[str, list[RuleOutcome]]:
        return {name: self._violated_by(run) for name, run in self.runs.items()}

    def _violated_by(self, run: CrossValidated) -> list[RuleOutcome]:
        """Return the rules that a generator violates."""
        # Each fold is tested for leaks at the level divided by the number of folds, so that a
        # generator without a leak fails any test with at most the probability of the level.
        # Requirements apply to the means over folds.
        n_folds = len(run.results)
        tests = replace(self.constraint, require=(), level=self.constraint.level / n_folds)
        violated: list[RuleOutcome] = []
        for rules in zip(*map(tests.judge, run.results), strict=True):
            broken = sorted((r for r in rules if not r.passed), key=lambda r: not r.is_decided)
            if broken:
                where = f"in {len(broken)} of {format_count(n_folds, 'fold')}"
                violated.append(replace(broken[0], reason=f"{where}, {broken[0].reason}"))
        means = _mean_results(run, self._share)
        required = [requirement.judge(means) for requirement in self.constraint.requirements]
        return [*violated, *(rule for rule in required if not rule.passed)]

    def _reason(self, name: str) -> str:
        if name in self.failures:
            return self.failures[name].rstrip(".")
        violated = self._violations[name]
        return "; ".join(f'"{r.rule}" is not met: {r.reason.rstrip(".")}' for r in violated)

    def _advice(self, chosen: Sequence[str], n_generators: int) -> str:
        if not chosen:
            generators = format_count(n_generators, "generator")
            return f"No generator is recommended: none of {generators} meets the constraint."
        mean = self._mean(self.scores(), chosen[0])
        shown = f"{self.by} {number(mean['mean'])}, {number(mean['low'])} to {number(mean['high'])}"
        if len(chosen) == 1:
            return f"Recommended generator: {chosen[0]} ({shown})."
        return (
            f"{names_in_words(chosen)} cannot be distinguished by {self.by} ({chosen[0]}: {shown})"
            ". Choose any of them, or use more folds."
        )

    @property
    def _share(self) -> float:
        return float(np.mean([run.test_shares for run in self.runs.values()]))

    def _ranks(self, scores: pd.DataFrame) -> Ranks:
        return ranks_of(scores.to_numpy().T, self._share, self.level)

    def _mean(self, scores: pd.DataFrame, name: str) -> dict[str, float]:
        results = [result[self.by] for result in self.runs[name].results]
        low, high = bounds_of(results)
        bounds = (low, high) if signed_value(replace(results[0], value=1.0)) > 0 else (-high, -low)
        return fold_mean(scores[name].to_numpy(), self._share, bounds=bounds)


def tournament(
    generators: Mapping[str, Any],
    table: Any,
    suite: Metric | MetricSuite | str = "report",
    *,
    by: str,
    constraint: Policy | None = None,
    level: Fraction = 0.05,
    cv: Any = 5,
    n_samples: int | None = None,
    schema: Any = None,
    groups: str | Sequence[Any] | None = None,
    stratify: str | Sequence[Any] | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    memory: str | Path | Memory | None = None,
) -> Tournament:
    """Rank generators by cross-validation on the same folds, and recommend one.

    Parameters
    ----------
    generators : mapping of str to generator
        Generators as in :func:`cross_validate_generator`, by name. A search over settings is also a
        generator, for example ``GridSearchCV(GeneratorAdapter(...), ..., refit=True)``. Its
        settings are chosen on the training rows of each fold.
    table : table of shape (n_rows, n_columns)
        Real data as a pandas, polars or pyarrow table.
    suite : MetricSuite, Metric or str, default="report"
        Suite that evaluates each fold, or the name of a preset of :func:`skeval.make_suite`.
    by : str
        The metric of the suite that ranks the generators.
    constraint : Policy, optional
        Requirements for a recommendation. By default, a generator is recommended only if no leak is
        found (if the suite contains privacy metrics). Leaks are tested in each fold. Requirements
        apply to the means over folds.
    level : float, default=0.05
        Significance level of all comparisons together.
    cv, n_samples, schema, groups, stratify, random_state, n_jobs, memory
        As in :func:`cross_validate_generator`.

    Returns
    -------
    Tournament
        `sentence` contains the recommendation, `frame()` returns ranks and reasons, and `runs`
        contains the results of each generator.

    Raises
    ------
    InvalidParameterError
        If `generators` is empty, if `by` is not a metric of the suite, or if a parameter is
        invalid.

    See Also
    --------
    cross_validate_generator : Evaluates one generator.
    skeval.MetricSuite.compare : Compares existing synthetic tables.

    Notes
    -----
    Differences between generators are tested in the same folds with the corrected resampled t-test
    of Nadeau and Bengio. Holm's procedure corrects for the number of pairs. A few folds reveal only
    large differences, so generators that cannot be distinguished are not necessarily equal. The
    scores of the best generator are optimistic, because it was chosen by these scores.

    If a generator fails in any fold, its row of `frame()` contains the reason. Neither time nor
    memory is limited.

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
    >>> outcome.frame()["rank"].to_dict()
    {'copula': 1.0, 'shuffled': 2.0}
    """
    if not isinstance(generators, Mapping) or not generators:
        raise InvalidParameterError(
            "tournament: generators must be a mapping of names to generators, such as {'copula': "
            f"GaussianCopula()}}, got {generators!r:.100}."
        )
    measured = _as_suite(suite)
    check_parameters("tournament", {"level": level}, legal_sets(tournament))
    constraint = _constraint(constraint, measured)
    ranking = [name for name, metric in measured.all_metrics if metric.tags.sign]
    if by not in ranking:
        raise InvalidParameterError(
            f"tournament: by must be among {', '.join(ranking)}, got {by!r}."
            f"{did_you_mean([str(by)], ranking)}"
        )
    settings = {"cv": cv, "n_samples": n_samples, "schema": schema, "groups": groups}
    settings |= {"stratify": stratify, "random_state": random_state, "n_jobs": n_jobs}
    runs, failures = {}, {}
    for name, generator in generators.items():
        try:
            run = cross_validate_generator(generator, table, measured, memory=memory, **settings)
        except GeneratorFailedError as error:
            failures[name] = str(error)
            continue
        if missing := [k for k, result in enumerate(run.results) if np.isnan(result[by].value)]:
            failures[name] = f"{by} has no value in fold {missing[0]}"
        else:
            runs[name] = run
    return Tournament(runs, by, constraint, failures, level)


def _as_suite(suite: Metric | MetricSuite | str) -> MetricSuite:
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


def _constraint(constraint: Policy | None, suite: MetricSuite) -> Policy:
    if constraint is None:
        aspects = {metric.tags.aspect for _, metric in suite.all_metrics}
        return Policy(("leak",) if "privacy" in aspects else ())
    if not isinstance(constraint, Policy):
        raise InvalidParameterError(
            f"tournament: constraint must be a Policy, got {type(constraint).__name__}."
        )
    constraint.check_names({name: type(metric).__name__ for name, metric in suite.all_metrics})
    return constraint


def _mean_results(run: CrossValidated, test_share: float) -> SuiteResult:
    """Return the means over folds, with their intervals, as results that a policy can judge."""
    means = {}
    for name, one in run.results[0].items():
        own = [result[name] for result in run.results]
        values = np.array([result.value for result in own])
        mean = fold_mean(values, test_share, bounds=bounds_of(own))
        means[name] = Result(
            mean["mean"],
            (mean["low"], mean["high"]),
            baseline=float(np.mean([as_float(result.baseline) for result in own])),
            tags=one.tags,
            metric=one.metric,
            error=next((result.error for result in own if result.error), ""),
        )
    return SuiteResult(means)
