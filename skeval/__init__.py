"""Evaluate synthetic tabular data the scikit-learn way."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skeval.core.base import Metric
from skeval.core.context import READERS, TABLE_READERS, Context, shared
from skeval.core.relational_context import RelationalContext, read_several
from skeval.core.tags import MetricTags
from skeval.results.provenance import show_versions
from skeval.results.rendering import Rendering, use
from skeval.results.result import Result
from skeval.results.suite_result import SuiteResult
from skeval.results.verdict import Verdict
from skeval.scale.context import read_large
from skeval.scale.engines import active_engine
from skeval.scale.long_csv import large_table
from skeval.steps.aggregates import subject_rows
from skeval.steps.relabelled import independent_rows
from skeval.suites.ready import make_suite
from skeval.suites.releases import SeveralReleases, several_releases

# the function hides the module of its name: take what else it has by "from skeval.report import"
from skeval.suites.report import ReportColumns, report
from skeval.suites.suite import MetricSuite
from skeval.tables.schema import TableSchema
from skeval.utils.engines import FINDERS

if TYPE_CHECKING:
    from skeval.checks import check_metric, parametrize_with_metric_checks
    from skeval.core.by_group import ByGroup
    from skeval.privacy.distance_screens.privacy_score import PrivacyStats, compute_privacy_stats
    from skeval.results.comparison import Comparison, compare
    from skeval.results.history import History, history
    from skeval.results.overall import OverallScore
    from skeval.results.policy import Policy
    from skeval.results.release import Release, assert_release
    from skeval.scale.engines import engine
    from skeval.suites.draws import combine_draws, evaluate_draws
    from skeval.suites.plots import (
        plot_cardinality,
        plot_column,
        plot_f_beta,
        plot_lines,
        plot_map,
        plot_pair,
    )
    from skeval.tables.preprocessing import Discretizer
    from skeval.tables.spaces import TablePreprocessor

__version__ = "0.1.0"

__all__ = [
    "ByGroup",
    "Comparison",
    "Context",
    "Discretizer",
    "History",
    "Metric",
    "MetricSuite",
    "MetricTags",
    "OverallScore",
    "Policy",
    "PrivacyStats",
    "Release",
    "ReportColumns",
    "Result",
    "SeveralReleases",
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
    "evaluate_draws",
    "history",
    "make_suite",
    "parametrize_with_metric_checks",
    "plot_cardinality",
    "plot_column",
    "plot_f_beta",
    "plot_lines",
    "plot_map",
    "plot_pair",
    "report",
    "several_releases",
    "shared",
    "show_versions",
]

_LATER = {  # imported where they are asked for
    "ByGroup": "core.by_group",
    "Comparison": "results.comparison",
    "Discretizer": "tables.preprocessing",
    "History": "results.history",
    "OverallScore": "results.overall",
    "Policy": "results.policy",
    "PrivacyStats": "privacy.distance_screens.privacy_score",
    "Release": "results.release",
    "TablePreprocessor": "tables.spaces",
    "assert_release": "results.release",
    "check_metric": "checks",
    "combine_draws": "suites.draws",
    "compare": "results.comparison",
    "compute_privacy_stats": "privacy.distance_screens.privacy_score",
    "engine": "scale.engines",
    "evaluate_draws": "suites.draws",
    "history": "results.history",
    "parametrize_with_metric_checks": "checks",
    "plot_cardinality": "suites.plots",
    "plot_column": "suites.plots",
    "plot_f_beta": "suites.plots",
    "plot_lines": "suites.plots",
    "plot_map": "suites.plots",
    "plot_pair": "suites.plots",
}


def _reporting() -> Rendering:
    from skeval.reporting import entry

    return entry


# what the package is tied together by: those below do not know those above
use(_reporting)
READERS[:], TABLE_READERS[:] = [read_several, read_large], [large_table]
FINDERS[:] = [active_engine]
independent_rows.register(RelationalContext, subject_rows)


# packages that users import metrics and tools from
_ROOMS: tuple[str, ...] = (
    "checks",
    "datasets",
    "diagnostic",
    "exceptions",
    "fidelity",
    "generators",
    "model_selection",
    "neighbors",
    "privacy",
    "relational",
    "text",
    "utility",
)


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value
