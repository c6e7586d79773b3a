"""Results as figures and documents: displays draw one thing, renderers a whole report."""

from skeval.reporting.accumulation import MDADisplay
from skeval.reporting.displays import display_of
from skeval.reporting.distances import DistancesDisplay, ProximityDisplay
from skeval.reporting.distributions import MarginalDisplay, PairDisplay
from skeval.reporting.drawing import Display
from skeval.reporting.figures import FigureRenderer
from skeval.reporting.html import HTMLRenderer
from skeval.reporting.matrices import PhikMatricesDisplay, SimilarityMatrixDisplay
from skeval.reporting.pareto import ParetoDisplay
from skeval.reporting.pdf import PDFRenderer
from skeval.reporting.prd import PRDDisplay
from skeval.reporting.roc import ROCDisplay
from skeval.reporting.scores import ColumnScoresDisplay, ScoresDisplay, ValueDisplay
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
    "theme",
]
