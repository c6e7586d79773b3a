"""What all generators do with tables: check them, read columns of any dtype and write them.

The generators that any other has to beat: copies of rows, and independent columns.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skeval.exceptions import NotRememberedError, TableError
from skeval.utils.parameters import Count, Seed, check_parameters, legal_sets, with_known_names

# Floats with at most that many decimals are taken as rounded, and rounded again when sampled.
_MOST_DECIMALS = 6
T = TypeVar("T")
# Later and earlier dates count as these, which all resolutions of pandas can be brought to.
_LAST = (2**63 - 1) // 1_000_000 * 1_000_000
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_MICROSECONDS = {
    "W": 604_800_000_000,
    "D": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
_PARTS = {"ns": 1_000, "ps": 10**6, "fs": 10**9, "as": 10**12}  # of a microsecond
# Tuples are faster to ask than unions, and exact types faster than the abstract ones of numbers.
_PLAIN = frozenset({float, int, bool})
_COMPLEX = (complex, np.complexfloating)
_REAL = (Real, Decimal, np.bool_)
_NOT_A = (float, complex, np.inexact)
_NUMPY_TIMES = (np.datetime64, np.timedelta64)
_DATES = (datetime.date, np.datetime64)


@dataclass
class Codes:
    """A column as ranks of its distinct values, -1 where missing, and a row to find each at."""

    codes: np.ndarray
    positions: np.ndarray
    ordered: bool


# what generators were fitted on is not part of them: it ends with the object, and no copy has it
TRAINED: WeakKeyDictionary[Any, pd.DataFrame] = WeakKeyDictionary()


def note_features(generator: Any, train: pd.DataFrame) -> None:
    """Set the attributes that scikit-learn's estimators have after fit."""
    generator.n_features_in_ = train.shape[1]
    generator.feature_names_in_ = np.array([str(name) for name in train.columns], dtype=object)


class Sampler(BaseEstimator):
    """Base of the generators here: :meth:`fit` on a table, then :meth:`sample` tables like it."""

    random_state: int | None
    _needs_hashes: ClassVar[bool] = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = with_known_names(cls.__init__)  # type: ignore[method-assign]

    def fit(self, table: pd.DataFrame, y: Any = None) -> Self:
        """Learn from a training table.

        Parameters
        ----------
        table : DataFrame of shape (n_rows, n_columns)
            Training rows, of any dtypes.
        y : ignored
            Pipelines of scikit-learn pass it.

        Returns
        -------
        self

        Raises
        ------
        TableError
            If `table` is not a DataFrame or has no rows, or if its values cannot be hashed and the
            generator has to tell them apart.
        InvalidParameterError
            If a parameter is outside its legal set, or names columns that are not there.
        """
        train = self._checked(table)
        self._learn(train)
        TRAINED[self] = train
        note_features(self, train)
        return self

    def sample(self, n: Count, random_state: Seed | None = None) -> pd.DataFrame:
        """Draw rows with the columns and dtypes of the training table.

        Parameters
        ----------
        n : int
            How many.
        random_state : int or None, default=None
            Seed of this draw; None takes the generator's own, and if that is None too, draws anew
            each time. Equal seeds give equal rows.

        Returns
        -------
        DataFrame of shape (n, n_columns)

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If `fit` has not been called.
        InvalidParameterError
            If `n` is below 1.
        """
        check_is_fitted(self)
        given = {"n": n, "random_state": random_state}
        check_parameters(f"{type(self).__name__}.sample", given, legal_sets(Sampler.sample))
        seed = self.random_state if random_state is None else random_state
        return self._draw(n, np.random.default_rng(seed))

    def train_rows(self) -> pd.DataFrame:
        """Return the rows that the generator was fitted on, as searches ask for them.

        Raises
        ------
        NotRememberedError
            If the generator was copied or pickled since: neither takes the table with it.
        """
        check_is_fitted(self)
        if self not in TRAINED:
            raise NotRememberedError(
                "The training rows were left out when this generator was copied or pickled. Fit "
                "it again, or fit GeneratorAdapter(generator) and set remember_rows_ = True."
            )
        return TRAINED[self]

    def _learn(self, train: pd.DataFrame) -> None:
        raise NotImplementedError

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))

    def _checked(self, table: object) -> pd.DataFrame:
        """Return the training table under a plain index, or raise one error for all its faults."""
        self._check_parameters()
        owner = f"{type(self).__name__}.fit"
        if not isinstance(table, pd.DataFrame) or table.empty:
            name = type(table).__name__
            came = f"shape {table.shape}" if isinstance(table, pd.DataFrame) else name
            raise TableError(f"{owner} expected a DataFrame with rows and columns, and got {came}.")
        columns = table.items() if self._needs_hashes else ()
        faults = [
            str(name)
            for name, column in columns
            if column.dtype == object and any(t.__hash__ is None for t in set(map(type, column)))
        ]
        if faults:
            raise TableError(
                f"{owner} expected values that can be hashed, and got lists or the like in "
                f"{', '.join(faults)}. Drop these columns, or turn their values into strings."
            )
        return table.reset_index(drop=True)


