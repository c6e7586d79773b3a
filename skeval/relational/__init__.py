"""Several tables with keys, and rows in order: references, links, subjects, sequences."""

from skeval.relational.aggregates import ParentChildAggregates
from skeval.relational.cardinality import (
    CardinalityBoundaryAdherence,
    CardinalityShapeSimilarity,
    CardinalityStatisticSimilarity,
)
from skeval.relational.detection import (
    AggregationDetection,
    DenormalizedDetection,
    ParentChildDetection,
)
from skeval.relational.k_hop import KHopCorrelation
from skeval.relational.per_table import OfTable, PerTable
from skeval.relational.references import ReferentialIntegrity
from skeval.relational.sequences import (
    AutocorrelationDifference,
    InterEventTimeSimilarity,
    InterRowMSAS,
    SequenceLengthSimilarity,
    StatisticMSAS,
)
from skeval.relational.transfer import RelationalTSTR
from skeval.relational.transitions import CoherenceSimilarity, TransitionSimilarity
from skeval.relational.trends import InterTableTrends
from skeval.relational_context import RelationalContext
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import ForeignKey, RelationalSchema, SequenceKey

__all__ = [
    "AggregationDetection",
    "AutocorrelationDifference",
    "CardinalityBoundaryAdherence",
    "CardinalityShapeSimilarity",
    "CardinalityStatisticSimilarity",
    "CoherenceSimilarity",
    "DenormalizedDetection",
    "ForeignKey",
    "InterEventTimeSimilarity",
    "InterRowMSAS",
    "InterTableTrends",
    "KHopCorrelation",
    "OfTable",
    "ParentChildAggregates",
    "ParentChildDetection",
    "PerTable",
    "ReferentialIntegrity",
    "RelationalContext",
    "RelationalData",
    "RelationalSchema",
    "RelationalTSTR",
    "SequenceKey",
    "SequenceLengthSimilarity",
    "StatisticMSAS",
    "TransitionSimilarity",
]
