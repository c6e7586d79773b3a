"""A generator whose epsilon is exact: noisy counts of the cells of a domain that is public."""

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
    "one or more distinct strings or truths, two or more numbers or dates in ascending order "
    "(finite; whole ones within int64), or a CategoricalDtype with distinct categories"
)


class DPHistogram(Sampler):
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
        dates (also `datetime.date`) in ascending order are edges of bins, closed on the left, the
        last on both sides; whole numbers bin whole numbers, and dates without a time of day such
        dates. Strings or truths are categories, and so are the categories of a `CategoricalDtype`
        of any type. With None among them, missing is a value too. Other things, durations for one,
        are refused: give them as numbers, or as a `CategoricalDtype`.
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

    See Also
    --------
    skeval.privacy.DPAudit : What tests its promise.

    Notes
    -----
    Adding or removing a row changes one count by 1; replacing it changes two. With s = 1 or 2 of
    these, noise k has a probability proportional to ``exp(-epsilon |k| / s)``, the two-sided
    geometric distribution, drawn as the difference of two geometric numbers. Counts and noise being
    whole, every noisy count can stem from every true one, at odds of at most ``exp(epsilon)``.
    Laplace noise in floating point is another matter: which doubles can come out depends on the
    true count, and their last digits give it away. What remains is that NumPy's generator is no
    cryptographic one, and that it resolves probabilities to 53 bits.

    A value outside the domain counts as the nearest bin's; an unknown category as the first. What
    is no number or no date counts as missing, and what is missing as the first category or bin
    where None is not in the domain. The types of the sampled columns come from the domain, not from
    the table. Neither thing looks at more than one row, which a guarantee needs: a type or an error
    that one row decides is a leak.

    Each cell is read by itself, with any object in it. The type of its column plays no part, since
    a further row may change that: numbers, and numbers in strings, as float64; dates, and those
    that strings give by ISO 8601, in UTC and to the microsecond. What a reader of files does before
    that, by rules that look at all rows, is not covered.

    Drawing rows costs no privacy, however many they are. But where `adjacency` is "add_remove", the
    size of the training table is protected too: take a number of rows that does not come from it.
    Columns come in the order of the domain; numbers and dates are uniform within their bin.

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
        """Count the rows of each cell, with noise that is drawn anew.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows, with the columns of the domain, in any order. There may be no rows: the
            neighbour of a table of one has none.
        y : ignored
            Pipelines of scikit-learn pass it.

        Returns
        -------
        DPHistogram
            The fitted generator itself.

        Raises
        ------
        InvalidParameterError
            If a parameter is outside its legal set.
        TableError, SchemaMismatchError
            If `table` is not a DataFrame with the columns of the domain.
        """
        self._check_parameters()
        axes = axes_of(self.domain)
        if not isinstance(table, pd.DataFrame):
            raise TableError(
                f"DPHistogram.fit expected a DataFrame, and got {type(table).__name__}."
            )
        table = table.set_axis([str(name) for name in table.columns], axis="columns")
        if sorted(table.columns) != sorted(axes):
            raise SchemaMismatchError(
                f"DPHistogram.fit expected the columns of the domain, {', '.join(axes)}, and got "
                f"{', '.join(table.columns)}."
            )
        shape = tuple(axis.n_cells for axis in axes.values())
        codes = [axis.codes(table[name]) for name, axis in axes.items()]
        flat = np.ravel_multi_index(codes, shape)
        counts = np.bincount(flat, minlength=math.prod(shape))
        sensitivity = _SENSITIVITY[self.adjacency]
        # another stream than that of sample, which an equal seed must not bring into step
        (stream,) = np.random.SeedSequence(self.random_state).spawn(1)
        rng, stop = np.random.default_rng(stream), -np.expm1(-self.epsilon / sensitivity)
        noise = rng.geometric(stop, counts.size) - rng.geometric(stop, counts.size)
        self.counts_ = (counts + noise).reshape(shape)
        self._axes, TRAINED[self] = axes, table
        return self

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
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


@dataclass(frozen=True)
class Categories:
    """A column of categories: cell k is the k-th one."""

    dtype: pd.CategoricalDtype
    missing: bool

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
        return len(self.dtype.categories) + self.missing

    def keys(self) -> dict[Hashable, int]:
        """Return the cell of each category, by what it is looked up by."""
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
    """A column of numbers, or of dates as microseconds: bins between int64 or float64 edges."""

    edges: np.ndarray
    missing: bool
    dates: bool = False
    step: int = 1  # what whole numbers are multiples of

    @property
    def n_cells(self) -> int:
        """How many cells there are."""
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
            # their difference may be infinite; this sum lies between them but for rounding
            values = np.clip(low * (1.0 - part) + high * part, low, high)
            return pd.Series(values).mask(absent)
        last = bins == len(self.edges) - 2  # the one bin whose upper edge belongs to it
        highest = high // self.step - ~last
        whole = rng.integers(low // self.step, highest, endpoint=True) * self.step
        if self.dates:
            return pd.Series(whole.view("datetime64[us]")).mask(absent)
        return pd.Series(whole, dtype="Int64").mask(absent) if self.missing else pd.Series(whole)


Axis = Categories | Bins


def axes_of(domain: Any) -> dict[str, Axis]:
    """Read a domain; one error names all faulty columns."""
    if not isinstance(domain, Mapping) or not domain:
        raise InvalidParameterError(
            "DPHistogram: domain must map each column to its categories or to the edges of its "
            f"bins, got {domain!r}."
        )
    axes = {str(name): _axis_of(values) for name, values in domain.items()}
    if wrong := [name for name, axis in axes.items() if axis is None]:
        raise InvalidParameterError(
            f"DPHistogram: domain needs for each column {_WANTED}; {', '.join(wrong)} has none of "
            "these."
        )
    complete = {name: axis for name, axis in axes.items() if axis is not None}
    # a whole number of Python, which does not overflow
    n_cells = math.prod(axis.n_cells for axis in complete.values())
    if n_cells > MAX_CELLS:
        raise InvalidParameterError(
            f"DPHistogram: the domain has {n_cells:,} cells, and {MAX_CELLS:,} are the most that "
            "are counted; give it fewer columns, or wider bins."
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
    """Return an axis whose categories differ in what is read of them; None if there are none."""
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
