"""Is the synthetic table good enough to work with: marginals, pairs, associations."""

from skeval.fidelity.association import PhikMatrixDifference
from skeval.fidelity.marginals import KSComplement, TVComplement
from skeval.fidelity.similarity import SimilarityMatrix, SimilarityScore

__all__ = [
    "KSComplement",
    "PhikMatrixDifference",
    "SimilarityMatrix",
    "SimilarityScore",
    "TVComplement",
]
