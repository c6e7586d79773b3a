"""The first page of a report: what was looked at, what was found, and what to do next."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from skeval.exceptions import (
    ConstantColumnWarning,
    DifferentFormWarning,
    GivenAwayWarning,
    MetricWarning,
    MostlySharedRowsWarning,
    RepeatedRowsWarning,
    SharedRowsWarning,
    UnequalSizesWarning,
    UnexaminedColumnsWarning,
    UnreadCellsWarning,
    VoidAttackWarning,
    WholePopulationWarning,
)
from skeval.reporting.flaws import worst_columns
from skeval.reporting.layout import Grid, Listed, OnScale, Part
from skeval.reporting.persons import not_tried, persons
from skeval.reporting.scores import difference_of, entries, reason
from skeval.reporting.stated import agreed_limits, stated_parts
from skeval.reporting.style import AS_GOOD, BEHIND, CLOSER, judged, label_of
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.summary import fidelity_sentence, utility_sentence
from skeval.results.verdict import (
    Verdict,
    collect_advice,
    is_quoted,
    is_shifted,
    is_whole_population,
    with_copies,
)
from skeval.results.verdict import verdict as judge
from skeval.utils.formatting import as_float, format_count, number, title_of

FACETS = {
    "Validity": "diagnostic",
    "Fidelity": "fidelity",
    "Utility": "utility",
    "Privacy": "privacy",
}
# how many metrics of a facet the table has room for
_ROOM = {"Validity": 2, "Fidelity": 5, "Utility": 4, "Privacy": 6}
_LAST = 1_000  # place of a metric that has none
_MAX_NAMED = 8  # metrics in a sentence
_MAX_MENDED = 3  # columns among the next steps
_MAX_STEPS = 7
_SLACK = 0.02  # by which a check without an interval may be short of fresh real rows unspoken of
_WORTH = 0.05  # weight of a flaw from which on a column is among the next steps
_SCALE = "\N{BLACK CIRCLE} value, | fresh rows"
_SCALE_AGREED = "\N{BLACK CIRCLE} value, | fresh, \N{BLACK DOWN-POINTING TRIANGLE} agreed"
_WIDTHS, _WIDTHS_AGREED = (
    (0.26, 0.085, 0.205, 0.085, 0.085, 0.28),
    (0.252, 0.08, 0.251, 0.08, 0.08, 0.257),
)
_NUMBERS = ("Value", "Fresh")
_WHY_BETTER = "score: compared with fresh rows or chance; test: train with holdout"
_NO_METRIC = {
    "Validity": "No metric of columns, types and ranges is in this suite.",
    "Fidelity": "No metric of distributions is in this suite.",
    "Utility": "No model was trained: no target column was named.",
    "Privacy": "No metric of privacy is in this suite.",
}
_MAX_DOUBTS = 3  # columns whose kind is in doubt, that are spelled out
# warnings of the real tables, and of metrics that such tables make void
_ODD = (
    ConstantColumnWarning,
    DifferentFormWarning,
    RepeatedRowsWarning,
    SharedRowsWarning,
    UnequalSizesWarning,
    UnexaminedColumnsWarning,
    UnreadCellsWarning,
    WholePopulationWarning,
)
_ODD_FOR_METRICS = (GivenAwayWarning, UnequalSizesWarning, VoidAttackWarning)
_NOTHING_TO_MEND = (
    "These metrics found nothing to mend. What they cannot see is in the appendix; to release or "
    "not is for a person to decide."
)


@dataclass(frozen=True)
class Facet:
    """What was found of one question, in a line."""

    name: str
    status: str
    text: str
    looked_at: str
    not_looked_at: str
    alarm: bool = False


@dataclass(frozen=True)
class DecisionPage:
    """What a reader needs to decide about a release, on one page.

    Parameters
    ----------
    facets : tuple of Facet
        Validity, fidelity, utility and privacy.
    facts : tuple of str
        What was counted, such as copies of train rows; it holds even if no test is significant.
    verdict : Verdict
        The verdict on all tests of privacy together.
    steps : tuple of str
        What to do next: leaks to close, columns and rows to mend, what to look at.
    headline : dict of str to Result
        The metrics of the table, by their names in the suite.
    titles : dict of str to str
        Their titles.
    shifted : bool
        Whether train and holdout are samples of different populations.
    stated : tuple of Part
        What was stated of the release, and which thresholds hold.
    persons : tuple of str
        What attacks found, in numbers of persons.
    doubts : tuple of str
        What is odd about the real tables, with the cure.
    agreed : dict of str to float
        The thresholds agreed before, of values by the names of their metrics.

    Examples
    --------
    >>> from skeval import make_suite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.reporting import DecisionPage
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> page = DecisionPage.of(make_suite("screens").fit(train, holdout).evaluate(train))
    >>> [(facet.name, facet.status) for facet in page.facets][-1]
    ('Privacy', 'leak found')
    >>> print(page.facts[0].partition(",")[0])
    200 of 200 synthetic rows are complete copies of train rows
    """

    facets: tuple[Facet, ...]
    facts: tuple[str, ...]
    verdict: Verdict
    steps: tuple[str, ...]
    headline: dict[str, Result]
    titles: dict[str, str]
    shifted: bool = False
    stated: tuple[Part, ...] = ()
    persons: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    agreed: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, results: SuiteResult) -> DecisionPage:
        """Return the page of a suite's results, live or from JSON."""
        verdict, titles = results.verdict(), titles_of(results)
        facets = tuple(
            _facet(
                name, {n: r for n, r in results.items() if _aspect(r) == aspect}, results, titles
            )
            for name, aspect in FACETS.items()
        )
        return cls(
            facets,
            (*verdict.facts, *_no_copies(results, verdict)),
            verdict,
            tuple(_steps(results, verdict)),
            _headline(results, verdict),
            titles,
            is_shifted(results.notices),
            tuple(stated_parts({"": results})),
            (*persons(results), *_known_of_persons(results)),
            tuple(_doubts(results)),
            agreed_limits(results),
        )

    def __str__(self) -> str:
        lines = [f"{f.name}: {f.status}. {f.text} {f.not_looked_at}".strip() for f in self.facets]
        listed = (
            ("Facts", self.facts),
            ("In persons", self.persons),
            ("What to do next", self.steps),
            ("In doubt", self.doubts),
        )
        for title, texts in listed:
            if texts:
                lines += [f"{title}:", *(f"- {text}" for text in texts)]
        return "\n".join(lines)

    def parts(self) -> tuple[Part, ...]:
        """Return what is printed: a line a facet, figure, what was stated, facts, what to do."""
        rows = tuple(
            (f"{f.name}\n{f.status}", " ".join(filter(None, (f.text, f.not_looked_at))))
            for f in self.facets
        )
        alarms = tuple((i, 0) for i, f in enumerate(self.facets) if f.alarm)
        labels = tuple((i, 0, label_of(f.status)) for i, f in enumerate(self.facets))
        found = Grid((), rows, (0.222, 0.778), alarms=alarms, labels=labels)
        shown: list[Part] = [found, *([self._figure()] if self.headline else []), *self.stated]
        if counted_facts := (*self.facts, *self.persons):
            shown.append(Listed("Facts", counted_facts))
        shown.append(Listed("What to do next", self.steps))
        if self.doubts:
            shown.append(Listed("In doubt", self.doubts))
        return tuple(shown)

    def _figure(self) -> Grid:
        """Return the headline metrics on their scales, by facet: alarms and what is worse first."""
        facets = {aspect: name for name, aspect in FACETS.items()}
        order = list(reversed(facets))
        shown = sorted(
            self.headline.items(),
            key=lambda one: (
                order.index(_aspect(one[1])),
                one[0] not in self.verdict.alarms,
                judged(one[1], self.verdict, one[0], self.shifted) != BEHIND,
                _rank(one[1]),
            ),
        )
        rows = (
            (self.titles[name], facets[_aspect(result)], *self._drawn(name, result))
            for name, result in shown
        )
        return Grid(
            (
                "Headline metric",
                "Facet",
                _SCALE_AGREED if self.agreed else _SCALE,
                *_NUMBERS,
                "Verdict",
            ),
            tuple(rows),
            _WIDTHS_AGREED if self.agreed else _WIDTHS,
            (3, 4),
            alarms=tuple((i, 5) for i, one in enumerate(shown) if one[0] in self.verdict.alarms),
            spare=1,
        )

    def _drawn(self, name: str, result: Result) -> tuple[str, ...]:
        said = judged(result, self.verdict, name, self.shifted)
        value, agreed = number(result.value), self.agreed.get(name, math.nan)
        return (
            OnScale(value, result, agreed),
            value,
            number(result.baseline),
            f"{said}\n{_WHY_BETTER}" if reason(result) else said,
        )


