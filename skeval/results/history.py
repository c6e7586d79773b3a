"""Headline numbers over releases: how they went, and which falls are more than noise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.exceptions import InvalidParameterError
from skeval.results.comparison import Comparison, ahead_of, names_together
from skeval.results.recommendation import HEADLINES, leaks
from skeval.results.rendering import Display, rendering
from skeval.results.result import Result
from skeval.results.suite_result import SCHEMA_VERSION, SuiteResult
from skeval.results.verdict import ALARM_LEVEL, aspect_of, is_quoted
from skeval.stats.intervals import independent_interval
from skeval.utils.files import plain_json, write_json
from skeval.utils.formatting import as_float, counted, did_you_mean, number, percent, shown_interval

LEVEL = ALARM_LEVEL
PREVIOUS, FIRST = "the one before", "the first"
_DECIDING = [quoted for kinds in HEADLINES.values() for quoted in kinds]
_COLUMNS = ["metric", "before", "after", "against", "difference", "low", "high", "fall", "said"]
_FALL = "worse, beyond noise"
_RISE = "better, beyond noise"


class History(Mapping[str, SuiteResult]):
    """The results of several releases in their order, and how their headline numbers changed.

    :func:`history` makes one.

    Parameters
    ----------
    results : mapping of str to SuiteResult
        By the names of the releases, the first one first.
    metrics : sequence of str
        The metrics that are followed.
    changes : DataFrame
        One row for each metric and pair of releases that were compared; see below.
    level : float
        Chance of any change that is told, at most, where all releases are alike.

    Attributes
    ----------
    changes : DataFrame
        For each metric each release against the one before it and against the first: `before`,
        `after`, `against`, `difference` (after minus before), its interval from `low` to `high`, at
        1 - `level` over all rows together, whether it is a `fall`, and what is `said` of it.

    Notes
    -----
    The interval of a difference is made of the 95% intervals of both values by the square-and-add
    method, as of independent values, and widened by Bonferroni's correction for the number of rows
    that have one: all metrics, all releases.

    A fall is a difference in the bad direction whose interval does not hold 0, to a value that is
    worse than its baseline by more than chance explains: what comes nearer to fresh real rows, from
    being closer to train, has not got worse.

    Examples
    --------
    >>> from skeval import MetricTags, Result, SuiteResult, history
    >>> tags = MetricTags("fidelity", greater_is_better=True, quoted="relations")
    >>> values = {"v1": 0.9, "v2": 0.91, "v3": 0.7}
    >>> followed = history(
    ...     {name: SuiteResult({"relations": Result(x, (x - 0.02, x + 0.02), tags=tags)})
    ...      for name, x in values.items()}
    ... )
    >>> followed.falls[["before", "after"]].to_numpy().tolist()
    [['v2', 'v3'], ['v1', 'v3']]
    """

    def __init__(
        self,
        results: Mapping[str, SuiteResult],
        metrics: Sequence[str],
        changes: pd.DataFrame,
        level: float = LEVEL,
    ) -> None:
        self._results = dict(results)
        self.metrics = list(metrics)
        self.changes = changes
        self.level = level

    def __getitem__(self, name: str) -> SuiteResult:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        rows = self.frame()["value"].to_numpy().reshape(len(self.metrics), len(self))
        values = pd.DataFrame(rows, pd.Index(self.metrics, name="metric"), list(self))
        return f"{self.sentence}\n\n{values.to_string(float_format='{:.4g}'.format, na_rep='')}"

    def _repr_html_(self) -> str:
        return rendering().html(self)

    def frame(self) -> pd.DataFrame:
        """Return one row a metric and release.

        Returns
        -------
        DataFrame
            `metric`, `release`, `date`, `value`, `low`, `high`, `baseline`, and `fall`: what it
            is worse than beyond noise, "the one before", "the first" or both.
        """
        rows = [self._row(metric, release) for metric in self.metrics for release in self]
        columns = ["metric", "release", "date", "value", "low", "high", "baseline", "fall"]
        return pd.DataFrame(rows, columns=columns)

    def _row(self, metric: str, release: str) -> tuple[Any, ...]:
        suite_result = self[release]
        result = suite_result.get(metric, Result(math.nan))
        provenance = suite_result.provenance
        date = "" if provenance is None else provenance.date
        falls = self.falls
        own = falls[(falls["metric"] == metric) & (falls["after"] == release)]
        ends = result.interval or (math.nan, math.nan)
        fall = " and ".join(own["against"])
        return metric, release, date, result.value, *ends, as_float(result.baseline), fall

    @property
    def falls(self) -> pd.DataFrame:
        """The changes to the worse that can be told from noise."""
        return self.changes[self.changes["fall"]]

    @property
    def leaking(self) -> list[str]:
        """The releases in which a leak was found."""
        return [name for name, result in self.items() if leaks(result.verdict())]

    @property
    def n_tested(self) -> int:
        """The number of differences that have an interval: what is corrected for."""
        return int(self.changes["low"].notna().sum())

    @property
    def sentence(self) -> str:
        """What became worse, and what cannot be told."""
        return " ".join(filter(None, [*self._of_falls(), *self._of_leaks(), *self._of_doubts()]))

    def _of_falls(self) -> Iterator[str]:
        names = list(self)
        over = f"{counted(len(self), 'release')}, {names[0]} to {names[-1]}"
        told = f"{counted(self.n_tested, 'comparison')} at {percent(self.level, 0)} together"
        if not self.n_tested:
            yield f"{over}: no change can be tested: no number has an interval in two of them."
        elif self.falls.empty:
            yield f"{over}: no fall can be told from noise, by {told}."
            yield "This does not show that there is none."
        else:
            yield f"{over}: worse beyond noise, by {told}:"
            yield f"{'; '.join(map(self._fell, self._told().itertuples()))}."

    def _fell(self, row: Any) -> str:
        old, new = (number(self[name][row.metric].value) for name in (row.before, row.after))
        ends = shown_interval((row.low, row.high))
        return f"{row.metric} {old} in {row.before}, {new} in {row.after} (difference {ends})"

    def _told(self) -> pd.DataFrame:
        """Return the falls that a sentence names: from release to release, else since the first."""
        falls = self.falls
        steps = falls[falls["against"] == PREVIOUS]
        slow = falls[~falls["metric"].isin(steps["metric"])]
        return pd.concat([steps, slow.drop_duplicates("metric", keep="last")])

    def _of_leaks(self) -> Iterator[str]:
        if self.leaking:
            yield f"A leak was found in {names_together(self.leaking)}."
        elif not any(result.verdict().n_tests for result in self.values()):
            yield "No test of privacy was made."

    def _of_doubts(self) -> Iterator[str]:
        tested = set(self.changes.loc[self.changes["low"].notna(), "metric"])
        if untested := [name for name in self.metrics if name not in tested]:
            yield f"Drawn but not tested, without two intervals: {', '.join(untested)}."
        yield from Comparison(self._results, self.changes).caveats()

    def plot(self, ax: Any = None) -> Display:
        """Draw each headline number over the releases, a panel each.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            The axes to draw on; a new figure if None.

        Returns
        -------
        Display
            With `ax_` and `figure_`.
        """
        return rendering().display(self).plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, the changes and the sentence as plain values."""
        return {
            "schema_version": SCHEMA_VERSION,
            "level": self.level,
            "sentence": self.sentence,
            "outcomes": {name: result.verdict().outcome for name, result in self.items()},
            "numbers": plain_json(self.frame().to_dict("records")),
            "changes": plain_json(self.changes.to_dict("records")),
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given."""
        return write_json(self.to_dict(), path)

    def to_pdf(self, path: str | Path, *, title: str = "Releases over time") -> Path:
        """Write a PDF."""
        return rendering().write(self, path, "pdf", title=title)

    def to_html(self, path: str | Path, *, title: str = "Releases over time") -> Path:
        """Write one HTML page that needs nothing else."""
        return rendering().write(self, path, "html", title=title)

    def to_png(self, path: str | Path) -> Path:
        """Write the figure of :meth:`plot` as an image."""
        return rendering().write(self, path, "png")


def history(
    results: Mapping[str, SuiteResult],
    *,
    metrics: Iterable[str] | str | None = None,
    by_date: bool = False,
    level: float = LEVEL,
) -> History:
    """Follow headline numbers over releases, and say which falls are more than noise.

    Parameters
    ----------
    results : mapping of str to SuiteResult
        By the names of the releases, two or more, in their order; of suites with metrics in common.
    metrics : iterable of str or str, optional
        The metrics to follow, or one. By default those that decide a comparison (TSTR,
        RelationScore, SimilarityScore) and those of privacy that the first page of a report shows;
        if there are none, all.
    by_date : bool, default=False
        Whether the order is that of the dates in the provenance of the results.
    level : float, default=0.05
        Chance that any change is told where all releases are alike, at most.

    Returns
    -------
    History

    Raises
    ------
    InvalidParameterError
        If there are fewer than two releases or what is given is no result, a metric is in none of
        them, `level` is not between 0 and 1, or a date is missing.

    See Also
    --------
    compare : Which of several synthetic tables to take.

    Examples
    --------
    >>> from skeval import history, make_suite
    >>> from skeval.datasets import make_mixed
    >>> train, holdout, one, two = (make_mixed(200, random_state=seed) for seed in range(4))
    >>> suite = make_suite("fidelity").fit(train, holdout)
    >>> followed = history({"v1": suite.evaluate(one), "v2": suite.evaluate(two)})
    >>> followed.metrics, len(followed.falls)
    (['similarity', 'relations'], 0)
    """
    _check(results, level)
    ordered = _by_date(results) if by_date else dict(results)
    followed = _followed(ordered, metrics)
    return History(ordered, followed, _changes(ordered, followed, level), level)


def _check(results: Any, level: Any) -> None:
    are_results = isinstance(results, Mapping) and all(
        isinstance(one, SuiteResult) for one in results.values()
    )
    if not are_results:
        raise InvalidParameterError(
            "history: results must map names of releases to SuiteResult, as suite.evaluate gives; "
            f"got {type(results).__name__}."
        )
    if len(results) < 2:
        raise InvalidParameterError(
            f"history: two releases or more are needed, got {len(results)}."
        )
    if not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise InvalidParameterError(f"history: level must be between 0 and 1, got {level}.")


def _by_date(results: Mapping[str, SuiteResult]) -> dict[str, SuiteResult]:
    dates = {n: r.provenance.date if r.provenance is not None else "" for n, r in results.items()}
    if undated := [name for name, date in dates.items() if not date]:
        raise InvalidParameterError(
            f"history: no date is known of {', '.join(undated)}; give the releases in their order."
        )
    return {name: results[name] for name in sorted(results, key=lambda name: dates[name])}


def _followed(results: Mapping[str, SuiteResult], metrics: Iterable[str] | str | None) -> list[str]:
    known = {name: one for result in results.values() for name, one in result.items()}
    if metrics is not None:
        asked = list(dict.fromkeys([metrics] if isinstance(metrics, str) else metrics))
        if unknown := [name for name in asked if name not in known]:
            raise InvalidParameterError(
                f"history: no release has {', '.join(unknown)}.{did_you_mean(unknown, known)}"
            )
        return asked
    directed = [name for name, one in known.items() if one.tags is not None and one.tags.sign]
    headline = [name for name in directed if _is_headline(known[name])]
    return headline or directed or list(known)


def _is_headline(result: Result) -> bool:
    tags = result.tags
    decides = any(is_quoted(result, quoted) for quoted in _DECIDING)
    tested = aspect_of(result) == "privacy" and result.interval is not None
    return decides or (tested and tags is not None and tags.headline > 0)


def _changes(
    results: Mapping[str, SuiteResult], metrics: Sequence[str], level: float
) -> pd.DataFrame:
    """Return all changes with intervals that hold together."""
    rows = [(name, *pair) for name in metrics for pair in _pairs(name, results)]
    n_tested = sum(_interval(results, *row[:3], 0.95) is not None for row in rows)
    confidence = 1.0 - level / max(1, n_tested)
    changes = [_change(results, *row, confidence) for row in rows]
    kinds = {"fall": bool, **dict.fromkeys(("difference", "low", "high"), float)}
    return pd.DataFrame(changes, columns=_COLUMNS).astype(kinds)


def _pairs(metric: str, results: Mapping[str, SuiteResult]) -> Iterator[tuple[str, str, str]]:
    """Yield each release that has the metric after the one before it, and after the first."""
    there = [n for n, r in results.items() if metric in r and not math.isnan(r[metric].value)]
    for i, after in enumerate(there[1:], start=1):
        yield there[i - 1], after, PREVIOUS
        if i > 1:
            yield there[0], after, FIRST


def _interval(
    results: Mapping[str, SuiteResult], metric: str, before: str, after: str, confidence: float
) -> tuple[float, float] | None:
    old, new = results[before][metric], results[after][metric]
    return independent_interval(new.value, new.interval, old.value, old.interval, confidence)


def _change(
    results: Mapping[str, SuiteResult],
    metric: str,
    before: str,
    after: str,
    against: str,
    confidence: float,
) -> tuple[Any, ...]:
    old, new = results[before][metric], results[after][metric]
    low, high = _interval(results, metric, before, after, confidence) or (math.nan, math.nan)
    better, said = ahead_of(new, old, (after, before), low, high)
    if better:
        said = _FALL if better == before else _RISE
    difference = new.value - old.value
    return metric, before, after, against, difference, low, high, better == before, said
