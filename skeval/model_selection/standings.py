"""The outcome of a tournament: runs, ranks with their uncertainty, the front, whom to take."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.model_selection.cross_validation import Efficiency, bounds_of
from skeval.model_selection.runs import Played
from skeval.model_selection.selection import pareto_front, signed
from skeval.results.overall import OverallScore
from skeval.results.policy import Policy, RuleOutcome
from skeval.results.rendering import rendering
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.stats.folds import Ranks, fold_mean, ranks_of
from skeval.utils.files import FOREIGN, foreign_text, plain_json, without_controls, write_json
from skeval.utils.formatting import as_float, counted, names_in_words, number

MOST_NAMED = 4  # generators that a sentence names
VERSION = 1  # of the JSON
AXES = ("fidelity", "utility", "privacy", "diagnostic")
_COSTS = ("fit_seconds", "sample_seconds", "peak_mib")
_ENDS = ("", "_low", "_high")
_ENDED = {
    "failed": "failed",
    "timeout": "took too long",
    "memory": "took too much memory",
    "crashed": "crashed",
}


class Advice(Enum):
    """What a tournament comes to."""

    TAKE = "take one"
    TIED = "cannot be distinguished"
    NONE = "none meets the constraint"
    NO_RESULT = "none ran in each fold"


@dataclass(frozen=True)
class Choice:
    """Whom to take, and why not the others.

    Attributes
    ----------
    advice : Advice
    generators : tuple of str
        That to take, or those that cannot be distinguished, the best mean first.
    broken : dict of str to tuple of RuleOutcome
        The rules of the constraint that each of the others breaks.
    incomplete : tuple of str
        Those without a result in some fold.
    """

    advice: Advice
    generators: tuple[str, ...] = ()
    broken: Mapping[str, tuple[RuleOutcome, ...]] = field(default_factory=dict)
    incomplete: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tournament:
    """Which generator for a table: the outcome of :func:`tournament`.

    Attributes
    ----------
    runs : dict of str to tuple of Played
        By generator, one a fold: how the run ended, and its results.
    test_share : float
        Rows tested on for each row learned from.
    by : str
        What generators are ranked by: a facet, or a metric of the suite.
    constraint : Policy
        What a generator must meet to be recommended.
    level : float
        Chance of any false difference of ranks.
    costs : DataFrame
        Seconds and memory by rows and by columns, if they were asked for.
    about : dict of str to object
        What was done: versions, numbers of rows, folds and draws, the seed.

    See Also
    --------
    tournament : It returns this.

    Examples
    --------
    See :func:`tournament`.
    """

    runs: Mapping[str, tuple[Played, ...]]
    test_share: float
    by: str
    constraint: Policy
    level: float = 0.05
    costs: pd.DataFrame = field(default_factory=pd.DataFrame)
    about: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        ranks = self.ranks().to_string(float_format="{:.4g}".format, na_rep="")
        return f"{self.sentence}\n\n{ranks}"

    def to_frame(self) -> pd.DataFrame:
        """Return one row a generator, fold and draw; a run that failed has a row too.

        Returns
        -------
        DataFrame
            `generator`, `fold`, `draw`, `status`, `reason`, `settings`, the score that is ranked,
            those of the facets, the values of the metrics, `fit_seconds`, `sample_seconds`,
            `peak_mib` and `seconds` of fit, sample and evaluation together.
        """
        rows = [
            {
                "generator": name,
                "fold": k,
                "draw": draw,
                "status": run.status,
                "reason": run.reason,
                "settings": ", ".join(f"{n}={v!r}" for n, v in run.settings.items()),
                **self._row(result),
                **asdict(run.efficiency),
                "seconds": run.seconds,
            }
            for name, runs in self.runs.items()
            for k, run in enumerate(runs)
            for draw, result in enumerate(run.results or (None,))
        ]
        return pd.DataFrame(rows)

    def _row(self, result: SuiteResult | None) -> dict[str, float]:
        if result is None:
            return {"score": math.nan}
        values = {metric: one.value for metric, one in result.items()}
        return {"score": score_of(result, self.by), **facets_of(result), **values}

    @cached_property
    def _scores(self) -> dict[str, pd.DataFrame]:
        """The scores of each generator: one row a fold, means over draws."""
        return {
            name: pd.DataFrame([self._fold(run) for run in runs])
            for name, runs in self.runs.items()
        }

    def _fold(self, run: Played) -> dict[str, float]:
        if not run.results:
            return dict.fromkeys(("score", *AXES), math.nan)
        rows = [{"score": score_of(one, self.by), **facets_of(one)} for one in run.results]
        return dict(pd.DataFrame(rows).mean())

    @property
    def complete(self) -> list[str]:
        """The generators with a score in each fold: those that have a rank."""
        return [n for n, scores in self._scores.items() if scores["score"].notna().all()]

    def _ranked(self, names: Sequence[str]) -> Ranks:
        scores = np.array([self._scores[name]["score"].to_numpy(float) for name in names])
        return ranks_of(scores, self.test_share, self.level)

    @cached_property
    def ties(self) -> dict[str, list[str]]:
        """Those that each generator with a rank cannot be distinguished from."""
        names = self.complete
        if not names:
            return {}
        same = self._ranked(names).p_value > self.level
        return {
            name: [other for k, other in enumerate(names) if same[i, k] and k != i]
            for i, name in enumerate(names)
        }

    def ties_in_words(self, name: str) -> str:
        """Name a few of those that a generator cannot be distinguished from, and count the rest."""
        tied = self.ties.get(name, [])
        every = len(tied) > 1 and len(tied) == len(self.complete) - 1
        return "all others" if every else names_in_words(tied, MOST_NAMED - 1)

    def ranks(self) -> pd.DataFrame:
        """Return the ranks, the best first, and how sure they are.

        Returns
        -------
        DataFrame
            By generator: `rank` by the mean over folds; the ends `low` and `high` of the ranks that
            folds and draws leave open, for all generators together; `mean_rank` over folds;
            `score`, with `score_low` and `score_high` the interval of its mean; `ties`, the
            generators that it cannot be distinguished from; `n_ok` runs with a result, and
            `failures`. Those without a result in some fold have no rank, and come last.
        """
        names = self.complete
        rows: dict[str, dict[str, Any]] = {}
        if names:
            found = self._ranked(names)
            for i, name in enumerate(names):
                rows[name] = {
                    "rank": found.rank[i],
                    "low": found.low[i],
                    "high": found.high[i],
                    "mean_rank": found.mean_rank[i],
                    **self._mean(name),
                    "ties": ", ".join(self.ties[name]),
                }
        for name in self.runs:
            row = rows.setdefault(name, {**self._mean(name), "ties": ""})
            row["n_ok"] = sum(run.status == "ok" for run in self.runs[name])
            row["failures"] = _failures(self.runs[name])
        columns = ["rank", "low", "high", "mean_rank", "score", "score_low", "score_high"]
        frame = pd.DataFrame.from_dict(rows, orient="index").reindex(
            columns=[*columns, "ties", "n_ok", "failures"]
        )
        return frame.sort_values("rank", kind="stable").rename_axis("generator")

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """The ends of the scale of what is ranked."""
        results = [one for own in self.runs.values() for run in own for one in run.results]
        if self.by in AXES or not results:
            return 0.0, 1.0
        metric = next((one[self.by] for one in results if self.by in one), None)
        if metric is None or metric.tags is None:
            return -math.inf, math.inf
        low, high = metric.tags.bounds
        return (low, high) if metric.tags.sign > 0 else (-high, -low)

    def _mean(self, name: str, what: str = "score") -> dict[str, float]:
        bounds = (0.0, 1.0) if what in AXES else self._bounds
        mean = fold_mean(self._scores[name][what].to_numpy(float), self.test_share, bounds=bounds)
        return {what: mean["mean"], f"{what}_low": mean["low"], f"{what}_high": mean["high"]}

    @property
    def axes(self) -> tuple[str, str] | None:
        """What the front is of: what is ranked, or else a facet, and privacy; None without both."""
        known = [a for a in AXES if any(s[a].notna().any() for s in self._scores.values())]
        facets = [facet for facet in ("utility", "fidelity") if facet in known]
        first = self.by if self.by not in ("privacy", "diagnostic") else next(iter(facets), None)
        return (first, "privacy") if first and "privacy" in known else None

    def front(self) -> pd.DataFrame:
        """Return what is ranked, and privacy, of each generator, and who is on the front.

        Returns
        -------
        DataFrame
            By generator: mean and interval (`low`, `high`) over folds of what is ranked and of the
            privacy score, from 0 to 1, as fresh real rows; and `on_front`: no other is better in
            both by more than the intervals.

        Raises
        ------
        InvalidParameterError
            If the suite has metrics of one facet only.
        """
        if (axes := self.axes) is None:
            raise InvalidParameterError(
                "Tournament.front: it needs metrics of privacy, and of utility or fidelity; the "
                "suite lacks one of them."
            )
        rows = {name: self._point(name, axes) for name in self.runs}
        frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("generator")
        low, high = self.ends(frame)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MetricWarning)
            return frame.assign(on_front=pareto_front(frame, axes, low=low, high=high))

    def _point(self, name: str, axes: tuple[str, str]) -> dict[str, float]:
        first = self._mean(name, axes[0] if axes[0] in AXES else "score")
        named = {f"{axes[0]}{end}": first[key] for end, key in zip(_ENDS, first, strict=True)}
        return {**named, **self._mean(name, axes[1])}

    def ends(self, front: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the ends of the intervals of the front, in the form of its means."""
        axes = list(self.axes or ())
        low, high = (
            front[[f"{axis}{end}" for axis in axes]].set_axis(axes, axis="columns")
            for end in _ENDS[1:]
        )
        return low, high

    def outcomes(self, name: str) -> list[RuleOutcome]:
        """Return of each rule of the constraint whether a generator meets it.

        What is tested in each run is tested at the level divided by the number of runs, so that a
        generator without a leak is accused in any of them at the level; what is required is
        required of the means over folds.
        """
        results = [one for run in self.runs[name] for one in run.results]
        if not results:
            return []
        share = self.constraint.level / len(results)
        tests = replace(self.constraint, require=(), level=share)
        judged = [tests.judge(result) for result in results]
        found = [_worst(rules) for rules in zip(*judged, strict=True)]
        mean = self._mean_result(name)
        required = (one.judge(mean) for one in self.constraint.requirements)
        return [*found, *(replace(one, reason=f"on average ({one.reason})") for one in required)]

    def _mean_result(self, name: str) -> SuiteResult:
        """Return the results of a generator as one: means over folds, with their intervals."""
        folds = [run.results for run in self.runs[name] if run.results]
        means = {}
        for metric, one in folds[0][0].items():
            own = [[draw[metric] for draw in fold] for fold in folds]
            values = np.array([np.mean([r.value for r in fold]) for fold in own])
            baselines = [as_float(r.baseline) for fold in own for r in fold]
            every = [r for fold in own for r in fold]
            mean = fold_mean(values, self.test_share, bounds=bounds_of(every))
            means[metric] = Result(
                mean["mean"],
                (mean["low"], mean["high"]),
                baseline=float(np.mean(baselines)),
                tags=one.tags,
                metric=one.metric,
                error=next((r.error for r in every if r.error), ""),
            )
        return SuiteResult(means)

    @cached_property
    def choice(self) -> Choice:
        """Whom to take under the constraint: the best mean of those that meet it, and its ties."""
        names = self.complete
        incomplete = tuple(name for name in self.runs if name not in names)
        judged = {name: self.outcomes(name) for name in names}
        broken = {n: tuple(o for o in rules if not o.passed) for n, rules in judged.items()}
        broken = {name: rules for name, rules in broken.items() if rules}
        good = [name for name in names if name not in broken]
        if not names:
            return Choice(Advice.NO_RESULT, incomplete=incomplete)
        if not good:
            return Choice(Advice.NONE, broken=broken, incomplete=incomplete)
        found = self._ranked(good)
        order = sorted(range(len(good)), key=lambda i: found.rank[i])
        taken = tuple(good[i] for i in order if found.p_value[order[0], i] > self.level)
        advice = Advice.TAKE if len(taken) == 1 else Advice.TIED
        return Choice(advice, taken, broken, incomplete)

    @property
    def sentence(self) -> str:
        """Whom to take, in words, or that none meets the constraint."""
        choice = self.choice
        said = [_advised(self), *_broke_rules(choice.broken), *_had_no_result(self)]
        if any(rule in self.constraint.fail_on for rule in ("leak", "alarm")) and choice.generators:
            said.append("That no leak was found does not show that there is none.")
        return " ".join(filter(None, said))

    def plot(self, ax: Any = None) -> Any:
        """Draw the ranks with the ends that folds and draws leave open.

        Parameters
        ----------
        ax : Axes, optional
            The axes to draw on; a new figure if None.

        Returns
        -------
        RanksDisplay
            With `ax_` and `figure_`.
        """
        from skeval.reporting.displays.ranks import RanksDisplay

        return RanksDisplay(self.ranks()).plot(ax)

    def page(self, title: str = "Which generator", *, figure: Any = None) -> Any:
        """Draw the page that :meth:`to_pdf` writes.

        Parameters
        ----------
        title : str, default="Which generator"
            Above it.
        figure : Figure, optional
            To draw on, as ``plt.figure()``; a new one otherwise.

        Returns
        -------
        Figure
            A figure of the size of the paper.
        """
        from skeval.model_selection.tournament_page import tournament_plan

        return rendering().page(tournament_plan(self), title, figure)

    def to_pdf(self, path: str | Path, *, title: str = "Which generator") -> Path:
        """Write one page: the recommendation, ranks, the front and what it costs."""
        from skeval.model_selection.tournament_page import tournament_plan

        return rendering().write(tournament_plan(self), path, "pdf", title=title)

    def to_html(self, path: str | Path, *, title: str = "Which generator") -> Path:
        """Write one HTML page that needs nothing else."""
        from skeval.model_selection.tournament_page import tournament_plan

        return rendering().write(tournament_plan(self), path, "html", title=title)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, dicts, strings and numbers."""
        runs = {
            name: [
                {**asdict(replace(run, results=())), "results": [r.to_dict() for r in run.results]}
                for run in own
            ]
            for name, own in self.runs.items()
        }
        rules = {name: list(getattr(self.constraint, name)) for name in ("fail_on", "require")}
        content: dict[str, Any] = plain_json(
            {
                "tournament_version": VERSION,
                "by": self.by,
                "level": self.level,
                "test_share": self.test_share,
                "constraint": {**rules, "level": self.constraint.level},
                "about": dict(self.about),
                "runs": runs,
                "costs": self.costs.to_dict("records"),
            }
        )
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Tournament:
        """Rebuild a tournament from what :meth:`to_dict` gave."""
        runs = {str(n): tuple(map(_rebuilt, own)) for n, own in content["runs"].items()}
        policy = content["constraint"]
        constraint = Policy(tuple(policy["fail_on"]), tuple(policy["require"]), policy["level"])
        numbers = (as_float(content[name]) for name in ("test_share", "level"))
        share, level = numbers
        costs = pd.DataFrame(content["costs"])
        return cls(runs, share, str(content["by"]), constraint, level, costs, content["about"])

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given; it holds results and no row."""
        return write_json(self.to_dict(), path)

    @classmethod
    def from_json(cls, path: str | Path) -> Tournament:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        InvalidParameterError
            If the file holds no tournament, or that of another version.
        """
        text = foreign_text(path)
        try:
            content = without_controls(json.loads(text))
            if content["tournament_version"] == VERSION:
                return cls.from_dict(content)
        except FOREIGN as error:
            raise InvalidParameterError(
                f"{path} holds no tournament that Tournament.to_json wrote."
            ) from error
        raise InvalidParameterError(f"{path} is of another version of tournaments.")


def _rebuilt(content: Mapping[str, Any]) -> Played:
    cost = Efficiency(*(as_float(content["efficiency"][name]) for name in _COSTS))
    return Played(
        content["status"],
        str(content["reason"]),
        content["settings"],
        tuple(SuiteResult.from_dict(one) for one in content["results"]),
        cost,
        as_float(content["seconds"]),
    )


def facets_of(result: SuiteResult) -> dict[str, float]:
    """Return the score of each facet, from 0 to 1; nan where no metric counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)  # that bounds count where no baseline is
        scores = OverallScore().score(result)
    return {axis: float(scores[axis]) for axis in AXES}


