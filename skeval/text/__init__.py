"""Free text: what it gives away, and how well it is imitated."""

from skeval.steps.entities import Entity, EntityRecognizer
from skeval.text.entities import EntityLeakage
from skeval.text.memorization import NearDuplicateText, TextExactMatch
from skeval.text.nominal_mentions import NominalMentions, NominalRecognizer
from skeval.text.patterns import PatternRecognizer
from skeval.text.prd import TextPRD
from skeval.text.recognizers import (
    CallableRecognizer,
    EntityFilter,
    FlairRecognizer,
    GlinerRecognizer,
    PresidioRecognizer,
    SpacyRecognizer,
)
from skeval.text.similarity import NGramSimilarity, TextLengthSimilarity, VocabularySimilarity
from skeval.text.two_sample import TextTwoSampleTest

__all__ = [
    "CallableRecognizer",
    "Entity",
    "EntityFilter",
    "EntityLeakage",
    "EntityRecognizer",
    "FlairRecognizer",
    "GlinerRecognizer",
    "NGramSimilarity",
    "NearDuplicateText",
    "NominalMentions",
    "NominalRecognizer",
    "PatternRecognizer",
    "PresidioRecognizer",
    "SpacyRecognizer",
    "TextExactMatch",
    "TextLengthSimilarity",
    "TextPRD",
    "TextTwoSampleTest",
    "VocabularySimilarity",
]
