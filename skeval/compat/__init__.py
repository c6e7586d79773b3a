"""Interfaces of other packages, so that their users only need to change imports.

``from skeval.compat import NewRowSynthesis`` returns an object with the methods ``compute`` and
``compute_breakdown``. This works for any name of SDMetrics that has an equivalent in skeval. The
options are set so that the number is the same, or as similar as possible.
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
            f"skeval.compat has no {name}. Run skeval explain {name} to find an equivalent, if any."
        ) from None
