"""Display of a ROC curve on logarithmic axes: what an attack finds at few false positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.formatting import number
from skeval.reporting.drawing import ROOM, Drawing, numbers, say_empty
from skeval.reporting.theme import COLOURS, GREY
from skeval.reporting.ticks import label_axis
from skeval.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ROCDisplay"]

_COLUMNS = ["point", "fpr", "tpr", "low", "high"]


class ROCDisplay(Drawing):
    """True over false positive rate of an attack; one that knows nothing is on the dotted line.

    Both axes are logarithmic: an attack that finds few rows and is never wrong about them has a
    curve well above the line on the left, though its AUC is near 0.5. The band is the interval of
    each true positive rate by itself. The dots are the greatest true positive rates at round false
    positive rates.

    Parameters
    ----------
    result : Result
        With ``details["curve"]``, of which `fpr`, `tpr`, `low`, `high` and `n_others` are read;
        `tpr_at_fpr`, `attack` and `attacks`, if known.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MembershipInference
    >>> from skeval.reporting.roc import ROCDisplay
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> result = MembershipInference("distance").fit(train, holdout).evaluate(train)
    >>> ROCDisplay(result).frame().query("point != 'curve'")["tpr"].tolist()
    [1.0, 1.0]
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        details = result.details
        curve: Mapping[str, Any] = details.get("curve") or {}
        self.curve = {name: numbers(curve.get(name, [])) for name in _COLUMNS[1:]}
        self.least = 1.0 / max(int(curve.get("n_others", 1)), 1)
        self.marks = [mark for mark in details.get("tpr_at_fpr") or [] if _is_number(mark["tpr"])]
        name = str(details.get("attack", ""))
        self.attack: Mapping[str, Any] = (details.get("attacks") or {}).get(name) or {}
        self.name = name.replace("_", " ")

    def frame(self) -> pd.DataFrame:
        """Return the points of the curve, then those marked, with the intervals of `tpr`."""
        curve = pd.DataFrame({"point": "curve", **self.curve}, columns=_COLUMNS)
        marked = [
            {
                "point": f"at most {mark['fpr']:g}",
                "fpr": mark["fpr"],
                "tpr": mark["tpr"],
                "low": mark["interval"][0],
                "high": mark["interval"][1],
            }
            for mark in self.marks
        ]
        return pd.concat([curve, pd.DataFrame(marked, columns=_COLUMNS)]) if marked else curve

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the curve with its band and the marked rates."""
        ax = axes[0]
        if not self.curve["fpr"].size:
            say_empty(ax, "no curve")
            return
        ax.set_xscale("log")
        ax.set_yscale("log")
        floor = self._floor()
        ax.plot([floor, 1.0], [floor, 1.0], color=GREY, lw=0.8, ls=(0, (1, 2)), label="by chance")
        # what has no false positive stands where one row would be half of one
        x, tpr, low, high = (
            np.maximum(self.curve[name], least)
            for name, least in zip(_COLUMNS[1:], (self.least / 2.0, *[floor] * 3), strict=True)
        )
        x, tpr, low, high = (np.append(values, values[-1]) for values in (x, tpr, low, high))
        x[-1] = 1.0
        colour = COLOURS["synthetic"]
        ax.fill_between(x, low, high, step="post", color=colour, alpha=0.14, lw=0)
        ax.step(x, tpr, where="post", color=colour, lw=1.4, label=self._label())
        for mark in self.marks:
            y = max(float(mark["tpr"]), floor)
            ax.plot(mark["fpr"], y, "o", color=colour, ms=4.0, clip_on=False)
            self._say(ax, mark, y)
        self._dress(ax, floor)

    def size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return 4.2, 4.0

    def _floor(self) -> float:
        """Return where both axes start: below the smallest rate that is drawn."""
        rates = np.concatenate([self.curve["tpr"], [mark["tpr"] for mark in self.marks]])
        least = rates[rates > 0].min(initial=1.0)
        return float(10.0 ** np.floor(np.log10(min(self.least / 2.0, least))))

    def _label(self) -> str:
        if not self.attack:
            return self.name or "attack"
        low, high = (number(bound) for bound in self.attack["interval"])
        return f"{self.name}: AUC {number(self.attack['auc'])} ({low} to {high})"

    def _say(self, ax: Axes, mark: Mapping[str, Any], y: float) -> None:
        left = y > 0.5  # at the top there is no room above
        ax.annotate(
            f"{100.0 * mark['tpr']:.3g}%",
            (mark["fpr"], y),
            xytext=(4.0, -7.0) if left else (-4.0, 5.0),
            textcoords="offset points",
            ha="left" if left else "right",
            va="center",
            fontsize=6.5,
        )

    def _dress(self, ax: Axes, floor: float) -> None:
        powers = 10.0 ** np.arange(round(np.log10(floor)), 1)
        left = self.least / 2.0
        for axis, least in ((ax.xaxis, left), (ax.yaxis, floor)):
            shown = powers[powers >= 0.99 * least]
            label_axis(axis, shown, [f"{100.0 * power:.6g}%" for power in shown])
            axis.set_minor_locator(_no_ticks())
        ax.set_xlim(left, 1.0)
        ax.set_ylim(floor, 1.12)
        ax.set_xlabel("false positive rate: holdout rows called members")
        ax.set_ylabel("true positive rate: train rows called members")
        ax.set_title("Membership inference")
        ax.legend(loc="lower right", borderaxespad=0.4)


def _is_number(value: Any) -> bool:
    return value is not None and not np.isnan(value)


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
