"""The joint distribution of two columns in the real and in the synthetic table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.column_bars import ColumnBars
from skeval.reporting.displays.heat_map import draw_matrix
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import to_numbers
from skeval.reporting.displays.sentences import join_facts, state_largest_gap
from skeval.reporting.displays.theme import INK, LETTERS, difference_ramp, share_ramp
from skeval.reporting.displays.ticks import value_ticks
from skeval.reporting.document.numbers import rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_LABELS = 11  # categories that are named at a side
_MAX_LETTERS = 10


class PairDisplay(Display):
    """The joint shares of two columns in both tables, and the differences of the shares."""

    n_panels = 3

    def __init__(self, pair: Mapping[str, Any], *, note: str = "") -> None:
        self.note = note
        self.columns = tuple(str(name) for name in pair["columns"])
        self.bars = tuple(ColumnBars(axis) for axis in pair["axes"])
        self.shares = {role: to_numbers(pair["shares"][role]) for role in ("train", "synthetic")}

    def check(self) -> None:
        """Raise unless there is a cell for each pair of bars."""
        shape = tuple(len(bars.names) for bars in self.bars)
        if any(shares.shape != shape for shares in self.shares.values()):
            raise ValueError("The shares of a pair must have a cell for each bar of its columns.")
        super().check()

    def frame(self) -> pd.DataFrame:
        """Return the bars of both columns and both shares, one row for each cell."""
        name, other = self.columns
        columns = [name, other if other != name else "second"]
        bars = (one.range_names() for one in self.bars)
        frame = pd.DataFrame(product(*bars), columns=columns, dtype=object)
        shares = pd.DataFrame({role: cells.ravel() for role, cells in self.shares.items()})
        return pd.concat([frame, shares], axis="columns")

    def title(self) -> str:
        """Return the cell whose share differs most."""
        first, second = map(draw_name, self.columns)
        # a cell with few rows also has a share of 0, because it is not shown
        gaps = np.nan_to_num(np.abs(self._differences()))
        i, j = np.unravel_index(int(gaps.argmax()), gaps.shape)
        if not gaps[i, j]:
            return f"{first} and {second}"
        ends = self.bars[0].range_names()[i], self.bars[1].range_names()[j]
        cell = f"{first} {ends[0]} and {second} {ends[1]}"
        real, synthetic = (float(self.shares[role][i, j]) for role in ("train", "synthetic"))
        return state_largest_gap(cell, real, synthetic)

    def subtitle(self) -> str:
        """Return the scale of the colors."""
        darkest = rate(self._darkest())
        difference = "grey for few rows, orange for too many synthetic rows, purple for too few"
        return join_facts((self.note, f"darkest cell: {darkest} of rows", difference))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw three maps: the first column upward, the second to the right."""
        shown = [
            bars.shown([shares.sum(axis=1 - side) for shares in self.shares.values()])
            for side, bars in enumerate(self.bars)
        ]
        top = self._darkest() or 1.0
        for ax, (role, shares) in zip(axes, self.shares.items(), strict=False):
            cells = np.where(shares > 0.0, shares, np.nan)[np.ix_(*shown)]
            # square roots, because small shares would all look empty
            draw_matrix(ax, np.sqrt(cells / top), share_ramp(), is_upward=True)
            ax.set_title("real" if role == "train" else "synthetic", color=LETTERS[role])
        gaps = self._differences()[np.ix_(*shown)]
        most = float(np.nan_to_num(np.abs(gaps)).max(initial=0.0)) or 1.0
        draw_matrix(axes[2], gaps, difference_ramp(), (-most, most), is_upward=True)
        axes[2].set_title("difference", color=INK)
        for i, ax in enumerate(axes):
            self._label(ax, shown, is_first=i == 0)

    def _differences(self) -> np.ndarray:
        """Return synthetic minus real shares, or nan for cells with few rows of either table."""
        real, synthetic = self.shares["train"], self.shares["synthetic"]
        return np.where(np.minimum(real, synthetic) > 0.0, synthetic - real, np.nan)

    def _darkest(self) -> float:
        return max(float(shares.max(initial=0.0)) for shares in self.shares.values())

    def _label(self, ax: Axes, shown: Sequence[Sequence[int]], *, is_first: bool) -> None:
        places, labels = _cell_labels(self.bars[1], shown[1], 3)
        is_turned = self.bars[1].edges is None or max(map(len, labels), default=0) > 5
        ax.set_xticks(places, labels=labels, rotation=90.0 if is_turned else 0.0)
        places, labels = _cell_labels(self.bars[0], shown[0], 4)
        ax.set_yticks(places, labels=labels if is_first else [""] * len(labels))
        ax.set_xlabel(draw_name(self.columns[1], 20))
        if is_first:
            ax.set_ylabel(draw_name(self.columns[0]))
        if self.bars[0].edges is None:
            ax.invert_yaxis()  # the most frequent category at the top


def _cell_labels(
    bars: ColumnBars, shown: Sequence[int], most: int
) -> tuple[list[float], list[str]]:
    """Return the places of a side's labels in cells, and the labels."""
    if bars.edges is None:
        step = -(-len(shown) // _MAX_LABELS)
        kept = range(0, len(shown), step)
        return [float(k) for k in kept], [
            draw_name(bars.names[shown[k]], _MAX_LETTERS) for k in kept
        ]
    low, high = float(bars.edges[0]), float(bars.edges[-1])
    beside = [i for i in shown if i >= bars.n_own]
    ticks, labels = value_ticks(bars.kind, low, high, most - bool(beside))
    places: list[float] = ((ticks - low) / (high - low) * bars.n_own - 0.5).tolist()
    inner = [k for k, place in enumerate(places) if not beside or place < bars.n_own - 1.5]
    places = [places[k] for k in inner] + [float(shown.index(i)) for i in beside]
    names = [draw_name(bars.names[i], _MAX_LETTERS) for i in beside]
    return places, [labels[k] for k in inner] + names
