"""Which generator: tournaments, cross-validation, scorers of searches, choices among scores."""

from skeval.model_selection.callbacks import (
    fit_by_epochs,
    keras_callback,
    lightning_callback,
    report_trial,
)
from skeval.model_selection.cross_validation import (
    CrossValidated,
    cross_validate_generator,
    efficiency_curve,
)
from skeval.model_selection.selection import (
    GeneratorScorer,
    best_subject_to,
    facet_intervals,
    facet_table,
    hypervolume,
    knee,
    make_generator_scorer,
    pareto_front,
)
from skeval.model_selection.tournaments import Tournament, tournament
from skeval.model_selection.training import TrainingMonitor

__all__ = [
    "CrossValidated",
    "GeneratorScorer",
    "Tournament",
    "TrainingMonitor",
    "best_subject_to",
    "cross_validate_generator",
    "efficiency_curve",
    "facet_intervals",
    "facet_table",
    "fit_by_epochs",
    "hypervolume",
    "keras_callback",
    "knee",
    "lightning_callback",
    "make_generator_scorer",
    "pareto_front",
    "report_trial",
    "tournament",
]
