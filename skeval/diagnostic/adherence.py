"""Do synthetic cells keep to what train allows: its ranges, categories and formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.counts import each_column, has_missing, level_counts
from skeval.core.declared import declared
from skeval.core.tags import DIAGNOSTIC_TAGS
from skeval.diagnostic.columns import (
    ShareTally,
    by_column,
    check_names,
    empty_notices,
    lacks,
    unread_cells,
)
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.results.result import Result, undefined_result
from skeval.steps.column_choice import columns_of
from skeval.steps.columns import extent
from skeval.tables.cells import plain_values
from skeval.tables.frames import column_values
from skeval.tables.precision import rounded_to
from skeval.tables.preprocessing import NOMINAL, NUMERIC, numbers
from skeval.tables.schema import Kind, read_column, with_real_levels
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns

Pattern = str | re.Pattern[str]
Patterns = Annotated[
    Mapping[str, Pattern] | None,
    by_column(
        "regular expressions and formats of dates",
        lambda pattern: isinstance(pattern, str | re.Pattern),
    ),
]
Checked = tuple[np.ndarray, np.ndarray | None, dict[str, int]]
Rule = Callable[[pd.Series, np.ndarray], Checked]
_DIRECTIVE = re.compile(r"%[a-zA-Z]")
_TRUE_DATES = {"date", "datetime", "datetime64", "timedelta"}
_CLOCK_WORDS = ("now", "today")  # to pandas, they are dates in any format


@declared
class CellAdherence(Metric):
    """Base of the mean share of synthetic cells that keep a rule of their column.

    Authors set `_kinds`, the kinds of the columns that have the rule, and write `_rule`.

    Parameters
    ----------
    nullable : {"auto", True, False}, default="auto"
        Whether a cell may be missing: where train has missing cells in the column, always, or
        never. A missing cell is then a value like any other.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only those with the rule count.
    """

    tags = DIAGNOSTIC_TAGS
    _kinds: ClassVar[tuple[Kind, ...]]
    _: KW_ONLY
    nullable: Literal["auto"] | bool = "auto"
    columns: Columns = None

    def _rule(self, context: Context, column: str) -> Rule | None:
        """Return what checks the cells of a column; None where train leaves the rule open."""
        # It takes them as read, and which of them cannot be read, and gives which cells
        # keep the rule, which count, None for all, and the numbers of those that break
        # it, by how.
        raise NotImplementedError(f"{type(self).__name__} must define _rule(...).")

    def _allows_missing(self, context: Context, column: str) -> bool:
        if self.nullable == "auto":
            return has_missing(context, "train", column)
        return bool(self.nullable)

    def _compute(self, context: Context) -> Result:
        names, n_rows = columns_of(context, self.columns, self._kinds), context.n_rows("synthetic")
        rules = {name: self._rule(context, name) for name in names}
        known = {name: rule for name, rule in rules.items() if rule is not None}
        absent = [name for name in known if lacks(context, name)]
        there = {name: rule for name, rule in known.items() if name not in absent}
        checked = each_column(context, "synthetic", _checked_column, there.items())
        tally, nothing = ShareTally(n_rows), np.zeros(n_rows, dtype=bool)
        empty, violations = [], {}
        for name in known:
            if name in absent:
                tally.add(name, nothing)
                violations[name] = {"absent": n_rows}
                continue
            valid, counted, broken = next(checked)
            if counted is not None and not counted.any():
                tally.add(name, nothing)
                empty.append(name)
            else:
                tally.add(name, valid, counted)
                violations[name] = {how: n for how, n in broken.items() if n}
        violations = {name: counts for name, counts in violations.items() if counts}
        notices = empty_notices([name for name in names if name not in known], empty)
        return tally.mean(context, names, notices, violations=violations)


def _checked_column(rows: Any, given: Any, name: str, rule: Rule) -> Checked:
    values = rows[name]
    return rule(values, unread_cells(values, given))


@declared
class BoundaryAdherence(CellAdherence):
    """Share of synthetic numbers and dates within train's range: 1 if all are, 0 if none is.

    An age of 340 or a date of birth in the year 1600 shows at once that no real row looks like
    this. Each number and date column of the synthetic table is held to the least and the greatest
    value that train has in it, or to bounds that its meaning sets; the value is the mean over the
    columns.

    Parameters
    ----------
    lower : mapping of str to number or date, default=None
        Lower bounds of columns by name, inclusive: numbers, dates, or strings that read as such.
        Columns not named keep those of train.
    upper : mapping of str to number or date, default=None
        Upper bounds, in the same form.
    nullable : {"auto", True, False}, default="auto"
        Whether a cell may be missing: where train has missing cells in the column, always, or
        never. Missing cells that are allowed are left out, others count as outside.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only number and date columns
        count.

    Raises
    ------
    InvalidParameterError
        If a bound is of no number or date column, cannot be read, or lies beyond the other.

    Warnings
    --------
    A table whose values never leave train's range by construction scores 1, which says nothing of
    how well they are spread: see :class:`RangeCoverage`.

    See Also
    --------
    RangeCoverage : Whether the ranges are reached.
    CategoryAdherence : The same for categories.

    Notes
    -----
    Cells that cannot be read as the column's kind, and infinite ones, are outside. A column that
    synthetic lacks scores 0; so does one without any value where train has some. How cells are
    outside is counted in ``details["violations"]``, column by column; the bounds themselves, which
    are cells of train, are nowhere in the result.

    A table of fresh real rows scores (n - 1) / (n + 1) on average over continuous columns of n
    train rows, not 1. The interval of a column is Wilson's; that of the mean takes rows, not cells,
    as independent. Both hold for further rows of the same generator against the same train.

    References
    ----------
    Published under this name by SDMetrics, column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import BoundaryAdherence
    >>> train, synthetic = pd.DataFrame({"x": [1, 2, 3, 4]}), pd.DataFrame({"x": [2, 3, 4, 5]})
    >>> BoundaryAdherence().fit(train).score(synthetic)
    0.75
    >>> BoundaryAdherence(upper={"x": 10}).fit(train).score(synthetic)
    1.0
    """

    _kinds = NUMERIC

    lower: Annotated[Mapping[str, Any] | None, by_column("numbers or dates", _is_value)] = None
    upper: Annotated[Mapping[str, Any] | None, by_column("numbers or dates", _is_value)] = None

    def _prepare(self, context: Context) -> None:
        own = context.schema.columns(*NUMERIC)
        lower, upper = self.lower or {}, self.upper or {}
        check_names("lower", lower, own)
        check_names("upper", upper, own)
        for name in {**lower, **upper}:
            low, high = _bounds(context, name, lower, upper)
            if name in lower and name in upper and low > high:
                raise InvalidParameterError(
                    f"BoundaryAdherence: the lower bound of {name} lies above its upper bound."
                )

    def _summary(self, result: Result) -> str:
        ranges = "the ranges that are stated" if self.lower or self.upper else "train's ranges"
        return (
            f"On average {percent(result.value)} of the cells of {result.details['n_used']} number "
            f"and date columns lie within {ranges}."
        )

    def _rule(self, context: Context, column: str) -> Rule | None:
        low, high = _bounds(context, column, self.lower or {}, self.upper or {})
        if np.isnan(low) or np.isnan(high):
            return None
        nullable = self._allows_missing(context, column)
        return partial(_check_bounds, low=low, high=high, nullable=nullable)


def _check_bounds(
    column: pd.Series, invalid: np.ndarray, low: float, high: float, nullable: bool
) -> Checked:
    values = column_values(column)
    missing = np.isnan(values) & ~invalid
    counts = {
        "below": int((values < low).sum()),
        "above": int((values > high).sum()),
        "missing": 0 if nullable else int(missing.sum()),
        "unreadable": int(invalid.sum()),
    }
    return (values >= low) & (values <= high), ~missing if nullable else None, counts


def _is_value(bound: object) -> bool:
    return bool(pd.api.types.is_scalar(bound)) and not pd.isna(bound)


def _bounds(
    context: Context, column: str, lower: Mapping[str, Any], upper: Mapping[str, Any]
) -> tuple[float, float]:
    """Return the bounds that a user gives a column, or else those of train."""
    low, high = extent(context, "train", column)
    return (
        _bound(context, column, lower[column]) if column in lower else low,
        _bound(context, column, upper[column]) if column in upper else high,
    )


def _bound(context: Context, column: str, bound: Any) -> float:
    """Read a bound as the column's cells are read."""
    schema = context.schema
    given = pd.Series([bound], name=column)
    read = read_column(given, schema.kinds[column], schema.datetime_formats.get(column))
    value = float(numbers(read.to_frame(column))[0, 0])
    if np.isnan(value):
        raise InvalidParameterError(
            f"BoundaryAdherence: the bound {bound!r} of {column} cannot be read as "
            f"{schema.kinds[column]}, which the column is."
        )
    stored = context.precision.get(column, np.dtype("float64"))
    return float(rounded_to(np.array(value), stored))


