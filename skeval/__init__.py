"""Evaluate synthetic tabular data the scikit-learn way."""

from typing import TYPE_CHECKING, Any

from skeval._versions import show_versions
from skeval.base import Metric
from skeval.by_group import ByGroup
from skeval.combining import combine_draws, evaluate_draws
from skeval.comparison import Comparison, compare
from skeval.context import Context, shared
from skeval.engines import engine
from skeval.overall import OverallScore
from skeval.policy import Policy, assert_release
from skeval.privacy_stats import PrivacyStats, compute_privacy_stats

# the function hides the module of its name: take what else it has by "from skeval.report import"
from skeval.report import ReportColumns, report
from skeval.result import Result, SuiteResult
from skeval.suite import MetricSuite, make_suite
from skeval.tables.preprocessing import Discretizer
from skeval.tables.schema import TableSchema
from skeval.tags import MetricTags
from skeval.verdict import Verdict

if TYPE_CHECKING:
    from skeval.checks import check_metric, parametrize_with_metric_checks
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


def __getattr__(name: str) -> Any:
    """Import where it is asked for what stands on much of scikit-learn."""
    if name == "TablePreprocessor":
        from skeval.tables.spaces import TablePreprocessor

        return TablePreprocessor
    if name not in {"check_metric", "parametrize_with_metric_checks"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import skeval.checks

    return getattr(skeval.checks, name)
