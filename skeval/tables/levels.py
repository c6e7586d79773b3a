"""The levels that a column of categories has in several real tables together."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from skeval.tables.schema import sorted_labels, with_real_levels


def labels_together(train: Iterable[str], *others: Iterable[str]) -> list[str]:
    """Return the labels of a column in train and in other real tables, sorted.

    What the others write otherwise than train, as truth values for 0 and 1, is no level of its own.

    Parameters
    ----------
    train, *others : iterable of str
        The labels that the column has in each table.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from skeval.tables.levels import labels_together
    >>> labels_together(["0", "1"], ["False", "True"]), labels_together(["b"], ["a", "b"])
    (['0', '1'], ['a', 'b'])
    """
    real = list(train)
    labels = set(real)
    for other in others:
        written = pd.Index([label for label in other if label not in labels], dtype=object)
        if len(written):
            column = pd.Series(pd.Categorical([], categories=written))
            labels.update(with_real_levels(column, real).cat.categories)
    return sorted_labels(labels)
