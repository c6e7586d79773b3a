"""The drawing of a schema: which table refers to which, and whose rows they are.

How many children parents have, as bars; and the scores behind a property.

Displays of rows in order: lines over time, and what follows on what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

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
from skeval.reporting.old_displays.matrices import heat_map, name_rows
from skeval.reporting.old_displays.ticks import label_axis, label_line, value_ticks
from skeval.reporting.old_displays.values import ColumnScoresDisplay
from skeval.reporting.scores import entries, numbers_of
from skeval.reporting.style import (
    COLOURS,
    FAINT,
    GREY,
    INK,
    LETTERS,
    SMALL,
    drawable,
    letters_on,
    sequential,
    shorten,
)
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.utils.formatting import number

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
    """Tables as boxes with their roles and numbers of rows, foreign keys as arrows."""

    # A subject's box has a thick border, that of a public table a dashed one. Parents stand
    # above their children.

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
    """Return where boxes stand: a table one layer below the lowest of its parents."""
    # Circles are cut where they close. Within a layer, tables stand near what they refer to.
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
        ax.text(place, y - 0.14, f"{n:,}", size=6.5, color=LETTERS[what], **text)


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
    ax.text(x, y, shorten(label, 90.0, 6.5), size=6.5, color=GREY, **text)


def _bend(start: Point, end: Point) -> Point:
    """Return the point that an arrow bends to: next to the boxes that it would run through."""
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


@register_display
class CardinalityDisplay(Display):
    """Shares of parents by the number of their children: train, holdout and synthetic."""

    reads = ("histograms",)
    figsize = (5.5, 2.4)

    def __init__(self, result: Result, *, key: str | None = None) -> None:
        super().__init__(result)
        self.key = key or keys_by_score(result)[0]

    def frame(self) -> pd.DataFrame:
        """Return `key`, `role`, `from`, `to` (nan where open), `share` of every bar."""
        parts = []
        for key, bars in self.result.details["histograms"].items():
            starts = numbers(bars["starts"])
            ends = np.append(starts[1:] - 1.0, np.nan)
            for role, counts in bars.items():
                if role != "starts":
                    shares = numbers(counts) / max(1.0, numbers(counts).sum())
                    parts.append((key, role, starts, ends, shares))
        return stacked(parts, ["key", "role", "from", "to", "share"])

    def head(self, axes: Sequence[Axes]) -> None:
        """Write the foreign key above."""
        axes[0].set_title(drawable(self.key))

    def margins(self, wide: float) -> Margins:
        """Return what numbers and names of the axes take."""
        return Margins(38.0, 8.0, 10.0, 30.0)

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw the bars of one key, the roles side by side."""
        (ax,), frame = axes, self.frame()
        own = frame[frame["key"] == self.key]
        roles = list(dict.fromkeys(own["role"]))
        width = 0.8 / max(1, len(roles))
        for i, role in enumerate(roles):
            shares = own.loc[own["role"] == role, "share"].to_numpy(dtype=float)
            places = np.arange(shares.size) + (i - (len(roles) - 1) / 2.0) * width
            ax.bar(places, shares, 0.92 * width, color=COLOURS[role], alpha=0.85, label=role)
        bars = own[own["role"] == roles[0]]
        whole = [_range(low, high) for low, high in zip(bars["from"], bars["to"], strict=True)]
        least = [*map(number, bars["from"][:-1]), whole[-1]]
        at: list[float] = np.arange(len(whole), dtype=float).tolist()
        ax.set_xlim(-0.6, len(whole) - 0.4)
        candidates = [(at, names, [len(whole) - 1]) for names in (whole, least)]
        label_line(ax, SMALL, candidates, ticks=0.0)
        ax.set(xlabel="children of a parent", ylabel="share of parents")
        ax.legend(loc="upper right")


def keys_by_score(result: Result) -> list[str]:
    """Return the foreign keys that have histograms, the worst first, those of one bar last."""
    histograms, scores = result.details["histograms"], numbers_of(result.details, "columns")

    def rank(key: str) -> tuple[bool, float]:
        score = scores.get(key, np.nan)
        return len(histograms[key]["starts"]) < 2, np.inf if np.isnan(score) else score

    return sorted(histograms, key=rank)


