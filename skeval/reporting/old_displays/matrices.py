"""Displays of matrices over columns: similarity of pairs, associations of pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.old_displays.base import (
    ROOM,
    Display,
    Margins,
    numbers,
    points,
    register_display,
)
from skeval.reporting.old_displays.ticks import label_axis, number_ticks, strided, write
from skeval.reporting.style import (
    ALARM,
    GREY,
    INK,
    SMALL,
    diverging,
    letters_on,
    sequential,
    shorten,
    widest,
)
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

_MAX_ANNOTATED = 20
_MAX_COLUMNS_IN_A_ROW = 20  # columns up to which three matrices share a row
_NOTE = 10.0  # points of a line below a matrix
_CELL = 48.0  # points of a cell, at most


def heat_map(ax: Axes, matrix: np.ndarray, colours: Colormap, limits: tuple[float, float]) -> None:
    """Draw a square matrix, its first row on top, with the scale of its colours at the right."""
    ax.imshow(matrix, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="equal")
    ax.spines[:].set_visible(False)
    scale = ax.inset_axes((1.025, 0.0, 0.03, 1.0), axes_class=type(ax))
    shades, ends = np.linspace(*limits, 256)[:, None], (0.0, 1.0, *limits)
    scale.imshow(shades, cmap=colours, origin="lower", extent=ends, aspect="auto")
    scale.spines[:].set(visible=True, linewidth=0.4)
    for axis in (scale.xaxis, scale.yaxis):
        label_axis(axis, (), ())
    style: dict[str, Any] = {"va": "center", "size": SMALL, "color": GREY}
    for place, text in zip(*number_ticks(*limits, most=5), strict=True):
        write(scale, 1.0, place, f" {text}", transform=scale.get_yaxis_transform(), **style)


def name_rows(ax: Axes, names: Sequence[str], room: float, *, rows: bool = True) -> int:
    """Name columns below and rows left of a matrix; return every how many are named."""
    every, size = strided(len(names), min(points(ax)), SMALL)
    shown = [shorten(name, room, size) for name in names[::every]]
    at = range(0, len(names), every)
    label_axis(ax.xaxis, at, shown, size=size, rotation=90, color=INK, length=0.0)
    label_axis(ax.yaxis, *((at, shown) if rows else ((), ())), size=size, color=INK, length=0.0)
    return every


def _say_named(ax: Axes, n: int, every: int) -> None:
    """Say below a matrix that there is no room for the names of all columns."""
    if every > 1:
        style: dict[str, Any] = {"size": SMALL, "color": GREY}
        ax.set_xlabel(f"Of the {n} columns, one in {every} is named.", **style)


def _below(n: int, room: float) -> float:
    """Return the points that names take below a matrix, and a note where all may not fit."""
    return room + 10.0 + (_NOTE if n > _MAX_ANNOTATED else 0.0)


def _write_cells(
    ax: Axes, matrix: np.ndarray, limits: tuple[float, float], colours: Colormap
) -> None:
    """Write the numbers into the cells if they are large enough."""
    n = len(matrix)
    size = min(SMALL, 0.42 * min(points(ax)) / n)
    if n > _MAX_ANNOTATED or size < 4.5:
        return
    for i, j in np.ndindex(n, n):
        value = matrix[i, j]
        if not math.isnan(value):
            share = (value - limits[0]) / (limits[1] - limits[0])
            text = f"{value:.2f}".removeprefix("0")
            colour = letters_on(colours(float(share)))
            write(ax, j, i, text, ha="center", va="center", size=size, color=colour)


def _square(n: int, n_rows: int = 1, n_columns: int = 1) -> tuple[float, float]:
    side = float(np.clip(0.17 * n, 2.0, 7.0))
    return n_columns * (side + 0.5) + 1.5, n_rows * (side + 1.7)


def _pairs(
    names: Sequence[str], matrices: Mapping[str, np.ndarray], beyond: int = 0
) -> pd.DataFrame:
    """Return the cells of matrices from the diagonal on, or `beyond` it, by names of columns."""
    shape = (len(names),) * 2
    if any(matrix.shape != shape for matrix in matrices.values()):
        raise ValueError("A matrix must have a row and a column for each of the names.")
    i, j = np.triu_indices(len(names), beyond)
    labels = np.array(names, dtype=object)
    frame = pd.DataFrame({"first": labels[i], "second": labels[j]})
    return frame.assign(**{name: matrix[i, j] for name, matrix in matrices.items()})


@register_display
class SimilarityMatrixDisplay(Display):
    """The similarity matrix: columns on the diagonal, pairs off it, light where they agree."""

    reads = ("names", "matrix")
    title = "Pairs that agree least"
    heads = ("Similarity", "Ceiling", "Gap")

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.names = [str(name) for name in result.details.get("names", [])]
        self.matrix = numbers(result.details.get("matrix", np.empty((0, 0))))
        self.n_named = len(self.names)
        self.figsize = _square(len(self.names))

    def frame(self) -> pd.DataFrame:
        """Return `first`, `second`, `similarity`, `ceiling` of columns and pairs, worst first."""
        unknown = np.full(self.matrix.shape, np.nan)
        ceiling = numbers(self.result.details.get("ceiling", unknown))
        frame = _pairs(self.names, {"similarity": self.matrix, "ceiling": ceiling})
        return frame.sort_values("similarity", kind="stable", ignore_index=True)

    def worst_pairs(self, n: int = 10) -> pd.DataFrame:
        """Return the `n` pairs of different columns that agree least, and by how much."""
        frame = self.frame()
        worst = frame[frame["first"] != frame["second"]].head(n).reset_index(drop=True)
        return worst.assign(gap=worst["ceiling"] - worst["similarity"])

    def margins(self, wide: float) -> Margins:
        """Return what names take at the left and below, and the scale of colours at the right."""
        room = widest(self.names, SMALL, 113.0)
        return Margins(
            room + 8.5,
            6.0,
            38.0,
            _below(len(self.names), room),
            rooms=(room,),
            square=_CELL * max(3, len(self.names)),
        )

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the matrix; the worst cell is framed."""
        (ax,) = axes
        least = float(np.nanmin(self.matrix)) if np.isfinite(self.matrix).any() else 0.0
        limits = (min(0.9, math.floor(10.0 * least) / 10.0), 1.0)
        heat_map(ax, self.matrix, sequential().reversed(), limits)
        every = name_rows(ax, self.names, room)
        _say_named(ax, len(self.names), every)
        if every == 1:
            _write_cells(ax, self.matrix, limits, sequential().reversed())
        self._frame_worst(ax)

    def _frame_worst(self, ax: Axes) -> None:
        from matplotlib.patches import Rectangle

        worst = self.worst_pairs(1)
        if worst.empty or math.isnan(worst["similarity"].iloc[0]):
            return
        i, j = (self.names.index(worst[side].iloc[0]) for side in ("first", "second"))
        for x, y in ((i, j), (j, i)):
            ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=ALARM, lw=1.2))


