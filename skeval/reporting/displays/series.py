"""The names of series in their colors, in one line above the axes, in place of a legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from skeval.reporting.displays.letters import make_drawable
from skeval.reporting.displays.theme import FILLS, LETTERS, LINES, NAMES, TEXT

_SAMPLE, _TALL = 14.0, 7.0  # points


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
    from matplotlib.offsetbox import AnchoredOffsetbox, HPacker, TextArea, VPacker

    pairs: list[Any] = []
    for one in series:
        text = TextArea(make_drawable(one.name), textprops={"color": one.color, "size": TEXT})
        children = [_draw_sample(one), text]
        pairs.append(HPacker(children=children, pad=0.0, sep=3.0, align="center"))
    lines: list[Any] = [
        HPacker(children=pairs[i : i + most], pad=0.0, sep=9.0, align="center")
        for i in range(0, len(pairs), most)
    ]
    block = VPacker(children=lines, pad=0.0, sep=2.0, align="left")
    place: dict[str, Any] = {"bbox_to_anchor": (0.0, 1.0), "bbox_transform": axes.transAxes}
    axes.add_artist(
        AnchoredOffsetbox("lower left", child=block, frameon=False, borderpad=0.0, pad=0.3, **place)
    )


def _draw_sample(series: Series) -> Any:
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import DrawingArea
    from matplotlib.patches import Rectangle

    area = DrawingArea(_SAMPLE, _TALL)
    if series.is_filled:
        area.add_artist(Rectangle((0.0, 0.0), _SAMPLE, _TALL, lw=0, **series.look))
    else:
        places = [_SAMPLE / 2.0] if "marker" in series.look else [0.0, _SAMPLE]
        area.add_artist(Line2D(places, [_TALL / 2.0] * len(places), **series.look))
    return area