@declared
class CategoryAdherence(CellAdherence):
    """Share of synthetic categories that train has too: 1 if all are known, 0 if none is.

    A misspelt city or a product that was never sold breaks all that is built on the table. Each
    categorical and boolean column of the synthetic table is held to the categories that train has
    in it, or to a list; the value is the mean over the columns.

    Parameters
    ----------
    categories : mapping of str to list, default=None
        The categories of columns by name; a missing value among them allows missing cells.
        Columns not named keep those of train.
    columns : None, int or list of str, default=None
        The columns to measure: all, the first *n*, or these; only categorical and boolean
        columns count.

    Raises
    ------
    InvalidParameterError
        If `categories` names what is no categorical or boolean column.

    See Also
    --------
    CategoryCoverage : Whether all categories occur.
    BoundaryAdherence : The same for numbers.

    Notes
    -----
    Categories are compared as labels: 1, 1.0 and "1" are the same. A column that synthetic lacks
    scores 0. ``details["violations"]`` counts the cells that break the rule. It never names the
    categories: one that train lacks may still be that of a person.

    Fresh real rows hold new categories too where there are many rare ones; the baseline shows how
    many. A generator that can only repeat what it saw scores 1. The interval of a column is
    Wilson's; that of the mean takes rows, not cells, as independent.

    References
    ----------
    Published under this name by SDMetrics, column by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import CategoryAdherence
    >>> train, synthetic = pd.DataFrame({"c": list("aaabbc")}), pd.DataFrame({"c": list("aabbbd")})
    >>> round(CategoryAdherence().fit(train).score(synthetic), 4)
    0.8333
    """

    _kinds = NOMINAL

    categories: Annotated[
        Mapping[str, Iterable[Any]] | None, by_column("lists of values", _is_collection)
    ] = None

    def _prepare(self, context: Context) -> None:
        check_names("categories", self.categories or (), context.schema.columns(*NOMINAL))
        for name, listed in (self.categories or {}).items():
            _levels(context, name, listed)

    def _summary(self, result: Result) -> str:
        one = "one of the categories that are stated" if self.categories else "a category of train"
        return (
            f"On average {percent(result.value)} of the cells of {result.details['n_used']} "
            f"categorical and boolean columns hold {one}."
        )

    def _rule(self, context: Context, column: str) -> Rule | None:
        nullable = self._allows_missing(context, column)
        if column in (self.categories or {}):
            levels, has_none = _levels(context, column, (self.categories or {})[column])
            nullable |= self.nullable == "auto" and has_none
            return partial(_check_given_categories, levels=levels, nullable=nullable)
        known = level_counts(context, "train", column) > 0
        return partial(_check_categories, known=known, nullable=nullable) if known.any() else None


