"""Each attack and each test of privacy as one pair of rates, with its test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skeval.reporting.document.details import interval_at, mapping_at, number_at, texts_at
from skeval.reporting.document.questions import Question, question_of, question_of_risk
from skeval.reporting.document.tables import results_with_value
from skeval.results.power import smallest_excess
from skeval.results.result import Contrast, Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import Verdict, levels_of_tests
from skeval.stats.intervals import wilson

_SAME = 1e-9
# rates in which rare values count more, so that their points are not points of records
_WEIGHTED = ("PartialMembershipInference",)
EXPOSED = "exposed_columns"  # in which training rows are closer to synthetic rows than unseen ones
_MAX_P_COLUMN = 0.05  # for a column to be named as the place of a leak


@dataclass(frozen=True)
class Counts:
    """How many attempts succeeded. A mean of counts may be a fraction."""

    n_success: float
    n: float

    @property
    def rate(self) -> float:
        """The fraction of attempts that succeeded."""
        return self.n_success / self.n


@dataclass(frozen=True)
class Place:
    """A column through which attempts work better on training records."""

    column: str
    n: float
    n_train: float
    n_holdout: float


@dataclass(frozen=True)
class Trial:
    """The rate of an attack or a test on the training data, and the rate without a leak."""

    question: Question
    result: str
    metric: str
    observed: float
    expected: float | None = None
    interval: tuple[float, float] | None = None
    expected_interval: tuple[float, float] | None = None
    counts: Counts | None = None
    expected_counts: Counts | None = None
    p_value: float = math.nan
    is_significant: bool = False
    name: str = ""
    mode: str = ""
    column: str = ""
    columns: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    is_of_most_confident: bool = False
    is_weighted: bool = False
    has_tested_numbers: bool = True
    smallest_leak: float = math.nan
    table: str = ""  # of several
    rates_of_all: tuple[float, float] | None = None  # if the most confident guesses were tested
    n_confident: float = math.nan  # how many of these guesses are correct

    @property
    def excess(self) -> float:
        """The observed rate minus the expected rate, or nan without an expected rate."""
        return self.observed - self.expected if self.expected is not None else math.nan

    @property
    def excess_of_records(self) -> float:
        """The excess among all attacked records, by which leaks are graded."""
        # If a few records were copied, all of the 1% most confident guesses may be correct. Such an
        # excess of 100 points shows that there is a leak, but not how many records leak.
        if self.rates_of_all is None:
            return self.excess
        return self.rates_of_all[0] - self.rates_of_all[1]

    @property
    def least_excess(self) -> float:
        """The excess, or the lower end of its interval for the most confident guesses."""
        # ten correct guesses that are all about training records have an excess of 50 points
        if self.expected is None or math.isnan(self.n_confident):
            return self.excess
        return wilson(self.observed * self.n_confident, self.n_confident)[0] - self.expected

    @property
    def is_rate_of_records(self) -> bool:
        """Whether the excess is one of records, in points, and is the one that was tested."""
        return self.has_tested_numbers and not self.is_weighted

    @property
    def is_tested(self) -> bool:
        """Whether there is a p-value."""
        return not math.isnan(self.p_value)


def collect_trials(results: SuiteResult, verdict: Verdict) -> tuple[Trial, ...]:
    """Return every attack and test of privacy that has a value, in the order of the suite."""
    levels = levels_of_tests(results, verdict.level)
    return tuple(
        replace(
            trial,
            table=result.table,
            smallest_leak=_smallest_leak(trial, result, levels.get(name, math.nan)),
        )
        for name, result in results_with_value(results, "privacy").items()
        for trial in _trials_of(name, result, verdict)
    )


def _smallest_leak(trial: Trial, result: Result, level: float) -> float:
    """Return the smallest excess that the test of a trial would have found, or nan."""
    stated = result.details
    for key in ("attacks", "secrets"):
        stated = mapping_at(result.details, key, trial.name) or stated
    return smallest_excess(stated, level)


def _trials_of(name: str, result: Result, verdict: Verdict) -> Iterator[Trial]:
    p_value, is_alarm = verdict.adjusted.get(name, math.nan), name in verdict.alarms
    attacks = list(_attacks(result))
    if not attacks:
        yield from _single_trial(name, result, p_value, is_alarm)
        return
    # the correction over the suite is passed on to each attack of the metric
    own = result.p_value if result.p_value else math.nan
    factor = max(1.0, p_value / own) if not math.isnan(p_value / own) else 1.0
    surest = str(result.details.get("surest_attack", ""))
    for mode, attack in attacks:
        trial = _trial_of_attack(name, mode, attack, result)
        if trial is None:
            continue
        corrected = min(1.0, factor * number_at(attack, "p_adjusted"))
        if len(attacks) == 1:
            corrected = p_value
        is_significant = is_alarm and (corrected <= verdict.level or mode == surest)
        trial = replace(trial, p_value=corrected, is_significant=is_significant)
        tested = _tested_rates(attack, result if mode == surest or len(attacks) == 1 else None)
        yield _with_tested_rates(trial, attack, tested)


def _attacks(result: Result) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the attacks that a metric made on training and holdout records, by their names."""
    if mapping_at(result.details, "control"):
        yield str(result.details.get("mode", "")), result.details
        return
    for key in ("attacks", "secrets"):
        for name, one in mapping_at(result.details, key).items():
            if mapping_at(one, "control"):
                yield str(name), {"secret": name, **one} if key == "secrets" else one


