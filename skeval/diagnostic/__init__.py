"""Can the synthetic table be used as train is: types, keys, ranges, categories, missing cells."""

from skeval.diagnostic.adherence import BoundaryAdherence, CategoryAdherence
from skeval.diagnostic.coverage import CategoryCoverage, RangeCoverage
from skeval.diagnostic.formats import FormatAdherence
from skeval.diagnostic.missing import MissingPatternSimilarity, MissingValueSimilarity
from skeval.diagnostic.shape import OutlierCoverage, SmoothnessSimilarity
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
    "SmoothnessSimilarity",
    "TableStructure",
]
