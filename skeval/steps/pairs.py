"""Joint counts, associations and correlations of all pairs of columns, once per role."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from skeval.core.context import Context, by_context, shared
from skeval.stats.association import SideBySide
from skeval.stats.correlation import Correlations, correlation_matrix, correlation_ratios
from skeval.stats.distributions import hypergeometric_deviation
from skeval.steps.columns import ROLES, cells, codes
from skeval.steps.samples import drawn_positions, named_seed
from skeval.tables.preprocessing import NOMINAL, NUMERIC, Discretizer
from skeval.utils.parameters import Strategy

P = ParamSpec("P")
M = TypeVar("M")
# rows that are counted in one step, so that their codes stay in the cache for all pairs
_CHUNK = 8_192
# cells that are counted in one call, so that they stay in the cache and calls are few
_COUNTED = 65_536
# maximum number of joint cells in memory (0.25 GB), above which tables are counted on demand
_MAX_CELLS = 2**26
# maximum number of joint cells of a half of the rows, above which metrics do not share the counts
_MAX_KEPT = 2**20


class Binning(NamedTuple):
    """Parameters of the :class:`~skeval.tables.preprocessing.Discretizer` of values."""

    n_bins: int = 10
    strategy: Strategy = "uniform"
    max_categories: int = 50


class Drawn(NamedTuple):
    """The number of rows to use, or None for all, and the seed that draws them."""

    max_rows: int | None = None
    seed: int = 0


ALL_ROWS = Drawn()


def in_name_order(step: Callable[P, M]) -> Callable[P, M]:
    """Sort the `names` of a step of all pairs, because their order has no meaning.

    The step returns a matrix, or a tuple of matrices, with a row and a column for each name.
    """
    signature = inspect.signature(step)

    @functools.wraps(step)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> M:
        bound = signature.bind(*args, **kwargs)
        names = bound.arguments["names"]
        ordered = tuple(sorted(names))
        if tuple(names) == ordered:
            return step(*args, **kwargs)
        bound.arguments["names"] = ordered
        result: Any = step(*bound.args, **bound.kwargs)
        at = [ordered.index(name) for name in names]
        if isinstance(result, tuple):
            return cast("M", type(result)(*(matrix[np.ix_(at, at)] for matrix in result)))
        return cast("M", result[np.ix_(at, at)])

    return wrapper


def row_positions(context: Context, role: str, drawn: Drawn) -> np.ndarray | slice:
    """Return the positions of a role's rows that are used."""
    if drawn.max_rows is None or drawn.max_rows >= context.n_rows(role):
        return slice(None)
    return drawn_positions(context, role, drawn.max_rows, named_seed(role, drawn.seed))


