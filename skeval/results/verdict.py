"""Privacy verdict from all privacy tests of a suite and from the counts of copies.

Holm's procedure controls the probability of any false alarm over all tests of a suite. Separate
levels for each of twenty tests would not control it. Copies of unique training rows are counted
separately: if the synthetic data copy the same number of holdout rows, a comparison of the two does
not reveal it, and a few copies have no small p-value.
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
    GroupedRowsWarning,
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

# Level of the verdict: for all tests of a suite together, or for a single metric. `verdict(0.01)`
# and `Policy(level=0.01)` set another one for a release. Docstrings of results/ and pages of docs/
# repeat it as 0.05 or 5%. With a much smaller level, tests whose permutations are too few for it
# are skipped, and WARNING_LEVEL has to be smaller too.
ALARM_LEVEL = 0.05
# A leak is severe if the excess over unseen records is at least this large.
SEVERE_EXCESS = 0.2
# Level at which a result is reported as passed or significant. It does not affect verdicts.
TEST_LEVEL = 0.05
# Level of the tests of inputs and of a metric itself. There are many of them, and they only warn.
# An alarm with a larger p-value is called weak evidence.
WARNING_LEVEL = 0.01
_KINDS = {
    "screen": "distance screen",
    "attack": "attack",
    "audit": "audit",
    "disclosure": "disclosure metric",
}
VoidKind = Literal[
    "shifted",
    "grouped",
    "holdout used",
    "shared rows",
    "extra columns",
    "untested columns",
    "unreadable cells",
    "too little",
]
_VOID: Mapping[type[MetricWarning], VoidKind] = {
    HoldoutShiftWarning: "shifted",
    GroupedRowsWarning: "grouped",
    HoldoutUsedWarning: "holdout used",
    MostlySharedRowsWarning: "shared rows",
    IgnoredColumnsWarning: "extra columns",
}
ReasonKind = Literal["needs holdout", "meaningless", "unable", "failed", "undefined", "untested"]
SaidKind = Literal["not looked at", "fact", "void", "copies", "alarms", "no alarm", "advice"]
_MAX_ALARMS = 3  # further alarms are counted, not listed
VerdictOutcome = Literal["leak found", "copies found", "inconclusive", "no leak found"]
NOTHING_OF_PRIVACY = "No privacy metric was evaluated."
_LACKS_HOLDOUT = ("holdout", "population")
_RETURN = (
    " No p-value was reported by {names}. A custom metric makes a test if it returns "
    "Result(value, p_value=..., baseline=..., contrast=Contrast(...))."
)
_MIN_KNOWN = 0.5  # with a smaller fraction of known cells, a comparison has little value
_MAX_NAMED = 4  # columns in a sentence: three names and the number of the other columns
_COUNTED = "Copies of training rows were counted, but the count is not a test."
_CAVEAT = "Such tests can find a leak but cannot prove that there is none."
DROP_COPIES = "Drop the copied rows."
REFIT = (
    "Fit the generator again with less capacity to memorize, for example with a tenth of the "
    "steps, larger leaves, or stronger regularization or noise."
)


@dataclass(frozen=True)
class Reason:
    """Reason why a privacy metric has no test."""

    kind: ReasonKind
    text: str

    def __str__(self) -> str:
        return self.text


_UNABLE = Reason("unable", "there are too few holdout rows or relabelings for significance.")
_NEEDS_HOLDOUT = Reason("needs holdout", "its test needs holdout rows.")
_NO_P_VALUE = Reason("untested", "it reports no p-value.")
_MEANINGLESS = Reason(
    "meaningless", "its test needs holdout rows, and train is the whole population."
)


@dataclass(frozen=True)
class Said:
    """One part of the text of a verdict."""

    kind: SaidKind
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Verdict:
    """Privacy verdict of a metric suite.

    Parameters
    ----------
    alarm : bool
        Whether any test is significant after correction for all tests. False does not mean that
        there is no leak. If training and holdout data are not samples of the same population, a
        significant test may be caused by this difference instead of a leak (see `void`).
    alarms : tuple of str
        Metrics with significant tests, most significant first.
    facts : tuple of str
        Counts, for example of copies of training rows, which are relevant even if no test is
        significant.
    not_looked_at : dict of str to Reason
        Metrics without a test, with the reason why there is no test.
    void : tuple of str
        Reasons why the verdict is inconclusive if no test is significant. They are of three kinds.
        Training and holdout data may differ systematically or share most rows. The synthetic data
        may contain holdout rows, columns that are not in the training data, too few rows, or too
        many missing values. There may be a column that no test examined and in which most values
        occur once.
    n_tests : int
        Number of distinct tests.
    level : float
        Maximum probability of any false alarm.
    adjusted : dict of str to float
        P-values after Holm's procedure, by metric. A test is significant if the value is at most
        `level`.
    parts : tuple of Said
        The verdict in words: skipped metrics, facts, significant tests or their absence, and
        advice.
    copies : bool, default=False
        Whether the synthetic data repeat more unique training rows, texts or subjects than real
        data repeat among themselves. This can be true even if no test is significant.
    outcome : {"leak found", "copies found", "inconclusive", "no leak found"}
        "leak found" if a test is significant. Otherwise "copies found" if `copies` is true, or
        "inconclusive" if `void` is not empty or there is no test. "no leak found" does not prove
        that there is no leak.
    advice : tuple of str, default=()
        Fixes for leaks, most significant first, and for copies. Empty if training and holdout data
        are not samples of one population, because the tests then do not show a leak that could be
        fixed.
    void_kinds : tuple of str, default=()
        Kinds of the reasons in `void`, in the same order: "shifted", "grouped", "holdout used",
        "shared rows", "extra columns", "untested columns", "unreadable cells" or "too little".
    results : SuiteResult, optional
        Results on which the verdict is based. A notebook shows them.

    See Also
    --------
    SuiteResult.verdict : Compute the verdict.
    Policy : Define the requirements for a release.

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
    outcome: VerdictOutcome = "inconclusive"
    advice: tuple[str, ...] = ()
    void_kinds: tuple[VoidKind, ...] = ()
    results: Mapping[str, Result] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """All parts in one text."""
        return " ".join(one.text for one in self.parts) or NOTHING_OF_PRIVACY

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, with the text."""
        content = asdict(replace(self, results=None))
        del content["results"]
        return {**content, "sentence": self.sentence}

    def _repr_html_(self) -> str:
        return rendering().html(self)


def raises_alarm(result: Result) -> bool:
    """Return whether the test of a single privacy metric is significant."""
    return _is_test(result) and as_float(result.p_value) <= ALARM_LEVEL


def adjusted_p_values(
    results: Mapping[str, Result], level: float = ALARM_LEVEL
) -> dict[str, float]:
    """Return Holm's adjusted p-values of all privacy tests by metric, and their weights."""
    # Which tests belong to the family depends on what they compare, on the sizes of the tables and
    # on the unlabelled rows. It must never depend on which real rows are training rows, because
    # otherwise the level would not be controlled.
    #
    # Results with the same tests count as one test, whose p-value is the least significant of them.
    # If the suite contains all tests from which a test was selected, the selected test is not
    # counted separately. It is significant if one of them is, because then not all null hypotheses
    # are true. Following Tarone, a test is excluded if its smallest possible p-value is too large
    # for significance at `level`. If this is true only for these rows, for example for a test of
    # copies without any copy, the adjusted p-value is 1.
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
    """Return the level at which each privacy test is significant if all others are not."""
    # This is the level of the first step of Holm's procedure.
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
    """Return the metrics with the same tests."""
    names: dict[frozenset[str], list[str]] = {}
    for name, result in results.items():
        if _is_test(result):
            tests = result.contrast.tests if result.contrast else ()
            names.setdefault(frozenset(tests or (f"of {name} alone",)), []).append(name)
    return names


