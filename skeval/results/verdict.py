"""What results may conclude: one family-wise rule over all tests of privacy, and a count of copies.

Each test keeps its own level, which a sentence over twenty of them would not: the chance that a
clean table meets at least one alarm is held by Holm's procedure over all tests of a suite. Copies
of rows that are unique in train are counted by a rule of their own: where as many holdout rows were
copied, no contrast of the two shows it, and few copies have no small p-value.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from skeval.core.tags import Quoted
from skeval.exceptions import (
    HoldoutShiftWarning,
    HoldoutUsedWarning,
    IgnoredColumnsWarning,
    MetricWarning,
    MostlySharedRowsWarning,
    NoTestWarning,
    UnexaminedColumnsWarning,
    UnnoticedShiftWarning,
    WholePopulationWarning,
)
from skeval.results.power import smallest_leaks
from skeval.results.rendering import rendering
from skeval.results.result import Contrast as Contrast
from skeval.results.result import Result
from skeval.stats.copied_rows import UNCOUNTED, Copies
from skeval.stats.multiple_testing import holm
from skeval.utils.formatting import (
    as_float,
    format_count,
    join_names,
    names_in_words,
    number,
    percent,
)

# The level of the verdict: of all alarms of a suite together, and of one metric that is used alone.
# Docstrings of results/ and pages of docs/ repeat it as 0.05 or 5%.
ALARM_LEVEL = 0.05
# The excess over unseen records from which on a leak is severe.
SEVERE_EXCESS = 0.2
# The level of tests that a result reports as passed or significant. They decide no verdict.
TEST_LEVEL = 0.05
# The level of tests of the inputs or of a metric itself. Many are made unasked; they warn. An
# alarm with a larger p-value is called weak evidence.
WARNING_LEVEL = 0.01
_KINDS = {
    "screen": "distance screen",
    "attack": "attack",
    "audit": "audit",
    "disclosure": "measure of disclosure",
}
_VOID = (HoldoutShiftWarning, HoldoutUsedWarning, MostlySharedRowsWarning, IgnoredColumnsWarning)
ReasonKind = Literal["needs holdout", "meaningless", "unable", "failed", "undefined", "untested"]
SaidKind = Literal["not looked at", "fact", "void", "copies", "alarms", "no alarm", "advice"]
_MAX_ALARMS = 3  # further alarms are only counted
Outcome = Literal["leak found", "copies found", "inconclusive", "no leak found"]
NOTHING_OF_PRIVACY = "No metric of privacy was measured."
_LACKS_HOLDOUT = ("holdout", "population")
_RETURN = (
    " No p-value was reported by {names}; a metric of your own makes a test if it returns "
    "Result(value, p_value=..., baseline=..., contrast=Contrast(...))."
)
_MIN_KNOWN = 0.5  # with fewer of the cells of train, a release was hardly compared
_MAX_NAMED = 4  # columns in a sentence: three, and the number of the others
_COUNTED = "Copies of train rows were counted, which is not a test."
_CAVEAT = "Such tests can raise an alarm and never clear a release."
DROP_COPIES = "Drop the copied rows."
REFIT = (
    "Fit the generator again with much less room to memorise: a tenth of the steps, larger leaves, "
    "stronger regularisation or noise."
)


@dataclass(frozen=True)
class Reason:
    """Why a metric of privacy made no test."""

    kind: ReasonKind
    text: str

    def __str__(self) -> str:
        return self.text


_UNABLE = Reason("unable", "there are too few holdout rows or relabellings to raise an alarm.")
_NEEDS_HOLDOUT = Reason("needs holdout", "its test needs holdout rows.")
_NO_P_VALUE = Reason("untested", "it reports no p-value.")
_MEANINGLESS = Reason(
    "meaningless", "its test needs holdout rows, and train is the whole population."
)


@dataclass(frozen=True)
class Said:
    """One part of what a verdict says."""

    kind: SaidKind
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Verdict:
    """What a suite may conclude about privacy.

    Parameters
    ----------
    alarm : bool
        Whether a test is significant family-wise. False is no clearance. If train and holdout are
        no samples of one population, that difference alone may be the reason: see `void`.
    alarms : tuple of str
        The metrics whose tests are significant family-wise, the most significant first.
    facts : tuple of str
        What was counted, such as copies of train rows; it holds even if no test is significant.
    not_looked_at : dict of str to Reason
        The reasons of metrics that made no test.
    void : tuple of str
        Why nothing can be told without an alarm: train and holdout are not samples of one
        population, or mostly the same rows, holdout rows are in the release, or it has columns that
        train lacks, is too small, or too empty to be compared, or no test examined a column most of
        whose values occur once.
    n_tests : int
        Number of different tests.
    level : float
        Chance of any alarm, at most, where nothing leaks.
    adjusted : dict of str to float
        Holm's adjusted p-values, by metric: an alarm is one of at most `level`.
    parts : tuple of Said
        All this in words: what was not looked at, facts, then alarms or their absence, and advice.
    copies : bool, default=False
        Whether the release repeats more rows, texts or subjects that are unique in train than real
        ones repeat among themselves. This holds even if no test is significant.
    outcome : {"leak found", "copies found", "inconclusive", "no leak found"}
        An alarm; else copies; else, where something is void or no test was made, that nothing can
        be told. The last is no clearance.
    advice : tuple of str, default=()
        What to do about alarms, the most significant first, then about copies. Empty where train
        and holdout are no samples of one population: it would be wrong.
    results : SuiteResult, optional
        The results that the verdict is based on, which a notebook shows.

    See Also
    --------
    SuiteResult.verdict : It is made there.
    Policy : What a release must meet.

    Examples
    --------
    >>> from skeval import make_suite
    >>> from skeval.datasets import make_mixed
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> verdict = make_suite("screens").fit(train, holdout).evaluate(train).verdict()
    >>> verdict.outcome, verdict.copies, "exact_matches" in verdict.alarms
    ('leak found', True, True)
    """

    alarm: bool
    alarms: tuple[str, ...]
    facts: tuple[str, ...]
    not_looked_at: dict[str, Reason]
    void: tuple[str, ...]
    n_tests: int
    level: float
    adjusted: dict[str, float]
    parts: tuple[Said, ...]
    copies: bool = False
    outcome: Outcome = "inconclusive"
    advice: tuple[str, ...] = ()
    results: Mapping[str, Result] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """All parts, one after the other."""
        return " ".join(one.text for one in self.parts) or NOTHING_OF_PRIVACY

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, and the sentence."""
        content = asdict(replace(self, results=None))
        del content["results"]
        return {**content, "sentence": self.sentence}

    def _repr_html_(self) -> str:
        return rendering().html(self)


