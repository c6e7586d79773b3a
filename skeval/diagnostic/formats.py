"""Are synthetic cells written as train's are: dates in one format, codes of one pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from skeval._aggregate import mean_of_columns, undefined
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.diagnostic._columns import OF_COLUMNS, ByColumn, check_names, lacks
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.result import Result
from skeval.schema import plain_values
from skeval.stats.adherence import ShareTally

__all__ = ["FormatAdherence"]

Pattern = str | re.Pattern[str]

_DIRECTIVE = re.compile(r"%[a-zA-Z]")
_TRUE_DATES = {"date", "datetime", "datetime64", "timedelta"}
_CLOCK_WORDS = ("now", "today")  # to pandas, they are dates in any format


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

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    InvalidParameterError
        If `patterns` names what is no column, or a pattern cannot be read.

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
    >>> synthetic = pd.DataFrame({"postcode": ["2139", "10117", "75002", "00000"]})
    >>> FormatAdherence({"postcode": "[0-9]{5}"}).fit(train).score(synthetic)
    0.75
    """

    tags = OF_COLUMNS
    _legal = {
        "patterns": ByColumn(
            "regular expressions and formats of dates",
            lambda pattern: isinstance(pattern, str | re.Pattern),
        )
    }

    def __init__(self, patterns: Mapping[str, Pattern] | None = None) -> None:
        self.patterns = patterns

    def _prepare(self, context: Context) -> None:
        check_names("patterns", self.patterns or (), list(context.schema.kinds))
        for name, pattern in (self.patterns or {}).items():
            try:
                _matches(pd.Series(["2020-01-01"]), pattern)
            except (re.error, ValueError) as error:
                raise InvalidParameterError(
                    f"FormatAdherence: the pattern of {name} cannot be read: {error}."
                ) from error

    def _compute(self, context: Context) -> Result:
        patterns = self.patterns or _known_patterns(context)
        if not patterns:
            return undefined(
                "no format is known: pass patterns={column: pattern}, "
                "or a schema with datetime_formats.",
                MetricWarning,
            )
        n_rows = context.n_rows("synthetic")
        tally, dates = ShareTally(n_rows), []
        for name, pattern in patterns.items():
            if lacks(context, name):
                tally.add(name, np.zeros(n_rows, dtype=bool))
            elif _is_true_date(context.given("synthetic")[name]):
                dates.append(name)
            else:
                tally.add(name, _matches(context.given("synthetic")[name], pattern))
        of_train = {name: _share_of_train(context, name, patterns[name]) for name in patterns}
        result = mean_of_columns(
            {name: tally.shares.get(name, np.nan) for name in patterns},
            n_total=len(context.schema.kinds),
            warnings=_notices(dates, of_train),
            intervals=tally.intervals,
            train=of_train,
        )
        return replace(result, interval=tally.interval())


def _known_patterns(context: Context) -> dict[str, Pattern]:
    """Return the formats of dates that train holds as text."""
    formats, train = context.schema.datetime_formats, context.given("train")
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
    values = context.given("train")[column]
    return np.nan if _is_true_date(values) else float(_matches(values, pattern).mean())


def _matches(values: pd.Series, pattern: Pattern) -> np.ndarray:
    """Tell which cells match the pattern in full; missing ones do."""
    codes, distinct = pd.factorize(plain_values(values), use_na_sentinel=True)
    texts = [_text(value) for value in distinct]
    if isinstance(pattern, str) and (pattern == "ISO8601" or _DIRECTIVE.search(pattern)):
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
    said = []
    if dates:
        said.append(f"synthetic has true dates in {', '.join(dates)}: no format, no score.")
    if strays := [name for name, share in of_train.items() if share < 1.0]:
        said.append(f"train itself does not keep to the format of {', '.join(strays)}.")
    return tuple(MetricWarning(text) for text in said)
