"""Does the synthetic table leak anybody: screens and disclosure, which clear no release."""

from skeval.privacy.adversarial import NearestNeighborAdversarialAccuracy, NNAAPrivacyLoss
from skeval.privacy.authenticity import Authenticity
from skeval.privacy.boxes import HittingRate, NewRowShare
from skeval.privacy.dcr import DCROverfittingProtection
from skeval.privacy.dcr_baseline import DCRBaselineProtection
from skeval.privacy.dcr_share import DCRShare
from skeval.privacy.disclosure import KAnonymity, ReplicatedUniques
from skeval.privacy.distances import NNDistanceDistributions
from skeval.privacy.diversity import LDiversity, TCloseness
from skeval.privacy.duplicates import NearDuplicateShare
from skeval.privacy.holdout_ratio import HoldoutDistanceRatio
from skeval.privacy.identifiability import EpsilonIdentifiability
from skeval.privacy.matches import ExactMatchShare, IdenticalMatchShare
from skeval.privacy.mda import MinimumDistanceAccumulation
from skeval.privacy.nndr import NNDR
from skeval.privacy.percentiles import DCRPercentile
from skeval.privacy.presence import DeltaPresence, KMap
from skeval.privacy.proximity import PrivacyScore

__all__ = [
    "NNDR",
    "Authenticity",
    "DCRBaselineProtection",
    "DCROverfittingProtection",
    "DCRPercentile",
    "DCRShare",
    "DeltaPresence",
    "EpsilonIdentifiability",
    "ExactMatchShare",
    "HittingRate",
    "HoldoutDistanceRatio",
    "IdenticalMatchShare",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "MinimumDistanceAccumulation",
    "NNAAPrivacyLoss",
    "NNDistanceDistributions",
    "NearDuplicateShare",
    "NearestNeighborAdversarialAccuracy",
    "NewRowShare",
    "PrivacyScore",
    "ReplicatedUniques",
    "TCloseness",
]
