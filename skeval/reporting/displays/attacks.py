"""The rates at which attacks succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.sentences import describe_result, state_attacks, state_not_drawn
from skeval.reporting.displays.series import Series, name_series
from skeval.reporting.displays.theme import FAINT, GAP, GREY, INK, LEAK, LEAK_GAP, PAPER, TICK
from skeval.reporting.displays.ticks import label_names, label_percentages
from skeval.reporting.document.details import mapping_at, number_at
from skeval.reporting.document.numbers import count, points
from skeval.results.result import Result
from skeval.results.verdict import ALARM_LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ATTACKS = 16  # rows of a figure
_ROWS = {"attack": "train rows", "control": "holdout rows", "baseline": "guessing"}
_NAMES = ("training records", "unseen records", "guessing")
_SHIFT = 0.17  # distance between a mark and the middle of its row
_DOT: dict[str, Any] = {"marker": "o", "ls": "", "ms": 4.5}
_TICK: dict[str, Any] = {"marker": "|", "ls": "", "ms": 8.0, "mew": 1.0}


class AttacksDisplay(Display):
    """Rates of success on training records, on unseen records and by guessing, with intervals."""

    reads: ClassVar[tuple[str, ...]] = ("n_attacks_made",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        known = {name: one for name, one in self._attacks().items() if mapping_at(one, "attack")}
        ranked = sorted(known, key=lambda name: -_excess(known[name]))
        self.not_drawn = max(0, len(ranked) - _MAX_ATTACKS)
        self.attacks = {name: known[name] for name in ranked[:_MAX_ATTACKS]}
        self._n_significant = sum(map(_is_significant, known.values()))

    def _attacks(self) -> Mapping[str, Any]:
        details = self.result.details
        return mapping_at(details, "attacks") or mapping_at(details, "secrets")

    def frame(self) -> pd.DataFrame:
        """Return `attack`, `on` which records, `share`, `low`, `high`, and if `significant`."""
        rows = [
            (name, _ROWS[kind], *rates, _is_significant(one))
            for name, one in self.attacks.items()
            for kind in _ROWS
            if (rates := _rates(one.get(kind)))
        ]
        frame = pd.DataFrame(rows, columns=["attack", "on", "share", "low", "high", "significant"])
        return frame.astype(dict.fromkeys(("share", "low", "high"), float))

    def title(self) -> str:
        """Return how many attacks work better on the training data."""
        return state_attacks(self._n_significant, len(self.attacks) + self.not_drawn)

    def subtitle(self) -> str:
        """Return the number of attempts, and how many attacks are not drawn."""
        n = max((number_at(one, "attack", "n") for one in self.attacks.values()), default=0.0)
        facts = f"{count(n)} attempts each" if n else "", "95% intervals"
        not_drawn = state_not_drawn(self.not_drawn, "attacks")
        return describe_result(self.result, *facts, not_drawn, has_value=False)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw a dot and a ring for each attack, and the gap between them."""
        (ax,), names = axes, list(self.attacks)
        if not names:
            return
        for y, attack in enumerate(self.attacks.values()):
            _draw_attack(ax, y, attack)
        top = min(1.0, 1.05 * max(0.02, float(self.frame()["high"].max())))
        ax.set(xlim=(0.0, top), ylim=(len(names) - 0.4, -0.6))
        ax.set_xlabel(
            "percentage of attempts that succeed, and on the right the difference in points"
        )
        label_percentages(ax.xaxis, top, most=6)
        is_red = [_is_significant(one) for one in self.attacks.values()]
        label_names(ax.yaxis, names, colors=[LEAK if red else INK for red in is_red])
        for y, attack in enumerate(self.attacks.values()):
            side: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
            color = LEAK if is_red[y] else INK
            excess = _excess(attack)
            shown = points(excess, digits=1) if np.isfinite(excess) else ""
            ax.text(1.02, y, shown, size=TICK, color=color, **side)
        drawn = set(self.frame()["on"])
        looks = (INK, _DOT), (INK, {"mfc": PAPER, **_DOT}), (GREY, _TICK)
        marks = zip(_ROWS.values(), _NAMES, looks, strict=True)
        name_series(
            ax,
            [
                Series(name, color, {"color": color, **look})
                for rows, name, (color, look) in marks
                if rows in drawn
            ],
        )


class AttackDisplay(AttacksDisplay):
    """One attack: its rates of success on training records, on unseen ones and by guessing."""

    reads = ("attack", "baseline")

    def _attacks(self) -> Mapping[str, Any]:
        if not mapping_at(self.result.details, "attack"):
            return {}
        return {"this attack": {**self.result.details, "p_adjusted": self.result.p_value}}


def _draw_attack(ax: Axes, y: float, attack: Mapping[str, Any]) -> None:
    is_leak = _is_significant(attack)
    color = LEAK if is_leak else INK
    ax.axhline(y + 0.5, color=FAINT, lw=0.4, zorder=0)
    found, control, guess = (_rates(attack.get(kind)) for kind in _ROWS)
    if found and control:
        width = found[0] - control[0]
        fill = LEAK_GAP if is_leak else GAP
        ax.barh(y, width, 0.8, left=control[0], color=fill, lw=0, zorder=1)
    if guess:
        ax.plot(guess[0], y, color=GREY, zorder=2, **_TICK)
    if control:
        ax.hlines(y + _SHIFT, *control[1:], color=GREY, lw=1.0, zorder=2)
        ax.plot(control[0], y + _SHIFT, color=INK, mfc=PAPER, zorder=3, clip_on=False, **_DOT)
    if found:
        ax.hlines(y - _SHIFT, *found[1:], color=color, lw=1.0, zorder=2)
        ax.plot(found[0], y - _SHIFT, color=color, zorder=4, clip_on=False, **_DOT)


def _rates(of_kind: Any) -> tuple[float, float, float] | None:
    """Return a rate and its interval; None without attempts."""
    if not of_kind or not of_kind["n"]:
        return None
    low, high = of_kind["interval"]
    return of_kind["n_success"] / of_kind["n"], low, high


def _excess(attack: Mapping[str, Any]) -> float:
    """Return by how much an attack works better on training records."""
    found = _rates(attack["attack"])
    reference = _rates(attack.get("control")) or _rates(attack.get("baseline"))
    return found[0] - reference[0] if found and reference else -np.inf


def _is_significant(attack: Mapping[str, Any]) -> bool:
    return number_at(attack, "p_adjusted") <= ALARM_LEVEL
