"""The scores of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import UNREADABLE, numbers_at
from skeval.reporting.displays.sentences import (
    count_things,
    describe_result,
    state_equal_columns,
    state_not_drawn,
    state_worst_column,
)
from skeval.reporting.displays.series import Series, name_series
from skeval.reporting.displays.theme import FAINT, GAP, INK, LETTERS, TICK
from skeval.reporting.displays.ticks import label_names, label_numbers
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.numbers import score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 16
_SAME = 1e-9
_SHORT = 0.1  # length of an axis on which two decimals would be equal
_MIN_SPAN = 0.005  # smallest length of the axis in units of the score
_DOT: dict[str, Any] = {"marker": "o", "ls": "", "ms": 4.5}


class ColumnScoresDisplay(Display):
    """The scores of the columns as dots, the worst first, and of unseen data as rings."""

    reads = ("columns",)

    def frame(self) -> pd.DataFrame:
        """Return `column`, `score`, `baseline`, `low`, `high`, the worst first, undefined last."""
        details = self.result.details
        unseen, intervals = (
            numbers_at(details, "baseline_columns"),
            mapping_at(details, "intervals"),
        )
        rows = [
            (name, value, number_at(unseen, name), *_ends(intervals.get(name)))
            for name, value in numbers_at(details, "columns").items()
        ]
        frame = pd.DataFrame(rows, columns=["column", "score", "baseline", "low", "high"])
        frame = frame.astype({"column": object, **dict.fromkeys(frame.columns[1:], float)})
        by = {"kind": "stable", "na_position": "last", "ascending": self._is_high_good()}
        frame = frame.sort_values("score", **by)
        return frame.reset_index(drop=True)

    def title(self) -> str:
        """Return the column with the worst score."""
        known = self.frame().dropna(subset="score")
        if known.empty:
            return super().title()
        name, value, baseline, *_ = known.iloc[0]
        if np.ptp(known["score"]) < _SAME:
            return state_equal_columns(len(known), self._show(value))
        unseen = "" if math.isnan(baseline) else self._show(baseline)
        is_high_good = self._is_high_good()
        return state_worst_column(
            draw_name(name), self._show(value), unseen, is_high_good=is_high_good
        )

    def subtitle(self) -> str:
        """Return the number of columns, and the mean with its interval."""
        n = len(self.frame())
        not_drawn = state_not_drawn(n - _MAX_ROWS, "columns")
        return describe_result(self.result, count_things(n, "column"), not_drawn)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one row for each column on an axis that is cut to the scores."""
        (ax,), frame = axes, self.frame().head(_MAX_ROWS)
        if frame.empty:
            return
        y = np.arange(len(frame))
        low, high = self._ends_of_axis(frame)
        ax.set(xlim=(low, high), ylim=(len(frame) - 0.4, -0.6))
        ax.hlines(y, low, high, color=FAINT, lw=0.6, zorder=0)
        known = frame["baseline"].notna()
        ends = frame.loc[known, ["score", "baseline"]].clip(low, high)
        ax.hlines(y[known], ends["baseline"], ends["score"], color=GAP, lw=5.0, zorder=1)
        color = LETTERS["synthetic"]
        ax.plot(frame["baseline"], y, color=INK, mfc="white", clip_on=False, zorder=2, **_DOT)
        ax.plot(frame["score"], y, color=color, clip_on=False, zorder=3, **_DOT)
        for place, value in enumerate(frame["score"]):
            text = "no score" if math.isnan(value) else self._show(value)
            side: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
            ax.text(1.02, place, text, size=TICK, color=INK, **side)
        label_names(ax.yaxis, frame["column"].tolist())
        label_numbers(ax.xaxis, low, high)
        series = [Series("synthetic data", color, {"color": color, **_DOT})]
        if known.any():
            series.append(Series("unseen data", INK, {"color": INK, "mfc": "white", **_DOT}))
        name_series(ax, series)

    def _is_high_good(self) -> bool:
        return self.result.tags is None or self.result.tags.greater_is_better is not False

    def _show(self, value: float) -> str:
        """Return a score, with three decimals if the axis is short."""
        low, high = self._ends_of_axis(self.frame().head(_MAX_ROWS))
        return f"{value:.3f}" if high - low < _SHORT and abs(value) < 10.0 else score(value)

    def _ends_of_axis(self, frame: pd.DataFrame) -> tuple[float, float]:
        drawn = frame[["score", "baseline"]].to_numpy(dtype=float)
        drawn = drawn[np.isfinite(drawn)]
        if not drawn.size:
            return 0.0, 1.0
        least, most = self.result.tags.bounds if self.result.tags else (-math.inf, math.inf)
        middle, span = (drawn.min() + drawn.max()) / 2.0, drawn.max() - drawn.min()
        half = 0.55 * max(span, _MIN_SPAN, 1e-9 * abs(middle))
        return max(float(middle - half), least), min(float(middle + half), most)


def _ends(interval: Any) -> tuple[float, float]:
    """Return the ends of an interval, or nan if there is none."""
    try:
        low, high = interval
        return float(low), float(high)
    except UNREADABLE:
        return math.nan, math.nan
