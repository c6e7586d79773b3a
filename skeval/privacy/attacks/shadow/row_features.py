"""Features of a table that distinguish tables made with a row from tables made without it.

Rows are a matrix of numbers and category codes, with nan for missing values. A domain fixes the
possible values of the columns in advance, because an encoder that is fitted to each table would
itself reveal whether the row is present.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.context import Context
from skeval.exceptions import SchemaMismatchError
from skeval.tables.frames import column_values, read_as
from skeval.tables.oddities import Oddities
from skeval.tables.one_table import as_frame
from skeval.tables.schema import TableSchema

_MADE = "a table that the generator made"
_DATES = (np.dtype("datetime64[us]"), np.dtype("datetime64[ns]"))
_OBJECT = np.dtype(object)
_LARGEST = 2.0**1022  # differences between larger numbers may overflow
_FAR = 1e3  # scaled numbers are clipped here
_MAX_LEVELS = 20
_MIN_LEVEL_ROWS = 10  # minimum number of rows of a category with its own indicator
_GRID = 2.0**32  # distances are rounded to the grid of the neighbor search
_NEAR = 0.05  # numbers within this fraction of the range agree
_BLOCK = 2**16  # pairs per block (half a megabyte, which fits the cache)
_WIDTH = 64  # columns that are squared together
_STEP = 8  # conditions per step
_N_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
_EVERY_SUBSET = 4096  # up to this number, all queries are listed


@dataclass(frozen=True)
class Reader:
    """Conversion of generated tables into numbers and codes."""

    schema: TableSchema
    levels: dict[str, list[str]]
    names: list[str]

    @classmethod
    def from_context(cls, context: Context) -> Reader:
        """Return a reader of all measured columns, sorted by name."""
        return cls(context.schema, context.levels, sorted(context.schema.measured))

    @property
    def nominal(self) -> list[bool]:
        """Which of the columns are codes."""
        return [name in self.levels for name in self.names]

    def rows(self, table: Any) -> np.ndarray:
        """Return the matrix of a table, with nan for missing values."""
        frame = as_frame(table, _MADE)
        if missing := [name for name in self.schema.kinds if name not in frame]:
            raise SchemaMismatchError(
                "The generated table is missing columns of the training data: "
                f"{', '.join(missing)}."
            )
        columns = np.empty((len(self.names), len(frame)))
        dtypes = dict(zip(frame.columns, frame.dtypes, strict=True))
        alike: dict[Any, list[int]] = {}
        others = []
        for j, name in enumerate(self.names):
            kind, dtype = self.schema.kinds[name], dtypes[name]
            if name in self.levels:
                codes = known_codes(frame[name], self._places[name])
                if codes is None:
                    others.append(j)
                else:
                    columns[j] = codes
            elif _is_plain(kind, dtype):
                alike.setdefault(dtype, []).append(j)
            else:
                others.append(j)
        for places in alike.values():  # process all columns of a type together
            columns[places] = _plain_numbers(frame[[self.names[j] for j in places]]).T
        if others:
            columns[others] = self._read_singly(frame, [self.names[j] for j in others]).T
        return np.add(columns.T, 0.0, order="C")  # no negative zero

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        """The code of each level."""
        return {
            name: {label: i for i, label in enumerate(own)} for name, own in self.levels.items()
        }

    def _read_singly(self, frame: pd.DataFrame, names: list[str]) -> np.ndarray:
        """Return columns that must be converted, or that contain unknown categories."""
        oddities = Oddities(self.schema, _MADE)
        read = read_as(frame, self.schema, self.levels, names=names, oddities=oddities)
        oddities.notices()  # raises an error if nothing can be read
        most = {name: len(own) for name, own in self.levels.items()}
        return np.column_stack(
            [np.minimum(column_values(read[name]), most.get(name, np.inf)) for name in names]
        )


def known_codes(values: pd.Series, places: Mapping[str, int]) -> np.ndarray | None:
    """Return the codes of labels with nan for missing values, or None for an unknown label."""
    labels: Sequence[Any]
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes, labels = values.array.codes, dtype.categories.to_numpy(dtype=object)
    elif isinstance(dtype, np.dtype) and dtype.kind == "b":
        codes, labels = values.to_numpy().astype(np.intp), ("False", "True")
    elif isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow":
        return _codes_in_arrow(values.array, places)
    elif isinstance(dtype, pd.StringDtype) or dtype == _OBJECT:
        try:
            codes, labels = pd.factorize(values, use_na_sentinel=True)
        except TypeError:
            return None
    else:
        return None
    if not all(isinstance(label, str) and label in places for label in labels):
        return None
    return np.array([*(places[label] for label in labels), np.nan])[codes]


def _codes_in_arrow(values: Any, places: Mapping[str, int]) -> np.ndarray | None:
    """Return the codes of Arrow strings, without creating Python strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = values.__arrow_array__()
    found = pc.index_in(cells, value_set=pa.array(list(places), type=cells.type))
    if found.null_count > cells.null_count:
        return None
    positions = np.nan_to_num(np.asarray(found, dtype=np.float64), nan=-1.0).astype(np.intp)
    return np.array([*places.values(), np.nan])[positions]