def _check_given_categories(
    values: pd.Series, invalid: np.ndarray, levels: Sequence[str], nullable: bool
) -> Checked:
    known = np.ones(len(levels), dtype=bool)
    return _check_categories(with_real_levels(values, levels), invalid, known, nullable)


def _check_categories(
    values: pd.Series, invalid: np.ndarray, known: np.ndarray, nullable: bool
) -> Checked:
    codes = values.cat.codes.to_numpy()
    counts = np.bincount(codes[codes >= 0], minlength=len(values.cat.categories))
    allowed = np.zeros(counts.size + 1, dtype=bool)  # the last is missing
    allowed[: known.size] = known
    missing, valid = (codes < 0) & ~invalid, allowed[codes]
    unseen = counts[~allowed[:-1]]
    violations = {
        "unseen": int(unseen.sum()),
        "unseen_categories": int((unseen > 0).sum()),
        "missing": 0 if nullable else int(missing.sum()),
        "unreadable": int(invalid.sum()),
    }
    return valid | missing if nullable else valid, None, violations


def _levels(context: Context, column: str, categories: Iterable[Any]) -> tuple[list[str], bool]:
    """Return the labels of the categories that a user lists, and whether one is missing."""
    listed = pd.Series(list(categories), dtype=object, name=column)
    read = read_column(listed, context.schema.kinds[column], None)
    if (unread := listed[listed.notna() & read.isna()]).size:
        raise InvalidParameterError(
            f"CategoryAdherence: {unread.iloc[0]!r} cannot be a value of {column}, which is "
            f"{context.schema.kinds[column]}."
        )
    return [str(label) for label in read.dropna().unique()], bool(listed.isna().any())


