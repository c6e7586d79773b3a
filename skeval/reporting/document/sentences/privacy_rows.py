"""The words for the eight rows of privacy."""

from __future__ import annotations

import math

from skeval.reporting.document.numbers import count, points
from skeval.reporting.document.outcomes import MAX_MEDIUM, MIN_MEDIUM, Outcome
from skeval.reporting.document.privacy import Answer, NotRun, PrivacyFindings
from skeval.reporting.document.questions import Question
from skeval.reporting.document.sentences.cases import kind_note
from skeval.reporting.document.sentences.nouns import Noun
from skeval.reporting.document.spans import Span, Text, compose, name, names
from skeval.reporting.document.trials import Trial
from skeval.utils.formatting import title_of

QUESTIONS = {
    Question.PICK_OUT: "Pick out one {one}",
    Question.MEMBERSHIP: "Tell who was in the training data",
    Question.GUESS: "Guess a hidden value",
    Question.LINK: "Link two halves of a {one}",
    Question.COMPLETE: "Complete a whole {one}",
    Question.REFUTE: "Tell training from unseen {many} (audit)",
    Question.COPIES: "Copies of training rows or values",
    Question.CLOSER: "Closer to training than to unseen rows",
}
_NOT_RUN = {
    NotRun.NO_HOLDOUT: "not run: no holdout",
    NotRun.FAILED: "not run: the metric failed",
    NotRun.NOT_IN_SUITE: "not run: not in this suite",
}

_MIN_ROUNDED = 20  # from which on a mean count is printed as a whole number


def question_label(question: Question, noun: Noun) -> Text:
    """Return the goal of an attacker."""
    return compose(QUESTIONS[question], one=noun.one, many=noun.many)


MODES = {"univariate": "by one value", "multivariate": "by several values"}


def answer_words(answer: Answer) -> str:
    """Return the outcome of a row, with the excess in points if there is a leak."""
    if answer.outcome is Outcome.LEAK and not math.isnan(answer.excess):
        return f"leak: {points(answer.excess)} points"
    return answer.outcome.word


def rows_note(privacy: PrivacyFindings) -> Text:
    """Return how rows and tests are related, and the grades of a leak."""
    if not privacy.is_alarm:
        return ()
    grades = f"small (below {MIN_MEDIUM:.0f} points), medium, severe (above {MAX_MEDIUM:.0f})"
    return compose(f"One line can cover several tests, and vice versa. Leaks: {grades}.")


def answer_note(answer: Answer, noun: Noun) -> Text:
    """Return the small print of a row, with the attack and its counts."""
    if answer.trial is None:
        return compose(_NOT_RUN[answer.not_run]) if answer.not_run else ()
    trial = answer.trial
    note = _note_without_table(answer, trial, noun)
    return (name(trial.table), Span(": "), *note) if trial.table and note else note


def _note_without_table(answer: Answer, trial: Trial, noun: Noun) -> Text:
    if note := kind_note(trial):
        return note
    if not (trial.has_tested_numbers or trial.column):
        return compose(title_of(trial.metric) if trial.metric else trial.result)
    counted = _counts(trial)
    if answer.question is Question.COPIES:
        return _copies_note(answer, trial, noun)
    lead = _lead(answer, trial, noun)
    if not counted:
        return lead
    return (*lead, Span(": " if lead else ""), *counted)


def _lead(answer: Answer, trial: Trial, noun: Noun) -> Text:
    if trial.is_of_most_confident and trial.column:
        return compose("{column}, confident guesses (chance: 50%)", column=name(trial.column))
    if answer.question is Question.PICK_OUT:
        return compose(MODES.get(trial.mode, ""))
    if answer.question is Question.MEMBERSHIP:
        return compose("picks the training {one} from two", one=noun.one)
    if answer.question is Question.GUESS and trial.column:
        if answer.n_trials > 1:
            return compose(
                "{column}, worst of {n} columns", column=name(trial.column), n=answer.n_trials
            )
        return (name(trial.column),)
    if answer.question is Question.CLOSER:
        return compose("synthetic rows (chance: 50%)") if trial.expected == 0.5 else ()
    return ()


def _counts(trial: Trial) -> Text:
    own, other = trial.counts, trial.expected_counts
    if own is None:
        return ()
    if trial.question is Question.REFUTE:
        return compose(f"{count(own.n_success)} of {count(own.n)} correct (chance: 50%)")
    is_mean = any(one is not None and _is_fraction(one.n_success) for one in (own, other))
    attempts = "" if trial.question is Question.GUESS else " attempts"
    text = f"{_n(own.n_success)} of {count(own.n)}{attempts}{' on average' if is_mean else ''}"
    if other is not None:
        same = own.n == other.n
        text += f" (unseen: {_n(other.n_success)}{'' if same else f' of {count(other.n)}'})"
    return compose(text)


def _n(n: float) -> str:
    return f"{n:.1f}" if _is_fraction(n) else count(n)


def _is_fraction(n: float) -> bool:
    """Whether a count is printed as a fraction, because it is a mean of several runs."""
    return n != round(n) and n < _MIN_ROUNDED


def _copies_note(answer: Answer, trial: Trial, noun: Noun) -> Text:
    if trial.is_weighted:
        of_columns = " of {columns}" if trial.columns else ""
        what = f"values{of_columns} in the release (rare values count more)"
        if trial.columns and trial.mode != "copied cell":  # whose rate is of synthetic rows
            be = "is" if len(trial.columns) == 1 else "are"
            what = f"{{many}} whose {{columns}} {be} in synthetic rows (rare values count more)"
        return compose(what, columns=names(trial.columns, 1), many=noun.many)
    if answer.copies is not None and answer.outcome is Outcome.COPIES:
        # the percentage of the row has another denominator than this count
        percentage = "; %: of synthetic rows" if trial.has_tested_numbers else ""
        return compose(f"{count(answer.copies.train.n)} unique training rows{percentage}")
    kind = "near copies" if trial.metric.startswith("Near") else "exact copies"
    return compose(f"{kind} among synthetic rows")
