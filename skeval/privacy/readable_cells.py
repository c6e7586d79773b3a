"""Fraction of a release that can be compared with real rows, without unreadable cells."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context, shared
from skeval.tables.cells import as_texts

_LONGER = 20  # characters


@shared
def known_share(context: Context) -> float:
    """Return the fraction of readable synthetic cells relative to the training data, at most 1."""
    names = [name for name, kind in context.schema.kinds.items() if kind != "id"]
    of_train, of_synthetic = (
        float(np.mean([context.column(role, name).notna().mean() for name in names] or [1.0]))
        for role in ("train", "synthetic")
    )
    return min(1.0, of_synthetic / of_train) if of_train else 1.0


def _overlong(context: Context, name: str) -> np.ndarray:
    """Return the synthetic cells with categories much longer than any real category."""
    cells = context.column("synthetic", name).cat
    lengths = np.array([len(level) for level in cells.categories], dtype=np.int64)
    codes = np.unique(context.column("train", name).cat.codes.to_numpy())
    longest = lengths[codes[codes >= 0]].max(initial=0)
    codes = cells.codes.to_numpy()
    return np.asarray((codes >= 0) & (np.append(lengths, 0)[codes] > 2 * longest + _LONGER))


@shared
def unread_rows(context: Context) -> int:
    """Return the number of synthetic rows with a cell that cannot be read, such as "12 kg"."""
    # A text without a digit is treated as a missing cell if the training data have missing cells.
    # A new category that is much longer than all real categories may contain any content.
    given = context.original_frame("synthetic")
    unread = np.zeros(context.n_rows("synthetic"), dtype=bool)
    for name, kind in context.schema.kinds.items():
        lacking = np.array(context.column("synthetic", name).isna(), dtype=bool)
        if kind == "categorical":
            unread |= _overlong(context, name)
        if kind == "id" or name not in given.columns or not lacking.any():
            continue
        cells = given[name]
        lacking &= cells.notna().to_numpy(dtype=bool)
        if lacking.any() and context.column("train", name).isna().any():
            texts = as_texts(cells[lacking])
            lacking[lacking] = texts.str.contains("[0-9]").to_numpy(dtype=bool)
        unread |= lacking
    return int(unread.sum())