@register_display
class PhikMatricesDisplay(Display):
    """Associations of columns in train and in the synthetic table, and their difference."""

    reads = ("names", "train", "synthetic", "difference")
    title = "Pairs that change most"
    heads = ("Train", "Synthetic", "Difference")
    n_panels = 3

    def __init__(self, result: Result) -> None:
        super().__init__(result)
        self.names = [str(name) for name in result.details.get("names", [])]
        none = np.full((len(self.names),) * 2, np.nan)
        self.matrices = {
            which: numbers(result.details.get(which, none))
            for which in ("train", "synthetic", "difference")
        }
        self.figsize = _square(len(self.names), *self._shape())

    def frame(self) -> pd.DataFrame:
        """Return `first`, `second`, `train`, `synthetic`, `difference`, the most changed first."""
        frame = _pairs(self.names, self.matrices, beyond=1)
        order = np.argsort(-frame["difference"].abs().fillna(-1.0).to_numpy(), kind="stable")
        return frame.iloc[order].reset_index(drop=True)

    def worst_pairs(self, n: int = 10) -> pd.DataFrame:
        """Return the `n` pairs whose association changes most."""
        return self.frame().head(n)

    def _shape(self) -> tuple[int, int]:
        return (1, 3) if len(self.names) <= _MAX_COLUMNS_IN_A_ROW else (2, 2)

    def margins(self, wide: float) -> Margins:
        """Return what names take at the left and below, titles above and scales between."""
        room = widest(self.names, SMALL, 74.0)
        gap = 38.0 if self._shape()[0] == 1 else room + 34.0
        largest = _CELL * max(3, len(self.names))
        return Margins(room + 8.5, 17.0, 34.0, _below(len(self.names), room), gap, (room,), largest)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the three matrices; those at the left have the names of rows."""
        gaps = np.abs(self.matrices["difference"])
        most = float(np.nanmax(gaps)) if np.isfinite(gaps).any() else 0.0
        most = max(0.1, math.ceil(10.0 * most) / 10.0)
        titles = ("train", "synthetic", "train \N{MINUS SIGN} synthetic")
        first = axes[0].get_position().x0
        for ax, which, title in zip(axes, self.matrices, titles, strict=True):
            change = which == "difference"
            limits = (-most, most) if change else (0.0, 1.0)
            heat_map(ax, self.matrices[which], diverging() if change else sequential(), limits)
            every = name_rows(ax, self.names, room, rows=ax.get_position().x0 <= first + 1e-9)
            ax.set_title(title, color=GREY, pad=9.0)  # above the highest label of the scale
        _say_named(axes[-1], len(self.names), every)