def _least_p_values(
    results: Mapping[str, Result], names: Mapping[frozenset[str], Sequence[str]], *, here: bool
) -> dict[frozenset[str], float]:
    """Return the smallest possible p-value of each test for these table sizes or these rows."""
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
    """Return the tests to correct for, without combined tests and tests without power."""
    able = sorted(least, key=lambda tests: least[tests] / weights[tests])
    while True:
        family = [
            tests
            for tests in able
            if tests != frozenset().union(*(part for part in able if part < tests))
        ]
        # largest level per weight of 1 that the tests which can be significant do not exceed
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
    """Compute the verdict. See :meth:`SuiteResult.verdict`."""
    called = called or {name: name for name in results}
    of_privacy = {name: r for name, r in results.items() if aspect_of(r) == "privacy"}
    adjusted = adjusted_p_values(of_privacy, level)
    order = {n: (p, as_float(of_privacy[n].p_value)) for n, p in adjusted.items() if p <= level}
    alarms = sorted(order, key=lambda name: order[name])
    has_holdout, shifted = "holdout" in sizes, is_shifted(notices)
    # tests that are not defined for these rows are corrected for, but examined nothing
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
    reasons: list[tuple[VoidKind, Iterable[str]]] = [
        *((k, [str(n)]) for w, k in _VOID.items() for n in notices if tested and type(n) is w),
        ("untested columns", [_describe_untested_values(unique)] if unique else []),
        ("holdout used", in_release),
        ("unreadable cells", _describe_unread(copies)),
        ("too little", _describe_shortage(sizes, copies, tested, level)),
        ("too little", _describe_no_room(of_privacy, level)),
    ]
    voided = [(kind, text) for kind, texts in reasons for text in texts]
    void = tuple(text for _, text in voided)
    has_copies = any(one.train.beyond_chance for one in copies)
    outcome = _outcome(alarms, has_copies, void, tested)
    # advice about a column that differs between train and holdout would be wrong
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
        ("alarms", [_format_alarms(alarms, tested, notices, called)] if alarms else []),
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
        void_kinds=tuple(kind for kind, _ in voided),
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
    """Yield advice if an alarm may be chance or an undetected small shift of the holdout."""
    if p_value <= WARNING_LEVEL or any(one.leak_sentence for one in copies):
        return
    yield (
        f"The evidence is weak (adjusted p = {number(p_value, 2)}). Evaluate another sample of the "
        "same generator, and a sample of a refitted generator. A real leak is found again."
    )
    yield from (str(one) for one in notices if isinstance(one, UnnoticedShiftWarning))


