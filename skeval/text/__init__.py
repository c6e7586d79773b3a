"""Free text: what it gives away, and how alike it is."""

from skeval.text.prd import TextPRD
from skeval.text.similarity import NGramSimilarity, TextLengthSimilarity, VocabularySimilarity
from skeval.text.two_sample import TextTwoSampleTest

__all__ = [
    "NGramSimilarity",
    "TextLengthSimilarity",
    "TextPRD",
    "TextTwoSampleTest",
    "VocabularySimilarity",
]
