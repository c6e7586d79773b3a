"""Baseline generators, dials, and the adapter that takes whatever generator into a search."""

from skeval.generators.adapter import GeneratorAdapter
from skeval.generators.bootstrap import Bootstrap
from skeval.generators.copula import GaussianCopula
from skeval.generators.forest import RandomForestImputation
from skeval.generators.independent import IndependentMarginals

__all__ = [
    "Bootstrap",
    "GaussianCopula",
    "GeneratorAdapter",
    "IndependentMarginals",
    "RandomForestImputation",
]