def _is_plain(kind: str, dtype: Any) -> bool:
    """Return whether a cast is sufficient to read a column of a kind."""
    if not isinstance(dtype, np.dtype):
        return False
    return dtype.kind in "iuf" if kind == "continuous" else dtype in _DATES


def _plain_numbers(frame: pd.DataFrame) -> np.ndarray:
    """Return columns of one plain type, with infinity for numbers whose differences overflow."""
    if frame.dtypes.iloc[0].kind == "M":
        dates = frame.to_numpy().astype("datetime64[us]")
        return np.where(np.isnat(dates), np.nan, dates.astype(np.int64) / 1e6)
    values = frame.to_numpy().astype(np.float64)
    beyond = np.abs(values) > _LARGEST
    return np.where(beyond, np.copysign(np.inf, values), values) if beyond.any() else values


@dataclass(frozen=True)
class Domain:
    """Possible values of the columns, which are public."""

    low: np.ndarray
    span: np.ndarray
    nominal: np.ndarray
    levels: list[np.ndarray]

    @classmethod
    def from_rows(cls, rows: np.ndarray, nominal: Sequence[bool]) -> Domain:
        """Return the domain of all real rows."""
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

    def take(self, columns: np.ndarray) -> Domain:
        """Return the domain of some columns."""
        levels = [self.levels[j] for j in columns]
        return Domain(self.low[columns], self.span[columns], self.nominal[columns], levels)

    def scale_rows(self, rows: np.ndarray) -> np.ndarray:
        """Scale numbers so that the domain is [0, 1]. A constant column has values -1, 0 and 1."""
        centred = np.clip(rows - self.low, -1e300, 1e300)
        ratio = np.divide(centred, self.span, out=np.sign(centred), where=self.span > 1e-300)
        return np.clip(ratio, -_FAR, _FAR)

    def scaled_numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return the scaled numbers, with one row per numerical column."""
        own = ~self.nominal
        part = Domain(self.low[own], self.span[own], self.nominal[own], [])
        return np.ascontiguousarray(part.scale_rows(rows[:, own]).T)

    @cached_property
    def _codes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The indicator of each code, with the first and last position of each column."""
        ids, n_before = [], 0
        for own in (own for own, code in zip(self.levels, self.nominal, strict=True) if code):
            mine = np.full(int(own.max(initial=-1)) + 3, own.size)
            mine[own], mine[-1] = np.arange(own.size), own.size + 1  # others and missing come last
            ids.append(mine + n_before)
            n_before += own.size + 2
        ends = np.cumsum([mine.size for mine in ids], dtype=np.int64)
        return np.concatenate(ids or [ends]), np.append(0, ends[:-1])[: ends.size], ends

    def indicators(self, rows: np.ndarray) -> np.ndarray:
        """Return the indicator of each code: a frequent category, other or missing."""
        ids, starts, ends = self._codes
        codes = rows[:, self.nominal]
        places = np.where(np.isnan(codes), ends - 1.0, np.fmin(starts + codes, ends - 2.0))
        return ids[places.astype(np.intp)]

    def shares(self, rows: np.ndarray) -> np.ndarray:
        """Return the fraction of rows with each indicator."""
        n_indicators = sum(own.size + 2 for own in self.levels) - 2 * int((~self.nominal).sum())
        return np.bincount(self.indicators(rows).ravel(), minlength=n_indicators) / len(rows)

    def of_codes(self, width: int) -> np.ndarray:
        """Return which features are indicators. A numerical column has `width` features."""
        widths = [own.size + 2 for own in self.levels]
        return np.repeat(self.nominal, np.where(self.nominal, widths, width))


