"""The ROC curve of an attack on membership."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.diagonal import draw_diagonal
from skeval.reporting.displays.reading import to_numbers
from skeval.reporting.displays.sentences import (
    describe_result,
    state_auc,
    state_found_records,
    state_sizes,
    state_value,
)
from skeval.reporting.displays.theme import LETTERS, SQUARE, TEXT
from skeval.reporting.document.details import interval_at, mapping_at, number_at
from skeval.reporting.document.numbers import rate
from skeval.results.result import Result
from skeval.utils.formatting import as_float

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ["point", "fpr", "tpr", "low", "high"]
_QUOTED = 0.01  # the rate of false alarms of the title, if it is known


class ROCDisplay(Display):
    """True positive rate against false positive rate of an attack, on logarithmic axes.

    An attack without knowledge is on the dotted line. Because both axes are logarithmic, an attack
    that finds few records but is never wrong about them has a curve far above that line on the
    left, although its AUC is close to 0.5. The band contains the interval of each true positive
    rate. The dots are the largest true positive rates at round false positive rates.

    Parameters
    ----------
    result : Result
        A result with ``details["curve"]``, of which `fpr`, `tpr`, `low`, `high` and `n_others` are
        read. The entries `tpr_at_fpr`, `attack` and `attacks` are read if they exist.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import MembershipInference
    >>> from skeval.reporting import ROCDisplay
    >>> train, holdout = make_mixed(200, random_state=0), make_mixed(200, random_state=1)
    >>> result = MembershipInference("distance").fit(train, holdout).evaluate(train)
    >>> ROCDisplay(result).frame().query("point != 'curve'")["tpr"].tolist()
    [1.0, 1.0]
    """

    reads = ("curve",)
    figsize = SQUARE

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        details = result.details
        curve: Mapping[str, Any] = mapping_at(details, "curve")
        self.curve = {name: to_numbers(curve.get(name, [])) for name in _COLUMNS[1:]}
        self.least = 1.0 / max(int(curve.get("n_others", 1)), 1)
        known = details.get("tpr_at_fpr")
        marks = known if isinstance(known, list | tuple) else []
        self.marks = [mark for mark in marks if not math.isnan(as_float(mark["tpr"]))]

    def frame(self) -> pd.DataFrame:
        """Return the points of the curve, then the marked ones, with the intervals of `tpr`."""
        curve = pd.DataFrame({"point": "curve", **self.curve}, columns=_COLUMNS)
        marked = [
            (f"at most {mark['fpr']:g}", mark["fpr"], mark["tpr"], *mark["interval"])
            for mark in self.marks
        ]
        return pd.concat([curve, pd.DataFrame(marked, columns=_COLUMNS)]) if marked else curve

    def title(self) -> str:
        """Return how many records are found at few false alarms."""
        if not self.marks:
            return super().title()
        mark = min(self.marks, key=lambda one: abs(math.log(one["fpr"] / _QUOTED)))
        by_chance = number_at(mark, "by_chance")
        return state_found_records(float(mark["fpr"]), float(mark["tpr"]), by_chance)

    def subtitle(self) -> str:
        """Return the numbers of records, and the area under the curve with its one interval."""
        curve = mapping_at(self.result.details, "curve")
        n_train, n_unseen = (number_at(curve, key) for key in ("n_members", "n_others"))
        sizes = state_sizes([(n_train, "training"), (n_unseen, "unseen records")])
        return describe_result(self.result, sizes, self._auc(), has_value=False)

    def _auc(self) -> str:
        details, result = self.result.details, self.result
        attack = mapping_at(details, "attacks", str(details.get("attack", "")))
        if not attack:
            return state_value(result)
        # the result has the interval that is valid for all attacks together
        is_value = result.interval is not None and attack.get("auc") == result.value
        interval = result.interval if is_value else interval_at(attack, "interval")
        return state_auc(number_at(attack, "auc"), interval)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the curve with its band, the marked rates and the line of chance."""
        (ax,) = axes
        if not self.curve["fpr"].size:
            return
        floor = self._floor()
        ax.set(xscale="log", yscale="log", xlim=(self.least / 2.0, 1.0), ylim=(floor, 1.3))
        draw_diagonal(ax, "chance", (self.least / 2.0) ** 0.4, floor)
        self._draw_curve(ax, floor)
        for mark in self.marks:
            _draw_mark(ax, mark["fpr"], max(float(mark["tpr"]), floor), float(mark["tpr"]))
        self._label_axes(ax, floor)

    def _draw_curve(self, ax: Axes, floor: float) -> None:
        # a rate without false positives is drawn at half of one record
        x = np.append(np.maximum(self.curve["fpr"], self.least / 2.0), 1.0)
        tpr, low, high = (
            np.maximum(np.append(rates, rates[-1]), floor)
            for rates in (self.curve[name] for name in ("tpr", "low", "high"))
        )
        color = LETTERS["synthetic"]
        ax.fill_between(x, low, high, step="post", color=color, alpha=0.14, lw=0)
        ax.step(x, tpr, where="post", color=color, lw=1.4)

    def _floor(self) -> float:
        """Return the start of both axes, which is below the smallest rate that is drawn."""
        rates = np.concatenate([self.curve["tpr"], [mark["tpr"] for mark in self.marks]])
        smallest = rates[rates > 0].min(initial=1.0)
        return float(10.0 ** np.floor(np.log10(min(self.least / 2.0, smallest))))

    def _label_axes(self, ax: Axes, floor: float) -> None:
        from matplotlib.ticker import NullLocator

        powers = 10.0 ** np.arange(round(np.log10(floor)), 1)
        for axis, least in ((ax.xaxis, self.least / 2.0), (ax.yaxis, floor)):
            shown = powers[powers >= 0.99 * least]
            axis.set_ticks(shown, labels=[f"{100.0 * power:.6g}%" for power in shown])
            axis.set_minor_locator(NullLocator())
        ax.set(xlabel="false alarms on unseen records", ylabel="training records found")


def _draw_mark(ax: Axes, x: float, y: float, found: float) -> None:
    color = LETTERS["synthetic"]
    ax.plot(x, y, "o", color=color, ms=4.5, clip_on=False)
    # at the top and at the left, a label above the dot would leave the axes
    is_below = y > 0.5 or x < 8.0 * ax.get_xlim()[0]
    place: dict[str, Any] = {"xytext": (4.0, -5.0) if is_below else (-4.0, 4.0)}
    side: dict[str, Any] = {"ha": "left", "va": "top"} if is_below else {"ha": "right"}
    style: dict[str, Any] = {"size": TEXT, "color": color, "weight": "bold"}
    ax.annotate(rate(found), (x, y), textcoords="offset points", **place, **side, **style)
