"""Several tables with keys, and rows in order: references, links, subjects, sequences."""

from skeval.relational.cardinality import (
    CardinalityBoundaryAdherence,
    CardinalityShapeSimilarity,
    CardinalityStatisticSimilarity,
)
from skeval.relational.k_hop import KHopCorrelation
from skeval.relational.per_table import OfTable, PerTable
from skeval.relational.references import ReferentialIntegrity
from skeval.relational.trends import InterTableTrends
from skeval.relational_context import RelationalContext
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import ForeignKey, RelationalSchema, SequenceKey

__all__ = [
    "CardinalityBoundaryAdherence",
    "CardinalityShapeSimilarity",
    "CardinalityStatisticSimilarity",
    "ForeignKey",
    "InterTableTrends",
    "KHopCorrelation",
    "OfTable",
    "PerTable",
    "ReferentialIntegrity",
    "RelationalContext",
    "RelationalData",
    "RelationalSchema",
    "SequenceKey",
]
