"""Baseline generators, generators with a dial, and an adapter for any other generator."""

from skeval.generators.adapter import GeneratorAdapter
from skeval.generators.anonymization import MondrianAnonymization
from skeval.generators.baselines import Bootstrap, IndependentMarginals
from skeval.generators.cart import SequentialCART
from skeval.generators.copula import GaussianCopula
from skeval.generators.dp_histogram import DPHistogram
from skeval.generators.forest import RandomForestImputation

__all__ = [
    "Bootstrap",
    "DPHistogram",
    "GaussianCopula",
    "GeneratorAdapter",
    "IndependentMarginals",
    "MondrianAnonymization",
    "RandomForestImputation",
    "SequentialCART",
]
