"""Free text: what it gives away, and how well it is imitated."""

from skeval.text.memorization import NearDuplicateText, TextExactMatch
from skeval.text.similarity import NGramSimilarity, TextLengthSimilarity, VocabularySimilarity
from skeval.text.two_sample import TextTwoSampleTest

__all__ = [
    "NGramSimilarity",
    "NearDuplicateText",
    "TextExactMatch",
    "TextLengthSimilarity",
    "TextTwoSampleTest",
    "VocabularySimilarity",
]
