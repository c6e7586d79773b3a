"""A square matrix as a map of colors, with names at its sides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.theme import FAINT, INK, TICK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

_LINE = 1.2  # height of a name, in font sizes
_MAX_LETTERS = 16


def draw_matrix(
    ax: Axes,
    matrix: np.ndarray,
    colors: Colormap,
    limits: tuple[float, float] = (0.0, 1.0),
    *,
    is_upward: bool = False,
) -> None:
    """Draw a matrix, its first row at the top, or at the bottom for a map."""
    low, high = limits
    ax.imshow(matrix, cmap=colors, vmin=low, vmax=high, aspect="auto")
    if is_upward:
        ax.invert_yaxis()
    ax.spines[:].set(visible=True, color=FAINT)


def naming_step(n: int, points: float) -> int:
    """Return the step between columns that are named, so that names fit along this length."""
    return max(1, math.ceil(_LINE * TICK * n / points))


def name_matrix(
    ax: Axes, names: Sequence[str], size: tuple[float, float], *, has_rows: bool = True
) -> None:
    """Name the rows and columns of a matrix that is about so wide and high, in points."""
    for axis, length in ((ax.xaxis, size[0]), (ax.yaxis, size[1])):
        kept = range(0, len(names), naming_step(len(names), length))
        axis.set_ticks(kept, labels=[draw_name(names[k], _MAX_LETTERS) for k in kept])
    ax.tick_params(length=0.0, labelcolor=INK, labelleft=has_rows)
    ax.tick_params(axis="x", rotation=90.0)


def list_pairs(
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
