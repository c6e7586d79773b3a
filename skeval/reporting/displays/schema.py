"""The drawing of a schema with tables, their roles, and foreign keys."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.sentences import describe_result, state_tables
from skeval.reporting.displays.theme import FAINT, GREY, INK, LETTERS, PAPER, TEXT, TICK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDE, _TALL = 0.82, 0.56  # size of a box in places of the grid
_EDGES: Mapping[str, Mapping[str, Any]] = {
    "subject": {"edgecolor": INK, "linewidth": 1.6},
    "dependent": {"edgecolor": INK, "linewidth": 0.7},
    "reference": {"edgecolor": GREY, "linewidth": 0.7, "linestyle": (0, (3, 2))},
}
_UNKNOWN: Mapping[str, Any] = {"edgecolor": FAINT, "linewidth": 0.7}
_MAX_LETTERS = 70  # letters of all names in one layer
_SHARES = (0.3, 0.6, 0.45, 0.75)  # parts of the way to the next layer, at which columns are named


class SchemaDisplay(Display):
    """Tables as boxes with their roles and numbers of rows, foreign keys as arrows."""

    # The box of a subject has a thick border, and a public table has a dashed one. Parents are
    # above their children.

    reads = ("tables", "foreign_keys")

    def frame(self) -> pd.DataFrame:
        """Return the role of each table and its numbers of rows by role of data."""
        tables = self.result.details["tables"]
        return pd.DataFrame(
            [
                {"table": name, "role": about["role"] or "", **about["n_rows"]}
                for name, about in tables.items()
            ]
        )

    def check(self) -> None:
        """Raise if tables or keys have another form than expected."""
        self.frame()
        _place_tables(list(self.result.details["tables"]), [link[:2] for link in self._links()])

    def title(self) -> str:
        """Return the numbers of tables and of foreign keys."""
        return state_tables(len(self.result.details["tables"]), len(self._links()))

    def subtitle(self) -> str:
        """Return how to read the arrows."""
        return describe_result(self.result, "an arrow goes from a table to its parent table")

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw the boxes in layers, and an arrow for each foreign key."""
        (ax,), tables = axes, self.result.details["tables"]
        links = self._links()
        places = _place_tables(list(tables), [link[:2] for link in links])
        widest = max(x for x, _ in places.values())
        n_layers = 1.0 - min(y for _, y in places.values())
        ax.set(xlim=(-0.5, widest + 0.5), ylim=(0.6 - n_layers, 0.7))
        ax.set_axis_off()
        for child, parent, columns in links:
            own = [link for link in links if link[0] == child]
            own.sort(key=lambda link: places[link[1]][0])  # so that arrows do not cross
            i = own.index((child, parent, columns))
            shift = ((i + 1) / (len(own) + 1) - 0.5) * _WIDE
            label = draw_name(", ".join(columns), 18)
            _draw_arrow(ax, places[child], places[parent], label, shift, _SHARES[i % len(_SHARES)])
        most = max(6, int(_MAX_LETTERS / (widest + 1.0)))
        for name, place in places.items():
            _draw_table(ax, place, draw_name(name, most), tables[name])

    def _links(self) -> list[tuple[str, str, list[str]]]:
        keys = self.result.details["foreign_keys"]
        return [(str(k["child"]), str(k["parent"]), list(map(str, k["columns"]))) for k in keys]


def _place_tables(
    tables: Sequence[str], links: Iterable[tuple[str, str]]
) -> dict[str, tuple[float, float]]:
    """Return the places of the boxes. A table is one layer below the lowest of its parents."""
    pairs = [(child, parent) for child, parent in links if child != parent]
    layers = dict.fromkeys(tables, 0)
    for _ in tables:  # a chain has at most this number of links, and a circle ends after that
        for child, parent in pairs:
            layers[child] = min(max(layers[child], layers[parent] + 1), len(tables) - 1)
    rows = [[n for n in tables if layers[n] == depth] for depth in sorted(set(layers.values()))]
    widest, x = max(map(len, rows)), dict[str, float]()
    for row in rows:
        above = {n: [x[p] for c, p in pairs if c == n and p in x] or [widest / 2.0] for n in row}
        row.sort(key=lambda name: float(np.mean(above[name])))
        x |= {name: (i + 0.5) * widest / len(row) - 0.5 for i, name in enumerate(row)}
    depths = {name: depth for depth, row in enumerate(rows) for name in row}
    return {name: (x[name], -float(depths[name])) for name in tables}


def _draw_table(ax: Axes, place: Any, name: str, about: Mapping[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    x, y = place
    role = str(about["role"] or "")
    corner, style = (x - _WIDE / 2.0, y - _TALL / 2.0), _EDGES.get(role, _UNKNOWN)
    ax.add_patch(Rectangle(corner, _WIDE, _TALL, facecolor=PAPER, zorder=3, **style))
    text: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4}
    ax.text(x, y + 0.16, name, size=TEXT, weight="bold", **text)
    ax.text(x, y, role or "role not known", size=TICK, color=GREY, **text)
    counts = [(what, about["n_rows"][what]) for what in LETTERS if what in about["n_rows"]]
    for i, (what, n) in enumerate(counts):
        at = x + (i - (len(counts) - 1) / 2.0) * _WIDE / len(counts)
        ax.text(at, y - 0.16, f"{n:,}", size=TICK, color=LETTERS[what], **text)


def _draw_arrow(ax: Axes, child: Any, parent: Any, label: str, shift: float, share: float) -> None:
    """Draw a foreign key from the upper edge of a box, with its columns above that edge."""
    from matplotlib.patches import FancyArrowPatch

    (x, y), (to_x, to_y) = child, parent
    x, y, bend = x + shift, y + _TALL / 2.0, 0.0
    if child == parent or child[1] == parent[1]:
        to_x, to_y, bend = to_x + _WIDE / 2.0 - 0.05, to_y + _TALL / 2.0, -0.9
    else:
        to_x, to_y = to_x + shift, to_y - _TALL / 2.0
        # around the boxes between
        bend = 0.0 if to_y - y < 1.0 else math.copysign(0.3, to_x - x)
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 8.0, "color": GREY}
    path = f"arc3,rad={bend:g}"
    ax.add_patch(FancyArrowPatch((x, y), (to_x, to_y), connectionstyle=path, lw=0.7, **style))
    part = share * (1.0 - _TALL) / max(to_y - y, 1.0 - _TALL)
    aside = (
        2.0 * part * (1.0 - part) * bend
    )  # distance of the arc from the line at this part of its way
    at = x + part * (to_x - x) + aside * (to_y - y), y + part * (to_y - y) - aside * (to_x - x)
    backed = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.4}
    text: dict[str, Any] = {"ha": "center", "va": "center", "size": TICK, "color": GREY}
    ax.text(*at, label, bbox=backed, zorder=2.5, **text)
