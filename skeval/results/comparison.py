"""Comparison of several synthetic tables that were evaluated with the same suite."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.results.overall import OverallScore
from skeval.results.recommendation import (
    Conclusion,
    Difference,
    Lead,
    Mismatch,
    Recommendation,
    Shortfall,
    Violation,
    leads,
    leaks,
    mismatches,
    recommendation,
    weaknesses,
)
from skeval.results.rendering import Display, read_attached_results, rendering
from skeval.results.result import Result
from skeval.results.serialization import (
    SCHEMA_VERSION,
    details_of,
    read_json_of_results,
    write_json,
)
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import ALARM_LEVEL, aspect_of
from skeval.stats.intervals import Ends
from skeval.stats.table_differences import Sampled, independent_interval, paired_interval
from skeval.utils.formatting import as_float, join_names, number, percent, shown_interval

LEVEL = 0.95
_MAX_NAMED = 5  # maximum number of columns in a sentence
_MAX_WEAK = 4
_MAX_LEAKS = 3  # maximum number of tables whose leaks a sentence describes
PAIRED, INDEPENDENT, NO_INTERVAL = "paired", "independent", "none"
UNTOLD = "not distinguishable"
AS_FRESH = "both as good as the baseline"
OTHER_INPUTS, NOT_COMPARED = "of other real tables", "not compared"
_ASPECTS = ("validity", "fidelity", "utility", "privacy")
# subject of each headline of fidelity, and subject of the other headline
_ABOUT = {"relations": " (all columns together)", "similarity": " (columns and pairs)"}
_ABOUT_OTHER = {"relations": _ABOUT["similarity"], "similarity": _ABOUT["relations"]}
_SAVED = "comparison that Comparison.to_json wrote"
_COLUMNS = ["metric", "first", "second", "difference", "low", "high", "interval", "ahead", "said"]


class Comparison(Mapping[str, SuiteResult]):
    """Results of several synthetic tables, and the differences between them.

    :meth:`MetricSuite.compare` creates a comparison from tables and fits the suite once.
    :func:`compare` creates a comparison from saved results.

    Parameters
    ----------
    results : mapping of str to SuiteResult
        Two or more results by the names of the tables. The order is kept. List releases in
        chronological order.
    differences : DataFrame
        One row for each metric and pair of tables, as described below.

    Attributes
    ----------
    differences : DataFrame
        One row for each metric and pair of tables. `difference` is first minus second. `low` and
        `high` are the limits of its interval, with a confidence of 95% for all pairs and metrics of
        an aspect together. `interval` is the method: "paired" if both values were computed with the
        same halves of the real rows, "independent" if only the two separate intervals are known, so
        that their common noise does not cancel, or "none". `ahead` is the table that is better by
        the direction of the metric if the interval does not contain 0. `said` is the reason if no
        table is ahead.

    Notes
    -----
    For metrics that use halves, tables of different size are compared at the number of rows of the
    smallest table. A table that is not significantly worse than its baseline is never behind
    another table. The reason is that a table that is closer to the training data than the baseline
    is not better in fidelity, and that a larger distance to the training data does not compensate
    for a leak. The recommendation follows a rule: equal real tables, no leak found, sufficient
    quality, then utility, then fidelity (see the user guide on reports).

    Examples
    --------
    >>> from skeval import make_suite
    >>> from skeval.datasets import make_mixed
    >>> train, holdout, near = (make_mixed(300, random_state=seed) for seed in range(3))
    >>> far = near.assign(age=near["age"] + 30)
    >>> comparison = make_suite("quality").fit(train, holdout).compare({"near": near, "far": far})
    >>> comparison.standing().loc["fidelity", "near"]
    'ahead'
    """

    def __init__(self, results: Mapping[str, SuiteResult], differences: pd.DataFrame) -> None:
        self._results = dict(results)
        self.differences = differences
        self.source: object = None  # file from which the results were read

    def __getitem__(self, name: str) -> SuiteResult:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        values = self.frame().to_string(float_format="{:.4g}".format, na_rep="")
        return f"{self.sentence}\n\n{values}"

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics of all tables, in their order."""
        return list(dict.fromkeys(name for result in self.values() for name in result))

    def frame(self) -> pd.DataFrame:
        """Return the values by metric and table, the baseline, and tables without the metric.

        `ahead` contains the tables that are ahead of another table and not behind any, `behind` the
        tables that are behind another table.
        """
        rows = {}
        for name in self.metrics:
            measured = {t: r[name] for t, r in self.items() if name in r and not r[name].error}
            values = {table: one.value for table, one in measured.items()}
            baselines = [as_float(one.baseline) for one in measured.values()]
            wins, losses = self._counts(name)
            rows[name] = {
                **{table: values.get(table, math.nan) for table in self},
                "baseline": next((b for b in baselines if not math.isnan(b)), math.nan),
                "ahead": ", ".join(t for t in self if wins.get(t) and not losses.get(t)),
                "behind": ", ".join(t for t in self if losses.get(t)),
                "lacking": ", ".join(t for t in self if t not in measured),
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("metric")

    def falls(self) -> pd.DataFrame:
        """Return the metrics in which a table is significantly worse than the table before it.

        Returns
        -------
        DataFrame
            The rows of `differences` in which `second` is behind `first`, where `first` is the last
            table before it that has the metric. The intervals are adjusted for all pairs of tables.
            A slow decline is only visible in rows of `differences` for tables that are not
            adjacent.

        Examples
        --------
        >>> from skeval import MetricTags, Result, SuiteResult, compare
        >>> tags = MetricTags("fidelity", greater_is_better=True)
        >>> releases = {
        ...     name: SuiteResult({"ks": Result(value, (value - 0.02, value + 0.02), tags=tags)})
        ...     for name, value in {"v1": 0.9, "v2": 0.91, "v3": 0.7}.items()
        ... }
        >>> compare(releases).falls()[["metric", "first", "second"]].to_numpy().tolist()
        [['ks', 'v2', 'v3']]
        """
        # pairs are in the order of the tables, so the last pair is with the table directly before
        nearest = self.differences.groupby(["metric", "second"], sort=False).tail(1)
        return nearest[nearest["ahead"] == nearest["first"]]

    def describe_tie(self, metric: str) -> str:
        """Return why no table is ahead in a metric, and which tables do not have the metric."""
        rows = self._differences_of(metric)
        lacking = [t for t, result in self.items() if metric not in result or result[metric].error]
        said = [] if (rows["ahead"] != "").any() else list(dict.fromkeys(rows["said"]))
        return "; ".join([*said, *([f"not in {join_names(lacking)}"] if lacking else [])])

    def lacking(self) -> dict[str, dict[str, str]]:
        """Return the metrics that are missing from some table, with the reason by table."""
        reasons: dict[str, dict[str, str]] = {}
        for name in self.metrics:
            for table, result in self.items():
                if name not in result:
                    reasons.setdefault(name, {})[table] = "not measured"
                elif result[name].error:
                    reasons.setdefault(name, {})[table] = result[name].error
        return reasons

    def caveats(self) -> list[str]:
        """Describe how the evaluations differ, because differences of values may result from it."""
        known = {t: r.provenance for t, r in self.items() if r.provenance is not None}
        said = list(map(_format_mismatch, mismatches(self)))
        for name in self.metrics:
            calls = {t: p.calls[name] for t, p in known.items() if name in p.metrics}
            if len(set(calls.values())) > 1:
                said.append(
                    f"{name} was evaluated with different parameters: {_format_by_table(calls)}."
                )
        versions = {table: p.version for table, p in known.items()}
        if len(set(versions.values())) > 1:
            said.append(f"The versions of skeval differ: {_format_by_table(versions)}.")
        return said

    def _differences_of(self, metric: str) -> pd.DataFrame:
        return self.differences[self.differences["metric"] == metric]

    def _counts(self, *metrics: str) -> tuple[dict[str, int], dict[str, int]]:
        """Return how often each table is ahead of another table, and how often behind."""
        wins: dict[str, int] = {}
        losses: dict[str, int] = {}
        rows = self.differences[self.differences["metric"].isin(metrics)]
        for row in rows[rows["ahead"] != ""].itertuples():
            behind = row.second if row.ahead == row.first else row.first
            wins[row.ahead] = wins.get(row.ahead, 0) + 1
            losses[behind] = losses.get(behind, 0) + 1
        return wins, losses

    def aspects(self) -> list[str]:
        """Return the aspects of the metrics, in the order of a report."""
        there = {aspect_of(one) for result in self.values() for one in result.values()}
        return [aspect for aspect in _ASPECTS if aspect in there]

    def _metrics_of_aspect(self, aspect: str) -> list[str]:
        return [
            name
            for name in self.metrics
            if any(aspect_of(result[name]) == aspect for result in self.values() if name in result)
        ]

    def standing(self) -> pd.DataFrame:
        """Return the status of each table in each aspect.

        Returns
        -------
        DataFrame
            Indexed by aspect and table. The status is "leak found" (privacy only), "ahead" (of a
            table and not behind any), "behind" (the reverse), "between" (both), "not
            distinguishable", or "not compared" if the real tables differ. If the headlines of an
            aspect were evaluated, they decide: TSTR for utility, and RelationScore (all columns
            together) and SimilarityScore (columns and pairs) for fidelity, of which the one counts
            that is lower for the table behind, relative to the baseline. Otherwise, the table with
            more significant differences is ahead.
        """
        rows = {}
        every = [
            one for pair in combinations(self, 2) for one in leads(self, self.differences, *pair)
        ]
        for aspect in self.aspects():
            scores = {table: [0, 0] for table in self}
            for lead in every:
                if lead.aspect == aspect:
                    scores[lead.better][0] += 1
                    scores[lead.worse][1] += 1
            rows[aspect] = {table: _format_standing(*score) for table, score in scores.items()}
            if self.recommendation.outcome is Conclusion.INCOMPARABLE:
                rows[aspect] = dict.fromkeys(self, NOT_COMPARED)
            if aspect == "privacy":
                rows[aspect] |= dict.fromkeys(self.leaking, "leak found")
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(self))

    @property
    def leaking(self) -> list[str]:
        """The tables in which a leak was found."""
        return [table for table, result in self.items() if leaks(result.verdict())]

    def scores(self) -> pd.DataFrame:
        """Return the mean score of each aspect by table, from 0 to 1. See :class:`OverallScore`."""
        with warnings.catch_warnings():
            # suppress the warnings about metrics without a baseline
            warnings.simplefilter("ignore", MetricWarning)
            of = {table: OverallScore().score(result) for table, result in self.items()}
        return pd.DataFrame(of).T.dropna(axis="columns", how="all")

    @cached_property
    def recommendation(self) -> Recommendation:
        """Recommended tables by the rule, and why others are not recommended."""
        return recommendation(self, self.differences)

    def choice(self) -> list[str]:
        """Return the names of the recommended tables. See `recommendation`."""
        return list(self.recommendation.tables)

    @property
    def sentence(self) -> str:
        """Recommended table in words, or the decision that must be made first."""
        said = [*self._describe_inputs(), *self._describe_leaks(), *self._describe_thresholds()]
        said += [*self._describe_shortfalls(), self._format_choice(), self._leaks_in_numbers()]
        return " ".join(filter(None, [*said, *self._describe_tests()]))

    def _describe_inputs(self) -> Iterator[str]:
        if self.recommendation.outcome is Conclusion.INCOMPARABLE:
            yield "The tables cannot be compared, so no table is recommended."
            yield from map(_format_mismatch, self.recommendation.mismatches)

    def _describe_leaks(self) -> Iterator[str]:
        leaking = self.leaking
        if leaking and len(leaking) == len(self):
            yield f"Choose no table, because a leak was found in {join_names(leaking)}."
        elif leaking:
            yield f"Do not choose {join_names(leaking, 'or')}, because a leak was found."

    def _describe_thresholds(self) -> Iterator[str]:
        broken = self.recommendation.violations
        if not broken:
            return
        tables = list(dict.fromkeys(one.table for one in broken))
        texts = "; ".join(map(_format_violation, broken))
        if self.recommendation.outcome is Conclusion.VIOLATED:
            yield f"Choose no table, because all tables violate a threshold: {texts}."
        else:
            yield f"Do not choose {join_names(tables, 'or')}: {texts}."

    def _describe_shortfalls(self) -> Iterator[str]:
        decided, texts = self.recommendation, map(_format_shortfall, self.recommendation.shortfalls)
        if decided.outcome is Conclusion.NOT_GOOD_ENOUGH:
            out = {*self.leaking, *(one.table for one in decided.violations)}
            clean = [table for table in self if table not in out]
            names = {1: f"{clean[0]} is not good enough", 2: "Neither is good enough"}
            yield f"{names.get(len(clean), 'None is good enough')}: {'; '.join(texts)}."
            found = "; ".join(map(self._format_lead, decided.leads))
            yield f"Among these tables, {found}." if found else ""
        elif decided.shortfalls:
            short = list(dict.fromkeys(one.table for one in decided.shortfalls))
            yield f"Do not choose {join_names(short, 'or')}: {'; '.join(texts)}."

    def _format_choice(self) -> str:
        decided, choice = self.recommendation, self.choice()
        aside = {one.worse: one for one in reversed(decided.leads) if one.worse not in choice}
        reasons = [self._format_lead(one) for one in decided.leads if one.better in choice]
        if decided.outcome is Conclusion.TAKE:
            against = [self._format_lead(one) for one in decided.leads if one.worse == choice[0]]
            but = f", although {'; '.join(against)}" if against else ""
            why = "; ".join(reasons) or f"only it has no {self._reasons_of_exclusion()}"
            return f"Choose {choice[0]}, because {why}{but}.{self._describe_weaknesses(choice[0])}"
        if decided.outcome is Conclusion.TIED:
            told = "" if not aside else f" {'; '.join(map(self._format_lead, aside.values()))}."
            names = join_names(choice)
            return f"{names} are {UNTOLD}. Choose any of them, or evaluate more rows.{told}"
        if decided.outcome is Conclusion.OPEN:
            return f"Choose by your priorities: {'; '.join(map(self._format_lead, decided.leads))}."
        return ""

    def _reasons_of_exclusion(self) -> str:
        """Return why the other tables are excluded."""
        decided = self.recommendation
        causes = {
            "found leak": self.leaking,
            "violated threshold": decided.violations,
            "shortfall": decided.shortfalls,
        }
        return " or ".join(cause for cause, tables in causes.items() if tables)

    def _describe_weaknesses(self, table: str) -> str:
        """Describe in which metrics the recommended table is far worse than the baseline."""
        weak = weaknesses(table, self[table])
        if not weak:
            return ""
        shown = [
            f"{one.metric} ({number(one.value)}, baseline {number(one.fresh)})"
            for one in weak[:_MAX_WEAK]
        ]
        more = f" and {len(weak) - len(shown)} more" if len(weak) > len(shown) else ""
        return f" However, {table} is far worse than the baseline in {', '.join(shown)}{more}."

    def _leaks_in_numbers(self) -> str:
        """Describe the most significant test of the first tables with a leak."""
        texts = []
        for table in self.leaking[:_MAX_LEAKS]:
            verdict = self[table].verdict()
            tested = (self[table][name].contrast for name in verdict.alarms)
            shown = [*map(str, filter(None, tested)), *verdict.facts]
            texts += [f"in {table}, {shown[0].rstrip('.')}" for _ in shown[:1]]
        said = "; ".join(texts)
        return f"{said[0].upper()}{said[1:]}." if said else ""

    def _format_lead(self, lead: Lead) -> str:
        """Describe in which metrics a table is ahead of another table, and by how much."""
        total = lead.wins + lead.losses + lead.untold
        by, margin = f"{lead.wins} of {total} metrics", self._margin(lead)
        if lead.headline:
            about, other = _ABOUT.get(lead.kind, ""), _ABOUT_OTHER.get(lead.kind, "")
            by = f"{lead.headline}{about}{margin}"
            by += f", although it is behind by {lead.against}{other}" if lead.against else ""
        else:
            by += f", most clearly{margin}" if margin else ""
        return f"{lead.better} is ahead of {lead.worse} in {lead.aspect} by {by}"

    def _margin(self, lead: Lead) -> str:
        """Return both values of the deciding or clearest metric, and the interval between them."""
        sides = {lead.better, lead.worse}
        own = self.differences[self.differences["ahead"] == lead.better]
        own = own[own["first"].isin(sides) & own["second"].isin(sides)]
        deciding = [lead.headline] if lead.headline else self._metrics_of_aspect(lead.aspect)
        own = own[own["metric"].isin(deciding)]
        if own.empty:
            return ""
        clear = (own["difference"] / (own["high"] - own["low"])).abs().to_numpy()
        row = own.iloc[int(clear.argmax())]
        ends = (row["low"], row["high"])
        if row["first"] != lead.better:
            ends = -ends[1], -ends[0]
        better, worse = (number(self[t][row["metric"]].value) for t in (lead.better, lead.worse))
        named = "" if lead.headline else f" by {row['metric']}"
        return f"{named} ({better} compared with {worse}, difference {shown_interval(ends)})"

    def _describe_tests(self) -> Iterator[str]:
        n_tests = max(result.verdict().n_tests for result in self.values())
        if n_tests:
            falsely = percent(1.0 - (1.0 - ALARM_LEVEL) ** len(self), 0)
            yield (
                f"Each of {len(self)} tables is tested for leaks at {percent(ALARM_LEVEL, 0)} "
                "separately. If no table leaks, the probability of at least one false alarm is up "
                f"to {falsely}."
            )
        if n_tests and len(self.leaking) < len(self):
            tests = "one test" if n_tests == 1 else f"{n_tests} tests"
            yield (f"That {tests} of privacy found no leak does not prove that there is none.")
        elif not n_tests:
            yield "There were no privacy tests, so leaks were not evaluated."
        if untold := self.lacking():
            yield f"Not compared in all tables: {', '.join(untold)}."
        n_said = len(self.recommendation.mismatches)
        yield from self.caveats()[n_said:]

    def plot(self, ax: Any = None) -> Display:
        """Plot the tables by two aspects, by privacy and utility if possible.

        Parameters
        ----------
        ax : Axes, optional
            Axes to plot on. A new figure by default.

        Returns
        -------
        Display
            With `ax_` and `figure_`.

        Raises
        ------
        InvalidParameterError
            If there are scores of only one aspect.
        """
        return rendering().display(self).plot(ax)

    def _repr_html_(self) -> str:
        return rendering().html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, dicts, strings and numbers."""
        rows = self.differences.astype(object).where(self.differences.notna(), None)
        return {
            "schema_version": SCHEMA_VERSION,
            "tables": {name: result.to_dict() for name, result in self.items()},
            "differences": rows.to_dict("records"),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Comparison:
        """Create a comparison from the result of :meth:`to_dict`."""
        frame = pd.DataFrame(content["differences"], columns=_COLUMNS)
        frame = frame.astype(dict.fromkeys(("difference", "low", "high"), float))
        results = {str(n): SuiteResult.from_dict(one) for n, one in content["tables"].items()}
        return cls(results, frame)

    @classmethod
    def from_json(cls, path: str | Path) -> Comparison:
        """Read a file that :meth:`to_json` wrote. It suffices to render a report.

        Raises
        ------
        InvalidParameterError
            If the file contains no comparison.
        """
        return read_json_of_results(path, cls.from_dict, what=_SAVED)

    @classmethod
    def from_pdf(cls, path: str | Path) -> Comparison:
        """Read the comparison that a PDF report contains.

        Parameters
        ----------
        path : str or Path
            PDF report of several synthetic tables that skeval wrote.

        Returns
        -------
        Comparison
            The same as :meth:`from_json` reads from the JSON of this comparison.

        Raises
        ------
        InvalidParameterError
            If the file is not such a report, or if the hash of its results is not the hash that
            the report states.

        See Also
        --------
        SuiteResult.from_pdf : Read the results of one synthetic table, with notes about the hash.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from skeval import Comparison, Result, SuiteResult, compare
        >>> tables = {name: SuiteResult({"a": Result(0.5)}) for name in ("one", "other")}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = compare(tables).to_pdf(pathlib.Path(folder) / "report.pdf")
        ...     list(Comparison.from_pdf(path))
        ['one', 'other']
        """
        text = read_attached_results(path)
        return read_json_of_results(text, cls.from_dict, what=_SAVED, source=path)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON text, and write it to `path` if given."""
        return write_json(self.to_dict(), path)

    def to_pdf(self, path: str | Path, **settings: Any) -> Path:
        """Write a PDF. See :class:`skeval.reporting.PDFRenderer` for `settings`."""
        with details_of(self.source):
            return rendering().write(self, path, "pdf", **settings)

    def to_html(self, path: str | Path, **settings: Any) -> Path:
        """Write an HTML page. See :class:`skeval.reporting.HTMLRenderer` for `settings`."""
        with details_of(self.source):
            return rendering().write(self, path, "html", **settings)


