# What `skeval` offers and where each name is from: read by type checkers, and by lazy_loader.

from . import checks as checks
from . import compat as compat
from . import datasets as datasets
from . import diagnostic as diagnostic
from . import exceptions as exceptions
from . import fidelity as fidelity
from . import generators as generators
from . import model_selection as model_selection
from . import neighbors as neighbors
from . import privacy as privacy
from . import relational as relational
from . import reporting as reporting
from . import text as text
from . import utility as utility
from .checks import check_metric, parametrize_with_metric_checks
from .core.base import Metric
from .core.by_group import ByGroup
from .core.context import Context, shared
from .core.tags import MetricTags
from .privacy.distance_screens.privacy_stats import PrivacyStats, compute_privacy_stats
from .results.comparison import Comparison, compare
from .results.overall import OverallScore
from .results.policy import Policy
from .results.release import Release, assert_release
from .results.result import Result
from .results.suite_result import SuiteResult
from .results.verdict import Verdict
from .scale.engines import engine
from .suites.alone import evaluate_alone
from .suites.draws import combine_draws, evaluate_draws
from .suites.plots import (
    plot_cardinality,
    plot_column,
    plot_f_beta,
    plot_lines,
    plot_map,
    plot_pair,
)
from .suites.ready import make_suite
from .suites.report import report
from .suites.report_columns import ReportColumns
from .suites.suite import MetricSuite
from .tables.preprocessing import Discretizer
from .tables.schema import TableSchema
from .tables.spaces import TablePreprocessor
from .utils.versions import show_versions

__version__: str
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
