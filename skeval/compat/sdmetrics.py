"""Interface of SDMetrics: metrics with `compute` and reports with `generate`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from skeval.compat.pair_trends import pair_details, with_own_edges
from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.steps.columns import ROLES
from skeval.suites.ready import make_suite
from skeval.suites.suite import MetricSuite
from skeval.tables.one_table import as_frame
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import TableSchema
from skeval.utils.files import replacing
from skeval.utils.formatting import did_you_mean

_NAMES = {  # option names
    "coefficient": "method",
    "known_column_names": "known",
    "sensitive_column_names": "sensitive",
    "computation_method": "method",
    "continuous_column_names": "continuous",
    "num_discrete_bins": "n_bins",
    "key_fields": "known",
    "sensitive_fields": "sensitive",
}
# by name: package in skeval, class if the name differs, and parameters for the same number
_METRICS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "BNLikelihood": ("fidelity", "", {"smoothing": 0.0}),
    "BNLogLikelihood": ("fidelity", "", {"smoothing": 0.0}),
    "BoundaryAdherence": ("diagnostic", "", {}),
    "CSTest": ("fidelity", "ChiSquaredTest", {}),
    "CategoryAdherence": ("diagnostic", "", {}),
    "CategoryCoverage": ("diagnostic", "", {}),
    "CategoricalCAP": ("privacy", "DisclosureProtection", {"normalize": False}),
    "CategoricalGeneralizedCAP": (
        "privacy",
        "DisclosureProtection",
        {"normalize": False, "method": "generalized_cap"},
    ),
    "CategoricalZeroCAP": (
        "privacy",
        "DisclosureProtection",
        {"normalize": False, "method": "zero_cap"},
    ),
    "ContingencySimilarity": ("fidelity", "", {"strategy": "uniform-plain"}),
    "CorrelationSimilarity": ("fidelity", "", {}),
    "DCRBaselineProtection": ("privacy", "", {"n_random_repeats": 1}),
    "DCROverfittingProtection": (
        "privacy",
        "",
        {"ties": "holdout", "scale": "reference", "chance": "half"},
    ),
    "DisclosureProtection": ("privacy", "", {}),
    "DisclosureProtectionEstimate": ("privacy", "", {}),
    "GMLogLikelihood": ("fidelity", "GMLikelihood", {}),
    "KSComplement": ("fidelity", "", {}),
    "MissingValueSimilarity": ("diagnostic", "", {}),
    "NewRowSynthesis": ("privacy", "NewRowShare", {}),
    "RangeCoverage": ("diagnostic", "", {"digits": None}),
    "StatisticSimilarity": ("fidelity", "", {}),
    "TVComplement": ("fidelity", "", {"nan": "drop"}),
    "TableStructure": ("diagnostic", "", {}),
}
NAMES = tuple(_METRICS)
_NOT_EQUAL = {  # by name, why the number differs
    "BNLikelihood": "the network is a tree with one parent for each column",
    "BNLogLikelihood": "the network is a tree with one parent for each column",
    "CSTest": "counts are tested, whereas SDMetrics tests frequencies as if they were counts",
    "GMLogLikelihood": "the number of components is chosen by an information criterion",
}
_MANY_LEVELS = 50
_COLUMN = "column"
# without metadata, these metrics determine the type of integer columns
_OF_NUMBERS = ("BoundaryAdherence", "CorrelationSimilarity", "GMLikelihood", "KSComplement",
               "RangeCoverage", "StatisticSimilarity")  # fmt: skip
_OF_LABELS = ("CategoryAdherence", "CategoryCoverage", "TVComplement")


@dataclass(frozen=True)
class ComputedMetric:
    """Metric of one or several tables with the methods of SDMetrics."""

    kind: type[Metric]
    # parameters with which the number equals the number of SDMetrics
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    # why the number differs from SDMetrics, for the warning of `compute`
    not_equal: str = ""

    def compute(self, *tables: Any, **options: Any) -> float:
        """Return the number. Tables and options have the names or positions of SDMetrics."""
        return float(self._evaluate(tables, options)[1].value)

    def compute_breakdown(self, *tables: Any, **options: Any) -> dict[str, Any]:
        """Return the number as `score`, and its parts as in SDMetrics."""
        metric, result, synthetic = self._evaluate(tables, options)
        parts = _PARTS.get(self.kind.__name__)
        known = {} if parts is None else parts(metric, result, synthetic)
        return dict(result.details.get("sdmetrics", {"score": float(result.value), **known}))

    def _evaluate(
        self, tables: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[Any, Result, Any]:
        names: tuple[str, ...] = ("real_data", "synthetic_data", "metadata")
        if "holdout" in self.kind.tags.needs:
            names = ("real_training_data", "synthetic_data", "real_validation_data", "metadata")
        given = dict(zip(names, tables, strict=False)) | options
        metadata, table = given.pop("metadata", None), given.pop("table_name", None)
        lacking = [name for name in names if name not in given and name != "metadata"]
        if lacking or len(tables) > len(names):
            raise InvalidParameterError(
                f"{self.kind.__name__}: compute requires {', '.join(names)}, got {len(tables)} "
                "tables"
                f"{' and ' if options else ''}{', '.join(options)}."
            )
        real, synthetic, *rest = (_as_table(given.pop(name)) for name in names[:-1])
        continuous = None
        if self.kind.__name__ == "ContingencySimilarity":  # SDMetrics treats columns as categories
            continuous = given.pop("continuous_column_names", None) or []
        own = {_NAMES.get(name, name): value for name, value in given.items() if name != "verbose"}
        if own.get("model_kwargs", "") is None:
            del own["model_kwargs"]
        if isinstance(coefficient := given.get("coefficient"), str):  # for example "Pearson"
            own["method"] = coefficient.lower()
        metric = self.kind(**{**self.settings, **self._check_options(own)})
        schema = _schema_of(real, metadata, table)
        if schema is None:
            schema = _assumed_kinds(self.kind.__name__, real, continuous)
        metric.fit(real, *rest, schema=schema)
        if why := self.not_equal or _why_not_equal(metric, synthetic):
            text = f"the number of {self.kind.__name__} may differ from SDMetrics: {why}."
            warnings.warn(MetricWarning(text), stacklevel=3)
        return metric, metric.evaluate(synthetic), synthetic

    def _check_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the options. Refuse options that the metric does not have."""
        known = [*signature(self.kind).parameters]
        if unknown := [name for name in options if name not in known]:
            raise InvalidParameterError(
                f"{self.kind.__name__}: compute has no option {', '.join(unknown)}. Its options "
                f"are {', '.join(known)}.{did_you_mean(unknown, known)}"
            )
        return options

    def __reduce__(self) -> tuple[Any, ...]:
        # a mappingproxy cannot be pickled
        return ComputedMetric, (self.kind, dict(self.settings), self.not_equal)