def frame_of(columns: Iterable[pd.Series], names: pd.Index) -> pd.DataFrame:
    """Put columns side by side under a plain row index; names may occur twice."""
    table = pd.DataFrame({j: c.reset_index(drop=True) for j, c in enumerate(columns)})
    table.columns = names
    return table


def kind_of(dtype: Any) -> str:
    """Return numpy's letter for numbers (i, u, f), truths (b), dates (M), durations (m); else O."""
    kind = getattr(dtype, "kind", "O")
    return kind if kind in "iufbMm" else "O"


def ordered_codes(column: pd.Series) -> Codes:
    """Rank the values of a column; unordered ones in order of appearance."""
    missing = column.isna().to_numpy(dtype=bool)
    ordered = kind_of(column.dtype) != "O" or bool(getattr(column.dtype, "ordered", False))
    rows = np.flatnonzero(~missing)
    keys = numbers_of(column.iloc[rows]) if ordered else pd.factorize(column.iloc[rows])[0]
    _, first, ranks = np.unique(keys, return_index=True, return_inverse=True)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[rows] = ranks
    return Codes(codes, rows[first], ordered)


def frequency_ranks(codes: np.ndarray) -> np.ndarray:
    """Recode levels, missing among them, so that the most frequent is 0."""
    counts = np.bincount(codes + 1)
    ranks = np.empty(len(counts), dtype=np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return ranks[codes + 1]


def numbers_of(present: pd.Series) -> np.ndarray:
    """Return ordered values as int64, uint64, float64, datetime64 (in UTC) or timedelta64."""
    kind = kind_of(present.dtype)
    if kind == "O":
        return np.asarray(present.cat.codes)
    if kind == "M":
        dates = pd.DatetimeIndex(present)
        return np.asarray(dates if dates.tz is None else dates.tz_convert(None))
    if kind == "m":
        return np.asarray(pd.TimedeltaIndex(present))
    return np.asarray(present.to_numpy(dtype={"u": "uint64", "f": "float64"}.get(kind, "int64")))


def as_dtype(values: np.ndarray, dtype: Any) -> pd.Series:
    """Undo :func:`numbers_of`."""
    column = pd.Series(values)
    if getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None) is not None:
        column = column.dt.tz_localize("UTC")
    return column.astype(dtype)


