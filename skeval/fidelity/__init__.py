"""Fidelity metrics, which compare the distributions of synthetic and real data."""

from skeval.fidelity.adversarial_accuracy import NearestNeighborAdversarialAccuracy
from skeval.fidelity.alpha_precision import AlphaPrecisionBetaRecall
from skeval.fidelity.association import (
    CorrelationRatioDifference,
    CramersVDifference,
    MixedAssociationDifference,
    MutualInformationDifference,
    TheilsUDifference,
)
from skeval.fidelity.chi_squared import ChiSquaredTest
from skeval.fidelity.contingency_similarity import ContingencySimilarity
from skeval.fidelity.correlation_similarity import CorrelationSimilarity
from skeval.fidelity.divergences import HellingerDistance, JensenShannonDistance, KLDivergence
from skeval.fidelity.energy_distance import EnergyDistance
from skeval.fidelity.k_marginals import KMarginalSimilarity
from skeval.fidelity.ks_complement import KSComplement
from skeval.fidelity.likelihood import BNLikelihood, BNLogLikelihood, GMLikelihood
from skeval.fidelity.lower_bounds import JensenShannonLowerBound, TotalVariationLowerBound
from skeval.fidelity.map_distance import MapDistance
from skeval.fidelity.maximum_mean_discrepancy import MaximumMeanDiscrepancy
from skeval.fidelity.mda_resemblance import MDAResemblance
from skeval.fidelity.nn_distance_distributions import NNDistanceDistributions
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
from skeval.fidelity.quantile_mse import QuantileMSE
from skeval.fidelity.range_queries import RangeQueryError
from skeval.fidelity.relations import RelationScore
from skeval.fidelity.similarity import SimilarityMatrix, SimilarityScore
from skeval.fidelity.statistic_similarity import StatisticSimilarity
from skeval.fidelity.tv_complement import TVComplement
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
