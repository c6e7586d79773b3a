"""All values of a suite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.scales import draw_on_scale, scale_of
from skeval.reporting.displays.sentences import join_facts, state_not_drawn, state_scores
from skeval.reporting.displays.series import Series, name_series
from skeval.reporting.displays.theme import GREY, INK, LETTERS, NAMES, TICK
from skeval.reporting.displays.ticks import hide_axis, label_names
from skeval.reporting.document.numbers import count, score
from skeval.results.suite_result import SuiteResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 16  # rows in a panel


class ScoresDisplay(Display):
    """All values of a suite, each on the scale of its metric, with interval and baseline."""

    def __init__(self, suite_result: SuiteResult) -> None:
        self.suite_result = suite_result
        self.n_panels = 2 if len(self.frame()) > _MAX_ROWS else 1

    def frame(self) -> pd.DataFrame:
        """Return `metric`, `value`, `low`, `high`, `baseline`, `direction` of defined values."""
        frame = self.suite_result.frame()
        columns = ["metric", "value", "low", "high", "baseline", "direction"]
        return frame.loc[frame["value"].notna(), columns].reset_index(drop=True)

    def title(self) -> str:
        """Return how many scores are significantly worse than the score of unseen data."""
        results = [self.suite_result[name] for name in self.frame()["metric"]]
        ends = [
            sorted(one.tags.sign * end for end in one.difference)
            for one in results
            if one.difference is not None and one.tags is not None and one.tags.sign
        ]
        return state_scores(len(results), sum(high < 0.0 for _, high in ends), len(ends))

    def subtitle(self) -> str:
        """Return the numbers of rows."""
        sizes = self.suite_result.sizes or {}
        rows = [f"{count(sizes[role])} {role} rows" for role in NAMES if role in sizes]
        not_drawn = max(0, len(self.frame()) - self.n_panels * _MAX_ROWS)
        return join_facts((", ".join(rows), "95% intervals", state_not_drawn(not_drawn, "metrics")))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one line for each metric, between the ends of its scale."""
        names = self.frame()["metric"].tolist()[: self.n_panels * _MAX_ROWS]
        if not names:
            return
        n_rows = math.ceil(len(names) / self.n_panels)
        for i, ax in enumerate(axes):
            self._draw_panel(ax, names[i * n_rows : (i + 1) * n_rows], n_rows)
        color = LETTERS["synthetic"]
        dot: dict[str, Any] = {"marker": "o", "ls": "", "ms": 4.0}
        name_series(
            axes[0],
            [
                Series("value", color, {"color": color, **dot}),
                Series("unseen data", INK, {"color": INK, "mfc": "white", **dot}),
            ],
        )

    def _draw_panel(self, ax: Axes, names: Sequence[str], n_rows: int) -> None:
        results = [self.suite_result[name] for name in names]
        for y, result in enumerate(results):
            draw_on_scale(ax, y, result)
            low, high = scale_of(result)
            for x, end, side in ((-0.07, low, "right"), (1.07, high, "left")):
                style: dict[str, Any] = {"ha": side, "va": "center", "size": TICK, "color": GREY}
                ax.text(x, y, f"{end:.3g}".replace("-", "\N{MINUS SIGN}"), **style)
            ax.text(1.74, y, score(result.value), ha="right", va="center", size=TICK, weight="bold")
        ax.set(xlim=(-0.45, 1.76), ylim=(n_rows - 0.4, -0.6))
        hide_axis(ax.xaxis)
        label_names(ax.yaxis, names)
        ax.spines["left"].set_visible(False)
