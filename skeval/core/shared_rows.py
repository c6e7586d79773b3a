"""Rows that occur in both training and holdout data, by hashes of their content."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context, shared
from skeval.exceptions import MetricWarning, MostlySharedRowsWarning, SharedRowsWarning
from skeval.tables.row_hashes import content_hashes_of, hashed_share

SHARED_ROWS = (
    "{share:.2%} of the holdout rows also occur in the training data. Privacy tests that compare "
    "the two underestimate leakage. Remove these rows from one of the tables, unless duplicates "
    "are natural in these data."
)
MAX_SHARED = 0.5  # with a larger fraction, train and holdout cannot be compared


@shared
def content_hashes(context: Context, role: str) -> np.ndarray | None:
    """Return a hash of the content of each row without IDs, or None if there are only IDs."""
    rows, ids = context.stored(role), context.schema.columns("id")
    if role in context.hashes:
        return context.hashes[role]
    if role in context.taken:
        source, name, positions = context.taken[role]
        hashes = content_hashes(source, name)
        return None if hashes is None else hashes[positions]
    return content_hashes_of(rows, ids)


def shared_rows(context: Context) -> tuple[MetricWarning, ...]:
    """Return a warning if holdout rows also occur in the training data."""
    share = hashed_share(*(content_hashes(context, role) for role in ("train", "holdout")))
    kind = MostlySharedRowsWarning if share > MAX_SHARED else SharedRowsWarning
    return (kind(SHARED_ROWS.format(share=share)),) if share else ()
