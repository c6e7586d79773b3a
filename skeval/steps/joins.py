"""Pairs of columns of two tables, over the rows that link them; no wide table is ever made.

What relates the rows of several tables: their parents, their subjects.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, NamedTuple, cast

import numpy as np
import pandas as pd

from skeval.core.context import Context, shared
from skeval.core.relational_context import RelationalContext
from skeval.stats.association import SideBySide
from skeval.steps.pairs import Binning
from skeval.steps.samples import cells, codes, content_order, named_seed
from skeval.tables.keys import ForeignKey, key_codes
from skeval.tables.preprocessing import NOMINAL, NUMERIC
from skeval.tables.relational_data import NULL, ORPHAN, parent_positions, positions_along
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import Kind, TableSchema

_REAL = ("train", "holdout")
Path = tuple[ForeignKey, ...]  # from a table upwards


class Column(NamedTuple):
    """A column of child rows: numbers, dates in microseconds, or codes; missing is nan."""

    kind: Kind
    values: np.ndarray
    levels: pd.Index


@shared
def parents(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return of each row of the child table the position of its parent, `ORPHAN` or `NULL`."""
    positions: np.ndarray = context.given(role).parent_positions(key)
    return positions


@shared
def subject_positions(
    context: RelationalContext, role: str, table: str, subject: str
) -> np.ndarray:
    """Return of each row of a table the position of its subject, `ORPHAN` or `NULL`."""
    if table == subject:
        return np.arange(len(context.given(role)[table]))
    return path_positions(context, role, context.relations.path(table, subject))


@shared
def path_positions(context: RelationalContext, role: str, path: Path) -> np.ndarray:
    """Return of each row of the lowest table the position of its row at the top of a path.

    `ORPHAN` or `NULL` where one of the keys on the way up names no row.
    """
    return positions_along(path, lambda key: parents(context, role, key))


def named_cells(
    context: RelationalContext,
    role: str,
    key: ForeignKey,
    cells: Mapping[str, np.ndarray],
    missing: float,
) -> np.ndarray:
    """Return of each row of the child table the cell of the row that its key names."""
    # A row of train may name one of the holdout, and the other way round: where subjects that
    # know each other were parted. If such rows were orphans, the larger table would have
    # fewer of them, and its rows would be more like synthetic ones.
    at = parents(context, role, key)
    named = np.append(cells[role], missing)[np.where(at >= 0, at, -1)]
    others = [other for other in _REAL if role in _REAL and other != role and other in cells]
    for other in others:
        given, theirs = context.given(role), context.given(other)[key.parent]
        columns = list(key.parent_columns)
        own, known = key_codes(given[key.parent][columns], theirs[columns])
        if np.isin(own[own >= 0], known).any():
            continue  # keys that both have number the rows of each: there they name somebody else
        beyond = parent_positions(given[key.child], theirs, key)
        parted = (at == ORPHAN) & (beyond >= 0)
        named[parted] = cells[other][beyond[parted]]
    return named


@shared
def n_children(context: RelationalContext, role: str, key: ForeignKey) -> np.ndarray:
    """Return of each row of the parent table how many rows of the child table name it."""
    positions = parents(context, role, key)
    n_parents = len(context.given(role)[key.parent])
    return np.bincount(positions[positions > ORPHAN], minlength=n_parents)


@shared
def column_of(context: RelationalContext, role: str, table: str, name: str) -> Column:
    """Return a column of a role's table."""
    kind, cells = context.relations.tables[table].kinds[name], context[role][table][name]
    if isinstance(cells.dtype, pd.CategoricalDtype):
        codes = cells.cat.codes.to_numpy().astype(np.float64)
        return Column(kind, np.where(codes < 0, np.nan, codes), cells.cat.categories)
    if kind == "datetime":
        since = cells.to_numpy("datetime64[us]").astype(np.int64).astype(np.float64)
        return Column(kind, np.where(cells.isna(), np.nan, since), pd.Index([]))
    return Column(kind, cells.to_numpy(np.float64), pd.Index([]))


Weight = Literal["child", "parent"]
SHUFFLED = "shuffled"  # in the place of a role: train with its links shuffled
_CHUNK = 65_536  # rows multiplied at a time


