"""Subjects of the holdout that are also in train, by their rows and by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.core.shared_rows import MAX_SHARED
from skeval.exceptions import MostlySharedRowsWarning, SharedRowsWarning
from skeval.tables.frames import with_columns
from skeval.tables.keys import key_codes
from skeval.tables.relational_data import positions_along

if TYPE_CHECKING:
    from skeval.core.relational_context import RelationalContext

_SHARED_SUBJECTS = (
    "{share:.2%} of the subjects of the holdout ({table}) also stand in train, so that whatever "
    "contrasts the two looks milder than it is. Divide the tables by split_by_subject, unless such "
    "subjects are natural here."
)


def shared_subjects(context: RelationalContext) -> tuple[SharedRowsWarning, ...]:
    """Return a sentence on the share of the holdout's subjects that are also in train."""
    # A subject is the same if its own row and all rows that belong to it are, or, where keys
    # are no mere numbers of rows, if its key is.
    relations, notices = context.relations, []
    for subject in relations.subjects if not relations.undetermined else ():
        train, holdout = (_fingerprints(context, role, subject) for role in ("train", "holdout"))
        share = float(np.isin(holdout, train).mean()) if train.size else 0.0
        key = relations.primary_keys.get(subject, ())
        if len(key) == 1:
            by_key = shared_keys(
                *(context.original_frame(r)[subject][key[0]] for r in ("train", "holdout"))
            )
            share = max(share, by_key)
        if share:
            kind = MostlySharedRowsWarning if share > MAX_SHARED else SharedRowsWarning
            notices.append(kind(_SHARED_SUBJECTS.format(table=subject, share=share)))
    return tuple(notices)


def _fingerprints(context: RelationalContext, role: str, subject: str) -> np.ndarray:
    """Return a number of each subject: equal for subjects with equal rows, in any order."""
    # If the rows of the subject's table are sequences, each of them is one. There is none at
    # all if there is no column to tell them apart by.
    data, tables, relations = context.original_frame(role), context[role], context.relations
    own, measured = np.arange(len(tables[subject])), False
    if subject in relations.sequences:
        keys = data[subject][list(relations.sequences[subject].key)]
        own = key_codes(keys, keys.iloc[:0])[0]
    total = np.zeros(own.max(initial=-1) + 1, dtype=np.uint64)
    for i, name in enumerate([subject, *relations.dependents(subject)]):
        at = own
        if name != subject:
            along = positions_along(relations.path(name, subject), data.parent_positions)
            at = np.where(along >= 0, own[np.maximum(along, 0)], along)
        columns = relations.tables[name].measured
        measured |= bool(columns)
        rows = with_columns(tables[name][columns], {"": i})  # a row of another table is another row
        hashes = pd.util.hash_pandas_object(rows, index=False).to_numpy()
        np.add.at(total, at[at >= 0], hashes[at >= 0])
    return total if measured else total[:0]


def shared_keys(train: pd.Series, holdout: pd.Series) -> float:
    """Return the share of holdout keys that train has; 0 where keys just number the rows."""
    # Keys that count up (1, 2, 3, or user-001) may be those of others in another table. So
    # keys with a number in them are compared only where they use a tenth of the range at
    # most.
    both = pd.concat([train, holdout], ignore_index=True).dropna()
    parts = both.astype(str).str.extract(r"^\D*(\d+)(?:\.0)?\D*$")[0]
    numbers = pd.to_numeric(parts, errors="coerce")
    if numbers.notna().mean() > 0.5 and np.ptp(numbers.dropna()) < 10 * len(both):
        return 0.0
    codes = key_codes(holdout.to_frame(), train.to_frame())
    return float((np.isin(codes[0], codes[1]) & (codes[0] >= 0)).mean())
