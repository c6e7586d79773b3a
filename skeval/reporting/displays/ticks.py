"""Ticks of axes: round numbers, readable dates, names of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.theme import INK

_DAY = 86400.0
_ENDS = -62_135_596_800, 253_402_300_790  # seconds of the years 1 to 9999, which a calendar has
_STEPS = [1, 2, 2.5, 5, 10]  # between numbers, times a power of ten
_CALENDAR = (  # how many units a step may be, and the days from which on a label is so long
    ("YEARLY", [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000], 365.0, "%Y"),
    ("MONTHLY", [1, 2, 3, 6, 12], 30.0, "%Y-%m"),
    ("DAILY", [1, 2, 7, 14, 31], 1.0, "%Y-%m-%d"),
    ("HOURLY", [1, 3, 6, 12, 24], 1.0 / 24.0, "%Y-%m-%d %H:%M"),
    ("MINUTELY", [1, 5, 15, 30, 60], 1.0 / 1440.0, "%Y-%m-%d %H:%M"),
    ("SECONDLY", [1, 5, 15, 30, 60], 1.0 / _DAY, "%Y-%m-%d %H:%M:%S"),
)


def number_ticks(low: float, high: float, most: int = 4) -> tuple[np.ndarray, list[str]]:
    """Return at most `most` round numbers from low to high, and their labels."""
    if not high > low:
        return np.array([low]), tick_labels(np.array([low]))
    from matplotlib.ticker import MaxNLocator

    for n in range(most + 1, 0, -1):  # it counts steps, and begins and ends outside
        every = MaxNLocator(n, steps=_STEPS, min_n_ticks=1).tick_values(low, high)
        ticks = _ticks_inside(every, low, high)
        if len(ticks) <= most:
            break
    ticks = ticks[:: math.ceil(len(ticks) / most)]  # one step of a locator can have three ends
    return ticks, tick_labels(ticks, float(every[1] - every[0]))


def _ticks_inside(ticks: Any, low: float, high: float) -> np.ndarray:
    slack = 1e-9 * (high - low)
    ticks = np.asarray(ticks, dtype=float)
    return ticks[(ticks >= low - slack) & (ticks <= high + slack)]


def tick_labels(ticks: np.ndarray, step: float | None = None) -> list[str]:
    """Return the ticks with the digits that distinguish them, and with k, M or G for thousands."""
    largest = float(np.abs(ticks).max(initial=0.0))
    if largest >= 1e13 or 0 < largest < 1e-4:
        return [_sign_text(f"{tick:.3g}").replace("e+", "e") for tick in ticks]
    unit, suffix = next(
        ((u, s) for u, s in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")) if largest >= u),
        (1.0, ""),
    )
    step = step or largest or 1.0
    if largest < 1e4 or step < unit / 100.0:
        unit, suffix = 1.0, ""  # 2010 and 2020 are often years; 10.0001k reads worse than 10000.1
    steps = ((digits, step / unit * 10**digits) for digits in range(15))
    digits = next((d for d, n in steps if abs(n - round(n)) < 1e-6 * n), 15)
    return [_sign_text(f"{tick / unit:.{digits}f}") + (suffix if tick else "") for tick in ticks]


def _sign_text(text: str) -> str:
    if float(text) == 0.0:
        return "0"
    return text.replace("-", "\N{MINUS SIGN}", 1) if text.startswith("-") else text


def date_ticks(low: float, high: float, most: int = 4) -> tuple[np.ndarray, list[str]]:
    """Return at most `most` dates between two times, in seconds since 1970, and their labels."""
    from matplotlib import dates

    low, high = np.clip([math.floor(low), math.ceil(high)], *_ENDS).tolist()
    locator: Any = dates.AutoDateLocator(minticks=2)  # type: ignore[no-untyped-call]
    formatter: Any = dates.AutoDateFormatter(locator)  # type: ignore[no-untyped-call]
    for unit, steps, length, form in _CALENDAR:
        locator.intervald[getattr(dates, unit)] = steps
        formatter.scaled[length] = form
    epoch: float = dates.date2num(np.datetime64(0, "s"))  # type: ignore[no-untyped-call]
    last = max(high, low + 3)  # steps of less than a second have other labels
    ends = dates.num2date([epoch + end / _DAY for end in (low, last)])  # type: ignore[no-untyped-call]
    for n in range(most + 2, 2, -1):
        locator.maxticks = dict.fromkeys(locator.maxticks, n)
        seconds = (_DAY * (np.asarray(locator.tick_values(*ends)) - epoch)).round()
        ticks = seconds[(seconds >= low) & (seconds <= high)]
        if len(ticks) <= most:
            break
    ticks = ticks[:most] if len(ticks) else np.array([float(low)])
    # days are not exact, and a label is cut off at its last second
    labels = [formatter(epoch + (tick + 0.5) / _DAY) for tick in ticks.tolist()]
    if len(set(labels)) == 1 or not (ticks % _DAY).any():  # the day is enough
        labels = [text[:10] for text in labels]
    return ticks, labels


def value_ticks(kind: str, low: float, high: float, most: int = 4) -> tuple[np.ndarray, list[str]]:
    """Return ticks as the kind of a column wants them."""
    return (date_ticks if kind == "datetime" else number_ticks)(low, high, most)


def label_numbers(axis: Any, low: float, high: float, most: int = 5) -> None:
    """Label an axis with round numbers."""
    ticks, labels = number_ticks(low, high, most)
    axis.set_ticks(ticks, labels=labels)


def label_percentages(axis: Any, high: float, most: int = 4, low: float = 0.0) -> None:
    """Label an axis of shares with round percentages."""
    ticks, _ = number_ticks(100.0 * low, 100.0 * high, most)
    axis.set_ticks(ticks / 100.0, labels=[f"{tick:g}%" for tick in ticks])


def label_names(axis: Any, names: Sequence[object], *, colors: Sequence[str] = ()) -> None:
    """Name the rows or columns of a figure, whose places are 0, 1, 2 and so on."""
    axis.set_ticks(range(len(names)), labels=[draw_name(name) for name in names])
    axis.set_tick_params(length=0.0, labelcolor=INK)
    for text, color in zip(axis.get_ticklabels(), colors, strict=False):
        text.set_color(color)


def hide_axis(axis: Any) -> None:
    """Remove the ticks and the line of an axis."""
    axis.set_ticks([])
    side = "bottom" if axis.axis_name == "x" else "left"
    axis.axes.spines[side].set_visible(False)
