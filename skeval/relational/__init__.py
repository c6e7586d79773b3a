"""Several tables with keys, and rows in order: references, links, subjects, sequences."""

from skeval.core.relational_context import RelationalContext
from skeval.relational.cardinality import (
    CardinalityBoundaryAdherence,
    CardinalityShapeSimilarity,
    CardinalityStatisticSimilarity,
)
from skeval.relational.detection import (
    AggregationDetection,
    DenormalizedDetection,
    ParentChildDetection,
    SequenceDetection,
)
from skeval.relational.per_table import OfTable, PerSubject, PerTable
from skeval.relational.sequence_copies import NearestSequences, SharedSubsequences
from skeval.relational.sequences import (
    AutocorrelationDifference,
    CoherenceSimilarity,
    InterEventTimeSimilarity,
    InterRowMSAS,
    SequenceLengthSimilarity,
    StatisticMSAS,
    TransitionSimilarity,
)
from skeval.relational.structure import (
    PrimaryKeyUniqueness,
    ReferenceEquality,
    ReferentialIntegrity,
    SchemaStructure,
)
from skeval.relational.subjects import SharedHistoryShare, SubjectCopies, SubjectMembership
from skeval.relational.transfer import RelationalTSTR, SequenceTSTR
from skeval.relational.trends import InterTableTrends, KHopCorrelation, ParentChildAggregates
from skeval.tables.keys import ForeignKey, SequenceKey
from skeval.tables.relational_data import RelationalData, split_by_subject
from skeval.tables.relational_schema import RelationalSchema

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
    "NearestSequences",
    "OfTable",
    "ParentChildAggregates",
    "ParentChildDetection",
    "PerSubject",
    "PerTable",
    "PrimaryKeyUniqueness",
    "ReferenceEquality",
    "ReferentialIntegrity",
    "RelationalContext",
    "RelationalData",
    "RelationalSchema",
    "RelationalTSTR",
    "SchemaStructure",
    "SequenceDetection",
    "SequenceKey",
    "SequenceLengthSimilarity",
    "SequenceTSTR",
    "SharedHistoryShare",
    "SharedSubsequences",
    "StatisticMSAS",
    "SubjectCopies",
    "SubjectMembership",
    "TransitionSimilarity",
    "split_by_subject",
]