def compare(results: Mapping[str, SuiteResult]) -> Comparison:
    """Compare existing or saved results of several synthetic tables.

    The intervals of differences treat the values as independent, because the results do not contain
    the values of the subsamples that :meth:`MetricSuite.compare` uses. That method takes into
    account that the real rows are the same for all tables.

    Parameters
    ----------
    results : mapping of str to SuiteResult
        Two or more results by the names of the tables, from the same suite and real tables. List
        releases in chronological order, because :meth:`Comparison.falls` compares each result with
        the result before it.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidParameterError
        If there are fewer than two results.

    Examples
    --------
    >>> from skeval import MetricTags, Result, SuiteResult
    >>> from skeval.results.comparison import compare
    >>> tags = MetricTags("fidelity", greater_is_better=True, bounds=(0, 1))
    >>> a, b = (SuiteResult({"m": Result(x, (x - 0.1, x + 0.1), tags=tags)}) for x in (0.5, 0.6))
    >>> compare({"a": a, "b": b}).differences["said"].tolist()
    ['not distinguishable']
    """
    return comparison_of(results, {})


def comparison_of(
    results: Mapping[str, SuiteResult], variations: Mapping[str, Mapping[str, Sampled]]
) -> Comparison:
    """Return the comparison of results, which is paired if `variations` are given."""
    if not isinstance(results, Mapping) or not all(
        isinstance(one, SuiteResult) for one in results.values()
    ):
        raise InvalidParameterError(
            "compare needs a mapping of names to SuiteResult, such as {'a': result_a, 'b': "
            f"result_b}}, got {type(results).__name__}."
        )
    if len(results) < 2:
        raise InvalidParameterError(
            f"compare: at least two synthetic tables are required, got {len(results)}."
        )
    names = dict.fromkeys(name for result in results.values() for name in result)
    aspects = {n: aspect_of(next(r[n] for r in results.values() if n in r)) for n in names}
    n_of_aspect = Counter(aspects.values())
    n_pairs = math.comb(len(results), 2)
    rows = [
        # one level per aspect, so that a false claim about any of its metrics counts as an error
        _row(
            name, tables, results, variations, 1.0 - (1.0 - LEVEL) / (n_pairs * n_of_aspect[aspect])
        )
        for name, aspect in aspects.items()
        for tables in combinations(results, 2)
        if all(name in results[table] and not results[table][name].error for table in tables)
    ]
    differences = pd.DataFrame(rows, columns=_COLUMNS)
    if mismatches(results):
        differences = differences.assign(ahead="", said=OTHER_INPUTS)
    return Comparison(results, differences)


