"""Validity metrics: column types, keys, ranges, categories, missing cells and rules."""

from skeval.diagnostic.adherence import BoundaryAdherence, CategoryAdherence, FormatAdherence
from skeval.diagnostic.coverage import CategoryCoverage, OutlierCoverage, RangeCoverage
from skeval.diagnostic.missing import MissingPatternSimilarity, MissingValueSimilarity
from skeval.diagnostic.rules import RuleAdherence
from skeval.diagnostic.smoothness import SmoothnessSimilarity
from skeval.diagnostic.structure import KeyUniqueness, TableStructure

__all__ = [
    "BoundaryAdherence",
    "CategoryAdherence",
    "CategoryCoverage",
    "FormatAdherence",
    "KeyUniqueness",
    "MissingPatternSimilarity",
    "MissingValueSimilarity",
    "OutlierCoverage",
    "RangeCoverage",
    "RuleAdherence",
    "SmoothnessSimilarity",
    "TableStructure",
]
