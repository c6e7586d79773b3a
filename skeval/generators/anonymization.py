"""An anonymised release as it was made before synthetic data: the comparator to be better than."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError
from skeval.generators.base import Sampler
from skeval.generators.columns import Steps, as_dtype, frame_of, kind_of, numbers_of, ordered_codes
from skeval.utils.parameters import AnyColumns, Count, Interval, Seed

_BETWEEN = "iufMm"  # kinds of columns that have values between two values


class MondrianAnonymization(Sampler):
    r"""Release the training rows themselves, generalised and suppressed to k-anonymity.

    What synthetic data claim to be better than: a table in which each row agrees in all
    quasi-identifiers with at least k - 1 others. Rows are split into classes of at least `k` rows
    that are near each other, the quasi-identifiers of a class are replaced by what is common to it,
    and the rows of the most heterogeneous classes may be left out. Measure it by the same metrics
    as a generator, and "better than anonymising?" has an answer.

    It is not private beyond that: columns that are no quasi-identifiers are released as they stand,
    row by row, keys and names included. A class whose rows agree in a sensitive value gives it
    away, see :class:`~skeval.privacy.LDiversity`.

    Parameters
    ----------
    k : int, default=5
        Rows of the smallest class, at most as many as the table has. 1 releases the table.
    quasi_identifiers : None, int or list of str, default=None
        The columns that may be known from elsewhere, or how many of the first; None takes all. The
        more there are, the coarser the classes. Name keys among them, or drop them before.
    fill : {"centre", "draw"}, default="centre"
        What replaces a generalised value, so that the release has the columns and
        dtypes of train. "centre" writes the median of the class, of categories the most frequent
        one: equal in all rows of a class, so that the release is k-anonymous as it stands. "draw"
        draws each cell from what the class is generalised to, alike between its least and greatest
        value or among its categories: distributions are those that a reader of ranges would assume,
        wrong where a column is skewed within a class, and rows of a class differ by chance alone.
    suppress : float, default=0.0
        In [0, 1): the largest share of rows that may be left out, whole classes at a time, those
        with the widest ranges first.
    random_state : int or None, default=None
        Seed of :meth:`sample` where that gets none. Fitting is deterministic.

    Attributes
    ----------
    columns_ : Index of length n_columns
        The columns of the training table.
    n_classes_ : int
        Classes that are released.
    n_released_, n_suppressed_ : int
        Training rows that are released, and that are left out.
    smallest_class_ : int
        Rows of the smallest class, at least `k`.
    information_loss_ : float
        Mean width of a class in a quasi-identifier, over released rows: 0 if nothing was
        generalised, 1 if each class ranges over the whole column.

    Raises
    ------
    InvalidParameterError
        At fit, if the table has fewer than `k` rows or lacks a quasi-identifier.

    See Also
    --------
    skeval.privacy.KAnonymity : Holds the release to its k.
    skeval.privacy.PrivacyGain : Compares a generator with it, target by target.
    Bootstrap : Releases rows as they are.

    Notes
    -----
    Classes are those of Mondrian: the table is cut in two at the median of the quasi-identifier in
    which it is widest, and so are its parts, until no cut leaves k rows on both sides. With
    positions x scaled to [0, 1] over the table, the width of class c in column j is

    .. math:: w_{cj} = \min(1, \max_{i \in c} x_{ij} - \min_{i \in c} x_{ij})

    Categories without an order are put in order of their frequency, so that rare ones stay
    together. Missing is a value of its own, lower than all others by the range of the column.

    A table of as many rows as were released holds each of them once, in random order. More rows
    repeat them, as evenly as possible, which keeps classes as large as they are; fewer are a
    random part, in which a class may have less than k. As rows of the release are persons,
    :class:`~skeval.privacy.ReplicatedUniques` and screens of distances have their plain meaning.

    References
    ----------
    K. LeFevre, D. J. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", IEEE
    International Conference on Data Engineering (2006), doi:10.1109/ICDE.2006.101.
    L. Sweeney, "k-anonymity: a model for protecting privacy", International Journal of Uncertainty,
    Fuzziness and Knowledge-Based Systems 10 (2002), doi:10.1142/S0218488502001648.

    Examples
    --------
    >>> from skeval.datasets import make_census
    >>> from skeval.generators import MondrianAnonymization
    >>> from skeval.privacy import KAnonymity
    >>> train, known = make_census(1_000), ["age", "schooling"]
    >>> release = MondrianAnonymization(5, known, random_state=0).fit(train).sample(1_000)
    >>> k = KAnonymity(known).fit(train)
    >>> k.score(train), k.score(release) >= 5
    (1.0, True)
    """

    def __init__(
        self,
        k: Count = 5,
        quasi_identifiers: AnyColumns = None,
        *,
        fill: Literal["centre", "draw"] = "centre",
        suppress: Annotated[float, Interval(0, 1, "left")] = 0.0,
        random_state: Seed | None = None,
    ) -> None:
        self.k = k
        self.quasi_identifiers = quasi_identifiers
        self.fill = fill
        self.suppress = suppress
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        if self.k > len(train):
            raise InvalidParameterError(
                f"MondrianAnonymization: k must be at most the number of rows, {len(train)}, got "
                f"{self.k}."
            )
        known = self._positions(train)
        points = np.column_stack([scaled_positions(train.iloc[:, j]) for j in known])
        classes = mondrian_classes(points, self.k)
        widths = np.array([_widths(points[rows]).mean() for rows in classes])
        order = np.argsort(-widths, kind="stable")  # the widest first
        sizes = np.array([len(rows) for rows in classes])
        left_out = order[np.cumsum(sizes[order]) <= self.suppress * len(train)]
        kept = np.setdiff1d(np.arange(len(classes)), left_out)
        classes = [classes[i] for i in kept]
        self.columns_ = train.columns
        self.n_classes_, self.smallest_class_ = len(classes), int(sizes[kept].min())
        self.n_released_ = int(sizes[kept].sum())
        self.n_suppressed_ = len(train) - self.n_released_
        self.information_loss_ = float(np.average(widths[kept], weights=sizes[kept]))
        self._class_of = np.repeat(np.arange(len(classes)), sizes[kept])
        self._rows = train.iloc[np.concatenate(classes)].reset_index(drop=True)
        bounds = np.cumsum(sizes[kept])[:-1]
        inside = np.split(np.arange(self.n_released_), bounds)
        self._generalised = {j: _generalize(self._rows.iloc[:, j], inside) for j in known}

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        whole, rest = divmod(n, self.n_released_)
        once = np.tile(np.arange(self.n_released_), whole)
        rows = rng.permutation(np.append(once, rng.permutation(self.n_released_)[:rest]))
        of_class = self._class_of[rows]
        columns = [self._rows.iloc[:, j] for j in range(self._rows.shape[1])]
        drawn = []
        for j, column in enumerate(columns):
            if j not in self._generalised:
                drawn.append(column.take(rows))
            elif self.fill == "centre":
                drawn.append(column.take(self._generalised[j].centres[of_class]))
            else:
                drawn.append(self._generalised[j].draw(column, of_class, rng))
        return frame_of(drawn, self.columns_)

    def _positions(self, train: pd.DataFrame) -> list[int]:
        """Return where the quasi-identifiers stand."""
        known = self.quasi_identifiers
        names = [str(name) for name in train.columns]
        if known is None or isinstance(known, int):
            return list(range(len(names)))[:known]
        if unknown := [name for name in known if name not in names]:
            raise InvalidParameterError(
                f"MondrianAnonymization: quasi_identifiers names no column of the table: "
                f"{', '.join(unknown)}."
            )
        return [j for j, name in enumerate(names) if name in known]


@dataclass(frozen=True)
class _Generalised:
    """What a column is generalised to in each class."""

    centres: np.ndarray  # a row that holds the median or the most frequent value
    missing: np.ndarray  # the fraction of rows without a value
    levels: np.ndarray  # a row for each distinct value in ascending order, class after class
    ends: np.ndarray  # where the levels of each class start, and the last ones end

    def draw(self, column: pd.Series, classes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        """Draw a value for each of some rows, given by their classes."""
        absent = rng.random(len(classes)) < self.missing[classes]
        first, last = self.ends[classes], self.ends[classes + 1] - 1
        part = rng.random(len(classes))
        if absent.all():
            return column.take(self.centres[classes])
        if kind_of(column.dtype) not in _BETWEEN:
            chosen = first + np.floor(part * (last - first + 1)).astype(np.int64)
            rows = np.where(absent, 0, self.levels[np.where(absent, 0, chosen)])
            drawn = column.take(rows).reset_index(drop=True)
            return drawn.mask(absent) if absent.any() else drawn
        values = numbers_of(column.iloc[self.levels])
        grid = Steps.from_values(np.unique(values))
        low, high = (values[np.where(absent, 0, ends)] for ends in (first, last))
        drawn = as_dtype(grid.between(low, high, part), column.dtype)
        return drawn.mask(absent) if absent.any() else drawn


def mondrian_classes(points: np.ndarray, k: int) -> list[np.ndarray]:
    """Split rows, by columns on one scale, into classes of at least k rows near each other."""
    open_parts, classes = [np.arange(len(points))], []
    while open_parts:
        rows = open_parts.pop()
        below = _split_rows(points[rows], k)
        if below is None:
            classes.append(rows)
        else:
            open_parts += [rows[~below], rows[below]]
    return classes


def _split_rows(points: np.ndarray, k: int) -> np.ndarray | None:
    """Tell which rows go into the lower of two parts; None if no cut leaves k on both sides."""
    n_rows = len(points)
    if n_rows < 2 * k:
        return None
    widths = points.max(axis=0) - points.min(axis=0)
    for j in np.argsort(-widths, kind="stable"):
        ordered = np.sort(points[:, j])
        cuts = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
        cuts = cuts[(cuts >= k) & (cuts <= n_rows - k)]
        if cuts.size:
            nearest = cuts[np.abs(cuts - n_rows / 2).argmin()]
            return np.asarray(points[:, j] < ordered[nearest])
    return None


def scaled_positions(column: pd.Series) -> np.ndarray:
    """Return where values lie between the least (0) and the greatest (1); -1 where missing.

    Categories without an order lie by their rank, the most frequent first.
    """
    coded = ordered_codes(column)
    if len(coded.positions) == 0:
        return np.full(len(column), -1.0)
    if kind_of(column.dtype) in _BETWEEN:
        exact = numbers_of(column.iloc[coded.positions])
        values = exact.astype("int64" if exact.dtype.kind in "Mm" else exact.dtype).astype(float)
    else:
        counts = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.positions))
        order = np.arange(len(counts)) if coded.ordered else np.argsort(-counts, kind="stable")
        values = np.empty(len(counts))
        values[order] = np.arange(len(counts))
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    # halves, as the difference of huge numbers is infinite
    half = (high / 2 - low / 2) or 0.5
    scaled = (np.clip(values, low, high) / 2 - low / 2) / half
    return np.where(coded.codes < 0, -1.0, scaled[np.maximum(coded.codes, 0)])


def _widths(points: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum(1.0, points.max(axis=0) - points.min(axis=0)))


def _generalize(column: pd.Series, classes: list[np.ndarray]) -> _Generalised:
    """Return what the values of classes have in common."""
    coded = ordered_codes(column)
    between = kind_of(column.dtype) in _BETWEEN
    centres, missing, levels = [], [], []
    for rows in classes:
        codes = coded.codes[rows]
        present = np.sort(codes[codes >= 0])
        own, counts = np.unique(present, return_counts=True)
        absent = len(codes) - len(present)
        if absent > (len(codes) / 2 if between else counts.max(initial=0)):
            centre = rows[codes < 0][0]
        else:
            middle = present[(len(present) - 1) // 2] if between else own[counts.argmax()]
            centre = coded.positions[middle]
        centres.append(centre)
        missing.append(absent / len(codes))
        levels.append(coded.positions[own])
    ends = np.cumsum([0, *map(len, levels)])
    return _Generalised(np.array(centres), np.array(missing), np.concatenate(levels), ends)
