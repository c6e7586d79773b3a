"""Numbers that a figure of a page shows where a pointer rests: texts and their places."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from html import escape
from itertools import groupby, islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from skeval.reporting.old_displays.attacks import AttacksDisplay
from skeval.reporting.old_displays.base import Display
from skeval.reporting.old_displays.curves import ParetoDisplay
from skeval.reporting.old_displays.distributions import (
    Bars,
    DistancesDisplay,
    MarginalDisplay,
    PairDisplay,
)
from skeval.reporting.old_displays.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.old_displays.values import ColumnScoresDisplay
from skeval.utils.formatting import number, percent, shown_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MAX_CELLS = (
    4_000  # of a figure: a matrix of a hundred columns has more cells than a pointer can hit
)
_MAX_SHARED_COLUMNS = 20  # columns up to which each of three matrices has its own


class Tip(NamedTuple):
    """A text and its place: the panel, and a box in the data of that; nan is to the edge."""

    panel: int
    box: tuple[float, float, float, float]
    text: str


def tips_in_svg(display: Display, figure: Figure) -> str:
    """Return boxes that nothing is drawn in, each with its text, for a figure that was drawn."""
    tall, dots = 72.0 * figure.get_size_inches()[1], figure.dpi / 72.0
    boxes: list[str] = []
    for panel, of_panel in groupby(islice(tips(display), _MAX_CELLS), lambda tip: tip.panel):
        own, ax = list(of_panel), figure.axes[panel]
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        data = np.array([tip.box for tip in own])
        data = np.where(np.isnan(data), [left, low, right, high], data)
        ends = ax.transData.transform(data.reshape(-1, 2)).reshape(-1, 2, 2) / dots
        (x, y), (wide, high) = ends.min(axis=1).T, np.ptp(ends, axis=1).T
        boxes += map(_box, own, x, tall - y - high, wide, high)
    return f'<g class="tips">{"".join(boxes)}</g>' if boxes else ""


def _box(tip: Tip, x: float, y: float, wide: float, high: float) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"'
    return f"<rect {place}><title>{escape(tip.text)}</title></rect>"


@singledispatch
def tips(display: Display) -> Iterable[Tip]:
    """Yield what a figure says at which place; nothing for a display that has no such numbers."""
    return ()


def _shares(shares: Any, i: Any) -> str:
    return ", ".join(f"{role} {percent(float(of_role[i]))}" for role, of_role in shares.items())


def names_of_bars(bars: Bars) -> list[str]:
    """Return the name of each bar: a category, or its two ends."""
    frame = bars.frame()
    ends = zip(frame["bar"], frame["low"], frame["high"], strict=True)
    return [str(bar) if bar else f"{_end(low)} to {_end(high)}" for bar, low, high in ends]


def _end(value: Any) -> str:
    return str(value)[:16] if isinstance(value, pd.Timestamp) else number(float(value))


@tips.register
def _(display: MarginalDisplay) -> Iterator[Tip]:
    bars, names = display.bars, names_of_bars(display.bars)
    places = display.places()
    for k, i in enumerate(display.shown):
        across = math.nan, k - 0.5, math.nan, k + 0.5
        box = across if bars.edges is None else (places[k][0], math.nan, places[k][1], math.nan)
        yield Tip(0, box, f"{names[i]}: {_shares(display.shares, i)}")


@tips.register
def _(display: PairDisplay) -> Iterator[Tip]:
    shown, names = display.shown(), [names_of_bars(bars) for bars in display.bars]
    first, second = display.columns
    for panel in range(display.n_panels):
        for (y, i), (x, j) in _cells(shown):
            if any(shares[i, j] > 0 for shares in display.shares.values()):
                where = f"{first} {names[0][i]}, {second} {names[1][j]}"
                yield Tip(panel, _cell(x, y), f"{where}: {_shares(display.shares, (i, j))}")


def _cells(shown: Sequence[Sequence[int]]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    return ((row, column) for row in enumerate(shown[0]) for column in enumerate(shown[1]))


def _cell(x: float, y: float) -> tuple[float, float, float, float]:
    return x - 0.5, y - 0.5, x + 0.5, y + 0.5


@tips.register
def _(display: SimilarityMatrixDisplay) -> Iterator[Tip]:
    for i, j in np.ndindex(display.matrix.shape):
        pair = display.names[i] if i == j else f"{display.names[i]} and {display.names[j]}"
        yield Tip(0, _cell(j, i), f"{pair}: {number(float(display.matrix[i, j]))}")


@tips.register
def _(display: PhikMatricesDisplay) -> Iterator[Tip]:
    train, synthetic = (display.matrices[which].tolist() for which in ("train", "synthetic"))
    n = len(display.names)
    for panel in range(3) if n <= _MAX_SHARED_COLUMNS else (2,):
        for i, j in np.ndindex(n, n):
            if i != j:
                pair = f"{display.names[i]} and {display.names[j]}"
                values = f"train {number(train[i][j])}, synthetic {number(synthetic[i][j])}"
                yield Tip(panel, _cell(j, i), f"{pair}: {values}")


@tips.register
def _(display: ColumnScoresDisplay) -> Iterator[Tip]:
    for i, row in enumerate(display.frame().itertuples(index=False)):
        parts = [f"{row.column}: {number(row.score)}"]
        if not math.isnan(row.low + row.high):
            parts.append(f"95% interval {shown_interval((row.low, row.high))}")
        if not math.isnan(row.baseline):
            parts.append(f"fresh real rows {number(row.baseline)}")
        yield Tip(0, (math.nan, i - 0.5, math.nan, i + 0.5), ", ".join(parts))


@tips.register
def _(display: DistancesDisplay) -> Iterator[Tip]:
    edges = display.edges
    for panel, (_, *pair) in enumerate(display.contrasts):
        shares = {name: display.shares[name] for name, _ in pair}
        for i, (low, high) in enumerate(pairwise(edges.tolist())):
            text = f"{number(low)} to {number(high)}: {_shares(shares, i)}"
            yield Tip(panel, (low, math.nan, high, math.nan), text)


@tips.register
def _(display: AttacksDisplay) -> Iterator[Tip]:
    frame, names = display.frame(), list(display.attacks)
    kinds = {what: k for k, what in enumerate(dict.fromkeys(frame["on"]))}
    for row in frame.itertuples(index=False):
        y, ends = names.index(row.attack) + 0.25 * (kinds[row.on] - 1), (row.low, row.high)
        values = f"{percent(row.share)} (95% interval {' to '.join(map(percent, ends))})"
        text = f"{row.attack}, {row.on}: {values}"
        yield Tip(0, (math.nan, y - 0.125, math.nan, y + 0.125), text)


@tips.register
def _(display: ParetoDisplay) -> Iterator[Tip]:
    scores = display.scores[np.isfinite(display.scores).all(axis=1)]
    near = 0.03 * (np.ptp(scores.to_numpy(), axis=0) if len(scores) else np.zeros(2))
    wide, tall = np.where(near > 0, near, 0.01)
    for name, (x, y) in zip(scores.index, scores.to_numpy(), strict=True):
        values = f"{display.x} {number(float(x))}, {display.y} {number(float(y))}"
        yield Tip(0, (x - wide, y - tall, x + wide, y + tall), f"{name}: {values}")
