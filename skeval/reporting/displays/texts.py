"""Displays of what was found in texts: counts by type, never a word of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import ROOM, Display, register_display
from skeval.reporting.displays.ticks import label_axis
from skeval.reporting.text import shorten
from skeval.reporting.theme import COLOURS, INK, SMALL
from skeval.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 12  # types drawn


@register_display
class EntitiesDisplay(Display):
    """Rare entities that synthetic texts repeat, by type: of train alone, and of the holdout alone.

    The generator never saw those of the holdout: as many would stand there by chance.

    Parameters
    ----------
    result : Result
        With ``details["types"]``: for each type the numbers `train` and `holdout`.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting import EntitiesDisplay
    >>> types = {"EMAIL": {"train": 12, "holdout": 1, "p_value": 0.001}}
    >>> EntitiesDisplay(Result(0.1, details={"types": types})).frame()["train"].tolist()
    [12]
    """

    reads = ("types",)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.figsize = 6.5, 0.7 + 0.34 * max(1, len(self.frame()))

    def frame(self) -> pd.DataFrame:
        """Return `type`, `train`, `holdout`, those most repeated of train first."""
        rows = [
            (name, counts["train"], counts["holdout"])
            for name, counts in self.result.details.get("types", {}).items()
        ]
        frame = pd.DataFrame(rows, columns=["type", "train", "holdout"])
        frame = frame.sort_values("train", ascending=False, kind="stable", ignore_index=True)
        return frame.head(_MOST)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw two bars a type, their counts at the right."""
        (ax,), frame = axes, self.frame()
        y = np.arange(len(frame))
        top = max(1, int(frame[["train", "holdout"]].to_numpy().max(initial=1)))
        for role, offset in (("train", -0.2), ("holdout", 0.2)):
            style: dict[str, Any] = {"color": COLOURS[role], "alpha": 0.75}
            label = f"repeated, of {role} texts alone"
            ax.barh(y + offset, frame[role], height=0.36, label=label, **style)
            for place, count in zip(y, frame[role], strict=True):
                at = count + 0.012 * top, place + offset
                ax.text(*at, f"{count:,}", va="center", size=SMALL, color=INK)
        ax.set(xlim=(0.0, 1.08 * top), ylim=(len(frame) - 0.4, -0.6))
        label_axis(ax.xaxis, (), ())
        names = [shorten(str(name), room, 7.5) for name in frame["type"]]
        label_axis(ax.yaxis, y, names, size=7.5, color=INK, length=0.0)
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        ax.legend(ncols=2, borderaxespad=0.0, **above)
