"""Free text: what it gives away, and how well it is imitated."""

from skeval.steps.entities import Entity, EntityRecognizer
from skeval.text.canaries import Canaries, TextCanaryExposure, make_canaries
from skeval.text.entities import EntityLeakage, NominalMentions, NominalRecognizer
from skeval.text.membership import TextMembershipInference
from skeval.text.memorization import NearDuplicateText, TextExactMatch
from skeval.text.passages import LongestCommonSubstring, NGramNovelty
from skeval.text.recognizers import (
    CallableRecognizer,
    EntityFilter,
    FlairRecognizer,
    GlinerRecognizer,
    PatternRecognizer,
    PresidioRecognizer,
    SpacyRecognizer,
)
from skeval.text.similarity import NGramSimilarity, TextLengthSimilarity, VocabularySimilarity
from skeval.text.stylistic_outliers import StylisticOutliers
from skeval.text.two_sample import TextPRD, TextTwoSampleTest

__all__ = [
    "CallableRecognizer",
    "Canaries",
    "Entity",
    "EntityFilter",
    "EntityLeakage",
    "EntityRecognizer",
    "FlairRecognizer",
    "GlinerRecognizer",
    "LongestCommonSubstring",
    "NGramNovelty",
    "NGramSimilarity",
    "NearDuplicateText",
    "NominalMentions",
    "NominalRecognizer",
    "PatternRecognizer",
    "PresidioRecognizer",
    "SpacyRecognizer",
    "StylisticOutliers",
    "TextCanaryExposure",
    "TextExactMatch",
    "TextLengthSimilarity",
    "TextMembershipInference",
    "TextPRD",
    "TextTwoSampleTest",
    "VocabularySimilarity",
    "make_canaries",
]
