"""Displays of rows in order: lines over time, and what follows on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from skeval.reporting.details import entries, numbers_of
from skeval.reporting.displays.base import (
    ROOM,
    Display,
    numbers,
    points,
    register_display,
    say_empty,
    stacked,
)
from skeval.reporting.displays.matrices import heat_map, name_rows
from skeval.reporting.displays.panels import label_axis, value_ticks
from skeval.reporting.style import COLOURS, GREY, INK, sequential, shorten
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = ["x", "mean", "low", "high"]
_MOST_PANELS = 4
_MOST_WRITTEN = 10  # categories of a matrix whose shares are written into the cells


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
            for column in list(of_roles["train"])[:_MOST_PANELS]
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
    """What follows on a category: shares of the next one, by row, of train and other tables.

    Shares that rest on fewer than ten sequences are left out, grey.

    Parameters
    ----------
    result : Result
        With ``details["train_transitions"]`` and ``details["transitions"]``, by column.
    column : str, optional
        Which column; the one of them that agrees least, if None.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceKey, TransitionSimilarity
    >>> from skeval.reporting import TransitionsDisplay
    >>> wards = {"patient": np.repeat(range(10), 3), "ward": list("xyz") * 10}
    >>> visits = {"visits": pd.DataFrame(wards)}
    >>> schema = RelationalSchema(["visits"], sequences={"visits": SequenceKey("patient")})
    >>> result = TransitionSimilarity().fit(visits, schema=schema).evaluate(visits)
    >>> TransitionsDisplay(result).frame().head(2)[["value", "next", "train"]].values.tolist()
    [['x', 'y', 1.0], ['y', 'z', 1.0]]
    """

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
            if every == 1 and len(matrix) <= _MOST_WRITTEN:
                _write(ax, matrix)


def _is_empty(missing: np.ndarray, i: int) -> bool:
    return bool(missing[i].all() and missing[:, i].all())


def _write(ax: Axes, matrix: np.ndarray) -> None:
    size = min(6.0, 0.35 * min(points(ax)) / len(matrix))
    for i, j in zip(*np.nonzero(np.isfinite(matrix)), strict=True):
        colour = "white" if matrix[i, j] > 0.6 else INK
        text = f"{matrix[i, j]:.2f}".removeprefix("0")
        ax.text(j, i, text, ha="center", va="center", size=size, color=colour)
