"""Subjects that occur in both training and holdout data, by their rows and by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from skeval.core.shared_rows import MAX_SHARED
from skeval.exceptions import MostlySharedRowsWarning, SharedRowsWarning
from skeval.tables.cells import as_texts
from skeval.tables.keys import key_codes
from skeval.tables.relational_data import positions_along
from skeval.tables.set_columns import with_columns

if TYPE_CHECKING:
    from skeval.core.relational_context import RelationalContext

_SHARED_SUBJECTS = (
    "{share:.2%} of the holdout subjects ({table}) also occur in the training data. Privacy tests "
    "that compare the two underestimate leakage. Split the tables with split_by_subject, unless "
    "duplicate subjects are natural in these data."
)


def shared_subjects(context: RelationalContext) -> tuple[SharedRowsWarning, ...]:
    """Return a warning if holdout subjects also occur in the training data."""
    # Two subjects are the same if their own row and all rows that belong to them are equal, or if
    # their keys are equal and are not just consecutive numbers.
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
    """Return a number for each subject, which is equal for equal rows in any order."""
    # If the rows of the table of subjects are sequences, each sequence is one subject. If there is
    # no column to compare, the result is empty.
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
        rows = with_columns(tables[name][columns], {"": i})  # rows of different tables differ
        hashes = pd.util.hash_pandas_object(rows, index=False).to_numpy()
        np.add.at(total, at[at >= 0], hashes[at >= 0])
    return total if measured else total[:0]


def shared_keys(train: pd.Series, holdout: pd.Series) -> float:
    """Return the fraction of holdout keys in the training data, or 0 for consecutive keys."""
    # Consecutive keys (1, 2, 3, or user-001) may denote different subjects in another table.
    # Therefore keys that contain a number are compared only if they use at most a tenth of their
    # range.
    both = pd.concat([train, holdout], ignore_index=True).dropna()
    parts = as_texts(both).str.extract(r"^\D*(\d+)(?:\.0)?\D*$")[0]
    numbers = pd.to_numeric(parts, errors="coerce")
    if numbers.notna().mean() > 0.5 and np.ptp(numbers.dropna()) < 10 * len(both):
        return 0.0
    codes = key_codes(holdout.to_frame(), train.to_frame())
    return float((np.isin(codes[0], codes[1]) & (codes[0] >= 0)).mean())
