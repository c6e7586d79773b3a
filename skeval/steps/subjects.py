"""Rows by the subjects that they belong to: the rows of one subject are one piece of evidence."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval.context import Context, shared
from skeval.relational_context import RelationalContext
from skeval.steps.relations import subject_positions
from skeval.steps.samples import named_seed, sample_positions
from skeval.tables.relational_schema import RelationalSchema

_ROLES = ("train", "holdout", "synthetic")
RowLimit = int | None | tuple[int | None, ...]  # of each role alike, or of each in this order


def owners(relations: RelationalSchema, table: str) -> list[str]:
    """Return the subjects that the rows of a dependent table belong to, by one path each.

    Empty where no path leads to a subject, or several lead to one, so that nobody knows whose the
    rows are.
    """
    paths = {subject: relations.paths_to(table, subject) for subject in relations.subjects}
    if any(len(ways) > 1 for ways in paths.values()):
        return []
    return [subject for subject, ways in paths.items() if ways]


def limited(context: RelationalContext, table: str, max_rows: RowLimit, seed: int) -> Context:
    """Return the context of one table with at most so many rows of each role, drawn at random."""
    own = context.table(table)
    limits = tuple((role, n) for role, n in limits_of(max_rows).items() if role in own)
    if all(n is None or own.n_rows(role) <= n for role, n in limits):
        return own
    return _limited(context, table, limits, seed)


def are_limits(value: object) -> bool:
    """Tell whether a value is a greatest number of rows, or one for each of the three roles."""
    several = list(value) if isinstance(value, tuple | list) else [value]
    counts = all(n is None or (isinstance(n, int | np.integer) and n >= 1) for n in several)
    return counts and (several == [value] or len(several) == len(_ROLES))


def limits_of(max_rows: RowLimit) -> dict[str, int | None]:
    """Return the greatest number of rows of each role.

    Examples
    --------
    >>> from skeval.steps.subjects import limits_of
    >>> limits_of((500, 250, None))
    {'train': 500, 'holdout': 250, 'synthetic': None}
    """
    several = max_rows if isinstance(max_rows, tuple | list) else (max_rows,) * len(_ROLES)
    return dict(zip(_ROLES, several, strict=True))


@shared
def _limited(
    context: RelationalContext, table: str, limits: tuple[tuple[str, int | None], ...], seed: int
) -> Context:
    own = context.table(table)  # its roles are named: real tables alone are another context
    return rows_taken(
        own,
        {role: sample_positions(own.n_rows(role), n, named_seed(role, seed)) for role, n in limits},
    )


@shared
def one_row_each(
    context: RelationalContext, table: str, subject: str, max_rows: RowLimit, seed: int
) -> Context:
    """Return the context of a dependent table with one random row of each real subject.

    Rows that belong to no subject are left out; of the synthetic rows, all are there, at most
    `max_rows`.

    Notes
    -----
    If nothing was learned of any one subject, all choices of which subjects were train are equally
    likely given the synthetic rows, hence also which of the rows so drawn were: a test that
    exchanges the labels of rows holds for them. It does not hold for all rows, whose labels are
    those of their subjects.
    """
    own, rows = context.table(table), {}
    for role in ("train", "holdout"):
        if role in own:
            whose = subject_positions(context, role, table, subject)
            rows[role] = one_of_each(whose, named_seed(role, seed))
    n_synthetic = own.n_rows("synthetic")
    most = limits_of(max_rows)["synthetic"]
    rows["synthetic"] = sample_positions(n_synthetic, most, named_seed("synthetic", seed))
    return rows_taken(own, rows)


def one_of_each(groups: np.ndarray, seed: int) -> np.ndarray:
    """Return the position of one random row of each group, ascending; those below 0 are no group.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.subjects import one_of_each
    >>> one_of_each(np.array([7, -1, 7, 7, 2]), seed=0).tolist()
    [2, 4]
    """
    order = np.random.default_rng(seed).permutation(groups.size)
    order = order[groups[order] >= 0]
    return np.sort(order[np.unique(groups[order], return_index=True)[1]])


def rows_taken(context: Context, rows: dict[str, np.ndarray]) -> Context:
    """Return the context of these rows of each role that is named; others are left out."""
    tables: dict[str, pd.DataFrame] = {}
    given: dict[str, pd.DataFrame] = {}
    for role, positions in rows.items():
        for frames, table in ((tables, context[role]), (given, context.given(role))):
            frames[role] = table.iloc[positions].reset_index(drop=True)
    synthetic, known = tables.pop("synthetic", None), given.pop("synthetic", None)
    real = Context(
        context.schema, tables, levels=context.levels, given=given, precision=context.precision
    )
    return real if synthetic is None else real.standing_in(synthetic, known)