def _frequent(codes: np.ndarray) -> np.ndarray:
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
    order = np.argsort(-counts, kind="stable")
    return np.sort(order[: min(_MAX_LEVELS, int((counts >= _MIN_LEVEL_ROWS).sum()))])


def naive_features(rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return mean, median, variance and missing fraction of numbers, and category frequencies."""
    columns = domain.scaled_numbers(rows)
    missing, ordered = np.isnan(columns), np.sort(columns, axis=1)  # missing comes last
    n_present = columns.shape[1] - missing.sum(axis=1)
    features = np.zeros((len(columns), 4))
    every, most = np.arange(len(columns)), np.maximum(n_present, 1)
    middles = ordered[every, (most - 1) // 2], ordered[every, most // 2]
    features[:, 1] = np.where(n_present, (middles[0] + middles[1]) / 2.0, 0.0)
    features[:, 3] = 1.0 - n_present / len(rows)
    whole = n_present == len(rows)
    # one step gives the same bits as one column after the other
    features[whole, 0], features[whole, 2] = columns[whole].mean(axis=1), columns[whole].var(axis=1)
    for j in np.flatnonzero(~whole & (n_present > 0)):
        present = columns[j][~missing[j]]
        features[j, 0], features[j, 2] = present.mean(), present.var()
    return _by_column(rows, domain, features)


def _by_column(rows: np.ndarray, domain: Domain, of_numbers: np.ndarray) -> np.ndarray:
    """Combine the category frequencies and the features of numbers, in the order of columns."""
    of_codes = domain.of_codes(of_numbers.shape[1])
    features = np.empty(of_codes.size)
    features[of_codes], features[~of_codes] = domain.shares(rows), of_numbers.ravel()
    return features


def hist_features(rows: np.ndarray, domain: Domain, n_bins: int = 10) -> np.ndarray:
    """Return the fraction of rows in each bin of numbers and in each category."""
    # Numbers have bins of equal width over the domain, and one bin each for values below the
    # domain, values above the domain and missing values.
    values = domain.scaled_numbers(rows)
    missing = np.isnan(values)
    inside = np.minimum(np.floor(np.where(missing, 0.0, values) * n_bins), n_bins - 1) + 1
    bins = np.where(values < 0, 0, np.where(values > 1, n_bins + 1, inside))
    bins = np.where(missing, n_bins + 2, bins).astype(np.int64)
    firsts = (n_bins + 3) * np.arange(len(values))[:, None]  # first bin of each column
    counts = np.bincount((bins + firsts).ravel(), minlength=firsts.size * (n_bins + 3))
    return _by_column(rows, domain, counts.reshape(-1, n_bins + 3) / len(rows))


def corr_features(rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the correlations of all pairs of numbers and categories, 0 for constant columns."""
    # Missing numbers are replaced by the mean.
    columns, of_codes = domain.scaled_numbers(rows), domain.of_codes(1)
    missing = np.isnan(columns)
    for j in np.flatnonzero(missing.any(axis=1)):
        present = columns[j][~missing[j]]
        columns[j, missing[j]] = present.mean() if present.size else 0.0
    held, shares = np.ones(of_codes.size, dtype=np.bool_), domain.shares(rows)
    held[of_codes] = (shares > 0.0) & (shares < 1.0)  # the other indicators are constant
    places = np.where(held, np.cumsum(held) - 1, -1)
    design = np.zeros((len(rows), int(held.sum()) + 1))  # the last column is for all others
    design[:, places[~of_codes]] = columns.T
    design[np.arange(len(rows))[:, None], places[of_codes][domain.indicators(rows)]] = 1.0
    design[:, -1] = 0.0
    # in place and in blocks, because allocating memory would be slower than the sums
    design -= design.mean(axis=0)
    blocks = [design[:, k : k + _WIDTH] for k in range(0, design.shape[1], _WIDTH)]
    norms = np.sqrt(np.concatenate([(block**2).sum(axis=0) for block in blocks]))
    design /= np.where(norms > 1e-9 * np.sqrt(len(rows)), norms, np.inf)
    pairs, n_held = _above_diagonal(held.size), design.shape[1] - 1
    features = np.zeros(held.size * (held.size - 1) // 2)
    features[(held[:, None] & held)[pairs]] = (design.T @ design)[:-1, :-1][_above_diagonal(n_held)]
    return features


@lru_cache(maxsize=4)
def _above_diagonal(n: int) -> np.ndarray:
    """Return a mask of the entries above the diagonal of a square matrix."""
    return np.triu(np.ones((n, n), dtype=np.bool_), k=1)


def row_distances(rows: np.ndarray, targets: np.ndarray, domain: Domain) -> np.ndarray:
    """Return Gower's distance from rows to a few targets, which are equal in most columns."""
    # The distance is the mean over columns of the differences divided by the range, capped at 1.
    # The difference between two categories, or to a missing value, is 0 or 1.
    varying, distances = _varying(targets), np.empty((len(targets), len(rows)))
    gaps, own, part = _gaps(rows, targets[0], domain), rows[:, varying], domain.take(varying)
    for target, sums in zip(targets, distances, strict=True):
        gaps[:, varying] = _gaps(own, target[varying], part)
        sums[:] = np.round(gaps.sum(axis=1) * _GRID) / _GRID / rows.shape[1]
    return distances


def _varying(targets: np.ndarray) -> np.ndarray:
    """Return the columns in which rows differ."""
    return np.flatnonzero(~equal_cells(targets, targets[0]).all(axis=0))


def _gaps(rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the differences of cells divided by the ranges, at most 1, as a matrix in C order."""
    differ = np.where(np.isnan(target), ~np.isnan(rows), rows != target)
    scales = ~domain.nominal & (domain.span > 1e-300) & ~np.isnan(target)
    with np.errstate(invalid="ignore", over="ignore"):  # for infinite values
        gaps = np.abs(rows - target) / np.where(scales, domain.span, 1.0)
    return np.where(scales & ~np.isnan(gaps), np.minimum(gaps, 1.0), differ)


def closest_features(distances: np.ndarray, radii: Sequence[float], k: int = 5) -> np.ndarray:
    """Return the k smallest distances, and the log number of distances within some radii."""
    ascending = np.sort(distances)
    nearest = ascending[np.minimum(np.arange(k), ascending.size - 1)]
    within = np.searchsorted(ascending, np.asarray(radii), side="right")
    return np.concatenate([nearest, np.log1p(within)])


@dataclass(frozen=True)
class Queries:
    """Queries that count the rows that agree with one row in some columns."""

    # Categories agree if they are equal. A number agrees if it is close to the number of the
    # row, at most that number, or at least that number. Each query specifies the condition for
    # each column.

    asked: np.ndarray

    @classmethod
    def draw(
        cls, nominal: Sequence[bool], n_queries: int, seed: int, *, always: int | None = None
    ) -> Queries:
        """Draw `n_queries` queries, or return all possible queries if there are fewer."""
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

    def features(self, rows: np.ndarray, targets: np.ndarray, domain: Domain) -> np.ndarray:
        """Return the log of one plus the count of each query, for each target."""
        # The targets are equal in most columns, which are evaluated only once.
        varying = _varying(targets)
        conditions = np.add.outer(np.arange(3) * rows.shape[1], varying).ravel()
        met = _conditions(rows, targets[0], domain)
        met[:, conditions] = True
        alike = met.all(axis=1)  # rows that may be copies of a target
        fits = self._fits(np.packbits(met.T & ~alike, axis=1))
        asked, own, part = self.asked[conditions], rows[:, varying], domain.take(varying)
        counts = np.empty((len(targets), fits.shape[0]))
        for target, row in zip(targets, counts, strict=True):
            met, left = _conditions(own, target[varying], part), fits.copy()
            for condition, some in zip(np.packbits(met.T, axis=1), asked, strict=True):
                left[some] &= condition
            kinds, n_copies = np.unique(met[alike], axis=0, return_counts=True)
            row[:] = _N_BITS[left].sum(axis=1) + n_copies @ (kinds[:, :, None] | ~asked).all(axis=1)
        return np.log1p(counts)

    def _fits(self, met: np.ndarray) -> np.ndarray:
        """Return the rows that each query counts, packed in bits like the conditions."""
        met = np.vstack([met, np.full(met.shape[1], 255, dtype=np.uint8)])  # always true
        steps = self._steps
        fits = np.full((len(steps), met.shape[1]), 255, dtype=np.uint8)
        asked, found = np.arange(len(steps)), np.zeros_like(fits)
        # few rows meet many conditions, so a query without any remaining row is complete
        for start in range(0, steps.shape[1], _STEP):
            fits &= np.bitwise_and.reduce(met[steps[asked, start : start + _STEP]], axis=1)
            some = fits.any(axis=1)
            fits, asked = fits[some], asked[some]
        found[asked] = fits
        return found

    @cached_property
    def _steps(self) -> np.ndarray:
        """The conditions of each query, padded with a condition that is always true."""
        needed = self.asked.sum(axis=0)
        n_steps = -(-int(needed.max(initial=0)) // _STEP) * _STEP
        order = np.argsort(~self.asked.T, axis=1, kind="stable")[:, :n_steps]
        order = np.pad(order, ((0, 0), (0, n_steps - order.shape[1])))
        return np.where(np.arange(n_steps) < needed[:, None], order, len(self.asked))


def _drawn_ways(n_ways: np.ndarray, n_queries: int, rng: np.random.Generator) -> np.ndarray:
    """Return distinct random queries on subsets of columns of uniform size."""
    p, n_drawn = n_ways.size, 2 * n_queries
    sizes = rng.integers(1, p + 1, size=(n_drawn, 1))
    chosen = rng.random((n_drawn, p)).argsort(axis=1).argsort(axis=1) < sizes
    way = 1 + np.floor(rng.random((n_drawn, p)) * (n_ways - 1)).astype(np.int64)
    ways = np.where(chosen, way, 0)
    _, first = np.unique(ways, axis=0, return_index=True)
    return ways[np.sort(first)][:n_queries]


def _conditions(rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
    """Return which cells are close to, at most, and at least the target."""
    met = np.hstack([agreeing(rows, target, domain), rows <= target, rows >= target])
    n_columns, missing = target.size, np.flatnonzero(np.isnan(target))
    for first in (n_columns, 2 * n_columns):
        met[:, first + missing] = np.isnan(rows[:, missing])
    return met


def equal_cells(rows: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return which cells are equal to the target, or missing in both."""
    return (rows == target) | (np.isnan(rows) & np.isnan(target))


def agreeing(rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
    """Return which cells are equal to the target, or close to it for numbers."""
    with np.errstate(invalid="ignore"):  # for infinite values
        near = np.abs(rows - target) <= _NEAR * domain.span
    return equal_cells(rows, target) | (near & ~domain.nominal)


def agreement_scores(points: np.ndarray, rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the log of the mean number of column subsets in which rows agree with each point."""
    scores = np.empty(len(points))
    width = max(1, _BLOCK // len(rows))
    for start in range(0, len(points), width):
        block = points[start : start + width]
        agreed = np.zeros((len(block), len(rows)), dtype=np.float32)
        for j, nominal in enumerate(domain.nominal):
            own, others = block[:, [j]], rows[:, j]
            with np.errstate(invalid="ignore"):  # for infinite values
                near = np.abs(own - others) <= (0.0 if nominal else _NEAR * domain.span[j])
            agreed += near | (own == others) | (np.isnan(own) & np.isnan(others))
        most = agreed.max(axis=1, keepdims=True)
        sums = np.exp2(agreed - most).sum(axis=1, dtype=np.float64)
        scores[start : start + width] = most[:, 0] * np.log(2.0) + np.log(sums / len(rows))
    return scores
