"""The findings on privacy, with the strongest evidence for each question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from skeval.exceptions import GroupedRowsWarning, UnexaminedColumnsWarning, UnreadCellsWarning
from skeval.reporting.document.outcomes import Outcome, Strength
from skeval.reporting.document.questions import Question, question_of, question_of_risk
from skeval.reporting.document.trials import Trial, collect_trials
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import Verdict, aspect_of, is_shifted, is_whole_population
from skeval.stats.copied_rows import Copies

_MAX_NAMED = 3


class Obstacle(Enum):
    """Why the tests of privacy do not allow a conclusion."""

    NO_HOLDOUT = "no holdout"
    NO_TRAIN = "no train"
    WHOLE_POPULATION = "whole population"
    NO_METRIC = "no metric"
    SHIFTED = "shifted"
    GROUPED = "grouped"
    HOLDOUT_USED = "holdout used"
    SHARED_ROWS = "shared rows"
    EXTRA_COLUMNS = "extra columns"
    UNTESTED_COLUMNS = "untested columns"
    UNREADABLE_CELLS = "unreadable cells"
    TOO_LITTLE = "too little"


class NotRun(Enum):
    """Why a question was not answered."""

    NO_HOLDOUT = "no holdout"
    FAILED = "failed"
    NOT_IN_SUITE = "not in suite"


@dataclass(frozen=True)
class Answer:
    """The strongest evidence for one question, out of a number of attacks and tests."""

    question: Question
    outcome: Outcome
    trial: Trial | None = None
    n_trials: int = 0
    not_run: NotRun | None = None
    copies: Copies | None = None

    @property
    def excess(self) -> float:
        """The excess of records, or nan if the evidence is of another kind."""
        trial = self.trial
        return trial.excess if trial is not None and trial.is_rate_of_records else math.nan


@dataclass(frozen=True)
class PrivacyFindings:
    """The findings of the tests of privacy, as typed values."""

    verdict: Verdict
    trials: tuple[Trial, ...]
    answers: tuple[Answer, ...]
    is_shifted: bool
    is_grouped: bool
    unexamined: tuple[str, ...]
    clearest: Trial | None
    strength: Strength | None
    n_significant: int
    copies: tuple[Copies, ...]
    counted: tuple[Copies, ...]
    columns: tuple[str, ...]
    obstacle: Obstacle | None
    n_unseen: int

    def answer_to(self, question: Question) -> Answer:
        """Return the answer to one of the eight questions."""
        return next(one for one in self.answers if one.question is question)

    @property
    def smallest_leaks(self) -> tuple[float, float] | None:
        """The smallest leak that any row, and that every row, would have found; None if unknown."""
        shown = (one.trial for one in self.answers if one.trial and one.trial.is_rate_of_records)
        known = [one.smallest_leak for one in shown if not math.isnan(one.smallest_leak)]
        return (min(known), max(known)) if known else None

    @property
    def excess(self) -> float | None:
        """The excess of the clearest case, or None if it is not one of records in points."""
        clearest = self.clearest
        return clearest.excess if clearest and clearest.is_rate_of_records else None

    @property
    def n_copies(self) -> int:
        """How many units of the training data are copied."""
        counts = (one for one in self.counted if not one.form.startswith("near"))
        return max((one.train.n for one in counts), default=0)

    @property
    def is_alarm(self) -> bool:
        """Whether a test is significant."""
        return self.verdict.alarm

    @property
    def n_tests(self) -> int:
        """How many tests were made."""
        return self.verdict.n_tests

    @property
    def is_counted(self) -> bool:
        """Whether copies were counted."""
        return bool(self.counted)

    @property
    def has_copies(self) -> bool:
        """Whether more units are copied than chance explains."""
        return bool(self.copies)

    @property
    def outcome(self) -> Outcome:
        """The outcome of privacy as a whole."""
        if self.is_alarm:
            return Outcome.LEAK
        if self.has_copies:
            return Outcome.COPIES
        return Outcome.INCONCLUSIVE if self.obstacle else Outcome.NONE_FOUND


def find_privacy(results: SuiteResult, verdict: Verdict) -> PrivacyFindings:
    """Return the findings on privacy. The verdict may include further results."""
    trials = collect_trials(results, verdict)
    significant = [trial for trial in trials if trial.is_significant]
    clearest = min(significant, key=_rank, default=None)
    counted = tuple(dict.fromkeys(one for result in results.values() for one in result.copies))
    copies = sorted(filter(is_beyond_chance, counted), key=rank_of_copies)
    return PrivacyFindings(
        verdict=verdict,
        trials=trials,
        answers=tuple(_answer(question, trials, results, copies) for question in Question),
        is_shifted=is_shifted(results.notices),
        is_grouped=any(isinstance(notice, GroupedRowsWarning) for notice in results.notices),
        unexamined=columns_of_notices(results, UnexaminedColumnsWarning),
        clearest=clearest,
        strength=_strength(significant),
        n_significant=len(_distinct(results, filter(results.__contains__, verdict.alarms))),
        copies=tuple(copies),
        counted=counted,
        columns=_columns_of_leak(significant),
        obstacle=_obstacle(results, verdict),
        n_unseen=results.sizes.get("holdout", 0),
    )


def is_beyond_chance(copies: Copies) -> bool:
    """Return whether there are more copies than expected by chance."""
    return copies.train.beyond_chance


def rank_of_copies(copies: Copies) -> tuple[bool, float]:
    """Return a rank that is lower if more copies are found for each one that is expected."""
    # values of one row are ranked last, because several rows are copied otherwise
    return copies.form == "copies of a value", -copies.train.n / (copies.train.most + 1.0)


def columns_of_notices(
    results: SuiteResult, kind: type[UnexaminedColumnsWarning | UnreadCellsWarning]
) -> tuple[str, ...]:
    """Return the columns that notices of a kind name, each once."""
    notices = (notice for notice in results.notices if isinstance(notice, kind))
    return tuple(dict.fromkeys(column for notice in notices for column in notice.columns))


def _strength(significant: Iterable[Trial]) -> Strength | None:
    """Return the grade of the largest excess among all attacked records; None if none is known."""
    found = [*significant]
    known = [one.excess_of_records for one in found if one.is_rate_of_records]
    grade = Strength.from_points(100.0 * max(known)) if known else None
    # a leak that another test finds as well may be larger
    return None if grade is Strength.SMALL and len(known) < len(found) else grade


def _distinct(results: SuiteResult, names: Iterable[str]) -> list[str]:
    """Return one name of each test, because several metrics may report the same test."""
    tests: dict[object, str] = {}
    for name in names:
        tested = results[name].contrast
        tests.setdefault(tested.comparison_key if tested else name, name)
    return list(tests.values())


def _answer(
    question: Question, trials: Iterable[Trial], results: SuiteResult, copies: Sequence[Copies]
) -> Answer:
    own = [trial for trial in trials if trial.question is question]
    copied = copies[0] if copies and question is Question.COPIES else None
    if not own:
        outcome = Outcome.COPIES if copied else Outcome.NOT_EVALUATED
        return Answer(question, outcome, None, 0, _why_not_run(question, results), copied)
    strongest = min(own, key=_rank)
    if strongest.is_significant:
        outcome = Outcome.LEAK
    elif copied:
        outcome = Outcome.COPIES
    elif question is Question.COPIES and any(r.copies for r in results.values()):
        outcome = Outcome.NONE_FOUND  # copies are counted by another rule
    else:
        outcome = Outcome.NONE_FOUND if strongest.is_tested else Outcome.NO_TEST
    return Answer(question, outcome, strongest, len(own), None, copied)


def _rank(trial: Trial) -> tuple[bool, bool, float, float]:
    """Order significant trials by their excess, and others by their p-value, then by excess."""
    # Each significant test is a leak, however small its p-value is. The largest excess makes the
    # headline, so that its row must show it. Half of an excess that is weighted by rarity is
    # compared, because rare values count more than records.
    p_value = math.inf if math.isnan(trial.p_value) else trial.p_value
    excess = 0.0 if math.isnan(trial.excess) else trial.least_excess
    if trial.is_significant:
        shown = excess / 2.0 if trial.is_weighted else excess
        return False, not trial.has_tested_numbers, 0.0, -shown
    return True, False, p_value, -excess


def _why_not_run(question: Question, results: SuiteResult) -> NotRun:
    failed = any(
        aspect_of(result) == "privacy"
        and (result.error or math.isnan(result.value))
        and _may_answer(result, question)
        for result in results.values()
    )
    if "holdout" not in results.sizes and results.sizes:
        return NotRun.NO_HOLDOUT
    return NotRun.FAILED if failed else NotRun.NOT_IN_SUITE


def _may_answer(result: Result, question: Question) -> bool:
    risks = result.tags.risks if result.tags is not None else frozenset()
    return question_of(result) is question or question in map(question_of_risk, risks)


def _columns_of_leak(significant: Iterable[Trial]) -> tuple[str, ...]:
    """Return the columns for which there is the most evidence in significant tests."""
    # An attack on one column also succeeds if another column reveals the row, so that its column
    # may be new. Rare values that many rows share with the training data are the best evidence.
    evidence, seen = Counter[str](), set[tuple[tuple[str, ...], bool]]()
    for trial in sorted(significant, key=lambda t: (not t.is_rate_of_records, -t.excess)):
        table = f"{trial.table}." if trial.table else ""
        own = (trial.column,) if trial.column else trial.columns[:_MAX_NAMED]
        key = own, trial.is_weighted
        if trial.column or key not in seen:  # two tests may use the same distances
            weight = 4 if trial.is_weighted else 1 if trial.column else 2
            evidence.update({f"{table}{column}": weight for column in own})
        seen.add(key)
    most = max(evidence.values(), default=0)
    return tuple(name for name, n in evidence.most_common(_MAX_NAMED) if 2 * n >= most)


def _obstacle(results: SuiteResult, verdict: Verdict) -> Obstacle | None:
    """Return why the tests do not allow a conclusion, or None."""
    if not verdict.n_tests:
        if is_whole_population(results.notices):
            return Obstacle.WHOLE_POPULATION
        if results.sizes and "train" not in results.sizes:
            return Obstacle.NO_TRAIN
        if results.sizes and "holdout" not in results.sizes:
            return Obstacle.NO_HOLDOUT
        of_privacy = any(aspect_of(result) == "privacy" for result in results.values())
        return Obstacle.TOO_LITTLE if of_privacy else Obstacle.NO_METRIC
    return Obstacle(verdict.void_kinds[0]) if verdict.void_kinds else None
