"""Pairs of columns of two tables, over the rows that link them, without a wide table."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import permutations
from typing import Literal, NamedTuple, cast

import numpy as np

from skeval.core.context import Context, shared
from skeval.core.relational_context import RelationalContext
from skeval.stats.association import SideBySide
from skeval.steps.columns import cells, codes
from skeval.steps.foreign_keys import Path, column_of, path_positions, paths_up
from skeval.steps.pairs import Binning
from skeval.tables.preprocessing import NUMERIC
from skeval.tables.relational_data import NULL
from skeval.tables.relational_schema import RelationalSchema

Weight = Literal["child", "parent"]
SHUFFLED = "shuffled"  # the role of training data with shuffled links
_CHUNK = 65_536  # rows that are multiplied in one step


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
        """Return the measured columns of both sides without the columns of the key."""
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


def joins(
    relations: RelationalSchema,
    max_hops: int | None = 1,
    siblings: bool = False,
    weight: Weight = "child",
) -> list[Join]:
    """Return the joins of children with their ancestors, and of two parents of the same rows.

    For two parents, both directions are used if they differ, that is if each parent counts once.
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
    """Scores of all pairs of columns of a join, and their strength in the training data."""

    upper: list[str]
    lower: list[str]
    numeric: np.ndarray  # whether both are numbers or dates
    scores: np.ndarray
    strength: np.ndarray


@shared
def pair_scores(
    context: RelationalContext, join: Join, binning: Binning, weight: Weight, role: str
) -> Scored:
    """Return the similarity of the pairs of columns of a join between train and another role."""
    # Two numbers are compared by their correlation, and other pairs by their joint fractions,
    # like CorrelationSimilarity and ContingencySimilarity.
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
    lost = np.isnan(other) & ~np.isnan(one)  # a correlation that only train has counts as 0
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
    """Return the joint counts of the pairs of a join, except for pairs of two numbers."""
    positions, weights = link_rows(context, role, join, weight)
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
    """Return the correlations between the numbers of one side and of the other side."""
    # Rows with a missing or infinite value are skipped pair by pair. If a column does not vary,
    # the result is nan.
    positions, weights = link_rows(context, role, join, weight)
    kinds = [context.relations.tables[table].kinds for table in join.tables]
    sides = [
        [
            np.where(at >= 0, values[np.maximum(at, 0)], np.nan)
            for name in side
            if kind[name] in NUMERIC
            for values in [
                _standardize(column_of(context, _unshuffled_role(role), table, name).values)
            ]
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


def _standardize(values: np.ndarray) -> np.ndarray:
    finite = np.isfinite(values)
    if not finite.any():
        return np.full(values.shape, np.nan)
    scale = float(np.abs(values[finite]).max()) or 1.0  # squares of large numbers overflow
    values = np.where(finite, values / scale, np.nan)
    spread = float(values[finite].std())
    return (values - values[finite].mean()) / (spread or 1.0)


@shared
def link_rows(
    context: RelationalContext, role: str, join: Join, weight: Weight
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray | None]:
    """Return the positions of both sides of the rows with both keys, and their weights."""
    # A key that refers to no row has a negative position, and the values of that row count as
    # missing. With `weight="parent"`, each row of the upper side counts once, with any number of
    # rows, and orphans do not count. None means equal weights.
    own, n_rows = (
        _unshuffled_role(role),
        len(context.original_frame(_unshuffled_role(role))[join.base]),
    )
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


def _unshuffled_role(role: str) -> str:
    return "train" if role == SHUFFLED else role


def _source(context: RelationalContext, role: str, table: str) -> tuple[Context, str]:
    """Return the context of a table and the role to read, which is train for public tables."""
    whole = context if role == "synthetic" else cast("RelationalContext", context.real)
    own = whole.table(table)
    return own, _unshuffled_role(role) if _unshuffled_role(role) in own else "train"