def titles_of(results: SuiteResult) -> dict[str, str]:
    """Return the title of each metric of a suite; with its name where several are of one class."""
    titles = {name: title_of(r.metric) if r.metric else name for name, r in results.items()}
    counts = Counter(titles.values())
    return {
        name: title if counts[title] == 1 or name == title else f"{title} ({name})"
        for name, title in titles.items()
    }


def _aspect(result: Result) -> str:
    return result.tags.aspect if result.tags is not None else ""


def _facet(
    name: str, own: dict[str, Result], results: SuiteResult, titles: dict[str, str]
) -> Facet:
    measured = {n: r for n, r in own.items() if not r.error and not math.isnan(r.value)}
    if not own:
        return Facet(name, "not looked at", _NO_METRIC[name], "", "")
    seen = dict.fromkeys(title_of(r.metric) if r.metric else n for n, r in measured.items())
    looked_at = f"Looked at: {_listed(list(seen))}." if seen else ""
    missed = {titles[n]: r for n, r in own.items() if n not in measured}
    verdict = judge(results, results.sizes, results.notices, called=titles)
    if name == "Privacy":
        alarm = verdict.alarm or verdict.copies
        status = _privacy_status(verdict, results)
        return Facet(name, status, _without_facts(verdict), looked_at, not_tried(results), alarm)
    not_looked_at = _missed(missed)
    if not measured:
        return Facet(name, "not looked at", "", looked_at, not_looked_at)
    words = [judged(r, verdict, n, is_shifted(results.notices)) for n, r in measured.items()]
    if name == "Validity":
        status, text = _shortfalls(measured)
        return Facet(name, status, text, looked_at, not_looked_at)
    status, counts = _counted(dict(zip((titles[name] for name in measured), words, strict=True)))
    lead = fidelity_sentence if name == "Fidelity" else utility_sentence
    text = " ".join(filter(None, (lead(results), counts)))
    return Facet(name, status, text, looked_at, not_looked_at)


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_MAX_NAMED])
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _missed(missed: dict[str, Result]) -> str:
    """Say which metrics could not be measured, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for title, result in missed.items():
        reason = result.error or " ".join(map(str, result.warnings)) or "no value."
        by_reason.setdefault(reason, []).append(title)
    return " ".join(f"Not looked at: {_listed(t)}: {why}" for why, t in by_reason.items())


def _counted(words: Mapping[str, str]) -> tuple[str, str]:
    """Return the status of a facet, and how many metrics were tested against fresh rows.

    The metrics that decide the status are named: a sentence before it may quote others.
    """
    counts = {what: list(words.values()).count(what) for what in (BEHIND, AS_GOOD, CLOSER)}
    n_tested = sum(counts.values())
    if not n_tested:
        return "measured, not tested", ""
    status = next(what for what in (BEHIND, CLOSER, AS_GOOD) if counts[what])
    deciding = _listed([title for title, what in words.items() if what == status != AS_GOOD])
    named = {status: f" ({deciding})"} if deciding else {}
    parts = [f"{n} {what}{named.get(what, '')}" for what, n in counts.items() if n]
    return (
        status,
        f"Of {format_count(n_tested, 'metric')} held against real rows: {', '.join(parts)}.",
    )


def _shortfalls(measured: dict[str, Result]) -> tuple[str, str]:
    """Return the status of checks, and those short of fresh real rows with their worst columns."""
    short = []
    for name, result in measured.items():
        best = max(result.tags.bounds) if result.tags is not None else math.nan
        expected = best if result.baseline is None else min(best, result.baseline)
        reached = max(result.interval) if result.interval else result.value + _SLACK
        if expected > reached:
            worst = entries(result.details, "worst")
            where = f", worst {worst['column']}" if "column" in worst else ""
            short.append(f"{title_of(result.metric) or name} {number(result.value)}{where}")
    n = len(measured)
    fresh = any(result.baseline is not None for result in measured.values())
    if not short:
        good = (
            "are as of fresh real rows, or have the best value" if fresh else "have the best value"
        )
        return (
            "no fault found",
            f"All {format_count(n, 'check')} of columns, types and values {good}.",
        )
    than = "fresh real rows" if fresh else "the best value, because no holdout was given"
    text = f"{len(short)} of {format_count(n, 'check')} short of {than}: {'; '.join(short)}."
    return f"{len(short)} of {format_count(n, 'check')} short", text


def _privacy_status(verdict: Verdict, results: SuiteResult) -> str:
    if verdict.alarm and is_shifted(results.notices):
        return "leak, or only another population, found"
    if verdict.outcome == "no leak found":
        few = any(one.some for result in results.values() for one in result.copies)
        return "few copies, no alarm" if few else "no leak found by these tests"
    return verdict.outcome if verdict.n_tests or verdict.copies else "not tested"


def _without_facts(verdict: Verdict) -> str:
    """Return what it says without what has lists of its own: facts, and what to do."""
    own = [one.text for one in verdict.parts if one.kind not in ("fact", "advice")]
    return " ".join(own)


def _no_copies(results: SuiteResult, verdict: Verdict) -> list[str]:
    """Say of tables without a copy that they have none, since a reader asks for it first."""
    n_rows, said = results.sizes.get("synthetic"), []
    for result in results.values():
        if is_quoted(result, "copies") and result.value == 0.0 and not result.fact:
            of = f" of {n_rows:,}" if n_rows and not result.table else ""
            where = f"In {result.table}, none" if result.table else "None"
            said.append(f"{where}{of} synthetic rows is a complete copy of a train row.")
    return said


def _known_of_persons(results: SuiteResult) -> list[str]:
    """Return what a release says of a whole population, which no test is made of."""
    if not is_whole_population(results.notices):
        return []
    return [
        result.summary
        for result in results.values()
        if result.tags is not None and result.tags.risks and result.p_value is None
        if result.summary and not math.isnan(result.value)
    ]


def _doubts(results: SuiteResult) -> Iterator[str]:
    """Yield what is odd about the real tables: kinds of columns first, then each oddity once."""
    doubts = results.provenance.doubts if results.provenance is not None else {}
    if doubts:
        said = [f"{column} ({doubt})" for column, doubt in list(doubts.items())[:_MAX_DOUBTS]]
        more = f"; and {len(doubts) - len(said)} more" if len(doubts) > len(said) else ""
        yield f"Kinds of columns: {'; '.join(said)}{more}. Name the kinds in a schema."
    odd: list[MetricWarning] = [notice for notice in results.notices if isinstance(notice, _ODD)]
    seen = {type(notice) for notice in odd}
    odd += [
        warning
        for result in results.values()
        for warning in result.warnings
        if isinstance(warning, _ODD_FOR_METRICS) and type(warning) not in seen
    ]
    yield from dict.fromkeys(map(str, odd))


def _steps(results: SuiteResult, verdict: Verdict) -> Iterable[str]:
    """Return what to do next, what is most urgent first."""
    shifted, steps = is_shifted(results.notices), list[str]()
    if shifted:
        steps.append(
            "Set a holdout aside anew, at random and before the generator is trained: until then "
            "no contrast of train and holdout can be relied on."
        )
    elif any(isinstance(notice, MostlySharedRowsWarning) for notice in results.notices):
        steps.append(
            "Take out the rows that train and holdout share, unless they are natural here."
        )
    elif any(one.of_holdout for result in results.values() for one in result.copies):
        steps.append(
            "Find out how holdout rows came into the release: if the generator saw them, set aside "
            "others; if the files were mixed up, exchange them."
        )
    if not shifted:
        steps += _each_once(verdict.advice, results) or (
            ["Fit the generator again with less room to memorise, and evaluate it anew."]
            if verdict.alarm
            else []
        )
    else:
        steps += collect_advice(with_copies(results.values()))
    if verdict.facts and verdict.outcome == "no leak found":
        steps.append("Look at the copied rows before a release, and drop those that are unique.")
    steps += _for_use(results)
    steps += islice(_mended(results, steps), _MAX_MENDED)
    steps += _to_be_given(results)
    return steps[:_MAX_STEPS] or [_NOTHING_TO_MEND]


def _each_once(advice: Iterable[str], results: SuiteResult) -> list[str]:
    """Return pieces of advice without those that coarsen only what an earlier one coarsens."""
    known = results.provenance.columns if results.provenance is not None else ()
    kept, coarsened = list[str](), set[str]()
    for piece in advice:
        named = {one.column for one in known if _names(piece, one.column)}
        if "coarsen" in piece:
            if named and named <= coarsened:
                continue
            coarsened |= named
        kept.append(piece)
    return kept


def _for_use(results: SuiteResult) -> Iterator[str]:
    """Say where models learn less than from train, and by how much."""
    for result in results.values():
        below = max(difference_of(result) or (0.0,)) < 0.0
        if below and result.tags is not None and result.tags.quoted == "learning":
            scores = f"{number(result.value)}, from train {number(result.baseline)}"
            target = result.details.get("target", "the target")
            yield (
                f"For models of {target}, keep first what is associated with it: learned from the "
                f"release they reach {scores}."
            )


def _mended(results: SuiteResult, steps: Sequence[str]) -> Iterator[str]:
    """Yield what to do with each column that no earlier step names, the worst first."""
    for place, found in worst_columns(results).items():
        if any(_names(step, found[0].column) for step in steps):
            continue
        flaw = next((one for one in found if _WORTH <= one.weight < 1.0), None)
        if flaw is not None:
            yield f"Mend {place}: {flaw.text}. {flaw.cure}".strip()


def _names(text: str, column: str) -> bool:
    """Return whether a sentence names a column; one letter may be a word of it."""
    return len(column) > 1 and bool(re.search(rf"(?<!\w){re.escape(column)}(?!\w)", text))


def _to_be_given(results: SuiteResult) -> list[str]:
    """Say what would let more be looked at."""
    given = []
    if is_whole_population(results.notices):
        given.append("Agree on thresholds for what is known of persons: no test can tell.")
    elif results.sizes and "holdout" not in results.sizes:
        given.append("Give holdout rows, which the generator never saw: most tests need them.")
    if not any(_aspect(result) == "utility" for result in results.values()):
        given.append("Name a target column, to see what models learn from the table.")
    return given


def _headline(results: SuiteResult, verdict: Verdict) -> dict[str, Result]:
    """Return the metrics of the table: of each facet the alarms, then those asked for first."""
    # If there are several tables, the one that is worst compared with its fresh rows
    # represents a metric.
    shown: dict[str, Result] = {}
    for facet, aspect in FACETS.items():
        own = [
            (name, result)
            for name, result in results.items()
            if _aspect(result) == aspect and not result.error and not math.isnan(result.value)
        ]
        own.sort(key=lambda one: (one[0] not in verdict.alarms, _rank(one[1]), _beyond(one[1])))
        kinds: dict[str, tuple[str, Result]] = {}
        for name, result in own:
            kinds.setdefault(result.metric if result.table else name, (name, result))
        chosen = dict(list(kinds.values())[: _ROOM[facet]])
        shown |= {name: result for name, result in results.items() if name in chosen}
    return shown


def _rank(result: Result) -> int:
    return (result.tags.headline if result.tags is not None else 0) or _LAST


def _beyond(result: Result) -> float:
    sign = result.tags.sign if result.tags is not None else 0
    gap = sign * (result.value - as_float(result.baseline))
    return 0.0 if math.isnan(gap) else gap
