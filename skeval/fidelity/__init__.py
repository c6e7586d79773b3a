"""Is the synthetic table good enough to work with: marginals, pairs, associations."""

from skeval.fidelity.alpha_beta import AlphaPrecisionBetaRecall
from skeval.fidelity.association import CramersVDifference, PhikMatrixDifference
from skeval.fidelity.bayes_net import BNLikelihood, BNLogLikelihood
from skeval.fidelity.chi_square import ChiSquaredTest
from skeval.fidelity.classifier_prd import ClassifierPRD
from skeval.fidelity.contingency import ContingencySimilarity
from skeval.fidelity.correlation import CorrelationSimilarity
from skeval.fidelity.divergences import HellingerDistance, JensenShannonDistance, KLDivergence
from skeval.fidelity.energy import EnergyDistance
from skeval.fidelity.information import MutualInformationDifference, TheilsUDifference
from skeval.fidelity.k_marginals import KMarginalSimilarity
from skeval.fidelity.kernels import MaximumMeanDiscrepancy
from skeval.fidelity.likelihood import GMLikelihood
from skeval.fidelity.lower_bounds import JensenShannonLowerBound, TotalVariationLowerBound
from skeval.fidelity.manifolds import (
    ClippedDensityCoverage,
    DensityCoverage,
    ImprovedPrecisionRecall,
)
from skeval.fidelity.marginals import KSComplement, TVComplement
from skeval.fidelity.mixed import CorrelationRatioDifference, MixedAssociationDifference
from skeval.fidelity.prd import PRDCurve
from skeval.fidelity.probabilistic import ProbabilisticPrecisionRecall
from skeval.fidelity.propensity import PropensityMSE
from skeval.fidelity.range_queries import RangeQueryError
from skeval.fidelity.resemblance import MDAResemblance
from skeval.fidelity.similarity import SimilarityMatrix, SimilarityScore
from skeval.fidelity.sliced import SlicedWassersteinDistance
from skeval.fidelity.statistics import QuantileMSE, StatisticSimilarity
from skeval.fidelity.two_sample import ClassifierTwoSampleTest
from skeval.fidelity.wasserstein import WassersteinDistance

__all__ = [
    "AlphaPrecisionBetaRecall",
    "BNLikelihood",
    "BNLogLikelihood",
    "ChiSquaredTest",
    "ClassifierPRD",
    "ClassifierTwoSampleTest",
    "ClippedDensityCoverage",
    "ContingencySimilarity",
    "CorrelationRatioDifference",
    "CorrelationSimilarity",
    "CramersVDifference",
    "DensityCoverage",
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
