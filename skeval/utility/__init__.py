"""Utility: does work done on synthetic rows carry over to real ones."""

from skeval.utility.agreement import ModelRankAgreement, SelectionRegret
from skeval.utility.calibration import CalibrationPreservation
from skeval.utility.coefficient_overlap import CoefficientOverlap
from skeval.utility.efficacy import PrecisionEfficacy, RecallEfficacy
from skeval.utility.fairness import EqualizedOddsImprovement, FairnessGap
from skeval.utility.global_utility import GlobalUtility
from skeval.utility.importance import FeatureImportanceAgreement
from skeval.utility.mean_ci_overlap import MeanCIOverlap
from skeval.utility.survival.curves import (
    LogRankAgreement,
    SurvivalCurveDistance,
    SyntheticArmTypeIError,
)
from skeval.utility.survival.models import CoxCoefficientOverlap, SurvivalTSTR
from skeval.utility.transfer import TRTS, TSTR, TSTS, AugmentationGain

__all__ = [
    "TRTS",
    "TSTR",
    "TSTS",
    "AugmentationGain",
    "CalibrationPreservation",
    "CoefficientOverlap",
    "CoxCoefficientOverlap",
    "EqualizedOddsImprovement",
    "FairnessGap",
    "FeatureImportanceAgreement",
    "GlobalUtility",
    "LogRankAgreement",
    "MeanCIOverlap",
    "ModelRankAgreement",
    "PrecisionEfficacy",
    "RecallEfficacy",
    "SelectionRegret",
    "SurvivalCurveDistance",
    "SurvivalTSTR",
    "SyntheticArmTypeIError",
]
