"""Is the synthetic table good enough to work with: marginals, pairs, associations."""

from skeval.fidelity.alpha_precision import AlphaPrecisionBetaRecall
from skeval.fidelity.association import (
    CorrelationRatioDifference,
    CramersVDifference,
    MixedAssociationDifference,
    MutualInformationDifference,
    TheilsUDifference,
)
from skeval.fidelity.distances import (
    MDAResemblance,
    NearestNeighborAdversarialAccuracy,
    NNDistanceDistributions,
)
from skeval.fidelity.divergences import (
    ContinuousKLDivergence,
    DiscreteKLDivergence,
    HellingerDistance,
    JensenShannonDistance,
    KLDivergence,
)
from skeval.fidelity.k_marginals import KMarginalSimilarity
from skeval.fidelity.likelihood import BNLikelihood, BNLogLikelihood, GMLikelihood
from skeval.fidelity.map_distance import MapDistance
from skeval.fidelity.marginals import (
    ChiSquaredTest,
    KSComplement,
    QuantileMSE,
    StatisticSimilarity,
    TVComplement,
)
from skeval.fidelity.maximum_mean_discrepancy import EnergyDistance, MaximumMeanDiscrepancy
from skeval.fidelity.pair_trends import ContingencySimilarity, CorrelationSimilarity
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
from skeval.fidelity.relations import RelationScore
from skeval.fidelity.similarity import SimilarityMatrix, SimilarityScore
from skeval.fidelity.two_sample import (
    ClassifierTwoSampleTest,
    JensenShannonLowerBound,
    TotalVariationLowerBound,
)
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
    "MapDistance",
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
    "RelationScore",
    "SimilarityMatrix",
    "SimilarityScore",
    "SlicedWassersteinDistance",
    "StatisticSimilarity",
    "TVComplement",
    "TheilsUDifference",
    "TotalVariationLowerBound",
    "WassersteinDistance",
]
