"""Evaluate a synthetic table by its schema, without real data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.diagnostic import (
    BoundaryAdherence,
    CategoryAdherence,
    FormatAdherence,
    KeyUniqueness,
    RuleAdherence,
    TableStructure,
)
from skeval.diagnostic.adherence import is_date_format
from skeval.diagnostic.structure import kind_of_type
from skeval.exceptions import MetricWarning, SchemaMismatchError
from skeval.results.provenance import Date
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.suites.presets import PRESETS
from skeval.suites.suite import MetricSuite
from skeval.tables.declared_schema import MAX_VALUE, StatedTable
from skeval.tables.one_table import as_frame
from skeval.tables.schema import TableSchema
from skeval.utils.patterns import bounded_pattern
from skeval.utils.progress import Progress

_NEEDS_TRAIN = "it compares with real rows or their statistics, and no real data were given."
_NOT_STATED = "the schema contains no {}."
_SAID = "No real data were given. The synthetic data are compared with the schema."
_LOW, _HIGH = -MAX_VALUE, MAX_VALUE
_FIRST, _LAST = datetime(1000, 1, 1), datetime(9999, 12, 31)
_ENDS: dict[str, tuple[Any, Any]] = {"continuous": (_LOW, _HIGH), "datetime": (_FIRST, _LAST)}
_WHAT = {
    "key_uniqueness": "key",
    "boundary_adherence": "minimum and no maximum",
    "category_adherence": "enum",
    "format_adherence": "pattern",
    "rule_adherence": "rule, and no column that is required",
}
# details that describe the stand-in table and not the synthetic rows
_OF_TRAIN = ("train", "rules")
_WARN_OF_TRAIN = ("key_uniqueness", "format_adherence", "rule_adherence")


def evaluate_alone(
    synthetic: Any,
    schema: StatedTable | TableSchema | Mapping[str, Any],
    *,
    progress: Progress | None = None,
    date: Date = None,
) -> SuiteResult:
    """Evaluate a synthetic table by its schema, without any real table.

    The metrics check whether all columns are present and have the right type, whether values are
    within their ranges, categories and formats, whether keys are unique, and whether the rules are
    satisfied. Similarity to real rows and copies of real rows cannot be evaluated. The result lists
    the metrics for them with the reason.

    Parameters
    ----------
    synthetic : table of shape (n_synthetic, n_columns)
        Synthetic data.
    schema : mapping or TableSchema
        Type of each column. Instead of a type, a mapping with `kind` and the constraints `minimum`,
        `maximum`, `enum`, `pattern`, `required`, `unique` and, for dates, `format` is accepted.
        `rules` is a list of conditions as in :class:`~skeval.diagnostic.RuleAdherence`, and
        `primaryKey` contains the columns of the key. A Table Schema of Frictionless Data is
        accepted as well.
    progress : callable, optional
        Called as ``progress(name, n_done, n_total)`` when a metric is done.
    date : date or str, optional
        Date of the result. The default is the current time.

    Returns
    -------
    SuiteResult

    Raises
    ------
    InvalidParameterError
        If the schema contains an unknown entry, or cannot be read.
    SchemaMismatchError
        If a rule or a key names a column that the schema does not have.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.suites import evaluate_alone
    >>> age = {"kind": "continuous", "minimum": 0, "maximum": 120, "required": True}
    >>> schema = {"age": age, "plan": {"kind": "categorical", "enum": ["basic", "plus"]}}
    >>> table = pd.DataFrame({"age": [31, 47, 340, None], "plan": ["basic", "plus", "plus", "pro"]})
    >>> result = evaluate_alone(table, schema)
    >>> result["boundary_adherence"].value, result["category_adherence"].value
    (0.5, 0.75)
    >>> result["ks_complement"].error
    'it compares with real rows or their statistics, and no real data were given.'
    """
    stated, frame = StatedTable.from_schema(schema), as_frame(synthetic, "synthetic")
    suite = _stand_in_suite(stated, frame)
    with warnings.catch_warnings():  # warnings may be about the stand-in
        warnings.simplefilter("ignore", MetricWarning)
        result = _without_stand_in(suite.evaluate(frame, progress=progress, date=date))
    for warning in dict.fromkeys(each for one in result.values() for each in one.warnings):
        warnings.warn(warning, stacklevel=2)
    return result


def _stand_in_suite(stated: StatedTable, synthetic: pd.DataFrame) -> MetricSuite:
    """Return a suite whose real table is a stand-in. No value of a result depends on it."""
    own = metrics_of(stated)
    may_be = {"text"} if stated.schema.columns("text") else set()
    report = {
        name: metric
        for name, metric in PRESETS["report"](None, None)
        if name not in own and ("text" not in metric.tags.needs or may_be)
    }
    skipped = {name: _NOT_STATED.format(what) for name, what in _WHAT.items() if name not in own}
    skipped |= {name: skipped.get(name, _NEEDS_TRAIN) for name in report}
    named = [*own.items(), *report.items()]
    skipped = {name: skipped[name] for name, _ in named if name in skipped}
    return MetricSuite(named)._fit_on(_stand_in(stated, synthetic), skipped)


def metrics_of(stated: StatedTable) -> dict[str, Metric]:
    """Return the metrics for which the schema suffices, by their names in suites."""
    kinds = stated.schema.kinds
    found: dict[str, Metric] = {"table_structure": TableStructure(dtypes="kind")}
    unique = stated.columns_that_are("unique")
    if keys := [*filter(None, [stated.schema.primary_key]), *((name,) for name in unique)]:
        found["key_uniqueness"] = KeyUniqueness(list(dict.fromkeys(keys)))
    ends = [stated.of_all(end) for end in ("minimum", "maximum")]
    if ranged := [name for name in kinds if any(name in end for end in ends)]:
        found["boundary_adherence"] = _boundaries(stated, ranged)
    required = stated.columns_that_are("required")
    if levels := stated.of_all("enum"):
        listed = {n: [*v, *([] if n in required else [None])] for n, v in levels.items()}
        found["category_adherence"] = CategoryAdherence(listed, columns=list(listed))
    patterns = {
        name: one if is_date_format(one) else bounded_pattern(one, name)
        for name, one in stated.of_all("pattern").items()
    }
    if formats := patterns | dict(stated.schema.datetime_formats):
        found["format_adherence"] = FormatAdherence(formats)
    held = {*ranged, *levels}  # metrics of these columns count missing cells
    rules = {rule: rule for rule in stated.rules}
    rules |= {f"{n} is there": f"notna(`{n}`)" for n in required if n not in held}
    if rules:
        found["rule_adherence"] = RuleAdherence(rules, mine=[])
    return found


def _boundaries(stated: StatedTable, ranged: list[str]) -> BoundaryAdherence:
    kinds = stated.schema.kinds
    bounds = [
        {n: stated.of_all(end).get(n, _ENDS.get(kinds[n], _ENDS["continuous"])[place])
         for n in ranged}
        for place, end in enumerate(("minimum", "maximum"))
    ]  # fmt: skip
    return BoundaryAdherence(*bounds, columns=ranged)


def _stand_in(stated: StatedTable, synthetic: pd.DataFrame) -> Context:
    """Return a context with a stand-in for the training data that contains no real values."""
    kinds = dict(stated.schema.kinds)
    _check_primary_key(stated)
    required = stated.columns_that_are("required")
    canonical, given = {}, {}
    for name, kind in kinds.items():
        cells = _stand_in_column(kind, stated.of_all("enum").get(name), name not in required)
        canonical[name] = given[name] = cells
        if kind != "continuous" and name in synthetic:  # only numerical types are fixed
            given[name] = _empty_as(kind_of_type(synthetic[name]))
    levels = {
        n: list(canonical[n].cat.categories)
        for n, kind in kinds.items()
        if kind in ("categorical", "boolean")
    }
    context = Context(
        TableSchema(kinds, stated.schema.primary_key, stated.schema.datetime_formats),
        {"train": pd.DataFrame(canonical)},
        levels=levels,
        given={"train": pd.DataFrame(given)},
    )
    context.notices = tuple(MetricWarning(text) for text in (_SAID, *_unchecked_statements(stated)))
    return context


_N_ROWS = 3


def _empty_as(kind: str) -> pd.Series:
    """Return a column of missing cells with the given type."""
    return pd.Series([None] * _N_ROWS, dtype=_TYPES.get(kind, "object"))


_TYPES = {
    "truth value": "boolean",
    "number": "float64",
    "date": "datetime64[us]",
    "duration": "timedelta64[us]",
}


def _stand_in_column(kind: str, levels: list[Any] | None, nullable: bool) -> pd.Series:
    """Return three cells: the two limits of the column, and a missing cell if allowed."""
    if kind == "continuous":
        return pd.Series([_LOW, _HIGH, np.nan if nullable else _HIGH])
    if kind == "datetime":
        last = None if nullable else _LAST
        return pd.Series([_FIRST, _LAST, last], dtype="datetime64[us]")
    if kind in ("categorical", "boolean"):
        texts = dict.fromkeys(str(one) for one in levels or [] if one is not None)
        named = ["False", "True"] if kind == "boolean" else [*texts]
        cell = None if nullable or not named else named[0]
        return pd.Series(pd.Categorical([cell] * _N_ROWS, categories=pd.Index(named, dtype=object)))
    return pd.Series([None] * _N_ROWS, dtype=object)


def _unchecked_statements(stated: StatedTable) -> list[str]:
    named = ", ".join(stated.not_held)
    return [f"The schema also contains entries that are not compared: {named}."] if named else []


def _check_primary_key(stated: StatedTable) -> None:
    unknown = [name for name in stated.schema.primary_key if name not in stated.schema.kinds]
    if unknown:
        raise SchemaMismatchError(
            f"primaryKey names columns that do not exist: {', '.join(unknown)}."
        )


def _without_stand_in(result: SuiteResult) -> SuiteResult:
    """Return results without the notes of metrics about the stand-in table."""
    kept = {name: _drop_stand_in(name, one) for name, one in result.items()}
    provenance = result.provenance
    if provenance is not None:
        inputs = tuple(one for one in provenance.inputs if one.role == "synthetic")
        measured = {name: one for name, one in provenance.metrics.items() if not kept[name].error}
        provenance = replace(provenance, inputs=inputs, metrics=measured)
    sizes = {role: n for role, n in result.sizes.items() if role == "synthetic"}
    return SuiteResult(kept, sizes=sizes, notices=result.notices, provenance=provenance)


def _drop_stand_in(name: str, result: Result) -> Result:
    details = {key: part for key, part in result.details.items() if key not in _OF_TRAIN}
    said = () if name in _WARN_OF_TRAIN else result.warnings
    return replace(result, details=details, warnings=said)
