"""A differentially private generator that samples from noisy counts of a public domain."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from skeval.exceptions import InvalidParameterError, SchemaMismatchError, TableError
from skeval.generators.base import TRAINED, Sampler
from skeval.generators.cells import (
    date_of,
    dates_of,
    is_date,
    is_missing,
    is_number,
    key_of,
    read_each,
    read_numbers,
)
from skeval.utils.parameters import Positive, Seed

_SENSITIVITY = {"add_remove": 1, "replace": 2}
MAX_CELLS = 4_000_000
_DAY = 86_400_000_000  # microseconds
_WANTED = (
    "at least one distinct string or boolean, at least two numbers or dates in ascending order "
    "(finite, and integers within int64), or a CategoricalDtype with distinct categories"
)


class DPHistogram(Sampler):
    """Sample from noisy counts over a public domain, with an exact privacy guarantee.

    This is the simplest generator with a differential privacy guarantee. It is the reference for
    audits, because its true epsilon is known exactly. If an audit reports a lower bound above this
    epsilon, the audit is wrong. The generator counts the training rows in every combination of
    categories and bins (cell), adds noise to each count, including empty cells, and samples rows
    according to the counts. Negative counts are set to 0. If there are more cells than rows, the
    noise of empty cells dominates, so use only few columns.

    Parameters
    ----------
    domain : mapping of str to sequence or pandas.CategoricalDtype
        Possible values of each column, which must be known independently of the table. Numbers or
        dates (also `datetime.date`) in ascending order are bin edges. Bins are closed on the left,
        and the last bin on both sides. Integer edges produce integers, and edges that are dates
        without a time of day produce such dates. Strings or booleans are categories, and so are the
        categories of any `CategoricalDtype`. If the values include None, missing is a category too.
        Other values, for example durations, raise an error. Convert them to numbers or use a
        `CategoricalDtype`.
    epsilon : float, default=1.0
        The privacy parameter, above 0. Delta is 0.
    adjacency : {"add_remove", "replace"}, default="add_remove"
        Difference between neighboring tables that epsilon protects. With "add_remove", one row is
        added or removed. With "replace", one row is replaced, which requires twice the noise.
    random_state : int or None, default=None
        Seed of the noise, and of :meth:`sample` if the method gets no seed. The two use separate
        random streams. **Anyone who knows the seed can subtract the noise. The guarantee is valid
        for None, and for secret seeds that are used once.** Other seeds are for tests.

    Attributes
    ----------
    counts_ : ndarray of int64, of shape (n_cells of column 1, n_cells of column 2, ...)
        The noisy counts. No other information about the table is kept.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its legal set, or the domain has more than four million cells.

    See Also
    --------
    skeval.privacy.DPAudit : Tests the privacy guarantee.

    Notes
    -----
    Adding or removing a row changes one count by 1. Replacing a row changes two counts. With a
    sensitivity s of 1 or 2, the probability of noise k is proportional to ``exp(-epsilon |k| / s)``
    (two-sided geometric distribution). The noise is sampled as the difference of two geometric
    numbers. Counts and noise are integers, so every true count can produce every noisy count, and
    the odds ratio is at most ``exp(epsilon)``. Laplace noise in floating point does not have this
    property, because the possible doubles depend on the true count, and their last digits reveal
    it. Two limits remain. The random generator of NumPy is not cryptographic, and it resolves
    probabilities to 53 bits.

    A value outside the domain is counted in the closest bin, and an unknown category is counted as
    the first category. Values that are not numbers or dates are treated as missing. If the domain
    does not contain None, missing values are counted in the first category or bin. The types of the
    sampled columns depend on the domain and not on the table. Neither rule depends on more than one
    row. The guarantee requires this, because a type or an error that depends on one row is a leak.

    Each cell is parsed separately and may contain any object. The type of its column has no
    influence, because an additional row may change this type. Numbers and numeric strings are
    parsed as float64. Dates and ISO 8601 strings are parsed in UTC with microsecond resolution. The
    guarantee does not cover file readers that apply rules to all rows before the fit.

    Sampling does not consume privacy budget, regardless of the number of rows. However, if
    `adjacency` is "add_remove", the size of the training table is protected too, so use a number of
    rows that does not depend on it. The columns have the order of the domain. Numbers and dates are
    uniform within their bin.

    Clipping noisy counts at 0 adds on average about half the scale of the noise to each empty cell.

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

    def __init__(
        self,
        domain: Mapping[str, Sequence[Any] | pd.CategoricalDtype],
        epsilon: Positive = 1.0,
        *,
        adjacency: Literal["add_remove", "replace"] = "add_remove",
        random_state: Seed | None = None,
    ) -> None:
        self.domain = domain
        self.epsilon = epsilon
        self.adjacency = adjacency
        self.random_state = random_state

    def fit(self, table: pd.DataFrame, y: Any = None) -> Self:
        """Count the rows of each cell and add new noise.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows with the columns of the domain, in any order. The table may be empty,
            because an empty table is a neighbor of a table with one row.
        y : ignored
            Accepted because pipelines of scikit-learn pass it.

        Returns
        -------
        DPHistogram
            The fitted generator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter is not valid.
        TableError, SchemaMismatchError
            If `table` is not a DataFrame with the columns of the domain.
        """
        self._check_parameters()
        axes = axes_of(self.domain)
        if not isinstance(table, pd.DataFrame):
            raise TableError(
                f"DPHistogram.fit expected a DataFrame, but got {type(table).__name__}."
            )
        table = table.set_axis([str(name) for name in table.columns], axis="columns")
        if sorted(table.columns) != sorted(axes):
            raise SchemaMismatchError(
                f"DPHistogram.fit expected the columns of the domain, {', '.join(axes)}, but got "
                f"{', '.join(table.columns)}."
            )
        shape = tuple(axis.n_cells for axis in axes.values())
        codes = [axis.codes(table[name]) for name, axis in axes.items()]
        flat = np.ravel_multi_index(codes, shape)
        counts = np.bincount(flat, minlength=math.prod(shape))
        sensitivity = _SENSITIVITY[self.adjacency]
        # Use a different stream than sample, because equal seeds must not correlate the two.
        (stream,) = np.random.SeedSequence(self.random_state).spawn(1)
        rng, stop = np.random.default_rng(stream), -np.expm1(-self.epsilon / sensitivity)
        noise = rng.geometric(stop, counts.size) - rng.geometric(stop, counts.size)
        self.counts_ = (counts + noise).reshape(shape)
        self._axes, TRAINED[self] = axes, table
        return self

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        weights = np.maximum(self.counts_.ravel(), 0)
        # All cells have equal weight if no count is positive after adding noise.
        cumulative = np.cumsum(weights if weights.any() else np.ones_like(weights))
        cells = np.searchsorted(cumulative, rng.integers(cumulative[-1], size=n), side="right")
        codes = np.unravel_index(cells, self.counts_.shape)
        return pd.DataFrame(
            {
                name: axis.draw(code, rng)
                for (name, axis), code in zip(self._axes.items(), codes, strict=True)
            }
        )


