"""Free text: what it gives away, and how alike it is."""

from skeval.text.similarity import NGramSimilarity, TextLengthSimilarity, VocabularySimilarity

__all__ = ["NGramSimilarity", "TextLengthSimilarity", "VocabularySimilarity"]