def _row(
    name: str,
    tables: tuple[str, str],
    results: Mapping[str, SuiteResult],
    variations: Mapping[str, Mapping[str, Sampled]],
    confidence: float,
) -> tuple[Any, ...]:
    one, other = (results[table][name] for table in tables)
    sampled = [variations.get(table, {}).get(name) for table in tables]
    first, second = sampled
    ends: Ends = None
    found, difference = NO_INTERVAL, one.value - other.value
    if first is not None and second is not None:
        difference = first.value - second.value
        ends, found = paired_interval(first, second, confidence), PAIRED
    if ends is None:
        ends = independent_interval(
            one.value, one.interval, other.value, other.interval, confidence
        )
        found = NO_INTERVAL if ends is None else INDEPENDENT
    low, high = ends if ends is not None else (math.nan, math.nan)
    ahead, said = ahead_of(one, other, tables, low, high)
    return name, *tables, difference, low, high, found, ahead, said


def ahead_of(
    one: Result, other: Result, tables: tuple[str, str], low: float, high: float
) -> tuple[str, str]:
    """Return the table that is ahead, or the reason why no table is ahead."""
    sign = one.tags.sign if one.tags is not None else 0
    if math.isnan(one.value - other.value):
        return "", "no value"
    if sign == 0:
        return "", "no direction"
    if math.isnan(low):
        return "", "no interval"
    if low <= 0.0 <= high:
        return "", UNTOLD
    first = (low > 0.0) == (sign > 0)
    if _is_as_good_as_baseline(other if first else one, sign):
        return "", AS_FRESH
    return tables[0] if first else tables[1], ""


