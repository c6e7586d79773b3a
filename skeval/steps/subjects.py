"""Rows grouped by subject, because the rows of one subject are not independent."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skeval.core.context import Context, shared
from skeval.core.relational_context import RelationalContext
from skeval.stats.joint_classes import joint_classes
from skeval.stats.matches import digits_kept
from skeval.steps.foreign_keys import named_cells, subject_positions
from skeval.steps.samples import content_order, drawn_positions, named_seed
from skeval.steps.texts import fold_text
from skeval.tables.keys import ForeignKey
from skeval.tables.preprocessing import NUMERIC, numbers
from skeval.tables.relational_schema import RelationalSchema

_REAL = ("train", "holdout")
_ROLES = (*_REAL, "synthetic")
_PARTED = 0.01
RowLimit = int | None | tuple[int | None, ...]  # one limit for all roles, or one per role


def owners(relations: RelationalSchema, table: str) -> list[str]:
    """Return the subjects that the rows of a dependent table belong to, by one path each."""
    # The list is empty if no path leads to a subject. If several paths lead to one subject, the
    # subject of a row is ambiguous, and the list is empty as well.
    paths = {subject: relations.paths_to(table, subject) for subject in relations.subjects}
    if any(len(ways) > 1 for ways in paths.values()):
        return []
    return [subject for subject, ways in paths.items() if ways]


def limit_rows(context: RelationalContext, table: str, max_rows: RowLimit, seed: int) -> Context:
    """Return the context of one table with at most this number of random rows per role."""
    own = context.table(table)
    limits = tuple((role, n) for role, n in limits_of(max_rows).items() if role in own)
    if all(n is None or own.n_rows(role) <= n for role, n in limits):
        return own
    return _limit_rows(context, table, limits, seed)


def are_limits(value: object) -> bool:
    """Return whether a value is a maximum number of rows, or one for each of the three roles."""
    several = list(value) if isinstance(value, tuple | list) else [value]
    counts = all(n is None or (isinstance(n, int | np.integer) and n >= 1) for n in several)
    return counts and (several == [value] or len(several) == len(_ROLES))


def limits_of(max_rows: RowLimit) -> dict[str, int | None]:
    """Return the maximum number of rows of each role."""
    several = max_rows if isinstance(max_rows, tuple | list) else (max_rows,) * len(_ROLES)
    return dict(zip(_ROLES, several, strict=True))


@shared
def _limit_rows(
    context: RelationalContext, table: str, limits: tuple[tuple[str, int | None], ...], seed: int
) -> Context:
    own = context.table(table)  # with named roles, because real tables are a separate context
    return take_rows(
        own,
        {
            role: np.arange(own.n_rows(role))
            if n is None
            else drawn_positions(own, role, n, named_seed(role, seed))
            for role, n in limits
        },
    )


@shared
def one_row_each(
    context: RelationalContext, table: str, subject: str, max_rows: RowLimit, seed: int
) -> Context:
    """Return the context of a dependent table with one random row of each real subject."""
    # Rows without a subject are removed. All synthetic rows are kept, up to `max_rows`.
    #
    # If the generator learned nothing about single subjects, all choices of the training subjects
    # are equally likely given the synthetic rows. Therefore, the labels of the drawn rows are
    # exchangeable as well, and a test that exchanges them is valid. Such a test is not valid for
    # all rows, because the rows of a subject have the same label.
    own, rows = context.table(table), {}
    for role in ("train", "holdout"):
        if role in own:
            whose = subject_positions(context, role, table, subject)
            rng = np.random.default_rng(named_seed(role, seed))
            rows[role] = one_of_each(whose, rng.permutation(content_order(own, role)))
    most = limits_of(max_rows)["synthetic"] or own.n_rows("synthetic")
    seed = named_seed("synthetic", seed)
    return take_rows(own, {**rows, "synthetic": drawn_positions(own, "synthetic", most, seed)})


@shared
def parted_tables(context: RelationalContext, subject: str) -> list[str]:
    """Return the tables with rows whose subject is in the other one of the two real tables."""
    # There are more than 1 such row per 100 subjects. For example, the rows are in the training
    # data and their subject is in the holdout, because the table was divided by another subject.
    # The remaining rows of a subject then depend on the size of its table.
    parted = []
    for table in context.relations.dependents(subject):
        for role, key in product(_REAL, context.relations.path(table, subject)):
            sizes = {one: len(context.original_frame(one)[key.parent]) for one in _REAL}
            beyond = {one: np.full(n, float(one != role)) for one, n in sizes.items()}
            if (named_cells(context, role, key, beyond, 0.0) > 0).sum() > _PARTED * sizes[role]:
                parted.append(table)
    return list(dict.fromkeys(parted))


def one_of_each(groups: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the position of the first row in `order` of each group with a number of at least 0."""
    order = order[groups[order] >= 0]
    return np.sort(order[np.unique(groups[order], return_index=True)[1]])


