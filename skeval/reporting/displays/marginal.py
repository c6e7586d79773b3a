"""The distribution of one column in each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.column_bars import ColumnBars
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import to_numbers
from skeval.reporting.displays.sentences import join_facts, state_largest_gap, state_not_drawn
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import FILLS, INK, LETTERS, LINES, NAMES, PAPER, TICK
from skeval.reporting.displays.ticks import label_names, label_percentages, value_ticks
from skeval.reporting.document.numbers import whole_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_CATEGORIES = 18
_MAX_BESIDE = 3.0  # height of a bar next to the others, in heights of the tallest other
_GAP, _WIDTH = 0.05, 0.1  # before a bar next to the others and of it, in lengths of the axis


class MarginalDisplay(Display):
    """The shares of one column's values in the training, unseen and synthetic data."""

    # A number that many rows have, missing values and values outside of the training data have
    # bars next to the others. A bar that would flatten the others is cut, with a visible break, and
    # its share is written above it.

    def __init__(self, name: str, marginal: Mapping[str, Any], *, note: str = "") -> None:
        self.name = name
        self.note = note
        self.bars = ColumnBars(marginal)
        shares = marginal["shares"]
        self.shares = {role: to_numbers(shares[role]) for role in NAMES if role in shares}
        self.shown = self.bars.shown(list(self.shares.values()))

    def frame(self) -> pd.DataFrame:
        """Return `bar`, `low`, `high` and the share of each table, one row for each bar."""
        return self.bars.frame().assign(**self.shares)

    def title(self) -> str:
        """Return the value whose share differs most."""
        name = draw_name(self.name)
        if not {"train", "synthetic"} <= set(self.shares):
            return name
        train, synthetic = self.shares["train"], self.shares["synthetic"]
        # a bar with few rows also has a share of 0, because it is not shown
        gaps = np.where(np.minimum(train, synthetic) > 0.0, np.abs(synthetic - train), 0.0)
        at = int(gaps.argmax())
        if not gaps[at]:
            return name
        return state_largest_gap(f"{name} {self._name_bar(at)}", train[at], synthetic[at])

    def subtitle(self) -> str:
        """Return the note, and how many categories are not drawn."""
        not_drawn = len(self.shown) - _MAX_CATEGORIES if self.bars.edges is None else 0
        kind = f"Distribution of a {self.bars.kind} column"
        return join_facts((self.note or kind, state_not_drawn(not_drawn, "categories")))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the column."""
        (ax,) = axes
        if self.bars.edges is None:
            self._draw_categories(ax)
        else:
            self._draw_bins(ax, self.bars.edges)
        name_series(ax, [table_series(r, is_filled=r == "train") for r in self.shares])

    def _name_bar(self, i: int) -> str:
        """Return the name of a bar, which is new for a value outside of the training data."""
        name = self.bars.range_names()[i]
        return "new" if i >= self.bars.n_own and name == "unseen" else name

    def _draw_categories(self, ax: Axes) -> None:
        shown = self.shown[:_MAX_CATEGORIES]
        y = np.arange(len(shown))
        marks: dict[str, dict[str, Any]] = {
            "holdout": {"marker": "|", "mew": 1.3, "ms": 9.0},
            "synthetic": {"marker": "D", "mew": 0.0, "ms": 4.5},
        }
        for role, shares in self.shares.items():
            if role == "train":
                ax.barh(y, shares[shown], height=0.7, color=FILLS[role])
            else:
                style = {"color": LETTERS[role], "ls": "", "clip_on": False, **marks[role]}
                ax.plot(shares[shown], y, **style)
        label_names(ax.yaxis, [self._name_bar(i) for i in shown])
        top = max((shares[shown].max(initial=0.0) for shares in self.shares.values()), default=0.0)
        top = float(top) or 1.0
        ax.set(xlim=(0.0, 1.06 * top), ylim=(max(len(shown), 2) - 0.4, -0.6))
        label_percentages(ax.xaxis, top, most=5)
        ax.set_xlabel("share of rows")

    def _draw_bins(self, ax: Axes, edges: np.ndarray) -> None:
        n = self.bars.n_own
        for role, shares in self.shares.items():
            if role == "train":
                ax.stairs(shares[:n], edges, fill=True, color=FILLS[role])
            else:
                ax.stairs(shares[:n], edges, **LINES[role])
        own = max((shares[:n].max(initial=0.0) for shares in self.shares.values()), default=0.0)
        beside = max((shares[n:].max(initial=0.0) for shares in self.shares.values()), default=0.0)
        top = float(max(own, min(beside, _MAX_BESIDE * own)) if own > 0 else beside) or 1.0
        right = self._draw_beside(ax, edges, top)
        ax.set(xlim=(edges[0], right), ylim=(0.0, 1.12 * top))
        label_percentages(ax.yaxis, top)
        ax.set_ylabel("share of rows")
        ax.set_xlabel(draw_name(self.name))

    def _draw_beside(self, ax: Axes, edges: np.ndarray, top: float) -> float:
        """Draw the bars next to the others, label the axis, and return its end."""
        low, high = float(edges[0]), float(edges[-1])
        span, right = high - low, high
        beside = self.shown[self.bars.n_own :]
        places = []
        for i in beside:
            left = right + _GAP * span
            right = left + _WIDTH * span
            places.append((left + right) / 2.0)
            width = (right - left) / max(1, len(self.shares))
            for k, (role, shares) in enumerate(self.shares.items()):
                _draw_bar(ax, left + k * width, width, float(shares[i]), top, role)
        most = 5 if not beside else 4
        ticks, labels = value_ticks(self.bars.kind, low, high, most)
        names = [draw_name(self._name_bar(i), 12) for i in beside]
        ax.set_xticks([*ticks, *places], labels=[*labels, *names])
        return right + (0.02 * span if beside else 0.0)


def _draw_bar(ax: Axes, left: float, width: float, share: float, top: float, role: str) -> None:
    """Draw a bar. A bar that is higher than the axis has a break, and its share above it."""
    is_cut = share > top * (1.0 + 1e-9)
    height = top if is_cut else share
    ax.bar(left, height, 0.86 * width, color=FILLS[role], align="edge")
    if is_cut:
        ends = [left - 0.12 * width, left + 0.98 * width]
        for y in (0.78 * top, 0.84 * top):
            ax.plot(ends, [y - 0.02 * top, y + 0.02 * top], color=PAPER, lw=2.0, zorder=3)
        style: dict[str, Any] = {"ha": "center", "va": "bottom", "size": TICK, "color": INK}
        ax.text(left + 0.43 * width, 1.01 * top, whole_percent(share), rotation=90.0, **style)
