"""Displays of attacks and audits: what they achieve on train, on the holdout and by guessing.

Displays of what models learn: curves on real rows, calibration, importances of columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from skeval.reporting.old_displays.base import (
    CURVE,
    ROOM,
    Display,
    Margins,
    numbers,
    points,
    register_display,
    stacked,
)
from skeval.reporting.old_displays.ticks import label_axis, number_ticks, strided
from skeval.reporting.scores import entries, number_of, numbers_of
from skeval.reporting.style import ALARM, COLOURS, FAINT, GREY, INK, shorten, widest
from skeval.results.result import Result
from skeval.results.verdict import ALARM_LEVEL
from skeval.utils.formatting import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MAX_ATTACKS = 20  # attacks that a figure has room for
_RATES = {"attack": COLOURS["train"], "control": COLOURS["holdout"], "baseline": GREY}
_LEGEND = 250.0  # points of two models side by side
_NAMED = {"attack": "train rows", "control": "holdout rows", "baseline": "guessing"}


@register_display
class AttacksDisplay(Display):
    """Shares of successful attacks on train, on the holdout and by guessing, with intervals."""

    # What succeeds on train more often than on the holdout was learned from the rows of
    # train; what succeeds on both alike is knowledge about the population. If there are more
    # attacks than there is room for, those with the largest residual risks are drawn.

    reads: ClassVar[tuple[str, ...]] = ("n_attacks_made",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.attacks = self._shown()
        self.figsize = (5.6, 0.65 + 0.17 * max(1, len(self.attacks)))

    def _attacks(self) -> Mapping[str, Any]:
        details = self.result.details
        return entries(details, "attacks") or entries(details, "secrets")

    def _shown(self) -> dict[str, Mapping[str, Any]]:
        given = {n: one for n, one in self._attacks().items() if entries(one, "attack")}
        risks = {n: number_of(one.get("residual_risk")) for n, one in given.items()}
        order = sorted(given, key=lambda name: -risks[name] if risks[name] > 0.0 else 0.0)
        kept = set(order[:_MAX_ATTACKS])
        return {name: one for name, one in given.items() if name in kept}

    @property
    def left_out(self) -> int:
        """How many attacks are not drawn."""
        return sum(bool(entries(one, "attack")) for one in self._attacks().values()) - len(
            self.attacks
        )

    def frame(self) -> pd.DataFrame:
        """Return `attack`, `on` which rows, `share`, `low`, `high`, and if it is `significant`."""
        rows = [
            (name, _NAMED[kind], rate["n_success"] / rate["n"], *rate["interval"], _shows(one))
            for name, one in self.attacks.items()
            for kind in _RATES
            if (rate := one.get(kind)) and rate["n"]
        ]
        frame = pd.DataFrame(rows, columns=["attack", "on", "share", "low", "high", "significant"])
        return frame.astype(dict.fromkeys(("share", "low", "high"), float))

    def margins(self, wide: float) -> Margins:
        """Return what names take at the left, and what says which mark is which above."""
        room = widest(self.attacks, 7.0, min(0.4 * wide, 142.0))
        return Margins(room + 8.5, 15.0, 8.0, 28.0, rooms=(room,))

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw three marks with intervals an attack; significant attacks are named in red."""
        (ax,), frame = axes, self.frame()
        names = list(self.attacks)
        colours = dict(zip(_NAMED.values(), _RATES.values(), strict=True))
        for k, (what, colour) in enumerate(colours.items()):
            own = frame[frame["on"] == what]
            if own.empty:  # without a holdout
                continue
            y = np.array([names.index(name) for name in own["attack"]]) + 0.25 * (k - 1)
            ax.hlines(y, own["low"], own["high"], color=colour, lw=2.4, alpha=0.35)
            ax.plot(own["share"], y, "o", color=colour, ms=3.0, mew=0, label=what, clip_on=False)
        for below in range(1, len(names)):
            ax.axhline(below - 0.5, color=FAINT, lw=0.4)
        every, size = strided(len(names), points(ax)[1], 7.0)
        shown = [shorten(name, room, size) for name in names[::every]]
        inks = [ALARM if _shows(self.attacks[name]) else INK for name in names[::every]]
        at = range(0, len(names), every)
        label_axis(ax.yaxis, at, shown, size=size, color=inks, length=0.0)
        top = max(0.02, float(np.nanmax(frame["high"], initial=0.0)))
        ax.set(xlim=(0.0, min(1.0, 1.05 * top)), ylim=(len(names) - 0.4, -0.6))
        ticks, labels = number_ticks(0.0, min(1.0, 1.05 * top), most=6)
        label_axis(ax.xaxis, ticks, labels)
        ax.set_xlabel("share of attacks that succeed")
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0)}
        ax.legend(ncols=3, borderaxespad=0.0, columnspacing=1.0, **above)


