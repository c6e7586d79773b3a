"""Display of precision against recall: the curve, and the two F scores on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.formatting import number
from skeval.reporting.drawing import ROOM, Drawing, numbers, say_empty
from skeval.reporting.theme import COLOURS, GREY
from skeval.reporting.ticks import label_axis, number_ticks
from skeval.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PRDDisplay"]

_NAMES = ("holdout", "synthetic")


class PRDDisplay(Drawing):
    """Precision against recall of synthetic rows over that of the holdout, if there is one.

    The grey line is where both are equal; the curve meets it at 1 less the total variation
    distance. The dots are where the F scores are greatest: the one on the right gives weight to
    recall, the one on the left to precision.

    Parameters
    ----------
    result : Result
        With ``details["precision"]``, ``details["recall"]`` and `beta`; and the same of the holdout
        in ``details["holdout"]``, if known.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PRDCurve
    >>> from skeval.reporting.prd import PRDDisplay
    >>> table = make_mixed()
    >>> display = PRDDisplay(PRDCurve(n_angles=3).fit(table).evaluate(table))
    >>> display.frame().round(2)["precision"].tolist()
    [0.0, 1.0, 1.0]
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        given: dict[str, Mapping[str, Any]] = {
            "holdout": result.details.get("holdout") or {},
            "synthetic": result.details,
        }
        self.curves = {
            name: (numbers(table["recall"]), numbers(table["precision"]))
            for name, table in given.items()
            if np.size(table.get("recall", [])) and np.size(table.get("precision", []))
        }
        self.scores = {
            name: (float(table["f_beta"]), float(table["f_beta_inv"]))
            for name, table in given.items()
            if "f_beta" in table and "f_beta_inv" in table
        }
        self.beta = float(result.details.get("beta", 8.0))

    def frame(self) -> pd.DataFrame:
        """Return `precision` and `recall` along the curve of the `rows` of which table."""
        frames = [
            pd.DataFrame({"rows": name, "recall": recall, "precision": precision})
            for name, (recall, precision) in self.curves.items()
        ]
        columns = ["rows", "recall", "precision"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the curves with the points of the F scores."""
        ax = axes[0]
        if not self.curves:
            say_empty(ax, "no curve")
            return
        ax.plot([0.0, 1.0], [0.0, 1.0], color=GREY, lw=0.6, ls=(0, (1, 2)))
        for name in _NAMES:
            if name in self.curves:
                self._curve(ax, name)
        for axis in (ax.xaxis, ax.yaxis):
            ticks, labels = number_ticks(0.0, 1.0, most=6)
            label_axis(axis, ticks, labels)
        ax.set_xlim(0.0, 1.03)
        ax.set_ylim(0.0, 1.03)
        ax.set_aspect("equal")
        ax.set_xlabel("recall")
        ax.set_ylabel("precision")
        ax.set_title("Precision against recall")
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="lower left", borderaxespad=0.4)

    def size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return 4.0, 4.0

    def _curve(self, ax: Axes, name: str) -> None:
        recall, precision = self.curves[name]
        front = name == "synthetic"
        colour = COLOURS[name]
        width = 1.6 if front else 1.4
        # from axis to axis: the ends are where the slope is 0 or infinite
        ax.plot(recall, precision, color=colour, lw=width, label=self._label(name))
        if not front:
            return
        ax.fill_between(recall, precision, color=colour, alpha=0.1, lw=0)
        for beta in (self.beta, 1.0 / self.beta):
            at = _best(precision, recall, beta)
            ax.plot(recall[at], precision[at], "o", color=colour, ms=4.0, clip_on=False)

    def _label(self, name: str) -> str:
        if name not in self.scores:
            return name
        recall, precision = (number(score) for score in self.scores[name])
        beta = f"{self.beta:g}"
        return f"{name}: F{beta} {recall}, F1/{beta} {precision}"


def _best(precision: np.ndarray, recall: np.ndarray, beta: float) -> int:
    """Return where the F score is greatest; a beta above 1 gives weight to recall."""
    below = beta**2 * precision + recall
    products = (1.0 + beta**2) * precision * recall
    scores = np.divide(products, below, out=np.zeros_like(below), where=below > 0)
    return int(scores.argmax())
