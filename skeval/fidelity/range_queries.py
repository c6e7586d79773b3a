"""Error of counting queries on synthetic data, compared with the training data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.counts import count_in_rows, sum_counts
from skeval.core.declared import declared
from skeval.core.tags import COLUMN_TAGS
from skeval.exceptions import DegenerateInputWarning
from skeval.results.result import Result, undefined_result
from skeval.stats.distributions import hypergeometric_deviation
from skeval.steps.column_choice import ColumnChoice, chosen_columns
from skeval.steps.columns import ROLES, sorted_values
from skeval.tables.preprocessing import NUMERIC, category_codes, numbers
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Count, Seed

_BLOCK = 2**15  # rows per block, so that the codes of a few columns fit in the CPU cache


@declared
class RangeQueryError(Metric):
    """Mean error of random counting queries on the synthetic data.

    A counting query asks for the fraction of rows that satisfy conditions on a few columns, for
    example an age between 30 and 45, a city and a date. The value is the mean absolute difference
    between the answers of the synthetic and the training data over random queries. It ranges from 0
    (equal answers) to 1. Lower is better.

    Parameters
    ----------
    order : int, default=3
        Number of columns per query. If a table has fewer columns, all columns are used.
    n_queries : int, default=1000
        Number of queries, which are drawn from the training data at fit.
    columns : None, int or list of str, default=None
        Columns to query: all, the first *n*, or a list of names.
    random_state : int, default=0
        Seed of the queries and of the independent rows for the floor.

    Warnings
    --------
    Most random queries have small answers, so the error is small even for poor tables. Compare it
    with ``details["floor"]``, the error for independent columns.

    See Also
    --------
    KMarginalSimilarity : Compares all joint cells of a few columns.
    QuantileMSE : Evaluates one column at a time.

    Notes
    -----
    The condition for a categorical column is a value, which can be the missing value. The condition
    for a numerical or datetime column is a range between two values. Values are drawn from the
    training rows, so frequent values are drawn more often. Therefore ranges between an outlier and
    the other values, which contain few rows, are rare. A missing number is not in any range.
    ``details["columns"]`` contains the mean error of the queries for each column, and
    ``details["errors"]`` contains quantiles over the queries.

    The mean error of random queries is usually small, so compare it with the baseline and with the
    references in ``details``. ``ceiling`` is the exact expected error if the rows of both tables
    are pooled and divided again at random. ``floor`` is the error of rows with independent columns
    and the marginal distributions of the training data. ``calibrated`` is the position of the value
    between the floor (0) and the ceiling (1). If it is above 1, the synthetic data are closer to
    the training data than real data are expected to be. It is nan if the floor is less than twice
    the ceiling, because random errors can cause this difference.

    References
    ----------
    Y. Du, N. Li, "Systematic assessment of tabular data synthesis" (2024), arXiv:2402.06806.
    The published queries are seeded by the clock, and their ranges are uniform over the values.
    skeval draws the same queries for equal seeds.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import RangeQueryError
    >>> table = make_mixed()
    >>> RangeQueryError().fit(table).score(table)
    0.0
    """

    tags = replace(COLUMN_TAGS, greater_is_better=False, scaling="sorted runs")

    _halved = True  # intervals: skeval/core/intervals.py

    order: Count = 3
    n_queries: Count = 1000
    _: KW_ONLY
    columns: Columns = None
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        if names := _names(context, self.columns):
            range_queries(context, names, self.order, self.n_queries, self.random_state)

    def _compute(self, context: Context) -> Result:
        names = _names(context, self.columns)
        if not names:
            return undefined_result("no column of this table can be measured.")
        drawing = (names, self.order, self.n_queries, self.random_state)
        places = range_queries(context, *drawing).columns
        (train, singles), (synthetic, _) = (answers(context, role, *drawing) for role in ROLES)
        n, m = (context.n_rows(role) for role in ROLES)
        errors = np.abs(train * m - synthetic * n) / (n * m)
        value, p = float(errors.mean()), train / n
        ceiling = hypergeometric_deviation(train + synthetic, n, m).mean() * (1.0 / n + 1.0 / m)
        independent = np.random.default_rng(self.random_state).binomial(m, (singles / n).prod(1))
        floor = float(np.abs(p - independent / m).mean())
        apart = floor > 2.0 * ceiling
        text = f"only {len(names)} columns can be queried, but the order is {self.order}."
        return Result(
            value,
            details={
                "columns": _by_column(names, places, errors),
                "order": places.shape[1],
                "n_queries": len(errors),
                "mean_share": float(p.mean()),
                "errors": {f"{s:g}": float(np.quantile(errors, s)) for s in (0.5, 0.9, 0.99, 1.0)},
                "ceiling": float(ceiling),
                "floor": floor,
                "calibrated": (value - floor) / (ceiling - floor) if apart else float("nan"),
            },
            warnings=(DegenerateInputWarning(text),) if len(names) < self.order else (),
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"Counts of rows with conditions on {details['order']} columns have an error of "
            f"{percent(result.value)} of all rows, on average over {details['n_queries']:,} "
            f"queries with a mean answer of {percent(details['mean_share'])}. The expected error "
            f"is {percent(details['ceiling'])} for real rows and {percent(details['floor'])} for "
            "independent columns."
        )


def _names(context: Context, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the sorted columns that have values, so that their order in the table is ignored."""
    names = chosen_columns(context.schema, columns)
    return tuple(sorted(name for name in names if context.column("train", name).notna().any()))


