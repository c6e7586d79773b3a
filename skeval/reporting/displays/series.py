"""The names of series in their colors, above the axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skeval.reporting.displays.letters import make_drawable
from skeval.reporting.displays.theme import FILLS, LETTERS, LINES, NAMES


class Series(NamedTuple):
    """A name in its color, and the look of its sample."""

    name: str
    color: str
    look: Mapping[str, Any]
    is_filled: bool = False


def table_series(role: str, name: str = "", *, is_filled: bool = False) -> Series:
    """Return the series of a table."""
    look = {"color": FILLS[role]} if is_filled else LINES[role]
    return Series(name or NAMES[role], LETTERS[role], look, is_filled)


def name_series(axes: Any, series: Sequence[Series], most: int = 4) -> None:
    """Write the names of series above the axes, at most this number in a line."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    samples: list[Any] = [
        Patch(lw=0, **one.look) if one.is_filled else Line2D([], [], **one.look) for one in series
    ]
    axes.legend(
        samples,
        [make_drawable(one.name) for one in series],
        labelcolor=[one.color for one in series],
        ncols=most,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        numpoints=1,
        borderpad=0.0,
        borderaxespad=0.3,
        columnspacing=0.9,
        handlelength=1.4,
        handletextpad=0.3,
        labelspacing=0.3,
    )
