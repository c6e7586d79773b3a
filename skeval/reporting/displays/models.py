"""Displays of what models learn: curves on real rows, calibration, importances of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.details import entries, numbers_of
from skeval.reporting.displays.base import (
    CURVE,
    ROOM,
    Display,
    Margins,
    numbers,
    points,
    register_display,
    stacked,
)
from skeval.reporting.displays.ticks import label_axis, number_ticks, strided
from skeval.reporting.text import shorten
from skeval.reporting.theme import COLOURS, GREY, INK
from skeval.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TRAININGS = {"trtr": "train", "tstr": "synthetic"}
_MOST = 20  # features that a figure has room for
_CHANCE: dict[str, Any] = {"color": GREY, "ls": (0, (1, 2)), "lw": 0.8}


@register_display
class ModelCurvesDisplay(Display):
    """ROC curves on real rows of models that learned from train and from synthetic rows.

    Where both lie on each other, whoever trains on the synthetic table loses nothing.

    Parameters
    ----------
    result : Result
        With ``details["roc"]``: by `tstr` and `trtr`, `fpr` and `tpr`.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import ModelCurvesDisplay
    >>> curve = {"fpr": [0.0, 0.5, 1.0], "tpr": [0.0, 0.9, 1.0]}
    >>> ModelCurvesDisplay(Result(0.7, details={"roc": {"tstr": curve}})).frame()["tpr"].tolist()
    [0.0, 0.9, 1.0]
    """

    reads = ("roc",)
    figsize = (4.0, 4.0)
    _x, _y = "fpr", "tpr"
    _names = ("false positive rate", "true positive rate")

    def _curves(self) -> Mapping[str, Any]:
        return entries(self.result.details, "roc")

    def frame(self) -> pd.DataFrame:
        """Return the points of each curve, by what the model learned from: `rows`."""
        curves = self._curves()
        parts = [
            (role, numbers(curves[kind][self._x]), numbers(curves[kind][self._y]))
            for kind, role in _TRAININGS.items()
            if kind in curves
        ]
        return stacked(parts, ["rows", self._x, self._y])

    def margins(self, wide: float) -> Margins:
        """Return what numbers and names of the axes take."""
        return CURVE

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw a line a model, and the dotted one of chance, or of perfect calibration."""
        (ax,), frame = axes, self.frame().dropna()
        ax.plot([0.0, 1.0], [0.0, 1.0], **_CHANCE)
        for role, own in frame.groupby("rows", sort=False):
            style: dict[str, Any] = {"color": COLOURS[str(role)], "marker": self._marker}
            label = f"learned from {'real' if role == 'train' else 'synthetic'} rows"
            ax.plot(own[self._x], own[self._y], lw=1.5, ms=3.0, label=label, **style)
        ax.set(xlim=(0.0, 1.02), ylim=(0.0, 1.03), xlabel=self._names[0], ylabel=self._names[1])
        for axis in (ax.xaxis, ax.yaxis):
            label_axis(axis, *number_ticks(0.0, 1.0, most=6))
        if len(frame):
            ax.legend(loc=self._place, borderaxespad=0.4)

    _marker = ""
    _place: Any = "lower right"


@register_display
class CalibrationDisplay(ModelCurvesDisplay):
    """How often an event happens where a model says how likely it is; on the line it is right.

    Parameters
    ----------
    result : Result
        With ``details["curves"]``: by model, by `tstr` and `trtr`, `predicted` and `observed`; the
        first model is drawn.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import CalibrationDisplay
    >>> curve = {"predicted": [0.1, 0.9], "observed": [0.2, 0.8]}
    >>> result = Result(0.9, details={"curves": {"linear": {"tstr": curve}}})
    >>> CalibrationDisplay(result).frame()["observed"].tolist()
    [0.2, 0.8]
    """

    reads = ("curves",)
    _x, _y = "predicted", "observed"
    _names = ("probability that the model gives", "share of rows where it is so")
    _marker, _place = "o", "upper left"

    def _curves(self) -> Mapping[str, Any]:
        return entries(next(iter(entries(self.result.details, "curves").values()), {}))


@register_display
class ImportancesDisplay(Display):
    """By which columns two models go, one of train and one of synthetic rows.

    Parameters
    ----------
    result : Result
        With ``details["importances"]``: by `train` and `synthetic`, a share by column.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import ImportancesDisplay
    >>> shares = {"train": {"age": 0.9, "sex": 0.1}, "synthetic": {"age": 0.2, "sex": 0.8}}
    >>> ImportancesDisplay(Result(0.3, details={"importances": shares})).frame()["column"].tolist()
    ['age', 'sex']
    """

    reads = ("importances",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.figsize = (5.6, 0.65 + 0.21 * max(1, min(_MOST, len(self.frame()))))

    def frame(self) -> pd.DataFrame:
        """Return `column`, `train`, `synthetic`: the most important in either first."""
        shares = self.result.details
        frame = pd.DataFrame(
            {
                role: pd.Series(numbers_of(shares, "importances", role), dtype=float)
                for role in ("train", "synthetic")
            }
        ).fillna(0.0)
        order = np.argsort(-frame.max(axis=1).to_numpy(), kind="stable")
        return frame.iloc[order].rename_axis("column").reset_index()

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw two bars a column."""
        (ax,), frame = axes, self.frame().head(_MOST)
        y = np.arange(len(frame))
        for k, role in enumerate(("train", "synthetic")):
            label = f"learned from {'real' if role == 'train' else 'synthetic'} rows"
            alpha = 0.45 if role == "train" else 0.85
            style: dict[str, Any] = {"color": COLOURS[role], "alpha": alpha, "label": label}
            ax.barh(y + 0.36 * k - 0.18, frame[role], height=0.34, **style)
        every, size = strided(len(frame), points(ax)[1], 7.0)
        names = [shorten(str(name), room, size) for name in frame["column"].iloc[::every]]
        label_axis(ax.yaxis, y[::every], names, size=size, color=INK, length=0.0)
        drawn = frame[["train", "synthetic"]].to_numpy(dtype=float)
        top = max(0.01, float(drawn.max(initial=0.0)))
        ax.set(xlim=(min(0.0, float(drawn.min(initial=0.0))), 1.05 * top))
        ax.set_ylim(len(frame) - 0.4, -0.6)
        label_axis(ax.xaxis, *number_ticks(0.0, 1.05 * top, most=6))
        ax.set_xlabel("share of importance")
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        ax.legend(ncols=2, borderaxespad=0.0, **above)
