"""Displays of values: one result, all of a suite, the columns behind one; and which draws what."""

from __future__ import annotations

import math
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.formatting import number
from skeval.reporting.displays.base import (
    DISPLAYS,
    ROOM,
    Display,
    by_name,
    points,
    register_display,
)
from skeval.reporting.displays.ticks import label_axis, strided
from skeval.reporting.text import shorten
from skeval.reporting.theme import COLOURS, FAINT, GREY, INK, SMALL
from skeval.result import Result, SuiteResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scale_of(result: Result) -> tuple[float, float]:
    """Return the ends of a metric's scale; an infinite one gives way to the numbers at hand.

    Examples
    --------
    >>> from skeval import MetricTags, Result
    >>> from skeval.reporting.displays.values import scale_of
    >>> scale_of(Result(3.0, baseline=4.0, tags=MetricTags("fidelity", bounds=(0, float("inf")))))
    (0.0, 4.0)
    """
    low, high = result.tags.bounds if result.tags else (-math.inf, math.inf)
    at_hand = [
        x for x in (result.value, result.baseline, *(result.interval or ())) if x is not None
    ]
    finite = [x for x in at_hand if math.isfinite(x)] or [0.0]
    low = low if math.isfinite(low) else min(0.0, *finite)
    high = high if math.isfinite(high) else max(finite)
    return (low, high) if high > low else (low, low + 1.0)


def strip(axes: Axes, y: float, place: Any, result: Result, tall: float) -> None:
    """Draw scale, interval, baseline and value in one line; `place` maps numbers to x."""
    low, high = scale_of(result)
    axes.plot(
        place(np.array([low, high])), [y, y], color=FAINT, lw=1.0, solid_capstyle="butt", zorder=1
    )
    if result.interval is not None:
        ends = np.clip(np.array(result.interval), low, high)
        colour = COLOURS["synthetic"]
        axes.plot(
            place(ends), [y, y], color=colour, lw=3.0, alpha=0.35, solid_capstyle="butt", zorder=2
        )
    if result.baseline is not None:
        x = place(np.array([result.baseline] * 2))
        axes.plot(x, [y - tall, y + tall], color=COLOURS["holdout"], lw=1.5, zorder=3)
    if math.isfinite(result.value):
        x = place(np.array([result.value]))
        axes.plot(
            x, [y], marker="o", ms=4.0, mew=0, color=COLOURS["synthetic"], clip_on=False, zorder=4
        )


@register_display
class ValueDisplay(Display):
    """A value on its scale, with its interval and its baseline.

    Parameters
    ----------
    result : Result
        Of any metric.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import ValueDisplay
    >>> ValueDisplay(Result(0.5, baseline=0.9)).frame()["value"].tolist()
    [0.5, 0.9]
    """

    figsize = (5.5, 1.4)

    def frame(self) -> pd.DataFrame:
        """Return one row a number drawn: `what`, `value`."""
        low, high = self.result.interval or (np.nan, np.nan)
        parts = {
            "value": self.result.value,
            "low": low,
            "high": high,
            "baseline": self.result.baseline,
        }
        drawn = {what: float(x) for what, x in parts.items() if x is not None and not math.isnan(x)}
        return pd.DataFrame(
            {"what": list(drawn), "value": np.array(list(drawn.values()), dtype=float)}
        )

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the value above the line and the baseline below it."""
        (ax,), result = axes, self.result
        low, high = scale_of(result)
        strip(ax, 0.0, lambda x: x, result, 0.3)
        ax.set(
            xlim=(low - 0.04 * (high - low), high + 0.04 * (high - low)),
            ylim=(-1.2, 1.2),
            yticks=[],
        )
        ax.spines["left"].set_visible(False)
        text = f"value {number(result.value)}"
        _beside(ax, result.value, 0.5, text, COLOURS["synthetic"], (low, high))
        if result.baseline is not None:
            text = f"baseline {number(result.baseline)}"
            _beside(ax, result.baseline, -0.5, text, COLOURS["holdout"], (low, high))
        ax.set_xlabel(result.tags.direction if result.tags else "")


def _beside(
    ax: Axes, x: float, y: float, text: str, colour: str, scale: tuple[float, float]
) -> None:
    if not math.isfinite(x):
        return
    share = (x - scale[0]) / (scale[1] - scale[0])
    side = "left" if share < 0.2 else "right" if share > 0.8 else "center"
    ax.text(x, y, text, color=colour, ha=side, va="bottom" if y > 0 else "top", size=7.5)


class ScoresDisplay(Display):
    """All values of a suite, each on the scale of its metric, with interval and baseline.

    Parameters
    ----------
    suite_result : SuiteResult
        Of any suite.

    Examples
    --------
    >>> from skeval import Result, SuiteResult
    >>> from skeval.reporting import ScoresDisplay
    >>> ScoresDisplay(SuiteResult({"a": Result(0.5)})).frame()["metric"].tolist()
    ['a']
    """

    def __init__(self, suite_result: SuiteResult) -> None:
        self.suite_result = suite_result
        self.figsize = (6.5, 0.8 + 0.3 * max(1, len(self.frame())))

    def frame(self) -> pd.DataFrame:
        """Return `metric`, `value`, `low`, `high`, `baseline`, `direction` of defined values."""
        frame = self.suite_result.frame()
        columns = ["metric", "value", "low", "high", "baseline", "direction"]
        return frame.loc[frame["value"].notna(), columns].reset_index(drop=True)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one line a metric, the ends of its scale beside it."""
        (ax,) = axes
        shown = [(name, self.suite_result[name]) for name in self.frame()["metric"]]
        for y, (_, result) in enumerate(shown):
            low, high = scale_of(result)
            strip(ax, y, lambda x, low=low, high=high: (x - low) / (high - low), result, 0.25)
            ax.text(-0.02, y, number(low), ha="right", va="center", size=SMALL, color=GREY)
            ax.text(1.02, y, number(high), ha="left", va="center", size=SMALL, color=GREY)
            ax.text(1.13, y, number(result.value), ha="left", va="center", size=8, weight="bold")
        ax.set(xlim=(-0.12, 1.25), ylim=(len(shown) - 0.4, -0.6), xticks=[])
        ax.spines[:].set_visible(False)
        ax.tick_params(axis="y", length=0, labelcolor=INK)
        names = [shorten(name, room, 7.5) for name, _ in shown]
        label_axis(ax.yaxis, range(len(shown)), names, size=7.5)
        _score_legend(ax)