def raises_alarm(result: Result) -> bool:
    """Return whether the test of one privacy metric, used alone, is significant."""
    return _is_test(result) and as_float(result.p_value) <= ALARM_LEVEL


def adjusted_p_values(
    results: Mapping[str, Result], level: float = ALARM_LEVEL
) -> dict[str, float]:
    """Return Holm's adjusted p-values of all tests of privacy, by metric, with their weights."""
    # Which tests make up the family depends on what they look at, on the sizes of the tables
    # and on the rows without their labels, never on which of the real rows were train:
    # otherwise it would not hold the level.
    #
    # Results that name the same tests made one, and the least significant of them gives its
    # p-value. A test that was picked from several is none of its own where the suite has all
    # of those; it is significant where one of them is, since then not all are null. Left out
    # are tests whose least possible p-value is too large for an alarm at `level`, after
    # Tarone. If it is so for these rows alone, as of copies where there is none, the adjusted
    # p-value is 1.
    #
    # Source: R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46
    # (1990) 515-522.
    names = _names_by_tests(results)
    least, least_here = (_least_p_values(results, names, here=here) for here in (False, True))
    weights = _weights_by_tests(results, names)
    family = _family(least_here, weights, level)
    p_values = [max(as_float(results[name].p_value) for name in names[tests]) for tests in family]
    adjusted = dict.fromkeys(_family(least, weights, level), 1.0)
    adjusted |= dict(zip(family, holm(p_values, [weights[tests] for tests in family]), strict=True))
    by_metric: dict[str, float] = {}
    for whole, same in names.items():
        if within := [p_value for part, p_value in adjusted.items() if part <= whole]:
            by_metric |= dict.fromkeys(same, min(within))
    return {name: by_metric[name] for name in results if name in by_metric}


