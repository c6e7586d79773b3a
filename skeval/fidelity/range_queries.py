"""Counting queries, as an analyst asks them of a table."""

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

_BLOCK = 2**15  # rows looked at together: their codes of a few columns fit in a core's cache


@declared
class RangeQueryError(Metric):
    """Error of counting queries: 0 where all shares of rows agree, 1 where all are opposite.

    An analyst asks for the share of rows with, say, ages between 30 and 45, of one city, who joined
    before a date: conditions on a few columns at once, drawn at random. The value is the mean
    difference between the answer of the synthetic table and that of train.

    Parameters
    ----------
    order : int, default=3
        Number of columns of a query; a table with fewer columns is asked about all of them.
    n_queries : int, default=1000
        Number of queries, drawn from train at fit.
    columns : None, int or list of str, default=None
        The columns to ask about: all, the first *n*, or these.
    random_state : int, default=0
        Seed of the queries, and of the independent rows of the floor.

    See Also
    --------
    KMarginalSimilarity : All joint cells of a few columns.
    QuantileMSE : One column at a time.

    Notes
    -----
    The condition on a category is one value, missing being one of them; on a number or date, a
    range between two values. Both are drawn from train's rows, a value being as likely as it is
    frequent. Ranges between an outlier and the rest, in which hardly any value lies, are therefore
    rare. A missing number is in no range. ``details["columns"]`` has the mean error of the queries
    about a column, and ``details["errors"]`` quantiles over the queries.

    The mean error of random queries is small by nature: read it against the baseline and against
    ``details["ceiling"]``, what a relabelling of the pooled rows would have on average, exactly,
    and ``details["floor"]``, what rows with independent columns and train's marginals have.
    ``details["calibrated"]`` is the value on the way from floor to ceiling, more than 1 being
    closer to train than a fresh sample; nan where the floor is less than twice the ceiling, which
    chance can give.

    References
    ----------
    Y. Du, N. Li, "Systematic assessment of tabular data synthesis" (2024), arXiv:2402.06806.
    Their queries are seeded by the clock and range over uniformly drawn values; ours are the same
    for equal seeds.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import RangeQueryError
    >>> table = make_mixed()
    >>> RangeQueryError().fit(table).score(table)
    0.0
    """

    tags = replace(COLUMN_TAGS, greater_is_better=False, scaling="sorted runs")

    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

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
        text = f"fewer than {self.order} columns can be asked about: queries have {len(names)}."
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
            f"Counts of rows under conditions on {details['order']} columns err by "
            f"{percent(result.value)} of all rows, on average over {details['n_queries']:,} "
            f"queries whose answer is {percent(details['mean_share'])}; fresh rows would err by "
            f"{percent(details['ceiling'])}, independent columns by {percent(details['floor'])}."
        )


def _names(context: Context, columns: ColumnChoice) -> tuple[str, ...]:
    """Return the columns that have values to ask about, by name: their order means nothing."""
    names = chosen_columns(context.schema, columns)
    return tuple(sorted(name for name in names if context.train[name].notna().any()))


def _by_column(names: Sequence[str], places: np.ndarray, errors: np.ndarray) -> dict[str, float]:
    """Return the mean error of the queries that ask about each column, of those with any."""
    asked = {name: (places == j).any(axis=1) for j, name in enumerate(names)}
    return {name: float(errors[which].mean()) for name, which in asked.items() if which.any()}


@shared
def range_queries(
    context: Context, names: tuple[str, ...], order: int, n_queries: int, seed: int
) -> RangeQueries:
    """Draw queries about the values of train."""
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
    """Count the rows of a role that satisfy the queries drawn from train."""
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
    """Yield numbers, dates in seconds, and codes of categories, -1 for a missing one."""
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
    """Draw queries about values that occur."""
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
    """Return values with the rarest first: what they are called decides among equally rare ones."""
    distinct, counts = np.unique(values, return_counts=True)
    order = np.argsort(counts, kind="stable")
    return np.repeat(distinct[order], counts[order])


def answer_queries(
    queries: RangeQueries, columns: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Count the rows that satisfy queries."""
    shape = queries.columns.shape
    first, span, singles = (np.empty(shape, dtype=np.int64) for _ in range(3))
    beyond = np.nextafter(queries.high, np.inf)
    asked = [queries.columns == j for j in range(queries.columns.max() + 1)]
    edges = [np.unique(np.concatenate([queries.low[at], beyond[at]])) for at in asked]
    kind = np.min_scalar_type(max(ends.size for ends in edges))  # narrow codes are read faster
    coded: list[np.ndarray] = []
    for at, ends, values in zip(asked, edges, columns, strict=False):  # further ones do not count
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
    """Count the rows whose codes lie in [first, first + span] in all columns of a query."""
    counts = np.zeros(len(columns), dtype=np.int64)
    for start in range(0, codes[0].size, _BLOCK):
        block = [column[start : start + _BLOCK] for column in codes]
        for i, conditions in enumerate(zip(columns, first, span, strict=True)):
            # below `low`, the unsigned difference wraps around and is large
            holds = [block[j] - low <= width for j, low, width in zip(*conditions, strict=True)]
            counts[i] += np.count_nonzero(np.logical_and.reduce(holds))
    return counts
