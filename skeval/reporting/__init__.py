"""Results as figures and documents: displays draw one thing, renderers a whole report."""

from skeval.reporting.decision import DecisionPage
from skeval.reporting.displays.accumulation import MDADisplay
from skeval.reporting.displays.base import Display, register_display
from skeval.reporting.displays.lines import LinesDisplay
from skeval.reporting.displays.pareto import ParetoDisplay
from skeval.reporting.displays.prd import PRDDisplay
from skeval.reporting.displays.proximity import ProximityDisplay
from skeval.reporting.displays.roc import ROCDisplay
from skeval.reporting.displays.theme import theme
from skeval.reporting.figures import FigureRenderer
from skeval.reporting.html import HTMLRenderer
from skeval.reporting.pdf import PDFRenderer, draw_comparison_page, draw_decision_page

__all__ = [
    "DecisionPage",
    "Display",
    "FigureRenderer",
    "HTMLRenderer",
    "LinesDisplay",
    "MDADisplay",
    "PDFRenderer",
    "PRDDisplay",
    "ParetoDisplay",
    "ProximityDisplay",
    "ROCDisplay",
    "draw_comparison_page",
    "draw_decision_page",
    "register_display",
    "theme",
]
