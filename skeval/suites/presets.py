"""Metrics of the presets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skeval.suites.suite import Named

_MEASURED = 1_000  # rows per table, enough for a curve or a fraction of relations in a report


def _report(target: str | None, sensitive: str | None) -> Named:
    import skeval.fidelity as fidelity

    return [
        *_validity(),
        *_fidelity(),
        ("precision_recall", fidelity.PRDCurve(n_runs=3, max_rows=_MEASURED)),
        *_utility(target, sensitive),
        *_headlines(),
    ]


def _validity() -> Named:
    import skeval.diagnostic as diagnostic

    return [
        ("table_structure", diagnostic.TableStructure()),
        ("boundary_adherence", diagnostic.BoundaryAdherence()),
        ("range_coverage", diagnostic.RangeCoverage()),
        ("category_adherence", diagnostic.CategoryAdherence()),
        ("category_coverage", diagnostic.CategoryCoverage()),
        ("missing_values", diagnostic.MissingValueSimilarity()),
    ]


def _utility(target: str | None, sensitive: str | None) -> Named:
    import skeval.utility as utility

    if target is None:
        return []
    metrics: Named = [
        ("tstr", utility.TSTR(target)),
        ("trts", utility.TRTS(target)),
        ("tsts", utility.TSTS(target)),
        ("augmentation", utility.AugmentationGain(target)),
        ("precision_efficacy", utility.PrecisionEfficacy(target)),
        ("recall_efficacy", utility.RecallEfficacy(target)),
        ("model_ranks", utility.ModelRankAgreement(target)),
        ("selection_regret", utility.SelectionRegret(target)),
        ("importances", utility.FeatureImportanceAgreement(target)),
        ("coefficients", utility.CoefficientOverlap(target)),
        ("means", utility.MeanCIOverlap()),
        ("calibration", utility.CalibrationPreservation(target)),
    ]
    if sensitive is not None:
        metrics += [
            ("fairness_gap", utility.FairnessGap(target, sensitive)),
            ("equalized_odds", utility.EqualizedOddsImprovement(target, sensitive)),
        ]
    return metrics


def survival(duration: str, event: str, pos_label: Any = None) -> Named:
    """Return the survival metrics."""
    import skeval.utility as utility

    outcome: dict[str, Any] = {"duration": duration, "event": event, "pos_label": pos_label}
    return [
        ("survival_curves", utility.SurvivalCurveDistance(**outcome)),
        ("log_rank", utility.LogRankAgreement(**outcome)),
        ("cox_coefficients", utility.CoxCoefficientOverlap(**outcome)),
        ("survival_tstr", utility.SurvivalTSTR(**outcome)),
        ("synthetic_arm", utility.SyntheticArmTypeIError(**outcome)),
    ]


def _fidelity() -> Named:
    import skeval.fidelity as fidelity

    return [
        ("ks_complement", fidelity.KSComplement()),
        ("tv_complement", fidelity.TVComplement()),
        ("similarity", fidelity.SimilarityScore()),
        ("spreads", fidelity.StatisticSimilarity("std")),
        ("relations", fidelity.RelationScore(max_rows=_MEASURED)),
        ("phik_difference", fidelity.PhikMatrixDifference()),
        ("nn_distances", fidelity.NNDistanceDistributions()),
        *text_fidelity(),
    ]


def text_fidelity() -> Named:
    """Return the metrics of the similarity of texts."""
    import skeval.text as text

    return [
        ("text_lengths", text.TextLengthSimilarity()),
        ("vocabulary", text.VocabularySimilarity()),
        ("ngrams", text.NGramSimilarity()),
        ("text_two_sample", text.TextTwoSampleTest()),
    ]


def _headlines() -> Named:
    """Return the privacy metrics of the report: screens, attacks and an audit."""
    import skeval.privacy as privacy

    return [
        ("exact_matches", privacy.ExactMatchShare()),
        ("near_duplicates", privacy.NearDuplicateShare()),
        ("dcr_overfitting", privacy.DCROverfittingProtection()),
        ("membership", privacy.MembershipInference()),
        ("partial_membership", privacy.PartialMembershipInference()),
        ("anonymeter", privacy.AnonymeterRisk()),
        ("reconstruction", privacy.RecordReconstruction()),
        ("one_run_audit", privacy.OneRunDPAudit()),
        *text_headlines(),
        *text_attacks(),
    ]


def text_headlines() -> Named:
    """Return the text screens of the report, which find copies or names."""
    return [(name, metric) for name, metric in text_screens() if name != "stylistic_outliers"]


def text_screens() -> Named:
    """Return the text screens that do not require a model."""
    import skeval.text as text

    return [
        ("text_exact_matches", text.TextExactMatch()),
        ("near_duplicate_texts", text.NearDuplicateText()),
        ("longest_passages", text.LongestCommonSubstring()),
        ("ngram_novelty", text.NGramNovelty()),
        ("stylistic_outliers", text.StylisticOutliers()),
        ("entities", text.EntityLeakage()),
    ]


def text_attacks() -> Named:
    """Return the attacks on texts that do not require a model."""
    import skeval.text as text

    return [("text_membership", text.TextMembershipInference())]


def _privacy(sensitive: str | None) -> Named:
    import skeval.privacy as privacy

    return [*_screens(), *_attacks(sensitive), ("one_run_audit", privacy.OneRunDPAudit())]


def _attacks(sensitive: str | None) -> Named:
    import skeval.privacy as privacy

    metrics: Named = [
        ("membership", privacy.MembershipInference()),
        ("partial_membership", privacy.PartialMembershipInference()),
        ("membership_f1", privacy.MembershipDisclosureF1()),
        ("singling_out_univariate", privacy.SinglingOutRisk("univariate")),
        ("singling_out_multivariate", privacy.SinglingOutRisk("multivariate")),
        ("linkability", privacy.LinkabilityRisk()),
        ("inference", privacy.InferenceRiskAll()),
        ("anonymeter", privacy.AnonymeterRisk()),
        ("reconstruction", privacy.RecordReconstruction()),
        *text_attacks(),
    ]
    if sensitive is not None:
        metrics.append(("attribute_inference", privacy.AttributeInferenceRisk(sensitive)))
    return metrics


def _syneval() -> Named:
    import skeval.fidelity as fidelity
    import skeval.privacy as privacy
    import skeval.text as text

    return [
        ("exact_matches", privacy.ExactMatchShare()),
        ("identical_match_share", privacy.IdenticalMatchShare()),
        ("dcr", privacy.DCRPercentile()),
        ("nndr", privacy.NNDR()),
        ("distinguishability", fidelity.ClassifierTwoSampleTest("auc")),
        ("singling_out_univariate", privacy.SinglingOutRisk("univariate")),
        ("singling_out_multivariate", privacy.SinglingOutRisk("multivariate")),
        ("linkability", privacy.LinkabilityRisk()),
        ("inference", privacy.InferenceRiskAll()),
        ("overall_risk", privacy.AnonymeterRisk()),
        ("entities", text.EntityLeakage()),
        ("nominal_mentions", text.NominalMentions()),
        ("stylistic_outliers", text.StylisticOutliers()),
    ]


def _screens() -> Named:
    import skeval.privacy as privacy

    return [
        ("exact_matches", privacy.ExactMatchShare()),
        ("near_duplicates", privacy.NearDuplicateShare()),
        ("new_rows", privacy.NewRowShare()),
        ("hitting_rate", privacy.HittingRate()),
        ("dcr_percentile", privacy.DCRPercentile()),
        ("nndr", privacy.NNDR()),
        ("holdout_distance_ratio", privacy.HoldoutDistanceRatio()),
        ("dcr_share", privacy.DCRShare()),
        ("dcr_overfitting", privacy.DCROverfittingProtection()),
        ("dcr_baseline", privacy.DCRBaselineProtection()),
        ("privacy_score", privacy.PrivacyScore()),
        ("minimum_distance_accumulation", privacy.MinimumDistanceAccumulation()),
        ("nnaa_privacy_loss", privacy.NNAAPrivacyLoss()),
        ("epsilon_identifiability", privacy.EpsilonIdentifiability()),
        ("authenticity", privacy.Authenticity()),
        *text_screens(),
    ]


def _quality() -> Named:
    return [
        *name_by_property("column_shapes", column_shapes()),
        *name_by_property("column_pair_trends", column_pair_trends()),
    ]


def name_by_property(name: str, metrics: Named) -> Named:
    """Put the name of a property in front of the names of its metrics."""
    return [(f"{name}/{part}", metric) for part, metric in metrics]


def column_shapes() -> Named:
    """Return the metrics of the SDMetrics property of the same name for one table."""
    import skeval.fidelity as fidelity

    return [
        ("ks_complement", fidelity.KSComplement()),
        ("tv_complement", fidelity.TVComplement(nan="drop")),
    ]


def column_pair_trends() -> Named:
    """Return the metrics of the SDMetrics property of the same name for one table."""
    import skeval.fidelity as fidelity

    contingency = fidelity.ContingencySimilarity(  # bins as in SDMetrics, so the same pairs count
        min_association=0.3, numeric_pairs=False, strategy="uniform-plain"
    )
    correlation = fidelity.CorrelationSimilarity(min_correlation=0.5)
    return [("correlation", correlation), ("contingency", contingency)]


def adherence() -> Named:
    """Return the metrics that check the ranges and categories of one table."""
    import skeval.diagnostic as diagnostic

    return [
        ("boundary_adherence", diagnostic.BoundaryAdherence()),
        ("category_adherence", diagnostic.CategoryAdherence()),
    ]


def _diagnostic() -> Named:
    import skeval.diagnostic as diagnostic

    return [
        *name_by_property("data_validity", adherence()),
        ("data_validity/key_uniqueness", diagnostic.KeyUniqueness()),
        ("data_structure/table_structure", diagnostic.TableStructure()),
    ]


PRESETS: dict[str, Callable[[str | None, str | None], Named]] = {
    "report": _report,
    "fidelity": lambda target, sensitive: _fidelity(),
    "utility": _utility,
    "privacy": lambda target, sensitive: _privacy(sensitive),
    "screens": lambda target, sensitive: _screens(),
    "attacks": lambda target, sensitive: _attacks(sensitive),
    "syneval": lambda target, sensitive: _syneval(),
    "quality": lambda target, sensitive: _quality(),
    "diagnostic": lambda target, sensitive: _diagnostic(),
}


def disclosure(known: Sequence[str] | None, sensitive: str | None) -> Named:
    """Return the metrics of disclosure to an attacker who knows some columns of a record."""
    import skeval.privacy as privacy

    columns = list(known) if known else None
    metrics: Named = [
        ("identity_disclosure", privacy.IdentityDisclosure(columns)),
        ("replicated_uniques", privacy.ReplicatedUniques(columns)),
    ]
    if columns and sensitive is not None and sensitive not in columns:
        read_off = privacy.DisclosureProtection(columns, sensitive, method="disco")
        metrics.append(("disclosure_protection", read_off))
    return metrics


def singling_out() -> Named:
    """Return the singling-out attacks that are compared with guessing instead of a holdout."""
    import skeval.privacy as privacy

    modes: tuple[Any, ...] = ("univariate", "multivariate")
    return [
        (f"singling_out_{mode}", privacy.SinglingOutRisk(mode, reference="baseline"))
        for mode in modes
    ]