def levels_of_tests(results: Mapping[str, Result], level: float = ALARM_LEVEL) -> dict[str, float]:
    """Return the level at which each test of privacy is significant if no other one is."""
    # It is the level of the first step of Holm's procedure.
    names = _names_by_tests(results)
    weights = _weights_by_tests(results, names)
    family = _family(_least_p_values(results, names, here=True), weights, level)
    whole = sum(weights[tests] for tests in family)
    by_metric: dict[str, float] = {}
    for tests, same in names.items():
        if within := [level * weights[part] / whole for part in family if part <= tests]:
            by_metric |= dict.fromkeys(same, max(within))
    return by_metric


def _names_by_tests(results: Mapping[str, Result]) -> dict[frozenset[str], list[str]]:
    """Return the metrics that made the same tests."""
    names: dict[frozenset[str], list[str]] = {}
    for name, result in results.items():
        if _is_test(result):
            tests = result.contrast.tests if result.contrast else ()
            names.setdefault(frozenset(tests or (f"of {name} alone",)), []).append(name)
    return names


def _least_p_values(
    results: Mapping[str, Result], names: Mapping[frozenset[str], Sequence[str]], *, here: bool
) -> dict[frozenset[str], float]:
    """Return the least p-value possible of each test for tables of these sizes, or these rows."""
    bounds = ("least_p", "least_here") if here else ("least_p",)
    return {
        tests: max(getattr(results[one].contrast, bound, 0.0) for one in same for bound in bounds)
        for tests, same in names.items()
    }


def _weights_by_tests(
    results: Mapping[str, Result], names: Mapping[frozenset[str], Sequence[str]]
) -> dict[frozenset[str], float]:
    return {tests: max(_weight(results[name]) for name in same) for tests, same in names.items()}


def _weight(result: Result) -> float:
    return result.tags.weight if result.tags is not None else 1.0


def _family(
    least: Mapping[frozenset[str], float], weights: Mapping[frozenset[str], float], level: float
) -> list[frozenset[str]]:
    """Return the tests to correct for: not those made up of others, nor those that cannot alarm."""
    able = sorted(least, key=lambda tests: least[tests] / weights[tests])
    while True:
        family = [
            tests
            for tests in able
            if tests != frozenset().union(*(part for part in able if part < tests))
        ]
        # the largest level for each weight of 1 that those which can alarm at it do not exceed
        of_all = list(itertools.accumulate(weights[tests] for tests in family))
        spent = (
            (whole, sum(weights[t] for t in family if least[t] <= level * weights[t] / whole))
            for whole in of_all
        )
        whole = next((whole for whole, used in spent if used <= whole), 1.0)
        unable = [t for t in family if least[t] > level * weights[t] / whole]
        if not unable:
            return [tests for tests in least if tests in family]
        able = [tests for tests in able if tests not in unable]