@dataclass(frozen=True)
class JointTables:
    """The contingency tables of all pairs of a role's columns."""

    n_cells: tuple[int, ...]
    missing: tuple[int, ...]
    single: tuple[np.ndarray, ...]
    blocks: tuple[np.ndarray, ...]
    codes: np.ndarray

    @classmethod
    def from_codes(
        cls, matrix: np.ndarray, n_cells: tuple[int, ...], missing: tuple[int, ...]
    ) -> JointTables:
        """Count the codes of all pairs in one pass over the rows."""
        single = tuple(
            np.bincount(column, minlength=n) for column, n in zip(matrix.T, n_cells, strict=True)
        )
        if cls.too_many(n_cells):
            return cls(n_cells, missing, single, (), matrix)
        blocks = tuple(_count(matrix, n_cells, range(len(n_cells))))
        return cls(n_cells, missing, single, blocks, np.empty((0, len(n_cells)), dtype=np.int64))

    @staticmethod
    def too_many(n_cells: tuple[int, ...], most: int = _MAX_CELLS) -> bool:
        """Return whether there are too many joint cells to keep their counts."""
        return sum(n * sum(n_cells[i + 1 :]) for i, n in enumerate(n_cells)) > most

    @classmethod
    def add_parts(cls, parts: list[JointTables]) -> JointTables:
        """Return the counts of a whole table from the counts of its parts."""
        single = tuple(
            np.sum(counts, axis=0) for counts in zip(*(p.single for p in parts), strict=True)
        )
        kind = np.min_scalar_type(int(single[0].sum()) if single else 0)
        blocks = tuple(
            np.sum(counts, axis=0, dtype=kind)
            for counts in zip(*(p.blocks for p in parts), strict=True)
        )
        return replace(parts[0], single=single, blocks=blocks)

    def starts(self, i: int) -> np.ndarray:
        """Return the start of the table with each later column in the block of column i."""
        return self._offsets[i + 1 : -1] - self._offsets[i + 1]

    @cached_property
    def _offsets(self) -> np.ndarray:
        return np.cumsum([0, *self.n_cells])

    def block(self, i: int, nan: str = "own") -> np.ndarray:
        """Return the adjacent tables of column i with all later columns.

        With ``nan="drop"``, a row is not counted for a pair in which it has a missing value.
        """
        block = self.blocks[i] if self.blocks else _count(self.codes, self.n_cells, [i])[0]
        counts = block.astype(np.int64)
        if nan == "drop":
            counts[self.missing[i]] = 0
            counts[:, self.starts(i) + self.missing[i + 1 :]] = 0
        return counts

    @cached_property
    def _used(self) -> dict[tuple[int, str], tuple[np.ndarray, np.ndarray]]:
        return {}

    def cells_in_use(self, i: int, nan: str) -> tuple[np.ndarray, np.ndarray]:
        """Return which cells of column i and of the later columns each table of a block uses."""
        if (i, nan) not in self._used:
            block = self.block(i, nan)
            rows = np.add.reduceat(block, self.starts(i), axis=1)
            self._used[i, nan] = rows > 0, block.sum(axis=0) > 0
        return self._used[i, nan]

    def column(self, i: int, nan: str = "own") -> np.ndarray:
        """Return the counts of one column's cells."""
        counts = self.single[i].copy()
        if nan == "drop":
            counts[self.missing[i]] = 0
        return counts

    def n_rows(self, nan: str = "own") -> np.ndarray:
        """Return the number of counted rows of each pair above the diagonal, and 0 elsewhere."""
        n_rows = np.zeros((len(self.n_cells), len(self.n_cells)), dtype=np.int64)
        for i in range(len(self.n_cells) - 1):
            n_rows[i, i + 1 :] = np.add.reduceat(self.block(i, nan).sum(axis=0), self.starts(i))
        return n_rows

    def vary(self, nan: str = "own") -> np.ndarray:
        """Return which columns have at least two cells."""
        used = [(self.column(i, nan) > 0).sum() > 1 for i in range(len(self.n_cells))]
        return np.array(used, dtype=bool)

    def pairs(self, nan: str = "own") -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield the positions of two columns in ascending order, and their table."""
        for i in range(len(self.n_cells) - 1):
            tables = np.split(self.block(i, nan), self.starts(i)[1:], axis=1)
            for j, table in enumerate(tables, start=i + 1):
                yield i, j, table


def _count(matrix: np.ndarray, n_cells: tuple[int, ...], which: Sequence[int]) -> list[np.ndarray]:
    """Return the blocks of some columns, in the smallest integer type."""
    kind = np.min_scalar_type(len(matrix))
    blocks = [np.zeros((n_cells[i], sum(n_cells[i + 1 :])), dtype=kind) for i in which]
    first, starts = min(which, default=0), np.cumsum([0, *n_cells])
    for at in range(0, len(matrix), _CHUNK):
        chunk = np.ascontiguousarray(matrix[at : at + _CHUNK, first:].T, dtype=np.int64)
        shifted = chunk + starts[first:-1, None]
        at_once = max(1, _COUNTED // chunk.shape[1])  # columns
        for i, block in zip(which, blocks, strict=True):
            for j in range(i + 1, len(n_cells), at_once):
                end = min(j + at_once, len(n_cells))
                width = starts[end] - starts[j]
                cell = shifted[j - first : end - first] + (chunk[i - first] * width - starts[j])
                counts = np.bincount(cell.ravel(), minlength=n_cells[i] * width)
                here = slice(starts[j] - starts[i + 1], starts[end] - starts[i + 1])
                block[:, here] += counts.astype(kind).reshape(n_cells[i], width)
    return blocks


@shared
def joint_tables(
    context: Context, role: str, names: tuple[str, ...], binning: Binning, drawn: Drawn = ALL_ROWS
) -> JointTables:
    """Return the joint counts of a role's columns, with cells learned from the training data."""
    measured = context.schema.measured
    at = [measured.index(name) for name in names]
    n_cells, missing = cell_numbers(cells(context, *binning), names)
    matrix = codes(context, role, *binning)
    matrix = matrix[row_positions(context, role, drawn)]
    matrix = matrix if at == list(range(len(measured))) else matrix[:, at]
    return JointTables.from_codes(matrix, n_cells, missing)


