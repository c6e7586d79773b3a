"""ROC curves of models on real rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.diagonal import draw_diagonal
from skeval.reporting.displays.reading import stack, to_numbers
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import LINES, SQUARE
from skeval.reporting.displays.ticks import label_percentages
from skeval.reporting.document.details import mapping_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TRAININGS = {"trtr": "train", "tstr": "synthetic"}


class ModelCurvesDisplay(Display):
    """ROC curves on real rows of a model of training rows and a model of synthetic rows."""

    reads: ClassVar[tuple[str, ...]] = ("roc",)
    figsize = SQUARE
    _x, _y = "fpr", "tpr"
    _axis_names = ("false positive rate", "true positive rate")
    _diagonal = ("chance", 0.6)
    _marker = ""

    def _curves(self) -> Mapping[str, Any]:
        return mapping_at(self.result.details, "roc")

    def frame(self) -> pd.DataFrame:
        """Return the points of each curve, by the table that the model learned from: `rows`."""
        curves = self._curves()
        parts = [
            (role, to_numbers(curves[kind][self._x]), to_numbers(curves[kind][self._y]))
            for kind, role in _TRAININGS.items()
            if kind in curves
        ]
        return stack(parts, ["rows", self._x, self._y])

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one line for each model, and the named diagonal."""
        (ax,), frame = axes, self.frame().dropna()
        draw_diagonal(ax, *self._diagonal)
        roles = list(dict.fromkeys(frame["rows"]))
        for role in roles:
            own = frame[frame["rows"] == role]
            ax.plot(own[self._x], own[self._y], marker=self._marker, ms=3.0, **LINES[role])
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
        ax.set(xlabel=self._axis_names[0], ylabel=self._axis_names[1])
        for axis in (ax.xaxis, ax.yaxis):
            label_percentages(axis, 1.0, most=3)
        names = {"train": "from real data", "synthetic": "from synthetic data"}
        name_series(ax, [table_series(role, names[role]) for role in roles])