def verdict(
    results: Mapping[str, Result],
    sizes: Mapping[str, int],
    notices: Sequence[MetricWarning],
    level: float = ALARM_LEVEL,
    *,
    called: Mapping[str, str] | None = None,
    accept_untested: Sequence[str] = (),
) -> Verdict:
    """Judge a suite; see :meth:`SuiteResult.verdict`."""
    called = called or {name: name for name in results}
    of_privacy = {name: r for name, r in results.items() if aspect_of(r) == "privacy"}
    adjusted = adjusted_p_values(of_privacy, level)
    order = {n: (p, as_float(of_privacy[n].p_value)) for n, p in adjusted.items() if p <= level}
    alarms = sorted(order, key=lambda name: order[name])
    has_holdout, shifted = "holdout" in sizes, is_shifted(notices)
    # tests that the rows left undefined are corrected for, and looked at nothing
    looked_at = [name for name in adjusted if not math.isnan(of_privacy[name].value)]
    skipped = _reasons_of_no_test(of_privacy, has_holdout, looked_at)
    if is_whole_population(notices) and not has_holdout:
        skipped = {name: _reason_for_population(reason) for name, reason in skipped.items()}
    tested = {name: of_privacy[name] for name in looked_at}
    copies = tuple(dict.fromkeys(one for r in of_privacy.values() for one in r.copies))
    is_counted = any(map(counts_copies, of_privacy.values()))
    in_release = [one.of_holdout for one in copies if one.of_holdout]
    facts = tuple(dict.fromkeys([*(r.fact for r in of_privacy.values() if r.fact), *in_release]))
    left = [n for n in notices if isinstance(n, UnexaminedColumnsWarning)]
    untested = [f"Not tested: {names_in_words(one.columns, _MAX_NAMED)}." for one in left]
    unique = [n for one in left for n in one.unique if n not in accept_untested]
    void = (
        *(str(n) for n in notices if tested and isinstance(n, _VOID)),
        *([_describe_untested_values(unique)] if unique else []),
        *in_release,
        *_describe_shortage(sizes, copies, tested, level),
        *_describe_no_room(of_privacy, level),
    )
    has_copies = any(one.train.beyond_chance for one in copies)
    outcome = _outcome(alarms, has_copies, void, tested)
    # advice on a column that differs between train and holdout would be wrong
    advice = () if shifted else collect_advice(_advising_results(of_privacy, alarms))
    if alarms and not shifted:
        advice += tuple(_advise_on_weak_evidence(min(adjusted.values()), copies, notices))
    said: list[tuple[SaidKind, Iterable[str]]] = [
        ("not looked at", [_describe_skipped(skipped, len(skipped) + len(tested), called)]),
        ("not looked at", [_COUNTED] if skipped and not tested and is_counted else []),
        ("not looked at", untested),
        ("fact", facts),
        ("void", (why for why in dict.fromkeys(void) if why not in facts)),
        ("copies", (one.leak_sentence for one in copies)),
        ("alarms", [_format_alarms(alarms, tested, shifted, called)] if alarms else []),
        (
            "no alarm",
            [_describe_no_alarm(tested, copies, outcome)]
            if tested or (of_privacy and not skipped)
            else [],
        ),
        ("advice", advice),
    ]
    return Verdict(
        alarm=bool(alarms),
        alarms=tuple(alarms),
        facts=facts,
        not_looked_at=skipped,
        void=void,
        n_tests=len(_distinct(tested.values())),
        level=level,
        adjusted=adjusted,
        parts=tuple(Said(kind, text) for kind, texts in said for text in texts if text),
        copies=has_copies,
        outcome=outcome,
        advice=advice,
    )


def _advise_on_weak_evidence(
    p_value: float, copies: Iterable[Copies], notices: Iterable[MetricWarning]
) -> Iterator[str]:
    """Yield what to do if an alarm may be chance, or a small shift that the check did not find."""
    if p_value <= WARNING_LEVEL or any(one.leak_sentence for one in copies):
        return
    yield (
        f"The evidence is weak (adjusted p = {number(p_value, 2)}): evaluate another sample of the "
        "same generator, and a sample of the generator fitted another time. A leak is found again."
    )
    yield from (str(one) for one in notices if isinstance(one, UnnoticedShiftWarning))


def _outcome(
    alarms: list[str], has_copies: bool, void: tuple[str, ...], tested: Mapping[str, Result]
) -> Outcome:
    # Alarms are tests whose p-value in `adjusted_p_values` is at most the level. Copies are
    # decided by `Copied.beyond_chance` of stats/copied_rows.py, and what makes the suite void
    # is collected in `verdict`. A notice among it is raised by a file of steps/ or suites/.
    #
    # The report has the same order for one metric and for one of several tables, in privacy.py and
    # all_numbers.py of reporting/document/. Its headline names copies before leaks that are not
    # severe.
    if alarms:
        return "leak found"
    if has_copies:
        return "copies found"
    return "inconclusive" if void or not tested else "no leak found"


def _describe_untested_values(columns: Sequence[str]) -> str:
    return (
        f"No test examined {names_in_words(columns)}, where most values occur once: they may be "
        "copies."
    )


def _advising_results(of_privacy: Mapping[str, Result], alarms: Iterable[str]) -> Iterator[Result]:
    """Yield the results of alarms, the most significant first, then those that found copies."""
    yield from (of_privacy[name] for name in alarms)
    yield from with_copies(of_privacy.values())


def with_copies(results: Iterable[Result]) -> Iterator[Result]:
    """Yield the results that found more copies of unique rows than chance explains."""
    yield from (one for one in results if any(copies.leak_sentence for copies in one.copies))


