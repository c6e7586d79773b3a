"""A table as one vector: what distinguishes tables made with a row from tables made without it.

Rows come as numbers and codes of categories in one matrix, missing is nan. What columns may hold is
fixed beforehand, by a domain: an encoder that learned it from each table would give a row away by
itself.
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
from skeval.tables.frames import Oddities, as_frame, column_values, read_as
from skeval.tables.schema import TableSchema

_MADE = "a table that the generator made"
_DATES = (np.dtype("datetime64[us]"), np.dtype("datetime64[ns]"))
_OBJECT = np.dtype(object)
_LARGEST = 2.0**1022  # the difference of larger numbers may be none
_FAR = 1e3  # ranges beyond the real rows; farther is as far
_MAX_LEVELS = 20
_MIN_LEVEL_ROWS = 10  # rows of a level with an indicator of its own
_GRID = 2.0**32  # distances are rounded to the grid of the neighbour search
_NEAR = 0.05  # of the range: numbers that agree
_BLOCK = 2**16  # pairs held at once: half a megabyte, which stays in the cache
_WIDTH = 64  # columns that are squared together
_STEP = 8  # conditions that are looked at together
_N_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
_EVERY_SUBSET = 4096  # of them at most, all queries are listed


@dataclass(frozen=True)
class Reader:
    """From a table as a generator gave it to numbers and codes."""

    schema: TableSchema
    levels: dict[str, list[str]]
    names: list[str]

    @classmethod
    def from_context(cls, context: Context) -> Reader:
        """Return a reader of all columns that are measured, by name."""
        return cls(context.schema, context.levels, sorted(context.schema.measured))

    @property
    def nominal(self) -> list[bool]:
        """Which of the columns are codes."""
        return [name in self.levels for name in self.names]

    def rows(self, table: Any) -> np.ndarray:
        """Return the matrix of a table; missing is nan."""
        frame = as_frame(table, _MADE)
        if missing := [name for name in self.schema.kinds if name not in frame]:
            raise SchemaMismatchError(
                f"The generator made a table that lacks columns of train: {', '.join(missing)}."
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
        for places in alike.values():  # one step for all columns of a type
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
        """Return columns that have to be converted, or hold levels that no real row has."""
        oddities = Oddities(self.schema, _MADE)
        read = read_as(frame, self.schema, self.levels, names=names, oddities=oddities)
        oddities.notices()  # raises where nothing can be read
        most = {name: len(own) for name, own in self.levels.items()}
        return np.column_stack(
            [np.minimum(column_values(read[name]), most.get(name, np.inf)) for name in names]
        )


def known_codes(values: pd.Series, places: Mapping[str, int]) -> np.ndarray | None:
    """Return the codes of labels, missing as nan; None if one is not among them as it is."""
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
    """Return the same of texts that Arrow holds, without a Python string for each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = values.__arrow_array__()
    found = pc.index_in(cells, value_set=pa.array(list(places), type=cells.type))
    if found.null_count > cells.null_count:
        return None
    positions = np.nan_to_num(np.asarray(found, dtype=np.float64), nan=-1.0).astype(np.intp)
    return np.array([*places.values(), np.nan])[positions]


def _is_plain(kind: str, dtype: Any) -> bool:
    """Return whether a column of a kind needs no more than a cast to be read."""
    if not isinstance(dtype, np.dtype):
        return False
    return dtype.kind in "iuf" if kind == "continuous" else dtype in _DATES


def _plain_numbers(frame: pd.DataFrame) -> np.ndarray:
    """Return columns of one plain type; numbers too large for differences count as infinite."""
    if frame.dtypes.iloc[0].kind == "M":
        dates = frame.to_numpy().astype("datetime64[us]")
        return np.where(np.isnat(dates), np.nan, dates.astype(np.int64) / 1e6)
    values = frame.to_numpy().astype(np.float64)
    beyond = np.abs(values) > _LARGEST
    return np.where(beyond, np.copysign(np.inf, values), values) if beyond.any() else values