@dataclass(frozen=True)
class Join:
    """Rows of a table with the rows above them that two paths lead to."""

    base: str
    upper: Path
    lower: Path = ()

    @property
    def tables(self) -> tuple[str, str]:
        """The tables of both sides."""
        upper, lower = (path[-1].parent if path else self.base for path in (self.upper, self.lower))
        return upper, lower

    @property
    def via(self) -> str:
        """The columns by which it joins."""
        return "; ".join(", ".join(key.columns) for key in (*self.lower, *self.upper))

    def names(self, relations: RelationalSchema) -> tuple[list[str], list[str]]:
        """Return the measured columns of both sides, but for those that join."""
        upper, lower = self.tables
        joining = {(self.base, c) for path in (self.upper, self.lower) for c in _first(path)}
        joining |= {
            (path[-1].parent, column)
            for path in (self.upper, self.lower)
            if path
            for column in path[-1].parent_columns
        }
        one, other = (
            [name for name in relations.tables[table].measured if (table, name) not in joining]
            for table in (upper, lower)
        )
        return one, other


def _first(path: Path) -> tuple[str, ...]:
    return tuple(path[0].columns) if path else ()


def paths_up(relations: RelationalSchema, max_hops: int | None = None) -> Iterator[Path]:
    """Yield every path of foreign keys from child to ancestor, shorter ones first.

    None leads through a table twice, but for the keys of a table to itself.
    """
    paths: list[Path] = [(key,) for key in relations.foreign_keys]
    for _ in range(len(relations.tables) if max_hops is None else max_hops):
        yield from paths
        paths = [
            (*path, key)
            for path in paths
            for key in relations.foreign_keys
            if key.child == path[-1].parent != path[0].child
            and key.parent not in {path[0].child, *(one.parent for one in path)}
        ]


def joins(
    relations: RelationalSchema,
    max_hops: int | None = 1,
    siblings: bool = False,
    weight: Weight = "child",
) -> list[Join]:
    """Return the joins of children with their ancestors, and of two parents of the same rows.

    Two parents are looked at from both sides where these differ: where each parent counts once.
    """
    found = [Join(path[0].child, path) for path in paths_up(relations, max_hops)]
    if siblings:
        keys = relations.foreign_keys
        found += [
            Join(one.child, (one,), (other,))
            for one, other in permutations(keys, 2)
            if one.child == other.child
            and (weight == "parent" or keys.index(one) < keys.index(other))
        ]
    return found


class Scored(NamedTuple):
    """Scores of all pairs of columns of a join, and how strong each is in train."""

    upper: list[str]
    lower: list[str]
    numeric: np.ndarray  # whether both are numbers or dates
    scores: np.ndarray
    strength: np.ndarray


@shared
def pair_scores(
    context: RelationalContext, join: Join, binning: Binning, weight: Weight, role: str
) -> Scored:
    """Return how alike the pairs of columns of a join are in train and in another role."""
    # Two numbers by their correlation, other pairs by their joint shares, as
    # CorrelationSimilarity and ContingencySimilarity have it.
    names = join.names(context.relations)
    kinds = [
        [context.relations.tables[table].kinds[name] in NUMERIC for name in side]
        for table, side in zip(join.tables, names, strict=True)
    ]
    numeric = np.outer(*(np.array(side, dtype=bool) for side in kinds))
    scores, strength = np.full((2, *numeric.shape), np.nan)
    counts = [joint_counts(context, r, join, binning, weight) for r in ("train", role)]
    for at, table in counts[0].items():
        scores[at] = _agreement(table, counts[1][at])
        strength[at] = SideBySide(table).cramers_v(bias_correction=False)[0]
    one, other = (cross_correlations(context, r, join, weight) for r in ("train", role))
    strength[numeric] = np.abs(one).ravel()
    lost = np.isnan(other) & ~np.isnan(one)  # what train alone has counts as 0
    scores[numeric] = (1.0 - np.abs(one - np.where(lost, 0.0, other)) / 2.0).ravel()
    return Scored(*names, numeric, scores, strength)


def _agreement(p: np.ndarray, q: np.ndarray) -> float:
    """Return 1 minus the total variation of two tables of weights."""
    if not p.any() or not q.any():
        return float("nan") if not p.any() else 0.0
    return float(1.0 - np.abs(p / p.sum() - q / q.sum()).sum() / 2.0)