def _score_legend(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"ls": "", "mew": 0, "ms": 4.5}
    handles = [
        Line2D([], [], marker="o", color=COLOURS["synthetic"], **style, label="value"),
        Line2D([], [], color=COLOURS["synthetic"], alpha=0.35, lw=3, label="95% interval"),
        Line2D([], [], color=COLOURS["holdout"], lw=1.5, label="baseline: fresh real rows"),
    ]
    ax.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.0
    )


@register_display
class ColumnScoresDisplay(Display):
    """The scores of the columns as bars, the worst first; markers where fresh real rows score.

    Parameters
    ----------
    result : Result
        With ``details["columns"]``, and ``details["baseline_columns"]`` if there was a holdout.
    start, stop : int, optional
        Which ranks are drawn, the worst column being 0.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import TVComplement
    >>> from skeval.reporting import ColumnScoresDisplay
    >>> table = make_mixed()
    >>> ColumnScoresDisplay(TVComplement().fit(table).evaluate(table)).frame()["column"].tolist()
    ['city', 'plan', 'member']
    """

    reads = ("columns",)

    def __init__(self, result: Result, *, start: int = 0, stop: int | None = None) -> None:
        super().__init__(result)
        self.start = start
        self.stop = stop
        self.figsize = (6.5, min(11.0, 0.6 + 0.19 * max(1, len(self.frame()))))

    def frame(self) -> pd.DataFrame:
        """Return `column`, `score`, `baseline`, `low`, `high`, the worst first, undefined last."""
        details = self.result.details
        names = list(details.get("columns", {}))
        ends = [(details.get("intervals") or {}).get(name) or (None, None) for name in names]
        frame = pd.DataFrame(
            {
                "column": pd.Series(names, dtype=object),
                "score": by_name(details.get("columns"), names),
                "baseline": by_name(details.get("baseline_columns"), names),
                "low": np.array([low for low, _ in ends], dtype=float),
                "high": np.array([high for _, high in ends], dtype=float),
            }
        )
        ascending = self.result.tags is None or self.result.tags.greater_is_better is not False
        frame = frame.sort_values("score", ascending=ascending, kind="stable", na_position="last")
        return frame.iloc[self.start : self.stop].reset_index(drop=True)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one bar a column, its score at the right."""
        (ax,), frame = axes, self.frame()
        low, high = scale_of(self.result)
        if self.result.tags is None or math.isinf(self.result.tags.bounds[1]):
            drawn = frame[["score", "baseline"]].to_numpy(dtype=float)
            high = max(high, float(drawn[np.isfinite(drawn)].max(initial=low)))
        every, size = strided(len(frame), points(ax)[1], 7.0)
        y = np.arange(len(frame))
        ax.barh(
            y,
            frame["score"].fillna(low).clip(low, high) - low,
            left=low,
            height=0.62,
            color=COLOURS["synthetic"],
            alpha=0.75,
        )
        style = {"marker": "|", "ms": max(3.0, 0.9 * size), "mew": 1.4, "ls": ""}
        ax.plot(frame["baseline"], y, color=COLOURS["holdout"], **style)  # type: ignore[arg-type]
        for i in range(0, len(frame), every):
            score = frame["score"].iloc[i]
            text = "no score" if math.isnan(score) else number(score)
            ax.text(high + 0.015 * (high - low), i, text, va="center", size=size, color=INK)
        ax.set(xlim=(low, high), ylim=(len(frame) - 0.4, -0.6))
        ax.tick_params(axis="y", length=0, labelcolor=INK)
        names = [shorten(str(name), room, size) for name in frame["column"].iloc[::every]]
        label_axis(ax.yaxis, y[::every], names, size=size)


def display_of(result: Result) -> Display:
    """Return the display that the metric's tags name.

    Parameters
    ----------
    result : Result
        Of any metric.

    Returns
    -------
    Display
        Of the class that was registered under this name: :class:`ValueDisplay` if there is none, or
        if the result lacks the details that it reads, as one of a degenerate table does.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import display_of
    >>> type(display_of(Result(0.5))).__name__
    'ValueDisplay'
    """
    kind = DISPLAYS.get(result.tags.display if result.tags is not None else "", ValueDisplay)
    if all(_is_there(result.details.get(key)) for key in kind.reads):
        return kind(result)
    return ValueDisplay(result)


def _is_there(value: Any) -> bool:
    return value is not None and (not isinstance(value, Sized) or len(value) > 0)
