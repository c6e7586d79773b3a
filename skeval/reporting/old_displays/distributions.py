"""Displays of distributions: of distances, of a column in each table, of a pair of columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from skeval.reporting.old_displays.base import (
    ROOM,
    Display,
    Margins,
    numbers,
    points,
    register_display,
    say_empty,
    stacked,
)
from skeval.reporting.old_displays.ticks import (
    Candidate,
    label_axis,
    label_line,
    number_ticks,
    strided,
    value_ticks,
)
from skeval.reporting.scores import UNREADABLE, entries, number_of
from skeval.reporting.style import COLOURS, GREY, INK, LETTERS, SMALL, sequential, shorten, widest
from skeval.results.result import Result
from skeval.utils.formatting import number, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FILLED: dict[str, Any] = {"fill": True, "alpha": 0.35}
_EXTRA = ("missing", "unseen")
_NARROW = 300.0  # points of a panel that has no room for a title and two labels in a line
# the gap before a bar next to an outline and its width, in lengths of the outline: of one bar, of
# several
_TICKS = 6.5  # size of letters at the axes of pairs
_MIN_SIZE = 6.0
_BESIDE = ((0.07, 0.15), (0.1, 0.2))
# the three questions, each a contrast of two distributions and the roles whose colours they have
_CONTRASTS = (
    ("Within each table", ("train to train", "train"), ("synthetic to synthetic", "synthetic")),
    ("To train", ("holdout to train", "holdout"), ("synthetic to train", "synthetic")),
    ("From synthetic rows", ("synthetic to train", "train"), ("synthetic to holdout", "holdout")),
)
_WITHOUT_HOLDOUT = ("To train", ("train to train", "train"), ("synthetic to train", "synthetic"))


def _share_ticks(top: float, most: int) -> tuple[list[float], list[str]]:
    """Return where shares from 0 to `top` are labelled, and the percentages."""
    ticks, _ = number_ticks(0.0, 100.0 * top, most=most)
    return (ticks / 100.0).tolist(), [f"{tick:g}%" for tick in ticks]


def _share_axis(ax: Axes, top: float, most: int = 3) -> None:
    """Label the heights of bars as percentages, from 0 to a little above `top`."""
    top = top if top > 0 else 1.0
    ax.set_ylim(0.0, 1.08 * top)
    label_axis(ax.yaxis, *_share_ticks(top, most))


class HistogramDisplay(Display):
    """Base of displays of distances: shares between edges, by distribution, in panels."""

    reads: ClassVar[tuple[str, ...]] = ("histogram",)
    stacked = True

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        histogram = result.details.get("histogram", {"edges": [0.0, 1.0], "shares": {}})
        self.edges = numbers(histogram["edges"])
        self.shares = {name: numbers(shares) for name, shares in histogram["shares"].items()}

    def frame(self) -> pd.DataFrame:
        """Return `distribution`, `low`, `high`, `share` of every bar."""
        ends = self.edges[:-1], self.edges[1:]
        parts = [(name, *ends, shares) for name, shares in self.shares.items()]
        return stacked(parts, ["distribution", "low", "high", "share"])

    def margins(self, wide: float) -> Margins:
        """Return what percentages, titles and the name of the axis take."""
        if wide < _NARROW:  # two lines say what is drawn
            return Margins(26.0, 22.0, 6.0, 28.0, 42.0)
        return Margins(26.0, 16.0, 6.0, 28.0, 36.0)

    def _label(self, ax: Axes, title: str, top: float) -> None:
        """Label a panel; the last bar of its axis is marked as open."""
        end = float(self.edges[-1])
        ax.set_title(title)
        _share_axis(ax, top, most=min(4, max(2, int(points(ax)[1] / 9.0))))
        ticks, labels = number_ticks(0.0, end, most=7)
        ax.set_xlim(0.0, end)
        places = [*ticks, (self.edges[-2] + end) / 2.0]
        label_line(ax, SMALL, [(places, [*labels, "more"], [len(ticks)])])


@register_display
class DistancesDisplay(HistogramDisplay):
    """How far rows are from their nearest neighbours."""

    # In three contrasts (two without a holdout).

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        holdout = "holdout to train" in self.shares
        contrasts = _CONTRASTS if holdout else (_CONTRASTS[0], _WITHOUT_HOLDOUT)
        self.contrasts = [c for c in contrasts if all(name in self.shares for name, _ in c[1:])]
        self.n_panels = max(1, len(self.contrasts))
        self.figsize = 6.5, 0.4 + 1.9 * self.n_panels

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one contrast a panel, the first distribution filled, the second as a line."""
        if not self.contrasts:
            say_empty(axes[0], "no distances")
            return
        for ax, (title, *pair) in zip(axes, self.contrasts, strict=True):
            for (name, role), style in zip(pair, (_FILLED, {"lw": 1.4}), strict=True):
                label = self._with_median(name)
                ax.stairs(self.shares[name], self.edges, color=COLOURS[role], label=label, **style)
            self._label(ax, title, max(self.shares[name].max() for name, _ in pair))
            place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 2}
            if points(ax)[0] < _NARROW:  # below the title, above the bars
                place = {"loc": "upper right"}
                ax.set_ylim(top=1.65 * ax.get_ylim()[1])
            ax.legend(borderaxespad=0.1, labelspacing=0.2, **place)
        axes[-1].set_xlabel("distance to the nearest row")

    def _with_median(self, name: str) -> str:
        quantiles = entries(self.result.details, "quantiles")
        try:
            median = np.interp(0.5, numbers(quantiles["levels"]), numbers(quantiles[name]))
        except UNREADABLE:
            return name
        return f"{name} (median {number(float(median))})"


