"""Baseline generators and dials: what to beat, and what examples and tests run on."""

from skeval.generators.bootstrap import Bootstrap
from skeval.generators.copula import GaussianCopula
from skeval.generators.forest import RandomForestImputation
from skeval.generators.independent import IndependentMarginals

__all__ = [
    "Bootstrap",
    "GaussianCopula",
    "IndependentMarginals",
    "RandomForestImputation",
]
