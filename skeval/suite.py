"""Several metrics over the same tables: what they share is computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, Self

from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import (
    InvalidParameterError,
    MetricFailedWarning,
    MissingInputError,
    SkevalError,
)
from skeval.parameters import JobCount, check_parameters, legal_sets
from skeval.result import Result, SuiteResult, property_warnings
from skeval.steps.holdout_shift import shift_notices
from skeval.steps.samples import check_measured
from skeval.tables.cells import Kind
from skeval.tables.schema import TableSchema

__all__ = ["MetricSuite"]

Progress = Callable[[str, int, int], None]

# scikit-learn keeps the class of its diagrams to itself, and has moved it
_BLOCK_HOMES = ("sklearn.utils._repr_html.estimator", "sklearn.utils._estimator_html_repr")


class MetricSuite(_BaseComposition):
    """Metrics that are fitted on the same real tables and evaluated on the same synthetic one.

    The suite fits clones, never the metrics that it was given. Whatever steps they share, such as
    the neighbour searches, is computed once, and each metric has the value that it has alone.

    Parameters
    ----------
    metrics : list of (str, Metric)
        Names and metrics. Names are unique and hold no double underscore.
    n_jobs : int, optional
        Number of threads; None is one. The values do not depend on it.
    on_error : {"warn", "raise"}, default="warn"
        Whether a metric that raises is reported as failed in its row, with a warning, or ends the
        evaluation.
    check_holdout : bool, default=True
        Whether fit looks if train and holdout can be told apart, once for all metrics, where one of
        them contrasts the two; if so, such contrasts are void and
        :class:`~skeval.exceptions.HoldoutShiftWarning` is given. It costs a fraction of a second a
        fit: turn it off where many suites are fitted on the same tables, as in a search over
        generators.

    Attributes
    ----------
    metrics_ : dict of str to Metric
        The fitted clones.
    skipped_ : dict of str to str
        Metrics that were left out, and why.
    context_ : Context
        The real tables.

    Examples
    --------
    >>> from skeval import MetricSuite
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import KSComplement, TVComplement
    >>> suite = MetricSuite([("ks", KSComplement()), ("tv", TVComplement())])
    >>> result = suite.fit(make_mixed(random_state=0)).evaluate(make_mixed(random_state=1))
    >>> sorted(result)
    ['ks', 'tv']
    """

    __metadata_request__fit = {"holdout": UNUSED, "schema": UNUSED}
    __metadata_request__evaluate = {"progress": UNUSED}

    def __init__(
        self,
        metrics: list[tuple[str, Metric]],
        *,
        n_jobs: JobCount | None = None,
        on_error: Literal["warn", "raise"] = "warn",
        check_holdout: bool = True,
    ) -> None:
        self.metrics = metrics
        self.n_jobs = n_jobs
        self.on_error = on_error
        self.check_holdout = check_holdout

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, those of the metrics as `name__parameter`."""
        params: dict[str, Any] = self._get_params("metrics", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of the metrics as `name__parameter`, or whole metrics by name."""
        self._set_params("metrics", **params)
        return self

    def __getitem__(self, name: str) -> Metric:
        fitted: dict[str, Metric] = getattr(self, "metrics_", {})
        return fitted[name] if name in fitted else dict(self.metrics)[name]

    def __len__(self) -> int:
        return len(self.metrics)

    def fit(
        self,
        train: Any,
        holdout: Any = None,
        *,
        schema: TableSchema | Mapping[str, Kind] | None = None,
    ) -> Self:
        """Fit a clone of each metric on the real tables; see :meth:`Metric.fit`.

        A metric that needs what is not given is left out. Names of columns that train does not have
        are an error: one for those of all metrics.
        """
        self._check()
        context = Context.of(train, holdout, schema=schema)
        check_measured(context.schema, self._named_columns(), type(self).__name__)
        fitted: dict[str, Metric] = {}
        left_out: dict[str, Result] = {}
        for name, metric in self.metrics:
            try:
                fitted[name] = clone(metric).fit_context(context)
            except MissingInputError as unmet:
                kind, reason = type(metric).__name__, str(unmet)
                left_out[name] = Result(float("nan"), metric=kind, tags=metric.tags, error=reason)
        if self.check_holdout and any(_contrasts(metric) for metric in fitted.values()):
            context.notices += shift_notices(context)
        for notice in context.notices:
            warnings.warn(notice, stacklevel=2)
        self._names = [name for name, _ in self.metrics]
        self._left_out = left_out
        self.skipped_ = {name: result.error for name, result in left_out.items()}
        self.metrics_, self.context_ = fitted, context
        return self

    def evaluate(self, synthetic: Any, *, progress: Progress | None = None) -> SuiteResult:
        """Measure a synthetic table by every metric.

        Parameters
        ----------
        synthetic : table of shape (n_synthetic, n_columns)
            With the columns of train.
        progress : callable, optional
            Called as ``progress(name, n_done, n_total)`` when a metric is done.

        Returns
        -------
        SuiteResult
            In the order of the suite; metrics that were left out or failed say why in `error`.
        """
        check_is_fitted(self, "context_")
        lenient = all(metric.tags.lenient for metric in self.metrics_.values())
        context = self.context_.with_synthetic(synthetic, lenient=lenient)
        done: list[str] = []
        failures: list[MetricFailedWarning] = []

        def measure(name: str, metric: Metric) -> Result:
            result = self._measure(name, metric, context, failures)
            done.append(name)
            if progress is not None:
                progress(name, len(done), len(self.metrics_))
            return result

        found = dict(
            zip(
                self.metrics_,
                Parallel(n_jobs=self.n_jobs, backend="threading")(
                    delayed(measure)(name, metric) for name, metric in self.metrics_.items()
                ),
                strict=True,
            )
        )
        results = {name: found.get(name) or self._left_out[name] for name in self._names}
        for notice in [*failures, *context.notices, *property_warnings(results)]:
            warnings.warn(notice, stacklevel=2)
        sizes = {
            role: context.n_rows(role)
            for role in ("train", "holdout", "synthetic")
            if role in context
        }
        of_tables = (*self.context_.notices, *context.notices)
        return SuiteResult(results, sizes=sizes, notices=of_tables)

    def _measure(
        self, name: str, metric: Metric, context: Context, failures: list[MetricFailedWarning]
    ) -> Result:
        try:
            return metric.evaluate_context(context)
        except (
            Exception
        ) as error:  # a user's metric may raise anything; the others must not be lost
            if self.on_error == "raise":
                raise
            failures.append(MetricFailedWarning(f"{name} failed: {type(error).__name__}: {error}"))
            # a foreign message may quote a cell, and results are saved
            text = str(error) if isinstance(error, SkevalError) else "see the warning given then"
            text = f"{type(error).__name__}: {text}"
            warning = MetricFailedWarning(f"{name} failed: {text}")
            kind = type(metric).__name__
            return Result(
                float("nan"), metric=kind, tags=metric.tags, error=text, warnings=(warning,)
            )

    def _check(self) -> None:
        if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in self.metrics):
            raise InvalidParameterError("MetricSuite: metrics must be (name, Metric) pairs.")
        if self.n_jobs == 0:
            raise InvalidParameterError("MetricSuite: n_jobs must be None or an int other than 0.")
        names = [name for name, _ in self.metrics]
        self._validate_names(names)
        check_parameters(type(self).__name__, self.get_params(deep=False), legal_sets(type(self)))
        if wrong := [name for name, metric in self.metrics if not isinstance(metric, Metric)]:
            raise InvalidParameterError(
                f"MetricSuite: metrics must be (name, Metric) pairs; no Metric: {', '.join(wrong)}."
            )

    def _named_columns(self) -> dict[str, list[str]]:
        """Return the columns that metrics name, each once for a parameter that several have."""
        named: dict[str, dict[str, None]] = {}
        for _, metric in self.metrics:
            for parameter, columns in metric.named_columns().items():
                named.setdefault(parameter, {}).update(dict.fromkeys(columns))
        return {parameter: list(columns) for parameter, columns in named.items()}

    def _sk_visual_block_(self) -> Any:
        names = [name for name, _ in self.metrics]
        metrics = [metric for _, metric in self.metrics]
        details = [str(metric) for metric in metrics]
        return _block_class()("parallel", metrics, names=names, name_details=details)


def _contrasts(metric: Metric) -> bool:
    """Tell whether a metric's value or test rests on train and holdout being exchangeable."""
    return metric.tags.aspect == "privacy" or "holdout" in metric.tags.needs


def _block_class() -> Any:
    for home in _BLOCK_HOMES:
        try:
            return import_module(home)._VisualBlock
        except (ImportError, AttributeError):
            continue
    return _PlainBlock


class _PlainBlock:
    """The fields that scikit-learn's diagram reads of a block."""

    name_caption = None
    doc_link_label = None
    dash_wrapped = True

    def __init__(
        self, kind: str, estimators: list[Any], *, names: list[str], name_details: list[str]
    ) -> None:
        self.kind = kind
        self.estimators = estimators
        self.names = names
        self.name_details = name_details

    def _sk_visual_block_(self) -> _PlainBlock:
        return self
