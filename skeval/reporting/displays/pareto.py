"""Candidates by two scores, and the front of the candidates that no other dominates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.letters import draw_name, make_drawable, width_of_longest
from skeval.reporting.displays.sentences import join_facts, state_front
from skeval.reporting.displays.theme import GREY, INK, LETTERS, TEXT
from skeval.results.comparison import Comparison
from skeval.stats.pareto import dominated_points, ends_of, points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 1.3  # height of a name, in font sizes


class ParetoDisplay(Display):
    """Candidates by two scores, with the front of those that no other candidate dominates.

    The points on the left of the steps and below them are dominated. Candidates that are not on
    the front are grey.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_aspects)
        The scores by candidate, of which higher ones are better, for example the result of
        :func:`~skeval.model_selection.aspect_table`, or columns of `cv_results_`.
    x, y : str, default="utility", "privacy"
        The columns to draw.
    low, high : DataFrame, optional
        Intervals in the form of `scores`, drawn as crosses. With intervals, the front contains each
        candidate that is dominated only within chance, see
        :func:`~skeval.model_selection.pareto_front`.
    named : {"front", "all"}, default="front"
        The candidates that are labeled with their names.

    Raises
    ------
    InvalidParameterError
        If a column is missing or is not numerical, if `x` and `y` are the same column, or if an
        interval does not have an end or a candidate.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.reporting import ParetoDisplay
    >>> scores = pd.DataFrame({"utility": [0.9, 0.7, 0.6], "privacy": [0.3, 0.8, 0.7]})
    >>> ParetoDisplay(scores).frame()["on_front"].tolist()
    [True, True, False]
    """

    def __init__(
        self,
        scores: pd.DataFrame,
        x: str = "utility",
        y: str = "privacy",
        *,
        low: pd.DataFrame | None = None,
        high: pd.DataFrame | None = None,
        named: Literal["front", "all"] = "front",
    ) -> None:
        self.named = named
        self.x = x
        self.y = y
        points = points_of(scores, [x, y], "ParetoDisplay")
        ends = ends_of(scores, low, high, [x, y], "ParetoDisplay")
        labels: dict[str, Any] = {"index": scores.index, "columns": [x, y]}
        self.scores = pd.DataFrame(points, **labels)
        self.low, self.high = (
            None if end is None else pd.DataFrame(end, **labels) for end in ends or (None, None)
        )
        known = ~np.isnan(points).any(axis=1)
        dominated = dominated_points(points, *(ends or ()))
        self.front = pd.Series(known & ~dominated, index=scores.index, name="on_front")

    def frame(self) -> pd.DataFrame:
        """Return the two scores and `on_front`, by candidate."""
        return self.scores.assign(on_front=self.front)

    def title(self) -> str:
        """Return the candidates on the front."""
        names = [draw_name(name) for name in self.front.index[self.front]]
        return state_front(names, len(self.front))

    def subtitle(self) -> str:
        """Return the two scores."""
        crosses = "lines: 95% intervals" if self.low is not None else ""
        return join_facts((f"{self.x} and {self.y}, higher is better", crosses))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the candidates, the steps of the front and its names."""
        (ax,) = axes
        # by position, because two candidates may have one label
        is_drawn = np.isfinite(self.scores.to_numpy()).all(axis=1)
        known, front = self.scores[is_drawn], self.front.to_numpy()[is_drawn]
        if known.empty:
            return
        self._draw_intervals(ax)
        best = known[~dominated_points(known.to_numpy())].sort_values(self.x)
        ax.step(best[self.x], best[self.y], where="pre", color=LETTERS["synthetic"], lw=1.0)
        for is_on_front, color, size in ((False, GREY, 4.0), (True, LETTERS["synthetic"], 6.0)):
            rows = known[front == is_on_front]
            ax.plot(rows[self.x], rows[self.y], "o", color=color, ms=size, lw=0, zorder=3)
        ax.margins(0.14)
        self._draw_names(ax, known if self.named == "all" else known[front])
        ax.set(xlabel=make_drawable(self.x), ylabel=make_drawable(self.y))

    def _draw_names(self, ax: Axes, named: pd.DataFrame) -> None:
        """Write names next to points, except where a name would overlap another one."""
        ax.autoscale_view()  # otherwise the axes would still have the limits of empty axes
        dots = ax.figure.dpi / 72.0
        (start, end), _ = ax.transAxes.transform([(0, 0), (1, 1)]).T
        taken: list[tuple[float, float, float]] = []
        for name, row in named.iterrows():
            text, point = draw_name(name), (row[self.x], row[self.y])
            x, bottom = ax.transData.transform(point) / dots
            is_right = x > (start + 0.7 * (end - start)) / dots
            width = width_of_longest([text], TEXT)
            left = x - 4.0 - width if is_right else x + 4.0
            if not any(
                left < other_right
                and other_left < left + width
                and abs(bottom - base) < _LINE * TEXT
                for other_left, other_right, base in taken
            ):
                taken.append((left, left + width, bottom))
                side: Any = "right" if is_right else "left"
                shift: dict[str, Any] = {"xytext": (-4 if is_right else 4, 4), "ha": side}
                ax.annotate(text, point, textcoords="offset points", color=INK, **shift)

    def _draw_intervals(self, ax: Axes) -> None:
        if self.low is None or self.high is None:
            return
        for draw, along, across in ((ax.hlines, self.x, self.y), (ax.vlines, self.y, self.x)):
            lines = np.column_stack([self.scores[across], self.low[along], self.high[along]])
            drawn = lines[np.isfinite(lines).all(axis=1)]
            draw(*drawn.T, color="#c3cad2", lw=0.8, zorder=1)


def pareto_of(comparison: Comparison) -> ParetoDisplay | None:
    """Return tables by privacy and by utility, otherwise fidelity; None if one aspect is known."""
    scores = comparison.scores()
    others = [aspect for aspect in ("utility", "fidelity", "validity") if aspect in scores]
    axes = [*others[:1], "privacy"] if "privacy" in scores else others[:2]
    return ParetoDisplay(scores, axes[0], axes[1], named="all") if len(axes) > 1 else None