@dataclass(frozen=True)
class Domain:
    """What columns may hold, which is public."""

    low: np.ndarray
    span: np.ndarray
    nominal: np.ndarray
    levels: list[np.ndarray]

    @classmethod
    def from_rows(cls, rows: np.ndarray, nominal: Sequence[bool]) -> Domain:
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

    def take(self, columns: np.ndarray) -> Domain:
        """Return the domain of some columns."""
        levels = [self.levels[j] for j in columns]
        return Domain(self.low[columns], self.span[columns], self.nominal[columns], levels)

    def scale_rows(self, rows: np.ndarray) -> np.ndarray:
        """Return numbers in ranges from the least one; where the range is 0, -1, 0 or 1."""
        centred = np.clip(rows - self.low, -1e300, 1e300)
        ratio = np.divide(centred, self.span, out=np.sign(centred), where=self.span > 1e-300)
        return np.clip(ratio, -_FAR, _FAR)

    def scaled_numbers(self, rows: np.ndarray) -> np.ndarray:
        """Return the scaled numbers, a row for each column that is no code."""
        own = ~self.nominal
        part = Domain(self.low[own], self.span[own], self.nominal[own], [])
        return np.ascontiguousarray(part.scale_rows(rows[:, own]).T)

    @cached_property
    def _codes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For every code of every column its indicator; where those of a column begin and end."""
        ids, n_before = [], 0
        for own in (own for own, code in zip(self.levels, self.nominal, strict=True) if code):
            mine = np.full(int(own.max(initial=-1)) + 3, own.size)
            mine[own], mine[-1] = np.arange(own.size), own.size + 1  # others and missing come last
            ids.append(mine + n_before)
            n_before += own.size + 2
        ends = np.cumsum([mine.size for mine in ids], dtype=np.int64)
        return np.concatenate(ids or [ends]), np.append(0, ends[:-1])[: ends.size], ends

    def indicators(self, rows: np.ndarray) -> np.ndarray:
        """Return which indicator each code has: of its level, of all others, or of missing."""
        ids, starts, ends = self._codes
        codes = rows[:, self.nominal]
        places = np.where(np.isnan(codes), ends - 1.0, np.fmin(starts + codes, ends - 2.0))
        return ids[places.astype(np.intp)]

    def shares(self, rows: np.ndarray) -> np.ndarray:
        """Return the share of rows that each indicator is of."""
        n_indicators = sum(own.size + 2 for own in self.levels) - 2 * int((~self.nominal).sum())
        return np.bincount(self.indicators(rows).ravel(), minlength=n_indicators) / len(rows)

    def of_codes(self, width: int) -> np.ndarray:
        """Return which features are of codes: an indicator each, and of numbers `width` each."""
        widths = [own.size + 2 for own in self.levels]
        return np.repeat(self.nominal, np.where(self.nominal, widths, width))


def _frequent(codes: np.ndarray) -> np.ndarray:
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64))
    order = np.argsort(-counts, kind="stable")
    return np.sort(order[: min(_MAX_LEVELS, int((counts >= _MIN_LEVEL_ROWS).sum()))])


def naive_features(rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Get mean, median, variance and share of missing of each number, the share of each level."""
    columns = domain.scaled_numbers(rows)
    missing, ordered = np.isnan(columns), np.sort(columns, axis=1)  # missing comes last
    n_present = columns.shape[1] - missing.sum(axis=1)
    features = np.zeros((len(columns), 4))
    every, most = np.arange(len(columns)), np.maximum(n_present, 1)
    middles = ordered[every, (most - 1) // 2], ordered[every, most // 2]
    features[:, 1] = np.where(n_present, (middles[0] + middles[1]) / 2.0, 0.0)
    features[:, 3] = 1.0 - n_present / len(rows)
    whole = n_present == len(rows)
    # in one step, with the bits of a column at a time
    features[whole, 0], features[whole, 2] = columns[whole].mean(axis=1), columns[whole].var(axis=1)
    for j in np.flatnonzero(~whole & (n_present > 0)):
        present = columns[j][~missing[j]]
        features[j, 0], features[j, 2] = present.mean(), present.var()
    return _by_column(rows, domain, features)


def _by_column(rows: np.ndarray, domain: Domain, of_numbers: np.ndarray) -> np.ndarray:
    """Return the shares of the levels of each category, and the features of each number."""
    of_codes = domain.of_codes(of_numbers.shape[1])
    features = np.empty(of_codes.size)
    features[of_codes], features[~of_codes] = domain.shares(rows), of_numbers.ravel()
    return features


def hist_features(rows: np.ndarray, domain: Domain, n_bins: int = 10) -> np.ndarray:
    """Return the share of rows in each bin, in order; of categories that of each level."""
    # Numbers have bins of equal width over the domain, one below it, one above and one for
    # missing.
    values = domain.scaled_numbers(rows)
    missing = np.isnan(values)
    inside = np.minimum(np.floor(np.where(missing, 0.0, values) * n_bins), n_bins - 1) + 1
    bins = np.where(values < 0, 0, np.where(values > 1, n_bins + 1, inside))
    bins = np.where(missing, n_bins + 2, bins).astype(np.int64)
    firsts = (n_bins + 3) * np.arange(len(values))[:, None]  # of each column
    counts = np.bincount((bins + firsts).ravel(), minlength=firsts.size * (n_bins + 3))
    return _by_column(rows, domain, counts.reshape(-1, n_bins + 3) / len(rows))


def corr_features(rows: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the correlations of all pairs of numbers and levels; 0 where one does not vary."""
    # Missing numbers stand at their mean.
    columns, of_codes = domain.scaled_numbers(rows), domain.of_codes(1)
    missing = np.isnan(columns)
    for j in np.flatnonzero(missing.any(axis=1)):
        present = columns[j][~missing[j]]
        columns[j, missing[j]] = present.mean() if present.size else 0.0
    held, shares = np.ones(of_codes.size, dtype=np.bool_), domain.shares(rows)
    held[of_codes] = (shares > 0.0) & (shares < 1.0)  # the others do not vary
    places = np.where(held, np.cumsum(held) - 1, -1)
    design = np.zeros((len(rows), int(held.sum()) + 1))  # the last is of all others
    design[:, places[~of_codes]] = columns.T
    design[np.arange(len(rows))[:, None], places[of_codes][domain.indicators(rows)]] = 1.0
    design[:, -1] = 0.0
    # in place and in blocks: fresh memory would take longer than the sums
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
    """Return which cells of a square matrix stand for its pairs of columns."""
    return np.triu(np.ones((n, n), dtype=np.bool_), k=1)


def row_distances(rows: np.ndarray, targets: np.ndarray, domain: Domain) -> np.ndarray:
    """Return Gower's distance of rows to each of a few others, which are alike in most columns."""
    # The mean over columns of differences in ranges, capped at 1; categories and missing
    # values differ or not.
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
    """Return the differences of cells in ranges, 1 at most; a matrix in C order."""
    differ = np.where(np.isnan(target), ~np.isnan(rows), rows != target)
    scales = ~domain.nominal & (domain.span > 1e-300) & ~np.isnan(target)
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite values
        gaps = np.abs(rows - target) / np.where(scales, domain.span, 1.0)
    return np.where(scales & ~np.isnan(gaps), np.minimum(gaps, 1.0), differ)


def closest_features(distances: np.ndarray, radii: Sequence[float], k: int = 5) -> np.ndarray:
    """Return the least k distances of rows to a row, and the log number within some radii."""
    ascending = np.sort(distances)
    nearest = ascending[np.minimum(np.arange(k), ascending.size - 1)]
    within = np.searchsorted(ascending, np.asarray(radii), side="right")
    return np.concatenate([nearest, np.log1p(within)])


@dataclass(frozen=True)
class Queries:
    """Questions on how many rows agree with one row in some columns."""

    # Categories agree where they are equal, numbers where they are near, or at most, or at
    # least the number of the row: which of these, a question says for each of its columns.

    asked: np.ndarray

    @classmethod
    def draw(
        cls, nominal: Sequence[bool], n_queries: int, seed: int, *, always: int | None = None
    ) -> Queries:
        """Draw questions: all there are if these are no more than `n_queries`."""
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
        """Return the log of one plus the number of rows that each question counts."""
        # For each of a few targets, which are alike in most columns: these are looked at
        # once.
        varying = _varying(targets)
        conditions = np.add.outer(np.arange(3) * rows.shape[1], varying).ravel()
        met = _conditions(rows, targets[0], domain)
        met[:, conditions] = True
        alike = met.all(axis=1)  # as copies of the targets, in any question
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
        """Return which rows each question counts, in bits, as the conditions that rows meet are."""
        met = np.vstack([met, np.full(met.shape[1], 255, dtype=np.uint8)])  # what all rows meet
        steps = self._steps
        fits = np.full((len(steps), met.shape[1]), 255, dtype=np.uint8)
        asked, found = np.arange(len(steps)), np.zeros_like(fits)
        # few rows meet many conditions: a question that none is left to meet is done
        for start in range(0, steps.shape[1], _STEP):
            fits &= np.bitwise_and.reduce(met[steps[asked, start : start + _STEP]], axis=1)
            some = fits.any(axis=1)
            fits, asked = fits[some], asked[some]
        found[asked] = fits
        return found

    @cached_property
    def _steps(self) -> np.ndarray:
        """The conditions of each question one after the other, then one that all rows meet."""
        needed = self.asked.sum(axis=0)
        n_steps = -(-int(needed.max(initial=0)) // _STEP) * _STEP
        order = np.argsort(~self.asked.T, axis=1, kind="stable")[:, :n_steps]
        order = np.pad(order, ((0, 0), (0, n_steps - order.shape[1])))
        return np.where(np.arange(n_steps) < needed[:, None], order, len(self.asked))


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
    met = np.hstack([agreeing(rows, target, domain), rows <= target, rows >= target])
    n_columns, missing = target.size, np.flatnonzero(np.isnan(target))
    for first in (n_columns, 2 * n_columns):
        met[:, first + missing] = np.isnan(rows[:, missing])
    return met


def equal_cells(rows: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return which cells equal those of one row; missing equals missing."""
    return (rows == target) | (np.isnan(rows) & np.isnan(target))


def agreeing(rows: np.ndarray, target: np.ndarray, domain: Domain) -> np.ndarray:
    """Return which cells equal those of one row, or are near it where they are numbers."""
    with np.errstate(invalid="ignore"):  # of infinite values
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
            with np.errstate(invalid="ignore"):  # of infinite values
                near = np.abs(own - others) <= (0.0 if nominal else _NEAR * domain.span[j])
            agreed += near | (own == others) | (np.isnan(own) & np.isnan(others))
        most = agreed.max(axis=1, keepdims=True)
        sums = np.exp2(agreed - most).sum(axis=1, dtype=np.float64)
        scores[start : start + width] = most[:, 0] * np.log(2.0) + np.log(sums / len(rows))
    return scores
