"""Does the synthetic table leak anybody: screens, attacks, audits; none clears a release."""

from skeval.privacy.adversarial import NearestNeighborAdversarialAccuracy, NNAAPrivacyLoss
from skeval.privacy.attacks.anonymeter import AnonymeterRisk
from skeval.privacy.attacks.attribute_inference import AttributeInferenceRisk
from skeval.privacy.attacks.disclosure_protection import (
    DisclosureProtection,
    DisclosureProtectionEstimate,
)
from skeval.privacy.attacks.dp_audit import DPAudit
from skeval.privacy.attacks.inference import InferenceRisk, InferenceRiskAll
from skeval.privacy.attacks.likelihood_ratio import LikelihoodRatioMIA
from skeval.privacy.attacks.linear_reconstruction import LinearReconstructionAttack
from skeval.privacy.attacks.linkability import LinkabilityRisk
from skeval.privacy.attacks.membership import MembershipInference
from skeval.privacy.attacks.membership_f1 import MembershipDisclosureF1
from skeval.privacy.attacks.one_run_audit import OneRunDPAudit
from skeval.privacy.attacks.record_reconstruction import RecordReconstruction
from skeval.privacy.attacks.shadow import ShadowMembershipInference
from skeval.privacy.attacks.shadow_attribute import ShadowAttributeInference
from skeval.privacy.attacks.singling_out import SinglingOutRisk
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
    "AnonymeterRisk",
    "AttributeInferenceRisk",
    "Authenticity",
    "DCRBaselineProtection",
    "DCROverfittingProtection",
    "DCRPercentile",
    "DCRShare",
    "DPAudit",
    "DeltaPresence",
    "DisclosureProtection",
    "DisclosureProtectionEstimate",
    "EpsilonIdentifiability",
    "ExactMatchShare",
    "HittingRate",
    "HoldoutDistanceRatio",
    "IdenticalMatchShare",
    "InferenceRisk",
    "InferenceRiskAll",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "LikelihoodRatioMIA",
    "LinearReconstructionAttack",
    "LinkabilityRisk",
    "MembershipDisclosureF1",
    "MembershipInference",
    "MinimumDistanceAccumulation",
    "NNAAPrivacyLoss",
    "NNDistanceDistributions",
    "NearDuplicateShare",
    "NearestNeighborAdversarialAccuracy",
    "NewRowShare",
    "OneRunDPAudit",
    "PrivacyScore",
    "RecordReconstruction",
    "ReplicatedUniques",
    "ShadowAttributeInference",
    "ShadowMembershipInference",
    "SinglingOutRisk",
    "TCloseness",
]