def _is_collection(values: object) -> bool:
    listed = isinstance(values, list | tuple | set | frozenset | np.ndarray | pd.Series | pd.Index)
    return listed and len(values) > 0  # type: ignore[arg-type]


@declared
class FormatAdherence(Metric):
    """Share of synthetic cells written in the format asked for: 1 if all are, 0 if none is.

    A postcode of four digits where five are due, or a date with day and month exchanged, passes for
    text until a program reads it. Each column with a pattern is matched cell by cell, in full; the
    value is the mean over these columns.

    Parameters
    ----------
    patterns : mapping of str to str or re.Pattern, default=None
        The pattern of each column, by name: a regular expression, or the format of dates, which is
        a text with directives such as ``"%Y-%m-%d"``, or ``"ISO8601"``. A compiled expression is
        never taken for a format of dates. None takes the formats of the date columns that train
        holds as text, as ``schema.datetime_formats`` has them.

    Raises
    ------
    InvalidParameterError
        If `patterns` names what is no column, or a pattern cannot be read.

    See Also
    --------
    CategoryAdherence : Values that train has.
    TableStructure : Columns and types.

    Notes
    -----
    Missing cells pass. Cells are matched as text; whole numbers have no decimals, so that 2139.0
    is matched as "2139". Columns of true dates, not text, have no format and no score. A column
    that synthetic lacks scores 0. ``details["train"]`` has the same shares of train: where one is
    below 1, the pattern is not that of the real column. The interval of a column is Wilson's; that
    of the mean takes rows, not cells, as independent.

    References
    ----------
    SDMetrics publishes it as RegexFormatAdherence and DatetimeFormatAdherence.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import FormatAdherence
    >>> train = pd.DataFrame({"postcode": ["02139", "10115", "75001"]})
    >>> synthetic = pd.DataFrame({"postcode": ["1011", "10117", "75002", "00000"]})
    >>> FormatAdherence({"postcode": "[0-9]{5}"}).fit(train).score(synthetic)
    0.75
    """

    tags = DIAGNOSTIC_TAGS

    patterns: Patterns = None

    def _prepare(self, context: Context) -> None:
        check_names("patterns", self.patterns or (), list(context.schema.kinds))
        for name, pattern in (self.patterns or {}).items():
            _check_pattern(name, pattern)

    def _compute(self, context: Context) -> Result:
        patterns = self.patterns or _known_patterns(context)
        if not patterns:
            return undefined_result(
                "no format is known: pass patterns={column: pattern}, "
                "or a schema with datetime_formats.",
                MetricWarning,
            )
        n_rows = context.n_rows("synthetic")
        tally, dates = ShareTally(n_rows), []
        for name, pattern in patterns.items():
            if lacks(context, name):
                tally.add(name, np.zeros(n_rows, dtype=bool))
            elif _is_true_date(context.original_frame("synthetic")[name]):
                dates.append(name)
            else:
                tally.add(name, _matches(context.original_frame("synthetic")[name], pattern))
        of_train = {name: _share_of_train(context, name, patterns[name]) for name in patterns}
        return tally.mean(context, patterns, _notices(dates, of_train), train=of_train)

    def _summary(self, result: Result) -> str:
        return (
            f"On average {percent(result.value)} of the cells of {result.details['n_used']} "
            "columns are written in the format asked for."
        )


