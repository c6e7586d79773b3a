"""Is the synthetic table good enough to work with: marginals, pairs, associations."""

from skeval.fidelity.alpha_precision import AlphaPrecisionBetaRecall
from skeval.fidelity.association import (
    CorrelationRatioDifference,
    CramersVDifference,
    MixedAssociationDifference,
    MutualInformationDifference,
    TheilsUDifference,
)
from skeval.fidelity.chi_square import ChiSquaredTest
from skeval.fidelity.contingency import ContingencySimilarity
from skeval.fidelity.correlation import CorrelationSimilarity
from skeval.fidelity.distances import (
    MDAResemblance,
    NearestNeighborAdversarialAccuracy,
    NNDistanceDistributions,
)
from skeval.fidelity.divergences import HellingerDistance, JensenShannonDistance, KLDivergence
from skeval.fidelity.energy import EnergyDistance
from skeval.fidelity.k_marginals import KMarginalSimilarity
from skeval.fidelity.likelihood import BNLikelihood, BNLogLikelihood, GMLikelihood
from skeval.fidelity.lower_bounds import JensenShannonLowerBound, TotalVariationLowerBound
from skeval.fidelity.marginals import KSComplement, QuantileMSE, StatisticSimilarity, TVComplement
from skeval.fidelity.maximum_mean_discrepancy import MaximumMeanDiscrepancy
from skeval.fidelity.pair_divergences import ContinuousKLDivergence, DiscreteKLDivergence
from skeval.fidelity.phik import PhikMatrixDifference
from skeval.fidelity.prd import ClassifierPRD, PRDCurve
from skeval.fidelity.precision_recall import (
    ClippedDensityCoverage,
    DensityCoverage,
    ImprovedPrecisionRecall,
    ProbabilisticPrecisionRecall,
)
from skeval.fidelity.propensity import PropensityMSE
from skeval.fidelity.range_queries import RangeQueryError
from skeval.fidelity.similarity import SimilarityMatrix, SimilarityScore
from skeval.fidelity.two_sample import ClassifierTwoSampleTest
from skeval.fidelity.wasserstein import SlicedWassersteinDistance, WassersteinDistance

__all__ = [
    "AlphaPrecisionBetaRecall",
    "BNLikelihood",
    "BNLogLikelihood",
    "ChiSquaredTest",
    "ClassifierPRD",
    "ClassifierTwoSampleTest",
    "ClippedDensityCoverage",
    "ContingencySimilarity",
    "ContinuousKLDivergence",
    "CorrelationRatioDifference",
    "CorrelationSimilarity",
    "CramersVDifference",
    "DensityCoverage",
    "DiscreteKLDivergence",
    "EnergyDistance",
    "GMLikelihood",
    "HellingerDistance",
    "ImprovedPrecisionRecall",
    "JensenShannonDistance",
    "JensenShannonLowerBound",
    "KLDivergence",
    "KMarginalSimilarity",
    "KSComplement",
    "MDAResemblance",
    "MaximumMeanDiscrepancy",
    "MixedAssociationDifference",
    "MutualInformationDifference",
    "NNDistanceDistributions",
    "NearestNeighborAdversarialAccuracy",
    "PRDCurve",
    "PhikMatrixDifference",
    "ProbabilisticPrecisionRecall",
    "PropensityMSE",
    "QuantileMSE",
    "RangeQueryError",
    "SimilarityMatrix",
    "SimilarityScore",
    "SlicedWassersteinDistance",
    "StatisticSimilarity",
    "TVComplement",
    "TheilsUDifference",
    "TotalVariationLowerBound",
    "WassersteinDistance",
]