def score_of(result: SuiteResult, by: str) -> float:
    """Return what is ranked, so that more is better."""
    if by in AXES:
        return facets_of(result)[by]
    return signed(result[by]) if by in result and not result[by].error else math.nan


def _worst(rules: Sequence[RuleOutcome]) -> RuleOutcome:
    """Return the outcome of a rule over runs: the first that breaks it, and how many do."""
    broken = [rule for rule in rules if not rule.passed]
    if not broken:
        return rules[0]
    where = f"in {len(broken)} of {len(rules)} tables"
    return replace(broken[0], reason=f"{where} ({broken[0].reason.rstrip('.')})")


def _failures(runs: Sequence[Played]) -> str:
    """Say how often runs ended without a result, and the first reason."""
    ended = [run for run in runs if run.status != "ok"]
    if not ended:
        return ""
    kinds = dict.fromkeys(_ENDED[run.status] for run in ended)
    said = ", ".join(f"{kind} in {_count(ended, kind)} of {len(runs)} folds" for kind in kinds)
    return f"{said}: {ended[0].reason.partition(' What it says')[0].rstrip('.')}"


def _count(runs: Sequence[Played], kind: str) -> int:
    return sum(_ENDED[run.status] == kind for run in runs)


def _broke_rules(broken: Mapping[str, Sequence[RuleOutcome]]) -> list[str]:
    """Say which generators break which rules; of many together, why is in the table."""
    if len(broken) <= MOST_NAMED:
        return [_broke(name, rules) for name, rules in broken.items()]
    names: dict[str, list[str]] = {}
    for name, rules in broken.items():
        names.setdefault("; ".join(f'"{one.rule}" does not hold' for one in rules), []).append(name)
    return [f"Not {names_in_words(own, MOST_NAMED)}: {why}." for why, own in names.items()]