def _trial_of_attack(
    name: str, mode: str, attack: Mapping[str, Any], result: Result
) -> Trial | None:
    own, other = (_counts(attack, role) for role in ("attack", "control"))
    if own is None or other is None:
        return None
    places = _places_of(attack)
    return Trial(
        question=question_of_risk(attack.get("risk")) or question_of(result),
        result=name,
        name=mode,
        metric=result.metric,
        observed=own.rate,
        expected=other.rate,
        interval=interval_at(attack, "attack", "interval"),
        expected_interval=interval_at(attack, "control", "interval"),
        counts=own,
        expected_counts=other,
        mode=mode.partition(" ")[0],
        column=str(attack.get("secret") or ""),
        columns=tuple(place.column for place in places),
        places=places,
    )


def _counts(content: Any, role: str) -> Counts | None:
    n, n_success = (number_at(content, role, key) for key in ("n", "n_success"))
    return Counts(n_success, n) if n > 0 and n_success >= 0 else None


def _places_of(attack: Mapping[str, Any]) -> tuple[Place, ...]:
    """Return the columns through which an attack works better on training records."""
    places = [
        Place(column, *(number_at(one, key) for key in ("n", "train", "holdout")))
        for column, one in mapping_at(attack, "columns").items()
        if number_at(one, "p_value") <= _MAX_P_COLUMN
    ]
    worse = [one for one in places if one.n_train > one.n_holdout]
    return tuple(sorted(worse, key=lambda one: (one.n_holdout - one.n_train, one.column)))


def _tested_rates(attack: Mapping[str, Any], result: Result | None) -> tuple[float, float] | None:
    """Return the two rates that were tested, if the results state them."""
    observed, expected = (number_at(attack, "tested", end) for end in ("observed", "expected"))
    if not math.isnan(observed + expected):
        return observed, expected
    if result is None or result.contrast is None:  # results of an earlier version
        return None
    return result.contrast.observed, result.contrast.expected


def _with_tested_rates(
    trial: Trial, attack: Mapping[str, Any], tested: tuple[float, float] | None
) -> Trial:
    """Return the trial with the tested rates, which may be rates of the most confident guesses."""
    if not trial.is_significant:
        return trial
    if tested is None:
        confident, p_value = (
            number_at(attack, "abstaining", "p_value"),
            number_at(attack, "p_value"),
        )
        if confident <= p_value and number_at(attack, "abstaining", "clearest") < 1.0:
            return replace(trial, is_of_most_confident=True, has_tested_numbers=False)
        return trial
    plain = trial.observed, trial.expected or 0.0
    if max(abs(a - b) for a, b in zip(plain, tested, strict=True)) <= _SAME:
        return trial
    # The most confident guesses are chosen from the guesses about both tables. Therefore their two
    # rates are parts of one list and not rates of success. Without a leak, the fraction of the
    # correct guesses about training records equals the fraction of attacks on training records.
    n, n_other = (one.n if one else 1.0 for one in (trial.counts, trial.expected_counts))
    n_given = number_at(attack, "abstaining", "clearest") * (n + n_other)
    return replace(
        trial,
        observed=tested[0] / (tested[0] + tested[1]),
        expected=n / (n + n_other),
        interval=None,
        expected_interval=None,
        counts=None,
        expected_counts=None,
        is_of_most_confident=True,
        rates_of_all=plain,
        n_confident=n_given * (tested[0] + tested[1] * n_other / n),
    )


