"""Free text: what it gives away, and how well it is imitated."""

from skeval.text.canaries import Canaries, TextCanaryExposure, make_canaries
from skeval.text.longest_common_substring import LongestCommonSubstring
from skeval.text.membership import TextMembershipInference
from skeval.text.memorization import NearDuplicateText, TextExactMatch
from skeval.text.ngram_novelty import NGramNovelty
from skeval.text.similarity import NGramSimilarity, TextLengthSimilarity, VocabularySimilarity
from skeval.text.stylistic_outliers import StylisticOutliers
from skeval.text.two_sample import TextTwoSampleTest

__all__ = [
    "Canaries",
    "LongestCommonSubstring",
    "NGramNovelty",
    "NGramSimilarity",
    "NearDuplicateText",
    "StylisticOutliers",
    "TextCanaryExposure",
    "TextExactMatch",
    "TextLengthSimilarity",
    "TextMembershipInference",
    "TextTwoSampleTest",
    "VocabularySimilarity",
    "make_canaries",
]
