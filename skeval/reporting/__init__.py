"""Results as figures and documents: displays draw one thing, renderers a whole report."""

from skeval.reporting.decision import DecisionPage
from skeval.reporting.displays.base import Display, register_display
from skeval.reporting.displays.curves import MDADisplay, ParetoDisplay, PRDDisplay, ROCDisplay
from skeval.reporting.displays.distributions import ProximityDisplay
from skeval.reporting.displays.relations import LinesDisplay
from skeval.reporting.figures import FigureRenderer
from skeval.reporting.html import HTMLRenderer
from skeval.reporting.pdf import PDFRenderer, draw_comparison_page, draw_decision_page
from skeval.reporting.style import theme

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
