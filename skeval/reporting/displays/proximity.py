"""Proximity ratios of training rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.reading import stack, to_numbers
from skeval.reporting.displays.sentences import describe_result, state_tails
from skeval.reporting.displays.theme import FILLS, INK, LETTERS, TICK
from skeval.reporting.displays.ticks import label_percentages, number_ticks
from skeval.reporting.document.details import number_at
from skeval.reporting.document.numbers import score
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_RATIOS = {"synthetic": "TSPR", "real": "TTPR"}
_ROLES = {"synthetic": "synthetic", "real": "holdout"}


class ProximityDisplay(Display):
    """Proximity ratios of training rows to the synthetic and to the real table, with their tails.

    Parameters
    ----------
    result : Result
        A result with ``details["histogram"]`` of the ratios and ``details["threshold"]``.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import PrivacyScore
    >>> from skeval.reporting import ProximityDisplay
    >>> train, holdout = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> display = ProximityDisplay(PrivacyScore().fit(train, holdout).evaluate(train))
    >>> sorted(display.frame()["distribution"].unique())
    ['real', 'synthetic']
    """

    reads = ("histogram", "threshold")
    n_panels = 2

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        histogram = result.details.get("histogram", {"edges": [0.0, 1.0], "shares": {}})
        self.edges = to_numbers(histogram["edges"])
        self.shares = {name: to_numbers(shares) for name, shares in histogram["shares"].items()}
        self.threshold = number_at(result.details, "threshold")
        self.in_tail = self.edges[1:] <= self.threshold * (1.0 + 1e-9)

    def frame(self) -> pd.DataFrame:
        """Return `distribution`, `low`, `high`, `share`, and whether the bar is `in_tail`."""
        ends = self.edges[:-1], self.edges[1:]
        parts = [(name, *ends, shares, self.in_tail) for name, shares in self.shares.items()]
        return stack(parts, ["distribution", "low", "high", "share", "in_tail"])

    def title(self) -> str:
        """Return the share of training rows in either tail."""
        synthetic, real = (number_at(self.result.details, f"p_{name}") for name in _ROLES)
        if math.isnan(synthetic + real):
            return super().title()
        return state_tails(synthetic, real, self._real_row())

    def subtitle(self) -> str:
        """Return the score and the threshold."""
        return describe_result(self.result, f"threshold {score(self.threshold)}")

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the ratios to the synthetic table next to those to the real one."""
        if not self.shares:
            return
        top = max(float(shares.max()) for shares in self.shares.values()) or 1.0
        for ax, (which, role) in zip(axes, _ROLES.items(), strict=True):
            self._draw_bars(ax, which, role)
            ax.set(ylim=(0.0, 1.15 * top), xlim=(0.0, float(self.edges[-1])))
            label_percentages(ax.yaxis, top)
            self._label_ratios(ax)
            table = "a synthetic row" if which == "synthetic" else self._real_row()
            name = f"{_RATIOS[which]}: to {table}"
            ax.set_title(name, color=LETTERS[role], size=TICK)
        axes[0].set_ylabel("training rows")

    def _real_row(self) -> str:
        is_holdout = str(self.result.details.get("mode", "holdout")) == "holdout"
        return "an unseen row" if is_holdout else "a row of the other half"

    def _draw_bars(self, ax: Axes, which: str, role: str) -> None:
        left, width, shares = self.edges[:-1], np.diff(self.edges), self.shares[which]
        for part, color in ((self.in_tail, LETTERS[role]), (~self.in_tail, FILLS[role])):
            ax.bar(left[part], shares[part], width[part], align="edge", color=color, lw=0)
        if math.isfinite(self.threshold) and self.threshold <= self.edges[-1]:
            ax.axvline(self.threshold, color=INK, lw=0.9)
            text, place = " threshold", (self.threshold, 1.0)
            style: dict[str, Any] = {"va": "top", "size": TICK, "color": INK}
            ax.annotate(text, place, xycoords=("data", "axes fraction"), **style)

    def _label_ratios(self, ax: Axes) -> None:
        end = float(self.edges[-1])
        ticks, labels = number_ticks(0.0, end, most=4)
        inner = ticks < end - 0.15 * end
        open_bar = (self.edges[-2] + end) / 2.0
        kept = [label for label, shown in zip(labels, inner, strict=True) if shown]
        ax.set_xticks([*ticks[inner], open_bar], labels=[*kept, "more"])
        ax.set_xlabel("distance / distance within training data")
