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
    """Metrics that are fitted on the same real tables and evaluated on the same synthetic one.

    The suite fits clones, never the metrics that it was given. Whatever steps they share, such as
    the neighbour searches, is computed once, and each metric has the value that it has alone.

    Parameters
    ----------
    metrics : list of (str, Metric), or dict of str to Metric
        Names and metrics. Names are unique and hold no double underscore. A suite in the place of a
        metric is nested: its results have names such as "leaks/dcr", and its parameters such as
        "leaks__dcr__random_state". "passthrough" in the place of a metric switches it off.
    n_jobs : int, optional
        Number of threads, as in joblib: None is one unless a :class:`joblib.parallel_config` says
        otherwise, -1 all cores. So many metrics run at a time, and a core that is idle, as where
        others wait for a search of neighbours or one metric is left, helps in the search that
        runs. The values are the same to the last bit.
    on_error : {"warn", "raise"}, default="warn"
        Whether a metric that raises is reported as failed in its row, with a warning, or ends the
        evaluation. The warning quotes errors of skeval. It names only the class of another
        exception, because the message may contain cells of the real tables.
    check_holdout : bool, default=True
        Whether fit checks, once for all metrics, if train and holdout can be distinguished. It does
        so if a metric contrasts the two. If they differ, such contrasts are void and
        :class:`~skeval.exceptions.HoldoutShiftWarning` is given. It costs a fraction of a second a
        fit: turn it off where many suites are fitted on the same tables, as in a search over
        generators.
    timeout : float, optional
        Seconds that each metric may take; one that takes longer is stopped, and listed as failed.
        A call of compiled code runs on to its end, unheard. There is no limit by default.
    max_memory : int, optional
        Bytes by which the process may grow while a metric runs, with `n_jobs` that of all that run
        at a time; a metric that takes more is stopped, and listed as failed.
    max_rows : int, optional
        Rows of each role, drawn once, on which metrics are measured that cannot be counted up over
        tables larger than memory; 50,000 by default. Tables in memory are measured whole.
    space : "gower", "euclidean" or transformer, optional
        The space of all metrics that have a parameter `space`, in place of their own. A transformer
        learns from train and holdout together; one that is fitted is used as it is. Areas of
        accumulated distances have ``scale="observed"`` in spaces other than "gower".
    optional : tuple of str, default=()
        Needs, such as "text": metrics that lack one of them are left away without a word.
    schema : TableSchema, RelationalSchema or mapping, optional
        The schema that fit goes by where it is given none.
    groups : str, optional
        A column whose values say which rows belong together, such as the number of a person who has
        several rows. Each group must be in one of the real tables. Tests that compare train and
        holdout, and the check of the holdout, then use one row of each group, since rows of a group
        are not independent. Values, intervals and copies are of all rows. The column itself is
        treated as an id, unless `schema` is a TableSchema.

    Attributes
    ----------
    metrics_ : dict of str to Metric
        The fitted clones.
    skipped_ : dict of str to str
        Metrics that were left out, and why, the optional ones included.
    context_ : Context
        The real tables.

    See Also
    --------
    make_suite : Ready suites, and names for metrics without one.
    SuiteResult : What a suite returns.

    Notes
    -----
    Of a nested suite count the metrics, its `space` where the outer suite has none, its `optional`
    and, where there is no other, its `schema`. The other settings are those of the outer suite.
    ``one + other`` is a suite of the metrics of both, with the settings of the first.

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
        """Return the parameters, those of the metrics as `name__parameter`."""
        params: dict[str, Any] = self._get_params("_pairs", deep=deep)
        return params

    @property
    def _pairs(self) -> Any:
        """The names and metrics as pairs; what cannot be read so, as it was given."""
        return list(self.metrics.items()) if isinstance(self.metrics, Mapping) else self.metrics

    @property
    def all_metrics(self) -> Named:
        """The metrics by the names of their results, those of nested suites too."""
        return [(name, metric) for name, metric, _ in self._parts()]

    def _parts(self) -> Iterator[tuple[str, Metric, tuple[Need, ...]]]:
        """Yield names, metrics and needs that are optional; what is switched off is left out."""
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
        nested = "Nest them: MetricSuite([('one', suite), ('other', suite)])."
        if twice := sorted(dict(self._pairs).keys() & dict(other._pairs)):
            raise InvalidParameterError(f"both suites have {', '.join(twice)}. {nested}")
        if self.space is not other.space and self.space != other.space:
            raise InvalidParameterError(f"the suites measure in different spaces. {nested}")
        return type(self)(
            **self.get_params(deep=False)
            | {
                "metrics": [*self._pairs, *other._pairs],
                "optional": tuple(dict.fromkeys((*self.optional, *other.optional))),
                "schema": other.schema if self.schema is None else self.schema,
            }
        )

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the metrics as `name__parameter`, or whole metrics by name.

        Raises
        ------
        InvalidParameterError
            If there is no such parameter, or what is to replace a metric is none.
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
                    f"MetricSuite: {name} must be a Metric, got {value!r}. To do without it, set "
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
        """Return a metric by name or place, the fitted one where there is; of a slice a suite."""
        if isinstance(name, slice):
            own = {**self.get_params(deep=False), "metrics": self._pairs[name]}
            return type(self)(**own)
        if not isinstance(name, str):
            name = self._pairs[name][0]
        fitted: dict[str, Metric] = getattr(self, "metrics_", {})
        known = {**dict(self.all_metrics), **dict(self._pairs), **fitted}
        if name not in known:
            raise KeyError(f"There is no metric {name!r}.{did_you_mean([str(name)], known)}")
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
        """Fit a clone of each metric on the real tables; see :meth:`Metric.fit`.

        A metric that needs what is not given is left out, and so is one whose package or model is
        not installed: its row says how to get it. Names of columns that train does not have
        are an error: one for those of all metrics.
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
        left_out: dict[str, Result] = {}
        with sharing(self.n_jobs):
            for name, metric, optional in self._parts():
                try:
                    fitted[name] = in_space(metric, self.space).fit_context(context)
                # the tables lack an input, or a package is missing
                except (MissingInputError, ImportError) as unmet:
                    reason = _unmet_need(unmet)
                    skipped[name] = reason.reason
                    if set(optional).isdisjoint(metric.unmet_needs(context)):
                        left_out[name] = _skipped_result(metric, reason)
            is_checked = self.check_holdout and any(map(_contrasts, fitted.values()))
            if is_checked:
                context.notices += shift_notices(independent)
        for notice in context.notices:
            warnings.warn(notice, stacklevel=2)
        # it is in results and reports: nothing is wrong that a warning at fit could cure
        kinds = [metric for metric in fitted.values() if "text" not in metric.tags.needs]
        context.notices += table_notices(context)
        if is_checked:
            context.notices += unnoticed_shift_notices(independent)
        context.notices += unread_texts(context, [getattr(one, "space", None) for one in kinds])
        self._names = [n for n, _ in self.all_metrics if n in fitted or n in left_out]
        self._left_out = left_out
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
        """Measure a synthetic table by every metric.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            With the columns of train.
        progress : callable, optional
            Called as ``progress(name, n_done, n_total)`` when a metric is done.
        date : date, datetime or str, optional
            The date of the evaluation, for its provenance; by default now, or
            ``SOURCE_DATE_EPOCH``.
        release : Release, mapping or path to a TOML file, optional
            What is to be released, to whom and by which thresholds, for its provenance.

        Returns
        -------
        SuiteResult
            In the order of the suite; metrics that were left out or failed say why in `error`.

        Raises
        ------
        InvalidParameterError
            If the release cannot be read, or has a threshold on what the suite does not measure.
        """
        from skeval.results.release import stated_release

        check_is_fitted(self, "context_")
        stamp(date)  # an illegal one is found before the work
        stated = stated_release(release, self.all_metrics)
        results = self._evaluate_metrics(self._context_with(synthetic), progress, date, stated)
        results.look_up = RowsAtRisk(self.context_, synthetic)
        return results

    def score(self, synthetic: Any, facet: Aspect | None = None) -> float:
        """Return the mean score of a facet: 0 the worst, 1 as fresh real rows.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            With the columns of train.
        facet : {"fidelity", "utility", "privacy", "diagnostic"}, optional
            Whose metrics count. It need not be named where all metrics are of one.

        Returns
        -------
        float
            As :class:`~skeval.OverallScore` has it; nan, with a warning that says
            why, where no metric of the facet has a score.

        Raises
        ------
        InvalidParameterError
            If the suite has metrics of several facets and none is named, or none of the named one.
        """
        facets = list(dict.fromkeys(metric.tags.aspect for _, metric in self.all_metrics))
        chosen = facets[0] if facet is None and len(facets) == 1 else facet
        if chosen not in facets:
            raise InvalidParameterError(
                "MetricSuite.score is the mean of one facet, and the suite has metrics of "
                f"{', '.join(facets) or 'none'}, got {facet!r}. Name one: "
                f"score(synthetic, facet={(*facets, 'fidelity')[0]!r})."
            )
        result, scorer = self.evaluate(synthetic), OverallScore()
        score = float(scorer.facets(result).loc[chosen, "score"])
        if np.isnan(score):
            frame = scorer.frame(result)
            of_it = frame.loc[frame["facet"] == chosen, ["metric", "left_out"]]
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
        """Measure several synthetic tables, and how far they are apart.

        Parameters
        ----------
        tables : mapping of str to table
            Synthetic tables, two or more, by the names that they shall have.
        progress : callable, optional
            Called as ``progress("table: metric", n_done, n_total)`` when a metric is done.
        date : date, datetime or str, optional
            The date of the evaluation, for its provenance.
        release : Release, mapping or path to a TOML file, optional
            As of :meth:`evaluate`, for that of each table.

        Returns
        -------
        Comparison
            The results by table, the intervals of their differences, and which table is ahead.

        Raises
        ------
        InvalidParameterError
            If there are fewer than two tables, or the release is refused.
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

    def _fit_on(self, context: Context, left_out: Mapping[str, str]) -> Self:
        """Take a context in place of real tables; `left_out` says what it is not enough for."""
        self.metrics_ = {
            name: in_space(metric, self.space).fit_context(context)
            for name, metric in self.all_metrics
            if name not in left_out
        }
        self._left_out = {
            name: _skipped_result(metric, Unmet(why, next(iter(metric.unmet_needs(context)), "")))
            for name, metric in self.all_metrics
            if (why := left_out.get(name))
        }
        self._names = [name for name, _ in self.all_metrics]
        self.skipped_, self.context_ = dict(left_out), context
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

        here = with_current_engine(
            measure
        )  # threads do not know what engine was chosen in this one
        # this thread waits for those of the metrics
        with sharing(self.n_jobs) as cores, waiting():
            parallel = Parallel(n_jobs=cores.n, backend="threading")
            calls = (delayed(here)(*pair, cores) for pair in self.metrics_.items())
            measured = dict(zip(self.metrics_, parallel(calls), strict=True))
        results = {name: measured.get(name) or self._left_out[name] for name in self._names}
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
        # a metric may raise anything; the other results must not be lost
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
        """Return the names of the metrics of texts that no table of this schema gets a row of."""
        return {
            name
            for name, metric, optional in self._parts()
            if "text" in optional and "text" in metric.tags.needs and not schema.columns("text")
        }

    def _own_schema(self) -> Any:
        """Return the schema that the suite was made with, or that of the first suite in it."""
        nested = (one._own_schema() for _, one in self._pairs if isinstance(one, MetricSuite))
        return self.schema if self.schema is not None else next(filter(None, nested), None)

    def check_parameters(self) -> None:
        """Refuse illegal parameters of the suite and of its metrics, before any table is read.

        Raises
        ------
        InvalidParameterError
            If one is outside its legal set.
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
                "names them."
            )
        names = [name for name, _ in pairs]
        if twice := sorted({str(name) for name in names if names.count(name) > 1}):
            raise InvalidParameterError(
                f"MetricSuite: each metric needs a name of its own, got {', '.join(twice)} more "
                "than once. Rename one of them, or let make_suite([...]) name them."
            )
        self._validate_names(names)
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))
        if wrong := [name for name, one in pairs if not _is_member(one)]:
            raise InvalidParameterError(
                f"MetricSuite: metrics must be (name, Metric) pairs; no Metric: {', '.join(wrong)}."
            )
        for _, one in pairs:
            if isinstance(one, MetricSuite):
                one._check()

    def _named_columns(self) -> dict[str, list[str]]:
        """Return the columns that metrics name, each once for a parameter that several have."""
        named: dict[str, dict[str, None]] = {}
        for _, metric in self.all_metrics:
            for parameter, columns in metric.named_columns().items():
                named.setdefault(parameter, {}).update(dict.fromkeys(columns))
        return {parameter: list(columns) for parameter, columns in named.items()}

    def _sk_visual_block_(self) -> Any:
        return BlockOfMetrics(self._pairs)

    def _repr_html_(self) -> str:
        """Return what each metric measures, and scikit-learn's diagram below."""
        rows = (
            (name, type(one).__name__, (inspect.getdoc(one) or "").partition("\n")[0], one.tags)
            for name, one in self.all_metrics
        )
        return rendering().suite_html(rows, estimator_html_repr(self))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _describe_error(error: Exception) -> str:
    """Return the class of an exception; its message only if it is ours, which quotes no cell."""
    kind = type(error).__name__
    if isinstance(error, SkevalError):
        return f"{kind}: {error}"
    return f"{kind}: on_error='raise' shows where"  # logs of warnings and results are kept


def _unmet_need(error: Exception) -> Unmet:
    """Return what a metric lacks, without its name, which results know."""
    if isinstance(error, MissingInputError):
        return Unmet(error.lack, error.need)
    return Unmet(str(error))


def _skipped_result(metric: Metric, why: Unmet) -> Result:
    """Return the result of a metric that is not measured, and which need of it is unmet."""
    kind = type(metric).__name__
    return Result(float("nan"), metric=kind, tags=metric.tags, error=why.reason, unmet=why.need)


def _contrasts(metric: Metric) -> bool:
    """Return whether a metric's value or test rests on train and holdout being exchangeable."""
    return metric.tags.aspect == "privacy" or "holdout" in metric.tags.needs


def _is_off(one: Any) -> bool:
    return isinstance(one, str) and one == PASSED


def _is_member(one: Any) -> bool:
    """Return whether a suite may hold it: a metric, a suite, or what switches one off."""
    return isinstance(one, Metric | MetricSuite) or _is_off(one)


Named = list[tuple[str, Metric]]
