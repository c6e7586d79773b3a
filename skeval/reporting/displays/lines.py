"""Columns along their sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import stack, to_numbers
from skeval.reporting.displays.sentences import describe_result, state_not_drawn
from skeval.reporting.displays.series import name_series, table_series
from skeval.reporting.displays.theme import LETTERS, LINES
from skeval.reporting.displays.ticks import value_ticks
from skeval.reporting.document.details import mapping_at
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PARTS = ["x", "mean", "low", "high"]
_MAX_PANELS = 4


class LinesDisplay(Display):
    """Mean and quartiles of columns along their sequences, for each table.

    Each point is computed from at least ten sequences, so that a line does not show a few
    individuals.

    Parameters
    ----------
    result : Result
        A result with ``details["train_lines"]`` and ``details["lines"]``, by column and by
        "position" or "time".
    by : {"position", "time"}, default="position"
        Whether the horizontal axis is the position in the sequence or the index.

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

    def __init__(self, result: Result, by: Literal["position", "time"] = "position") -> None:
        super().__init__(result)
        self.by = by
        details = result.details
        tables = {
            "train": mapping_at(details, "train_lines"),
            "holdout": mapping_at(details, "holdout", "lines"),
            "synthetic": mapping_at(details, "lines"),
        }
        self.not_drawn = max(0, len(tables["train"]) - _MAX_PANELS)
        self.columns = {
            column: {
                role: {part: to_numbers(table[column][by][part]) for part in _PARTS}
                for role, table in tables.items()
                if table.get(column)
            }
            for column in list(tables["train"])[:_MAX_PANELS]
        }
        self.n_panels = max(1, len(self.columns))

    def frame(self) -> pd.DataFrame:
        """Return `column`, `rows` of which table, `x`, `mean`, `low` and `high`."""
        parts = [
            (column, role, *line.values())
            for column, lines in self.columns.items()
            for role, line in lines.items()
        ]
        return stack(parts, ["column", "rows", *_PARTS])

    def subtitle(self) -> str:
        """Return the meaning of lines and bands, and the number of further columns."""
        facts = "lines: mean", "band: quartiles", state_not_drawn(self.not_drawn, "columns")
        return describe_result(self.result, *facts)

    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns of panels."""
        return (2, 2) if self.n_panels > 2 else (1, self.n_panels)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one panel for each column."""
        for i, (ax, (column, lines)) in enumerate(zip(axes, self.columns.items(), strict=False)):
            drawn = [line for line in lines.values() if line["x"].size]
            if not drawn:
                ax.set_title(f"{draw_name(column)}: no point of ten sequences")
                continue
            for role, line in lines.items():
                color = LETTERS[role]
                ax.fill_between(line["x"], line["low"], line["high"], color=color, alpha=0.1, lw=0)
                marker = "." if line["x"].size < 3 else ""
                ax.plot(line["x"], line["mean"], marker=marker, **LINES[role])
            self._label(ax, column, drawn)
            if i == 0:
                name_series(ax, [table_series(r, r.replace("holdout", "unseen")) for r in lines])
        if self.columns:
            axes[-1].set_xlabel("row of the sequence" if self.by == "position" else "index")

    def _label(self, ax: Axes, column: str, drawn: Sequence[Mapping[str, np.ndarray]]) -> None:
        kinds: Mapping[str, Any] = mapping_at(self.result.details, "kinds", column)
        x = np.concatenate([line["x"] for line in drawn])
        kind = str(kinds.get("index", "")) if self.by == "time" else ""
        ticks, labels = value_ticks(kind, float(x.min()), float(x.max()), most=4)
        ax.set_xticks(ticks, labels=labels)
        values = np.concatenate([line[end] for line in drawn for end in ("low", "high", "mean")])
        ends = float(values.min()), float(values.max())
        ticks, labels = value_ticks(str(kinds.get("value", "")), *ends)
        ax.set_yticks(ticks, labels=labels)
        ax.set_ylabel(draw_name(column))
