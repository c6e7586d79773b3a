"""Rare entities in texts, counted by type, without any word of a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import FILLS, INK, TICK
from skeval.reporting.displays.ticks import hide_axis, label_names
from skeval.reporting.document.numbers import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_TYPES = 9
_ROLES = ("train", "holdout")


class EntitiesDisplay(Display):
    """Rare entities that synthetic texts repeat, by type, from training and from unseen texts."""

    # The generator never saw the unseen texts, so that it repeats their entities as often as
    # expected by chance.

    reads = ("types",)

    def frame(self) -> pd.DataFrame:
        """Return `type`, `train`, `holdout`, the type that is repeated most first."""
        rows = [
            (name, counts["train"], counts["holdout"])
            for name, counts in self.result.details.get("types", {}).items()
        ]
        frame = pd.DataFrame(rows, columns=["type", "train", "holdout"])
        frame = frame.sort_values("train", ascending=False, kind="stable", ignore_index=True)
        return frame.head(_MAX_TYPES)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw two bars for each type, with their counts."""
        (ax,), frame = axes, self.frame()
        y = np.arange(len(frame))
        top = max(1, int(frame[list(_ROLES)].to_numpy().max(initial=1)))
        for role, shift in zip(_ROLES, (-0.2, 0.2), strict=True):
            bars = ax.barh(y + shift, frame[role], height=0.36, color=FILLS[role])
            ax.bar_label(bars, frame[role].map(count).tolist(), padding=3, size=TICK, color=INK)
        ax.set(xlim=(0.0, 1.08 * top), ylim=(max(len(frame), 2) - 0.4, -0.6))
        hide_axis(ax.xaxis)
        label_names(ax.yaxis, frame["type"].tolist())
        names = {"train": "only in training texts", "holdout": "only in unseen texts"}
        name_series(ax, [table_series(role, names[role], is_filled=True) for role in _ROLES])
