"""The sentences of the page on utility."""

from __future__ import annotations

import math

from skeval.reporting.document.checks import UtilityFindings
from skeval.reporting.document.numbers import score, three_digits
from skeval.reporting.document.outcomes import Outcome
from skeval.reporting.document.spans import Text, compose, name, paragraph
from skeval.utils.formatting import scoring_in_words, title_of

_MAX_LEFT = 0.1  # fraction of the gain of a model of real rows over a guess, for "nearly nothing"


def utility_title(utility: UtilityFindings) -> Text:
    """Return whether models learn as much from the synthetic table."""
    if utility.measure:
        return compose(_TITLES.get(utility.outcome, "What analyses of the synthetic table find"))
    if utility.outcome is Outcome.BELOW:
        return compose("Models learn less from the synthetic table")
    if utility.outcome is Outcome.AS_GOOD:
        return compose("Models learn as much from the synthetic table as from real rows")
    return compose("What models learn from the synthetic table")


_TITLES = {
    Outcome.BELOW: "Analyses of the synthetic table fall short of analyses of real rows",
    Outcome.AS_GOOD: "Analyses of the synthetic table agree with analyses of real rows",
}


def utility_sentence(utility: UtilityFindings) -> Text:
    """Return the scores of two models, and whether their difference is significant."""
    if math.isnan(utility.value):
        return ()
    if utility.measure:
        value = value_sentence(utility.value, utility.trained_on_real)
        return compose("{measure}: {value}", measure=title_of(utility.measure), value=value)
    scoring = scoring_in_words(utility.scoring)
    lead = compose(
        f"A model trained on the synthetic table predicts {{target}} on unseen real rows with "
        f"{scoring} {three_digits(utility.value)}",
        target=name(utility.target),
    )
    if math.isnan(utility.trained_on_real):
        return (*lead, *compose("."))
    compared = compose(
        f", compared with {three_digits(utility.trained_on_real)} if trained on real rows."
    )
    return paragraph((*lead, *compared), _meaning(utility))


def _meaning(utility: UtilityFindings) -> Text:
    if utility.outcome is Outcome.AS_GOOD:
        return compose("The difference is not significant.")
    if utility.outcome is not Outcome.BELOW:
        return ()
    is_area = utility.scoring == "roc_auc"
    if is_area and utility.value - 0.5 < _MAX_LEFT * (utility.trained_on_real - 0.5):
        target = name(utility.target)
        return compose("Nearly nothing that predicts {target} is left.", target=target)
    return compose("The difference is significant.")


def value_sentence(value: float, baseline: float | None) -> Text:
    """Return a value next to the value of real rows."""
    if baseline is None or math.isnan(baseline):
        return compose(f"{score(value)}, without a value of real rows.")
    return compose(f"{score(value)}, real rows {score(baseline)}.")
