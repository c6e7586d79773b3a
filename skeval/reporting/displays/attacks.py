"""Displays of attacks and audits: what they achieve on train, on the holdout and by guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from skeval.formatting import number
from skeval.reporting.details import entries, number_of
from skeval.reporting.displays.base import ROOM, Display, points, register_display
from skeval.reporting.displays.ticks import label_axis, number_ticks, strided
from skeval.reporting.text import shorten
from skeval.reporting.theme import ALARM, COLOURS, FAINT, GREY, INK
from skeval.result import Result
from skeval.verdict import ALARM_LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 20  # attacks that a figure has room for
_RATES = {"attack": COLOURS["train"], "control": COLOURS["holdout"], "baseline": GREY}
_NAMED = {"attack": "train rows", "control": "holdout rows", "baseline": "guessing"}


@register_display
class AttacksDisplay(Display):
    """Shares of successful attacks on train, on the holdout and by guessing, with intervals.

    What succeeds on train more often than on the holdout was learned from the rows of train; what
    succeeds on both alike is knowledge about the population. Of more attacks than there is room
    for, those with the largest residual risks are drawn.

    Parameters
    ----------
    result : Result
        With ``details["attacks"]``, or ``details["secrets"]``, of which `attack`, `control` and
        `baseline` are read.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import AnonymeterRisk
    >>> from skeval.reporting import AttacksDisplay
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> result = AnonymeterRisk(n_attacks=50).fit(train, holdout).evaluate(train)
    >>> AttacksDisplay(result).frame().columns.tolist()
    ['attack', 'on', 'share', 'low', 'high', 'significant']
    """

    reads: ClassVar[tuple[str, ...]] = ("n_attacks_made",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.attacks = self._shown()
        self.figsize = (5.6, 0.65 + 0.21 * max(1, len(self.attacks)))

    def _attacks(self) -> Mapping[str, Any]:
        details = self.result.details
        return entries(details, "attacks") or entries(details, "secrets")

    def _shown(self) -> dict[str, Mapping[str, Any]]:
        given = {n: one for n, one in self._attacks().items() if entries(one, "control")}
        risks = {n: number_of(one.get("residual_risk")) for n, one in given.items()}
        order = sorted(given, key=lambda name: -risks[name] if risks[name] > 0.0 else 0.0)
        kept = set(order[:_MOST])
        return {name: one for name, one in given.items() if name in kept}

    @property
    def left_out(self) -> int:
        """How many attacks are not drawn."""
        return sum(bool(entries(one, "control")) for one in self._attacks().values()) - len(
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

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw three marks with intervals an attack; significant attacks are named in red."""
        (ax,), frame = axes, self.frame()
        names = list(self.attacks)
        colours = dict(zip(_NAMED.values(), _RATES.values(), strict=True))
        for k, (what, colour) in enumerate(colours.items()):
            own = frame[frame["on"] == what]
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
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        ax.legend(ncols=3, borderaxespad=0.0, **above)


@register_display
class AttackDisplay(AttacksDisplay):
    """One attack: shares of success on train, on the holdout and by guessing.

    Parameters
    ----------
    result : Result
        With `attack`, `control` and `baseline` in its details.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import LinkabilityRisk
    >>> from skeval.reporting import AttackDisplay
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> result = LinkabilityRisk(n_attacks=50).fit(train, holdout).evaluate(train)
    >>> AttackDisplay(result).frame()["on"].tolist()
    ['train rows', 'holdout rows', 'guessing']
    """

    reads = ("attack", "control", "baseline")

    def _attacks(self) -> Mapping[str, Any]:
        if not entries(self.result.details, "control"):
            return {}
        return {"this attack": {**self.result.details, "p_adjusted": self.result.p_value}}


def _shows(attack: Mapping[str, Any]) -> bool:
    return number_of(attack.get("p_adjusted")) <= ALARM_LEVEL


@register_display
class AuditDisplay(Display):
    """The bound on epsilon that an audit shows, beside the most that it could have shown.

    Parameters
    ----------
    result : Result
        With ``details["ceiling"]``; `claimed_epsilon`, if known.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import AuditDisplay
    >>> AuditDisplay(Result(0.5, details={"ceiling": 4.0})).frame()["epsilon"].tolist()
    [0.5, 4.0]
    """

    reads = ("ceiling",)
    figsize = (5.6, 1.5)

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
