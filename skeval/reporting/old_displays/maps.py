"""Displays of maps: the densities of tables on one grid, next to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError
from skeval.reporting.old_displays.base import (
    ROOM,
    Display,
    Margins,
    numbers,
    points,
    register_display,
)
from skeval.reporting.old_displays.ticks import label_axis, number_ticks
from skeval.reporting.scores import entries
from skeval.reporting.style import COLOURS, GREY, SMALL, drawable, sequential, shorten, text_width
from skeval.results.result import Result
from skeval.utils.formatting import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REAL = ("train", "holdout")
_ROW = 3  # panels of a row
_NAMED = 2  # columns that an axis names
_EMPTY = "#eceff1"  # a grey that recedes: it is of places where hardly any row is


def has_map(result: Result) -> bool:
    """Return whether a result can be drawn as a map."""
    return bool(entries(result.details, "maps")) and "edges" in result.details


@register_display
class DensityMapDisplay(Display):
    """The share of each table's rows in each place of a map, dark where many are."""

    # No row is drawn. Grey places have fewer rows than are ever drawn, ten by default.

    reads = ("maps", "edges")

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        details = result.details
        maps, edges = entries(details, "maps"), entries(details, "edges")
        self.edges = {axis: numbers(edges.get(axis, [0.0, 1.0])) for axis in "xy"}
        self.maps = {name: numbers(cells) for name, cells in maps.items()}
        self._sized()

    @classmethod
    def from_results(cls, results: Mapping[str, Result]) -> Self:
        """Return the display of several synthetic tables on the map that they have in common."""
        displays = {name: cls(result) for name, result in results.items()}
        if not displays or not all(one.maps for one in displays.values()):
            lacking = [name for name, one in displays.items() if not one.maps]
            raise InvalidParameterError(
                "DensityMapDisplay.from_results: expected results of MapDistance with a map, got "
                f"{'none' if not displays else f'none for {lacking[0]}'}."
            )
        if taken := [name for name in map(str, displays) if name in (*_REAL, *"xy")]:
            raise InvalidParameterError(
                f"DensityMapDisplay.from_results: the name {taken[0]} is of a real table or an "
                "axis; name the synthetic table otherwise."
            )
        first, *others = displays.values()
        if not all(first.same_map(other) for other in others):
            raise InvalidParameterError(
                "DensityMapDisplay.from_results: the results are of different maps. Fit one "
                "MapDistance and evaluate each table with it."
            )
        real = {name: first.maps[name] for name in _REAL if name in first.maps}
        first.maps = real | {str(name): one.maps["synthetic"] for name, one in displays.items()}
        first._sized()
        return first

    def same_map(self, other: DensityMapDisplay) -> bool:
        """Return whether two displays have the grid in common, as far as rounding lets it."""
        return all(_near(self.edges[axis], other.edges[axis]) for axis in "xy")

    def _sized(self) -> None:
        self.n_panels = len(self.maps)
        n_rows, n_columns = self._shape()
        self.figsize = 0.4 + 2.3 * n_columns, 0.5 + 2.3 * n_rows

    def _shape(self) -> tuple[int, int]:
        n = max(1, self.n_panels)
        # four panels are two by two: a row of one would be lost below a row of three
        width = n if n <= _ROW else 2 if n == 4 else _ROW
        return -(-n // width), width

    def frame(self) -> pd.DataFrame:
        """Return the centre of each cell, `x` and `y`, and the share of each table's rows in it.

        Shares are nan where the table has too few rows.
        """
        middle = {axis: (of[1:] + of[:-1]) / 2.0 for axis, of in self.edges.items()}
        y, x = np.meshgrid(middle["y"], middle["x"], indexing="ij")
        cells = {name: shares.ravel() for name, shares in self.maps.items()}
        return pd.DataFrame({"x": x.ravel(), "y": y.ravel(), **cells})

    def margins(self, wide: float) -> Margins:
        """Return what titles and names of directions take."""
        return Margins(32.0, 16.0, 8.0, 30.0, 44.0, square=170.0)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the densities of all tables in the same colours."""
        top = max((float(np.nanmax(of, initial=0.0)) for of in self.maps.values()), default=1.0)
        for ax, (name, shares) in zip(axes, self.maps.items(), strict=False):
            # small densities would all look empty
            self._draw_image(ax, np.sqrt(shares / (top or 1.0)))
            first = f"{name} (up to {percent(top)} a cell)" if ax is axes[0] else name
            title = fitting([first, name], points(ax)[0], 8.0, bold=True)
            ax.set_title(title, color=COLOURS.get(name, COLOURS["synthetic"]))

    def _draw_image(self, ax: Axes, cells: np.ndarray) -> None:
        colours = sequential().with_extremes(bad=_EMPTY)
        ax.imshow(cells, cmap=colours, vmin=0.0, vmax=1.0, aspect="auto", origin="lower")
        ax.spines[:].set_visible(True)
        for axis, side in ((ax.xaxis, "x"), (ax.yaxis, "y")):
            edges = self.edges[side]
            ticks, labels = number_ticks(float(edges[0]), float(edges[-1]), most=4)
            places = (ticks - edges[0]) / (edges[-1] - edges[0]) * (edges.size - 1) - 0.5
            label_axis(axis, places, labels)
        wide, tall = points(ax)
        ax.set_xlabel(fitting(self._named(0), wide, SMALL), size=SMALL, color=GREY)
        ax.set_ylabel(fitting(self._named(1), tall, SMALL), size=SMALL, color=GREY)

    def _named(self, place: int) -> list[str]:
        """Return what a direction is mostly made of, in full and in short."""
        axes = self.result.details.get("axes") or []
        if place >= len(axes):
            return [f"direction {place + 1}"]
        named = ", ".join(list(entries(axes[place], "columns"))[:_NAMED])
        share = percent(float(axes[place]["variance"]), 0)
        if not named:
            return [f"{share} of the variance"]
        return [f"{named}: {share} of the variance", f"{named} ({share})"]


def fitting(texts: Sequence[str], room: float, size: float, bold: bool = False) -> str:
    """Return the first of some texts that has room, else the last one in short."""
    fits = (text for text in texts if text_width(text, size, bold) <= room)
    return drawable(next(fits, "") or shorten(texts[-1], room, size, bold))


def _near(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether edges are equal up to a hundredth of a cell.

    Train is rounded to the precision in which a synthetic table is stored.
    """
    return first.shape == second.shape and np.allclose(
        first, second, rtol=0.0, atol=0.01 * float(first[1] - first[0])
    )
