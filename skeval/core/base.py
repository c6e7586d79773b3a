"""Base class of metrics: `__init__` stores parameters, `fit` real and `evaluate` synthetic rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from skeval.core.baseline import with_baseline
from skeval.core.context import Context
from skeval.core.features import FeatureNames
from skeval.core.intervals import Halved, HalvedValues, Sizes, variation_of_halves, with_interval
from skeval.core.needs import Unmet, unmet
from skeval.core.notices import pooled_notices, sample_notices, with_sample_sizes
from skeval.core.reading import read_context
from skeval.core.tags import MetricTags, Need
from skeval.core.undefined_tests import keep_in_family
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.results.result import Result
from skeval.results.verdict import ALARM_LEVEL
from skeval.stats.table_differences import Sampled
from skeval.steps.column_choice import check_measurable
from skeval.steps.encoded_rows import is_gower
from skeval.steps.halvings import halvings
from skeval.steps.holdout_shift import shift_notices
from skeval.steps.samples import measured_on
from skeval.steps.single_values import unchanged_values
from skeval.tables.schema import Accept, TableSchema
from skeval.tables.transformers import with_fitted_transformers
from skeval.utils.cores import sharing
from skeval.utils.formatting import as_float
from skeval.utils.parameters import Legal, Scaling, check_parameters, legal_sets
from skeval.utils.signatures import with_known_names

if TYPE_CHECKING:
    from skeval.tables.relational_schema import RelationalSchema


class Metric(FeatureNames, BaseEstimator):
    """Base class for all metrics. A subclass defines `tags` and implements `_compute`.

    A metric is an estimator. `__init__` stores the parameters without changes. :meth:`fit` accepts
    the real tables. :meth:`evaluate` accepts a synthetic table and returns a :class:`Result`.
    :meth:`score` returns only the value, in its published scale and direction.

    A subclass sets ``tags`` and implements ``_compute(context)``, which returns a float or a
    :class:`Result`. It uses ``context.train``, ``context.holdout``, ``context.synthetic`` and
    shared steps. Computations on the real rows that should be done only once belong in
    ``_prepare(context)``. The annotations of ``__init__`` define the valid values of the
    parameters, see :mod:`skeval.parameters`. ``_summary(result)`` returns the sentence that reports
    print. It is called after the baseline has been computed.

    Attributes
    ----------
    context_ : Context
        Real tables, and the intermediate results that were computed from them. A fitted metric
        contains real rows. Pickling drops them unless ``context_.remember_rows`` is set.

    See Also
    --------
    check_metric : Check that a metric satisfies the contract.
    shared : Share intermediate results between metrics.

    Notes
    -----
    If a holdout is given, the baseline is the value of the metric with holdout rows in place of the
    synthetic rows, at equal sizes. Metrics that compare training and holdout data return the value
    under their null hypothesis instead. If the holdout is smaller than the synthetic table,
    ``details["at_baseline_size"]`` contains the value at the size of the baseline, because many
    measures depend on the number of rows.

    Metrics with ``_halved = True`` are also evaluated on halves of all tables, eight times, and 16
    times to compare synthetic tables. The differences between halves provide ``Result.interval``,
    the interval of the mean value over many tables of these sizes, and ``Result.difference``, the
    interval of value minus baseline. Rows are assumed to be independent. If the metric has bins of
    equal width or a parameter "range", and a table has more than 1,000 rows, it is also evaluated
    with other extreme values in the training data, because their noise does not shrink with the
    number of rows. ``details["large_sample_value"]`` estimates the limit of the value for large
    tables. ``_halved = "root"`` is for metrics that may be sums of squares, whose noise shrinks as
    fast as the value.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval import Metric, MetricTags
    >>> class MeanGap(Metric):
    ...     tags = MetricTags("fidelity", greater_is_better=False, bounds=(0, float("inf")))
    ...     def __init__(self, column):
    ...         self.column = column
    ...     def _compute(self, context):
    ...         real, synthetic = context.train[self.column], context.synthetic[self.column]
    ...         return abs(real.mean() - synthetic.mean())
    >>> MeanGap("x").fit(pd.DataFrame({"x": [1, 2, 3]})).score(pd.DataFrame({"x": [3, 3]}))
    1.0
    """

    tags: ClassVar[MetricTags]
    # train and synthetic are positional, because there is no metadata to route in scikit-learn
    __metadata_request__fit: ClassVar[dict[str, str]] = {
        "holdout": UNUSED,
        "schema": UNUSED,
        "check_holdout": UNUSED,
    }

    # whether values on halves of the tables provide intervals, see the notes of the class
    _halved: ClassVar[Halved] = False
    _parts: ClassVar[tuple[str, ...]] = ()  # details that are also shown for the holdout

    # which columns the metric uses in a report: a field of ReportColumns, or "pairs"
    report_columns: ClassVar[Literal["", "knn", "phik", "pairs"]] = ""
    # parameters that a suite changes if it sets a space other than "gower"
    in_other_spaces: ClassVar[Mapping[str, Any]] = {}

    context_: Context

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = with_known_names(cls.__init__)  # type: ignore[method-assign]

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted metric with the same parameters. Fitted transformers stay fitted."""
        return with_fitted_transformers(super().__sklearn_clone__(), self)

    # methods that an author implements: `_compute`, and optionally the others

    def _compute(self, context: Context) -> float | Result:
        raise NotImplementedError(f"{type(self).__name__} must define _compute(context).")

    def _prepare(self, context: Context) -> None:
        """Perform computations on the real rows once, at fit. By default, do nothing."""

    def _summary(self, result: Result) -> str:
        """Describe the result in a sentence. By default, return the sentence of `_compute`."""
        return result.summary

    def _leak_advice(self, context: Context) -> str:
        """Describe where a detected leak is and how to fix it. By default, return an empty text."""
        return ""

    def _leak_columns(self, context: Context) -> list[str]:
        """Return the columns in which a detected leak is visible. By default, there are none."""
        return []

    # methods that users call

    def fit(
        self,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | RelationalSchema | Mapping[str, Any] | Accept | None = None,
        check_holdout: bool = False,
    ) -> Self:
        """Fit the metric on the real tables.

        Parameters
        ----------
        train : table of shape (n_train, n_columns), or mapping of str to table
            Rows that the generator was trained on, as a pandas, polars or pyarrow table, the path
            of a file or the URL of a database (:doc:`/user_guide/files`). Tables larger than memory
            are accepted as a folder of Parquet files, a `pyarrow.dataset.Dataset`, a lazy polars
            frame or a Dask frame, which are not collected. Metrics of :mod:`skeval.relational`
            accept several tables by name, as a folder of files, or as a RelationalData.
        holdout : table of shape (n_holdout, n_columns), or mapping of str to table, optional
            Real rows of the same population that the generator never saw.
        schema : TableSchema, RelationalSchema, mapping, SDV's Metadata or "accept", optional
            Types of the columns by name. Other types are inferred from the training data. With
            "accept", integers with three to twelve distinct values are treated as categories.
        check_holdout : bool, default=False
            Whether to check if training and holdout data can be distinguished. If they can be
            distinguished, comparisons of the two are not valid and
            :class:`~skeval.exceptions.HoldoutShiftWarning` is issued. A suite performs this check
            once for all its metrics.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            If a parameter is invalid, or names a column that is not in the training data.
        MissingInputError
            If an input that the metric requires is missing.
        TableError, SchemaMismatchError
            If the tables are not valid. The message lists all invalid columns.
        """
        self.named_columns()  # check parameters before large tables are read
        context = read_context(train, holdout, schema=schema)
        self.fit_context(context)
        if check_holdout:
            context.notices += shift_notices(context)
        for notice in context.notices:
            warnings.warn(notice, stacklevel=2)
        return self

    def fit_context(self, context: Context) -> Self:
        """Fit the metric on real tables that a suite read and shares between metrics."""
        named = self.named_columns()
        if named and not context.is_relational:
            check_measurable(context.schema, named, type(self).__name__)
        if lack := self.missing_input(context):
            raise MissingInputError(lack.reason, type(self).__name__, lack.need)
        with sharing(getattr(self, "n_jobs", None)):
            self._prepare(measured_on(context, self._scaling))
        self.context_ = context
        return self

    def evaluate(self, synthetic: Any, *, advise: bool = False) -> Result:
        """Evaluate a synthetic table.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            Synthetic data with the columns of the training data, in any order. Additional columns
            are ignored with a warning.
        advise : bool, default=False
            Whether to locate a leak if the test is significant, for `Result.advice`. This may need
            more time than the test itself. Suites do it once for all their metrics.

        Returns
        -------
        Result
            Value with its baseline, interval and aggregated details, and with warnings, including
            the warnings about the real tables from fit.
        """
        check_is_fitted(self, "context_")
        context = self.context_.with_synthetic(synthetic, lenient=self.tags.lenient)
        result = self.evaluate_context(context, advise=advise)
        said = (*context.notices, *result.warnings)
        for warning in said:
            warnings.warn(warning, stacklevel=2)
        return replace(result, warnings=(*self.context_.notices, *said))

    def score(self, synthetic: Any) -> float:
        """Return only the value of :meth:`evaluate`, without the cost of the baseline."""
        check_is_fitted(self, "context_")
        context = self.context_.with_synthetic(synthetic, lenient=self.tags.lenient)
        with sharing(getattr(self, "n_jobs", None)):
            measured = measured_on(context, self._scaling)
            result = self._result(measured)
        sampled = sample_notices(measured) if measured.drawn_of else ()
        for warning in (*context.notices, *sampled, *result.warnings):
            warnings.warn(warning, stacklevel=2)
        return result.value

    # methods that suites call, with a context that several metrics share

    def evaluate_context(self, context: Context, *, advise: bool = True) -> Result:
        """Evaluate the synthetic rows of a context. Suites use it to share steps."""
        start = time.perf_counter()
        with sharing(getattr(self, "n_jobs", None)):
            context = measured_on(context, self._scaling)
            result = self._compared_result(context)
            if self.tags.aspect == "privacy":
                result = keep_in_family(self, context, result)
            if advise and as_float(result.p_value) <= ALARM_LEVEL and not result.advice:
                again = not unchanged_values(context)
                result = replace(result, advice=self._leak_advice(context), refit=again)
                if names := self._leak_columns(context):
                    details = {**result.details, "exposed_columns": names}
                    result = replace(result, details=details)
        if not np.isnan(result.value):  # otherwise the warnings contain the reason
            result = replace(result, summary=self._summary(result))
            space = getattr(self, "space", "gower")
            pooled = () if is_gower(space) else pooled_notices(context, space)
            result = replace(result, warnings=(*result.warnings, *pooled))
        if context.drawn_of:
            result = with_sample_sizes(context, result)
        return replace(result, seconds=time.perf_counter() - start)

    @property
    def _scaling(self) -> Scaling:
        """Method for tables larger than memory, see :class:`MetricTags`."""
        return self.tags.scaling

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the first unmet need of the metric for these real tables, or None."""
        if context.is_relational and "relational" not in self.tags.needs:
            return unmet("one table", type(self).__name__)
        lacking = self.missing_inputs(context)
        return unmet(lacking[0], type(self).__name__) if lacking else None

    def missing_inputs(self, context: Context) -> list[Need]:
        """Return the names of all unmet needs of the metric for these real tables."""
        met = {
            "holdout": "holdout" in context,
            "keys": bool(context.schema.primary_key),
            "text": bool(context.schema.columns("text")),
            "target": getattr(self, "target", None) is not None,
            "relational": context.is_relational,
        }
        return [need for need in sorted(self.tags.needs) if not met.get(need, True)]

    def named_columns(self) -> dict[str, list[str]]:
        """Return the column names that parameters contain, by parameter.

        Raises
        ------
        InvalidParameterError
            If a parameter is invalid.
        """
        if not isinstance(getattr(type(self), "tags", None), MetricTags):
            raise InvalidParameterError(f"{type(self).__name__} must set tags = MetricTags(...).")
        legal = legal_sets(type(self))
        check_parameters(type(self).__name__, self.get_params(deep=False), legal)
        names = [n for n, one in legal.items() if isinstance(one, Legal) and one.names_columns]
        if "target" in self.tags.needs and "target" not in names:
            names.insert(0, "target")
        named = {}
        for name in names:
            value = getattr(self, name, None)
            if isinstance(value, str | list | tuple):
                named[name] = [value] if isinstance(value, str) else list(value)
        return named

    def _result(self, context: Context) -> Result:
        """Return the output of `_compute` as a result of this metric."""
        computed = self._compute(context)
        if not isinstance(computed, Result | Real):
            raise TypeError(
                f"{type(self).__name__}._compute must return a float or a Result, "
                f"got {type(computed).__name__}."
            )
        result = computed if isinstance(computed, Result) else Result(computed)
        # if parameters determine the direction, the result contains it
        return replace(result, metric=type(self).__name__, tags=result.tags or self.tags)

    # methods with which `evaluate` extends the value, for metrics to override

    def _compared_result(self, context: Context) -> Result:
        """Return the result with its baseline."""
        return self._in_relation(context, self._result(context))

    def _in_relation(self, context: Context, result: Result) -> Result:
        """Compare a result with its baseline. `score` skips this."""
        halved = HalvedValues(self, context)
        result = with_interval(halved, result)
        if result.baseline is None and "holdout" in context and "holdout" not in self.tags.needs:
            return with_baseline(halved, result)
        return result

    def _value_alone(self, context: Context) -> float:
        """Return only the value. Metrics override it if their other results are expensive."""
        return self._result(context).value

    def _n_compared_rows(self, context: Context, n_rows: int) -> int:
        """Return how many of `n_rows` synthetic rows the value depends on."""
        return min(n_rows, getattr(self, "max_rows", None) or n_rows)

    def _uses_range(self) -> bool:
        """Return whether the range of the training data determines bins or a scale."""
        if getattr(self, "n_bins", None):
            return str(getattr(self, "strategy", "uniform")).startswith("uniform")
        return "range" in (getattr(self, "normalize", None), getattr(self, "scale", None))

    def _values_of_halves(
        self, context: Context, role: str, sizes: Sizes, n_halvings: int
    ) -> np.ndarray:
        """Return the values of halves of the training rows and of the rows of another role."""
        pairs = halvings(context, role, *sizes, n_halvings)
        return np.array([[self._value_alone(half) for half in halves] for halves in pairs])

    def variation(self, context: Context, n_rows: int) -> Sampled | None:
        """Return the value of `n_rows` synthetic rows and its variation, to compare two tables."""
        # None if all intervals of the metric treat the real rows as random too
        return variation_of_halves(self, context, n_rows)