def _why_not_equal(metric: Any, synthetic: Any) -> str:
    """Return why the number differs for these tables, or an empty text."""
    kind, schema = type(metric).__name__, metric.context_.schema
    if kind == "NewRowShare" and not metric.context_.is_relational and schema.columns("datetime"):
        return "dates match within 1% of their range, in SDMetrics within 1% of a time stamp"
    ranked = kind == "CorrelationSimilarity" and metric.method == "spearman"
    if ranked and _has_missing(metric, synthetic, schema.columns("continuous", "datetime")):
        return "all values of a column are ranked, in SDMetrics only rows without missing values"
    if kind == "DisclosureProtection" and not metric.normalize:
        sensitive = [metric.sensitive] if isinstance(metric.sensitive, str) else metric.sensitive
        if _has_missing(metric, synthetic, [*metric.known, *sensitive]):
            return "rows with missing values match each other, in SDMetrics they match no row"
    if kind == "ContingencySimilarity":
        large = [n for n, levels in metric.context_.levels.items() if len(levels) > _MANY_LEVELS]
        if large:
            return (
                f"only the {_MANY_LEVELS} most frequent categories are kept and others are pooled"
            )
    return ""


def _has_missing(metric: Any, synthetic: Any, names: Sequence[str]) -> bool:
    context = metric.context_.with_synthetic(synthetic)
    return any(bool(context.column(role, name).isna().any()) for role in ROLES for name in names)


