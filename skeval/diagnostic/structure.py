"""Compare the columns, types and keys of the synthetic table with the training table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import VALIDITY_TAGS
from skeval.diagnostic.columns import check_names, lacks, unreadable
from skeval.exceptions import MetricWarning, TableError
from skeval.results.result import Result, mean_of_columns, undefined_result
from skeval.steps.columns import ROLES
from skeval.tables.cells import is_plain, plain_values, read_numbers
from skeval.utils.formatting import percent
from skeval.utils.parameters import Legal

Key = tuple[str, ...]


def _are_keys(value: object) -> bool:
    if value is None or isinstance(value, str):
        return True
    if not isinstance(value, list | tuple) or len(value) == 0:
        return False
    return all(isinstance(key, str) or _is_composite(key) for key in value)


Keys = Annotated[
    str | Sequence[str | Sequence[str]] | None,
    Legal("None, a column name, or a list of column names and tuples of them", _are_keys, 1),
]


def _is_composite(key: object) -> bool:
    return isinstance(key, list | tuple) and len(key) > 0 and all(isinstance(n, str) for n in key)


_NO_KEY = "no key is known. Pass keys=[column], or a schema with a primary_key."


@declared
class KeyUniqueness(Metric):
    """Fraction of synthetic rows with a unique key.

    If two customers have the same number, the table cannot be loaded into a database, and joins
    duplicate its rows. The metric counts the rows with a key that is not missing and does not occur
    in an earlier row. It reports the mean over the keys. The score ranges from 0 (no row has a key)
    to 1 (each key identifies one row). Higher is better.

    Parameters
    ----------
    keys : None, str or list, default=None
        Keys to check. Each item is a column name, or a tuple of names that form a key together. If
        None, the primary key of the schema is used. A schema without a primary key uses each ID
        column whose values do not repeat in the training data.
    missing : {"any", "all"}, default="any"
        Whether a key of several columns is missing if any of its cells is missing, or only if all
        cells are missing.

    Raises
    ------
    InvalidParameterError
        If `keys` names a column that does not exist.

    Warnings
    --------
    Unique keys may still be keys of real individuals. Do not include real keys in a synthetic
    table.

    See Also
    --------
    TableStructure : Compares the columns and their types.
    FormatAdherence : Checks the format of the cells.

    Notes
    -----
    The first row of a repeated key is valid, as in :meth:`pandas.DataFrame.duplicated`. If a key
    column is missing from the synthetic data, its score is 0. Cells that cannot be read as the
    column's type count as missing. ``details["train"]`` contains the same fraction for the training
    data. If this fraction is below 1, the named columns are not a key. The metric has no interval,
    because repeats become more frequent as the number of rows grows.

    References
    ----------
    Published under this name by SDMetrics, where a key of several columns is void only if all its
    cells are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import KeyUniqueness
    >>> train, synthetic = pd.DataFrame({"id": [1, 2, 3]}), pd.DataFrame({"id": [1, 1, 2, None]})
    >>> KeyUniqueness("id").fit(train).score(synthetic)
    0.5
    """

    tags = VALIDITY_TAGS

    keys: Keys = None
    missing: Literal["any", "all"] = "any"

    def _prepare(self, context: Context) -> None:
        names = [name for key in self._given_keys() for name in key]
        check_names("keys", names, list(context.schema.kinds))

    def _given_keys(self) -> list[Key]:
        if self.keys is None:
            return []
        keys = [self.keys] if isinstance(self.keys, str) else self.keys
        return [(key,) if isinstance(key, str) else tuple(key) for key in keys]

    def _compute(self, context: Context) -> Result:
        keys = self._given_keys() or _known_keys(context)
        if not keys:
            return undefined_result(_NO_KEY, MetricWarning)
        of_train = {_name(key): _own_keys(context, "train", key, self.missing) for key in keys}
        scores = {
            _name(key): 0.0
            if any(lacks(context, name) for name in key)
            else _own_keys(context, "synthetic", key, self.missing)
            for key in keys
        }
        notices = []
        if repeated := [name for name, share in of_train.items() if share < 1.0]:
            text = (
                f"{', '.join(repeated)} is not a key of the training data: it repeats or is "
                "missing."
            )
            notices.append(MetricWarning(text))
        return mean_of_columns(
            scores,
            n_total=len(keys),
            greater_is_better=True,
            warnings=tuple(notices),
            train=of_train,
        )

    def _summary(self, result: Result) -> str:
        return f"{percent(result.value)} of the rows have a key that no earlier row has."


def _name(key: Key) -> str:
    return " + ".join(key)


def _known_keys(context: Context) -> list[Key]:
    if context.schema.primary_key:
        return [context.schema.primary_key]
    ids = [(name,) for name in context.schema.columns("id")]
    return [key for key in ids if _own_keys(context, "train", key, "any") == 1.0]


@shared
def _own_keys(context: Context, role: str, key: Key, missing: str) -> float:
    """Return the share of rows with a key that no earlier row has."""
    table = context.original_frame(role)[list(key)]
    absent = table.isna().to_numpy(dtype=bool)
    if role == "synthetic":
        absent = absent | np.column_stack([unreadable(context, name) for name in key])
    void = absent.any(axis=1) if missing == "any" else absent.all(axis=1)
    try:
        repeats = table.duplicated().to_numpy()
    except TypeError as error:
        raise TableError(
            f"{role} contains values in {_name(key)} that cannot be keys ({error}). "
            "Write them as text or numbers."
        ) from error
    return float(np.mean(~(void | repeats)))


@declared
class TableStructure(Metric):
    """Similarity of the columns and column types of two tables.

    A program that reads the real table should also be able to read the synthetic table. The
    synthetic table should therefore have the same column names and the same types, without missing
    or extra columns. The order of the columns does not matter. The score ranges from 0 (no common
    column) to 1 (the same columns and types). Higher is better.

    Parameters
    ----------
    dtypes : {"exact", "kind"}, default="exact"
        Types are integers, numbers with decimals, Boolean values, dates, durations and text. If
        "kind", integers and numbers with decimals are one type. Dates that are written as text are
        text.

    Warnings
    --------
    The score compares names and types, not values. A table with random values can score 1.

    See Also
    --------
    KeyUniqueness : Fraction of rows with a unique key.
    FormatAdherence : Checks the format of the cells.

    Notes
    -----
    The value is the number of columns with the same name and type in both tables, divided by the
    number of distinct pairs of name and type in either table (Jaccard index). A column of another
    type counts twice in the denominator, and an extra or missing column counts once. ``details``
    names the columns ``missing``, ``extra`` and ``retyped``, with both types.

    The type of a column depends on its values in the given table, not on their storage. For
    example, integers in a float column, as pandas reads integers with blanks, are integers.
    Nullable, Arrow, object and categorical columns have the type of their values.

    References
    ----------
    Published under this name by SDMetrics. P. Jaccard, "The distribution of the flora in the alpine
    zone", New Phytologist 11 (1912) 37-50, doi:10.1111/j.1469-8137.1912.tb05611.x.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.diagnostic import TableStructure
    >>> train = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": ["x", "y"]})
    >>> TableStructure().fit(train).score(train.assign(b=[1, 2]))
    0.5
    """

    tags = replace(VALIDITY_TAGS, display="ValueDisplay", headline=1)

    dtypes: Literal["exact", "kind"] = "exact"

    def _compute(self, context: Context) -> Result:
        tables = [context.original_frame(role) for role in ROLES]
        train, synthetic = (_types(table, self.dtypes) for table in tables)
        stored = [dict(zip(map(str, table.columns), table.dtypes, strict=True)) for table in tables]
        common = [name for name in train if name in synthetic]
        retyped = {
            name: {"train": train[name], "synthetic": synthetic[name]}
            for name in common
            if train[name] != synthetic[name] and not _are_stored_alike(*(s[name] for s in stored))
        }
        n_agreed = len(common) - len(retyped)
        return Result(
            n_agreed / (len(train) + len(synthetic) - n_agreed),
            details={
                "missing": [name for name in train if name not in synthetic],
                "extra": [name for name in synthetic if name not in train],
                "retyped": retyped,
                "n_total": len(train),
            },
        )

    def _summary(self, result: Result) -> str:
        details = result.details
        return (
            f"{percent(result.value)} of all columns and types are common to both tables: "
            f"{len(details['missing'])} columns are missing, {len(details['extra'])} are extra, "
            f"{len(details['retyped'])} have another type."
        )


def _types(table: pd.DataFrame, dtypes: str) -> Mapping[str, str]:
    """Return the type of each column by name."""
    types = {}
    for name in table.columns:
        values = table[name]
        kind = kind_of_type(values)
        is_whole = dtypes == "exact" and kind == "number" and _is_whole(values)
        types[str(name)] = "whole number" if is_whole else kind
    return types


def _are_stored_alike(one: Any, other: Any) -> bool:
    """Return whether two columns are numerical, and one of them has decimals."""
    return isinstance(one, np.dtype) and one.kind == "f" and one == other


def _is_whole(values: pd.Series) -> bool:
    """Return whether all numbers of a column are integers, possibly stored as floats."""
    numbers = (values if is_plain(values.dtype) else read_numbers(plain_values(values))).to_numpy()
    finite = numbers[np.isfinite(numbers)]
    return bool(finite.size and (finite == np.rint(finite)).all())


_OF_OBJECTS = {
    **dict.fromkeys(("integer", "floating", "mixed-integer-float", "decimal"), "number"),
    **dict.fromkeys(("date", "datetime", "datetime64"), "date"),
    "boolean": "truth value",
    "timedelta": "duration",
}


def kind_of_type(values: pd.Series | pd.Index) -> str:
    """Return the type of the cells of a column: number, date, duration, ... or text."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return kind_of_type(dtype.categories)
    if pd.api.types.is_bool_dtype(dtype):
        return "truth value"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if dtype.kind in "mM":
        return "date" if dtype.kind == "M" else "duration"
    if isinstance(dtype, pd.StringDtype):
        return "text"
    return _OF_OBJECTS.get(pd.api.types.infer_dtype(values, skipna=True), "text")
