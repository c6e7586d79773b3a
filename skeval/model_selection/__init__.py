"""Selection of generators by cross-validation, tournaments and searches."""

from skeval.model_selection.aspects import aspect_intervals, aspect_table
from skeval.model_selection.cross_validation import CrossValidated, cross_validate_generator
from skeval.model_selection.efficiency import efficiency_curve
from skeval.model_selection.pareto import hypervolume, knee, pareto_front
from skeval.model_selection.scorers import make_generator_scorer
from skeval.model_selection.selection import best_subject_to
from skeval.model_selection.tournaments import Tournament, tournament
from skeval.model_selection.trials import report_trial

__all__ = [
    "CrossValidated",
    "Tournament",
    "aspect_intervals",
    "aspect_table",
    "best_subject_to",
    "cross_validate_generator",
    "efficiency_curve",
    "hypervolume",
    "knee",
    "make_generator_scorer",
    "pareto_front",
    "report_trial",
    "tournament",
]
