"""A generator whose epsilon is exact: noisy counts of the cells of a domain that is public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skeval._parameters import Constraint, Interval, Nullable, Options, check_parameters
from skeval.exceptions import InvalidParameterError, SchemaMismatchError
from skeval.generators._columns import check_table, start_draw

__all__ = ["DPHistogram"]

_MOST_CELLS = 4_000_000
_DAY = 86_400_000_000  # microseconds
_SENSITIVITY = {"add_remove": 1, "replace": 2}


class DPHistogram(BaseEstimator):
    """Sample from noisy counts of the cells of a public domain: differential privacy, exactly.

    The simplest generator with a guarantee, and the yardstick that an audit needs: its epsilon is
    what it says, so that a bound above it is the auditor's fault. It counts the training rows in
    every combination of categories and bins, adds noise to each count, the empty ones included, and
    samples rows by the counts, those below 0 being 0. With more cells than rows the noise of empty
    cells drowns the rest: it is for few columns.

    Parameters
    ----------
    domain : mapping of str to sequence or pandas.CategoricalDtype
        For each column what values it may have, known without looking at the table. Numbers or
        dates in ascending order are edges of bins, closed on the left, the last on both sides;
        whole numbers bin whole numbers, and dates without a time of day such dates. Strings or
        truths are categories, and so are the categories of a `CategoricalDtype`, whatever they
        are. With None among them, missing is a value too.
    epsilon : float, default=1.0
        The privacy parameter, above 0; delta is 0.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        What epsilon protects: one row more or less, or one row that is another. The second takes
        twice the noise.
    random_state : int or None, default=None
        Seed of the noise, and of :meth:`sample` where that gets none; they are drawn from streams
        of their own. **Whoever knows the seed can take off the noise: the guarantee holds for None,
        and for seeds that are secret and used once.** Others are for tests.

    Attributes
    ----------
    counts_ : ndarray of int64, of shape (n_cells of column 1, n_cells of column 2, ...)
        The noisy counts; no other trace of the table is kept.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its legal set, or the domain has more than four million cells.

    Notes
    -----
    Adding or removing a row changes one count by 1; replacing it changes two. With s = 1 or 2 of
    these, noise k has a probability proportional to ``exp(-epsilon |k| / s)``, the two-sided
    geometric law, drawn as the difference of two geometric numbers. Counts and noise being whole,
    every noisy count can stem from every true one, at odds of at most ``exp(epsilon)``. Laplace
    noise in floating point is another matter: which doubles can come out depends on the true count,
    and their last digits tell it. What remains is that NumPy's generator is no cryptographic one,
    and that it resolves probabilities to 53 bits.

    A value outside the domain counts as the nearest bin's, or as the first category or bin if it is
    no number or no known category; so does a missing one where None is not in the domain. The types
    of the sampled columns come from the domain, not from the table. Neither thing looks at more
    than one row, which a guarantee needs: a type or an error that one row decides is a leak.

    Clipping noisy counts at 0 adds about half the noise's scale to each empty cell on average.

    References
    ----------
    A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy mechanisms",
    SIAM Journal on Computing 41 (2012), doi:10.1137/09076828X.

    I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012,
    doi:10.1145/2382196.2382264.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import DPHistogram
    >>> domain = {"age": [0, 30, 45, 60, 120], "plan": ["basic", "family", "premium"]}
    >>> train = make_mixed(5_000)[["age", "plan"]]
    >>> synthetic = DPHistogram(domain, epsilon=1.0, random_state=0).fit(train).sample(5_000)
    >>> [round(float((t["plan"] == "basic").mean()), 1) for t in (train, synthetic)]
    [0.5, 0.5]
    """

    _legal: ClassVar[dict[str, Constraint]] = {
        "epsilon": Interval(float, 0.0, None, "neither"),
        "adjacency": Options(tuple(_SENSITIVITY)),
        "random_state": Nullable(Interval(int, 0, None)),
    }

    def __init__(
        self,
        domain: Mapping[str, Sequence[Any] | pd.CategoricalDtype],
        epsilon: float = 1.0,
        *,
        adjacency: str = "add_remove",
        random_state: int | None = None,
    ) -> None:
        self.domain = domain
        self.epsilon = epsilon
        self.adjacency = adjacency
        self.random_state = random_state

    def fit(self, table: pd.DataFrame) -> Self:
        """Count the rows of each cell, with noise that is drawn anew.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows, with the columns of the domain, in any order.

        Returns
        -------
        DPHistogram
            The fitted generator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter is outside its legal set.
        TableError, SchemaMismatchError
            If `table` is not a DataFrame with rows and the columns of the domain.
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self._legal)
        axes = _axes_of(self.domain)
        check_table(self, table)
        table = table.set_axis([str(name) for name in table.columns], axis="columns")
        self._check_columns(table)
        shape = tuple(axis.n_cells for axis in axes.values())
        codes = [axis.codes(table[name]) for name, axis in axes.items()]
        flat = np.ravel_multi_index(codes, shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape)))
        # another stream than that of sample, which an equal seed must not bring into step
        (stream,) = np.random.SeedSequence(self.random_state).spawn(1)
        noise = self._noise(counts.size, np.random.default_rng(stream))
        self.counts_ = (counts + noise).reshape(shape)
        self._axes = axes
        return self

    def sample(self, n: int, random_state: int | None = None) -> pd.DataFrame:
        """Draw rows by the noisy counts; that costs no privacy, however many are drawn.

        Parameters
        ----------
        n : int
            How many. Where `adjacency` is "add_remove", the size of the training table is protected
            too: take a number that does not come from it.
        random_state : int or None, default=None
            Seed of this draw; None takes the generator's own, and if that is None too, draws anew
            each time. Equal seeds give equal rows.

        Returns
        -------
        DataFrame of shape (n, n_columns)
            In the order of the domain. Numbers and dates are uniform within their bin.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        InvalidParameterError
            If `n` is below 1.
        """
        rng = start_draw(self, n, random_state)
        weights = np.maximum(self.counts_.ravel(), 0)
        # all cells alike where the noise left none
        cumulative = np.cumsum(weights if weights.any() else np.ones_like(weights))
        cells = np.searchsorted(cumulative, rng.integers(cumulative[-1], size=n), side="right")
        codes = np.unravel_index(cells, self.counts_.shape)
        return pd.DataFrame(
            {
                name: axis.draw(code, rng)
                for (name, axis), code in zip(self._axes.items(), codes, strict=True)
            }
        )

    def _noise(self, n: int, rng: np.random.Generator) -> np.ndarray:
        stop = -np.expm1(-self.epsilon / _SENSITIVITY[self.adjacency])
        noise: np.ndarray = rng.geometric(stop, n) - rng.geometric(stop, n)
        return noise

    def _check_columns(self, table: pd.DataFrame) -> None:
        known = [str(name) for name in self.domain]
        if sorted(table.columns) != sorted(known):
            raise SchemaMismatchError(
                f"DPHistogram.fit expected the columns of the domain, {', '.join(known)}, and got "
                f"{', '.join(table.columns)}."
            )


