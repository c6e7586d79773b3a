"""What is to be said where rare levels of a category share features of a matrix."""

from __future__ import annotations

from typing import Any

from skeval.context import Context
from skeval.exceptions import PooledLevelsWarning
from skeval.steps.neighbors import is_gower, preprocessor


def pooled_notices(context: Context, space: Any) -> tuple[PooledLevelsWarning, ...]:
    """Name the columns whose rare levels share features in a space of vectors.

    Parameters
    ----------
    context : Context
        The tables.
    space : "gower", "euclidean", transformer or None
        In "gower", and where there is no space, no level shares anything.

    Returns
    -------
    tuple of PooledLevelsWarning
        One, or none.
    """
    if space is None or is_gower(space) or not context.levels:
        return ()
    from skeval.tables.spaces import most_features  # takes long, and few tables need it

    sizes = [len(levels) for levels in context.levels.values()]
    if max(sizes) <= most_features(sizes):
        return ()
    n_cells = getattr(preprocessor(context, space), "n_cells_", {})
    pooled = [
        f"{name} ({len(context.levels[name]):,} levels, {n - 2} features)"
        for name, n in n_cells.items()
        if name in context.levels and n - 2 < len(context.levels[name])
    ]
    text = f"rare levels share features of the matrix, by a hash: {', '.join(pooled)}."
    return (PooledLevelsWarning(text),) if pooled else ()
