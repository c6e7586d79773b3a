"""Privacy metrics: screens, attacks and audits that detect leaks but cannot clear a release."""

from skeval.privacy.attacks.anonymeter.anonymeter_risk import AnonymeterRisk
from skeval.privacy.attacks.anonymeter.inference import InferenceRisk, InferenceRiskAll
from skeval.privacy.attacks.anonymeter.linkability import LinkabilityRisk
from skeval.privacy.attacks.anonymeter.singling_out import SinglingOutRisk
from skeval.privacy.attacks.attribute_inference import AttributeInferenceRisk
from skeval.privacy.attacks.disclosure_protection import (
    DisclosureProtection,
    DisclosureProtectionEstimate,
)
from skeval.privacy.attacks.dp_audit import DPAudit
from skeval.privacy.attacks.linear_reconstruction import LinearReconstructionAttack
from skeval.privacy.attacks.membership.disclosure_f1 import MembershipDisclosureF1
from skeval.privacy.attacks.membership.membership_inference import MembershipInference
from skeval.privacy.attacks.membership.partial_membership import PartialMembershipInference
from skeval.privacy.attacks.one_run_audit import OneRunDPAudit
from skeval.privacy.attacks.record_reconstruction import RecordReconstruction
from skeval.privacy.attacks.shadow.likelihood_ratio import LikelihoodRatioMIA
from skeval.privacy.attacks.shadow.privacy_gain import PrivacyGain
from skeval.privacy.attacks.shadow.shadow_attribute import ShadowAttributeInference
from skeval.privacy.attacks.shadow.shadow_membership import ShadowMembershipInference
from skeval.privacy.attacks.shadow.stacked_membership import StackedMembershipInference
from skeval.privacy.copies import ExactMatchShare, IdenticalMatchShare
from skeval.privacy.distance_screens.accumulation import MinimumDistanceAccumulation
from skeval.privacy.distance_screens.authenticity import Authenticity
from skeval.privacy.distance_screens.dcr import DCROverfittingProtection, DCRShare
from skeval.privacy.distance_screens.dcr_baseline import DCRBaselineProtection
from skeval.privacy.distance_screens.identifiability import EpsilonIdentifiability
from skeval.privacy.distance_screens.nnaa import NNAAPrivacyLoss
from skeval.privacy.distance_screens.percentiles import NNDR, DCRPercentile, HoldoutDistanceRatio
from skeval.privacy.distance_screens.privacy_score import PrivacyScore
from skeval.privacy.distance_screens.privacy_stats import PrivacyStats
from skeval.privacy.diversity import LDiversity, TCloseness
from skeval.privacy.hitting_rate import HittingRate, NewRowShare
from skeval.privacy.identity import IdentityDisclosure
from skeval.privacy.k_anonymity import KAnonymity
from skeval.privacy.near_duplicates import NearDuplicateShare
from skeval.privacy.presence import DeltaPresence, KMap
from skeval.privacy.replicated_uniques import ReplicatedUniques

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
    "IdentityDisclosure",
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
    "NearDuplicateShare",
    "NewRowShare",
    "OneRunDPAudit",
    "PartialMembershipInference",
    "PrivacyGain",
    "PrivacyScore",
    "PrivacyStats",
    "RecordReconstruction",
    "ReplicatedUniques",
    "ShadowAttributeInference",
    "ShadowMembershipInference",
    "SinglingOutRisk",
    "StackedMembershipInference",
    "TCloseness",
]