def tested_rates(name: str, result: Result, trials: Iterable[Trial]) -> tuple[float, float] | None:
    """Return the rate of the test of a result and the rate without a leak, or None."""
    tested = result.contrast
    if tested is None or not tested.share:
        return None
    surest = result.details.get("surest_attack")
    for trial in trials:
        is_surest = not isinstance(surest, str) or trial.name == surest
        is_own = trial.result == name and is_surest and trial.is_of_most_confident
        if is_own and trial.has_tested_numbers and trial.expected is not None:
            return trial.observed, trial.expected
    return tested.observed, tested.expected


def _single_trial(name: str, result: Result, p_value: float, is_alarm: bool) -> Iterator[Trial]:
    """Yield the one test of a metric, if it compared two rates or has a rate of copies."""
    question, tested = question_of(result), _rate_that_leaks(result.contrast)
    if tested is None or not tested.share:
        is_rate = question is Question.COPIES and 0.0 <= result.value <= 1.0
        if is_rate or not math.isnan(p_value):
            yield Trial(
                question,
                name,
                result.metric,
                result.value,
                interval=result.interval,
                p_value=p_value,
                is_significant=is_alarm,
                has_tested_numbers=is_rate,
            )
        return
    own = _counts(result.details.get("rates"), "train") or _guess_counts(result)
    other = _counts(result.details.get("rates"), "holdout")
    rates_fit = own is not None and abs(own.rate - tested.observed) <= _SAME
    yield Trial(
        question=question,
        result=name,
        metric=result.metric,
        observed=tested.observed,
        expected=tested.expected,
        interval=_interval_of_rate(result),
        expected_interval=interval_at(result.details, "rates", "holdout", "interval"),
        counts=own if rates_fit else None,
        expected_counts=other if rates_fit else None,
        p_value=p_value,
        is_significant=is_alarm,
        mode=str(result.details.get("kind", "")),
        columns=texts_at(result.details, "columns") or texts_at(result.details, EXPOSED),
        is_weighted=result.metric in _WEIGHTED,
    )


def _rate_that_leaks(tested: Contrast | None) -> Contrast | None:
    """Return the rates so that the higher one leaks, as all rows of privacy have them."""
    if tested is None or tested.high_leaks or not tested.share:
        return tested
    observed, expected = 1.0 - tested.observed, 1.0 - tested.expected
    return replace(tested, observed=observed, expected=expected, high_leaks=True)


def _guess_counts(result: Result) -> Counts | None:
    n, n_success = (number_at(result.details, key) for key in ("n_guesses", "n_correct"))
    return Counts(n_success, n) if n > 0 and n_success >= 0 else None


def _interval_of_rate(result: Result) -> tuple[float, float] | None:
    """Return the interval of the rate that was tested, if the result states or implies one."""
    tested = result.contrast
    if interval := interval_at(result.details, "rates", "train", "interval"):
        return interval
    if tested is None or result.interval is None:
        return None
    if abs(result.value - tested.observed) <= _SAME:
        low, high = result.interval
        return (low, high) if tested.high_leaks else (1.0 - high, 1.0 - low)
    closer = number_at(result.details, "closer_to_training")
    if abs(closer - tested.observed) <= _SAME:  # the score is twice the rate that is not closer
        low, high = (1.0 - end / 2.0 for end in reversed(result.interval))
        return min(low, 2.0 * closer - high), high
    return None
