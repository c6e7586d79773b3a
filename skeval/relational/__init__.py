"""Several tables with keys, and rows in order: references, links, subjects, sequences."""

from skeval.relational.nearest_sequences import NearestSequences
from skeval.relational.references import ReferentialIntegrity
from skeval.relational.sequence_detection import SequenceDetection
from skeval.relational.sequence_tstr import SequenceTSTR
from skeval.relational.sequences import (
    AutocorrelationDifference,
    InterEventTimeSimilarity,
    InterRowMSAS,
    SequenceLengthSimilarity,
    StatisticMSAS,
)
from skeval.relational.shared_subsequences import SharedSubsequences
from skeval.relational.transitions import CoherenceSimilarity, TransitionSimilarity
from skeval.relational_context import RelationalContext
from skeval.tables.relational_data import RelationalData
from skeval.tables.relational_schema import ForeignKey, RelationalSchema, SequenceKey

__all__ = [
    "AutocorrelationDifference",
    "CoherenceSimilarity",
    "ForeignKey",
    "InterEventTimeSimilarity",
    "InterRowMSAS",
    "NearestSequences",
    "ReferentialIntegrity",
    "RelationalContext",
    "RelationalData",
    "RelationalSchema",
    "SequenceDetection",
    "SequenceKey",
    "SequenceLengthSimilarity",
    "SequenceTSTR",
    "SharedSubsequences",
    "StatisticMSAS",
    "TransitionSimilarity",
]