def _check_pattern(column: str, pattern: Pattern) -> None:
    try:
        _matches(pd.Series(["2020-01-01"]), pattern)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise InvalidParameterError(
            f"FormatAdherence: the pattern of {column} cannot be read: {error}."
        ) from error


def _known_patterns(context: Context) -> dict[str, Pattern]:
    """Return the formats of dates that train holds as text."""
    formats, train = context.schema.datetime_formats, context.original_frame("train")
    return {
        name: formats[name]
        for name in context.schema.columns("datetime")
        if name in formats and not _is_true_date(train[name])
    }


def _is_true_date(values: pd.Series) -> bool:
    values = plain_values(values)
    if values.dtype != object:
        return values.dtype.kind in "mM"
    return pd.api.types.infer_dtype(values, skipna=True) in _TRUE_DATES


@shared
def _share_of_train(context: Context, column: str, pattern: Pattern) -> float:
    values = context.original_frame("train")[column]
    return np.nan if _is_true_date(values) else float(_matches(values, pattern).mean())


def is_date_format(pattern: Pattern) -> bool:
    """Return whether a pattern is a format of dates, and no regular expression."""
    return isinstance(pattern, str) and (
        pattern == "ISO8601" or _DIRECTIVE.search(pattern) is not None
    )


def _matches(values: pd.Series, pattern: Pattern) -> np.ndarray:
    """Return which cells match the pattern in full; missing ones do."""
    codes, distinct = pd.factorize(plain_values(values), use_na_sentinel=True)
    texts = [_text(value) for value in distinct]
    if is_date_format(pattern):
        series = pd.Series(texts, dtype=object)
        read = pd.to_datetime(series, format=pattern, errors="coerce", utc=True)
        fits = (read.notna() & ~series.isin(_CLOCK_WORDS)).to_numpy(dtype=bool)
    else:
        whole = re.compile(pattern).fullmatch
        fits = np.fromiter((whole(text) is not None for text in texts), bool, len(texts))
    return np.append(fits, True)[codes]  # the code of a missing cell is -1, the last


def _text(value: object) -> str:
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)  # type: ignore[call-overload]


def _notices(dates: list[str], of_train: Mapping[str, float]) -> tuple[MetricWarning, ...]:
    texts = []
    if dates:
        texts.append(f"synthetic has true dates in {', '.join(dates)}: no format, no score.")
    if strays := [name for name, share in of_train.items() if share < 1.0]:
        texts.append(f"train itself does not keep to the format of {', '.join(strays)}.")
    return tuple(MetricWarning(text) for text in texts)