@register_display
class ProximityDisplay(HistogramDisplay):
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

    reads = ("histogram", "threshold")
    n_panels = 2
    figsize = (6.5, 4.0)

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.threshold = number_of(result.details.get("threshold"))
        self.in_tail = self.edges[1:] <= self.threshold * (1.0 + 1e-9)

    def frame(self) -> pd.DataFrame:
        """Return `distribution`, `low`, `high`, `share`, and whether the bar is `in_tail`."""
        return super().frame().assign(in_tail=np.tile(self.in_tail, len(self.shares)))

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the ratios to the synthetic table over those to the real one."""
        if not self.shares:
            for ax in axes:
                say_empty(ax, "no ratios")
            return
        holdout = str(self.result.details.get("mode", "holdout")) == "holdout"
        real = "holdout row" if holdout else "row of the other half of train"
        panels = (("synthetic", "synthetic row", "TSPR"), ("real", real, "TTPR"))
        top = max(shares.max() for shares in self.shares.values())
        for ax, (which, table, short) in zip(axes, panels, strict=True):
            self._bars(ax, which)
            tail = percent(number_of(self.result.details.get(f"p_{which}")))
            title = f"{short}, to the nearest {table}: {tail} in the tail"
            self._label(ax, title, top)
        axes[-1].set_xlabel("distance to that row / distance to the nearest other train row")

    def _bars(self, ax: Axes, which: str) -> None:
        left, width, shares = self.edges[:-1], np.diff(self.edges), self.shares[which]
        colour = COLOURS["synthetic" if which == "synthetic" else "holdout"]
        for part, alpha in ((self.in_tail, 0.9), (~self.in_tail, 0.3)):
            places = left[part], shares[part], width[part]
            ax.bar(*places, alpha=alpha, align="edge", color=colour)
        if math.isfinite(self.threshold) and self.threshold <= self.edges[-1]:
            ax.axvline(self.threshold, color=INK, lw=0.9, ls=(0, (4, 2)))
            side = "right" if self.threshold > 0.16 * self.edges[-1] else "left"
            text, place = f" threshold {number(self.threshold)} ", (self.threshold, 0.98)
            style: dict[str, Any] = {"va": "top", "ha": side, "color": GREY, "size": 7}
            ax.annotate(text, place, xycoords=("data", "axes fraction"), **style)


class Bars:
    """The bars of a column's axis: its own, those of frequent numbers, then missing and unseen."""

    def __init__(self, axis: Mapping[str, Any]) -> None:
        self.kind = str(axis["kind"])
        self.edges = None if axis["edges"] is None else numbers(axis["edges"])
        labels = [str(label) for label in axis["labels"]]
        own = labels if self.edges is None else [""] * (len(self.edges) - 1)
        self.n_own = len(own)
        self.beside = list(_EXTRA) if self.edges is None else [*labels, *_EXTRA]
        self.names = [*own, *self.beside]

    def frame(self) -> pd.DataFrame:
        """Return `bar`, `low`, `high` of each bar; edges are dates for a datetime column."""
        low, high = np.full((2, len(self.names)), np.nan)
        if self.edges is not None:
            low[: self.n_own], high[: self.n_own] = self.edges[:-1], self.edges[1:]
        frame = pd.DataFrame({"bar": np.array(self.names, dtype=object), "low": low, "high": high})
        if self.kind == "datetime":
            for end in ("low", "high"):
                frame[end] = pd.to_datetime(frame[end], unit="s")
        return frame

    def shown(self, totals: Sequence[np.ndarray]) -> list[int]:
        """Return the own bars, and of the others those that are not empty in all tables."""
        beside = range(self.n_own, len(self.names))
        return [*range(self.n_own), *(i for i in beside if any(total[i] > 0 for total in totals))]


