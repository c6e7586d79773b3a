"""Check whether synthetic cells keep the ranges, categories and formats of the training data."""

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
from skeval.core.tags import VALIDITY_TAGS
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
from skeval.tables.columns_by_kind import read_column, with_real_levels
from skeval.tables.frames import column_values
from skeval.tables.precision import rounded_to
from skeval.tables.preprocessing import NOMINAL, NUMERIC, numbers
from skeval.tables.schema import Kind
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
    """Base class of the mean fraction of synthetic cells that keep a rule of their column.

    A subclass defines `_kinds`, the column types that can have the rule, and writes `_rule`.

    Parameters
    ----------
    nullable : {"auto", True, False}, default="auto"
        Whether a cell may be missing. If "auto", cells may be missing in columns that have missing
        cells in the training data. A missing cell is then treated as a valid value.
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only columns with the
        rule are used.
    """

    tags = VALIDITY_TAGS
    _kinds: ClassVar[tuple[Kind, ...]]
    _: KW_ONLY
    nullable: Literal["auto"] | bool = "auto"
    columns: Columns = None

    def _rule(self, context: Context, column: str) -> Rule | None:
        """Return the check for the cells of a column, or None if there is no rule."""
        # The check receives the cells as read and a mask of the cells that cannot be read. It
        # returns which cells keep the rule, which cells count (None for all), and the number of
        # invalid cells for each kind of violation.
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
    """Fraction of synthetic numbers and dates that lie in the training range.

    An age of 340 or a date of birth in the year 1600 shows at once that a row is not real. For each
    numerical and datetime column, the metric compares the synthetic values with the minimum and
    maximum of the training data, or with bounds that you specify. It reports the mean over the
    columns. The score ranges from 0 (no cell is within the range) to 1 (all cells are). Higher is
    better.

    Parameters
    ----------
    lower : mapping of str to number or date, default=None
        Lower bounds of columns by name, inclusive. A bound is a number, a date, or a string that
        can be read as one. All other columns keep the training minimum.
    upper : mapping of str to number or date, default=None
        Upper bounds, in the same form.
    nullable : {"auto", True, False}, default="auto"
        Whether a cell may be missing. If "auto", cells may be missing in columns that have missing
        cells in the training data. Allowed missing cells are ignored, and other missing cells count
        as outside.
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only numerical and
        datetime columns are used.

    Raises
    ------
    InvalidParameterError
        If a bound is set for a column that is not numerical or datetime, if it cannot be read, or
        if a lower bound is larger than the upper bound.

    Warnings
    --------
    A table whose values cannot leave the training range by construction scores 1. Use
    :class:`RangeCoverage` to check whether its values also cover the range.

    See Also
    --------
    RangeCoverage : Fraction of the training ranges that the synthetic data cover.
    CategoryAdherence : Values of categorical columns that occur in the training data.

    Notes
    -----
    Cells that cannot be read as the column's type and infinite cells count as outside. If a column
    is missing from the synthetic data, its score is 0. The score is also 0 if the synthetic column
    has no values although the training column has some. ``details["violations"]`` counts the
    violations by column. The bounds are cells of the training data, so they never appear in the
    result.

    For continuous columns of n training rows, real rows score (n - 1) / (n + 1) on average, not 1.
    The interval of a column is Wilson's interval. The interval of the mean treats rows, not cells,
    as independent. Both intervals refer to further rows of the same generator and the same training
    data.

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
                    f"BoundaryAdherence: the lower bound of {name} is larger than its upper bound."
                )

    def _summary(self, result: Result) -> str:
        ranges = "the specified ranges" if self.lower or self.upper else "the training range"
        return (
            f"On average {percent(result.value)} of the cells of {result.details['n_used']} "
            f"numerical and datetime columns lie within {ranges}."
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
    """Return the bounds that the user specified for a column, or the training range."""
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
            f"{schema.kinds[column]}, which is the type of the column."
        )
    stored = context.precision.get(column, np.dtype("float64"))
    return float(rounded_to(np.array(value), stored))


@declared
class CategoryAdherence(CellAdherence):
    """Fraction of synthetic categories that also occur in the training data.

    A misspelt city or a product that was never sold causes errors in all later analyses. For each
    categorical and boolean column, the metric compares the synthetic cells with the categories of
    the training data, or with a list that you specify. It reports the mean over the columns. The
    score ranges from 0 (no cell has a known category) to 1 (all cells do). Higher is better.

    Parameters
    ----------
    categories : mapping of str to list, default=None
        Allowed categories of columns by name. If the list includes a missing value, missing cells
        are allowed. All other columns keep the training categories.
    columns : None, int or list of str, default=None
        Columns to evaluate: all (None), the first *n*, or the named ones. Only categorical and
        boolean columns are used.

    Raises
    ------
    InvalidParameterError
        If `categories` names a column that is not categorical or boolean.

    Warnings
    --------
    A generator that only repeats training categories scores 1, and real rows contain new categories
    if there are many rare ones. Compare the score with the baseline.

    See Also
    --------
    CategoryCoverage : Fraction of the training categories that occur.
    BoundaryAdherence : Values of numerical columns within the training range.

    Notes
    -----
    Categories are compared as labels, so 1, 1.0 and "1" are the same. If a column is missing from
    the synthetic data, its score is 0. ``details["violations"]`` counts the cells that break the
    rule. It never names the categories, because a category that does not occur in the training data
    may still belong to a real individual.

    If there are many rare categories, real rows also contain new categories, and the baseline shows
    their number. A generator that can only repeat training categories scores 1. The interval of a
    column is Wilson's interval. The interval of the mean treats rows, not cells, as independent.

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
        one = "one of the specified categories" if self.categories else "a training category"
        return (
            f"On average {percent(result.value)} of the cells of {result.details['n_used']} "
            f"categorical and boolean columns contain {one}."
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
    codes = values.array.codes
    allowed = np.zeros(len(values.dtype.categories) + 1, dtype=bool)  # the last is missing
    allowed[: known.size] = known
    missing, valid = (codes < 0) & ~invalid, allowed[codes]
    unseen = np.bincount(codes[~valid & (codes >= 0)])
    violations = {
        "unseen": int(unseen.sum()),
        "unseen_categories": int((unseen > 0).sum()),
        "missing": 0 if nullable else int(missing.sum()),
        "unreadable": int(invalid.sum()),
    }
    return valid | missing if nullable else valid, None, violations


def _levels(context: Context, column: str, categories: Iterable[Any]) -> tuple[list[str], bool]:
    """Return the labels of the specified categories, and whether missing cells are allowed."""
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
    """Fraction of synthetic cells that are written in the required format.

    A postcode with four digits instead of five, or a date with day and month exchanged, is accepted
    as text until a program reads it. The metric matches each cell of a column with the full pattern
    of the column and reports the mean over these columns. The score ranges from 0 (no cell matches)
    to 1 (all cells do). Higher is better.

    Parameters
    ----------
    patterns : mapping of str to str or re.Pattern, default=None
        Pattern of each column, by name. A pattern is a regular expression, or a date format, that
        is a text with directives such as ``"%Y-%m-%d"``, or ``"ISO8601"``. A compiled expression is
        never read as a date format. None uses ``schema.datetime_formats``, that is, the formats of
        the date columns that are text in the training data.

    Raises
    ------
    InvalidParameterError
        If `patterns` names a column that does not exist, or a pattern cannot be read.

    Warnings
    --------
    A cell with the required format may still be impossible, for example a postcode that does not
    exist.

    See Also
    --------
    CategoryAdherence : Values that occur in the training data.
    TableStructure : Compares the columns and their types.

    Notes
    -----
    Missing cells pass. Cells are matched as text. Integers have no decimals, so 2139.0 is matched
    as "2139". Columns with a datetime type have no format and no score. If a column is missing from
    the synthetic data, its score is 0. ``details["train"]`` contains the same fractions for the
    training data. If such a fraction is below 1, the pattern does not fit the real column. The
    interval of a column is Wilson's interval. The interval of the mean treats rows, not cells, as
    independent.

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

    tags = VALIDITY_TAGS

    patterns: Patterns = None

    def _prepare(self, context: Context) -> None:
        check_names("patterns", self.patterns or (), list(context.schema.kinds))
        for name, pattern in (self.patterns or {}).items():
            _check_pattern(name, pattern)

    def _compute(self, context: Context) -> Result:
        patterns = self.patterns or _known_patterns(context)
        if not patterns:
            return undefined_result(
                "no format is known. Pass patterns={column: pattern}, "
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
            "columns are written in the required format."
        )


def _check_pattern(column: str, pattern: Pattern) -> None:
    try:
        _matches(pd.Series(["2020-01-01"]), pattern)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise InvalidParameterError(
            f"FormatAdherence: the pattern of {column} cannot be read: {error}."
        ) from error


def _known_patterns(context: Context) -> dict[str, Pattern]:
    """Return the formats of the date columns that are text in the training data."""
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
    """Return whether a pattern is a date format instead of a regular expression."""
    return isinstance(pattern, str) and (
        pattern == "ISO8601" or _DIRECTIVE.search(pattern) is not None
    )


def _matches(values: pd.Series, pattern: Pattern) -> np.ndarray:
    """Return which cells match the pattern in full. Missing cells count as matches."""
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
        texts.append(f"no score for {', '.join(dates)}: the cells are datetimes without a format.")
    if strays := [name for name, share in of_train.items() if share < 1.0]:
        texts.append(f"the training data do not match the format of {', '.join(strays)}.")
    return tuple(MetricWarning(text) for text in texts)
