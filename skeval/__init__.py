"""Evaluate synthetic tabular data the scikit-learn way."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skeval._versions import show_versions
from skeval.base import Metric
from skeval.context import Context, shared
from skeval.reading_context import READERS
from skeval.ready_suites import make_suite
from skeval.relational_context import RelationalContext, read_several
from skeval.rendering import Rendering, use

# the function hides the module of its name: take what else it has by "from skeval.report import"
from skeval.report import ReportColumns, report
from skeval.result import Result
from skeval.scale.context import read_large
from skeval.steps.aggregates import subject_rows
from skeval.steps.holdout_shift import independent_rows
from skeval.suite import MetricSuite
from skeval.suite_result import SuiteResult
from skeval.tables.schema import TableSchema
from skeval.tags import MetricTags
from skeval.verdict import Verdict

if TYPE_CHECKING:
    from skeval.by_group import ByGroup
    from skeval.checks import check_metric, parametrize_with_metric_checks
    from skeval.combining import combine_draws, evaluate_draws
    from skeval.comparison import Comparison, compare
    from skeval.overall import OverallScore
    from skeval.policy import Policy, assert_release
    from skeval.privacy_stats import PrivacyStats, compute_privacy_stats
    from skeval.scale.engines import engine
    from skeval.tables.preprocessing import Discretizer
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
    "evaluate_draws",
    "make_suite",
    "parametrize_with_metric_checks",
    "report",
    "shared",
    "show_versions",
]

_LATER = {  # imported where they are asked for
    "ByGroup": "by_group",
    "Comparison": "comparison",
    "Discretizer": "tables.preprocessing",
    "OverallScore": "overall",
    "Policy": "policy",
    "PrivacyStats": "privacy_stats",
    "TablePreprocessor": "tables.spaces",
    "assert_release": "policy",
    "check_metric": "checks",
    "combine_draws": "combining",
    "compare": "comparison",
    "compute_privacy_stats": "privacy_stats",
    "engine": "scale.engines",
    "evaluate_draws": "combining",
    "parametrize_with_metric_checks": "checks",
}


def _reporting() -> Rendering:
    from skeval.reporting import entry  # imported where something is drawn: it takes long

    return entry


# what the package is tied together by: those below do not know those above
use(_reporting)
READERS[:] = [read_several, read_large]
independent_rows.register(RelationalContext, subject_rows)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value
