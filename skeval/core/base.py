"""The contract: parameters in `__init__`, real rows in `fit`, synthetic rows in `evaluate`."""

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
from skeval.core.halves import Halved, Sizes, variation_of_halves, with_interval
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
from skeval.steps.halves import halvings
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
    """Base of all metrics: the author writes `tags` and `_compute`, the rest is inherited.

    A metric is an estimator. Its parameters are stored untouched by `__init__`; :meth:`fit` takes
    the real tables; :meth:`evaluate` takes a synthetic one and gives a :class:`Result`,
    :meth:`score` its value alone, in its published scale and direction.

    Authors set ``tags`` and write ``_compute(context)``, which returns a float or a
    :class:`Result`, from ``context.train``, ``context.holdout``, ``context.synthetic`` and shared
    steps. Work on the real rows that is worth doing once goes into ``_prepare(context)``. The
    annotations of ``__init__`` are the legal sets of the parameters, see :mod:`skeval.parameters`.
    Reports print the sentence that ``_summary(result)`` returns, of a result that has its baseline.

    Attributes
    ----------
    context_ : Context
        The real tables, and what was computed of them. A fitted metric holds real rows; pickling
        drops them unless ``context_.remember_rows`` is set.

    See Also
    --------
    check_metric : Whether a metric keeps the contract.
    shared : Work that metrics have in common.

    Notes
    -----
    Where a holdout is given, the baseline is the same metric with holdout rows in the synthetic
    place, at equal sizes; metrics that contrast train and holdout give the null of their contrast
    instead. If the holdout is smaller than the synthetic table, ``details["at_baseline_size"]``
    holds the value at the baseline's size, since many measures depend on the number of rows.

    Metrics with ``_halved = True`` are measured on halves of all tables too, five times. This gives
    ``Result.interval``, of the expected value at these sizes, and ``Result.difference``, of value
    minus baseline; rows are taken to be drawn independently. ``details["large_sample_value"]``
    estimates what the value tends to as all tables grow. With ``_halved = "root"`` the noise is
    that of the root, for sums of squares, which shrink as the square of the noise.

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
    # train and synthetic are positional: scikit-learn has nothing to route here
    __metadata_request__fit: ClassVar[dict[str, str]] = {
        "holdout": UNUSED,
        "schema": UNUSED,
        "check_holdout": UNUSED,
    }

    # whether values on halves of the tables give the intervals, see the notes of the class
    _halved: ClassVar[Halved] = False
    _parts: ClassVar[tuple[str, ...]] = ()  # of the details, shown for the holdout too

    # which columns a report has this metric look at: a field of ReportColumns, or "pairs"
    report_columns: ClassVar[Literal["", "knn", "phik", "pairs"]] = ""
    # parameters that a suite changes where it puts a metric in another space than "gower"
    in_other_spaces: ClassVar[Mapping[str, Any]] = {}

    context_: Context

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = with_known_names(cls.__init__)  # type: ignore[method-assign]

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted metric of the same parameters; fitted transformers stay fitted."""
        return with_fitted_transformers(super().__sklearn_clone__(), self)

    # what the author of a metric writes: `_compute`, and others of these if the metric has them

    def _compute(self, context: Context) -> float | Result:
        raise NotImplementedError(f"{type(self).__name__} must define _compute(context).")

    def _prepare(self, context: Context) -> None:
        """Do work on the real rows once, at fit; nothing by default."""

    def _summary(self, result: Result) -> str:
        """Say in a sentence what the finished result shows: by default what `_compute` wrote."""
        return result.summary

    def _leak_advice(self, context: Context) -> str:
        """Say where a leak lies that the test has shown, and what to do; nothing by default."""
        return ""

    def _leak_columns(self, context: Context) -> list[str]:
        """Return the columns in which a leak shows that the test has found; none by default."""
        return []

    # what users call

    def fit(
        self,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | RelationalSchema | Mapping[str, Any] | Accept | None = None,
        check_holdout: bool = False,
    ) -> Self:
        """Take the real tables.

        Parameters
        ----------
        train : table of shape (n_train, n_columns), or mapping of str to table
            The rows that the generator learned from: pandas, polars or pyarrow, or the path of a
            file or the URL of a database (:doc:`/user_guide/files`); or, where
            they need not fit in memory, a folder of Parquet files, a `pyarrow.dataset.Dataset`, a
            lazy polars or a Dask frame, none of which is collected. Metrics of
            :mod:`skeval.relational` take several tables, by name, as a folder of files or a
            RelationalData.
        holdout : table of shape (n_holdout, n_columns), or mapping of str to table, optional
            Real rows of the same population that the generator never saw.
        schema : TableSchema, RelationalSchema, mapping, SDV's Metadata or "accept", optional
            The kinds of the columns, by name; those not named are inferred from train. With
            "accept", whole numbers of three to twelve values are taken as categories.
        check_holdout : bool, default=False
            Whether to check if train and holdout can be distinguished, which makes contrasts of the
            two void; if so, :class:`~skeval.exceptions.HoldoutShiftWarning` is given. A suite does
            this once for all its metrics.

        Returns
        -------
        self

        Raises
        ------
        InvalidParameterError
            If a parameter is outside its legal set, or names a column that train does not have.
        MissingInputError
            If the metric needs something that is not given.
        TableError, SchemaMismatchError
            If the tables cannot be used; all faulty columns are named at once.
        """
        self.named_columns()  # an illegal parameter is found before large tables are read
        context = read_context(train, holdout, schema=schema)
        self.fit_context(context)
        if check_holdout:
            context.notices += shift_notices(context)
        for notice in context.notices:
            warnings.warn(notice, stacklevel=2)
        return self

    def fit_context(self, context: Context) -> Self:
        """Take real tables that were read already, as a suite does to share them."""
        named = self.named_columns()
        if named and not context.is_relational:
            check_measurable(context.schema, named, type(self).__name__)
        if lack := self.unmet_need(context):
            raise MissingInputError(lack.reason, type(self).__name__, lack.need)
        with sharing(getattr(self, "n_jobs", None)):
            self._prepare(measured_on(context, self._scaling))
        self.context_ = context
        return self

    def evaluate(self, synthetic: Any, *, advise: bool = False) -> Result:
        """Measure a synthetic table.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            With the columns of train, in any order; further ones are ignored, with a warning.
        advise : bool, default=False
            Whether a test that shows a leak also looks where it lies, which may take longer than
            the test: `Result.advice`. Suites do, once for all their metrics.

        Returns
        -------
        Result
            The value with its baseline and interval, aggregates, warnings, among them those that
            were given of the real tables at fit.
        """
        check_is_fitted(self, "context_")
        context = self.context_.with_synthetic(synthetic, lenient=self.tags.lenient)
        result = self.evaluate_context(context, advise=advise)
        said = (*context.notices, *result.warnings)
        for warning in said:
            warnings.warn(warning, stacklevel=2)
        return replace(result, warnings=(*self.context_.notices, *said))

    def score(self, synthetic: Any) -> float:
        """Return the value alone: that of :meth:`evaluate`, without the cost of its baseline."""
        check_is_fitted(self, "context_")
        context = self.context_.with_synthetic(synthetic, lenient=self.tags.lenient)
        with sharing(getattr(self, "n_jobs", None)):
            measured = measured_on(context, self._scaling)
            result = self._result(measured)
        sampled = sample_notices(measured) if measured.drawn_of else ()
        for warning in (*context.notices, *sampled, *result.warnings):
            warnings.warn(warning, stacklevel=2)
        return result.value

    # what suites call, with a context that several metrics share

    def evaluate_context(self, context: Context, *, advise: bool = True) -> Result:
        """Measure the synthetic rows of a context, as a suite does to share its steps."""
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
        if not np.isnan(result.value):  # else the warnings say why
            result = replace(result, summary=self._summary(result))
            space = getattr(self, "space", "gower")
            pooled = () if is_gower(space) else pooled_notices(context, space)
            result = replace(result, warnings=(*result.warnings, *pooled))
        if context.drawn_of:
            result = with_sample_sizes(context, result)
        return replace(result, seconds=time.perf_counter() - start)

    @property
    def _scaling(self) -> Scaling:
        """What it does with tables that need not fit in memory, see :class:`MetricTags`."""
        return self.tags.scaling

    def unmet_need(self, context: Context) -> Unmet | None:
        """Return which need of the metric the real tables leave unmet, and the cure, or None."""
        if context.is_relational and "relational" not in self.tags.needs:
            return unmet("one table", type(self).__name__)
        lacking = self.unmet_needs(context)
        return unmet(lacking[0], type(self).__name__) if lacking else None

    def unmet_needs(self, context: Context) -> list[Need]:
        """Return the needs of the metric that the real tables leave unmet, by name."""
        met = {
            "holdout": "holdout" in context,
            "keys": bool(context.schema.primary_key),
            "text": bool(context.schema.columns("text")),
            "target": getattr(self, "target", None) is not None,
            "relational": context.is_relational,
        }
        return [need for need in sorted(self.tags.needs) if not met.get(need, True)]

    def named_columns(self) -> dict[str, list[str]]:
        """Return the columns that parameters name, by parameter; each must be one of train's.

        Raises
        ------
        InvalidParameterError
            If a parameter is outside its legal set.
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
        """Return what `_compute` gives as a result of this metric."""
        computed = self._compute(context)
        if not isinstance(computed, Result | Real):
            raise TypeError(
                f"{type(self).__name__}._compute must return a float or a Result, "
                f"got {type(computed).__name__}."
            )
        result = computed if isinstance(computed, Result) else Result(computed)
        # a metric whose parameters decide its direction says so in its result
        return replace(result, metric=type(self).__name__, tags=result.tags or self.tags)

    # what `evaluate` adds to the value; metrics override the one that they compute otherwise

    def _compared_result(self, context: Context) -> Result:
        """Return the result together with what fresh real rows get."""
        return self._in_relation(context, self._result(context))

    def _in_relation(self, context: Context, result: Result) -> Result:
        """Compare a result with what fresh real rows get; `score` does without."""
        result = with_interval(self, context, result)
        if result.baseline is None and "holdout" in context and "holdout" not in self.tags.needs:
            return with_baseline(self, context, result)
        return result

    def _value_alone(self, context: Context) -> float:
        """Return the value alone: metrics override it whose other properties take longer."""
        return self._result(context).value

    def _n_compared_rows(self, context: Context, n_rows: int) -> int:
        """Return how many of `n_rows` in the synthetic place the value is of."""
        return min(n_rows, getattr(self, "max_rows", None) or n_rows)

    def _values_of_halves(self, context: Context, role: str, sizes: Sizes) -> np.ndarray:
        """Return the values of halves of the rows that count, of train and of a role."""
        pairs = halvings(context, role, *sizes)
        return np.array([[self._value_alone(half) for half in halves] for halves in pairs])

    def variation(self, context: Context, n_rows: int) -> Sampled | None:
        """Return the value of `n_rows` synthetic rows and how it varies, to compare two tables."""
        # None where the metric has only intervals that take the real rows as random too
        return variation_of_halves(self, context, n_rows)
