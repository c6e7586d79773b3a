"""Results as figures and documents: displays draw one thing, renderers a whole report."""

from skeval.reporting.displays import (
    ColumnScoresDisplay,
    Display,
    DistancesDisplay,
    MarginalDisplay,
    MDADisplay,
    PairDisplay,
    ParetoDisplay,
    PhikMatricesDisplay,
    PRDDisplay,
    ProximityDisplay,
    ROCDisplay,
    ScoresDisplay,
    SimilarityMatrixDisplay,
    ValueDisplay,
    display_of,
    register_display,
)
from skeval.reporting.figures import FigureRenderer
from skeval.reporting.html import HTMLRenderer
from skeval.reporting.pdf import PDFRenderer
from skeval.reporting.theme import theme

__all__ = [
    "ColumnScoresDisplay",
    "Display",
    "DistancesDisplay",
    "FigureRenderer",
    "HTMLRenderer",
    "MDADisplay",
    "MarginalDisplay",
    "PDFRenderer",
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
    "theme",
]
