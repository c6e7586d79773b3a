"""The similarity of columns and of pairs of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.heat_map import draw_matrix, list_pairs, name_matrix, naming_step
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import to_numbers
from skeval.reporting.displays.sentences import describe_result, state_named, state_pair
from skeval.reporting.displays.theme import LEAK, strength_ramp
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 330.0, 115.0  # width and height of the matrix in points


class SimilarityMatrixDisplay(Display):
    """The similarity matrix: columns on the diagonal, pairs off it, dark if both tables agree."""

    reads = ("names", "matrix")

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.names = [str(name) for name in result.details.get("names", [])]
        self.matrix = to_numbers(result.details.get("matrix", np.empty((0, 0))))

    def frame(self) -> pd.DataFrame:
        """Return `first`, `second`, `similarity`, `ceiling` of columns and pairs, worst first."""
        unknown = np.full(self.matrix.shape, np.nan)
        ceiling = to_numbers(self.result.details.get("ceiling", unknown))
        frame = list_pairs(self.names, {"similarity": self.matrix, "ceiling": ceiling})
        return frame.sort_values("similarity", kind="stable", ignore_index=True)

    def title(self) -> str:
        """Return the least similar pair."""
        frame = self.frame().dropna(subset="similarity")
        if frame.empty:
            return super().title()
        first, second, value, ceiling = frame.iloc[0]
        return state_pair(draw_name(first), draw_name(second), value, ceiling)

    def subtitle(self) -> str:
        """Return the score and the scale of the colors."""
        named = state_named(naming_step(len(self.names), _SIZE[1]))
        return describe_result(self.result, f"white {self._least_similar():g}, black 1", named)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the matrix, with a frame around the worst cell."""
        (ax,) = axes
        if not np.isfinite(self.matrix).any():
            return
        draw_matrix(ax, self.matrix, strength_ramp(), (self._least_similar(), 1.0))
        name_matrix(ax, self.names, _SIZE)
        self._frame_worst(ax)

    def _least_similar(self) -> float:
        known = self.matrix[np.isfinite(self.matrix)]
        return min(0.9, math.floor(10.0 * float(known.min(initial=1.0))) / 10.0)

    def _frame_worst(self, ax: Axes) -> None:
        from matplotlib.patches import Rectangle

        first, second, *_ = self.frame().iloc[0]
        i, j = self.names.index(first), self.names.index(second)
        for x, y in {(i, j), (j, i)}:
            ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=LEAK, lw=1.4))
