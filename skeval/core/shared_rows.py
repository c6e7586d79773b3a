"""Rows of the holdout that are also in train, by hashes of what rows hold."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context, shared
from skeval.exceptions import MetricWarning, MostlySharedRowsWarning, SharedRowsWarning
from skeval.tables.row_hashes import hashed_share, row_hashes

SHARED_ROWS = (
    "{share:.2%} of the holdout rows also stand in train, so that whatever contrasts the two looks "
    "milder than it is. Remove them from one of the tables, unless such rows are natural here."
)
MAX_SHARED = 0.5  # with more, train and holdout cannot be contrasted


@shared
def content_hashes(context: Context, role: str) -> np.ndarray | None:
    """Return a hash of what each row holds, ids aside; None where there is nothing else."""
    rows, ids = context[role], context.schema.columns("id")
    names = [name for name in rows.columns if name not in ids]
    return row_hashes(rows, names) if names else None


def shared_rows(context: Context) -> tuple[MetricWarning, ...]:
    """Return a sentence on the share of holdout rows that are also in train, if any are."""
    share = hashed_share(*(content_hashes(context, role) for role in ("train", "holdout")))
    kind = MostlySharedRowsWarning if share > MAX_SHARED else SharedRowsWarning
    return (kind(SHARED_ROWS.format(share=share)),) if share else ()