@dataclass(frozen=True)
class Categories:
    """A column of categories, in which cell k is the k-th category."""

    dtype: pd.CategoricalDtype
    missing: bool

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.dtype.categories) + self.missing

    def keys(self) -> dict[Hashable, int]:
        """Return the cell of each category by lookup key."""
        return {key_of(label): k for k, label in enumerate(self.dtype.categories)}

    def codes(self, column: pd.Series) -> np.ndarray:
        """Return the cell of each value."""
        keys, absent = self.keys(), self.n_cells - 1 if self.missing else 0

        def code(value: Any) -> int:
            return absent if is_missing(value) else keys.get(key_of(value), 0)

        return np.array(read_each(column, code, 0), dtype=np.int64)

    def draw(self, codes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        """Return a value of each cell."""
        known = np.where(codes < len(self.dtype.categories), codes, -1)
        values = pd.Series(pd.Categorical.from_codes(known, dtype=self.dtype))
        if self.missing or self.dtype.categories.dtype != bool:
            return values
        return values.astype(bool)


@dataclass(frozen=True)
class Bins:
    """A column of numbers, or of dates as microseconds, with int64 or float64 bin edges."""

    edges: np.ndarray
    missing: bool
    dates: bool = False
    step: int = 1  # integers are multiples of this step

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self.edges) - 1 + self.missing

    def codes(self, column: pd.Series) -> np.ndarray:
        """Return the cell of each value."""
        if self.dates:
            values, absent = dates_of(column)
        else:
            values = read_numbers(column)
            absent = np.isnan(values)
        cells = np.searchsorted(self.edges[1:-1], values, side="right")
        return np.where(absent, self.n_cells - 1 if self.missing else 0, cells)

    def draw(self, codes: np.ndarray, rng: np.random.Generator) -> pd.Series:
        """Return a value of each cell."""
        absent = codes > len(self.edges) - 2
        bins = np.where(absent, 0, codes)
        low, high = self.edges[bins], self.edges[bins + 1]
        if self.edges.dtype.kind == "f":
            part = rng.random(len(bins))
            # The difference may be infinite. This sum is between low and high except for rounding.
            values = np.clip(low * (1.0 - part) + high * part, low, high)
            return pd.Series(values).mask(absent)
        last = bins == len(self.edges) - 2  # only the last bin includes its upper edge
        highest = high // self.step - ~last
        whole = rng.integers(low // self.step, highest, endpoint=True) * self.step
        if self.dates:
            return pd.Series(whole.view("datetime64[us]")).mask(absent)
        return pd.Series(whole, dtype="Int64").mask(absent) if self.missing else pd.Series(whole)


Axis = Categories | Bins


def axes_of(domain: Any) -> dict[str, Axis]:
    """Parse a domain, and raise one error for all invalid columns."""
    if not isinstance(domain, Mapping) or not domain:
        raise InvalidParameterError(
            "DPHistogram: domain must map each column to its categories or to the edges of its "
            f"bins, but got {domain!r}."
        )
    axes = {str(name): _axis_of(values) for name, values in domain.items()}
    if wrong := [name for name, axis in axes.items() if axis is None]:
        raise InvalidParameterError(
            f"DPHistogram: domain must specify for each column {_WANTED}. The values of "
            f"{', '.join(wrong)} are not valid."
        )
    complete = {name: axis for name, axis in axes.items() if axis is not None}
    # A Python integer does not overflow.
    n_cells = math.prod(axis.n_cells for axis in complete.values())
    if n_cells > MAX_CELLS:
        raise InvalidParameterError(
            f"DPHistogram: the domain has {n_cells:,} cells, but the maximum is {MAX_CELLS:,}. "
            "Use fewer columns or wider bins."
        )
    return complete


def _axis_of(values: Any) -> Axis | None:
    if isinstance(values, pd.CategoricalDtype):
        return None if values.categories is None else _distinct(Categories(values, missing=False))
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        return None
    given = list(values)
    present = [value for value in given if not is_missing(value)]
    n_missing = len(given) - len(present)
    if n_missing > 1:
        return None
    for belongs, made in _KINDS:
        if all(belongs(value) for value in present):
            return made(present, n_missing == 1)
    return None


def _distinct(axis: Categories) -> Categories | None:
    """Return an axis if its categories have distinct lookup keys, or None."""
    return axis if 0 < len(axis.dtype.categories) == len(axis.keys()) else None


def _categories(labels: list[Any], missing: bool) -> Categories | None:
    index = pd.Index(labels)
    return _distinct(Categories(pd.CategoricalDtype(index), missing)) if index.is_unique else None


def _date_bins(dates: list[Any], missing: bool) -> Bins | None:
    edges = np.array([date_of(date) for date in dates], dtype=np.int64)
    whole_days = not (edges % _DAY).any()
    return _ascending(Bins(edges, missing, dates=True, step=_DAY if whole_days else 1))


def _number_bins(numbers: list[Any], missing: bool) -> Bins | None:
    whole = all(isinstance(number, int | np.integer) for number in numbers)
    try:
        edges = np.array(
            [int(n) if whole else float(n.real) for n in numbers],
            dtype=np.int64 if whole else np.float64,
        )
    except OverflowError:
        return None
    return _ascending(Bins(edges, missing))


def _ascending(bins: Bins) -> Bins | None:
    low, high = bins.edges[:-1], bins.edges[1:]
    right = len(low) > 0 and bool((low < high).all()) and bool(np.isfinite(bins.edges).all())
    return bins if right else None


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[list[Any], bool], Axis | None]], ...] = (
    (lambda value: isinstance(value, str), _categories),
    (lambda value: isinstance(value, bool | np.bool_), _categories),
    (is_date, _date_bins),
    (lambda value: is_number(value) and not isinstance(value, bool | np.bool_), _number_bins),
)
