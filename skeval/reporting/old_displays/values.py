"""Displays of values: one result, all of a suite, the columns behind one; and which draws what.

Displays of what was found in texts: counts by type, never a word of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.old_displays.base import (
    DISPLAYS,
    ROOM,
    Display,
    Margins,
    points,
    register_display,
)
from skeval.reporting.old_displays.ticks import label_axis, strided, write
from skeval.reporting.scores import UNREADABLE, entries, number_of, numbers_of
from skeval.reporting.style import COLOURS, FAINT, GREY, INK, LETTERS, SMALL, shorten, widest
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import as_float, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scale_of(result: Result) -> tuple[float, float]:
    """Return the ends of a metric's scale; an infinite one gives way to the numbers at hand."""
    low, high = result.tags.bounds if result.tags else (-math.inf, math.inf)
    at_hand = map(as_float, (result.value, result.baseline, *(result.interval or ())))
    finite = [x for x in at_hand if math.isfinite(x)] or [0.0]
    low = low if math.isfinite(low) else min(0.0, *finite)
    high = high if math.isfinite(high) else max(finite)
    return (low, high) if high > low else (low, low + 1.0)


def comparable(result: Result) -> float:
    """Return the value at the baseline's number of rows, if that is another one; else the value."""
    return number_of(entries(result.details, "at_baseline_size").get("value", result.value))


def strip(
    axes: Axes, y: float, place: Any, result: Result, tall: float, agreed: float = math.nan
) -> None:
    """Draw scale, interval, baseline and value in one line; `place` maps numbers to x.

    A threshold that was agreed is a triangle whose tip stands on the line.
    """
    from matplotlib.lines import Line2D

    low, high = scale_of(result)
    colour, flat = COLOURS["synthetic"], {"solid_capstyle": "butt"}

    def line(values: Sequence[float], heights: Sequence[float], **style: Any) -> None:
        axes.add_artist(Line2D(place(np.array(values)), heights, **style))

    line([low, high], [y, y], color=FAINT, lw=1.0, zorder=1, **flat)
    if result.interval is not None:
        ends = np.clip(np.array(result.interval), low, high)
        line(ends, [y, y], color=colour, lw=3.0, alpha=0.35, zorder=2, **flat)
    if result.baseline is not None:
        line(
            [result.baseline] * 2, [y - tall, y + tall], color=COLOURS["holdout"], lw=1.5, zorder=3
        )
    if math.isfinite(agreed):
        tip: dict[str, Any] = {
            "marker": 11,
            "color": INK,
            "clip_on": False,
        }  # caretdown, on its tip
        line([min(max(agreed, low), high)], [y], ms=4.5, mew=0, zorder=6, **tip)
    dot: dict[str, Any] = {"marker": "o", "color": colour, "clip_on": False}
    if math.isfinite(smaller := comparable(result)) and smaller != result.value:
        line([smaller], [y], ms=4.4, mfc="none", mew=0.8, zorder=4, **dot)
    if math.isfinite(result.value):
        line([result.value], [y], ms=4.0, mew=0, zorder=5, **dot)