def take_rows(context: Context, rows: dict[str, np.ndarray]) -> Context:
    """Return the context of these rows of each named role, without other roles."""
    tables: dict[str, pd.DataFrame] = {}
    given: dict[str, pd.DataFrame] = {}
    for role, positions in rows.items():
        for frames, table in ((tables, context[role]), (given, context.original_frame(role))):
            frames[role] = table.iloc[positions].reset_index(drop=True)
    synthetic, known = tables.pop("synthetic", None), given.pop("synthetic", None)
    real = Context(
        context.schema, tables, levels=context.levels, given=given, precision=context.precision
    )
    return real if synthetic is None else real.with_rows_as_synthetic(synthetic, known)


@dataclass(frozen=True)
class Histories:
    """The rows of subjects in other tables, as sets of tokens."""

    classes: np.ndarray
    n_rows: np.ndarray
    tokens: csr_array


@shared
def histories(
    context: RelationalContext,
    subject: str,
    table: str,
    roles: tuple[str, ...],
    n_bins: int | None = None,
) -> Histories:
    """Return the rows of the subjects of all roles in one table, without keys."""
    codes = np.concatenate([*row_codes(context, table, roles, n_bins)])
    sizes = [len(context.original_frame(role)[subject]) for role in roles]
    starts = np.cumsum([0, *sizes])
    whose = [subject_positions(context, role, table, subject) for role in roles]
    owner = np.concatenate(
        [np.where(own >= 0, own + s, -1) for own, s in zip(whose, starts, strict=False)]
    )
    codes, owner = codes[owner >= 0], owner[owner >= 0]
    order = np.lexsort((codes, owner))
    codes, owner = codes[order], owner[order]
    again = pd.DataFrame({"owner": owner, "code": codes}).groupby(["owner", "code"]).cumcount()
    tokens = joint_classes(np.column_stack([codes, again.to_numpy()]))
    shape = (int(starts[-1]), int(tokens.max(initial=0)) + 1)
    sets = csr_array((np.ones(tokens.size), (owner, tokens)), shape=shape)
    return Histories(set_classes(sets), np.diff(sets.indptr), sets)


def set_classes(sets: csr_array) -> np.ndarray:
    """Get the class of each row of a matrix of ones, where equal rows have the same class."""
    keys = np.random.default_rng(0).integers(0, 2**62, (sets.shape[1], 2), dtype=np.uint64)
    # two hash sums of 64 bits each, so that a collision is practically impossible
    sums = np.zeros((sets.shape[0], 2), dtype=np.uint64)
    filled = np.flatnonzero(np.diff(sets.indptr))
    if filled.size:
        sums[filled] = np.add.reduceat(keys[sets.indices], sets.indptr[filled], axis=0)
    return joint_classes(np.column_stack([pd.factorize(column, sort=True)[0] for column in sums.T]))


@shared
def row_codes(
    context: RelationalContext,
    table: str,
    roles: tuple[str, ...],
    n_bins: int | None = None,
    named: bool = True,
) -> list[np.ndarray]:
    """Return a code of each row of each role, equal for rows that are equal except for ids.

    With `named`, an id that refers to another row is replaced with the columns of this row.
    """
    kinds = context.relations.tables[table].kinds
    sizes = [len(context[role][table]) for role in roles]
    columns = [
        _value_codes(context, table, name, roles, n_bins)
        for name, kind in kinds.items()
        if kind != "id"
    ]
    for key in _further_keys(context.relations, table) if named else []:
        codes = row_codes(context, key.parent, roles, n_bins, named=False)
        cells = dict(zip(roles, codes, strict=True))
        columns.append(np.concatenate([named_cells(context, r, key, cells, -1) for r in roles]))
    if not columns:
        return [np.zeros(n, dtype=np.int64) for n in sizes]
    return np.split(joint_classes(np.column_stack(columns)), np.cumsum(sizes)[:-1])


def _further_keys(relations: RelationalSchema, table: str) -> list[ForeignKey]:
    """Return the id keys that do not lead to a subject, whose rows are part of the content."""
    paths = [p for subject in relations.subjects for p in relations.paths_to(table, subject)]
    kinds = relations.tables[table].kinds
    return [
        key
        for key in relations.foreign_keys
        if key.child == table
        and not any(key in path for path in paths)
        and kinds[key.columns[0]] == "id"
    ]


def _value_codes(
    context: RelationalContext, table: str, name: str, roles: tuple[str, ...], n_bins: int | None
) -> np.ndarray:
    kind = context.relations.tables[table].kinds[name]
    cells = [context[role][table][name] for role in roles]
    if kind not in NUMERIC:
        pooled = pd.concat([column.astype(object) for column in cells], ignore_index=True)
        codes, values = pd.factorize(pooled)
        forms = pd.factorize(np.array([fold_text(str(one)) for one in values], dtype=object))[0]
        return np.append(forms, -1)[codes]
    values = [numbers(column.to_frame()).ravel() for column in cells]
    if n_bins is None:
        return pd.factorize(digits_kept(np.concatenate(values)))[0]
    # Cells are learned from both real tables. Cells of only the training data would contain equal
    # numbers of training values, but not of other values, which looks like a leak.
    real = np.concatenate([own for role, own in zip(roles, values, strict=True) if role in _REAL])
    known = real[~np.isnan(real)]
    levels = np.arange(1, n_bins) / n_bins
    edges = np.unique(np.quantile(known, levels)) if known.size else np.empty(0)
    pooled = np.concatenate(values)
    return np.where(np.isnan(pooled), -1, np.searchsorted(edges, pooled))