class PropertyDisplay(ColumnScoresDisplay):
    """The scores behind a property of a quality report as bars, the worst first."""

    def __init__(
        self,
        suite_result: SuiteResult,
        property: str | None = None,
        *,
        start: int = 0,
        stop: int | None = None,
    ) -> None:
        details = suite_result.details(property)
        places = details[["table", "what"] if property else ["property", "table", "what"]]
        names = [": ".join(filter(None, map(str, place))) for place in places.to_numpy()]
        columns: dict[str, Any] = {
            to: dict(zip(names, details[of], strict=True))
            for to, of in (("columns", "score"), ("baseline_columns", "baseline"))
        }
        grouped = (
            result
            for name, result in suite_result.items()
            if name.startswith(f"{property or name.partition('/')[0]}/")
        )
        first = next(grouped, Result(float("nan")))
        tags = None if first.tags is None else replace(first.tags, bounds=(0.0, 1.0))
        super().__init__(
            Result(float(details["score"].mean()), tags=tags, details=columns),
            start=start,
            stop=stop,
        )


def _range(low: float, high: float) -> str:
    """Return a range of whole numbers in short; open where `high` is nan."""
    if np.isnan(high):
        return f"{number(low)} or more"
    return number(low) if low == high else f"{number(low)} to {number(high)}"


_LINE = ["x", "mean", "low", "high"]
_MAX_PANELS = 4
_MAX_WRITTEN = 10  # categories of a matrix whose shares are written into the cells


