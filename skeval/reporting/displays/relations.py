"""The drawing of a schema: which table refers to which, and whose rows they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from skeval.reporting.displays.base import ROOM, Display, Margins, register_display
from skeval.reporting.text import shorten
from skeval.reporting.theme import COLOURS, FAINT, GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]
_WIDE, _TALL = 0.82, 0.5  # of a box, in the places of the grid
_EDGES: Mapping[str, Mapping[str, Any]] = {
    "subject": {"edgecolor": INK, "linewidth": 1.6},
    "dependent": {"edgecolor": INK, "linewidth": 0.7},
    "reference": {"edgecolor": GREY, "linewidth": 0.7, "linestyle": (0, (3, 2))},
}
_SHARES = (0.4, 0.55, 0.3, 0.65)  # of an arrow's way, where names stand: not all in a line
_ROLES = ("train", "holdout", "synthetic")


@register_display
class SchemaDisplay(Display):
    """Tables as boxes with their roles and numbers of rows, foreign keys as arrows.

    A subject's box has a thick border, that of a public table a dashed one. Parents stand above
    their children.

    Parameters
    ----------
    result : Result
        With `tables` (role and number of rows, by name) and `foreign_keys` in its details.

    Examples
    --------
    >>> from skeval import Result
    >>> from skeval.reporting.displays.relations import SchemaDisplay
    >>> tables = {"users": {"role": "subject", "n_rows": {"train": 2}}}
    >>> SchemaDisplay(Result(1.0, details={"tables": tables, "foreign_keys": []})).frame()
       table     role  train
    0  users  subject      2
    """

    reads = ("tables", "foreign_keys")
    figsize = (7.0, 4.2)

    def frame(self) -> pd.DataFrame:
        """Return one row a table: its role and its numbers of rows by role of data."""
        tables = self.result.details["tables"]
        return pd.DataFrame(
            [
                {"table": name, "role": about["role"] or "", **about["n_rows"]}
                for name, about in tables.items()
            ]
        )

    def check(self) -> None:
        """Raise where tables or keys have another form than what is drawn."""
        self.frame()
        placed(list(self.result.details["tables"]), [link[:2] for link in self._links()])

    def _links(self) -> list[tuple[str, str, list[str]]]:
        keys = self.result.details["foreign_keys"]
        return [(str(k["child"]), str(k["parent"]), list(map(str, k["columns"]))) for k in keys]

    def margins(self, wide: float) -> Margins:
        """Return that nothing stands around the boxes."""
        return Margins(0.0, 4.0, 0.0, 4.0)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the boxes in layers, and an arrow for each foreign key."""
        (ax,), details = axes, self.result.details
        links = self._links()
        pairs = [link[:2] for link in links]
        places = placed(list(details["tables"]), pairs)
        n_layers = 1 + max(round(-y) for _, y in places.values())
        widest = max(x for x, _ in places.values())
        ax.set(xlim=(-0.5, widest + 0.5), ylim=(0.45 - n_layers, 0.5))
        ax.set_axis_off()
        for i, ((start, end), link) in enumerate(zip(_ends(pairs, places), links, strict=True)):
            _arrow(ax, start, end, ", ".join(link[2]), _SHARES[i % len(_SHARES)])
        wide = 72.0 * self.figsize[0] * _WIDE / (widest + 1.0)
        for name, (x, y) in places.items():
            _box(ax, x, y, name, details["tables"][name], wide)


def placed(
    tables: Sequence[str], links: Iterable[tuple[str, str]]
) -> dict[str, tuple[float, float]]:
    """Return where boxes stand: a table one layer below the lowest of its parents.

    Circles are cut where they close. Within a layer, tables stand near what they refer to.

    Examples
    --------
    >>> from skeval.reporting.displays.relations import placed
    >>> placed(["users", "orders"], [("orders", "users")])
    {'users': (0.0, -0.0), 'orders': (0.0, -1.0)}
    """
    parents: dict[str, list[str]] = {name: [] for name in tables}
    for child, parent in links:
        if child != parent and parent not in parents[child]:
            parents[child].append(parent)
    layers: dict[str, int] = {}

    def layer(name: str, above: tuple[str, ...]) -> int:
        if name not in layers:
            known = [layer(p, (*above, name)) for p in parents[name] if p not in (*above, name)]
            if above and any(p in above for p in parents[name]):
                return 1 + max(known, default=-1)  # within a circle: settled when it is the first
            layers[name] = 1 + max(known, default=-1)
        return layers[name]

    for name in tables:
        layer(name, ())
    rows: dict[int, list[str]] = {}
    for name in tables:
        rows.setdefault(layers[name], []).append(name)
    widest, x = max(map(len, rows.values())), dict[str, float]()
    for depth in sorted(rows):
        near = {
            name: [x[p] for p in parents[name] if p in x] or [widest / 2.0] for name in rows[depth]
        }
        row = sorted(rows[depth], key=lambda name: sum(near[name]) / len(near[name]))
        for i, name in enumerate(row):
            x[name] = (i + 0.5) * widest / len(row) - 0.5
    return {name: (x[name], -float(layers[name])) for name in tables}