def _is_as_good_as_baseline(result: Result, sign: int) -> bool:
    """Return whether a value is not significantly worse than its baseline."""
    baseline = as_float(result.baseline)
    ends = (result.value, result.value) if result.interval is None else result.interval
    if result.difference is not None:
        ends, baseline = result.difference, 0.0
    best = ends[1] if sign > 0 else ends[0]
    return bool(sign * (best - baseline) >= 0.0)  # False without a baseline


def _format_standing(n_ahead: int, n_behind: int) -> str:
    if n_ahead and n_behind:
        return "between"
    return "ahead" if n_ahead else "behind" if n_behind else UNTOLD


def _format_mismatch(one: Mismatch) -> str:
    """Describe how a real table differs between results."""
    columns = f" ({', '.join(one.columns[:_MAX_NAMED])}{', ...' * (len(one.columns) > _MAX_NAMED)})"
    return {
        Difference.CONTENT: f"{one.role} is not the same table in all results.",
        Difference.KINDS: (
            f"{one.role} is the same file, but it was read with different column types{columns}. "
            "Evaluate all tables with one schema."
        ),
        Difference.UNKNOWN: (
            f"{one.role} was read with different column types{columns}, so its cells cannot be "
            "compared. Evaluate all tables with one schema."
        ),
    }[one.difference]


def _format_violation(one: Violation) -> str:
    return f"{one.table} violates {one.rule} ({one.reason.rstrip('.')})"


def _format_shortfall(one: Shortfall) -> str:
    """Describe how far a headline is from its baseline."""
    real = "a model of real rows" if one.aspect == "utility" else "the baseline"
    return (
        f"{one.metric} of {one.table} is {number(one.value)}, closer to a useless table than to "
        f"{real} ({number(one.fresh)})"
    )


def _format_by_table(by_table: Mapping[str, str]) -> str:
    return ", ".join(f"{table} {text}" for table, text in by_table.items())
