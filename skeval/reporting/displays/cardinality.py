"""The numbers of children of parents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import numbers_at, stack, to_numbers
from skeval.reporting.displays.sentences import state_largest_gap
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import FILLS
from skeval.reporting.displays.ticks import label_percentages
from skeval.reporting.document.numbers import count
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_WHOLE = 8  # bars whose ranges are written with both ends
_MAX_KEY = 44  # letters


class CardinalityDisplay(Display):
    """Shares of parents by their numbers of children in each table."""

    reads = ("histograms",)

    def __init__(self, result: Result, *, key: str | None = None) -> None:
        super().__init__(result)
        self.key = key or _keys_by_score(result)[0]

    def frame(self) -> pd.DataFrame:
        """Return `key`, `role`, `from`, `to` (nan if it is open), `share` of each bar."""
        parts = []
        for key, bars in self.result.details["histograms"].items():
            starts = to_numbers(bars["starts"])
            ends = np.append(starts[1:] - 1.0, np.nan)
            for role, counts in bars.items():
                if role != "starts":
                    shares = to_numbers(counts) / max(1.0, to_numbers(counts).sum())
                    parts.append((key, role, starts, ends, shares))
        return stack(parts, ["key", "role", "from", "to", "share"])

    def title(self) -> str:
        """Return the number of children whose share differs most."""
        own = self._own_key().pivot_table(index="from", columns="role", values="share", sort=False)
        key = draw_name(self.key, _MAX_KEY)
        if not {"train", "synthetic"} <= set(own) or own.empty:
            return key
        at = (own["synthetic"] - own["train"]).abs().idxmax()
        ends = self._own_key().drop_duplicates("from").set_index("from")["to"]
        real, synthetic = own.loc[at, "train"], own.loc[at, "synthetic"]
        words = f"{_range(float(at), float(ends[at]))} children"
        return state_largest_gap(f"{key} {words}", float(real), float(synthetic), "parents")

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the bars of one key, the tables side by side."""
        (ax,), own = axes, self._own_key()
        roles = list(dict.fromkeys(own["role"]))
        width = 0.8 / max(1, len(roles))
        for i, role in enumerate(roles):
            shares = own.loc[own["role"] == role, "share"].to_numpy(dtype=float)
            places = np.arange(shares.size) + (i - (len(roles) - 1) / 2.0) * width
            ax.bar(places, shares, 0.92 * width, color=FILLS[role])
        bars = own[own["role"] == roles[0]]
        ranges = [_range(low, high) for low, high in zip(bars["from"], bars["to"], strict=True)]
        if len(ranges) > _MAX_WHOLE:
            ranges = [*map(count, bars["from"][:-1]), ranges[-1]]
        step = -(-len(ranges) // (2 * _MAX_WHOLE))
        kept = [i for i in range(len(ranges)) if i % step == 0 and i < len(ranges) - step]
        kept.append(len(ranges) - 1)
        ax.set_xticks(kept, labels=[ranges[i] for i in kept])
        ax.tick_params(axis="x", length=0.0)
        top = float(own["share"].max()) or 1.0
        ax.set(xlim=(-0.6, len(ranges) - 0.4), ylim=(0.0, 1.08 * top))
        label_percentages(ax.yaxis, top)
        ax.set(xlabel="children of a parent", ylabel="share of parents")
        name_series(ax, [table_series(role, is_filled=True) for role in roles])

    def _own_key(self) -> pd.DataFrame:
        frame = self.frame()
        return frame[frame["key"] == self.key]


def _keys_by_score(result: Result) -> list[str]:
    """Return the foreign keys that have histograms, the worst first and single bars last."""
    histograms, scores = result.details["histograms"], numbers_at(result.details, "columns")

    def rank(key: str) -> tuple[bool, float]:
        score = scores.get(key, np.nan)
        return len(histograms[key]["starts"]) < 2, np.inf if np.isnan(score) else score

    return sorted(histograms, key=rank)


def _range(low: float, high: float) -> str:
    """Return a range of whole numbers, which is open if `high` is nan."""
    if np.isnan(high):
        return f"{count(low)} or more"
    return count(low) if low == high else f"{count(low)} to {count(high)}"