def collect_advice(results: Iterable[Result]) -> tuple[str, ...]:
    """Get what results advise, each piece once, and to fit the generator again where it helps."""
    advising = [one for one in results if one.advice]
    pieces = list(dict.fromkeys(one.advice for one in advising))
    for lead in (REFIT, DROP_COPIES):
        leading = [place for place, piece in enumerate(pieces) if piece.startswith(lead)]
        for place in leading[1:]:  # once is enough
            pieces[place] = pieces[place].removeprefix(lead).strip()
    again = any(piece.startswith(REFIT) for piece in pieces)
    if not again and any(one.refit for one in advising):
        pieces.append(f"Or {REFIT[0].lower()}{REFIT[1:]}")
    return tuple(filter(None, pieces))


def _describe_shortage(
    sizes: Mapping[str, int], copies: Iterable[Copies], tested: Mapping[str, Result], level: float
) -> Iterator[str]:
    """Say why a release is too small or too empty for what looks at it to find anything."""
    # If each row copies another train row, and train and holdout exchange labels, the least
    # p-value of a test is the share of train to the power of their number.
    n_train, n_holdout = (sizes.get(role, 0) for role in ("train", "holdout"))
    weight = sum(map(_weight, _distinct(tested.values()).values()))
    if tested and n_train and n_holdout:
        share = level / max(weight, 1.0)  # the level of a test of weight 1
        fewest = math.ceil(math.log(share) / math.log(n_train / (n_train + n_holdout)))
        n_rows = sizes.get("synthetic", fewest)
        different = min((o.n_distinct for o in copies if o.n_expected >= fewest), default=n_rows)
        if min(n_rows, different) < fewest:
            rows = format_count(
                min(n_rows, different), "different row" if n_rows >= fewest else "row"
            )
            yield f"The release has {rows}, too few for a test: {fewest} are needed."
    if any(one.known < _MIN_KNOWN for one in copies):
        yield "Most cells of the release are missing or cannot be read: it was hardly compared."
    yield from (one.hidden for one in copies if one.hidden)
    yield from (one.untold for one in copies if one.untold)


def _describe_no_room(of_privacy: Mapping[str, Result], level: float) -> Iterator[str]:
    """Say that not even a severe leak would have been found, if that is known."""
    known = smallest_leaks(of_privacy, levels_of_tests(of_privacy, level))
    if known and min(known.values()) > SEVERE_EXCESS:
        yield (
            f"With so few rows, no test would have found a leak of {percent(SEVERE_EXCESS, 0)} of "
            "the records."
        )


def counts_copies(result: Result) -> bool:
    """Return whether a result shows how many units of train the release repeats."""
    is_share = is_quoted(result, "copies") and not math.isnan(result.value)
    return bool(result.copies or result.fact) or is_share


def aspect_of(result: Result) -> str:
    """Return the kind of question that a result answers, "" where it does not say."""
    return result.tags.aspect if result.tags is not None else ""


def _is_test(result: Result) -> bool:
    return aspect_of(result) == "privacy" and not math.isnan(as_float(result.p_value))


def _distinct(tested: Iterable[Result]) -> dict[Any, Result]:
    """Return one result of each test, the first."""
    first: dict[Any, Result] = {}
    for result in tested:
        first.setdefault(result.contrast.comparison_key if result.contrast else id(result), result)
    return first


def _reasons_of_no_test(
    of_privacy: Mapping[str, Result], holdout: bool, judged: Container[str]
) -> dict[str, Reason]:
    reasons = {n: _reason(r, holdout) for n, r in of_privacy.items() if n not in judged}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _reason(result: Result, holdout: bool) -> Reason | None:
    """Return why a metric made no test; None where it describes, and tests nothing."""
    if _is_test(result) and not math.isnan(result.value):
        return _UNABLE
    if result.error:
        lacks_holdout = result.unmet in _LACKS_HOLDOUT and not holdout
        return Reason("needs holdout" if lacks_holdout else "failed", result.error)
    if math.isnan(result.value):
        said = " ".join(map(str, result.warnings))
        return Reason("undefined", said or "it has no value.")
    if untested := [str(w) for w in result.warnings if isinstance(w, NoTestWarning)]:
        return Reason("untested", " ".join(untested))
    if result.row()["evidence"] == "disclosure":
        return None
    return _NO_P_VALUE if holdout else _NEEDS_HOLDOUT


def _reason_for_population(reason: Reason) -> Reason:
    if reason is _NEEDS_HOLDOUT:
        return _MEANINGLESS
    return replace(reason, kind="meaningless") if reason.kind == "needs holdout" else reason


