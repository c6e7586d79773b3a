"""Does the synthetic table leak anybody: distance screens. No score here says that data are private."""

from skeval.privacy.dcr import DCRBaselineProtection, DCROverfittingProtection
from skeval.privacy.proximity import NNDistanceDistributions, PrivacyScore

__all__ = [
    "DCRBaselineProtection",
    "DCROverfittingProtection",
    "NNDistanceDistributions",
    "PrivacyScore",
]
