"""Warnings about the rows behind a result: a sample of the tables, or pooled rare levels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skeval.core.context import Context
from skeval.exceptions import PooledLevelsWarning, SampledWarning
from skeval.results.result import Result
from skeval.steps.encoded_rows import preprocessor


def pooled_notices(context: Context, space: Any) -> tuple[PooledLevelsWarning, ...]:
    """Name the columns whose rare levels share features in a space of vectors."""
    if not context.levels:
        return ()
    from skeval.tables.spaces import most_features

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


def sample_notices(context: Context) -> tuple[SampledWarning, ...]:
    """Say how many rows of each table were measured, where it was not all."""
    sizes = [(role, context.n_rows(role), of) for role, of in context.drawn_of.items()]
    drawn = [f"{n:,} of {of:,} {role} rows" for role, n, of in sizes if n < of]
    text = f"measured on a sample, for all rows cannot be counted up here: {', '.join(drawn)}."
    return (SampledWarning(text),) if drawn else ()


def with_sample_sizes(context: Context, result: Result) -> Result:
    """Return a result that says how many rows of each table it is measured on, if not on all."""
    notices = sample_notices(context)
    if not notices:
        return result
    drawn = {role: (context.n_rows(role), of) for role, of in context.drawn_of.items()}
    sizes = {**result.details.get("sampled", {}), **drawn}
    details = {**result.details, "sampled": sizes}
    return replace(result, details=details, warnings=(*result.warnings, *notices))
