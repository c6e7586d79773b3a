"""The sentences of the page on free text."""

from __future__ import annotations

from collections.abc import Sequence

from skeval.reporting.document.numbers import capitalize, count_word, points
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import Text, compose
from skeval.reporting.document.trials import Trial


def texts_title(trials: Sequence[Trial]) -> Text:
    """Return how many tests find that synthetic texts repeat training texts."""
    n, found = len(trials), sum(trial.is_significant for trial in trials)
    if not n:
        return compose("Texts")
    if not found:
        return compose("No test finds that synthetic texts repeat training texts")
    return compose(
        f"{capitalize(count_word(found))} of {count_word(n)} tests "
        f"{'finds' if found == 1 else 'find'} that synthetic texts repeat training texts"
    )


TEXTS_DECK = compose("Texts are compared in counts and rates. No word of a text is shown.")


def test_words(trial: Trial) -> str:
    """Return the outcome of a test, with its excess in points."""
    if not trial.is_significant:
        return Outcome.NONE_FOUND.word
    if trial.is_rate_of_records:
        return f"{Outcome.LEAK.word}: {points(trial.excess)} points"
    return Outcome.LEAK.word


LENGTHS_NOTE = compose(
    "Share of texts by length. Training texts are filled, synthetic texts are a line, and unseen "
    "texts are dashed. The outer bars contain all shorter and all longer texts."
)

LENGTHS_ALTERNATIVE = "Shares of training, synthetic and unseen texts by their length."
