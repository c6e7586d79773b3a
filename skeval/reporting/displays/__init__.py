"""Displays: each draws one thing, on given axes or on a figure of its own."""

from skeval.reporting.displays.base import Display, register_display
from skeval.reporting.displays.curves import MDADisplay, ParetoDisplay, PRDDisplay, ROCDisplay
from skeval.reporting.displays.distributions import (
    DistancesDisplay,
    MarginalDisplay,
    PairDisplay,
    ProximityDisplay,
)
from skeval.reporting.displays.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.displays.values import (
    ColumnScoresDisplay,
    ScoresDisplay,
    ValueDisplay,
    display_of,
)

__all__ = [
    "ColumnScoresDisplay",
    "Display",
    "DistancesDisplay",
    "MDADisplay",
    "MarginalDisplay",
    "PRDDisplay",
    "PairDisplay",
    "ParetoDisplay",
    "PhikMatricesDisplay",
    "ProximityDisplay",
    "ROCDisplay",
    "ScoresDisplay",
    "SimilarityMatrixDisplay",
    "ValueDisplay",
    "display_of",
    "register_display",
]
