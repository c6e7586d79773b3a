"""Free text: what it gives away, and how alike it is."""

from skeval.text.canaries import Canaries, TextCanaryExposure, make_canaries
from skeval.text.longest_common_substring import LongestCommonSubstring
from skeval.text.membership import TextMembershipInference
from skeval.text.memorization import NearDuplicateText, TextExactMatch
from skeval.text.ngram_novelty import NGramNovelty
from skeval.text.stylistic_outliers import StylisticOutliers

__all__ = [
    "Canaries",
    "LongestCommonSubstring",
    "NGramNovelty",
    "NearDuplicateText",
    "StylisticOutliers",
    "TextCanaryExposure",
    "TextExactMatch",
    "TextMembershipInference",
    "make_canaries",
]
