"""Metrics of several tables with keys, of subjects, and of sequences of rows."""

from skeval.core.relational_context import RelationalContext
from skeval.relational.autocorrelation import AutocorrelationDifference
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
from skeval.relational.inter_event_time import InterEventTimeSimilarity
from skeval.relational.inter_row_msas import InterRowMSAS
from skeval.relational.inter_table_trends import InterTableTrends
from skeval.relational.k_hop_correlation import KHopCorrelation
from skeval.relational.nearest_sequences import NearestSequences
from skeval.relational.parent_child_aggregates import ParentChildAggregates
from skeval.relational.per_subject import PerSubject
from skeval.relational.per_table import OfTable, PerTable
from skeval.relational.primary_key_uniqueness import PrimaryKeyUniqueness
from skeval.relational.reference_equality import ReferenceEquality
from skeval.relational.referential_integrity import ReferentialIntegrity
from skeval.relational.relational_tstr import RelationalTSTR
from skeval.relational.sequence_detection import SequenceDetection
from skeval.relational.sequence_length import SequenceLengthSimilarity
from skeval.relational.sequence_tstr import SequenceTSTR
from skeval.relational.shared_history import SharedHistoryShare
from skeval.relational.shared_subsequences import SharedSubsequences
from skeval.relational.statistic_msas import StatisticMSAS
from skeval.relational.structure import SchemaStructure
from skeval.relational.subject_copies import SubjectCopies
from skeval.relational.subject_membership import SubjectMembership
from skeval.relational.transitions import CoherenceSimilarity, TransitionSimilarity
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