def _of_column(result: Result, *keys: str) -> list[Any]:
    """Return the entries of details about the only column, or nan for several columns."""
    found = [result.details.get(key, {}) for key in keys]
    return [next(iter(one.values())) if len(one) == 1 else math.nan for one in found]


def _missing(metric: Any, result: Result, synthetic: Any) -> dict[str, Any]:
    (shares,) = _of_column(result, "shares")
    if not isinstance(shares, Mapping):
        return {}
    return {"real": shares["train"], "synthetic": shares["synthetic"]}


def _coverage_breakdown(metric: Any, result: Result, synthetic: Any) -> dict[str, Any]:
    there, covered = _of_column(result, "n_categories", "n_covered")
    return {"real": there, "synthetic": covered}


def _correlation_breakdown(metric: Any, result: Result, synthetic: Any) -> dict[str, Any]:
    if len(result.details["names"]) != 2:
        return {}
    return {"real": _between(result, "train"), "synthetic": _between(result, "synthetic")}


def _statistics(metric: Any, result: Result, synthetic: Any) -> dict[str, Any]:
    if len(names := metric.context_.schema.measured) != 1:
        return {}
    context = metric.context_.with_synthetic(synthetic)
    values = {"real": context.train[names[0]], "synthetic": context.synthetic[names[0]]}
    return {role: float(column.agg(metric.statistic)) for role, column in values.items()}


def _between(result: Result, role: str) -> float:
    return float(result.details[role][0][1])


def _new_rows(metric: Any, result: Result, synthetic: Any) -> dict[str, Any]:
    n_new = int(result.details["n_new"])
    return {
        "num_new_rows": n_new,
        "num_matched_rows": len(as_frame(synthetic, "synthetic")) - n_new,
    }


def _protection_breakdown(metric: Any, result: Result, synthetic: Any) -> dict[str, Any]:
    details = result.details
    if not getattr(metric, "normalize", True):
        return {}
    return {"cap_protection": details["protection"], "baseline_protection": details["guess"]}


# parts of compute_breakdown in addition to the score, by class
_PARTS: dict[str, Callable[[Any, Result, Any], dict[str, Any]]] = {
    "CategoryCoverage": _coverage_breakdown,
    "ContingencySimilarity": lambda *_: {"real_association": math.nan},
    "CorrelationSimilarity": _correlation_breakdown,
    "DisclosureProtection": _protection_breakdown,
    "DisclosureProtectionEstimate": _protection_breakdown,
    "MissingValueSimilarity": _missing,
    "NewRowShare": _new_rows,
    "StatisticSimilarity": _statistics,
}


def _as_table(given: Any) -> Any:
    """Return a column as a table with one column, and other objects unchanged."""
    is_array = isinstance(given, np.ndarray) and given.ndim == 1
    if is_array or isinstance(given, list | tuple | pd.Series):
        return pd.DataFrame({_COLUMN: pd.Series(given).reset_index(drop=True)})
    if hasattr(given, "to_pandas") and not hasattr(given, "columns"):  # polars and Arrow columns
        return pd.DataFrame({_COLUMN: given.to_pandas()})
    return given


def _schema_of(real: Any, metadata: Any, table: str | None = None) -> Any:
    if metadata is None:
        return real.schema if isinstance(real, RelationalData) else None
    if isinstance(real, Mapping):
        return RelationalSchema.from_sdv(metadata)
    return TableSchema.from_sdv(metadata, table)