@register_display
class AttackDisplay(AttacksDisplay):
    """One attack: shares of success on train, on the holdout and by guessing."""

    reads = ("attack", "baseline")

    def _attacks(self) -> Mapping[str, Any]:
        if not entries(self.result.details, "attack"):
            return {}
        return {"this attack": {**self.result.details, "p_adjusted": self.result.p_value}}


def _shows(attack: Mapping[str, Any]) -> bool:
    return number_of(attack.get("p_adjusted")) <= ALARM_LEVEL


@register_display
class AuditDisplay(Display):
    """The bound on epsilon that an audit shows, with the most that it could have shown."""

    reads = ("ceiling",)
    figsize = (5.6, 1.5)

    def margins(self, wide: float) -> Margins:
        """Return what the numbers and the name of the axis take."""
        return Margins(4.0, 4.0, 8.0, 28.0)

    def frame(self) -> pd.DataFrame:
        """Return `what` and `epsilon`: the bound, the most that could be shown, what is claimed."""
        details = self.result.details
        rows = {
            "shown: epsilon is at least": self.result.value,
            "most that these guesses could show": details.get("ceiling"),
            "claimed": details.get("claimed_epsilon"),
        }
        frame = pd.DataFrame({"what": list(rows), "epsilon": list(map(number_of, rows.values()))})
        return frame[np.isfinite(frame["epsilon"])].reset_index(drop=True)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one bar a number."""
        (ax,), frame = axes, self.frame()
        colours = [COLOURS["synthetic"], FAINT, GREY][: len(frame)]
        y = np.arange(len(frame))
        ax.barh(y, frame["epsilon"], height=0.55, color=colours)
        top = max(0.1, float(frame["epsilon"].max()))
        for place, (what, epsilon) in enumerate(frame.itertuples(index=False)):
            text = f"{what}: {number(epsilon)}"
            ax.text(0.01 * top, place - 0.36, text, size=7.0, color=INK, va="bottom")
        ax.set(xlim=(0.0, 1.05 * top), ylim=(len(frame) - 0.5, -0.9))
        label_axis(ax.yaxis, (), ())
        label_axis(ax.xaxis, *number_ticks(0.0, 1.05 * top, most=6))
        ax.set_xlabel("epsilon of differential privacy")
        ax.spines["left"].set_visible(False)


_TRAININGS = {"trtr": "train", "tstr": "synthetic"}
_MAX_MODELS = 20  # features that a figure has room for
_CHANCE: dict[str, Any] = {"color": GREY, "ls": (0, (1, 2)), "lw": 0.8}


@register_display
class ModelCurvesDisplay(Display):
    """ROC curves on real rows of models that learned from train and from synthetic rows."""

    # If both lie on each other, training on the synthetic table loses nothing.

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
    """How often an event happens where a model says how likely it is; on the line it is right."""

    reads = ("curves",)
    _x, _y = "predicted", "observed"
    _names = ("probability that the model gives", "share of rows where it is so")
    _marker, _place = "o", "upper left"

    def _curves(self) -> Mapping[str, Any]:
        return entries(next(iter(entries(self.result.details, "curves").values()), {}))


@register_display
class ImportancesDisplay(Display):
    """By which columns two models go, one of train and one of synthetic rows."""

    reads = ("importances",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.figsize = (5.6, 0.65 + 0.21 * max(1, min(_MAX_MODELS, len(self.frame()))))

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

    def margins(self, wide: float) -> Margins:
        """Return what names of columns take at the left, and the legend above."""
        room = widest(self.frame()["column"].head(_MAX_MODELS).astype(str), 7.0, 113.0)
        left, right = room + 8.5, 10.0
        above = 14.0 if wide - left - right >= _LEGEND else 25.0
        return Margins(left, above, right, 28.0, rooms=(room,))

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw two bars a column."""
        (ax,), frame = axes, self.frame().head(_MAX_MODELS)
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
        ax.legend(ncols=1 + (points(ax)[0] >= _LEGEND), borderaxespad=0.0, **above)
