"""The rows of a table that an attack selects."""

from __future__ import annotations

import pandas as pd

from skeval import Context
from skeval.privacy.attacks.shadow.targets import canaries, target_positions


def exposed_rows(table, method: str = "achilles", k: int = 5, n_neighbors: int = 5, seed: int = 0):
    """Return the selected rows by their positions in the table; canaries come after its end."""
    context = table if isinstance(table, Context) else Context.of(table)
    rows: pd.DataFrame = context.original_frame("train")[list(context.schema.kinds)]
    rows = rows.reset_index(drop=True)
    if method == "canary":
        return canaries(context, k).set_axis(range(len(rows), len(rows) + k))
    return rows.iloc[target_positions(context, method, k, n_neighbors, seed)]