def _assumed_kinds(metric: str, real: Any, continuous: Sequence[str] | None = None) -> Any:
    """Return the column types that the metric assumes, or None.

    Otherwise, integers with two values would be categorical, and other numbers would not.
    """
    if continuous is not None and not isinstance(real, Mapping | RelationalData):
        names = list(as_frame(real, "train").columns)
        if len(names) > 2 and not continuous:  # more columns than SDMetrics accepts
            return None
        return {name: "continuous" if name in continuous else "categorical" for name in names}
    if isinstance(real, Mapping | RelationalData) or metric not in (*_OF_NUMBERS, *_OF_LABELS):
        return None
    frame = as_frame(real, "train")
    if metric in _OF_LABELS:
        return {_COLUMN: "categorical"} if list(frame.columns) == [_COLUMN] else None
    kinds = TableSchema.infer(frame).kinds
    numbers = [name for name in frame.columns if is_numeric_dtype(frame[name])]
    return {name: "continuous" for name in numbers if kinds[name] == "categorical"}


def computed(name: str) -> ComputedMetric:
    """Return the equivalent of an SDMetrics metric, with parameters for the same number.

    Parameters
    ----------
    name : str
        Name of the metric, such as "NewRowSynthesis".

    Returns
    -------
    object with compute and compute_breakdown
        ``compute(real, synthetic, metadata)`` returns the number. ``compute_breakdown`` returns a
        dict with the number as `score` and the numbers of its parts. If a metric requires rows that
        the generator has not seen, they are its third argument. Tables may also be passed by the
        names of SDMetrics, and parameters by the names of either package.

    Raises
    ------
    LookupError
        If SDMetrics has no such metric, or the equivalent is not called with two tables.

    Examples
    --------
    >>> from skeval.compat import computed
    >>> computed("TVComplement").settings
    {'nan': 'drop'}
    """
    if name not in _METRICS:
        raise LookupError(f"{name} is not among {', '.join(_METRICS)}.")
    package, kind, settings = _METRICS[name]
    metric = getattr(import_module(f"skeval.{package}"), kind or name)
    return ComputedMetric(metric, {**settings}, _NOT_EQUAL.get(name, ""))


class _Report:
    """Methods of both reports."""

    _preset: ClassVar[str]
    _first: ClassVar[str]  # first property
    _result: SuiteResult | None = None

    def generate(
        self, real_data: Any, synthetic_data: Any, metadata: Any = None, verbose: bool = False
    ) -> None:
        """Evaluate the synthetic data."""
        schema = _schema_of(real_data, metadata)
        known = schema
        if schema is None and isinstance(real_data, Mapping):  # keys must be detected
            known = RelationalData(real_data).schema
            said = f"The keys were detected from names and values: {known}."
            warnings.warn(MetricWarning(f"{said} Pass metadata to change them."), stacklevel=2)
        several = known if isinstance(known, RelationalSchema) else None
        suite = make_suite(self._preset, schema=several).fit(real_data, schema=schema)
        self._result = self._scores_as_there(suite, suite.evaluate(synthetic_data), synthetic_data)

    def _scores_as_there(
        self, suite: MetricSuite, result: SuiteResult, synthetic: Any
    ) -> SuiteResult:
        """Return the scores as SDMetrics defines them."""
        return result

    @property
    def result(self) -> SuiteResult:
        """Results of skeval, for example with intervals, `to_pdf` and `to_html`."""
        if self._result is None:
            raise InvalidParameterError(
                f"{type(self).__name__} has no scores yet. Call generate(real, synthetic)."
            )
        return self._result

    def get_score(self) -> float:
        """Return the overall score, from 0 to 1."""
        return float(self.result.properties().loc["overall", "score"])

    def get_properties(self) -> pd.DataFrame:
        """Return the score of each property, in the columns `Property` and `Score`."""
        scores = self.result.properties()["score"].drop("overall")
        titles = [str(name).replace("_", " ").title() for name in scores.index]
        return pd.DataFrame({"Property": titles, "Score": scores.to_numpy()})

    def get_details(self, property_name: str) -> pd.DataFrame:
        """Return the scores of a property, such as "Column Shapes", in the SDMetrics format."""
        # There is one row for each column or pair, with `Column`, `Metric` and `Score`. Pairs of a
        # single table have `Column 1`, `Column 2`, `Metric`, `Score`, the correlations, the
        # association and whether the pair counts. Results of several tables also have `Table`.
        group = _property(property_name)
        details = self.result.details(group).rename(
            columns={"table": "Table", "what": "Column", "metric": "Metric", "score": "Score"}
        )
        if details["Table"].ne("").any():
            return details.drop(columns="baseline")
        if group == "column_pair_trends":
            return pair_details(self.result)
        if details["Column"].equals(details["Metric"]):  # a property of the whole table
            return details[["Metric", "Score"]]
        described = self.result.provenance.columns if self.result.provenance else ()
        place = {record.column: i for i, record in enumerate(described)}
        order = details["Column"].map(place).argsort(kind="stable")
        return details[["Column", "Metric", "Score"]].iloc[order].reset_index(drop=True)

    def get_visualization(self, property_name: str) -> Any:
        """Return the matplotlib figure of a property."""
        return self.result.display(_property(property_name)).plot().figure_

    def save(self, filepath: str | Path) -> None:
        """Write the scores to a JSON file with any ending, without rows of data."""
        with replacing(Path(filepath)) as temporary:
            temporary.write_text(self.result.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, filepath: str | Path) -> _Report:
        """Read a file that :meth:`save` wrote, without executing code in it."""
        report = cls()
        report._result = SuiteResult.from_json(filepath)
        if cls._first not in report.result.properties().index:
            raise InvalidParameterError(
                f"{cls.__name__}.load: {filepath} has no scores of {cls._first}. Perhaps the other "
                "report wrote it."
            )
        return report