@dataclass(frozen=True)
class Steps:
    """What the numbers, dates or durations of a column are multiples of.

    Attributes
    ----------
    decimals : int or None
        How many decimals floats have; None if they are not rounded, or no floats.
    step : int
        The largest step that all differences of others are multiples of.
    """

    decimals: int | None
    step: int

    @classmethod
    def of(cls, distinct: np.ndarray) -> Steps:
        """Return the grid of sorted values."""
        if distinct.dtype.kind == "f":
            return cls(_decimals_of(distinct), 1)
        # unsigned differences cannot overflow
        return cls(None, int(np.gcd.reduce(np.diff(distinct.view(np.uint64)))) or 1)

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """Return floats with the decimals of the column."""
        return values if self.decimals is None else np.asarray(values.round(self.decimals))

    def between(self, lower: np.ndarray, upper: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Return values that are a part of the way from the lower to the upper ones."""
        if lower.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                gap = upper - lower
            return self.rounded(lower + part * np.where(np.isfinite(gap), gap, 0.0))
        # unsigned differences cannot overflow, and float64 would lose the digits of the values
        gap = upper.view(np.uint64) - lower.view(np.uint64)
        part = np.minimum(part, np.nextafter(1.0, 0.0))  # all of 2**64 - 1 steps would overflow
        steps = np.rint(part * (gap // np.uint64(self.step))).astype(np.uint64)
        return np.asarray((lower.view(np.uint64) + steps * np.uint64(self.step)).view(lower.dtype))

    def part(self, lower: np.ndarray, upper: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return which part of the way from the lower to the upper ones values are."""
        if values.dtype.kind == "f":
            # halves, because the difference of huge numbers is infinite
            return (values / 2 - lower / 2) / np.where(upper > lower, upper / 2 - lower / 2, 1.0)
        way, whole = (end.view(np.uint64) - lower.view(np.uint64) for end in (values, upper))
        return way.astype(np.float64) / np.maximum(whole, 1)


def _decimals_of(distinct: np.ndarray) -> int | None:
    """Return how many decimals write all floats exactly; None if more than six."""
    for decimals in range(_MOST_DECIMALS + 1):
        with np.errstate(over="ignore"):  # huge numbers come back infinite, which they are not
            rounded = distinct.round(decimals)
        if np.array_equal(rounded, distinct):
            return decimals
    return None


def read_each(column: pd.Series, read: Callable[[Any], T], otherwise: T) -> list[T]:
    """Read each cell by itself; `otherwise` where that fails."""

    def read_one(cell: Any) -> T:
        try:
            return read(cell)
        except Exception:  # a cell may hold any object, and an error that one row causes is a leak
            return otherwise

    if isinstance(column.dtype, pd.CategoricalDtype):
        by_code = [*read_each(pd.Series(column.cat.categories), read, otherwise), read_one(None)]
        return [by_code[code] for code in column.cat.codes]  # that of missing is -1
    return [read_one(cell) for cell in _cells(column)]


def _cells(column: pd.Series) -> Iterator[Any]:
    try:
        yield from list(column)
    except (OverflowError, ValueError):  # dates of Arrow that Python has none for
        for i in range(len(column)):
            try:
                yield column.iloc[i]
            except (OverflowError, ValueError):
                yield None


def read_numbers(column: pd.Series) -> np.ndarray:
    """Return a column as float64, nan where a cell is missing or no number."""
    plain = kind_of(column.dtype) in "iufb" and not isinstance(column.dtype, pd.ArrowDtype)
    if plain and getattr(column.dtype, "itemsize", 0) <= 8:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.array(read_each(column, number_of, np.nan), dtype=np.float64)


def dates_of(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return a column as microseconds, and which cells are missing or no date."""
    if isinstance(column.dtype, pd.DatetimeTZDtype) or (
        isinstance(column.dtype, np.dtype) and column.dtype.kind == "M"
    ):
        dates = pd.DatetimeIndex(column)
        return _plain_microseconds(dates.asi8, dates.unit), np.asarray(dates.isna())
    dates = read_each(column, date_of, None)
    absent = np.array([date is None for date in dates], dtype=bool)
    return np.array([0 if date is None else date for date in dates], dtype=np.int64), absent


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NA, NaT or not a number."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return True
    if isinstance(cell, Decimal):
        return cell.is_nan()
    if isinstance(cell, _NUMPY_TIMES):
        return bool(np.isnat(cell))
    return isinstance(cell, _NOT_A) and bool(cell != cell)


def is_number(cell: Any) -> bool:
    """Return whether a cell is a real number, of any type, or a truth."""
    if type(cell) in _PLAIN:
        return True
    if isinstance(cell, _COMPLEX):
        return bool(cell.imag == 0)  # all of a column are complex where one of them is
    return isinstance(cell, _REAL) and not isinstance(cell, np.timedelta64)


def is_date(cell: Any) -> bool:
    """Return whether a cell is a date, with or without a time of day."""
    return isinstance(cell, _DATES) and not is_missing(cell)


def number_of(cell: Any) -> float:
    """Return a cell as a float, numbers in strings too; nan if it is none."""
    if isinstance(cell, str):
        return float(cell)
    if not is_number(cell) or is_missing(cell):
        return float("nan")
    try:
        return float(cell.real)
    except OverflowError:
        return float("inf") if cell > 0 else float("-inf")


def date_of(cell: Any) -> int | None:
    """Return a cell as microseconds since 1970 in UTC, dates as of ISO 8601 too; None if none."""
    if isinstance(cell, str):
        cell = _date_in(cell.strip())
    return _clipped(_microseconds(cell)) if is_date(cell) else None


def key_of(cell: Any) -> Hashable:
    """Return what a category is looked up by: alike for values that a column's type may change."""
    if isinstance(cell, str):
        return cell
    if is_number(cell):
        return number_of(cell)
    if is_date(cell):
        return "date", date_of(cell)
    if isinstance(cell, (datetime.timedelta, np.timedelta64)):
        return "duration", _clipped(_microseconds(cell))
    return cell


def _date_in(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:  # a year or a month alone, which it does not take
        return datetime.datetime.fromisoformat(text + {4: "-01-01", 7: "-01"}[len(text)])


def _clipped(microseconds: int) -> int:
    return max(-_LAST, min(microseconds, _LAST))


def _microseconds(value: Any) -> int:
    """Return a date or a duration as a whole number of Python, which does not overflow."""
    if isinstance(value, pd.Timestamp):  # its year may be one that Python's own dates do not have
        value = value.to_datetime64()
    elif isinstance(value, pd.Timedelta):
        value = value.to_timedelta64()
    if isinstance(value, _NUMPY_TIMES):
        return _numpy_microseconds(value)
    if isinstance(value, datetime.datetime):
        offset = value.utcoffset() or datetime.timedelta()
        return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND - offset // _MICROSECOND
    if isinstance(value, datetime.date):
        return (value - _EPOCH.date()) // _MICROSECOND
    return int(value // _MICROSECOND)


def _numpy_microseconds(value: np.datetime64 | np.timedelta64) -> int:
    unit, count = np.datetime_data(value.dtype)
    if unit in {"Y", "M"}:
        value, unit, count = value.astype("datetime64[D]"), "D", 1
    number = int(value.astype(np.int64)) * count
    return number // _PARTS[unit] if unit in _PARTS else number * _MICROSECONDS[unit]


def _plain_microseconds(values: np.ndarray, unit: str) -> np.ndarray:
    """Do what date_of does for a whole array of numbers of a unit."""
    if unit in _PARTS:
        return values // _PARTS[unit]
    factor = _MICROSECONDS[unit]
    return np.clip(values, -(_LAST // factor), _LAST // factor) * factor


class Bootstrap(Sampler):
    """Sample whole training rows with replacement.

    One end of the scale that tests and examples need: nothing is more faithful, and nothing leaks
    more. A measure of privacy that does not raise an alarm here cannot raise one anywhere.

    It is not private: every row it samples is a training row as it stands.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` where that gets none. Fitting is deterministic.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows, under a plain index.

    See Also
    --------
    IndependentMarginals : Copies cells and no rows.

    References
    ----------
    B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7 (1979),
    doi:10.1214/aos/1176344552.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.generators import Bootstrap
    >>> train = make_mixed()
    >>> synthetic = Bootstrap(random_state=0).fit(train).sample(1_000)
    >>> len(synthetic), len(synthetic.drop_duplicates()) <= len(train)
    (1000, True)
    """

    _needs_hashes = False

    def __init__(self, random_state: Seed | None = None) -> None:
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        self.train_ = train

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        drawn = self.train_.take(rng.integers(len(self.train_), size=n))
        drawn.index = pd.RangeIndex(n)
        return drawn


class IndependentMarginals(Sampler):
    """Sample each column on its own, with replacement, from its training values.

    The opposite of a good generator with the same marginals: measures of single columns find
    nothing to object to, while every association is gone. A measure that claims to look at more
    than marginals has to tell it from real rows.

    It is not private: every cell is a training value as it stands, so that a value that names one
    person (a key, an address, the highest income) comes out unchanged.

    Parameters
    ----------
    random_state : int or None, default=None
        Seed of :meth:`sample` where that gets none. Fitting is deterministic.

    Attributes
    ----------
    train_ : DataFrame of shape (n_rows, n_columns)
        The training rows, under a plain index.

    See Also
    --------
    GaussianCopula : Keeps correlations too.

    Notes
    -----
    Missing values are drawn like any other, so that their share stays too.

    Examples
    --------
    >>> from skeval.datasets import make_census
    >>> from skeval.generators import IndependentMarginals
    >>> train = make_census()
    >>> synthetic = IndependentMarginals(random_state=0).fit(train).sample(1_000)
    >>> [round(float(t["age"].mean())) for t in (train, synthetic)]
    [43, 43]
    """

    _needs_hashes = False

    def __init__(self, random_state: Seed | None = None) -> None:
        self.random_state = random_state

    def _learn(self, train: pd.DataFrame) -> None:
        self.train_ = train

    def _draw(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        n_rows, n_columns = self.train_.shape
        rows = rng.integers(n_rows, size=(n_columns, n))
        drawn = (self.train_.iloc[:, j].take(rows[j]) for j in range(n_columns))
        return frame_of(drawn, self.train_.columns)
