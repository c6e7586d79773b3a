"""Metrics of free text: privacy screens and similarity."""

from skeval.steps.entities import Entity
from skeval.text.canaries import Canaries, TextCanaryExposure, make_canaries
from skeval.text.entity_leakage import EntityLeakage
from skeval.text.longest_common_substring import LongestCommonSubstring
from skeval.text.membership import TextMembershipInference
from skeval.text.near_duplicate_text import NearDuplicateText
from skeval.text.ngram_novelty import NGramNovelty
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
from skeval.text.stylistic_outliers import StylisticOutliers
from skeval.text.text_exact_match import TextExactMatch
from skeval.text.two_sample import TextTwoSampleTest

__all__ = [
    "CallableRecognizer",
    "Canaries",
    "Entity",
    "EntityFilter",
    "EntityLeakage",
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
