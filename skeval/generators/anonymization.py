"""k-anonymized release of the training rows, for comparison with synthetic data."""

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
    r"""Release the training rows themselves, generalized and suppressed to k-anonymity.

    k-anonymization is the established alternative to synthetic data. In a k-anonymous table, each
    row has the same quasi-identifiers as at least k - 1 other rows. The generator groups similar
    rows into classes of at least `k` rows and replaces the quasi-identifiers of each class by a
    common value. It may also drop the rows of the most heterogeneous classes. To find out whether a
    synthetic table is better than anonymization, evaluate both with the same metrics.

    The result is not private beyond k-anonymity. Columns that are not quasi-identifiers, including
    keys and names, are released unchanged, row by row. If all rows of a class have the same
    sensitive value, the class reveals it, see :class:`~skeval.privacy.LDiversity`.

    Parameters
    ----------
    k : int, default=5
        Minimum number of rows per class, at most the number of rows of the table. With 1, the
        table is released unchanged.
    quasi_identifiers : None, int or list of str, default=None
        Columns that an attacker may know from other sources. If an int, the first columns are used.
        If None, all columns are used. More columns lead to coarser classes. Include keys here, or
        drop them from the table.
    fill : {"centre", "draw"}, default="centre"
        Replacement for a generalized value. The release has the columns and dtypes of the training
        data in both cases. "centre" uses the median of the class, or the most frequent category. It
        is equal in all rows of a class, so the release is k-anonymous. "draw" samples each cell
        uniformly between the minimum and the maximum of the class, or from its categories. The
        resulting distributions are those that a reader of ranges would assume. They are wrong if a
        column is skewed within a class, and rows of a class differ only by random noise.
    suppress : float, default=0.0
        Maximum fraction of rows to drop, in [0, 1). Complete classes are dropped, starting with the
        class with the widest ranges.
    random_state : int or None, default=None
        Seed of :meth:`sample` if the method gets no seed. Fitting is deterministic.

    Attributes
    ----------
    columns_ : Index of length n_columns
        The columns of the training table.
    n_classes_ : int
        Number of released classes.
    n_released_, n_suppressed_ : int
        Number of training rows that are released, and number that are dropped.
    smallest_class_ : int
        Number of rows of the smallest class, at least `k`.
    information_loss_ : float
        Mean width of a class in a quasi-identifier, over released rows. It is 0 if no value was
        generalized, and 1 if each class covers the range of every column.

    Raises
    ------
    InvalidParameterError
        At fit, if the table has fewer than `k` rows or a quasi-identifier is missing.

    See Also
    --------
    skeval.privacy.KAnonymity : Checks whether a release is k-anonymous.
    skeval.privacy.PrivacyGain : Compares a generator with this release, target by target.
    Bootstrap : Releases rows unchanged.

    Notes
    -----
    The classes are computed with the Mondrian algorithm. The algorithm cuts the table in two at the
    median of the quasi-identifier with the largest width. It repeats this for each part until no
    cut leaves k rows on both sides. With positions x scaled to [0, 1] over the table, the width of
    class c in column j is

    .. math:: w_{cj} = \min(1, \max_{i \in c} x_{ij} - \min_{i \in c} x_{ij})

    Unordered categories are ordered by frequency, so that rare categories stay together. A missing
    value is a separate value, lower than all other values by the range of the column.

    If the number of sampled rows equals the number of released rows, the sample contains each
    released row once, in random order. A larger sample repeats rows as evenly as possible, so
    classes do not become smaller. A smaller sample is a random subset, so its classes may have
    fewer than k rows. The released rows belong to real individuals, so
    :class:`~skeval.privacy.ReplicatedUniques` and distance-based screens apply directly.

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
                f"MondrianAnonymization: k must be at most the number of rows, {len(train)}, but "
                f"got {self.k}."
            )
        known = self._positions(train)
        points = np.column_stack([scaled_positions(train.iloc[:, j]) for j in known])
        classes = mondrian_classes(points, self.k)
        widths = np.array([_widths(points[rows]).mean() for rows in classes])
        order = np.argsort(-widths, kind="stable")  # widest classes first
        sizes = np.array([len(rows) for rows in classes])
        suppressed = order[np.cumsum(sizes[order]) <= self.suppress * len(train)]
        kept = np.setdiff1d(np.arange(len(classes)), suppressed)
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
        """Return the positions of the quasi-identifiers."""
        known = self.quasi_identifiers
        names = [str(name) for name in train.columns]
        if known is None or isinstance(known, int):
            return list(range(len(names)))[:known]
        if unknown := [name for name in known if name not in names]:
            raise InvalidParameterError(
                "MondrianAnonymization: quasi_identifiers contains columns that are not in the "
                f"table: {', '.join(unknown)}."
            )
        return [j for j, name in enumerate(names) if name in known]


@dataclass(frozen=True)
class _Generalised:
    """Generalized values of a column in each class."""

    centres: np.ndarray  # row with the median or the most frequent value of each class
    missing: np.ndarray  # fraction of missing values in each class
    levels: np.ndarray  # row of each distinct value in ascending order, class after class
    ends: np.ndarray  # start of the levels of each class, and end of the last class

    def draw(self, column: pd.Series, classes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        """Draw a value for each class."""
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
    """Split rows with columns on one scale into classes of at least k similar rows."""
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
    """Return a mask of the rows below a cut, or None if no cut leaves k rows on both sides."""
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
    """Return the positions of values from minimum (0) to maximum (1), or -1 if missing.

    Unordered categories are ranked by frequency, most frequent first.
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
    # Halves are used because the difference of huge numbers is infinite.
    half = (high / 2 - low / 2) or 0.5
    scaled = (np.clip(values, low, high) / 2 - low / 2) / half
    return np.where(coded.codes < 0, -1.0, scaled[np.maximum(coded.codes, 0)])


def _widths(points: np.ndarray) -> np.ndarray:
    return np.asarray(np.minimum(1.0, points.max(axis=0) - points.min(axis=0)))


def _generalize(column: pd.Series, classes: list[np.ndarray]) -> _Generalised:
    """Return the common values of each class."""
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
