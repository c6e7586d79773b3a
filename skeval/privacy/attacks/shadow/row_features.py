"""A table as one vector: what distinguishes tables made with a row from tables made without it.

Rows come as numbers and codes of categories in one matrix, missing is nan. What columns may hold is
fixed beforehand, by a domain: an encoder that learned it from each table would give a row away by
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval.context import Context
from skeval.exceptions import SchemaMismatchError
from skeval.tables.frames import as_frame, canonical
from skeval.tables.preprocessing import category_codes, numbers
from skeval.tables.schema import TableSchema

_MADE = "a table that the generator made"
_FAR = 1e3  # ranges beyond the real rows; farther is as far
_MOST_LEVELS = 20
_FEWEST = 10  # rows of a level with an indicator of its own
_GRID = 2.0**32  # distances are rounded to the grid of the neighbour search
_NEAR = 0.05  # of the range: numbers that agree
_BLOCK = 2**20
_EVERY_SUBSET = 4096  # of them at most, all queries are listed


@dataclass(frozen=True)
class Reader:
    """From a table as a generator gave it to numbers and codes.

    Attributes
    ----------
    schema : TableSchema
        The kinds of the columns.
    levels : dict of str to list of str
        The real levels of the categories; all others are one.
    names : list of str
        The columns that are read, in their order.
    """

    schema: TableSchema
    levels: dict[str, list[str]]
    names: list[str]

    @classmethod
    def of(cls, context: Context) -> Reader:
        """Return a reader of all columns that are measured, by name."""
        return cls(context.schema, context.levels, sorted(context.schema.measured))

    @property
    def nominal(self) -> list[bool]:
        """Which of the columns are codes."""
        return [name in self.levels for name in self.names]

    def rows(self, table: Any) -> np.ndarray:
        """Return the matrix of a table; missing is nan.

        Raises
        ------
        SchemaMismatchError
            If columns are missing, or hold what cannot be read.
        """
        frame = as_frame(table, _MADE)
        if missing := [name for name in self.schema.kinds if name not in frame]:
            raise SchemaMismatchError(
                f"The generator made a table that lacks columns of train: {', '.join(missing)}."
            )
        frame = canonical(frame, self.schema, _MADE, self.levels)
        rows, is_code = np.empty((len(frame), len(self.names))), np.array(self.nominal)
        names = np.array(self.names, dtype=object)
        if not is_code.all():
            rows[:, ~is_code] = numbers(frame[names[~is_code].tolist()])
        if is_code.any():
            most = [len(self.levels[name]) for name in names[is_code]]
            rows[:, is_code] = np.minimum(category_codes(frame[names[is_code].tolist()]), most)
        return rows + 0.0  # no negative zero


@dataclass(frozen=True)
class Domain:
    """What columns may hold, which is public.

    Attributes
    ----------
    low, span : ndarray of shape (n_columns,)
        Least number and range; 0 and 0 for codes and columns without a number.
    nominal : ndarray of shape (n_columns,), bool
        Which columns are codes.
    levels : list of ndarray
        For codes those with an indicator of their own, ascending; the others share one.
    """

    low: np.ndarray
    span: np.ndarray
    nominal: np.ndarray
    levels: list[np.ndarray]

    @classmethod
    def of(cls, rows: np.ndarray, nominal: Sequence[bool]) -> Domain:
        """Read the domain off the whole pool of real rows."""
        is_code = np.asarray(nominal, dtype=np.bool_)
        present = np.isfinite(rows) & ~is_code
        low = np.where(present, rows, np.inf).min(axis=0)
        high = np.where(present, rows, -np.inf).max(axis=0)
        some = present.any(axis=0)
        levels = [
            _frequent(column) if code else np.empty(0, dtype=np.int64)
            for column, code in zip(rows.T, is_code, strict=True)
        ]
        span = np.where(some, high, 0.0) - np.where(some, low, 0.0)
        return cls(np.where(some, low, 0.0), span, is_code, levels)

    def scaled(self, rows: np.ndarray) -> np.ndarray:
        """Return numbers in ranges from the least one; where the range is 0, -1, 0 or 1."""
        centred = np.clip(rows - self.low, -1e300, 1e300)
        ratio = np.divide(centred, self.span, out=np.sign(centred), where=self.span > 1e-300)
        return np.clip(ratio, -_FAR, _FAR)

    def indicators(self, codes: np.ndarray, column: int) -> np.ndarray:
        """Return one column for each level, one for the others and one for missing."""
        levels, missing = self.levels[column], np.isnan(codes)
        known = np.column_stack([codes == level for level in levels] or [np.empty((len(codes), 0))])
        other = ~missing & ~known.astype(np.bool_).any(axis=1)
        return np.column_stack([known, other, missing]).astype(np.float64)


def _frequent(codes: np.ndarray) -> np.ndarray:
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
    order = np.argsort(-counts, kind="stable")
    return np.sort(order[: min(_MOST_LEVELS, int((counts >= _FEWEST).sum()))])


def naive_features(rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return mean, median, variance and share of missing of each number, the share of each level.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns)
        Of a synthetic table.
    domain : Domain
        What the columns may hold.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.row_features import Domain, naive_features
    >>> domain = Domain.of(np.array([[0.0], [10.0]]), [False])
    >>> naive_features(np.array([[0.0], [5.0], [10.0], [np.nan]]), domain).round(3).tolist()
    [0.5, 0.5, 0.167, 0.25]
    """

    def of_numbers(column: np.ndarray) -> np.ndarray:
        present = column[~np.isnan(column)]
        values = present if present.size else np.zeros(1)
        missing = 1.0 - present.size / len(rows)
        return np.array([values.mean(), np.median(values), values.var(), missing])

    return _by_column(rows, domain, of_numbers)


