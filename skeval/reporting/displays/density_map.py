"""The densities of tables on one grid, next to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError
from skeval.reporting.displays.base import Display
from skeval.reporting.displays.heat_map import draw_matrix
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import to_numbers
from skeval.reporting.displays.sentences import describe_result, join_facts
from skeval.reporting.displays.theme import LETTERS, NAMES, TICK, share_ramp
from skeval.reporting.displays.ticks import number_ticks
from skeval.reporting.document.details import mapping_at
from skeval.reporting.document.numbers import rate, whole_percent
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REAL = ("train", "holdout")
_MAX_IN_ROW = 3  # panels
_MAX_NAMED = 2  # columns that an axis names


class DensityMapDisplay(Display):
    """The share of each table's rows in each place of a map, dark for many rows."""

    # No row is drawn. Grey places have fewer rows than are ever drawn, ten by default.

    reads = ("maps", "edges")

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        details = result.details
        maps, edges = mapping_at(details, "maps"), mapping_at(details, "edges")
        self.edges = {axis: to_numbers(edges.get(axis, [0.0, 1.0])) for axis in "xy"}
        self.maps = {name: to_numbers(cells) for name, cells in maps.items()}
        self.n_panels = len(self.maps)

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
                f"DensityMapDisplay.from_results: the name {taken[0]} belongs to a real table or "
                "an axis. Rename the synthetic table."
            )
        first, *others = displays.values()
        if not all(_near(first.edges[at], one.edges[at]) for one in others for at in "xy"):
            raise InvalidParameterError(
                "DensityMapDisplay.from_results: the results are of different maps. Fit one "
                "MapDistance and evaluate each table with it."
            )
        real = {name: first.maps[name] for name in _REAL if name in first.maps}
        first.maps = real | {str(name): one.maps["synthetic"] for name, one in displays.items()}
        first.n_panels = len(first.maps)
        return first

    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns of panels."""
        n = max(1, self.n_panels)
        # four panels are two by two, because a single panel below three would be lost
        width = n if n <= _MAX_IN_ROW else 2 if n == 4 else _MAX_IN_ROW
        return -(-n // width), width

    def frame(self) -> pd.DataFrame:
        """Return the centre of each cell, `x` and `y`, and the share of each table's rows in it.

        Shares are nan where the table has too few rows.
        """
        middle = {axis: (of[1:] + of[:-1]) / 2.0 for axis, of in self.edges.items()}
        y, x = np.meshgrid(middle["y"], middle["x"], indexing="ij")
        cells = {name: shares.ravel() for name, shares in self.maps.items()}
        return pd.DataFrame({"x": x.ravel(), "y": y.ravel(), **cells})

    def subtitle(self) -> str:
        """Return the scale of the colors."""
        scale = f"darkest cell: {rate(self._darkest())} of rows"
        return join_facts((describe_result(self.result), scale, "grey: few rows"))

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the densities of all tables in the same colors."""
        top = self._darkest() or 1.0
        _, n_columns = self.shape()
        for i, (ax, (name, shares)) in enumerate(zip(axes, self.maps.items(), strict=False)):
            # square roots, because small densities would all look empty
            draw_matrix(ax, np.sqrt(shares / top), share_ramp(), is_upward=True)
            self._label_axes(ax)
            color = LETTERS.get(name, LETTERS["synthetic"])
            ax.set_title(NAMES.get(name, draw_name(name)), color=color)
            is_left, is_bottom = i % n_columns == 0, i + n_columns >= len(self.maps)
            ax.set_xlabel(self._name_direction(0) if is_bottom else "", size=TICK)
            ax.set_ylabel(self._name_direction(1) if is_left else "", size=TICK)

    def _darkest(self) -> float:
        return max((float(np.nanmax(of, initial=0.0)) for of in self.maps.values()), default=1.0)

    def _label_axes(self, ax: Axes) -> None:
        for axis, side in ((ax.xaxis, "x"), (ax.yaxis, "y")):
            edges = self.edges[side]
            ticks, labels = number_ticks(float(edges[0]), float(edges[-1]), most=4)
            places = (ticks - edges[0]) / (edges[-1] - edges[0]) * (edges.size - 1) - 0.5
            axis.set_ticks(places, labels=labels)

    def _name_direction(self, place: int) -> str:
        """Return the columns that contribute most to a direction."""
        axes = self.result.details.get("axes") or []
        if place >= len(axes):
            return f"direction {place + 1}"
        columns = list(mapping_at(axes[place], "columns"))[:_MAX_NAMED]
        share = whole_percent(float(axes[place]["variance"]))
        named = ", ".join(draw_name(column, 12) for column in columns)
        return f"{named} ({share} of variance)" if named else f"{share} of the variance"


def _near(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether edges are equal up to a hundredth of a cell.

    Train is rounded to the precision in which a synthetic table is stored.
    """
    return first.shape == second.shape and np.allclose(
        first, second, rtol=0.0, atol=0.01 * float(first[1] - first[0])
    )
