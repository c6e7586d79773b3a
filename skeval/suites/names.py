"""Table of all names of metrics: class, name in scores, title, and names in other libraries.

Only the names of other libraries are defined here. Classes, short names and titles are read from
their definitions.
"""

from __future__ import annotations

import difflib
from functools import cache
from typing import NamedTuple

from skeval.core.catalogue import METRIC_PACKAGES, metrics_of_package
from skeval.suites.features import feature_of, plain
from skeval.utils.formatting import title_of

# names in other libraries, by library and by class
ELSEWHERE: dict[str, dict[str, str]] = {
    "SDMetrics": {
        "AttributeInferenceRisk": "CategoricalKNN, CategoricalNB, CategoricalRF, CategoricalSVM, "
        "CategoricalEnsemble, NumericalLR, NumericalMLP, NumericalSVR, "
        "NumericalRadiusNearestNeighbor, Privacy Against Inference",
        "ChiSquaredTest": "CSTest",
        "ClassifierTwoSampleTest": "LogisticDetection, SVCDetection, Detection",
        "DisclosureProtection": "CategoricalCAP, CategoricalZeroCAP, CategoricalGeneralizedCAP",
        "FormatAdherence": "DatetimeFormatAdherence, RegexFormatAdherence",
        "GMLikelihood": "GMLogLikelihood",
        "NewRowShare": "NewRowSynthesis",
        "PrecisionEfficacy": "BinaryClassifierPrecisionEfficacy",
        "RecallEfficacy": "BinaryClassifierRecallEfficacy",
        "RuleAdherence": "ConstraintAdherence",
        "SequenceDetection": "LSTMDetection, TSFCDetection",
        "SequenceTSTR": "LSTMClassifierEfficacy, TSFClassifierEfficacy",
        "TSTR": "MLEfficacy, BinaryDecisionTreeClassifier, BinaryAdaBoostClassifier, "
        "BinaryLogisticRegression, BinaryMLPClassifier, MulticlassDecisionTreeClassifier, "
        "MulticlassMLPClassifier, LinearRegression, MLPRegressor",
    },
    "Anonymeter": {
        "InferenceRisk": "InferenceEvaluator",
        "LinkabilityRisk": "LinkabilityEvaluator",
        "SinglingOutRisk": "SinglingOutEvaluator",
    },
    "SynthEval": {
        "AttributeInferenceRisk": "att_discl",
        "EpsilonIdentifiability": "eps_risk, eps_identif_risk",
        "FairnessGap": "statistical_parity",
        "FeatureImportanceAgreement": "fio",
        "HellingerDistance": "h_dist",
        "HittingRate": "hit_rate",
        "KSComplement": "ks_test",
        "MapDistance": "pca, plot_pca",
        "MaximumMeanDiscrepancy": "mmd",
        "MeanCIOverlap": "cio",
        "MembershipInference": "mia",
        "MixedAssociationDifference": "corr_diff",
        "MutualInformationDifference": "mi_diff",
        "NearestNeighborAdversarialAccuracy": "nnaa",
        "PropensityMSE": "p_mse",
        "QuantileMSE": "q_mse",
        "StatisticSimilarity": "dwm",
        "TSTR": "auroc_diff, cls_acc",
    },
    "SynEval": {
        "AnonymeterRisk": "overall_risk, anonymeter_evaluation",
        "ClassifierTwoSampleTest": "mia_auc, fidelity_score, synthetic_confidence",
        "DCRPercentile": "distance to closest record, dcr",
        "EntityLeakage": "named entity recognition, named_entity, ner",
        "ExactMatchShare": "exact_match_percentage, exact_match",
        "IdenticalMatchShare": "identical match share, ims, train_test_ims",
        "NNDR": "nearest neighbor distance ratio",
        "NominalMentions": "nominal_mentions",
        "StylisticOutliers": "stylistic_outliers",
    },
    "synthcity": {
        "AlphaPrecisionBetaRecall": "alpha_precision",
        "AttributeInferenceRisk": "data_leakage_xgb, data_leakage_linear, data_leakage_mlp",
        "AugmentationGain": "xgb_augmentation, linear_augmentation, mlp_augmentation",
        "ChiSquaredTest": "chi_squared_test",
        "ClassifierTwoSampleTest": "detection_xgb, detection_linear, detection_mlp, detection_gmm",
        "DeltaPresence": "delta-presence",
        "DensityCoverage": "prdc",
        "EpsilonIdentifiability": "identifiability_score",
        "ExactMatchShare": "common_rows_proportion",
        "FeatureImportanceAgreement": "feat_rank_distance",
        "JensenShannonDistance": "jensenshannon_dist",
        "KAnonymity": "k-anonymization",
        "KLDivergence": "inv_kl_divergence",
        "LDiversity": "distinct l-diversity",
        "MaximumMeanDiscrepancy": "max_mean_discrepancy",
        "MembershipInference": "DomiasMIA_KDE, DomiasMIA_prior, domias",
        "NNDistanceDistributions": "nearest_syn_neighbor_distance, close_values_probability, "
        "distant_values_probability",
        "SurvivalCurveDistance": "survival_km_distance",
        "TableStructure": "data_mismatch",
        "WassersteinDistance": "wasserstein_dist",
    },
    "mostlyai-qa": {
        "CoherenceSimilarity": "coherence",
        "ClassifierTwoSampleTest": "discriminator_auc_training_synthetic",
        "DCRPercentile": "dcr_training, dcr_holdout",
        "ExactMatchShare": "ims_training, ims_holdout",
        "NNDR": "nndr_training, nndr_holdout",
        "SimilarityMatrix": "accuracy, univariate, bivariate, trivariate",
    },
    "Aindo": {
        "PrivacyScore": "compute_privacy_stats, PrivacyStats, TSPR, TTPR, risk_confidence",
        "PhikMatrixDifference": "phik",
        "NNDistanceDistributions": "knn",
    },
    "the lecture": {
        "AttributeInferenceRisk": "attribute inference attack, AIA",
        "CoefficientOverlap": "same conclusions",
        "CramersVDifference": "Cramer's V",
        "DPAudit": "differential privacy verification",
        "HoldoutDistanceRatio": "NNDR with holdout",
        "KMarginalSimilarity": "density over random subsets",
        "ModelRankAgreement": "SRA, synthetic ranking agreement",
        "PRDCurve": "F8, F1/8, PRD, precision and recall of distributions",
        "PropensityMSE": "propensity score",
        "RecordReconstruction": "reconstruction attack",
        "TVComplement": "total variation of marginals",
        "TotalVariationLowerBound": "fidelity auditor",
    },
    "MDA": {
        "MDAResemblance": "resemblance area, resemblance",
        "MinimumDistanceAccumulation": "MDA, privacy area",
    },
    "El Emam": {"IdentityDisclosure": "meaningful identity disclosure, identity disclosure risk"},
    "in short": {
        "CoxCoefficientOverlap": "Cox regression, hazard ratios, proportional hazards",
        "AlphaPrecisionBetaRecall": "beta_recall",
        "ClassifierTwoSampleTest": "C2ST",
        "DCRPercentile": "DCR",
        "EntityLeakage": "NER",
        "IdenticalMatchShare": "IMS",
        "LogRankAgreement": "log-rank test",
        "MaximumMeanDiscrepancy": "MMD",
        "MembershipInference": "MIA, membership inference attack",
        "PropensityMSE": "pMSE, S_pMSE",
        "SurvivalCurveDistance": "Kaplan-Meier, KM divergence",
        "SurvivalTSTR": "C-index, concordance index",
        "SyntheticArmTypeIError": "external control arm, type I error",
        "TVComplement": "TVD",
    },
}
# questions of new users, and the metric that answers each question
QUESTIONS = (
    ("Can it be loaded as the real table is?", "TableStructure"),
    ("Are its rows possible?", "RuleAdherence"),
    ("Are numbers within their ranges?", "BoundaryAdherence"),
    ("Are numbers distributed correctly?", "KSComplement"),
    ("Are categories as frequent?", "TVComplement"),
    ("Do columns go together?", "SimilarityScore"),
    ("Can it be distinguished from real data?", "ClassifierTwoSampleTest"),
    ("Are kinds of rows invented, or lost?", "PRDCurve"),
    ("Will published counts be right?", "RangeQueryError"),
    ("Is it good enough for training?", "TSTR"),
    ("May a model be chosen on it?", "ModelRankAgreement"),
    ("Would a regression come out the same?", "CoefficientOverlap"),
    ("Are people copied?", "ExactMatchShare"),
    ("Are people nearly copied?", "NearDuplicateShare"),
    ("Is it closer to training data than others?", "DCRShare"),
    ("Can an attacker tell who was included?", "MembershipInference"),
    ("Can people be singled out or linked?", "AnonymeterRisk"),
    ("Can a secret be read off?", "AttributeInferenceRisk"),
    ("Are rows unique in known attributes?", "KAnonymity"),
    ("Is the claimed epsilon true?", "OneRunDPAudit"),
)


