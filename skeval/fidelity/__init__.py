"""Is the synthetic table good enough to work with: marginals, pairs, associations."""

from skeval.fidelity.association import CramersVDifference, PhikMatrixDifference
from skeval.fidelity.contingency import ContingencySimilarity
from skeval.fidelity.correlation import CorrelationSimilarity
from skeval.fidelity.information import MutualInformationDifference, TheilsUDifference
from skeval.fidelity.marginals import KSComplement, TVComplement
from skeval.fidelity.mixed import CorrelationRatioDifference, MixedAssociationDifference
from skeval.fidelity.resemblance import MDAResemblance
from skeval.fidelity.similarity import SimilarityMatrix, SimilarityScore

__all__ = [
    "ContingencySimilarity",
    "CorrelationRatioDifference",
    "CorrelationSimilarity",
    "CramersVDifference",
    "KSComplement",
    "MDAResemblance",
    "MixedAssociationDifference",
    "MutualInformationDifference",
    "PhikMatrixDifference",
    "SimilarityMatrix",
    "SimilarityScore",
    "TVComplement",
    "TheilsUDifference",
]