@shared
def joint_counts(
    context: RelationalContext, role: str, join: Join, binning: Binning, weight: Weight
) -> dict[tuple[int, int], np.ndarray]:
    """Return the joint counts of the pairs of a join, but for those of two numbers."""
    positions, weights = linked(context, role, join, weight)
    sides, names = [], join.names(context.relations)
    if not all(names):
        return {}
    for table, side, at in zip(join.tables, names, positions, strict=True):
        source, own = _source(context, role, table)
        measured, kinds = source.schema.measured, source.schema.kinds
        cut, matrix = cells(source, *binning), codes(source, own, *binning)
        columns = []
        for name in side:
            j, missing = measured.index(name), cut.cells_[name].n_own + 1
            column = np.where(at >= 0, matrix[np.maximum(at, 0), j], missing)
            columns.append((column, int(cut.n_cells_[j])))
        sides.append([(*c, kinds[name] in NUMERIC) for name, c in zip(side, columns, strict=True)])
    counts = {}
    for i, (one, n_rows, is_number) in enumerate(sides[0]):
        for j, (other, n_columns, is_other) in enumerate(sides[1]):
            if not (is_number and is_other):
                flat = np.bincount(one * n_columns + other, weights, n_rows * n_columns)
                counts[i, j] = flat.reshape(n_rows, n_columns)
    return counts


@shared
def cross_correlations(
    context: RelationalContext, role: str, join: Join, weight: Weight
) -> np.ndarray:
    """Return the correlations of the numbers of one side with those of the other."""
    # Rows that miss a value, or have an infinite one, are left out pair by pair; nan where a
    # column does not vary.
    positions, weights = linked(context, role, join, weight)
    kinds = [context.relations.tables[table].kinds for table in join.tables]
    sides = [
        [
            np.where(at >= 0, values[np.maximum(at, 0)], np.nan)
            for name in side
            if kind[name] in NUMERIC
            for values in [_standardised(column_of(context, _of(role), table, name).values)]
        ]
        for table, side, at, kind in zip(
            join.tables, join.names(context.relations), positions, kinds, strict=True
        )
    ]
    shape = len(sides[0]), len(sides[1])
    if 0 in shape or positions[0].size == 0:
        return np.full(shape, np.nan)
    n, of_x, of_y, xx, yy, xy = np.zeros((6, *shape))
    for start in range(0, positions[0].size, _CHUNK):
        at = slice(start, start + _CHUNK)
        x, y = (np.column_stack([column[at] for column in side]) for side in sides)
        w = 1.0 if weights is None else weights[at, None]
        has_x, has_y = (~np.isnan(z) for z in (x, y))
        x, y = np.where(has_x, x, 0.0), np.where(has_y, y, 0.0)
        wx, w1 = (w * x).T, (w * has_x).T
        n, of_x, of_y = n + w1 @ has_y, of_x + wx @ has_y, of_y + w1 @ y
        xx, yy, xy = xx + (w * x * x).T @ has_y, yy + w1 @ (y * y), xy + wx @ y
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (xx / n - (of_x / n) ** 2) * (yy / n - (of_y / n) ** 2)
        spread[spread <= 1e-20] = np.nan
        r: np.ndarray = np.clip((xy / n - of_x * of_y / n**2) / np.sqrt(spread), -1.0, 1.0)
    return r


def _standardised(values: np.ndarray) -> np.ndarray:
    finite = np.isfinite(values)
    if not finite.any():
        return np.full(values.shape, np.nan)
    scale = float(np.abs(values[finite]).max()) or 1.0  # squares of large numbers overflow
    values = np.where(finite, values / scale, np.nan)
    spread = float(values[finite].std())
    return (values - values[finite].mean()) / (spread or 1.0)


@shared
def linked(
    context: RelationalContext, role: str, join: Join, weight: Weight
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray | None]:
    """Return the positions of both sides of the rows whose keys are there, and their weights."""
    # A key that names no row has a negative position: what it lacks counts as missing. With
    # `weight="parent"` each row of the upper side counts once, with any number of rows, and
    # orphans do not; None means equal weights.
    own, n_rows = _of(role), len(context.given(_of(role))[join.base])
    upper, lower = (
        path_positions(context, own, path) if path else np.arange(n_rows)
        for path in (join.upper, join.lower)
    )
    whole = (upper != NULL) & (lower != NULL)
    upper, lower = upper[whole], lower[whole]
    if role == SHUFFLED:
        upper = np.random.default_rng(zlib.crc32(join.via.encode())).permutation(upper)
    if weight == "child":
        return (upper, lower), None
    sizes = np.bincount(upper[upper >= 0], minlength=1)
    weights = np.where(upper >= 0, 1.0 / np.maximum(sizes[np.maximum(upper, 0)], 1), 0.0)
    return (upper, lower), weights


