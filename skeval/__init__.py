"""Evaluate synthetic tabular data the scikit-learn way."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skeval.utils.engines import FINDERS
from skeval.utils.ties import LOADERS

if TYPE_CHECKING:
    from skeval.checks import check_metric, parametrize_with_metric_checks
    from skeval.core.base import Metric
    from skeval.core.by_group import ByGroup
    from skeval.core.context import Context, shared
    from skeval.core.tags import MetricTags
    from skeval.privacy.distance_screens.privacy_score import PrivacyStats, compute_privacy_stats
    from skeval.results.comparison import Comparison, compare
    from skeval.results.overall import OverallScore
    from skeval.results.policy import Policy
    from skeval.results.provenance import show_versions
    from skeval.results.release import Release, assert_release
    from skeval.results.result import Result
    from skeval.results.suite_result import SuiteResult
    from skeval.results.verdict import Verdict
    from skeval.scale.engines import engine
    from skeval.suites.alone import evaluate_alone
    from skeval.suites.draws import combine_draws, evaluate_draws
    from skeval.suites.plots import (
        plot_cardinality,
        plot_column,
        plot_f_beta,
        plot_lines,
        plot_map,
        plot_pair,
    )
    from skeval.suites.ready import make_suite
    from skeval.suites.report import ReportColumns, report
    from skeval.suites.suite import MetricSuite
    from skeval.tables.preprocessing import Discretizer
    from skeval.tables.schema import TableSchema
    from skeval.tables.spaces import TablePreprocessor

__version__ = "0.1.0"

__all__ = [
    "ByGroup",
    "Comparison",
    "Context",
    "Discretizer",
    "Metric",
    "MetricSuite",
    "MetricTags",
    "OverallScore",
    "Policy",
    "PrivacyStats",
    "Release",
    "ReportColumns",
    "Result",
    "SuiteResult",
    "TablePreprocessor",
    "TableSchema",
    "Verdict",
    "assert_release",
    "check_metric",
    "combine_draws",
    "compare",
    "compute_privacy_stats",
    "engine",
    "evaluate_alone",
    "evaluate_draws",
    "make_suite",
    "parametrize_with_metric_checks",
    "plot_cardinality",
    "plot_column",
    "plot_f_beta",
    "plot_lines",
    "plot_map",
    "plot_pair",
    "report",
    "shared",
    "show_versions",
]

_FROM = {  # imported where they are asked for
    "ByGroup": "core.by_group",
    "Comparison": "results.comparison",
    "Context": "core.context",
    "Discretizer": "tables.preprocessing",
    "Metric": "core.base",
    "MetricSuite": "suites.suite",
    "MetricTags": "core.tags",
    "OverallScore": "results.overall",
    "Policy": "results.policy",
    "PrivacyStats": "privacy.distance_screens.privacy_score",
    "Release": "results.release",
    "ReportColumns": "suites.report",
    "Result": "results.result",
    "SuiteResult": "results.suite_result",
    "TablePreprocessor": "tables.spaces",
    "TableSchema": "tables.schema",
    "Verdict": "results.verdict",
    "assert_release": "results.release",
    "check_metric": "checks",
    "combine_draws": "suites.draws",
    "compare": "results.comparison",
    "compute_privacy_stats": "privacy.distance_screens.privacy_score",
    "engine": "scale.engines",
    "evaluate_alone": "suites.alone",
    "evaluate_draws": "suites.draws",
    "make_suite": "suites.ready",
    "parametrize_with_metric_checks": "checks",
    "plot_cardinality": "suites.plots",
    "plot_column": "suites.plots",
    "plot_f_beta": "suites.plots",
    "plot_lines": "suites.plots",
    "plot_map": "suites.plots",
    "plot_pair": "suites.plots",
    "report": "suites.report",
    "shared": "core.context",
    "show_versions": "results.provenance",
}
# packages that users import metrics and tools from
_ROOMS: tuple[str, ...] = (
    "checks",
    "compat",
    "datasets",
    "diagnostic",
    "exceptions",
    "fidelity",
    "generators",
    "model_selection",
    "neighbors",
    "privacy",
    "relational",
    "reporting",
    "text",
    "utility",
)


def _rendering() -> Any:
    from skeval.reporting import entry

    return entry


def _readers() -> Any:
    from skeval.core.relational_context import read_several
    from skeval.scale.context import read_large

    return read_several, read_large


def _table_readers() -> Any:
    import skeval.scale.context  # noqa: F401  (it says how such tables are sampled)
    from skeval.scale.long_csv import large_table

    return (large_table,)


def _active_engine() -> Any:
    from skeval.scale.engines import active_engine

    return active_engine()


def _search_in_parts() -> Any:
    from skeval.scale.steps import search_in_parts

    return search_in_parts


def _subject_rows() -> Any:
    from skeval.steps.aggregates import subject_rows

    return subject_rows


# what the package is tied together by: those below do not know those above
LOADERS |= {
    "rendering": _rendering,
    "readers": _readers,
    "table readers": _table_readers,
    "search in parts": _search_in_parts,
    "subject rows": _subject_rows,
}
FINDERS[:] = [_active_engine]


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    """Import what is asked for: each of its parts takes its time, and few are used at once."""
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_FROM[name]}"), name)
    return value
