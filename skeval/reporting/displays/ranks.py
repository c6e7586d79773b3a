"""The ranks of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.sentences import (
    count_things,
    join_facts,
    state_not_drawn,
    state_ranks,
)
from skeval.reporting.displays.theme import GREY, LETTERS, TICK
from skeval.reporting.displays.ticks import label_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = ("rank", "low", "high")
_MAX_CANDIDATES = 16


class RanksDisplay(Display):
    """The rank of each candidate, and the ranks that are possible within chance."""

    def __init__(self, ranks: pd.DataFrame) -> None:
        self.ranks = ranks

    def frame(self) -> pd.DataFrame:
        """Return `rank`, `low` and `high` by candidate."""
        return self.ranks[list(_COLUMNS)].astype(float)

    def title(self) -> str:
        """Return which candidate has the best rank."""
        known = self.frame().dropna(subset="rank").sort_values("rank")
        if known.empty:
            return state_ranks("", 0)
        n_open = int((known["low"].iloc[1:] <= known["rank"].iloc[0]).sum())
        return state_ranks(draw_name(known.index[0]), n_open)

    def subtitle(self) -> str:
        """Return the number of candidates."""
        n = len(self.ranks)
        not_drawn = state_not_drawn(n - _MAX_CANDIDATES, "candidates")
        return join_facts((count_things(n, "candidate"), "bars: ranks within chance", not_drawn))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one line for each candidate."""
        (ax,), frame = axes, self.frame().head(_MAX_CANDIDATES)
        places = np.arange(len(frame))
        rank, low, high = (frame[name].to_numpy() for name in _COLUMNS)
        known, color = np.isfinite(rank), LETTERS["synthetic"]
        ax.hlines(places[known], low[known], high[known], color=color, alpha=0.35, lw=4)
        ax.plot(rank[known], places[known], "o", color=color, ms=6)
        for y in places[~known]:
            ax.text(1.0, y, "no rank", size=TICK, color=GREY, va="center")
        label_names(ax.yaxis, frame.index.tolist())
        n = max(2, len(frame))
        ax.set_xticks(range(1, n + 1))
        ax.set(xlim=(0.7, n + 0.3), ylim=(len(frame) - 0.5, -0.5), xlabel="rank, 1 is best")
        ax.grid(axis="x")
