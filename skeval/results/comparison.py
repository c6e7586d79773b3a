"""Several synthetic tables by one suite: which is ahead in what, and what is only chance."""

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
_MAX_NAMED = 5  # columns in a sentence
_MAX_WEAK = 4
_MAX_LEAKS = 3  # tables whose leaks a sentence gives in numbers
PAIRED, INDEPENDENT, NO_INTERVAL = "paired", "independent", "none"
UNTOLD = "not distinguishable"
AS_FRESH = "both as good as the baseline"
OTHER_INPUTS, NOT_COMPARED = "of other real tables", "not compared"
_FACETS = {
    "diagnostic": "validity",
    "fidelity": "fidelity",
    "utility": "utility",
    "privacy": "privacy",
}
# what each headline of fidelity compares, and what the other one does
_ABOUT = {"relations": " (all columns together)", "similarity": " (columns and pairs)"}
_ABOUT_OTHER = {"relations": _ABOUT["similarity"], "similarity": _ABOUT["relations"]}
_SAVED = "comparison that Comparison.to_json wrote"
_COLUMNS = ["metric", "first", "second", "difference", "low", "high", "interval", "ahead", "said"]


class Comparison(Mapping[str, SuiteResult]):
    """The results of several synthetic tables, and how far they are apart.

    :meth:`MetricSuite.compare` makes one of tables, with the suite fitted once, and
    :func:`compare` one of results that were saved.

    Parameters
    ----------
    results : mapping of str to SuiteResult
        By the names of the tables, two or more. Their order is kept; of releases it is the order
        in which they were made.
    differences : DataFrame
        One row for each metric and pair of tables; see below.

    Attributes
    ----------
    differences : DataFrame
        One row for each metric and pair of tables: `difference` (first minus second), its interval
        from `low` to `high`, at 95% over all pairs and metrics of a facet together; how that was
        found, `interval`: "paired" where both were measured against the same halves of the real
        rows; "independent" where only the intervals of the two values are known, whose common
        noise does not cancel then; or "none". `ahead` is the table that is better by the
        metric's direction where the interval does not hold 0, and `said` why none is.

    Notes
    -----
    Of metrics of halves, tables of unequal size are compared at the number of rows of the smallest.
    A table that is as good as its baseline, as far as chance lets one tell, is behind none: what is
    nearer to train than fresh real rows are is no more faithful, and what is farther from it makes
    up for no leak. Which table to take follows a rule: the same real tables, no leak found, good
    enough, then utility, then fidelity (see the user guide on reports).

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
        self.source: object = None  # the file that they were read of

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
        """Names of all metrics that any table has, in their order."""
        return list(dict.fromkeys(name for result in self.values() for name in result))

    def frame(self) -> pd.DataFrame:
        """Return the values by metric and table, the baseline, and which tables lack the metric.

        `ahead` names the tables that are ahead of another one and behind none, `behind` those that
        are behind another one.
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
        """Return the metrics by which a table is worse than the table before it, beyond noise.

        Returns
        -------
        DataFrame
            The rows of `differences` in which `second` is behind `first`, the last table before it
            that has the metric. The intervals are those of all pairs of tables, so that a slow fall
            is a row of `differences` between tables that are farther apart.

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
        # tables are paired in their order, so that the last pair is with the table just before
        nearest = self.differences.groupby(["metric", "second"], sort=False).tail(1)
        return nearest[nearest["ahead"] == nearest["first"]]

    def describe_tie(self, metric: str) -> str:
        """Say why a metric puts no table ahead of another, where it does not, and who lacks it."""
        rows = self._differences_of(metric)
        lacking = [t for t, result in self.items() if metric not in result or result[metric].error]
        said = [] if (rows["ahead"] != "").any() else list(dict.fromkeys(rows["said"]))
        return "; ".join([*said, *([f"not in {join_names(lacking)}"] if lacking else [])])

    def lacking(self) -> dict[str, dict[str, str]]:
        """Return the metrics that some table lacks: why, by metric and table."""
        reasons: dict[str, dict[str, str]] = {}
        for name in self.metrics:
            for table, result in self.items():
                if name not in result:
                    reasons.setdefault(name, {})[table] = "not measured"
                elif result[name].error:
                    reasons.setdefault(name, {})[table] = result[name].error
        return reasons

    def caveats(self) -> list[str]:
        """Say where results were not made alike, so that a difference may be of that."""
        known = {t: r.provenance for t, r in self.items() if r.provenance is not None}
        said = list(map(_format_mismatch, mismatches(self)))
        for name in self.metrics:
            calls = {t: p.calls[name] for t, p in known.items() if name in p.metrics}
            if len(set(calls.values())) > 1:
                said.append(
                    f"{name} was measured with other parameters: {_format_by_table(calls)}."
                )
        versions = {table: p.version for table, p in known.items()}
        if len(set(versions.values())) > 1:
            said.append(f"skeval had another version: {_format_by_table(versions)}.")
        return said

    def _differences_of(self, metric: str) -> pd.DataFrame:
        return self.differences[self.differences["metric"] == metric]

    def _counts(self, *metrics: str) -> tuple[dict[str, int], dict[str, int]]:
        """Return how often each table is ahead of another one, and behind."""
        wins: dict[str, int] = {}
        losses: dict[str, int] = {}
        rows = self.differences[self.differences["metric"].isin(metrics)]
        for row in rows[rows["ahead"] != ""].itertuples():
            behind = row.second if row.ahead == row.first else row.first
            wins[row.ahead] = wins.get(row.ahead, 0) + 1
            losses[behind] = losses.get(behind, 0) + 1
        return wins, losses

    def facets(self) -> list[str]:
        """Return the facets that any metric belongs to, in the order of reading."""
        there = {aspect_of(one) for result in self.values() for one in result.values()}
        return [facet for facet in _FACETS if facet in there]

    def _metrics_of_facet(self, facet: str) -> list[str]:
        return [
            name
            for name in self.metrics
            if any(aspect_of(result[name]) == facet for result in self.values() if name in result)
        ]

    def standing(self) -> pd.DataFrame:
        """Return the status of each table in each facet.

        Returns
        -------
        DataFrame
            By facet and table: "leak found" (privacy only); "ahead" of some table and behind none;
            "behind", the reverse; "between", both; "not distinguishable"; or "not compared", where
            the real tables were not the same. A facet is decided by its headlines if they were
            measured: TSTR; RelationScore (all columns together) and SimilarityScore (columns and
            pairs), of which the one counts in which the table behind falls farther short. Otherwise
            the table with more significant differences is ahead.
        """
        rows = {}
        every = [
            one for pair in combinations(self, 2) for one in leads(self, self.differences, *pair)
        ]
        for facet in self.facets():
            scores = {table: [0, 0] for table in self}
            for lead in every:
                if lead.facet == facet:
                    scores[lead.better][0] += 1
                    scores[lead.worse][1] += 1
            rows[facet] = {table: _format_standing(*score) for table, score in scores.items()}
            if self.recommendation.outcome is Conclusion.INCOMPARABLE:
                rows[facet] = dict.fromkeys(self, NOT_COMPARED)
            if facet == "privacy":
                rows[facet] |= dict.fromkeys(self.leaking, "leak found")
        return pd.DataFrame.from_dict(rows, orient="index", columns=list(self))

    @property
    def leaking(self) -> list[str]:
        """The tables in which a leak was found."""
        return [table for table, result in self.items() if leaks(result.verdict())]

    def scores(self) -> pd.DataFrame:
        """Return the mean score of each facet by table, from 0 to 1; see :class:`OverallScore`."""
        with warnings.catch_warnings():
            # each metric without a baseline would warn that the bounds of its scale count
            warnings.simplefilter("ignore", MetricWarning)
            of = {table: OverallScore().score(result) for table, result in self.items()}
        return pd.DataFrame(of).T.dropna(axis="columns", how="all")

    @cached_property
    def recommendation(self) -> Recommendation:
        """Which tables remain by the rule, and why others do not, as values."""
        return recommendation(self, self.differences)

    def choice(self) -> list[str]:
        """Return the tables that remain by the rule; see `recommendation`."""
        return list(self.recommendation.tables)

    @property
    def sentence(self) -> str:
        """Which table to take, in words, or what must be decided first."""
        said = [*self._describe_inputs(), *self._describe_leaks(), *self._describe_thresholds()]
        said += [*self._describe_shortfalls(), self._format_choice(), self._leaks_in_numbers()]
        return " ".join(filter(None, [*said, *self._describe_tests()]))

    def _describe_inputs(self) -> Iterator[str]:
        if self.recommendation.outcome is Conclusion.INCOMPARABLE:
            yield "Nothing can be compared, so that no table is recommended."
            yield from map(_format_mismatch, self.recommendation.mismatches)

    def _describe_leaks(self) -> Iterator[str]:
        leaking = self.leaking
        if leaking and len(leaking) == len(self):
            yield f"Take none: a leak was found in {join_names(leaking)}."
        elif leaking:
            yield f"Not {join_names(leaking, 'or')}: a leak was found there."

    def _describe_thresholds(self) -> Iterator[str]:
        broken = self.recommendation.violations
        if not broken:
            return
        tables = list(dict.fromkeys(one.table for one in broken))
        texts = "; ".join(map(_format_violation, broken))
        if self.recommendation.outcome is Conclusion.VIOLATED:
            yield f"Take none: no table meets the thresholds that were agreed: {texts}."
        else:
            yield f"Not {join_names(tables, 'or')}: {texts}, against what was agreed."

    def _describe_shortfalls(self) -> Iterator[str]:
        decided, texts = self.recommendation, map(_format_shortfall, self.recommendation.shortfalls)
        if decided.outcome is Conclusion.NOT_GOOD_ENOUGH:
            out = {*self.leaking, *(one.table for one in decided.violations)}
            clean = [table for table in self if table not in out]
            names = {1: f"{clean[0]} is not good enough", 2: "Neither is good enough"}
            yield f"{names.get(len(clean), 'None is good enough')}: {'; '.join(texts)}."
            found = "; ".join(map(self._format_lead, decided.leads))
            yield f"Of these, {found}." if found else ""
        elif decided.shortfalls:
            short = list(dict.fromkeys(one.table for one in decided.shortfalls))
            yield f"Not {join_names(short, 'or')}, not good enough: {'; '.join(texts)}."

    def _format_choice(self) -> str:
        decided, choice = self.recommendation, self.choice()
        aside = {one.worse: one for one in reversed(decided.leads) if one.worse not in choice}
        reasons = [self._format_lead(one) for one in decided.leads if one.better in choice]
        if decided.outcome is Conclusion.TAKE:
            against = [self._format_lead(one) for one in decided.leads if one.worse == choice[0]]
            but = f", though {'; '.join(against)}" if against else ""
            why = "; ".join(reasons) or f"the one table without a {self._reasons_of_exclusion()}"
            return f"Take {choice[0]}: {why}{but}.{self._describe_weaknesses(choice[0])}"
        if decided.outcome is Conclusion.TIED:
            told = "" if not aside else f" {'; '.join(map(self._format_lead, aside.values()))}."
            names = join_names(choice)
            return f"{names} are {UNTOLD}: take any of them, or measure more rows.{told}"
        if decided.outcome is Conclusion.OPEN:
            return f"Choose by what matters: {'; '.join(map(self._format_lead, decided.leads))}."
        return ""

    def _reasons_of_exclusion(self) -> str:
        """Say for what the other tables are out."""
        decided = self.recommendation
        causes = {
            "found leak": self.leaking,
            "violated threshold": decided.violations,
            "shortfall": decided.shortfalls,
        }
        return " or ".join(cause for cause, tables in causes.items() if tables)

    def _describe_weaknesses(self, table: str) -> str:
        """Say in which metrics the table that is taken is far worse than fresh real rows."""
        weak = weaknesses(table, self[table])
        if not weak:
            return ""
        shown = [
            f"{one.metric} ({number(one.value)}, fresh rows {number(one.fresh)})"
            for one in weak[:_MAX_WEAK]
        ]
        more = f" and {len(weak) - len(shown)} more" if len(weak) > len(shown) else ""
        return f" However, {table} is far worse than fresh rows in {', '.join(shown)}{more}."

    def _leaks_in_numbers(self) -> str:
        """Say of the first tables with a leak what the most significant test compared."""
        texts = []
        for table in self.leaking[:_MAX_LEAKS]:
            verdict = self[table].verdict()
            tested = (self[table][name].contrast for name in verdict.alarms)
            shown = [*map(str, filter(None, tested)), *verdict.facts]
            texts += [f"in {table}, {shown[0].rstrip('.')}" for _ in shown[:1]]
        said = "; ".join(texts)
        return f"{said[0].upper()}{said[1:]}." if said else ""

    def _format_lead(self, lead: Lead) -> str:
        """Say by what a table is ahead of another, and how far."""
        total = lead.wins + lead.losses + lead.untold
        by, margin = f"{lead.wins} of {total} metrics", self._margin(lead)
        if lead.headline:
            about, other = _ABOUT.get(lead.kind, ""), _ABOUT_OTHER.get(lead.kind, "")
            by = f"{lead.headline}{about}, which decides{margin}"
            by += f", though behind by {lead.against}{other}" if lead.against else ""
        else:
            by += f", most clearly{margin}" if margin else ""
        return f"{lead.better} is ahead of {lead.worse} in {_FACETS[lead.facet]} by {by}"

    def _margin(self, lead: Lead) -> str:
        """Return both values of what decides, or is clearest, and the interval between them."""
        sides = {lead.better, lead.worse}
        own = self.differences[self.differences["ahead"] == lead.better]
        own = own[own["first"].isin(sides) & own["second"].isin(sides)]
        deciding = [lead.headline] if lead.headline else self._metrics_of_facet(lead.facet)
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
        return f"{named}: {better} against {worse} (difference {shown_interval(ends)})"

    def _describe_tests(self) -> Iterator[str]:
        n_tests = max(result.verdict().n_tests for result in self.values())
        if n_tests:
            falsely = percent(1.0 - (1.0 - ALARM_LEVEL) ** len(self), 0)
            yield (
                f"Each of {len(self)} tables is tested for leaks at {percent(ALARM_LEVEL, 0)} by "
                f"itself: of as many without any, one or more is accused in up to {falsely}."
            )
        if n_tests and len(self.leaking) < len(self):
            tests = "one test" if n_tests == 1 else f"{n_tests} tests"
            yield (
                f"That no leak was found by {tests} of privacy does not show that there is none."
            )
        elif not n_tests:
            yield "No test of privacy was made, so that nothing is said of leaks."
        if untold := self.lacking():
            yield f"Not compared in all tables: {', '.join(untold)}."
        n_said = len(self.recommendation.mismatches)
        yield from self.caveats()[n_said:]

    def plot(self, ax: Any = None) -> Display:
        """Draw the tables by two facets, privacy and utility where there are both.

        Parameters
        ----------
        ax : Axes, optional
            The axes to draw on; a new figure if None.

        Returns
        -------
        Display
            With `ax_` and `figure_`.

        Raises
        ------
        InvalidParameterError
            If there are scores of one facet only.
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
        """Rebuild a comparison from what :meth:`to_dict` gave."""
        frame = pd.DataFrame(content["differences"], columns=_COLUMNS)
        frame = frame.astype(dict.fromkeys(("difference", "low", "high"), float))
        results = {str(n): SuiteResult.from_dict(one) for n, one in content["tables"].items()}
        return cls(results, frame)

    @classmethod
    def from_json(cls, path: str | Path) -> Comparison:
        """Read what :meth:`to_json` wrote; a report can be rendered from it.

        Raises
        ------
        InvalidParameterError
            If the file holds no comparison.
        """
        return read_json_of_results(path, cls.from_dict, what=_SAVED)

    @classmethod
    def from_pdf(cls, path: str | Path) -> Comparison:
        """Read the comparison that a PDF report contains.

        Parameters
        ----------
        path : str or Path
            A report of several synthetic tables that skeval wrote as a PDF.

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
        SuiteResult.from_pdf : Read the results of one synthetic table; it says what the hash shows.

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
        """Write a PDF; `settings` as :class:`skeval.reporting.PDFRenderer` takes them."""
        with details_of(self.source):
            return rendering().write(self, path, "pdf", **settings)

    def to_html(self, path: str | Path, **settings: Any) -> Path:
        """Write one HTML page; `settings` as :class:`skeval.reporting.HTMLRenderer` takes them."""
        with details_of(self.source):
            return rendering().write(self, path, "html", **settings)


def compare(results: Mapping[str, SuiteResult]) -> Comparison:
    """Compare results of several synthetic tables that were measured or saved before.

    Their halves and replicates are gone, so that intervals of differences are those of independent
    values: :meth:`MetricSuite.compare` has narrower ones.

    Parameters
    ----------
    results : mapping of str to SuiteResult
        By the names of the tables, two or more; of the same suite and real tables. The order of
        releases is the order in which they were made: :meth:`Comparison.falls` compares each result
        with the result before it.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidParameterError
        If there are fewer than two.

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
    """Return the comparison of results; with `variations`, by table and metric, paired."""
    if not isinstance(results, Mapping) or not all(
        isinstance(one, SuiteResult) for one in results.values()
    ):
        raise InvalidParameterError(
            "compare needs a mapping of names to SuiteResult, such as {'a': result_a, 'b': "
            f"result_b}}, got {type(results).__name__}."
        )
    if len(results) < 2:
        raise InvalidParameterError(
            f"compare: at least two synthetic tables are needed, got {len(results)}."
        )
    names = dict.fromkeys(name for result in results.values() for name in result)
    facets = {n: aspect_of(next(r[n] for r in results.values() if n in r)) for n in names}
    n_of_facet = Counter(facets.values())
    n_pairs = math.comb(len(results), 2)
    rows = [
        # a facet is one statement: one false claim in it, of any metric, is one too many
        _row(name, tables, results, variations, 1.0 - (1.0 - LEVEL) / (n_pairs * n_of_facet[facet]))
        for name, facet in facets.items()
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
    """Return the table that is ahead, or why none is."""
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
    """Return whether a value is not known to be worse than its baseline."""
    baseline = as_float(result.baseline)
    ends = (result.value, result.value) if result.interval is None else result.interval
    if result.difference is not None:
        ends, baseline = result.difference, 0.0
    best = ends[1] if sign > 0 else ends[0]
    return bool(sign * (best - baseline) >= 0.0)  # never where there is no baseline


def _format_standing(n_ahead: int, n_behind: int) -> str:
    if n_ahead and n_behind:
        return "between"
    return "ahead" if n_ahead else "behind" if n_behind else UNTOLD


def _format_mismatch(one: Mismatch) -> str:
    """Say how a real table was not the same for all results."""
    columns = f" ({', '.join(one.columns[:_MAX_NAMED])}{', ...' * (len(one.columns) > _MAX_NAMED)})"
    return {
        Difference.CONTENT: f"{one.role} was not the same table.",
        Difference.KINDS: (
            f"{one.role} was the same file, read with other kinds of columns{columns}: "
            "measure all with one schema."
        ),
        Difference.UNKNOWN: (
            f"{one.role} was read with other kinds of columns{columns}, and whether its cells are "
            "the same cannot be seen: measure all with one schema."
        ),
    }[one.difference]


def _format_violation(one: Violation) -> str:
    return f"{one.table} does not meet {one.rule} ({one.reason.rstrip('.')})"


def _format_shortfall(one: Shortfall) -> str:
    """Say how far a headline falls short."""
    real = "what real rows teach" if one.facet == "utility" else "fresh real rows"
    return (
        f"{one.metric} of {one.table} is {number(one.value)}, less than half the way from a "
        f"useless table to {real} ({number(one.fresh)})"
    )


def _format_by_table(by_table: Mapping[str, str]) -> str:
    return ", ".join(f"{table} {text}" for table, text in by_table.items())