@dataclass(frozen=True)
class _Categories:
    """A column of categories: cell k is the k-th one."""

    dtype: pd.CategoricalDtype
    missing: bool

    @property
    def n_cells(self) -> int:
        return len(self.dtype.categories) + self.missing

    def codes(self, column: pd.Series) -> np.ndarray:
        place = {label: k for k, label in enumerate(self.dtype.categories)}
        found = np.fromiter((_place(place, value) for value in column), np.int64, len(column))
        if self.missing:
            found[column.isna().to_numpy(dtype=bool)] = self.n_cells - 1
        return found

    def draw(self, codes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        known = np.where(codes < len(self.dtype.categories), codes, -1)
        values = pd.Series(pd.Categorical.from_codes(known, dtype=self.dtype))
        if self.missing or self.dtype.categories.dtype != bool:
            return values
        return values.astype(bool)


@dataclass(frozen=True)
class _Bins:
    """A column of numbers, or of dates as microseconds: bins between `edges`, int64 or float64.

    Whole numbers are drawn in multiples of `step`.
    """

    edges: np.ndarray
    missing: bool
    dates: bool = False
    step: int = 1

    @property
    def n_cells(self) -> int:
        return len(self.edges) - 1 + self.missing

    def codes(self, column: pd.Series) -> np.ndarray:
        column = column.astype(object)  # so that each value is read by itself
        if self.dates:
            read = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
            values = read.dt.tz_convert(None).to_numpy("datetime64[us]").astype(np.int64)
            absent = read.isna().to_numpy()
        else:
            values = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
            absent = np.isnan(values)
        found = np.searchsorted(self.edges[1:-1], values, side="right")
        return np.where(absent, self.n_cells - 1 if self.missing else 0, found)

    def draw(self, codes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        absent = codes > len(self.edges) - 2
        bins = np.where(absent, 0, codes)
        low, high = self.edges[bins], self.edges[bins + 1]
        if self.edges.dtype.kind == "f":
            return pd.Series(rng.uniform(low, high)).mask(absent)
        last = bins == len(self.edges) - 2  # the one bin whose upper edge belongs to it
        whole = rng.integers(low // self.step, high // self.step + last) * self.step
        if self.dates:
            return pd.Series(whole.view("datetime64[us]")).mask(absent)
        return pd.Series(whole, dtype="Int64").mask(absent) if self.missing else pd.Series(whole)


_Axis = _Categories | _Bins


def _place(place: Mapping[Any, int], value: Any) -> int:
    try:
        return place.get(value, 0)
    except TypeError:  # a list or the like: no category, and no error that one row could cause
        return 0


def _axes_of(domain: Any) -> dict[str, _Axis]:
    """Read a domain; raise one error for all columns that are none."""
    if not isinstance(domain, Mapping) or not domain:
        raise InvalidParameterError(
            "DPHistogram: domain must map each column to its categories or to the edges of its "
            f"bins, got {domain!r}."
        )
    axes = {str(name): _axis_of(values) for name, values in domain.items()}
    if wrong := [name for name, axis in axes.items() if axis is None]:
        raise InvalidParameterError(
            "DPHistogram: domain needs at least one category, all of them distinct, or two edges "
            f"in ascending order for each column; {', '.join(wrong)} has neither."
        )
    found = {name: axis for name, axis in axes.items() if axis is not None}
    # as whole numbers of Python, which do not overflow
    n_cells = 1
    for axis in found.values():
        n_cells *= axis.n_cells
    if n_cells > _MOST_CELLS:
        raise InvalidParameterError(
            f"DPHistogram: the domain has {n_cells:,} cells, and {_MOST_CELLS:,} are the most that "
            "are counted; give it fewer columns, or wider bins."
        )
    return found


def _axis_of(values: Any) -> _Axis | None:
    if isinstance(values, pd.CategoricalDtype):
        known = values.categories
        return None if known is None or known.empty else _Categories(values, missing=False)
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return None
    given = list(values)
    present = [value for value in given if not _is_missing(value)]
    missing = len(present) < len(given)
    if not present or len(given) - len(present) > 1:
        return None
    index = pd.Index(present)
    if index.dtype.kind not in "iufM":
        return _Categories(pd.CategoricalDtype(index), missing) if index.is_unique else None
    if len(present) < 2 or not all(low < high for low, high in pairwise(present)):
        return None
    if index.dtype.kind == "M":
        return _date_bins(pd.DatetimeIndex(index), missing)
    whole = index.dtype.kind in "iu"
    edges = np.asarray(index, dtype=np.int64 if whole else np.float64)
    return _Bins(edges, missing) if np.isfinite(edges).all() else None


def _date_bins(index: pd.DatetimeIndex, missing: bool) -> _Bins:
    plain = index if index.tz is None else index.tz_convert(None)
    edges = np.asarray(plain, dtype="datetime64[us]").astype(np.int64)
    whole_days = not (edges % _DAY).any()
    return _Bins(edges, missing, dates=True, step=_DAY if whole_days else 1)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or bool(value != value)
