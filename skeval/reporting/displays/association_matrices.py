"""The associations of pairs of columns."""

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
from skeval.reporting.displays.sentences import describe_result, state_association, state_named
from skeval.reporting.displays.theme import INK, LETTERS, NAMES, difference_ramp, strength_ramp
from skeval.reporting.document.pairs import order_of_clusters
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 118.0, 110.0  # width and height of a matrix in points
_KINDS = ("train", "synthetic", "difference")


class PhikMatricesDisplay(Display):
    """Associations of columns in the training and the synthetic data, and their difference."""

    reads = ("names", *_KINDS)
    n_panels = 3

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.names = [str(name) for name in result.details.get("names", [])]
        unknown = np.full((len(self.names),) * 2, np.nan)
        self.matrices = {kind: to_numbers(result.details.get(kind, unknown)) for kind in _KINDS}

    def frame(self) -> pd.DataFrame:
        """Return `first`, `second`, `train`, `synthetic`, `difference`, the most changed first."""
        frame = list_pairs(self.names, self.matrices, beyond=1)
        order = np.argsort(-frame["difference"].abs().fillna(-1.0).to_numpy(), kind="stable")
        return frame.iloc[order].reset_index(drop=True)

    def title(self) -> str:
        """Return the pair whose association changes most."""
        frame = self.frame().dropna()
        if frame.empty:
            return super().title()
        first, second, real, synthetic, _ = frame.iloc[0]
        return state_association(draw_name(first), draw_name(second), real, synthetic)

    def subtitle(self) -> str:
        """Return the score and the scale of the colors."""
        scale = f"orange for lost, purple for invented, darkest at {self._largest_change():g}"
        named = state_named(naming_step(len(self.names), _SIZE[1]))
        facts = f"white 0, black 1; {scale}", named
        return describe_result(self.result, *facts, has_baseline=False)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw three matrices, with related columns next to each other."""
        if not self.names:
            return
        is_ordered = len(self.names) > 1
        order = order_of_clusters(self.matrices["train"]) if is_ordered else [0]
        names, most = [self.names[i] for i in order], self._largest_change()
        for i, (ax, kind) in enumerate(zip(axes, _KINDS, strict=True)):
            is_change = kind == "difference"
            colors = difference_ramp() if is_change else strength_ramp()
            limits = (-most, most) if is_change else (0.0, 1.0)
            draw_matrix(ax, self.matrices[kind][np.ix_(order, order)], colors, limits)
            ax.set_title(NAMES.get(kind, kind), color=LETTERS.get(kind, INK))
            name_matrix(ax, names, _SIZE, has_rows=i == 0)

    def _largest_change(self) -> float:
        gaps = np.abs(self.matrices["difference"])
        most = float(gaps[np.isfinite(gaps)].max(initial=0.0))
        return max(0.1, math.ceil(10.0 * most) / 10.0)
