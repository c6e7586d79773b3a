"""Display of candidates by two scores: those that no other beats, and the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.reporting.drawing import ROOM, Drawing, say_empty
from skeval.reporting.text import drawable
from skeval.reporting.theme import COLOURS, FAINT, GREY, SMALL
from skeval.stats.pareto import dominated, ends_of, points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ParetoDisplay"]

_LETTER, _LINE = 0.6, 1.2  # width and height of what is written, in font sizes


class ParetoDisplay(Drawing):
    """Candidates by two scores, the front of those that no other beats in both as steps.

    Left of and below the steps lies what some candidate dominates. Names stand at the candidates on
    the front; others are grey.

    Parameters
    ----------
    scores : DataFrame of shape (n_candidates, n_facets)
        The higher, the better, by candidate; as of :func:`~skeval.model_selection.facet_table`, or
        columns of `cv_results_`.
    x, y : str, default="utility", "privacy"
        The columns to draw.
    low, high : DataFrame, optional
        Intervals in the form of `scores`, drawn as crosses; with them the front keeps whatever
        chance may have set behind, see :func:`~skeval.model_selection.pareto_front`.

    Raises
    ------
    InvalidParameterError
        If a column is not there or holds no numbers, `x` and `y` are one, or an interval lacks an
        end or a candidate.

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
    ) -> None:
        self.x = x
        self.y = y
        points = points_of(scores, [x, y], "ParetoDisplay")
        ends = ends_of(scores, low, high, [x, y], "ParetoDisplay")
        self.scores = pd.DataFrame(points, index=scores.index, columns=[x, y])
        self.low, self.high = (
            None if end is None else pd.DataFrame(end, index=scores.index, columns=[x, y])
            for end in ends or (None, None)
        )
        known = ~np.isnan(points).any(axis=1)
        beaten = dominated(points, *(ends or ()))
        self.front = pd.Series(known & ~beaten, index=scores.index, name="on_front")

    def frame(self) -> pd.DataFrame:
        """Return the two scores and `on_front`, by candidate."""
        return self.scores.assign(on_front=self.front)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the candidates, the steps of the front and its names."""
        ax = axes[0]
        # by position: labels may stand twice; what is infinite has no place
        drawn = np.isfinite(self.scores.to_numpy()).all(axis=1)
        known, front = self.scores[drawn], self.front.to_numpy()[drawn]
        if known.empty:
            say_empty(ax, "no candidate has both scores")
            return
        self._crosses(ax)
        self._steps(ax, known)
        for on_front, colour, size in ((False, GREY, 4.0), (True, COLOURS["synthetic"], 6.0)):
            rows = known[front == on_front]
            ax.plot(rows[self.x], rows[self.y], "o", color=colour, ms=size, lw=0, zorder=3)
        ax.margins(0.12)
        self._names(ax, known[front])
        ax.set_xlabel(f"{self.x}, more is better")
        ax.set_ylabel(f"{self.y}, more is better")

    def head(self, axes: Sequence[Axes]) -> None:
        """Write a title on a figure of its own."""
        axes[0].set_title("Candidates that no other beats")

    def size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return 5.0, 4.0

    def _steps(self, ax: Axes, known: pd.DataFrame) -> None:
        """Draw the edge of what is dominated: by those that are behind no other at all."""
        best = known[~dominated(known.to_numpy())].sort_values(self.x)
        x, y = best[self.x].to_numpy(), best[self.y].to_numpy()
        ax.step(x, y, where="pre", color=COLOURS["synthetic"], lw=1.0)

    def _names(self, ax: Axes, best: pd.DataFrame) -> None:
        """Write names beside points, but where one would lie on a name that stands already."""
        ax.autoscale_view()  # or else places are those of an empty drawing
        dots = ax.figure.dpi / 72.0  # a point of print
        taken: list[tuple[float, float, float]] = []
        for name, row in best.iterrows():
            text, point = drawable(str(name)), (row[self.x], row[self.y])
            left, bottom = ax.transData.transform(point) / dots
            right = left + _LETTER * SMALL * len(text)
            if any(
                left < other_right and other_left < right and abs(bottom - base) < _LINE * SMALL
                for other_left, other_right, base in taken
            ):
                continue
            taken.append((left, right, bottom))
            ax.annotate(text, point, xytext=(4, 4), textcoords="offset points", fontsize=SMALL)

    def _crosses(self, ax: Axes) -> None:
        if self.low is None or self.high is None:
            return
        low, high = self.low.to_numpy(), self.high.to_numpy()
        points = self.scores.to_numpy()
        for j in (0, 1):
            across = points[:, 1 - j]
            drawn = np.isfinite(np.column_stack([low[:, j], high[:, j], across])).all(axis=1)
            line = ax.hlines if j == 0 else ax.vlines
            line(across[drawn], low[drawn, j], high[drawn, j], color=FAINT, lw=0.8, zorder=1)
