"""Numbers as reports print them, for example rates in percent and differences in points."""

from __future__ import annotations

import math
from collections.abc import Sequence

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MIN_SHOWN, _MAX_WRITTEN_OUT = 0.001, 1e9
_NARROW = 0.01  # width of an interval below which a score has three decimals


def rate(share: float | None) -> str:
    """Return a rate in percent with one decimal, but none at 0 and 100."""
    if share is None or math.isnan(share):
        return NOTHING
    value = round(100.0 * share, 9)
    if value in (0.0, 100.0):
        return f"{value:.0f}%"
    if 0.0 < value < 0.1:
        return "<0.1%"
    return ">99.9%" if 99.9 < value < 100.0 else f"{value:.1f}%"


def whole_percent(share: float) -> str:
    """Return a rate in whole percent, but with a decimal if it would be rounded to 0 or 100."""
    is_rounded_to_end = 0.0 < share < 1.0 and round(100.0 * share) in (0, 100)
    return rate(share) if is_rounded_to_end else f"{round(100.0 * share):.0f}%"


def points(difference: float, digits: int | None = None) -> str:
    """Return a difference of two rates in points, with its sign."""
    value = 100.0 * difference
    if digits is None:
        digits = 0 if abs(value) >= 1.0 else 1
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return f"{_MINUS if value < 0 else '+'}{text}"


def of_100(share: float) -> str:
    """Return a rate as how many of 100, never 0 for a rate above 0."""
    value = 100.0 * share
    if 0.0 < value < 0.5:
        return "fewer than 1"
    if 99.5 < value < 100.0:
        return "more than 99"
    return f"{value:.0f}"


def count(n: float) -> str:
    """Return a number of rows or attempts. A mean of counts is rounded."""
    return NOTHING if math.isnan(n) else f"{n:,.0f}"


def count_word(n: int) -> str:
    """Return a small number as a word, as sentences have it."""
    return _WORDS[n] if 0 <= n < len(_WORDS) else f"{n:,}"


def score(value: float | None, interval: tuple[float, float] | None = None) -> str:
    """Return a score with two decimals, or three if its interval is narrow."""
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else f"{_MINUS}\N{INFINITY}"
    if abs(value) >= _MAX_WRITTEN_OUT:
        return f"{value:.2e}".replace("-", _MINUS, 1) if value < 0 else f"{value:.2e}"
    if 0.0 < abs(value) < _MIN_SHOWN:
        return f"<{_MIN_SHOWN:g}" if value > 0 else f">{_MINUS}{_MIN_SHOWN:g}"
    narrow = interval is not None and 0.0 < interval[1] - interval[0] < _NARROW
    digits = 3 if narrow else 2
    text = f"{abs(value):,.{digits}f}"
    return f"{_MINUS}{text}" if value < 0 and float(text.replace(",", "")) else text


def hundredths(value: float | None) -> str:
    """Return a value on a scale of 100 with one decimal."""
    if value is None or math.isnan(value):
        return NOTHING
    return f"{value:.1f}"


def capitalize(text: str) -> str:
    """Return a sentence whose first letter is a capital."""
    return text[:1].upper() + text[1:]


def list_words(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as a sentence lists them."""
    return f" {last} ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def three_digits(value: float) -> str:
    """Return a score of models."""
    return f"{value:.3f}".replace("-", _MINUS)