def _broke(name: str, rules: Sequence[RuleOutcome]) -> str:
    """Say which rules of the constraint a generator breaks, and why."""
    why = "; ".join(f'"{one.rule}" does not hold {one.reason}' for one in rules)
    return f"Not {name}: {why}."


def _had_no_result(of: Tournament) -> list[str]:
    names = of.choice.incomplete
    if len(names) > MOST_NAMED:
        return [f"{names_in_words(names, MOST_NAMED)} had no result in some fold."]
    return [f"{name} {_failures(of.runs[name])}." for name in names]


def _advised(of: Tournament) -> str:
    choice, n = of.choice, len(of.runs)
    if choice.advice is Advice.NO_RESULT:
        return "Take none: no generator had a result in each fold."
    if choice.advice is Advice.NONE:
        return f"Take none: none of {counted(n, 'generator')} meets the constraint."
    mean = of._mean(choice.generators[0])
    shown = f"{number(mean['score'])}, {number(mean['score_low'])} to {number(mean['score_high'])}"
    if choice.advice is Advice.TAKE:
        left = len(of.complete) - len(choice.broken)
        among = f"the best by {of.by} ({shown})" if left > 1 else f"the one left, {of.by} {shown}"
        return f"Take {choice.generators[0]}: {among}."
    quick = min(choice.generators, key=lambda name: _seconds(of.runs[name]))
    return (
        f"{names_in_words(choice.generators, MOST_NAMED)} cannot be distinguished by {of.by} "
        f"({choice.generators[0]}: {shown}): take any of them, or measure more folds or draws. "
        f"{quick} is the quickest to fit and sample."
    )


def _seconds(runs: Sequence[Played]) -> float:
    costs = [run.efficiency.fit_seconds + run.efficiency.sample_seconds for run in runs]
    return float(np.mean(costs))
