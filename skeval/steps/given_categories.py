"""Rows with original categories, because custom fitted transformers require them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from skeval.core.context import Context, shared
from skeval.tables.preprocessing import NOMINAL

Cells = Mapping[str | None, Any]  # original values by label, where None is a missing value


@dataclass(frozen=True)
class AsGiven:
    """A fitted transformer, which canonical rows reach with categories as they were given."""

    transformer: Any
    cells: Mapping[str, Cells]

    def transform(self, rows: pd.DataFrame) -> Any:
        """Return the result of the transformer for canonical rows."""
        rows = rows.copy(deep=False)
        for name, cells in self.cells.items():
            labels = rows[name].astype(object).where(rows[name].notna(), None)
            given = [cells.get(label, label) for label in labels]
            rows[name] = pd.Series(given, index=rows.index, dtype=object).infer_objects()
        return self.transformer.transform(rows)


@shared
def cells_as_given(context: Context) -> dict[str, Cells]:
    """Return the original values of category labels in the real tables, unless all are strings."""
    found: dict[str, Cells] = {}
    for name in context.schema.columns(*NOMINAL):
        cells: dict[str | None, Any] = {}
        for role in ("holdout", "train"):
            if role in context:
                labels, given = context.column(role, name), context.original_frame(role)[name]
                first = (~labels.duplicated()).to_numpy()
                for label, cell in zip(labels[first], given[first], strict=True):
                    cells[None if pd.isna(label) else label] = cell
        if any(label is not None and not isinstance(cell, str) for label, cell in cells.items()):
            found[name] = cells
    return found
