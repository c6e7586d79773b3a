"""The verbs of other packages, so that their users change an import and little else.

``from skeval.compat import NewRowSynthesis`` gives an object with the verbs ``compute`` and
``compute_breakdown``: any name of SDMetrics for which ours has the same number, with the options
that make it so, or the nearest of ours.
"""

from typing import Any

from skeval.compat.sdmetrics import NAMES, DiagnosticReport, QualityReport, computed
from skeval.compat.syneval import PrivacyEvaluator

__all__ = ["DiagnosticReport", "PrivacyEvaluator", "QualityReport", "computed"]


def __dir__() -> list[str]:
    return sorted({*globals(), *NAMES})


def __getattr__(name: str) -> Any:
    try:
        return computed(name)
    except LookupError:
        raise AttributeError(
            f"skeval.compat has no {name}; skeval explain {name} says what it is here, if anything."
        ) from None