class Names(NamedTuple):
    """All names of one metric."""

    kind: str  # class name
    module: str
    short: tuple[str, ...]  # the names of results in presets
    title: str
    elsewhere: dict[str, tuple[str, ...]]  # names by source

    def all(self) -> list[str]:
        """Return every name, the class first."""
        others = (name for names in self.elsewhere.values() for name in names)
        return [self.kind, *self.short, self.title, *others]


@cache
def table_of_names() -> dict[str, Names]:
    """Return all names of each metric by the name of its class."""
    from skeval.suites.named_metrics import preset_metrics  # `skeval --help` imports no metric

    short: dict[str, list[str]] = {}
    for name, metric in preset_metrics().items():
        short.setdefault(type(metric).__name__, []).append(name)
    return {
        kind: Names(kind, package, tuple(short.get(kind, ())), title_of(kind), _elsewhere(kind))
        for package in METRIC_PACKAGES
        for kind in metrics_of_package(package)
    }


def _elsewhere(kind: str) -> dict[str, tuple[str, ...]]:
    return {
        source: tuple(names[kind].split(", "))
        for source, names in ELSEWHERE.items()
        if kind in names
    }


@cache
def _proper_names() -> dict[str, str]:
    """Map each name in lower case to a class name or a short name."""
    rows = table_of_names().values()
    own = [(row.kind, row.kind) for row in rows]
    own += [(name, name) for row in rows for name in row.short]
    others = [(name, row.kind) for row in rows for name in row.all()]
    found: dict[str, str] = {}
    for name, proper in [*own, *others]:
        found.setdefault(plain(name), proper)
    return found


def proper_name(name: str) -> str | None:
    """Return the class name or short name for a name, or None if the name is unknown."""
    table, last = table_of_names(), name.rpartition("/")[2]  # several tables: "table/metric"
    for one in (name, last):
        if one in table or any(one in row.short for row in table.values()):
            return one
    return _proper_names().get(plain(name)) or _proper_names().get(plain(last))


def nearest_names(name: str) -> list[str]:
    """Return the known names that are most similar to a name."""
    written = {one.lower(): one for row in table_of_names().values() for one in row.all()[::-1]}
    return [written[one] for one in difflib.get_close_matches(name.lower(), written)]


def unknown_name(name: str) -> str:
    """Return the message for a name that no metric has."""
    if feature := feature_of(name):
        return f"unknown metric {name}. Use {feature.ours}. For details, run skeval explain."
    near = nearest_names(name)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"unknown metric {name}.{meant} Run skeval list --all to see all metrics."