def _by_column(names: Sequence[str], places: np.ndarray, errors: np.ndarray) -> dict[str, float]:
    """Return the mean error of the queries of each column that occurs in a query."""
    asked = {name: (places == j).any(axis=1) for j, name in enumerate(names)}
    return {name: float(errors[which].mean()) for name, which in asked.items() if which.any()}


@shared
def range_queries(
    context: Context, names: tuple[str, ...], order: int, n_queries: int, seed: int
) -> RangeQueries:
    """Draw queries from the values of the training data."""
    is_range = [context.schema.kinds[name] in NUMERIC for name in names]
    present = (
        sorted_values(context, "train", name)
        if ordered
        else np.sort(next(_values(context["train"], (name,), ())))
        for name, ordered in zip(names, is_range, strict=True)
    )
    rng = np.random.default_rng(seed)
    return draw_queries(present, is_range, min(order, len(names)), n_queries, rng)


@shared
def answers(
    context: Context, role: str, names: tuple[str, ...], order: int, n_queries: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Count the rows of a role that satisfy the queries."""
    queries = range_queries(context, names, order, n_queries, seed)
    numeric = context.schema.columns(*NUMERIC)
    count = partial(_answers_of, queries=queries, names=names, numeric=numeric)
    counts, singles = count_in_rows(context, role, names, count, sum_counts)
    return counts, singles


def _answers_of(
    frame: pd.DataFrame, queries: RangeQueries, names: tuple[str, ...], numeric: Sequence[str]
) -> list[np.ndarray]:
    return list(answer_queries(queries, _values(frame, names, numeric)))


def _values(
    frame: pd.DataFrame, names: tuple[str, ...], numeric: Sequence[str]
) -> Iterator[np.ndarray]:
    """Yield numbers, datetimes in seconds, and category codes (-1 for missing values)."""
    for name in names:
        if name in numeric:
            yield numbers(frame[[name]]).ravel()
        else:
            yield np.nan_to_num(category_codes(frame[[name]]).ravel(), nan=-1.0)


class RangeQueries(NamedTuple):
    """Conjunctions of conditions ``low <= value <= high`` on some columns."""

    columns: np.ndarray
    low: np.ndarray
    high: np.ndarray


def draw_queries(
    columns: Iterable[np.ndarray],
    is_range: Sequence[bool],
    order: int,
    n_queries: int,
    rng: np.random.Generator,
) -> RangeQueries:
    """Draw queries from values that occur."""
    at = np.array([rng.permutation(len(is_range))[:order] for _ in range(n_queries)])
    shares = rng.random((2, n_queries, order))
    low, high = np.empty(at.shape), np.empty(at.shape)
    for j, values in enumerate(columns):
        here = at == j
        places = (shares[:, here] * values.size).astype(np.int64)
        if is_range[j]:
            low[here], high[here] = np.sort(values[places], axis=0)
        else:
            low[here] = high[here] = _by_frequency(values)[places[0]]
    return RangeQueries(at, low, high)


def _by_frequency(values: np.ndarray) -> np.ndarray:
    """Return values in ascending order of frequency. Ties are sorted by value."""
    distinct, counts = np.unique(values, return_counts=True)
    order = np.argsort(counts, kind="stable")
    return np.repeat(distinct[order], counts[order])


def answer_queries(
    queries: RangeQueries, columns: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Count the rows that satisfy each query."""
    shape = queries.columns.shape
    first, span, singles = (np.empty(shape, dtype=np.int64) for _ in range(3))
    beyond = np.nextafter(queries.high, np.inf)
    asked = [queries.columns == j for j in range(queries.columns.max() + 1)]
    edges = [np.unique(np.concatenate([queries.low[at], beyond[at]])) for at in asked]
    kind = np.min_scalar_type(max(ends.size for ends in edges))  # smaller types are faster
    coded: list[np.ndarray] = []
    for at, ends, values in zip(asked, edges, columns, strict=False):  # ignores other columns
        codes = np.searchsorted(ends, values, side="right")
        start, stop = np.searchsorted(ends, queries.low[at]) + 1, np.searchsorted(ends, beyond[at])
        below = np.append(0, np.bincount(codes, minlength=ends.size + 1).cumsum())
        first[at], span[at] = start, stop - start
        singles[at] = below[stop + 1] - below[start]
        coded.append(codes.astype(kind))
    return _count(queries.columns, first.astype(kind), span.astype(kind), coded), singles


def _count(
    columns: np.ndarray, first: np.ndarray, span: np.ndarray, codes: Sequence[np.ndarray]
) -> np.ndarray:
    """Count the rows whose codes are in [first, first + span] for all columns of a query."""
    counts = np.zeros(len(columns), dtype=np.int64)
    for start in range(0, codes[0].size, _BLOCK):
        block = [column[start : start + _BLOCK] for column in codes]
        for i, conditions in enumerate(zip(columns, first, span, strict=True)):
            # below `low`, the unsigned difference overflows and is large
            holds = [block[j] - low <= width for j, low, width in zip(*conditions, strict=True)]
            counts[i] += np.count_nonzero(np.logical_and.reduce(holds))
    return counts