def _box(ax: Axes, x: float, y: float, name: str, about: Mapping[str, Any], room: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    role = str(about["role"] or "")
    style = _EDGES.get(role, {"edgecolor": FAINT, "linewidth": 0.7})
    shape = "round,pad=0.0,rounding_size=0.04"
    corner = x - _WIDE / 2.0, y - _TALL / 2.0
    ax.add_patch(
        FancyBboxPatch(corner, _WIDE, _TALL, boxstyle=shape, facecolor="white", zorder=3, **style)
    )
    text: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 4}
    ax.text(x, y + 0.14, shorten(name, room - 6.0, 8.0, True), size=8.0, weight="bold", **text)
    ax.text(x, y + 0.01, role or "role not known", size=6.5, color=GREY, **text)
    counts = [(what, about["n_rows"][what]) for what in _ROLES if what in about["n_rows"]]
    for i, (what, n) in enumerate(counts):
        place = x + (i - (len(counts) - 1) / 2.0) * _WIDE / len(counts)
        ax.text(place, y - 0.14, f"{n:,}", size=6.5, color=COLOURS[what], **text)


def _arrow(ax: Axes, start: Point, end: Point, label: str, share: float) -> None:
    """Draw a foreign key from child to parent, its columns at a share of the way."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    bend = _bend(start, end)
    path = Path([start, bend, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 8.0,
        "color": GREY,
        "linewidth": 0.7,
    }
    ax.add_patch(FancyArrowPatch(path=path, zorder=2, **style))
    rest = 1.0 - share
    x, y = (
        rest * rest * a + 2.0 * rest * share * b + share * share * c
        for a, b, c in zip(start, bend, end, strict=True)
    )
    backed = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
    text: dict[str, Any] = {"ha": "center", "va": "center", "zorder": 2.5, "bbox": backed}
    ax.text(x, y, shorten(label, 90.0, 6.0), size=6.0, color=GREY, **text)


def _bend(start: Point, end: Point) -> Point:
    """Return the point that an arrow bends to: beside the boxes that it would run through."""
    (x, y), (to_x, to_y) = start, end
    if y == to_y or (x == to_x and abs(to_y - y) < 0.5):  # of one layer, or of a table to itself
        return max(x, to_x) + 0.15, 0.5 * (y + to_y)
    apart = abs(to_x - x)
    aside = 0.0 if abs(to_y - y) < 1.0 else (1.4 if apart < 0.5 else 0.5) * (1 if to_x >= x else -1)
    return 0.5 * (x + to_x) + aside, 0.5 * (y + to_y)


def _ends(
    links: Sequence[tuple[str, str]], places: Mapping[str, Point]
) -> list[tuple[Point, Point]]:
    """Return where the arrows of foreign keys begin and end, those of a box side by side."""
    sides = [
        (child, places[parent][1] >= places[child][1], parent, False) for child, parent in links
    ] + [(parent, places[child][1] > places[parent][1], child, True) for child, parent in links]
    order: dict[tuple[str, bool], list[int]] = {}
    for i, (table, above, _, _) in enumerate(sides):
        order.setdefault((table, above), []).append(i)
    points: dict[int, Point] = {}
    for (table, above), several in order.items():
        several.sort(key=lambda i: (places[sides[i][2]][0], sides[i][3], i))
        x, y = places[table]
        for nth, i in enumerate(several):
            across = x + ((nth + 1) / (len(several) + 1) - 0.5) * _WIDE
            points[i] = across, y + (_TALL if above else -_TALL) / 2.0
    ends = []
    for i, (child, parent) in enumerate(links):
        if child == parent:
            x, y = places[child]
            ends.append(((x + _WIDE / 2.0, y - 0.1), (x + _WIDE / 2.0, y + 0.1)))
        else:
            ends.append((points[i], points[i + len(links)]))
    return ends
