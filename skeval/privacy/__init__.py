"""Does the synthetic table leak anybody: screens, which raise alarms and clear no release."""

from skeval.privacy.dcr import DCROverfittingProtection
from skeval.privacy.dcr_baseline import DCRBaselineProtection
from skeval.privacy.distances import NNDistanceDistributions
from skeval.privacy.proximity import PrivacyScore

__all__ = [
    "DCRBaselineProtection",
    "DCROverfittingProtection",
    "NNDistanceDistributions",
    "PrivacyScore",
]
