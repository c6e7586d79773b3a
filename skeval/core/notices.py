"""Warnings about samples of the rows and about pooled rare categories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skeval.core.context import Context
from skeval.exceptions import PooledLevelsWarning, SampledWarning
from skeval.results.result import Result
from skeval.steps.encoded_rows import preprocessor


def pooled_notices(context: Context, space: Any) -> tuple[PooledLevelsWarning, ...]:
    """Name the columns whose rare categories share features in a space of vectors."""
    if not context.levels:
        return ()
    from skeval.tables.spaces import most_features

    sizes = [len(levels) for levels in context.levels.values()]
    if max(sizes) <= most_features(sizes):
        return ()
    n_cells = getattr(preprocessor(context, space), "n_cells_", {})
    pooled = [
        f"{name} ({len(context.levels[name]):,} categories, {n - 2} features)"
        for name, n in n_cells.items()
        if name in context.levels and n - 2 < len(context.levels[name])
    ]
    text = (
        "rare categories of these columns were pooled, because there are more categories than the "
        f"metric can distinguish: {', '.join(pooled)}."
    )
    return (PooledLevelsWarning(text),) if pooled else ()


def sample_notices(context: Context) -> tuple[SampledWarning, ...]:
    """Return a warning with the sizes of samples if not all rows were used."""
    sizes = [(role, context.n_rows(role), of) for role, of in context.drawn_of.items()]
    drawn = [f"{n:,} of {of:,} {role} rows" for role, n, of in sizes if n < of]
    text = f"evaluated on a sample, because this metric cannot use all rows: {', '.join(drawn)}."
    return (SampledWarning(text),) if drawn else ()


def with_sample_sizes(context: Context, result: Result) -> Result:
    """Add the sizes of samples to a result if not all rows were used."""
    notices = sample_notices(context)
    if not notices:
        return result
    drawn = {role: (context.n_rows(role), of) for role, of in context.drawn_of.items()}
    sizes = {**result.details.get("sampled", {}), **drawn}
    details = {**result.details, "sampled": sizes}
    return replace(result, details=details, warnings=(*result.warnings, *notices))