@register_display
class ValueDisplay(Display):
    """A value on its scale, with its interval and its baseline."""

    # If the baseline has fewer rows than the value, a ring is the value at the baseline's
    # size.

    figsize = (5.5, 1.4)

    def frame(self) -> pd.DataFrame:
        """Return one row a number drawn: `what`, `value`."""
        low, high = self.result.interval or (np.nan, np.nan)
        values = (self.result.value, low, high, as_float(self.result.baseline))
        frame = pd.DataFrame({"what": ["value", "low", "high", "baseline"], "value": values})
        return frame.dropna(ignore_index=True)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the value above the line and the baseline below it."""
        (ax,), result = axes, self.result
        low, high = scale_of(result)
        strip(ax, 0.0, lambda x: x, result, 0.3)
        span = high - low
        ax.set(xlim=(low - 0.04 * span, high + 0.04 * span), ylim=(-1.2, 1.2))
        label_axis(ax.yaxis, (), ())
        ax.spines["left"].set_visible(False)
        named = ("value", result.value, 0.5), ("baseline", as_float(result.baseline), -0.5)
        for (name, x, y), role in zip(named, ("synthetic", "holdout"), strict=True):
            if math.isfinite(x):
                share = (x - low) / span
                side: Any = "left" if share < 0.2 else "right" if share > 0.8 else "center"
                text, va = f"{name} {number(x)}", "bottom" if y > 0 else "top"
                ax.text(x, y, text, color=LETTERS[role], ha=side, va=va, size=7.5)
        ax.set_xlabel(result.tags.direction if result.tags else "")


class ScoresDisplay(Display):
    """All values of a suite, each on the scale of its metric, with interval and baseline."""

    def __init__(self, suite_result: SuiteResult) -> None:
        self.suite_result = suite_result
        self.figsize = (6.5, 0.8 + 0.3 * max(1, len(self.frame())))

    def frame(self) -> pd.DataFrame:
        """Return `metric`, `value`, `low`, `high`, `baseline`, `direction` of defined values."""
        frame = self.suite_result.frame()
        columns = ["metric", "value", "low", "high", "baseline", "direction"]
        return frame.loc[frame["value"].notna(), columns].reset_index(drop=True)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one line a metric, between the ends of its scale."""
        (ax,) = axes
        shown = [(name, self.suite_result[name]) for name in self.frame()["metric"]]
        for y, (_, result) in enumerate(shown):
            low, high = scale_of(result)
            strip(ax, y, lambda x, low=low, high=high: (x - low) / (high - low), result, 0.25)
            for x, end, side in ((-0.02, low, "right"), (1.02, high, "left")):
                write(ax, x, y, number(end), ha=side, va="center", size=SMALL, color=GREY)
            style: dict[str, Any] = {"va": "center", "size": 8, "weight": "bold"}
            write(ax, 1.13, y, number(result.value), **style)
        ax.set(xlim=(-0.12, 1.25), ylim=(len(shown) - 0.4, -0.6))
        label_axis(ax.xaxis, (), ())
        ax.spines[:].set_visible(False)
        names = [shorten(name, room, 7.5) for name, _ in shown]
        label_axis(ax.yaxis, range(len(shown)), names, size=7.5, color=INK, length=0.0)
        self._legend(ax)

    def _legend(self, ax: Axes) -> None:
        from matplotlib.lines import Line2D

        value, fresh = COLOURS["synthetic"], COLOURS["holdout"]
        handles = [
            Line2D([], [], color=value, marker="o", ls="", mew=0, ms=4.5, label="value"),
            Line2D([], [], color=value, alpha=0.35, lw=3, label="95% interval"),
            Line2D([], [], color=fresh, lw=1.5, label="baseline: fresh real rows"),
        ]
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        ax.legend(handles=handles, ncols=3, borderaxespad=0.0, **above)