def tables_read_once(
    context: Context, role: str, names: tuple[str, ...], binning: Binning, drawn: Drawn = ALL_ROWS
) -> JointTables:
    """Return `joint_tables`, without keeping large tables of halves."""
    # A metric reads the tables of 20 halves of synthetic and holdout rows, and reads each once.
    n_cells, _ = cell_numbers(cells(context, *binning), names)
    is_half = role == "synthetic" and "train" in context.taken
    is_large = JointTables.too_many(n_cells, _MAX_KEPT)
    count = joint_tables.ordinary if is_half and is_large else joint_tables
    tables: JointTables = count(context, role, names, binning, drawn)
    return tables


def cell_numbers(
    cut: Discretizer, names: tuple[str, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the number of cells of columns, and the cell of missing values."""
    own = [cut.cells_[name] for name in names]
    return tuple(cells.n_cells for cells in own), tuple(cells.n_own + 1 for cells in own)


class Compared(NamedTuple):
    """Results for all columns and pairs, each of shape (n_columns, n_columns)."""

    similarity: np.ndarray
    ceiling: np.ndarray


def matrices(
    context: Context,
    names: tuple[str, ...],
    binning: Binning,
    nan: str = "own",
    drawn: Drawn = ALL_ROWS,
) -> Compared:
    """Return the similarity matrix and its ceiling."""
    settings = (names, binning, nan, drawn)
    return Compared(similarity_matrix(context, *settings), ceiling_matrix(context, *settings))


@shared
@in_name_order
def similarity_matrix(
    context: Context,
    names: tuple[str, ...],
    binning: Binning,
    nan: str = "own",
    drawn: Drawn = ALL_ROWS,
) -> np.ndarray:
    """Return the similarity of all columns and pairs, which is symmetric."""
    train, synthetic = (tables_read_once(context, role, names, binning, drawn) for role in ROLES)
    return _of_columns_and_pairs(_similarities, train, synthetic, nan)


@shared
@in_name_order
def ceiling_matrix(
    context: Context, names: tuple[str, ...], binning: Binning, nan: str, drawn: Drawn
) -> np.ndarray:
    """Return the similarity that two samples of one population reach."""
    train, synthetic = (joint_tables(context, role, names, binning, drawn) for role in ROLES)
    return _of_columns_and_pairs(_ceilings, train, synthetic, nan)


def _of_columns_and_pairs(
    compare: Callable[..., np.ndarray], train: JointTables, synthetic: JointTables, nan: str
) -> np.ndarray:
    """Return a comparison of the counts of all columns and pairs as a symmetric matrix."""
    n_columns, first = len(train.n_cells), np.array([0])
    compared = np.full((n_columns, n_columns), np.nan)
    for i in range(n_columns):
        p, q = (tables.column(i, nan)[None, :] for tables in (train, synthetic))
        compared[i, i] = compare(p, q, first, _sizes(p, q, first))[0]
        if i + 1 < n_columns:
            p, q, starts = train.block(i, nan), synthetic.block(i, nan), train.starts(i)
            compared[i, i + 1 :] = compare(p, q, starts, _sizes(p, q, starts))
            compared[i + 1 :, i] = compared[i, i + 1 :]
    return compared


@shared
def pair_similarities(context: Context, names: tuple[str, ...], binning: Binning) -> np.ndarray:
    """Return the similarity of each pair of columns, in order, without its ceiling."""
    train, synthetic = (joint_tables(context, role, names, binning) for role in ROLES)
    rows = []
    for i in range(len(names) - 1):
        p, q = (tables.block(i) for tables in (train, synthetic))
        rows.append(_similarities(p, q, train.starts(i), _sizes(p, q, train.starts(i))))
    return np.concatenate(rows)


def _sizes(p: np.ndarray, q: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the numbers of rows of each pair of adjacent tables, and of each column."""
    widths = np.append(starts[1:], p.shape[1]) - starts
    n, m = (np.add.reduceat(counts.sum(axis=0), starts) for counts in (p, q))
    return n, m, *(np.repeat(np.maximum(size, 1), widths) for size in (n, m))


def _similarities(
    p: np.ndarray, q: np.ndarray, starts: np.ndarray, sizes: tuple[np.ndarray, ...]
) -> np.ndarray:
    """Return the similarity of adjacent tables, nan if both are empty, and 0 if one is empty."""
    n, m, of_p, of_q = sizes
    difference = np.abs(p * of_q - q * of_p).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # empty tables
        similarity: np.ndarray = 1.0 - np.add.reduceat(difference, starts) / (2 * n * m)
    similarity[(n == 0) | (m == 0)] = 0.0
    similarity[(n == 0) & (m == 0)] = np.nan
    return similarity


def _ceilings(
    p: np.ndarray, q: np.ndarray, starts: np.ndarray, sizes: tuple[np.ndarray, ...]
) -> np.ndarray:
    """Return the ceiling of the similarity of adjacent tables, or nan if one of them is empty."""
    # These are the sums of stats/distributions.py without a loop over the pairs.
    n, m, *_ = sizes
    with np.errstate(divide="ignore", invalid="ignore"):  # empty tables
        expected = _deviations(p + q, n, m, starts) * (1.0 / n + 1.0 / m) / 2.0
    return np.where((n == 0) | (m == 0), np.nan, 1.0 - expected)


def _deviations(pooled: np.ndarray, n: np.ndarray, m: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the mean deviation of the cells of adjacent tables over relabelings."""
    widths = np.append(starts[1:], pooled.shape[1]) - starts
    sums = np.zeros(len(starts))
    for sizes in np.unique(
        np.stack([n, m], axis=1), axis=0
    ):  # only one pair of sizes if no value is missing
        of_sizes = (n == sizes[0]) & (m == sizes[1])
        # in row order in memory, because the order of the sum below depends on it
        counts = np.ascontiguousarray(pooled[:, np.repeat(of_sizes, widths)])
        cells, inverse = _distinct(counts)
        deviation = hypergeometric_deviation(cells, int(sizes[0]), int(sizes[1]))[inverse]
        inner = np.cumsum([0, *widths[of_sizes][:-1]])
        sums[of_sizes] = np.add.reduceat(deviation.reshape(len(pooled), -1).sum(axis=0), inner)
    return sums


def _distinct(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct counts in order, and the position of the count of each cell."""
    most = int(counts.max(initial=0))
    if most > counts.size:
        return np.unique(counts, return_inverse=True)
    occurs = np.zeros(most + 1, dtype=bool)
    occurs[counts] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[counts]


@shared
@in_name_order
def cramers_v_matrix(
    context: Context,
    role: str,
    names: tuple[str, ...],
    binning: Binning,
    bias_correction: bool = True,
    nan: str = "own",
    drawn: Drawn = ALL_ROWS,
) -> np.ndarray:
    """Return Cramer's V of all pairs of a role's columns."""
    tables, of_train = (joint_tables(context, r, names, binning, drawn) for r in (role, "train"))
    return association_matrix(
        tables, nan, lambda pair: pair.cramers_v(bias_correction=bias_correction), of_train
    )


@shared
@in_name_order
def theils_u_matrix(
    context: Context, role: str, names: tuple[str, ...], binning: Binning, nan: str = "own"
) -> np.ndarray:
    """Return Theil's U of each column (row) given each other (column)."""
    return association_matrix(joint_tables(context, role, names, binning), nan, SideBySide.theils_u)


@shared
@in_name_order
def mutual_information_matrix(
    context: Context,
    role: str,
    names: tuple[str, ...],
    binning: Binning,
    average: str = "arithmetic",
    correction: str | None = "miller-madow",
    nan: str = "own",
) -> np.ndarray:
    """Return the normalized mutual information of all pairs of columns."""
    tables = joint_tables(context, role, names, binning)
    return association_matrix(
        tables, nan, lambda pair: pair.normalized_information(average, correction)
    )


def association_matrix(
    tables: JointTables,
    nan: str,
    measure: Callable[[SideBySide], np.ndarray],
    reference: JointTables | None = None,
) -> np.ndarray:
    """Return a measure of all pairs, with 1 on the diagonal for columns that vary, or nan."""
    n_columns = len(tables.n_cells)
    matrix = np.full((n_columns, n_columns), np.nan)
    for i in range(n_columns - 1):
        starts = tables.starts(i)
        # a table uses its own cells anyway
        used = None if reference is None or reference is tables else reference.cells_in_use(i, nan)
        strength = measure(SideBySide(tables.block(i, nan), starts, used))
        # a measure that is not symmetric is returned as two rows
        matrix[i, i + 1 :], matrix[i + 1 :, i] = np.broadcast_to(strength, (2, n_columns - 1 - i))
    np.fill_diagonal(matrix, np.where(tables.vary(nan), 1.0, np.nan))
    return matrix


@shared
@in_name_order
def correlations(
    context: Context,
    role: str,
    names: tuple[str, ...],
    method: str = "pearson",
    drawn: Drawn = ALL_ROWS,
) -> Correlations:
    """Return the correlations of a role's numerical and datetime columns."""
    rows = row_positions(context, role, drawn)
    return correlation_matrix(numbers_of(context, role, names)[rows], method)


@by_context
def numbers_of(context: Context, role: str, names: tuple[str, ...]) -> np.ndarray:
    """Return a role's numbers, with dates in seconds, in column order in memory."""
    values = np.empty((context.n_rows(role), len(names)), order="F")
    return filled_with_numbers(values, context, role, names)


def filled_with_numbers(
    values: np.ndarray, context: Context, role: str, names: tuple[str, ...]
) -> np.ndarray:
    """Return an array with the numbers of columns written to it."""
    for j, name in enumerate(names):
        values[:, j] = context.numbers(role, name)
    return values


@shared
@in_name_order
def correlation_ratio_matrix(
    context: Context, role: str, names: tuple[str, ...], binning: Binning
) -> np.ndarray:
    """Return the correlation ratios of a role's named columns, symmetric."""
    # The ratio is nan if a pair is not a category and a number, or if one of them does not vary.
    # The diagonal is 1 for columns that vary, and nan for others.
    schema = context.schema
    factors = [i for i, name in enumerate(names) if name in schema.columns(*NOMINAL)]
    measures = [i for i, name in enumerate(names) if name in schema.columns(*NUMERIC)]
    matrix = np.full((len(names), len(names)), np.nan)
    at = [schema.measured.index(names[i]) for i in factors]
    groups = codes(context, role, *binning)[:, at]
    n_groups = cells(context, *binning).n_cells_[at]
    values = numbers_of(context, role, tuple(names[i] for i in measures))
    matrix[np.ix_(factors, measures)] = correlation_ratios(groups, n_groups, values)
    matrix[np.ix_(measures, factors)] = matrix[np.ix_(factors, measures)].T
    for at_names, columns in ((factors, groups), (measures, values)):
        varies = [_varies(column[np.isfinite(column)]) for column in columns.T]
        matrix[at_names, at_names] = np.where(varies, 1.0, np.nan)
    return matrix


def _varies(values: np.ndarray) -> bool:
    return values.size > 0 and bool(values.min() < values.max())