@register_display
class LinesDisplay(Display):
    """Mean and quartiles of columns along their sequences, of train, holdout and synthetic rows.

    Points rest on ten sequences or more, so that no line is that of a few persons.

    Parameters
    ----------
    result : Result
        With ``details["train_lines"]`` and ``details["lines"]``, by column and "position" or
        "time".
    by : {"position", "time"}, default="position"
        Along the place in the sequence, or the index.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey, StatisticMSAS
    >>> from skeval.reporting import LinesDisplay
    >>> visits = pd.DataFrame({"patient": np.repeat(range(10), 3), "x": [1, 2, 3] * 10})
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> result = StatisticMSAS().fit({"visits": visits}, schema=schema).evaluate({"visits": visits})
    >>> LinesDisplay(result).frame()["mean"].tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
    """

    reads = ("train_lines", "lines")
    stacked = True

    def __init__(self, result: Result, by: Literal["position", "time"] = "position") -> None:
        super().__init__(result)
        self.by = by
        details = result.details
        of_roles = {
            "train": entries(details, "train_lines"),
            "holdout": entries(details, "holdout", "lines"),
            "synthetic": entries(details, "lines"),
        }
        self.columns = {
            column: {
                role: {name: numbers(of_role[column][by][name]) for name in _LINE}
                for role, of_role in of_roles.items()
                if of_role.get(column)
            }
            for column in list(of_roles["train"])[:_MAX_PANELS]
        }
        self.n_panels = max(1, len(self.columns))
        self.figsize = (6.5, 0.4 + 1.8 * self.n_panels)

    def frame(self) -> pd.DataFrame:
        """Return `column`, `rows` of which table, `x`, `mean`, `low` and `high`."""
        parts = [
            (column, role, *line.values())
            for column, of_roles in self.columns.items()
            for role, line in of_roles.items()
        ]
        return stacked(parts, ["column", "rows", *_LINE])

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one panel a column; the band is from quartile to quartile."""
        if not self.columns:
            say_empty(axes[0], "no line")
        for place, (ax, (column, of_roles)) in enumerate(
            zip(axes, self.columns.items(), strict=False)
        ):
            drawn = [line for line in of_roles.values() if line["x"].size]
            if not drawn:
                say_empty(ax, f"{column}: no point of ten sequences")
                continue
            for role, line in of_roles.items():
                style: dict[str, Any] = {"color": COLOURS[role]}
                ax.fill_between(line["x"], line["low"], line["high"], alpha=0.08, lw=0, **style)
                for end in ("low", "high"):
                    ax.plot(line["x"], line[end], lw=0.6, alpha=0.6, **style)
                marker = "." if line["x"].size < 3 else ""
                ax.plot(line["x"], line["mean"], lw=1.4, marker=marker, label=role, **style)
            self._label(ax, column, drawn)
            if place == 0:
                ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.1)
        axes[-1].set_xlabel("row of the sequence" if self.by == "position" else "index")

    def _label(self, ax: Axes, column: str, drawn: Sequence[Mapping[str, np.ndarray]]) -> None:
        x = np.concatenate([line["x"] for line in drawn])
        kinds = entries(self.result.details, "kinds", column)
        kind = str(kinds.get("index", "")) if self.by == "time" else ""
        label_axis(ax.xaxis, *value_ticks(kind, float(x.min()), float(x.max()), most=6))
        values = np.concatenate([line[end] for line in drawn for end in ("low", "high", "mean")])
        ends = float(values.min()), float(values.max())
        label_axis(ax.yaxis, *value_ticks(str(kinds.get("value", "")), *ends))
        ax.set_title(shorten(column, points(ax)[0] / 2.0, 8.0, bold=True))


@register_display
class TransitionsDisplay(Display):
    """What follows on a category: shares of the next one, by row, of train and other tables."""

    # Shares that rest on fewer than ten sequences are left out, grey.

    reads = ("train_transitions", "transitions")

    def __init__(self, result: Result, column: str | None = None) -> None:
        super().__init__(result)
        details = result.details
        of_roles = {
            "train": entries(details, "train_transitions"),
            "holdout": entries(details, "holdout", "transitions"),
            "synthetic": entries(details, "transitions"),
        }
        of_columns = numbers_of(details, "columns")
        scores = np.array([of_columns.get(name, np.nan) for name in of_roles["train"]])
        ranked = [list(of_roles["train"])[i] for i in np.argsort(scores, kind="stable")]
        self.column = column if column is not None else next(iter(ranked), "")
        kept = {role: of[self.column] for role, of in of_roles.items() if of.get(self.column)}
        levels: Any = next(iter(kept.values()))["levels"] if kept else []
        matrices = {role: numbers(of["shares"]) for role, of in kept.items()}
        # categories that hardly any sequence has, the pooled ones among them, would be grey
        empty = [np.isnan(shares) for shares in matrices.values()]
        shown = [i for i in range(len(levels)) if not all(_is_empty(of, i) for of in empty)]
        self.levels = [str(levels[i]) for i in shown]
        self.matrices = {role: shares[np.ix_(shown, shown)] for role, shares in matrices.items()}
        self.n_panels = max(1, len(self.matrices))
        side = float(np.clip(0.3 * len(self.levels), 1.6, 3.2))
        self.figsize = (self.n_panels * (side + 0.5) + 1.2, side + 1.4)

    def frame(self) -> pd.DataFrame:
        """Return `value`, `next` and the share of each table, the most frequent first."""
        i, j = (of.ravel() for of in np.indices((len(self.levels),) * 2))
        levels = np.array(self.levels, dtype=object)
        frame = pd.DataFrame({"column": self.column, "value": levels[i], "next": levels[j]})
        frame = frame.assign(**{role: of.ravel() for role, of in self.matrices.items()})
        return frame.dropna(subset=list(self.matrices), how="all").sort_values(
            "train", ascending=False, kind="stable", ignore_index=True
        )

    def draw(self, axes: Sequence[Axes], room: float = ROOM) -> None:
        """Draw one matrix a table: rows are values, columns what comes next."""
        if not self.matrices:
            say_empty(axes[0], "no transition")
        for place, (ax, (role, matrix)) in enumerate(
            zip(axes, self.matrices.items(), strict=False)
        ):
            heat_map(ax, matrix, sequential(), (0.0, 1.0))
            every = name_rows(ax, self.levels, room, rows=place == 0)
            ax.set_title(role, color=GREY)
            ax.set_xlabel("next")
            if place == 0:
                ax.set_ylabel(shorten(self.column, points(ax)[1], 7.0))
            if every == 1 and len(matrix) <= _MAX_WRITTEN:
                _write(ax, matrix)


def _is_empty(missing: np.ndarray, i: int) -> bool:
    return bool(missing[i].all() and missing[:, i].all())


def _write(ax: Axes, matrix: np.ndarray) -> None:
    size = min(6.0, 0.35 * min(points(ax)) / len(matrix))
    for i, j in zip(*np.nonzero(np.isfinite(matrix)), strict=True):
        colour = letters_on(sequential()(float(matrix[i, j])))
        text = f"{matrix[i, j]:.2f}".removeprefix("0")
        ax.text(j, i, text, ha="center", va="center", size=size, color=colour)
