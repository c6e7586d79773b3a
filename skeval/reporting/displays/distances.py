"""The distances of rows to their closest rows, as cumulative curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.reading import stack, to_numbers
from skeval.reporting.displays.sentences import state_medians
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import LINES
from skeval.reporting.displays.ticks import label_numbers, label_percentages
from skeval.reporting.document.details import mapping_at
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Each panel compares two distributions. A curve has the color of the table that differs.
_WITHIN = ("within each table", {"train to train": "train", "synthetic to synthetic": "synthetic"})
_FROM_SYNTHETIC = (
    "from synthetic rows",
    {"synthetic to train": "train", "synthetic to holdout": "holdout"},
)
_TO_TRAIN = ("to training rows", {"holdout to train": "holdout", "synthetic to train": "synthetic"})
_TO_TRAIN_ALONE = (
    "to other training rows",
    {"train to train": "train", "synthetic to train": "synthetic"},
)
_PANELS = (_WITHIN, _FROM_SYNTHETIC, _TO_TRAIN, _TO_TRAIN_ALONE)
_NAMES = {
    "train to train": "training data",
    "synthetic to synthetic": "synthetic data",
    "synthetic to train": "to training rows",
    "synthetic to holdout": "to unseen rows",
    "holdout to train": "unseen rows",
}
_MAX_PANELS = 2


class DistancesDisplay(Display):
    """Cumulative curves of the distances of rows to their closest rows."""

    reads: ClassVar[tuple[str, ...]] = ("histogram",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.curves = _read_curves(result.details)
        panels = [one for one in _PANELS if all(name in self.curves for name in one[1])]
        self.panels = panels[:_MAX_PANELS]
        self.n_panels = max(1, len(self.panels))

    def frame(self) -> pd.DataFrame:
        """Return `distribution`, `distance`, and the `share` of rows within the distance."""
        parts = [(name, *curve) for name, curve in self.curves.items()]
        return stack(parts, ["distribution", "distance", "share"])

    def title(self) -> str:
        """Return the medians of the last panel."""
        if not self.panels:
            return super().title()
        where, pair = self.panels[-1]
        return state_medians(
            where,
            [
                (_name_of(name, where), float(np.interp(0.5, *reversed(self.curves[name]))))
                for name in pair
            ],
        )

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw two curves in each panel."""
        if not self.panels:
            return
        end = max(float(np.nanmax(distances)) for distances, _ in self.curves.values()) or 1.0
        for ax, (where, pair) in zip(axes, self.panels, strict=True):
            for name, role in pair.items():
                ax.plot(*self.curves[name], **LINES[role])
            ax.set(xlim=(0.0, end), ylim=(0.0, 1.0), xlabel=f"distance {where}")
            label_numbers(ax.xaxis, 0.0, end, most=4)
            label_percentages(ax.yaxis, 1.0, most=5)
            name_series(ax, [table_series(r, _name_of(n, where)) for n, r in pair.items()])
        axes[0].set_ylabel("rows within the distance")


def _name_of(name: str, where: str) -> str:
    return (
        "synthetic rows" if where.startswith("to ") and name.startswith("synth") else _NAMES[name]
    )


def _read_curves(details: Mapping[str, Any]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the cumulative curves from the quantiles, or otherwise from the histogram."""
    quantiles = mapping_at(details, "quantiles")
    levels = to_numbers(quantiles.get("levels", []))
    if levels.size > 1:
        known = {name: to_numbers(quantiles[name]) for name in quantiles if name != "levels"}
        return {
            name: (np.insert(distances, 0, 0.0), np.insert(levels, 0, 0.0))
            for name, distances in known.items()
            if np.isfinite(distances).all()
        }
    histogram = mapping_at(details, "histogram")
    edges = to_numbers(histogram.get("edges", []))
    return {
        name: (edges, np.insert(np.cumsum(to_numbers(shares)), 0, 0.0))
        for name, shares in mapping_at(histogram, "shares").items()
    }