def _outcome(
    alarms: list[str], has_copies: bool, void: tuple[str, ...], tested: Mapping[str, Result]
) -> VerdictOutcome:
    # Alarms are tests whose adjusted p-value is at most the level. `Copied.beyond_chance` in
    # stats/copied_rows.py decides about copies, and `verdict` collects what makes the suite void.
    # Files in steps/ or suites/ raise the notices among them.
    #
    # The report uses the same order for one metric and for one of several tables, in privacy.py and
    # all_numbers.py of reporting/document/. Its headline names copies before leaks that are not
    # severe.
    if alarms:
        return "leak found"
    if has_copies:
        return "copies found"
    return "inconclusive" if void or not tested else "no leak found"


def _describe_untested_values(columns: Sequence[str]) -> str:
    return (
        f"No test examined {names_in_words(columns)}, although most values occur once and may be "
        "copies."
    )


def _advising_results(of_privacy: Mapping[str, Result], alarms: Iterable[str]) -> Iterator[Result]:
    """Yield the results with significant tests, most significant first, then those with copies."""
    yield from (of_privacy[name] for name in alarms)
    yield from with_copies(of_privacy.values())


def with_copies(results: Iterable[Result]) -> Iterator[Result]:
    """Yield the results with more copies of unique rows than expected by chance."""
    yield from (one for one in results if any(copies.leak_sentence for copies in one.copies))


def collect_advice(results: Iterable[Result]) -> tuple[str, ...]:
    """Return the advice of results without duplicates, and to refit the generator if it helps."""
    advising = [one for one in results if one.advice]
    pieces = list(dict.fromkeys(one.advice for one in advising))
    for lead in (REFIT, DROP_COPIES):
        leading = [place for place, piece in enumerate(pieces) if piece.startswith(lead)]
        for place in leading[1:]:  # without duplicates
            pieces[place] = pieces[place].removeprefix(lead).strip()
    again = any(piece.startswith(REFIT) for piece in pieces)
    if not again and any(one.refit for one in advising):
        pieces.append(f"Or {REFIT[0].lower()}{REFIT[1:]}")
    return tuple(filter(None, pieces))


def _describe_shortage(
    sizes: Mapping[str, int], copies: Iterable[Copies], tested: Mapping[str, Result], level: float
) -> Iterator[str]:
    """Describe why the synthetic data are too small to find anything."""
    # If each row copies another training row, and train and holdout exchange labels, the smallest
    # p-value of a test is the fraction of training rows to the power of their number.
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
            yield f"The synthetic data have {rows}, too few for a test, which needs {fewest}."
    yield from (one.untold for one in copies if one.untold)


def _describe_unread(copies: Iterable[Copies]) -> Iterator[str]:
    """Describe which synthetic cells cannot be compared with real cells."""
    if any(one.known < _MIN_KNOWN for one in copies):
        yield "Most synthetic cells are missing or cannot be read, so little could be compared."
    yield from (one.hidden for one in copies if one.hidden)


def _describe_no_room(of_privacy: Mapping[str, Result], level: float) -> Iterator[str]:
    """Report if not even a severe leak would have been found."""
    known = smallest_leaks(of_privacy, levels_of_tests(of_privacy, level))
    if known and min(known.values()) > SEVERE_EXCESS:
        yield (
            f"With so few rows, no test would have found a leak of {percent(SEVERE_EXCESS, 0)} of "
            "the records."
        )


