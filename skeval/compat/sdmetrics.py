"""The calls of SDMetrics: metrics with `compute`, reports with `generate`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from skeval.core.base import Metric
from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.suites.ready import make_suite
from skeval.tables.frames import as_frame
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import RelationalSchema
from skeval.tables.schema import TableSchema
from skeval.utils.files import replacing
from skeval.utils.formatting import did_you_mean

_NAMES = {  # of options
    "coefficient": "method",
    "known_column_names": "known",
    "sensitive_column_names": "sensitive",
    "computation_method": "method",
    "continuous_column_names": "continuous",
    "num_discrete_bins": "n_bins",
}
# of each name: the package of ours, our class if its name is another, what gives the same number
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
_COLUMN = "column"
# without metadata, the choice of a metric says of which kind whole numbers are
_OF_NUMBERS = ("BoundaryAdherence", "CorrelationSimilarity", "GMLikelihood", "KSComplement",
               "RangeCoverage", "StatisticSimilarity")  # fmt: skip
_OF_LABELS = ("CategoryAdherence", "CategoryCoverage", "TVComplement")


@dataclass(frozen=True)
class ComputedMetric:
    """A metric of one or several tables with the verbs of SDMetrics.

    Parameters
    ----------
    kind : type
        Our class.
    settings : mapping of str to object, default={}
        Its parameters, by which the number is that of SDMetrics.

    See Also
    --------
    computed : By the name that SDMetrics has.

    Examples
    --------
    >>> from skeval.compat import ComputedMetric
    >>> from skeval.fidelity import KSComplement
    >>> ComputedMetric(KSComplement).compute([1, 2, 3, 4], [2, 3, 4, 5])
    0.75
    """

    kind: type[Metric]
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def compute(self, *tables: Any, **options: Any) -> float:
        """Return the number.

        Parameters
        ----------
        *tables : table, column or mapping of str to table
            Real and synthetic rows, then the metadata; of metrics that need rows that the generator
            has not seen: real, synthetic, such rows, metadata. Each may be given by its name there.
        **options : object
            Parameters by the names of SDMetrics or ours.

        Returns
        -------
        float
        """
        return float(self._evaluated(tables, options).value)

    def compute_breakdown(self, *tables: Any, **options: Any) -> dict[str, Any]:
        """Return the number as `score`, and what SDMetrics breaks it down to.

        Parameters
        ----------
        *tables, **options : object
            As for :meth:`compute`.

        Returns
        -------
        dict
        """
        result = self._evaluated(tables, options)
        return dict(result.details.get("sdmetrics", {"score": float(result.value)}))

    def _evaluated(self, tables: tuple[Any, ...], options: dict[str, Any]) -> Result:
        names: tuple[str, ...] = ("real_data", "synthetic_data", "metadata")
        if "holdout" in self.kind.tags.needs:
            names = ("real_training_data", "synthetic_data", "real_validation_data", "metadata")
        given = dict(zip(names, tables, strict=False)) | options
        metadata, table = given.pop("metadata", None), given.pop("table_name", None)
        lacking = [name for name in names if name not in given and name != "metadata"]
        if lacking or len(tables) > len(names):
            raise InvalidParameterError(
                f"{self.kind.__name__}: compute takes {', '.join(names)}, got {len(tables)} tables"
                f"{' and ' if options else ''}{', '.join(options)}."
            )
        real, synthetic, *rest = (_as_table(given.pop(name)) for name in names[:-1])
        own = {_NAMES.get(name, name): value for name, value in given.items() if name != "verbose"}
        if isinstance(coefficient := given.get("coefficient"), str):  # as "Pearson"
            own["method"] = coefficient.lower()
        metric = self.kind(**{**self.settings, **self._known(own)})
        schema = _schema_of(real, metadata, table)
        if schema is None:
            schema = _meant(self.kind.__name__, real)
        return metric.fit(real, *rest, schema=schema).evaluate(synthetic)

    def _known(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return options; refuse those that the metric does not have."""
        known = [*signature(self.kind).parameters]
        if unknown := [name for name in options if name not in known]:
            raise InvalidParameterError(
                f"{self.kind.__name__}: compute has no option {', '.join(unknown)}; there are "
                f"{', '.join(known)}.{did_you_mean(unknown, known)}"
            )
        return options

    def __reduce__(self) -> tuple[Any, ...]:
        return ComputedMetric, (self.kind, dict(self.settings))  # a mappingproxy has no pickle


def _as_table(given: Any) -> Any:
    """Return a column as a table of one column, anything else as it is."""
    is_array = isinstance(given, np.ndarray) and given.ndim == 1
    if is_array or isinstance(given, list | tuple | pd.Series):
        return pd.DataFrame({_COLUMN: pd.Series(given).reset_index(drop=True)})
    if hasattr(given, "to_pandas") and not hasattr(given, "columns"):  # of polars and Arrow
        return pd.DataFrame({_COLUMN: given.to_pandas()})
    return given