def _by_column(
    rows: np.ndarray, domain: Domain, of_numbers: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the shares of the levels of each category, and features of each scaled number."""
    scaled = domain.scaled(rows)
    return np.concatenate(
        [
            domain.indicators(rows[:, j], j).mean(axis=0) if nominal else of_numbers(scaled[:, j])
            for j, nominal in enumerate(domain.nominal)
        ]
    )


def hist_features(rows: np.ndarray, domain: Domain, n_bins: int = 10) -> np.ndarray:
    """Return the share of rows in each bin, in order; of categories that of each level.

    Numbers have bins of equal width over the domain, one below it, one above and one for missing.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.row_features import Domain, hist_features
    >>> domain = Domain.of(np.array([[0.0], [10.0]]), [False])
    >>> hist_features(np.array([[-1.0], [1.0], [10.0], [11.0]]), domain, n_bins=2).tolist()
    [0.25, 0.25, 0.25, 0.25, 0.0]
    """

    def of_numbers(values: np.ndarray) -> np.ndarray:
        missing = np.isnan(values)
        inside = np.minimum(np.floor(np.where(missing, 0.0, values) * n_bins), n_bins - 1) + 1
        bins = np.where(values < 0, 0, np.where(values > 1, n_bins + 1, inside))
        bins = np.where(missing, n_bins + 2, bins).astype(np.int64)
        return np.bincount(bins, minlength=n_bins + 3) / len(rows)

    return _by_column(rows, domain, of_numbers)


def corr_features(rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the correlations of all pairs of numbers and levels; 0 where one does not vary.

    Missing numbers stand at their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.row_features import Domain, corr_features
    >>> rows = np.array([[0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [2.0, 0.0, 1.0]])
    >>> corr_features(rows, Domain.of(rows, [False] * 3)).round(6).tolist()
    [-1.0, 0.0, 0.0]
    """
    scaled, parts = domain.scaled(rows), []
    for j, nominal in enumerate(domain.nominal):
        if nominal:
            parts.append(domain.indicators(rows[:, j], j))
            continue
        values = scaled[:, [j]]
        missing = np.isnan(values)
        mean = values[~missing].mean() if not missing.all() else 0.0
        parts.append(np.where(missing, mean, values))
    design = np.hstack(parts)
    centred = design - design.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    varies = norms > 1e-9 * np.sqrt(len(rows))
    unit = np.divide(centred, norms, out=np.zeros_like(centred), where=varies)
    return (unit.T @ unit)[np.triu_indices(len(norms), k=1)]


def row_distances(rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
    """Return Gower's distance of rows to one row.

    The mean over columns of differences in ranges, capped at 1; categories and missing values
    differ or not.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.row_features import Domain, row_distances
    >>> rows = np.array([[0.0, 0.0], [10.0, 1.0], [np.nan, 1.0]])
    >>> row_distances(rows, np.array([5.0, 1.0]), Domain.of(rows, [False, True])).tolist()
    [0.75, 0.25, 0.5]
    """
    differ = np.where(np.isnan(target), ~np.isnan(rows), rows != target)
    scales = ~domain.nominal & (domain.span > 1e-300) & ~np.isnan(target)
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite values
        gaps = np.abs(rows - target) / np.where(scales, domain.span, 1.0)
    capped = np.where(scales & ~np.isnan(gaps), np.minimum(gaps, 1.0), differ)
    return np.round(capped.sum(axis=1) * _GRID) / _GRID / rows.shape[1]


def closest_features(
    rows: np.ndarray, target: np.ndarray, radii: Sequence[float], domain: Domain, k: int = 5
) -> np.ndarray:
    """Return the distances of a row to its k nearest rows, and the log number within some radii.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.row_features import Domain, closest_features
    >>> rows = np.array([[0.0], [4.0], [10.0]])
    >>> domain = Domain.of(rows, [False])
    >>> closest_features(rows, np.array([5.0]), [0.2], domain, k=2).round(3).tolist()
    [0.1, 0.5, 0.693]
    """
    distances = np.sort(row_distances(rows, target, domain))
    nearest = distances[np.minimum(np.arange(k), distances.size - 1)]
    within = np.searchsorted(distances, np.asarray(radii), side="right")
    return np.concatenate([nearest, np.log1p(within)])


@dataclass(frozen=True)
class Queries:
    """Questions on how many rows agree with one row in some columns.

    Categories agree where they are equal, numbers where they are near, or at most, or at least the
    number of the row: which of these, a question says for each of its columns.

    Attributes
    ----------
    asked : ndarray of shape (3 * n_columns, n_queries), bool
        Which conditions a question puts: near or equal in each column, then at most, then at least.
    """

    asked: np.ndarray

    @classmethod
    def draw(
        cls, nominal: Sequence[bool], n_queries: int, seed: int, *, always: int | None = None
    ) -> Queries:
        """Draw questions: all there are if these are no more than `n_queries`.

        Parameters
        ----------
        nominal : sequence of bool
            Which columns are codes.
        n_queries : int
            How many at most.
        seed : int
            Of the draw.
        always : int, optional
            A column that each question is about, by equality or nearness.

        Returns
        -------
        Queries
            The first is about all columns by equality or nearness.
        """
        n_ways = np.where(np.asarray(nominal), 2, 4)  # not asked, near, at most, at least
        if always is not None:
            n_ways[always] = 1
        total = float(np.prod(n_ways.astype(np.float64)))
        if total <= min(n_queries + 1, _EVERY_SUBSET):
            ways = np.stack(np.unravel_index(np.arange(int(total)), n_ways), axis=1)
        else:
            ways = _drawn_ways(n_ways, n_queries, np.random.default_rng(seed))
        if always is not None:
            ways[:, always] = 1
        ways = ways[ways.any(axis=1)]
        first = (ways == 1).all(axis=1)
        ways = np.concatenate([np.ones((1, n_ways.size), dtype=np.int64), ways[~first]])
        return cls(np.hstack([ways == way for way in (1, 2, 3)]).T[:, :n_queries])

    def features(self, rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
        """Return the log of one plus the number of rows that each question counts.

        Examples
        --------
        >>> import numpy as np
        >>> from skeval.privacy.attacks.shadow.row_features import Domain, Queries
        >>> rows = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        >>> queries = Queries.draw([True, True], 10, seed=0)
        >>> counts = np.expm1(queries.features(rows, rows[0], Domain.of(rows, [True, True])))
        >>> counts.round(6).tolist()
        [1.0, 1.0, 2.0]
        """
        met = _conditions(rows, target, domain)
        patterns, places = np.unique(np.packbits(met, axis=1), axis=0, return_inverse=True)
        weights = np.bincount(places.ravel(), minlength=len(patterns)).astype(np.float64)
        distinct = np.unpackbits(patterns, axis=1, count=met.shape[1]).astype(np.float32)
        asked = self.asked.astype(np.float32)
        needed, counts = asked.sum(axis=0), np.zeros(asked.shape[1])
        width = max(1, _BLOCK // asked.shape[1])
        for start in range(0, len(distinct), width):
            fits = distinct[start : start + width] @ asked >= needed
            counts += weights[start : start + width] @ fits
        return np.log1p(counts)


def _drawn_ways(n_ways: np.ndarray, n_queries: int, rng: np.random.Generator) -> np.ndarray:
    """Return distinct ways to ask: subsets of columns of a uniform size, each in a random way."""
    p, n_drawn = n_ways.size, 2 * n_queries
    sizes = rng.integers(1, p + 1, size=(n_drawn, 1))
    chosen = rng.random((n_drawn, p)).argsort(axis=1).argsort(axis=1) < sizes
    way = 1 + np.floor(rng.random((n_drawn, p)) * (n_ways - 1)).astype(np.int64)
    ways = np.where(chosen, way, 0)
    _, first = np.unique(ways, axis=0, return_index=True)
    return ways[np.sort(first)][:n_queries]


def _conditions(rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
    """Return which rows are near or equal, at most and at least the target, column by column."""
    missing = np.isnan(target)
    below, above = (
        np.where(missing, np.isnan(rows), part) for part in (rows <= target, rows >= target)
    )
    return np.hstack([agreeing(rows, target, domain), below, above])


def equal_cells(rows: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return which cells equal those of one row; missing equals missing."""
    return (rows == target) | (np.isnan(rows) & np.isnan(target))


def agreeing(rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
    """Return which cells equal those of one row, or are near it where they are numbers."""
    with np.errstate(invalid="ignore"):  # of infinite values
        near = np.abs(rows - target) <= _NEAR * domain.span
    return equal_cells(rows, target) | (near & ~domain.nominal)


def agreement_scores(points: np.ndarray, rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the log of the mean number of column subsets in which rows agree with each point.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_columns)
        Records that are attacked.
    rows : ndarray of shape (n_rows, n_columns)
        Of a synthetic table.
    domain : Domain
        What the columns may hold; numbers agree within a twentieth of the range.

    Returns
    -------
    ndarray of shape (n_points,)
        A row that agrees in a columns does so in ``2^a`` subsets of them: what counts over all
        subsets sum to.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.row_features import Domain, agreement_scores
    >>> rows = np.array([[0.0, 0.0], [0.0, 1.0]])
    >>> domain = Domain.of(rows, [True, True])
    >>> np.exp(agreement_scores(rows[:1], rows, domain)).round(6).tolist()
    [3.0]
    """
    scores = np.empty(len(points))
    width = max(1, _BLOCK // len(rows))
    for start in range(0, len(points), width):
        block = points[start : start + width]
        agreed = np.zeros((len(block), len(rows)), dtype=np.float32)
        for j, nominal in enumerate(domain.nominal):
            own, others = block[:, [j]], rows[:, j]
            with np.errstate(invalid="ignore"):  # of infinite values
                near = np.abs(own - others) <= (0.0 if nominal else _NEAR * domain.span[j])
            agreed += near | (own == others) | (np.isnan(own) & np.isnan(others))
        most = agreed.max(axis=1, keepdims=True)
        sums = np.exp2(agreed - most).sum(axis=1, dtype=np.float64)
        scores[start : start + width] = most[:, 0] * np.log(2.0) + np.log(sums / len(rows))
    return scores