def _of(role: str) -> str:
    return "train" if role == SHUFFLED else role


def _source(context: RelationalContext, role: str, table: str) -> tuple[Context, str]:
    """Return the context of a table, and which of its roles to read: public tables have train."""
    whole = context if role == "synthetic" else cast("RelationalContext", context.real)
    own = whole.table(table)
    return own, _of(role) if _of(role) in own else "train"


def joined_context(
    context: RelationalContext, base: str, paths: tuple[Path, ...], max_rows: int | None, seed: int
) -> tuple[Context, Mapping[str, np.ndarray]]:
    """Return rows of a table with those above them as a context of one table, and their roots."""
    roles = [role for role in ("train", "holdout", "synthetic") if role in context]
    whose = {
        role: roots(context, role, base)[drawn_rows(context, role, base, max_rows, seed)]
        for role in roles
    }
    return _joined_synthetic(context, base, paths, max_rows, seed), whose


@shared
def _joined_synthetic(
    context: RelationalContext, base: str, paths: tuple[Path, ...], max_rows: int | None, seed: int
) -> Context:
    real = _joined_real(context, base, paths, max_rows, seed)
    return real.standing_in(_joined_rows(context, "synthetic", base, paths, max_rows, seed))


@shared
def _joined_real(
    context: RelationalContext, base: str, paths: tuple[Path, ...], max_rows: int | None, seed: int
) -> Context:
    roles = [role for role in ("train", "holdout") if role in context]
    frames = {role: _joined_rows(context, role, base, paths, max_rows, seed) for role in roles}
    kinds = {
        name: context.relations.tables[table].kinds[column]
        for table, column, name, _ in _joined_columns(context.relations, base, paths)
    }
    levels = {
        name: list(column.cat.categories)
        for name, column in frames["train"].items()
        if kinds[str(name)] in NOMINAL
    }
    return Context(TableSchema(kinds), frames, levels=levels)


def _joined_rows(
    context: RelationalContext,
    role: str,
    base: str,
    paths: tuple[Path, ...],
    max_rows: int | None,
    seed: int,
) -> pd.DataFrame:
    at = drawn_rows(context, role, base, max_rows, seed)
    positions: dict[Path, np.ndarray] = {(): at}
    for path in paths:
        positions[path] = np.maximum(path_positions(context, role, path)[at], ORPHAN)
    tables = context[role]
    return pd.DataFrame(
        {
            name: tables[table][column].array.take(positions[path], allow_fill=True)
            for table, column, name, path in _joined_columns(context.relations, base, paths)
        }
    )


def _joined_columns(
    relations: RelationalSchema, base: str, paths: tuple[Path, ...]
) -> Iterator[tuple[str, str, str, Path]]:
    """Yield table, column, name and path of the columns side by side, keys of parents left out."""
    for column in relations.tables[base].measured:
        yield base, column, f"{base}.{column}", ()
    for path in paths:
        top, via = path[-1].parent, "; ".join(", ".join(key.columns) for key in path)
        for column in relations.tables[top].measured:
            if column not in path[-1].parent_columns:
                yield top, column, f"{top} ({via}).{column}", path


@shared
def drawn_rows(
    context: RelationalContext, role: str, table: str, max_rows: int | None, seed: int
) -> np.ndarray:
    """Return the positions of at most this number of rows, drawn at random by their roots."""
    # So many rows of each root are kept, in all roles alike, that those of train are not too
    # many; where other roles have more, whole roots are left out. What an entity is like must
    # not depend on the size of its table.
    whose = roots(context, role, table)
    if max_rows is None:
        return np.arange(whose.size)
    sizes = np.bincount(roots(context, "train", table))
    most, above = whose.size, 0
    if sizes.sum() > max_rows:
        most, above = 1, int(sizes.max())
    while above - most > 1:
        middle = (most + above) // 2
        fits = np.minimum(sizes, middle).sum() <= max_rows
        most, above = (middle, above) if fits else (most, middle)
    order = content_order(context.table(table), role)
    in_order, _ = pd.factorize(whose[order])  # nor does the position of roots play a part
    return order[drawn_by_root(in_order, most, max_rows, named_seed(role, seed))]