@register_display
class ColumnScoresDisplay(Display):
    """The scores of the columns as bars, the worst first; markers where fresh real rows score."""

    reads = ("columns",)

    def __init__(self, result: Result, *, start: int = 0, stop: int | None = None) -> None:
        super().__init__(result)
        self.start = start
        self.stop = stop
        self.figsize = (6.5, min(11.0, 0.6 + 0.19 * max(1, len(self.frame()))))

    def frame(self) -> pd.DataFrame:
        """Return `column`, `score`, `baseline`, `low`, `high`, the worst first, undefined last."""
        details = self.result.details
        fresh, intervals = numbers_of(details, "baseline_columns"), entries(details, "intervals")
        rows = [
            (name, score, fresh.get(name), *_ends(intervals.get(name)))
            for name, score in numbers_of(details, "columns").items()
        ]
        frame = pd.DataFrame(rows, columns=["column", "score", "baseline", "low", "high"])
        frame = frame.astype({"column": object, **dict.fromkeys(frame.columns[1:], float)})
        ascending = self.result.tags is None or self.result.tags.greater_is_better is not False
        frame = frame.sort_values("score", ascending=ascending, kind="stable", na_position="last")
        return frame.iloc[self.start : self.stop].reset_index(drop=True)

    def margins(self, wide: float) -> Margins:
        """Return what names take at the left, and scores at the right."""
        names = self.frame()["column"].astype(str)
        room = widest(names, 7.0, min(0.4 * wide, 142.0))
        return Margins(room + 8.5, 4.0, 40.0, 16.0, rooms=(room,))

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one bar a column, its score at the right."""
        (ax,), frame = axes, self.frame()
        low, high = scale_of(self.result)
        if self.result.tags is None or math.isinf(self.result.tags.bounds[1]):
            drawn = frame[["score", "baseline"]].to_numpy(dtype=float)
            high = max(high, float(drawn[np.isfinite(drawn)].max(initial=low)))
        every, size = strided(len(frame), points(ax)[1], 7.0)
        y = np.arange(len(frame))
        lengths = frame["score"].fillna(low).clip(low, high) - low
        ax.barh(y, lengths, left=low, height=0.62, color=COLOURS["synthetic"], alpha=0.75)
        style: dict[str, Any] = {"marker": "|", "ms": max(3.0, 0.9 * size), "mew": 1.4, "ls": ""}
        ax.plot(frame["baseline"], y, color=COLOURS["holdout"], **style)
        for i in range(0, len(frame), every):
            score = frame["score"].iloc[i]
            text = "no score" if math.isnan(score) else number(score)
            place = high + 0.015 * (high - low)
            write(ax, place, i, text, va="center", size=size, color=INK)
        ax.set(xlim=(low, high), ylim=(len(frame) - 0.4, -0.6))
        names = [shorten(str(name), room, size) for name in frame["column"].iloc[::every]]
        label_axis(ax.yaxis, y[::every], names, size=size, color=INK, length=0.0)


def display_of(result: Result) -> Display:
    """Return the display that the metric's tags name."""
    kind = DISPLAYS.get(result.tags.display if result.tags is not None else "", ValueDisplay)
    if not all(_is_there(result.details.get(key)) for key in kind.reads):
        return ValueDisplay(result)
    try:
        display = kind(result)
        display.check()
    except UNREADABLE:
        return ValueDisplay(result)
    return display


def _ends(interval: Any) -> tuple[float, float]:
    """Return the ends of an interval; nan where it has none."""
    try:
        low, high = interval
    except UNREADABLE:
        return math.nan, math.nan
    return number_of(low), number_of(high)


def _is_there(value: Any) -> bool:
    return value is not None and (not isinstance(value, Sized) or len(value) > 0)


_MAX_TYPES = 12  # types drawn


@register_display
class EntitiesDisplay(Display):
    """Rare entities that synthetic texts repeat, by type: of train alone."""

    # And of the holdout alone.
    #
    # The generator never saw those of the holdout: as many would stand there by chance.

    reads = ("types",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.figsize = 6.5, 0.7 + 0.34 * max(1, len(self.frame()))

    def frame(self) -> pd.DataFrame:
        """Return `type`, `train`, `holdout`, those most repeated of train first."""
        rows = [
            (name, counts["train"], counts["holdout"])
            for name, counts in self.result.details.get("types", {}).items()
        ]
        frame = pd.DataFrame(rows, columns=["type", "train", "holdout"])
        frame = frame.sort_values("train", ascending=False, kind="stable", ignore_index=True)
        return frame.head(_MAX_TYPES)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw two bars a type, their counts at the right."""
        (ax,), frame = axes, self.frame()
        y = np.arange(len(frame))
        top = max(1, int(frame[["train", "holdout"]].to_numpy().max(initial=1)))
        for role, offset in (("train", -0.2), ("holdout", 0.2)):
            style: dict[str, Any] = {"color": COLOURS[role], "alpha": 0.75}
            label = f"repeated, of {role} texts alone"
            ax.barh(y + offset, frame[role], height=0.36, label=label, **style)
            for place, count in zip(y, frame[role], strict=True):
                at = count + 0.012 * top, place + offset
                ax.text(*at, f"{count:,}", va="center", size=SMALL, color=INK)
        ax.set(xlim=(0.0, 1.08 * top), ylim=(len(frame) - 0.4, -0.6))
        label_axis(ax.xaxis, (), ())
        names = [shorten(str(name), room, 7.5) for name in frame["type"]]
        label_axis(ax.yaxis, y, names, size=7.5, color=INK, length=0.0)
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        ax.legend(ncols=2, borderaxespad=0.0, **above)
