"""Numbers and names in the form of sentences and figures."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

NOTHING = "\N{EN DASH}"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MAX_DIGITS = 6  # maximum number of digits to show a difference of two numbers
_SCORE_NAMES = {
    "roc_auc": "ROC-AUC",
    "average_precision": "average precision",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "log_loss": "log-loss",
    "brier": "Brier score",
    "r2": "R2",
    "mse": "mean squared error",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
}

# abbreviations in names of metrics, which sentences spell out
_ABBREVIATED = {
    "KS": "Kolmogorov-Smirnov",
    "TV": "total variation",
    "NNAA": "nearest-neighbor adversarial accuracy",
    "NN": "nearest-neighbor",
    "PRD": "precision-recall",
    "BN": "Bayesian network",
    "GM": "Gaussian mixture",
    "KL": "Kullback-Leibler",
    "MDA": "minimum distance accumulation",
    "CI": "confidence interval",
    "DP": "differential privacy",
    "MSE": "mean squared error",
    "Shannon": "Shannon",
    "Wasserstein": "Wasserstein",
    "Theils": "Theil's",
    "Cramers": "Cramér's",
    "TSTR": "train on synthetic, test on real (TSTR)",
    "TRTS": "train on real, test on synthetic (TRTS)",
    "TSTS": "train on synthetic, test on synthetic (TSTS)",
    "NNDR": "nearest-neighbor distance ratio (NNDR)",
}
_WORD = re.compile(r"[A-Z]\d|[A-Z]+(?=[A-Z][a-z]|\b)|[A-Z]?[a-z]+|\d+")
# a capital that begins a word
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTER = re.compile(r"\b([A-Z]) (?=[a-z])")


def number(value: float | str | None, digits: int = 3) -> str:
    """Return a number with its significant digits, or a dash for nan and None."""
    value = as_float(value)
    if math.isnan(value):
        return NOTHING
    if value == 0 or math.isinf(value):
        return f"{value:.0f}"
    if 1000 <= abs(value) < 1e7:
        return f"{value:,.{max(0, digits - 4)}f}"
    text = f"{value:#.{digits}g}".rstrip(".")
    return text.replace("-", "\N{MINUS SIGN}", 1) if value < 0 else text


def percent(share: float | None, digits: int = 1) -> str:
    """Return a fraction as a percentage. Tiny fractions are not rounded to zero."""
    value = round(100.0 * as_float(share), 9)  # 0.0905 is 9.05%, not 9.0499...%
    if math.isnan(value):
        return NOTHING
    if value in (0.0, 100.0):
        return f"{value:.0f}%"
    least = 10.0**-digits
    return f"<{least:g}%" if 0 < value < least else f"{value:.{digits}f}%"


def pair(first: float, second: float, *, share: bool) -> tuple[str, str]:
    """Return two numbers or fractions, with enough digits to show which is larger."""
    for more in range(_MAX_DIGITS if first != second else 0):
        if share:
            texts = percent(first, 1 + more), percent(second, 1 + more)
        else:
            texts = number(first, 3 + more), number(second, 3 + more)
        if texts[0] != texts[1]:
            return texts
    return (percent(first), percent(second)) if share else (number(first), number(second))


def snake_case(metric: str) -> str:
    """Return the name of a class as in results, which is words in lower case."""
    return _CAPITAL.sub("_", metric).lower()


def title_of(metric: str) -> str:
    """Return the name of a class of metrics as people write it."""
    words = [
        _ABBREVIATED.get(word, word if len(word) == 1 or not word[1:].islower() else word.lower())
        for word in _WORD.findall(metric)
    ]
    title = " ".join(words)
    return _LETTER.sub(r"\1-", title[:1].upper() + title[1:])


def scoring_in_words(scoring: str) -> str:
    """Return the name of a score of models as sentences have it."""
    return _SCORE_NAMES.get(scoring, scoring)


def shown_interval(interval: tuple[float, float] | None) -> str:
    """Return an interval in words, or an empty text without an interval."""
    if interval is None:
        return ""
    low, high = interval
    if math.isinf(high):
        return f"at least {number(low)}" if low > 0 else "no bound"
    return f"{number(low)} to {number(high)}"


def join_names(names: Sequence[str], word: str = "and") -> str:
    """Return all names as a sentence has them."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def names_in_words(names: Sequence[str], most: int = 3) -> str:
    """Return names for a sentence. If there are more than `most`, the last are counted."""
    if len(names) <= most:
        return join_names(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"


def format_mean_count(n: float) -> str:
    """Return a count in words that are also correct for a mean of counts."""
    if n == round(n):
        return f"{n:,.0f}"
    return f"about {n:,.0f}" if n > 1.0 else "fewer than 1"


def format_count(n: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def format_baseline(baseline: float | None) -> str:
    """Return the baseline for the end of a sentence about a fraction, or an empty text."""
    return "" if baseline is None else f" (baseline {percent(baseline)})"


def did_you_mean(unknown: Iterable[str], known: Iterable[str]) -> str:
    """Return a question for the known names that are similar to unknown ones, or an empty text."""
    known = list(known)
    near = [one for name in unknown for one in difflib.get_close_matches(name, known, n=1)]
    return f" Did you mean {', '.join(map(repr, dict.fromkeys(near)))}?" if near else ""


def printable(text: str) -> str:
    """Return a text in which control characters and surrogates are replaced."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def as_float(value: Any) -> float:
    """Return a number that may come from JSON. None is nan, and "inf" is infinite."""
    return float("nan") if value is None else float(value)


def risk_level(value: float, most: float) -> str:
    """Return the level of risk that published rules give a number: "high" above a bound."""
    return "high" if value > most else "low"