def _describe_skipped(
    skipped: Mapping[str, Reason], n_wanted: int, called: Mapping[str, str]
) -> str:
    if not skipped:
        return ""
    kinds = Counter(reason.kind for reason in skipped.values())
    for_holdout, unable = kinds["needs holdout"], kinds["unable"]
    without = kinds["meaningless"]
    if without == n_wanted:
        return "Tests of privacy mean nothing of a whole population: values say what is known."
    counts = {
        f"mean{'s' if without == 1 else ''} nothing of a whole population": without,
        f"need{'s' if for_holdout == 1 else ''} holdout rows": for_holdout,
        "could raise no alarm with so few holdout rows or relabellings": unable,
        "could not be made": len(skipped) - without - for_holdout - unable,
    }
    (first, n_first), *others = [(what, n) for what, n in counts.items() if n]
    of_all = f"{n_first} of {n_wanted} tests {first}"
    why = ", and ".join([of_all, *(f"{n} {what}" for what, n in others)])
    silent = ", ".join(called[name] for name, one in skipped.items() if one is _NO_P_VALUE)
    cure = _RETURN.format(names=silent) if silent else ""
    if len(skipped) == n_wanted:
        return f"No test of privacy was possible, because {why}.{cure}"
    if 2 * len(skipped) >= n_wanted:
        return f"Privacy was hardly looked at: {why}.{cure}"
    return f"Not looked at: {', '.join(called[name] for name in skipped)} ({why}).{cure}"


def is_shifted(notices: Iterable[MetricWarning]) -> bool:
    """Return whether train and holdout are no samples of one population, by a suite's notices.

    A significant test of the two then shows that difference or a leak, and nobody knows which.
    """
    return any(isinstance(notice, HoldoutShiftWarning) for notice in notices)


def is_whole_population(notices: Iterable[MetricWarning]) -> bool:
    """Return whether train is stated to be the whole population, by a suite's notices."""
    return any(isinstance(notice, WholePopulationWarning) for notice in notices)


def _format_alarms(
    alarms: list[str], tested: Mapping[str, Result], shifted: bool, called: Mapping[str, str]
) -> str:
    n_tests = len(_distinct(tested.values()))
    different = list(_distinct(tested[name] for name in alarms).values())
    shown = [_format_alarm(tested, result, called) for result in different[:_MAX_ALARMS]]
    more = len(different) - len(shown)
    rest = f"; and by {more} more" if more else ""
    by = f"{len(different)} of {n_tests} tests" if n_tests > 1 else "the only test"
    lead = "A leak, or only that difference, was found" if shifted else "Leak found"
    return f"{lead} by {by}: {'; '.join(shown)}{rest}."


def _format_alarm(tested: Mapping[str, Result], result: Result, called: Mapping[str, str]) -> str:
    name = called[next(name for name, one in tested.items() if one is result)]
    if result.contrast is not None:
        return f"{result.contrast} ({name})"
    return f"{name} (p = {number(result.p_value)})"


def _describe_no_alarm(
    tested: Mapping[str, Result], copies: tuple[Copies, ...], outcome: Outcome
) -> str:
    if not tested:
        return "No test of privacy was made."
    if outcome == "inconclusive":
        return "Whether there is a leak cannot be told."
    counts = Counter(r.row()["evidence"] for r in _distinct(tested.values()).values())
    kinds = [
        f"one {what}" if counts[kind] == 1 else f"{counts[kind]} {what}s"
        for kind, what in _KINDS.items()
        if counts[kind]
    ]
    listed = join_names(kinds)
    if outcome == "copies found":
        return f"No further leak was found by {listed}."
    if outcome == "leak found":
        return ""
    if some := [one.some for one in copies if one.some]:
        lead = "; ".join(some)
        return f"{lead[0].upper()}{lead[1:]}. Beyond copies, {listed} raised no alarm. {_CAVEAT}"
    counted_too = "" if copies else f" {UNCOUNTED.capitalize()}."
    return f"No leak found by {listed}. {_CAVEAT}{counted_too}"


def is_quoted(result: Result, sentence: Quoted) -> bool:
    """Return whether a sentence of a summary quotes the value of this metric."""
    return result.tags is not None and result.tags.quoted == sentence
