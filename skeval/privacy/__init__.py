"""Does the synthetic table leak anybody: screens and disclosure, which clear no release."""

from skeval.privacy.adversarial import NearestNeighborAdversarialAccuracy, NNAAPrivacyLoss
from skeval.privacy.authenticity import Authenticity
from skeval.privacy.dcr import DCROverfittingProtection
from skeval.privacy.dcr_baseline import DCRBaselineProtection
from skeval.privacy.disclosure import KAnonymity, ReplicatedUniques
from skeval.privacy.distances import NNDistanceDistributions
from skeval.privacy.diversity import LDiversity, TCloseness
from skeval.privacy.identifiability import EpsilonIdentifiability
from skeval.privacy.mda import MinimumDistanceAccumulation
from skeval.privacy.presence import DeltaPresence, KMap
from skeval.privacy.proximity import PrivacyScore

__all__ = [
    "Authenticity",
    "DCRBaselineProtection",
    "DCROverfittingProtection",
    "DeltaPresence",
    "EpsilonIdentifiability",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "MinimumDistanceAccumulation",
    "NNAAPrivacyLoss",
    "NNDistanceDistributions",
    "NearestNeighborAdversarialAccuracy",
    "PrivacyScore",
    "ReplicatedUniques",
    "TCloseness",
]
