"""Displays of distances: nearest neighbours within and between tables, proximity ratios."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.formatting import as_float, number, percent
from skeval.reporting.drawing import ROOM, Drawing, numbers, say_empty
from skeval.reporting.theme import COLOURS, GREY, INK, SMALL
from skeval.reporting.ticks import label_axis, label_line, number_ticks
from skeval.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DistancesDisplay", "ProximityDisplay"]

# the three questions, each a contrast of two distributions and the roles whose colours they have
_CONTRASTS = (
    ("Within each table", ("train to train", "train"), ("synthetic to synthetic", "synthetic")),
    ("To train", ("holdout to train", "holdout"), ("synthetic to train", "synthetic")),
    ("From synthetic rows", ("synthetic to train", "train"), ("synthetic to holdout", "holdout")),
)
_WITHOUT_HOLDOUT = ("To train", ("train to train", "train"), ("synthetic to train", "synthetic"))


def tidy(histogram: Mapping[str, Any], **columns: Any) -> pd.DataFrame:
    """Return `distribution`, `low`, `high`, `share` of every bar of every distribution."""
    edges = numbers(histogram["edges"])
    frames = [
        pd.DataFrame(
            {"distribution": name, "low": edges[:-1], "high": edges[1:], "share": numbers(shares)}
        )
        for name, shares in histogram["shares"].items()
    ]
    return pd.concat(frames, ignore_index=True)


def share_axis(ax: Axes, top: float, most: int = 3) -> None:
    """Label the heights of bars as percentages, from 0 to a little above `top`."""
    top = top if top > 0 else 1.0
    ax.set_ylim(0.0, 1.08 * top)
    ticks, _ = number_ticks(0.0, 100.0 * top, most=most)
    labels = [f"{tick:g}%" for tick in ticks]
    label_axis(ax.yaxis, ticks / 100.0, labels)


def distance_axis(ax: Axes, edges: np.ndarray) -> None:
    """Label distances; the last bar is marked as open."""
    ticks, labels = number_ticks(0.0, float(edges[-1]), most=7)
    ax.set_xlim(0.0, float(edges[-1]))
    last = [*ticks, (edges[-2] + edges[-1]) / 2.0]
    label_line(ax, SMALL, [(last, [*labels, "more"], [len(ticks)])])


class DistancesDisplay(Drawing):
    """How far rows are from their nearest neighbours, in three contrasts (two without a holdout).

    Parameters
    ----------
    result : Result
        With ``details["histogram"]``: `edges`, and `shares` by the name of the distribution.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.privacy import NNDistanceDistributions
    >>> from skeval.reporting import DistancesDisplay
    >>> table = make_mixed()
    >>> display = DistancesDisplay(NNDistanceDistributions().fit(table).evaluate(table))
    >>> display.frame()["distribution"].unique().tolist()
    ['train to train', 'synthetic to synthetic', 'synthetic to train']
    """

    stacked = True

    def __init__(self, result: Result) -> None:
        self.result = result
        self.histogram = result.details.get("histogram", {"edges": [0.0, 1.0], "shares": {}})
        there = self.histogram["shares"]
        contrasts = _CONTRASTS if "holdout to train" in there else (_CONTRASTS[0], _WITHOUT_HOLDOUT)
        self.contrasts = [c for c in contrasts if all(name in there for name, _ in c[1:])]
        self.n_panels = max(1, len(self.contrasts))

    def frame(self) -> pd.DataFrame:
        """Return `distribution`, `low`, `high`, `share` of every bar."""
        return tidy(self.histogram)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one contrast a panel, the first distribution filled, the second as a line."""
        if not self.contrasts:
            say_empty(axes[0], "no distances")
            return
        edges, shares = numbers(self.histogram["edges"]), self.histogram["shares"]
        for ax, (title, filled, line) in zip(axes, self.contrasts, strict=True):
            for (name, role), fill in ((filled, True), (line, False)):
                style: dict[str, Any] = {"alpha": 0.35, "fill": True} if fill else {"lw": 1.4}
                ax.stairs(
                    numbers(shares[name]),
                    edges,
                    color=COLOURS[role],
                    label=self._label(name),
                    **style,
                )
            ax.set_title(title)
            share_axis(ax, max(numbers(shares[name]).max() for name, _ in (filled, line)), most=4)
            distance_axis(ax, edges)
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.1)
        axes[-1].set_xlabel("distance to the nearest row")

    def _label(self, name: str) -> str:
        quantiles = self.result.details.get("quantiles", {})
        if name not in quantiles:
            return name
        median = np.interp(0.5, numbers(quantiles["levels"]), numbers(quantiles[name]))
        return f"{name} (median {number(float(median))})"

    def size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return 6.5, 0.4 + 1.9 * self.n_panels


class ProximityDisplay(Drawing):
    """Proximity ratios of train rows to the synthetic and to the real table, the tails marked.

    Parameters
    ----------
    result : Result
        With ``details["histogram"]`` of the ratios and ``details["threshold"]``.

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

    n_panels = 2
    stacked = True

    def __init__(self, result: Result) -> None:
        self.result = result
        self.histogram = result.details.get("histogram", {"edges": [0.0, 1.0], "shares": {}})
        self.threshold = as_float(result.details.get("threshold"))

    def frame(self) -> pd.DataFrame:
        """Return `distribution`, `low`, `high`, `share`, and whether the bar is `in_tail`."""
        frame = tidy(self.histogram)
        return frame.assign(in_tail=frame["high"] <= self.threshold * (1.0 + 1e-9))

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the ratios to the synthetic table over those to the real one."""
        edges, shares = numbers(self.histogram["edges"]), self.histogram["shares"]
        if not shares:
            for ax in axes:
                say_empty(ax, "no ratios")
            return
        holdout = self.result.details.get("mode", "holdout") == "holdout"
        real = "holdout row" if holdout else "row of the other half of train"
        panels = (("synthetic", "synthetic row", "TSPR"), ("real", real, "TTPR"))
        top = max(numbers(values).max() for values in shares.values())
        for ax, (which, table, short) in zip(axes, panels, strict=True):
            colour = COLOURS["synthetic" if which == "synthetic" else "holdout"]
            self._panel(ax, edges, numbers(shares[which]), colour)
            tail = percent(self.result.details.get(f"p_{which}"))
            ax.set_title(f"{short}: to the nearest {table}; {tail} of train rows in the tail")
            share_axis(ax, top, most=4)
            distance_axis(ax, edges)
        axes[-1].set_xlabel("distance to that row / distance to the nearest other train row")

    def _panel(self, ax: Axes, edges: np.ndarray, shares: np.ndarray, colour: str) -> None:
        in_tail = edges[1:] <= self.threshold * (1.0 + 1e-9)
        for mask, alpha in ((in_tail, 0.9), (~in_tail, 0.3)):
            ax.bar(
                edges[:-1][mask],
                shares[mask],
                np.diff(edges)[mask],
                align="edge",
                color=colour,
                alpha=alpha,
            )
        if math.isfinite(self.threshold) and self.threshold <= edges[-1]:
            ax.axvline(self.threshold, color=INK, lw=0.9, ls=(0, (4, 2)))
            text = f" threshold {number(self.threshold)} "
            right = self.threshold > 0.16 * edges[-1]
            ax.annotate(
                text,
                (self.threshold, 0.98),
                xycoords=("data", "axes fraction"),
                va="top",
                color=GREY,
                ha="right" if right else "left",
                size=7,
            )

    def size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return 6.5, 4.0