def drawn_by_root(whose: np.ndarray, most: int, max_rows: int, seed: int) -> np.ndarray:
    """Return the positions of at most `most` rows of each root, of as many roots as may be."""
    rng = np.random.default_rng(seed)
    at = rng.permutation(whose.size)
    at = at[np.argsort(whose[at], kind="stable")]
    sizes = np.bincount(whose)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    at = at[np.arange(whose.size) - starts < most]
    kept = np.minimum(sizes, most)
    order = rng.permutation(sizes.size)
    chosen = np.zeros(sizes.size, dtype=bool)
    chosen[order[np.cumsum(kept[order]) <= max_rows]] = True
    return np.sort(at[chosen[whose[at]]])


@shared
def roots(context: RelationalContext, role: str, table: str) -> np.ndarray:
    """Get of each row of a table a code of the entity that it hangs on; alone, one of its own."""
    # That is its subject, where the schema has one; else the row at the top of the longest
    # path that leads through no public table.
    n_rows, path = len(context.given(role)[table]), root_path(context.relations, table)
    if not path:
        return np.arange(n_rows)
    positions = path_positions(context, role, path)
    n_above = len(context.given(role)[path[-1].parent])
    codes: np.ndarray = np.where(positions >= 0, positions, n_above + np.arange(n_rows))
    return codes


def root_path(relations: RelationalSchema, table: str) -> Path:
    """Return the way from a table up to what its rows hang on; none where they stand alone."""
    if relations.role(table) == "subject":
        return ()
    for subject in relations.subjects:
        if len(ways := relations.paths_to(table, subject)) == 1:
            return ways[0]
    public = set(relations.references)
    own = [p for p in paths_up(relations) if p[0].child == table != p[-1].parent]
    private = [path for path in own if not public & {key.parent for key in path}]
    return max(private, key=len, default=())


@shared
def independent_rows(context: RelationalContext, role: str) -> dict[str, np.ndarray] | None:
    """Return for each private table the number of the subject that each of its rows belongs to."""
    # Subjects of several tables are numbered on, so that no number is there twice; a row
    # without a subject has one of its own. None where a row belongs to several subjects, or
    # nobody knows whose it is: no two parts of such tables are independent.
    relations, data = context.relations, context.given(role)
    paths = {
        (name, subject): relations.paths_to(name, subject)
        for subject in relations.subjects
        for name in relations.dependents(subject)
    }
    along = {key for ways in paths.values() for path in ways for key in path}
    private = {key for key in relations.foreign_keys if relations.role(key.parent) != "reference"}
    owned = [name for name, _ in paths]
    if relations.undetermined or private - along or len(owned) > len(set(owned)):
        return None
    numbers, n = {}, 0
    for subject in relations.subjects:
        whose = np.arange(len(data[subject]))
        if sequence := relations.sequences.get(subject):
            whose = _of_its_own(key_codes(*[data[subject][list(sequence.key)]] * 2)[0])
        numbers[subject], found = n + whose, int(whose.max(initial=-1)) + 1
        for name in relations.dependents(subject):
            at = subject_positions(context, role, name, subject)
            at = np.where(at >= 0, np.append(whose, -1)[np.maximum(at, -1)], -1)
            own = _of_its_own(at, found)
            numbers[name], found = n + own, max(found, int(own.max(initial=-1)) + 1)
        n += found
    return numbers


def _of_its_own(numbers: np.ndarray, first: int = 0) -> np.ndarray:
    """Give each row that has no number one of its own, after all others and from `first` on."""
    alone = np.flatnonzero(numbers < 0)
    numbers = numbers.copy()
    numbers[alone] = max(first, int(numbers.max(initial=-1)) + 1) + np.arange(alone.size)
    return numbers


def n_subjects(context: RelationalContext, role: str) -> int:
    """Return how many independent subjects a role has; 0 where nobody knows."""
    numbers = independent_rows(context, role)
    return 1 + max(int(own.max(initial=-1)) for own in numbers.values()) if numbers else 0


def subjects_in_place(
    context: RelationalContext, role: str, n: int, seed: int, n_parts: int = 1
) -> list[RelationalContext]:
    """Return contexts in which disjoint random parts of a role take the synthetic rows' place."""
    numbers = independent_rows(context, role) or {}
    rng = np.random.default_rng(named_seed(role, seed))
    part = np.full(n_subjects(context, role), n_parts)
    order = rng.permutation(part.size)
    part[order[: n * n_parts]] = np.repeat(np.arange(n_parts), n)
    return [
        context.in_place(
            role, {name: np.flatnonzero(part[own] == k) for name, own in numbers.items()}
        )
        for k in range(n_parts)
    ]
