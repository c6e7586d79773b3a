"""The lower bound on epsilon from an audit of differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.sentences import describe_result, state_audit
from skeval.reporting.displays.theme import FAINT, GREY, INK, LETTERS, TEXT
from skeval.reporting.displays.ticks import hide_axis, label_numbers
from skeval.reporting.document.details import number_at
from skeval.reporting.document.numbers import count, score

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class AuditDisplay(Display):
    """The bound on epsilon that an audit shows, and the largest bound that it could have shown."""

    reads = ("ceiling",)

    def frame(self) -> pd.DataFrame:
        """Return `what` and `epsilon`: the bound, the largest possible bound, what is claimed."""
        rows = {
            "epsilon is at least": self.result.value,
            "these guesses could show at most": number_at(self.result.details, "ceiling"),
            "claimed": number_at(self.result.details, "claimed_epsilon"),
        }
        frame = pd.DataFrame({"what": list(rows), "epsilon": list(rows.values())})
        return frame[np.isfinite(frame["epsilon"])].reset_index(drop=True)

    def title(self) -> str:
        """Return the bound."""
        return state_audit(self.result.value, number_at(self.result.details, "ceiling"))

    def subtitle(self) -> str:
        """Return the number of guesses."""
        n = number_at(self.result.details, "n_guesses")
        guesses = f"{count(n)} guesses" if np.isfinite(n) else ""
        return describe_result(self.result, guesses, has_value=False)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one bar for each number, its words above it."""
        (ax,), frame = axes, self.frame()
        colors = [LETTERS["synthetic"], FAINT, GREY][: len(frame)]
        ax.barh(range(len(frame)), frame["epsilon"], height=0.4, color=colors)
        for place, (what, epsilon) in enumerate(frame.itertuples(index=False)):
            style: dict[str, Any] = {"size": TEXT, "color": INK}
            ax.text(0.0, place - 0.28, f"{what}: {score(epsilon)}", va="bottom", **style)
        top = 1.05 * max(0.1, float(frame["epsilon"].max()))
        ax.set(xlim=(0.0, top), ylim=(len(frame) - 0.6, -0.8))
        ax.set_xlabel("epsilon of differential privacy")
        hide_axis(ax.yaxis)
        label_numbers(ax.xaxis, 0.0, top)
