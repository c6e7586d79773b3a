# What `skeval` offers and where each name is from: read by type checkers, and by lazy_loader.

from . import checks as checks
from . import compat as compat
from . import core as core
from . import datasets as datasets
from . import diagnostic as diagnostic
from . import exceptions as exceptions
from . import fidelity as fidelity
from . import generators as generators
from . import model_selection as model_selection
from . import neighbors as neighbors
from . import parameters as parameters
from . import plotting as plotting
from . import privacy as privacy
from . import relational as relational
from . import reporting as reporting
from . import results as results
from . import scale as scale
from . import suites as suites
from . import tables as tables
from . import text as text
from . import utility as utility
from .checks import check_metric, parametrize_with_metric_checks
from .core.base import Metric
from .core.context import Context, shared
from .core.tags import MetricTags
from .privacy.distance_screens.privacy_stats import compute_privacy_stats
from .results.comparison import Comparison, compare
from .results.overall import OverallScore
from .results.policy import Policy
from .results.result import Result
from .results.suite_result import SuiteResult
from .results.verdict import Verdict
from .suites.draws import evaluate_draws
from .suites.ready import make_suite
from .suites.report import ReportColumns, report
from .suites.suite import MetricSuite
from .tables.schema import TableSchema
from .tables.spaces import TablePreprocessor
from .utils.versions import show_versions

__version__: str
__all__ = [
    "Comparison",
    "Context",
    "Metric",
    "MetricSuite",
    "MetricTags",
    "OverallScore",
    "Policy",
    "ReportColumns",
    "Result",
    "SuiteResult",
    "TablePreprocessor",
    "TableSchema",
    "Verdict",
    "check_metric",
    "compare",
    "compute_privacy_stats",
    "evaluate_draws",
    "make_suite",
    "parametrize_with_metric_checks",
    "report",
    "shared",
    "show_versions",
]
