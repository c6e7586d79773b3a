"""Which category follows another one in sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from skeval.reporting.displays.base import Display
from skeval.reporting.displays.heat_map import draw_matrix, name_matrix
from skeval.reporting.displays.letters import draw_name
from skeval.reporting.displays.reading import numbers_at, to_numbers
from skeval.reporting.displays.sentences import describe_result
from skeval.reporting.displays.theme import LETTERS, NAMES, share_ramp
from skeval.reporting.document.details import mapping_at
from skeval.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = 118.0, 120.0  # width and height of a matrix in points


class TransitionsDisplay(Display):
    """The shares of the next categories, by category, in each table."""

    # Shares that are computed from fewer than ten sequences are skipped.

    reads = ("train_transitions", "transitions")

    def __init__(self, result: Result, column: str | None = None) -> None:
        super().__init__(result)
        details = result.details
        tables = {
            "train": mapping_at(details, "train_transitions"),
            "holdout": mapping_at(details, "holdout", "transitions"),
            "synthetic": mapping_at(details, "transitions"),
        }
        scores = numbers_at(details, "columns")
        ranked = sorted(tables["train"], key=lambda name: np.nan_to_num(scores.get(name, 1), nan=1))
        self.column = column if column is not None else next(iter(ranked), "")
        kept = {role: of[self.column] for role, of in tables.items() if of.get(self.column)}
        levels: Any = next(iter(kept.values()))["levels"] if kept else []
        matrices = {role: to_numbers(of["shares"]) for role, of in kept.items()}
        # a category that few sequences have would be an empty row
        blank = [np.isnan(m).all(axis=0) & np.isnan(m).all(axis=1) for m in matrices.values()]
        shown = np.flatnonzero(~np.all(blank, axis=0)) if blank else np.arange(0)
        self.levels = [str(levels[i]) for i in shown]
        self.matrices = {role: shares[np.ix_(shown, shown)] for role, shares in matrices.items()}
        self.n_panels = max(1, len(self.matrices))

    def frame(self) -> pd.DataFrame:
        """Return `value`, `next` and the share of each table, the most frequent first."""
        i, j = (of.ravel() for of in np.indices((len(self.levels),) * 2))
        levels = np.array(self.levels, dtype=object)
        frame = pd.DataFrame({"column": self.column, "value": levels[i], "next": levels[j]})
        frame = frame.assign(**{role: of.ravel() for role, of in self.matrices.items()})
        return frame.dropna(subset=list(self.matrices), how="all").sort_values(
            "train", ascending=False, kind="stable", ignore_index=True
        )

    def subtitle(self) -> str:
        """Return the column, and how to read the matrices."""
        how = "row: value, column: next value, white 0%, blue 100%"
        return describe_result(self.result, f"column {draw_name(self.column)}", how)

    def draw(self, axes: Sequence[Axes]) -> None:
        """Draw one matrix for each table."""
        for i, (ax, (role, matrix)) in enumerate(zip(axes, self.matrices.items(), strict=False)):
            draw_matrix(ax, matrix, share_ramp())
            ax.set_title(NAMES[role], color=LETTERS[role])
            name_matrix(ax, self.levels, _SIZE, has_rows=i == 0)