class MarginalDisplay(Display):
    """The shares of one column's values in train, holdout and synthetic."""

    # Numbers and dates are drawn as a filled outline for train and lines for the others;
    # categories as a bar for train and markers for the others. Missing and unseen values have
    # bars of their own, and so has a number that holds a quarter of train: next to the
    # outline, which is of the others.

    def __init__(self, name: str, marginal: Mapping[str, Any], *, note: str = "") -> None:
        self.name = name
        self.bars = Bars(marginal)
        shares = marginal["shares"]
        self.shares = {role: numbers(shares[role]) for role in COLOURS if role in shares}
        self.note = note
        self.shown = self.bars.shown(list(self.shares.values()))
        rows = len(self.shown) if self.bars.edges is None else 0
        self.figsize = 3.6, max(2.3, 0.8 + 0.14 * rows)

    def frame(self) -> pd.DataFrame:
        """Return `bar`, `low`, `high` and the share of each role, one row a bar."""
        return self.bars.frame().assign(**self.shares)

    def margins(self, wide: float) -> Margins:
        """Return what names of categories, or shares, take at the left."""
        room = 20.0 if self.bars.edges is not None else widest(self.bars.names, SMALL, 0.4 * wide)
        return Margins(room + 6.0, 4.0, 3.0, 16.0, rooms=(room,))

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the column."""
        (ax,) = axes
        if self.bars.edges is None:
            self._draw_categories(ax, room)
        else:
            self._draw_outline(ax, self.bars.edges)

    def head(self, axes: Sequence[Axes]) -> None:
        """Write the name, and the note below it."""
        (ax,) = axes
        room = points(ax)[0]
        ax.set_title(shorten(self.name, room, 8.0, True), pad=13.0 if self.note else 4.0)
        if self.note:
            place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
            note = shorten(self.note, room, SMALL)
            ax.annotate(note, (0.0, 1.0), xytext=(0, 3), size=SMALL, color=GREY, **place)

    def _draw_categories(self, ax: Axes, room: float) -> None:
        shown = self.shown
        every, size = strided(len(shown), points(ax)[1], SMALL, _MIN_SIZE)
        y = np.arange(len(shown))
        marks: dict[str, dict[str, Any]] = {
            "holdout": {"marker": "|", "mew": 1.3, "ms": max(3.0, 0.9 * size)},
            "synthetic": {"marker": "D", "mew": 0.0, "ms": max(2.2, 0.5 * size)},
        }
        for role, shares in self.shares.items():
            style: dict[str, Any] = {"color": COLOURS[role], "label": role}
            if role == "train":
                ax.barh(y, shares[shown], height=0.66, alpha=0.35, **style)
            else:
                ax.plot(shares[shown], y, ls="", clip_on=False, **marks[role], **style)
        names = [shorten(self.bars.names[i], room, size) for i in shown[::every]]
        label_axis(ax.yaxis, y[::every], names, size=size, color=INK, length=0.0)
        ax.set_ylim(max(len(shown), 2) - 0.4, -0.6)
        top = max((shares[shown].max(initial=0.0) for shares in self.shares.values()), default=1.0)
        top = top if top > 0 else 1.0
        ax.set_xlim(0.0, 1.06 * top)
        label_line(ax, SMALL, [(*_share_ticks(top, 4), ())])

    def _draw_outline(self, ax: Axes, edges: np.ndarray) -> None:
        n = self.bars.n_own
        for role, shares in self.shares.items():
            style: dict[str, Any] = _FILLED if role == "train" else {"lw": 1.1}
            ls = (0, (3, 1.2)) if role == "holdout" else "-"
            ax.stairs(shares[:n], edges, color=COLOURS[role], label=role, ls=ls, **style)
        own = max((shares[:n].max(initial=0.0) for shares in self.shares.values()), default=0.0)
        extra = self.shown[n:]
        apart = max((shares[n:].max() for shares in self.shares.values()), default=0.0)
        # extra bars that would flatten the outline are on a scale of their own
        top = max(own, min(apart, 3.0 * own)) if own > 0 else apart
        right = self._draw_extra(ax, edges, extra, top / apart if apart > top else 1.0)
        _share_axis(ax, top)
        ax.set_xlim(edges[0], right)
        self._label_outline(ax, edges, extra, right)

    def places(self) -> list[tuple[float, float]]:
        """Return where each bar that is shown begins and ends along an axis of numbers."""
        if self.bars.edges is None:
            return []
        edges = self.bars.edges.tolist()
        ends, right, n_beside = list(pairwise(edges)), edges[-1], len(self.shown) - self.bars.n_own
        span = right - edges[0]
        gap, wide = _BESIDE[n_beside > 1]
        for _ in range(n_beside):
            left = right + gap * span
            right = left + wide * span
            ends.append((left, right))
        return ends

    def _draw_extra(self, ax: Axes, edges: np.ndarray, extra: Sequence[int], scale: float) -> float:
        """Draw the bars of single values and of missing ones after the axis; return its end."""
        right = float(edges[-1])
        span = right - float(edges[0])
        for i, (left, right) in zip(extra, self.places()[self.bars.n_own :], strict=True):
            width = (right - left) / max(1, len(self.shares))
            for k, (role, shares) in enumerate(self.shares.items()):
                bar = left + k * width, scale * shares[i], 0.85 * width
                alpha = 0.35 if role == "train" else 0.9
                ax.bar(*bar, color=COLOURS[role], alpha=alpha, align="edge")
        return right + 0.02 * span if extra else right

    def _label_outline(
        self, ax: Axes, edges: np.ndarray, extra: Sequence[int], right: float
    ) -> None:
        low, high = float(edges[0]), float(edges[-1])
        gap, wide = _BESIDE[len(extra) > 1]
        beyond = [
            right - (0.02 + wide / 2.0 + (gap + wide) * k) * (high - low)
            for k in reversed(range(len(extra)))
        ]
        names = []
        for i, place in zip(extra, beyond, strict=True):
            top = percent(max(shares[i] for shares in self.shares.values()), 0)
            if len(extra) == 1:
                name = self.bars.names[i]
                names.append(f"{name} {top}" if name in _EXTRA else f"{name}: {top}")
            else:  # both do not fit below the bars
                names.append(self.bars.names[i])
                above: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "ha": "center"}
                ax.annotate(top, (place, 0.99), va="top", size=SMALL, color=INK, **above)
        candidates: list[Candidate] = []
        for most in (4, 3, 2):
            ticks, labels = value_ticks(self.bars.kind, low, high, most=most)
            first = range(len(ticks), len(ticks) + len(names))
            candidates.append(([*ticks, *beyond], [*labels, *names], first))
        label_line(ax, SMALL, candidates)


class PairDisplay(Display):
    """The joint shares of two columns, in train and in the synthetic table, on the same colours."""

    n_panels = 2
    figsize = (5.2, 2.9)

    def __init__(self, pair: Mapping[str, Any]) -> None:
        self.columns = self.crossed = tuple(str(name) for name in pair["columns"])
        self.bars = tuple(Bars(axis) for axis in pair["axes"])
        self.shares = {role: numbers(pair["shares"][role]) for role in ("train", "synthetic")}

    def check(self) -> None:
        """Raise where the cells are not those of the bars of both columns."""
        shape = tuple(len(bars.names) for bars in self.bars)
        if any(shares.shape != shape for shares in self.shares.values()):
            raise ValueError("The shares of a pair must have a cell for each bar of its columns.")
        super().check()

    def frame(self) -> pd.DataFrame:
        """Return the bars of both columns and the shares of train and synthetic, one row a cell."""
        name, other = self.columns
        columns = [name, other if other != name else "second"]
        frame = pd.DataFrame(product(*map(_bar_names, self.bars)), columns=columns, dtype=object)
        shares = pd.DataFrame({role: cells.ravel() for role, cells in self.shares.items()})
        return pd.concat([frame, shares], axis="columns")

    def darkest(self) -> float:
        """Return the greatest share of a cell: the dark end of the colours."""
        return max(float(shares.max(initial=0.0)) for shares in self.shares.values())

    def margins(self, wide: float) -> Margins:
        """Return what names or numbers of the first column take, and of the second below."""
        first, second = self.bars
        names = first.names if first.edges is None else ["0.0000", *first.beside]
        room = widest(names, _TICKS, 57.0)
        below = widest(second.names, _TICKS, 37.0) if second.edges is None else 7.0
        return Margins(room + 17.0, 12.0, 2.0, below + 14.0, 6.0, (room, below))

    def shown(self) -> list[list[int]]:
        """Return which bars of the first column are drawn, and which of the second."""
        return [
            bars.shown([shares.sum(axis=1 - side) for shares in self.shares.values()])
            for side, bars in enumerate(self.bars)
        ]

    def draw(self, axes: Sequence[Axes], room: float = ROOM, below: float = 60.0) -> None:
        """Draw train and synthetic: the first column upwards, the second to the right."""
        shown = self.shown()
        top = self.darkest() or 1.0
        for k, (ax, (role, shares)) in enumerate(zip(axes, self.shares.items(), strict=True)):
            cells = np.sqrt(shares[np.ix_(*shown)] / top)  # small cells would all look empty
            ax.imshow(cells, cmap=sequential(), vmin=0.0, vmax=1.0, aspect="auto", origin="lower")
            ax.spines[:].set_visible(True)
            ax.set_title(role, color=LETTERS[role], size=7.0, pad=2.0, loc="center")
            self._label_rows(ax, shown[0], room if k == 0 else 0.0)
            self._label_columns(ax, shown[1], below)
            ax.set_xlabel(shorten(self.columns[1], points(ax)[0], 7.0))
        axes[0].set_ylabel(shorten(self.columns[0], points(axes[0])[1], 7.0))

    def _label_rows(self, ax: Axes, shown: Sequence[int], room: float) -> None:
        bars = self.bars[0]
        places, texts = _cell_labels(bars, shown, 4)
        every, size = strided(len(shown), points(ax)[1], _TICKS, _MIN_SIZE)
        kept: Sequence[int] = range(0, len(texts), every)
        if bars.edges is None:
            ax.invert_yaxis()  # the most frequent category on top
        else:
            kept = _apart(places, size, points(ax)[1] / len(shown))
        labels = [shorten(texts[i], room, size) if room else "" for i in kept]
        size = size if bars.edges is None else _TICKS
        label_axis(ax.yaxis, [places[i] for i in kept], labels, size=size)

    def _label_columns(self, ax: Axes, shown: Sequence[int], below: float) -> None:
        bars = self.bars[1]
        places, texts = _cell_labels(bars, shown, 3)
        if bars.edges is not None:
            first = [i for i in range(len(texts)) if texts[i] in bars.beside]
            longest, wide = widest(texts, _TICKS, math.inf), points(ax)[0]
            size = _TICKS if longest <= wide else _MIN_SIZE  # a date may be wider than all cells
            label_line(ax, size, [(places, texts, first)])
            return
        every, size = strided(len(shown), points(ax)[0], _TICKS, _MIN_SIZE)
        labels = [shorten(text, below, size) for text in texts[::every]]
        label_axis(ax.xaxis, places[::every], labels, size=size, rotation=90)


def _bar_names(bars: Bars) -> list[str]:
    """Return category, or low and high end, of each bar; then those next to them."""
    if bars.edges is None:
        return bars.names
    ends = [f"{edge:.6g}" for edge in bars.edges]
    if bars.kind == "datetime":
        dates = pd.to_datetime(pd.Series(bars.edges), unit="s")
        ends = dates.dt.strftime("%Y-%m-%d %H:%M").tolist()
    return [*(f"{low} to {high}" for low, high in pairwise(ends)), *bars.beside]


def _cell_labels(bars: Bars, shown: Sequence[int], most: int) -> tuple[list[float], list[str]]:
    """Return where a side of a pair is labelled, in cells, and the texts."""
    if bars.edges is None:
        return list(range(len(shown))), [bars.names[i] for i in shown]
    low, high = float(bars.edges[0]), float(bars.edges[-1])
    ticks, labels = value_ticks(bars.kind, low, high, most=most)
    places: list[float] = ((ticks - low) / (high - low) * bars.n_own - 0.5).tolist()
    extra = [i for i in shown if i >= bars.n_own]
    places += [float(shown.index(i)) for i in extra]
    return places, labels + [bars.names[i] for i in extra]


def _apart(places: Sequence[float], size: float, height: float) -> list[int]:
    """Return which labels of a numeric side do not touch the one above; missing has precedence."""
    kept: list[int] = []
    for i in reversed(range(len(places))):
        if all(abs(places[i] - places[k]) * height > 1.2 * max(size, _TICKS) for k in kept):
            kept.append(i)
    return sorted(kept)