def _schema_of(real: Any, metadata: Any, table: str | None = None) -> Any:
    if metadata is None:
        return real.schema if isinstance(real, RelationalData) else None
    if isinstance(real, Mapping):
        return RelationalSchema.from_sdv(metadata)
    return TableSchema.from_sdv(metadata, table)


def _meant(metric: str, real: Any) -> Any:
    """Return of which kind columns are by what is asked of them; None where it says nothing.

    Whole numbers of two values would be categories else, and other numbers none.
    """
    if isinstance(real, Mapping | RelationalData) or metric not in (*_OF_NUMBERS, *_OF_LABELS):
        return None
    frame = as_frame(real, "train")
    if metric in _OF_LABELS:
        return {_COLUMN: "categorical"} if list(frame.columns) == [_COLUMN] else None
    kinds = TableSchema.infer(frame).kinds
    numbers = [name for name in frame.columns if is_numeric_dtype(frame[name])]
    return {name: "continuous" for name in numbers if kinds[name] == "categorical"}


def computed(name: str) -> ComputedMetric:
    """Return what is computed by a name of SDMetrics: our metric, and the options of its number.

    Parameters
    ----------
    name : str
        Such as "NewRowSynthesis".

    Returns
    -------
    ComputedMetric

    Raises
    ------
    LookupError
        If SDMetrics has no such metric, or ours is called otherwise than by two tables.

    See Also
    --------
    ComputedMetric : What it can do.

    Examples
    --------
    >>> from skeval.compat import computed
    >>> computed("TVComplement").settings
    {'nan': 'drop'}
    """
    if name not in _METRICS:
        raise LookupError(f"{name} is not among {', '.join(_METRICS)}.")
    package, kind, settings = _METRICS[name]
    return ComputedMetric(getattr(import_module(f"skeval.{package}"), kind or name), {**settings})


class _Report:
    """What both reports can do, once they are generated."""

    _preset: ClassVar[str]
    _first: ClassVar[str]  # of its properties
    _result: SuiteResult | None = None

    def generate(
        self, real_data: Any, synthetic_data: Any, metadata: Any = None, verbose: bool = False
    ) -> None:
        """Measure.

        Parameters
        ----------
        real_data, synthetic_data : table, or mapping of str to table
            The rows that the generator has seen, and those it made.
        metadata : mapping, path or object with `to_dict`, optional
            As SDMetrics takes it.
        verbose : bool, default=False
            Nothing is printed; a call that gives it runs.
        """
        schema = _schema_of(real_data, metadata)
        known = schema
        if schema is None and isinstance(real_data, Mapping):  # tables whose keys are to be seen
            known = RelationalData(real_data).schema
            said = f"The keys were detected from names and values: {known}."
            warnings.warn(MetricWarning(f"{said} Give metadata to say others."), stacklevel=2)
        several = known if isinstance(known, RelationalSchema) else None
        suite = make_suite(self._preset, schema=several)
        self._result = suite.fit(real_data, schema=schema).evaluate(synthetic_data)

    @property
    def result(self) -> SuiteResult:
        """Our results, which can do more: intervals, `to_pdf`, `to_html`."""
        if self._result is None:
            raise InvalidParameterError(
                f"{type(self).__name__} has no scores yet; call generate(real, synthetic)."
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
        """Return the scores behind a property, such as "Column Shapes", a row a column or pair."""
        return self.result.details(_property(property_name))

    def get_visualization(self, property_name: str) -> Any:
        """Return the figure of a property, of matplotlib."""
        return self.result.display(_property(property_name)).plot().figure_

    def save(self, filepath: str | Path) -> None:
        """Write the scores to a file, as JSON by any ending; it has no rows."""
        with replacing(Path(filepath)) as temporary:
            temporary.write_text(self.result.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, filepath: str | Path) -> _Report:
        """Read what :meth:`save` wrote; nothing in it is run."""
        report = cls()
        report._result = SuiteResult.from_json(filepath)
        if cls._first not in report.result.properties().index:
            raise InvalidParameterError(
                f"{cls.__name__}.load: {filepath} has no scores of {cls._first}; the other report "
                "may have written it."
            )
        return report


class QualityReport(_Report):
    """The quality report of SDMetrics: how alike columns and pairs of columns are.

    See Also
    --------
    DiagnosticReport : Whether the table is valid.
    skeval.make_suite : With "quality", the same scores next to those of a holdout.

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


class DiagnosticReport(_Report):
    """The diagnostic report of SDMetrics: whether values, keys and structure are valid.

    See Also
    --------
    QualityReport : How good a valid table is.
    skeval.make_suite : With "diagnostic", the same scores.

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