def counts_copies(result: Result) -> bool:
    """Return whether a result counts how many training units the synthetic data repeat."""
    is_share = is_quoted(result, "copies") and not math.isnan(result.value)
    return bool(result.copies or result.fact) or is_share


def aspect_of(result: Result) -> str:
    """Return the aspect of a result, or an empty text."""
    return result.tags.aspect if result.tags is not None else ""


def _is_test(result: Result) -> bool:
    return aspect_of(result) == "privacy" and not math.isnan(as_float(result.p_value))


def _distinct(tested: Iterable[Result]) -> dict[Any, Result]:
    """Return the first result of each test."""
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
    """Return why a metric has no test, or None for a descriptive metric."""
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
    other = len(skipped) - without - for_holdout - unable
    if without == n_wanted:
        return "Privacy tests do not apply to a whole population. Values show what is known."
    counts = {
        f"do{'es' if without == 1 else ''} not apply to a whole population": without,
        f"need{'s' if for_holdout == 1 else ''} holdout rows": for_holdout,
        "cannot be significant with so few holdout rows or relabelings": unable,
        f"failed or {'is' if other == 1 else 'are'} not defined": other,
    }
    (first, n_first), *others = [(what, n) for what, n in counts.items() if n]
    of_all = f"{n_first} of {n_wanted} tests {first}"
    why = ", and ".join([of_all, *(f"{n} {what}" for what, n in others)])
    silent = ", ".join(called[name] for name, one in skipped.items() if one is _NO_P_VALUE)
    cure = _RETURN.format(names=silent) if silent else ""
    if len(skipped) == n_wanted:
        return f"No privacy test was possible, because {why}.{cure}"
    if 2 * len(skipped) >= n_wanted:
        return f"Most privacy tests were skipped, because {why}.{cure}"
    return f"Not evaluated: {', '.join(called[name] for name in skipped)} ({why}).{cure}"


def is_shifted(notices: Iterable[MetricWarning]) -> bool:
    """Return whether the notices of a suite include a shift between train and holdout.

    A significant test then indicates this shift or a leak, and the two cannot be distinguished.
    """
    return any(isinstance(notice, HoldoutShiftWarning) for notice in notices)


def is_whole_population(notices: Iterable[MetricWarning]) -> bool:
    """Return whether the notices of a suite include that train is the whole population."""
    return any(isinstance(notice, WholePopulationWarning) for notice in notices)


def _format_alarms(
    alarms: list[str],
    tested: Mapping[str, Result],
    notices: Sequence[MetricWarning],
    called: Mapping[str, str],
) -> str:
    n_tests = len(_distinct(tested.values()))
    different = list(_distinct(tested[name] for name in alarms).values())
    shown = [_format_alarm(tested, result, called) for result in different[:_MAX_ALARMS]]
    more = len(different) - len(shown)
    rest = f"; and by {more} more" if more else ""
    by = f"{len(different)} of {n_tests} tests" if n_tests > 1 else "the only test"
    is_grouped = any(isinstance(notice, GroupedRowsWarning) for notice in notices)
    other = "these groups" if is_grouped else "this shift" if is_shifted(notices) else ""
    lead = f"A leak, or only {other}, was found" if other else "Leak found"
    return f"{lead} by {by}: {'; '.join(shown)}{rest}."


def _format_alarm(tested: Mapping[str, Result], result: Result, called: Mapping[str, str]) -> str:
    name = called[next(name for name, one in tested.items() if one is result)]
    if result.contrast is not None:
        return f"{result.contrast} ({name})"
    return f"{name} (p = {number(result.p_value)})"


def _describe_no_alarm(
    tested: Mapping[str, Result], copies: tuple[Copies, ...], outcome: VerdictOutcome
) -> str:
    if not tested:
        return "There was no privacy test."
    if outcome == "inconclusive":
        return "Whether there is a leak cannot be determined."
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
        return f"{lead[0].upper()}{lead[1:]}. Apart from copies, {listed} found no leak. {_CAVEAT}"
    counted_too = "" if copies else f" {UNCOUNTED.capitalize()}."
    return f"No leak found by {listed}. {_CAVEAT}{counted_too}"


def is_quoted(result: Result, sentence: Quoted) -> bool:
    """Return whether a sentence of a summary quotes the value of this metric."""
    return result.tags is not None and result.tags.quoted == sentence