class QualityReport(_Report):
    """Quality report of SDMetrics, about the similarity of columns and of pairs of columns.

    See Also
    --------
    DiagnosticReport : Check whether the table is valid.
    skeval.make_suite : Create the suite "quality" with the same scores and a baseline.

    Examples
    --------
    >>> from skeval.compat import QualityReport
    >>> from skeval.datasets import make_mixed
    >>> report = QualityReport()
    >>> report.generate(make_mixed(random_state=0), make_mixed(random_state=1))
    >>> report.get_properties()["Property"].to_list()
    ['Column Shapes', 'Column Pair Trends']
    """

    _preset = "quality"
    _first = "column_shapes"

    def _scores_as_there(
        self, suite: MetricSuite, result: SuiteResult, synthetic: Any
    ) -> SuiteResult:
        if not suite.context_.is_relational:
            return with_own_edges(result, suite.context_.with_synthetic(synthetic))
        text = (
            "for pairs of a numerical and a categorical column, the bin edges come from the real "
            "table, whereas SDMetrics uses separate edges for each table. Their scores in Column "
            "Pair Trends and Intertable Trends may differ from SDMetrics."
        )
        warnings.warn(MetricWarning(text), stacklevel=3)
        return result


class DiagnosticReport(_Report):
    """Diagnostic report of SDMetrics, about the validity of values, keys and structure.

    See Also
    --------
    QualityReport : Evaluate the quality of a valid table.
    skeval.make_suite : Create the suite "diagnostic" with the same scores.

    Examples
    --------
    >>> from skeval.compat import DiagnosticReport
    >>> from skeval.datasets import make_mixed
    >>> real = make_mixed().rename_axis("person").reset_index()
    >>> kinds = {"person": "id", "age": "numerical", "city": "categorical"}
    >>> metadata = {"columns": {name: {"sdtype": kind} for name, kind in kinds.items()}}
    >>> report = DiagnosticReport()
    >>> report.generate(real[list(kinds)], real[list(kinds)], metadata | {"primary_key": "person"})
    >>> report.get_score()
    1.0
    """

    _preset = "diagnostic"
    _first = "data_validity"


def _property(name: str) -> str:
    return str(name).strip().lower().replace(" ", "_")
