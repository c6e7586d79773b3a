"""Groups of synthetic rows that agree with one training row in many columns, but not in all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skeval.core.context import Context
from skeval.stats.copied_rows import CHANCE, Copied, Repeats
from skeval.steps.encoded_rows import encoded_matrix, gower_scale
from skeval.steps.nearest_others import nearest_of_tables
from skeval.steps.samples import drawn_positions

_LEVEL = 0.15 * CHANCE
_N_RANKS, _N_CLOSE = 256, 14  # numbers agree if their ranks out of 256 differ by less than 14
_POINT = math.log(_N_RANKS) / _N_CLOSE  # equal numbers have 14 points
_RARE = 0.99  # fraction of the holdout rows that agree less with each training row
# minimum number of rows with which a training row agrees. Such rows are compared with holdout rows
_MIN_ROWS = (4, 2, 1)
_MIN_AROUND_ONE = 10  # minimum number of rows of the only group
_TIMES_OTHERS = 3  # the only group has more rows than groups around other rows by this factor
_MAX_SAMPLED = 2**11  # rows of a table that are compared with all real rows
_MIN_COLUMNS = 6  # in fewer columns, rows agree in all of them by chance
_MAX_COLUMNS = 32  # columns that are compared, those with the most different values
_AT_ONCE = 64  # rows that are compared at once, so that their points fit into the cache
_ABSENT, _MISSING = -(2**14), 2**14 - 1  # a missing value, on the two sides of a comparison


class Rows(NamedTuple):
    """Rows as ranks of numbers and codes of categories, with the points of equal cells."""

    places: np.ndarray
    most: np.ndarray

    def take(self, some: np.ndarray) -> Rows:
        """Return some of the rows."""
        return Rows(self.places[some], self.most[some])


class Agreement:
    """How surprisingly rows agree, given the real rows."""

    # Two numbers agree if few real values are between them, and two categories if they are equal.
    # Equal values have more points if fewer real rows have this value, in proportion to the
    # logarithm, and numbers lose one point for each rank between them. The agreement of two rows is
    # the sum of the points of all columns. A column that was replaced in copies has no points. In
    # contrast to a distance, it does not hide the agreement in other columns.

    def __init__(self, real: np.ndarray, is_nominal: np.ndarray) -> None:
        self._is_nominal, self._n_real = is_nominal, len(real)
        self._ordered = [np.sort(column[~np.isnan(column)]) for column in real.T]
        n_different = [-np.unique(column).size for column in self._ordered]
        with np.errstate(over="ignore"):
            sums = [column.sum() for column in self._ordered]  # for ties, not the order of columns
        self._columns = np.lexsort([sums, n_different])[:_MAX_COLUMNS].tolist()

    def encode(self, rows: np.ndarray) -> Rows:
        """Return the rows as ranks and codes among the real rows."""
        places = np.full((len(rows), len(self._columns)), _MISSING, dtype=np.int16)
        shares = np.ones(places.shape)
        for k, j in enumerate(self._columns):
            ordered, values = self._ordered[j], rows[:, j]
            left, right = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
            if self._is_nominal[j]:
                found, is_known = np.searchsorted(np.unique(ordered), values), left < right
            else:
                found = np.round(_N_RANKS / 2.0 * (left + right) / max(1, ordered.size))
                is_known = ~np.isnan(values)
            places[is_known, k] = found[is_known]
            shares[:, k] = np.maximum(right - left, 1) / self._n_real
        points = np.minimum(np.round(-np.log(shares) / _POINT), _N_CLOSE)
        return Rows(places, points.astype(np.int16))

    def points(self, rows: Rows, others: Rows) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the points of a few rows at once with all others, shape (n_some, n_others)."""
        own = np.where(rows.places == _MISSING, _ABSENT, rows.places).astype(np.int16)
        for start in range(0, len(own), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            total = np.zeros((len(own[some]), len(others.places)), dtype=np.int16)
            points, zeros = np.empty_like(total), np.zeros((len(total), 1), dtype=np.int16)
            for k, j in enumerate(self._columns):
                most = rows.most[some, k, None]
                if self._is_nominal[j]:
                    np.multiply(own[some, k, None] == others.places[:, k], most, out=points)
                else:
                    np.subtract(own[some, k, None], others.places[:, k], out=points)
                    np.subtract(zeros + _N_CLOSE, np.abs(points, out=points), out=points)
                    # much faster with arrays than with a scalar zero, and than numpy.clip
                    np.minimum(np.maximum(points, zeros, out=points), most, out=points)
                total += points
            yield some, total

    def count(self, rows: Rows, others: Rows, least: float) -> tuple[np.ndarray, np.ndarray]:
        """Return how many others agree with each row, and which others agree with any row."""
        sizes = np.zeros(len(rows.places), dtype=np.int64)
        is_met = np.zeros(len(others.places), dtype=bool)
        for some, points in self.points(rows, others):
            agrees = points > np.int16(least)
            sizes[some] = agrees.sum(axis=1)
            is_met |= agrees.any(axis=0)
        return sizes, is_met


def agreeing_copies(context: Context, columns: tuple[str, ...] | None) -> tuple[Copied, Copied]:
    """Return the training rows with which several rows agree, and the rows of the largest group."""
    # Two rows agree if they have more points than nearly all holdout rows have with any training
    # row. Synthetic rows that are equal to a real row are counted elsewhere.
    is_nominal = gower_scale(context, columns)[1]
    if is_nominal.size < _MIN_COLUMNS:
        return Copied(0, 0), Copied(0, 0)
    roles = tuple(role for role in ("train", "holdout") if role in context)
    tables = {r: encoded_matrix(context, r, "gower", columns) for r in (*roles, "synthetic")}
    agreement = Agreement(np.concatenate([tables[role] for role in roles]), is_nominal)
    is_new = nearest_of_tables(context, "synthetic", roles, columns)[0] > 0.0
    drawn, of_real = (
        drawn_positions(context, role, _MAX_SAMPLED, 0) for role in ("synthetic", roles[-1])
    )
    train, unseen = agreement.encode(tables["train"]), agreement.encode(tables[roles[-1]][of_real])
    sample = agreement.encode(tables["synthetic"][drawn[is_new[drawn]]])
    least = _rare_points(agreement, train, unseen, of_real if len(roles) == 1 else None)

    around_train, is_of_train = agreement.count(train, sample, least)
    around_unseen = np.zeros(0, dtype=np.int64)
    if "holdout" in context:
        around_unseen, _ = agreement.count(unseen, sample, least)
    per_real = is_new.size / sum(map(context.n_rows, roles))
    share = drawn.size / is_new.size
    usual = max(1.0, 2.0 * per_real * share)
    least_rows = [n * usual if n > 1 else 1.0 for n in _MIN_ROWS]
    counts = [_several(around_train >= n, around_unseen >= n) for n in least_rows]
    several = next((count for count in counts if count.beyond_chance), counts[0])
    if around_train.max() < max(_MIN_ROWS):
        return several, Copied(0, 0)
    # A generator that repeats its rows also has groups around rows of nobody. Copies with more
    # noise belong to no such group, because they agree with other copies.
    alone = sample.take(~agreement.count(sample.take(is_of_train), sample, least)[1])
    among_alone = agreement.count(alone, alone, least)[0] - 1
    others = max(among_alone.max(initial=0), around_unseen.max(initial=0)) / share
    largest = train.take(around_train == around_train.max())
    n_agreeing, _ = agreement.count(largest, agreement.encode(tables["synthetic"][is_new]), least)
    around_one = math.ceil(_MIN_AROUND_ONE * max(1.0, per_real))
    most = max(around_one - 1, math.ceil(_TIMES_OTHERS * others))
    return several, Copied(int(n_agreeing.max()), most)


def _several(is_group: np.ndarray, is_unseen_group: np.ndarray) -> Copied:
    """Return how many training rows have a group, with the bound that holdout rows predict."""
    if not is_unseen_group.size:
        return Copied(0, 0)
    repeats = Repeats(float(is_unseen_group.sum()), is_unseen_group.size / is_group.size)
    chance = _LEVEL / len(_MIN_ROWS)
    return Copied(int(is_group.sum()), repeats.bound(chance), repeats=repeats, chance=chance)


def _rare_points(agreement: Agreement, train: Rows, unseen: Rows, own: np.ndarray | None) -> float:
    """Return the points that few unseen rows have with a training row, not with their own."""
    best = np.zeros(len(unseen.places), dtype=np.int16)
    for some, points in agreement.points(train, unseen):
        if own is not None:
            points[np.arange(len(train.places))[some, None] == own] = 0
        np.maximum(best, points.max(axis=0), out=best)
    return float(np.quantile(best, _RARE, method="higher"))
