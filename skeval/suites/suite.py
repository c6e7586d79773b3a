"""Several metrics over the same tables, and suites of suites."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, cast, get_args, overload

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import Bunch, estimator_html_repr
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.features import FeatureNames
from skeval.core.needs import Unmet
from skeval.core.reading import read_context
from skeval.core.tags import Aspect, Need
from skeval.exceptions import (
    InvalidParameterError,
    MetricFailedWarning,
    MetricWarning,
    MissingInputError,
    SkevalError,
)
from skeval.results.comparison import Comparison, comparison_of
from skeval.results.overall import OverallScore
from skeval.results.properties import property_warnings
from skeval.results.provenance import Date, describe, stamp
from skeval.results.rendering import rendering
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.steps.column_choice import check_measurable
from skeval.steps.holdout_shift import shift_notices, unnoticed_shift_notices
from skeval.steps.single_values import holdout_use_notices
from skeval.steps.table_notices import table_notices
from skeval.steps.texts import unread_texts
from skeval.suites.at_risk import RowsAtRisk
from skeval.suites.diagram import BlockOfMetrics
from skeval.suites.examined import unexamined_columns
from skeval.suites.groups import add_groups_to_schema, independent_rows, result_of
from skeval.suites.populations import mark_meaningless_results
from skeval.suites.spaces import in_space
from skeval.tables.schema import Accept, TableSchema
from skeval.tables.transformers import with_fitted_transformers
from skeval.utils.cores import Cores, sharing, using, waiting
from skeval.utils.engines import with_current_engine
from skeval.utils.formatting import did_you_mean
from skeval.utils.limits import within_limits
from skeval.utils.parameters import (
    Count,
    JobCount,
    Legal,
    NonNegative,
    Space,
    check_parameters,
    legal_sets,
)
from skeval.utils.progress import Progress
from skeval.utils.signatures import with_known_names

if TYPE_CHECKING:
    from skeval.results.release import Release, Stated
    from skeval.tables.relational_schema import RelationalSchema


Needs = Annotated[
    tuple[Need, ...],
    Legal(
        f"a tuple of {', '.join(get_args(Need))}",
        lambda value: isinstance(value, tuple | list) and set(value) <= set(get_args(Need)),
        "no need",
    ),
]


PASSED = "passthrough"  # replaces a metric that is switched off


class MetricSuite(FeatureNames, _BaseComposition):
    """Metrics that are fitted on the same real tables and evaluated on the same synthetic table.

    The suite fits clones of its metrics. Steps that several metrics share, such as nearest neighbor
    searches, are computed only once. Each metric has the same value as on its own.

    Parameters
    ----------
    metrics : list of (str, Metric), or dict of str to Metric
        Names and metrics. Names must be unique and must not contain a double underscore. A suite
        can also contain another suite in place of a metric. The results of a nested suite have
        names such as "leaks/dcr", and its parameters have names such as "leaks__dcr__random_state".
        "passthrough" in place of a metric disables the metric.
    n_jobs : int, optional
        Number of threads, as in joblib: None uses one thread unless a
        :class:`joblib.parallel_config` differs, and -1 uses all cores. This is the number of
        metrics that run at the same time. If fewer metrics than cores are running, neighbor
        searches use the idle cores. The values do not depend on the number of threads.
    on_error : {"warn", "raise"}, default="warn"
        Whether a metric that raises an error is reported as failed with a warning, or stops the
        evaluation. If skeval raised the error, the warning contains its message. For all other
        exceptions, the warning contains only the name of the class, because the message may quote
        real data.
    check_holdout : bool, default=True
        Whether fit checks if training and holdout data can be distinguished. The check is performed
        once, and only if a metric compares the two. If they can be distinguished, such comparisons
        are not valid and :class:`~skeval.exceptions.HoldoutShiftWarning` is issued. The check needs
        a fraction of a second per fit. Disable it if many suites are fitted on the same tables, for
        example in a search over generators.
    timeout : float, optional
        Time limit for each metric in seconds. A metric that exceeds it is stopped and reported as
        failed. A call into compiled code cannot be interrupted. It runs to completion and its
        result is ignored. By default, there is no limit.
    max_memory : int, optional
        Limit in bytes for the memory that a metric may allocate, or for the sum over all concurrent
        metrics if `n_jobs` is greater than one. A metric that exceeds it is stopped and reported as
        failed.
    max_rows : int, optional
        Maximum number of rows that are sampled from each table that is larger than memory. Metrics
        that cannot process such a table in parts use one random sample of this size. The default is
        50,000. Tables in memory are used completely.
    space : "gower", "euclidean" or transformer, optional
        Space for the distances of all metrics that have the parameter `space`. It overrides the
        value that was passed to each metric. A transformer is fitted on training and holdout data
        together, unless it is already fitted. In spaces other than "gower", distances have no upper
        bound. Therefore, the suite sets ``scale="observed"`` in
        :class:`~skeval.privacy.MinimumDistanceAccumulation` and
        :class:`~skeval.fidelity.MDAResemblance`.
    optional : tuple of str, default=()
        Names of inputs, such as "text". If one of these inputs is missing, metrics that require it
        are skipped silently.
    schema : TableSchema, RelationalSchema or mapping, optional
        Schema that fit uses if it receives none.
    groups : str, optional
        Column that identifies rows that belong together, for example the ID of a patient with
        several rows. Each group must be in only one of the real tables. Tests that compare training
        and holdout data, and the check of the holdout, use one row of each group, because rows of a
        group are not independent. Values, intervals and copies are computed from all rows. The
        column itself is treated as an ID, unless `schema` is a TableSchema.

    Attributes
    ----------
    metrics_ : dict of str to Metric
        The fitted clones.
    skipped_ : dict of str to str
        Reason for each skipped metric, including metrics that are skipped silently.
    context_ : Context
        Real tables.

    See Also
    --------
    make_suite : Create a suite from a preset, or from metrics without names.
    SuiteResult : Result of a suite.

    Notes
    -----
    The metrics and the `optional` inputs of a nested suite are added to the outer suite. Metrics of
    a nested suite use the `space` of the nested suite unless the outer suite has a `space`. The
    `schema` of a nested suite is used only if neither `fit` nor the outer suite has one. All other
    parameters of a nested suite are ignored. ``one + other`` is a suite with the metrics of both
    and the settings of the first.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement, TVComplement
    >>> suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    >>> result = suite.fit(make_mixed(random_state=0)).evaluate(make_mixed(random_state=1))
    >>> sorted(result)
    ['ks', 'tv']
    >>> nested = MetricSuite([("columns", suite), ("again", KSComplement())])
    >>> [name for name, _ in nested.set_params(columns__ks="passthrough").all_metrics]
    ['columns/tv', 'again']
    """

    __metadata_request__fit = {"holdout": UNUSED, "schema": UNUSED}
    __metadata_request__evaluate = {"progress": UNUSED, "date": UNUSED, "release": UNUSED}

    @with_known_names
    def __init__(
        self,
        metrics: Sequence[tuple[str, Any]] | Mapping[str, Any],
        *,
        n_jobs: JobCount | None = None,
        on_error: Literal["warn", "raise"] = "warn",
        check_holdout: bool = True,
        timeout: NonNegative | None = None,
        max_memory: Count | None = None,
        max_rows: Count | None = None,
        space: Space | None = None,
        optional: Needs = (),
        schema: Any = None,
        groups: str | None = None,
    ) -> None:
        self.metrics = metrics
        self.n_jobs = n_jobs
        self.on_error = on_error
        self.check_holdout = check_holdout
        self.timeout = timeout
        self.max_memory = max_memory
        self.max_rows = max_rows
        self.space = space
        self.optional = optional
        self.schema = schema
        self.groups = groups

    def __sklearn_clone__(self) -> Self:
        return with_fitted_transformers(super().__sklearn_clone__(), self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters. Parameters of metrics are named `name__parameter`."""
        params: dict[str, Any] = self._get_params("_pairs", deep=deep)
        return params

    @property
    def _pairs(self) -> Any:
        """The names and metrics as pairs. Invalid metrics are returned unchanged."""
        return list(self.metrics.items()) if isinstance(self.metrics, Mapping) else self.metrics

    @property
    def all_metrics(self) -> Named:
        """The metrics by the names of their results, including metrics of nested suites."""
        return [(name, metric) for name, metric, _ in self._parts()]

    def _parts(self) -> Iterator[tuple[str, Metric, tuple[Need, ...]]]:
        """Yield names, metrics and their optional inputs, except for disabled metrics."""
        for name, one in self._pairs:
            if isinstance(one, MetricSuite):
                for inner, metric, optional in one._parts():
                    own = metric if one.space is None else in_space(metric, one.space)
                    yield f"{name}/{inner}", own, (*self.optional, *optional)
            elif not _is_off(one):
                yield name, one, tuple(self.optional)

    def __add__(self, other: Any) -> MetricSuite:
        """Return a suite of the metrics of both, with the settings of this one."""
        if not isinstance(other, MetricSuite):
            return NotImplemented
        nested = "Nest the suites: MetricSuite([('one', suite), ('other', suite)])."
        if twice := sorted(dict(self._pairs).keys() & dict(other._pairs)):
            raise InvalidParameterError(f"both suites have {', '.join(twice)}. {nested}")
        if self.space is not other.space and self.space != other.space:
            raise InvalidParameterError(f"the suites use different spaces. {nested}")
        return type(self)(
            **self.get_params(deep=False)
            | {
                "metrics": [*self._pairs, *other._pairs],
                "optional": tuple(dict.fromkeys((*self.optional, *other.optional))),
                "schema": other.schema if self.schema is None else self.schema,
            }
        )

    def set_params(self, **params: Any) -> Self:
        """Set parameters, named `name__parameter` for metrics, or replace metrics by name.

        Raises
        ------
        InvalidParameterError
            If the parameter does not exist, or the replacement is not a metric.
        """
        known = set() if "metrics" in params else set(self.get_params())
        names = list(dict(params.get("metrics", self._pairs)))
        for name, value in params.items() if known else ():
            whole = name.partition("__")[0]
            if name not in known and (whole == name or whole not in params):
                near = difflib.get_close_matches(name, known, n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise InvalidParameterError(f"MetricSuite has no parameter {name}.{meant}")
            if name in names and not _is_member(value):
                raise InvalidParameterError(
                    f"MetricSuite: {name} must be a Metric, got {value!r}. To disable it, set "
                    f"it to {PASSED!r}."
                )
        if "metrics" in params:
            self.metrics = params.pop("metrics")
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            pairs = [(name, replaced.get(name, one)) for name, one in self._pairs]
            self.metrics = dict(pairs) if isinstance(self.metrics, Mapping) else pairs
        return cast("Self", super().set_params(**params))

    @overload
    def __getitem__(self, name: str | int) -> Any: ...

    @overload
    def __getitem__(self, name: slice) -> Self: ...

    def __getitem__(self, name: str | int | slice) -> Any:
        """Return a metric by name or position, fitted if possible, or a suite for a slice."""
        if isinstance(name, slice):
            own = {**self.get_params(deep=False), "metrics": self._pairs[name]}
            return type(self)(**own)
        if not isinstance(name, str):
            name = self._pairs[name][0]
        fitted: dict[str, Metric] = getattr(self, "metrics_", {})
        known = {**dict(self.all_metrics), **dict(self._pairs), **fitted}
        if name not in known:
            raise KeyError(f"unknown metric {name!r}.{did_you_mean([str(name)], known)}")
        return known[name]

    @property
    def named_metrics(self) -> Bunch:
        """The metrics by name, also as attributes: ``suite.named_metrics.tstr``."""
        return Bunch(**{name: self[name] for name, _ in self.all_metrics})

    def __len__(self) -> int:
        return len(self._pairs)

    def fit(
        self,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | RelationalSchema | Mapping[str, Any] | Accept | None = None,
    ) -> Self:
        """Fit a clone of each metric on the real tables. See :meth:`Metric.fit`.

        A metric is skipped if a required input is missing, or if its package or model is not
        installed. Its result contains the reason. Names of columns that do not exist raise one
        error for all metrics.
        """
        self._check()
        schema = self._own_schema() if schema is None else schema
        if self.groups is not None:
            schema = add_groups_to_schema(schema, self.groups, getattr(train, "columns", None))
        context = read_context(train, holdout, schema=schema, max_rows=self.max_rows)
        if not context.is_relational:
            check_measurable(context.schema, self._named_columns(), type(self).__name__)
        independent = independent_rows(context, self.groups)
        fitted: dict[str, Metric] = {}
        skipped: dict[str, str] = {}
        skipped_results: dict[str, Result] = {}
        with sharing(self.n_jobs):
            for name, metric, optional in self._parts():
                try:
                    fitted[name] = in_space(metric, self.space).fit_context(context)
                # an input or a package is missing
                except (MissingInputError, ImportError) as unmet:
                    reason = _missing_input(unmet)
                    skipped[name] = reason.reason
                    if set(optional).isdisjoint(metric.missing_inputs(context)):
                        skipped_results[name] = _skipped_result(metric, reason)
            is_checked = self.check_holdout and any(map(_contrasts, fitted.values()))
            if is_checked:
                context.notices += shift_notices(independent)
        for notice in context.notices:
            warnings.warn(notice, stacklevel=2)
        # results and reports contain it; the user cannot fix it at fit, so there is no warning
        kinds = [metric for metric in fitted.values() if "text" not in metric.tags.needs]
        context.notices += table_notices(context)
        if is_checked:
            context.notices += unnoticed_shift_notices(independent)
        context.notices += unread_texts(context, [getattr(one, "space", None) for one in kinds])
        self._names = [n for n, _ in self.all_metrics if n in fitted or n in skipped_results]
        self._skipped_results = skipped_results
        self.skipped_ = skipped
        self.metrics_, self.context_ = fitted, context
        return self

    def evaluate(
        self,
        synthetic: Any,
        *,
        progress: Progress | None = None,
        date: Date = None,
        release: Stated = None,
    ) -> SuiteResult:
        """Evaluate a synthetic table with all metrics.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            Synthetic data with the columns of the training data.
        progress : callable, optional
            Called as ``progress(name, n_done, n_total)`` when a metric is done.
        date : date, datetime or str, optional
            Date of the evaluation for the provenance. The default is ``SOURCE_DATE_EPOCH`` or now.
        release : Release, mapping or path to a TOML file, optional
            Description of the release with its recipient and thresholds, for the provenance.

        Returns
        -------
        SuiteResult
            Results in the order of the suite. `error` contains the reason why a metric was skipped
            or failed.

        Raises
        ------
        InvalidParameterError
            If the release cannot be read, or has a threshold for a metric that the suite does not
            have.
        """
        from skeval.results.release import stated_release

        check_is_fitted(self, "context_")
        stamp(date)  # raise an error for an invalid date before the evaluation
        stated = stated_release(release, self.all_metrics)
        results = self._evaluate_metrics(self._context_with(synthetic), progress, date, stated)
        results.look_up = RowsAtRisk(self.context_, synthetic)
        return results

    def score(self, synthetic: Any, aspect: Aspect | None = None) -> float:
        """Return the mean score of an aspect, where 0 is the worst and 1 the baseline.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            Synthetic data with the columns of the training data.
        aspect : {"fidelity", "utility", "privacy", "validity"}, optional
            Aspect to average. It may be omitted if all metrics have the same aspect.

        Returns
        -------
        float
            Score as in :class:`~skeval.OverallScore`. If no metric of the aspect has a score, the
            value is nan, and a warning contains the reason.

        Raises
        ------
        InvalidParameterError
            If the suite has several aspects and none is specified, or no metric of the specified
            aspect.
        """
        aspects = list(dict.fromkeys(metric.tags.aspect for _, metric in self.all_metrics))
        chosen = aspects[0] if aspect is None and len(aspects) == 1 else aspect
        if chosen not in aspects:
            raise InvalidParameterError(
                "MetricSuite.score averages the metrics of one aspect, but the suite has metrics "
                f"of {', '.join(aspects) or 'none'}, got {aspect!r}. Specify one, for example "
                f"score(synthetic, aspect={(*aspects, 'fidelity')[0]!r})."
            )
        result, scorer = self.evaluate(synthetic), OverallScore()
        score = float(scorer.aspects(result).loc[chosen, "score"])
        if np.isnan(score):
            frame = scorer.frame(result)
            of_it = frame.loc[frame["aspect"] == chosen, ["metric", "skipped"]]
            why = "; ".join(f"{name}: {reason}" for name, reason in of_it.to_numpy())
            warnings.warn(MetricWarning(f"{chosen} has no score: {why}."), stacklevel=2)
        return score

    def compare(
        self,
        tables: Mapping[str, Any],
        *,
        progress: Progress | None = None,
        date: Date = None,
        release: Stated = None,
    ) -> Comparison:
        """Evaluate several synthetic tables and compare them.

        Parameters
        ----------
        tables : mapping of str to table
            Two or more synthetic tables by name.
        progress : callable, optional
            Called as ``progress("table: metric", n_done, n_total)`` when a metric is done.
        date : date, datetime or str, optional
            Date of the evaluation for the provenance.
        release : Release, mapping or path to a TOML file, optional
            Description of the release as in :meth:`evaluate`. It applies to each table.

        Returns
        -------
        Comparison
            Results of each table, intervals of their differences, and the best tables.

        Raises
        ------
        InvalidParameterError
            If there are fewer than two tables, or the release is not valid.
        """
        from skeval.results.release import stated_release

        check_is_fitted(self, "context_")
        if not isinstance(tables, Mapping):
            raise InvalidParameterError(
                "MetricSuite.compare needs a mapping of names to synthetic tables, such as {'a': "
                f"table_a, 'b': table_b}}, got {type(tables).__name__}."
            )
        stamp(date)
        stated = stated_release(release, self.all_metrics)
        contexts = {str(name): self._context_with(table) for name, table in tables.items()}
        n_rows = min((c.n_rows("synthetic") for c in contexts.values()), default=0)
        n_metrics, results, variations = len(self.metrics_), {}, {}
        for i, (table, context) in enumerate(contexts.items()):

            def tick(name: str, n_done: int, n_total: int, i: int = i, table: str = table) -> None:
                if progress is not None:
                    done = i * n_metrics + n_done
                    progress(f"{table}: {name}", done, len(contexts) * n_metrics)

            results[table] = self._evaluate_metrics(context, tick, date, stated)
            variations[table] = {
                name: variation
                for name, metric in self.metrics_.items()
                if np.isfinite(results[table][name].value)
                and (variation := metric.variation(context, n_rows)) is not None
            }
        return comparison_of(results, variations)

    def _fit_on(self, context: Context, skipped: Mapping[str, str]) -> Self:
        """Use a context in place of real tables. `skipped` contains reasons to skip metrics."""
        self.metrics_ = {
            name: in_space(metric, self.space).fit_context(context)
            for name, metric in self.all_metrics
            if name not in skipped
        }
        self._skipped_results = {
            name: _skipped_result(
                metric, Unmet(why, next(iter(metric.missing_inputs(context)), ""))
            )
            for name, metric in self.all_metrics
            if (why := skipped.get(name))
        }
        self._names = [name for name, _ in self.all_metrics]
        self.skipped_, self.context_ = dict(skipped), context
        return self

    def _context_with(self, synthetic: Any) -> Context:
        lenient = all(metric.tags.lenient for metric in self.metrics_.values())
        return self.context_.with_synthetic(synthetic, lenient=lenient)

    def _evaluate_metrics(
        self, context: Context, progress: Progress | None, date: Date, release: Release | None
    ) -> SuiteResult:
        done: list[str] = []
        failures: list[MetricFailedWarning] = []

        def measure(name: str, metric: Metric, cores: Cores) -> Result:
            with using(cores) if cores.n > 1 else nullcontext():
                result = self._measure(name, metric, context, failures)
            done.append(name)
            if progress is not None:
                progress(name, len(done), len(self.metrics_))
            return result

        here = with_current_engine(measure)  # threads do not inherit the engine of this thread
        # this thread waits for the threads of the metrics
        with sharing(self.n_jobs) as cores, waiting():
            parallel = Parallel(n_jobs=cores.n, backend="threading")
            calls = (delayed(here)(*pair, cores) for pair in self.metrics_.items())
            measured = dict(zip(self.metrics_, parallel(calls), strict=True))
        results = {name: measured.get(name) or self._skipped_results[name] for name in self._names}
        for notice in [*failures, *context.notices, *property_warnings(results)]:
            warnings.warn(notice, stacklevel=3)
        sizes = {
            role: context.n_rows(role)
            for role in ("train", "holdout", "synthetic")
            if role in context
        }
        results, of_whole = mark_meaningless_results(
            results, release, has_holdout="holdout" in context
        )
        of_tables = (*self.context_.notices, *context.notices, *of_whole)
        if any(map(_contrasts, self.metrics_.values())):  # the verdict states it
            of_tables += holdout_use_notices(context)
        of_tables += unexamined_columns(context, self.metrics_, results)
        named = {n: self.metrics_.get(n, metric) for n, metric in self.all_metrics if n in results}
        provenance = describe(named, context, date, release)
        return SuiteResult(results, sizes=sizes, notices=of_tables, provenance=provenance)

    def _measure(
        self, name: str, metric: Metric, context: Context, failures: list[MetricFailedWarning]
    ) -> Result:
        try:
            return within_limits(
                lambda: result_of(metric, context, self.groups if _contrasts(metric) else None),
                self.timeout,
                self.max_memory,
            )
        # a metric may raise any exception, and the other results must not be lost
        except Exception as error:
            if self.on_error == "raise":
                raise
            text = _describe_error(error)
            warning = MetricFailedWarning(f"{name} failed: {text}")
            failures.append(warning)
            kind = type(metric).__name__
            return Result(
                float("nan"), metric=kind, tags=metric.tags, error=text, warnings=(warning,)
            )

    def absent(self, schema: TableSchema) -> set[str]:
        """Return the names of text metrics that have no row in any table of this schema."""
        return {
            name
            for name, metric, optional in self._parts()
            if "text" in optional and "text" in metric.tags.needs and not schema.columns("text")
        }

    def _own_schema(self) -> Any:
        """Return the schema of the suite, or of the first nested suite that has one."""
        nested = (one._own_schema() for _, one in self._pairs if isinstance(one, MetricSuite))
        return self.schema if self.schema is not None else next(filter(None, nested), None)

    def check_parameters(self) -> None:
        """Check the parameters of the suite and its metrics before any table is read.

        Raises
        ------
        InvalidParameterError
            If a parameter is not valid.
        """
        self._check()
        self._named_columns()

    def _check(self) -> None:
        pairs = self._pairs
        are_pairs = isinstance(pairs, tuple | list) and all(
            isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs
        )
        if not are_pairs:
            raise InvalidParameterError(
                "MetricSuite: metrics must be (name, Metric) pairs, such as "
                "[('ks', KSComplement())], or map names to metrics. make_suite([KSComplement()]) "
                "creates the names."
            )
        names = [name for name, _ in pairs]
        if twice := sorted({str(name) for name in names if names.count(name) > 1}):
            raise InvalidParameterError(
                f"MetricSuite: names of metrics must be unique, got {', '.join(twice)} more "
                "than once. Rename one of them, or let make_suite([...]) name them."
            )
        self._validate_names(names)
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))
        if wrong := [name for name, one in pairs if not _is_member(one)]:
            raise InvalidParameterError(
                f"MetricSuite: metrics must be (name, Metric) pairs, but {', '.join(wrong)} is not "
                "a Metric."
            )
        for _, one in pairs:
            if isinstance(one, MetricSuite):
                one._check()

    def _named_columns(self) -> dict[str, list[str]]:
        """Return the columns that metrics name, without duplicates for each parameter."""
        named: dict[str, dict[str, None]] = {}
        for _, metric in self.all_metrics:
            for parameter, columns in metric.named_columns().items():
                named.setdefault(parameter, {}).update(dict.fromkeys(columns))
        return {parameter: list(columns) for parameter, columns in named.items()}

    def _sk_visual_block_(self) -> Any:
        return BlockOfMetrics(self._pairs)

    def _repr_html_(self) -> str:
        """Return the summary of each metric, followed by scikit-learn's diagram."""
        rows = (
            (name, type(one).__name__, (inspect.getdoc(one) or "").partition("\n")[0], one.tags)
            for name, one in self.all_metrics
        )
        return rendering().suite_html(rows, estimator_html_repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _describe_error(error: Exception) -> str:
    """Return the class of an exception, with the message only for errors of skeval."""
    kind = type(error).__name__
    if isinstance(error, SkevalError):
        return f"{kind}: {error}"
    return f"{kind}: on_error='raise' shows the traceback"  # warnings and results may be logged


def _missing_input(error: Exception) -> Unmet:
    """Return the missing input of a metric, without the name of the metric."""
    if isinstance(error, MissingInputError):
        return Unmet(error.lack, error.need)
    return Unmet(str(error))


def _skipped_result(metric: Metric, why: Unmet) -> Result:
    """Return the result of a skipped metric, with the missing input."""
    kind = type(metric).__name__
    return Result(float("nan"), metric=kind, tags=metric.tags, error=why.reason, unmet=why.need)


def _contrasts(metric: Metric) -> bool:
    """Return whether a metric requires that train and holdout are exchangeable."""
    return metric.tags.aspect == "privacy" or "holdout" in metric.tags.needs


def _is_off(one: Any) -> bool:
    return isinstance(one, str) and one == PASSED


def _is_member(one: Any) -> bool:
    """Return whether an object may be part of a suite: a metric, a suite or "passthrough"."""
    return isinstance(one, Metric | MetricSuite) or _is_off(one)


Named = list[tuple[str, Metric]]
