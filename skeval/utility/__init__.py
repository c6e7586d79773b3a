"""Utility metrics: whether work on synthetic data gives the same results as on real data."""

from skeval.utility.agreement import ModelRankAgreement, SelectionRegret
from skeval.utility.calibration import CalibrationPreservation
from skeval.utility.coefficient_overlap import CoefficientOverlap
from skeval.utility.efficacy import PrecisionEfficacy, RecallEfficacy
from skeval.utility.fairness import EqualizedOddsImprovement, FairnessGap
from skeval.utility.global_utility import GlobalUtility
from skeval.utility.importance import FeatureImportanceAgreement
from skeval.utility.mean_ci_overlap import MeanCIOverlap
from skeval.utility.survival.cox import CoxCoefficientOverlap
from skeval.utility.survival.log_rank import LogRankAgreement
from skeval.utility.survival.survival_curve_distance import SurvivalCurveDistance
from skeval.utility.survival.survival_tstr import SurvivalTSTR
from skeval.utility.survival.synthetic_arm import SyntheticArmTypeIError
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
