"""Ready suites, by name."""

from __future__ import annotations

from collections.abc import Callable

from skeval.base import Metric
from skeval.exceptions import InvalidParameterError
from skeval.suite import MetricSuite

Named = list[tuple[str, Metric]]


def make_suite(
    preset: str = "report",
    *,
    target: str | None = None,
    sensitive: str | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    check_holdout: bool = True,
) -> MetricSuite:
    """Return a ready suite.

    Parameters
    ----------
    preset : str, default="report"
        "report": all that the report shows, of privacy the headlines only. "fidelity": the
        headlines of fidelity. "utility": all metrics of one `target`. "privacy": every screen and
        attack, and the audit. "screens", "attacks": one kind of them. "syneval": what SynEval's
        privacy report holds, with the overall risk. "quality" and "diagnostic": what SDMetrics' two
        reports hold, the shapes of columns and the trends of pairs, validity and structure, with
        their properties in the names (:meth:`SuiteResult.properties`).
    target : str, optional
        The column that models predict. Where it is given, the report has utility too.
    sensitive : str, optional
        The column whose groups models should treat alike, of the measures of fairness; and the
        secret of the attack by models.
    random_state : int, default=0
        Seed of every metric that draws at random.
    n_jobs : int, optional
        Number of threads.
    check_holdout : bool, default=True
        Whether fit looks if train and holdout can be told apart; see :class:`MetricSuite`.

    Returns
    -------
    MetricSuite

    Raises
    ------
    InvalidParameterError
        If there is no such preset, or utility is asked for without a target.

    Examples
    --------
    >>> from skeval import make_suite
    >>> [name for name, _ in make_suite("fidelity").metrics]
    ['ks_complement', 'tv_complement', 'similarity', 'phik_difference', 'nn_distances']
    """
    if preset not in PRESETS:
        raise InvalidParameterError(
            f"make_suite: preset must be among {', '.join(PRESETS)}, got {preset!r}."
        )
    if preset == "utility" and target is None:
        raise InvalidParameterError(
            "make_suite: 'utility' needs a column to predict. "
            "Name it: make_suite('utility', target=column)."
        )
    metrics = PRESETS[preset](target, sensitive)
    for _, metric in metrics:
        if "random_state" in metric.get_params():
            metric.set_params(random_state=random_state)
    return MetricSuite(metrics, n_jobs=n_jobs, check_holdout=check_holdout)


def _report(target: str | None, sensitive: str | None) -> Named:
    return [*_fidelity(), *_utility(target, sensitive), *_headlines()]


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


def _fidelity() -> Named:
    import skeval.fidelity as fidelity

    return [
        ("ks_complement", fidelity.KSComplement()),
        ("tv_complement", fidelity.TVComplement()),
        ("similarity", fidelity.SimilarityScore()),
        ("phik_difference", fidelity.PhikMatrixDifference()),
        ("nn_distances", fidelity.NNDistanceDistributions()),
    ]


def _headlines() -> Named:
    """Return the metrics of privacy that the report shows: screens, attacks, an audit."""
    import skeval.privacy as privacy

    return [
        ("privacy_score", privacy.PrivacyScore()),
        ("dcr_overfitting", privacy.DCROverfittingProtection()),
        ("dcr_baseline", privacy.DCRBaselineProtection()),
        ("membership", privacy.MembershipInference()),
        ("anonymeter", privacy.AnonymeterRisk()),
        ("one_run_audit", privacy.OneRunDPAudit()),
    ]


def _privacy(sensitive: str | None) -> Named:
    import skeval.privacy as privacy

    return [*_screens(), *_attacks(sensitive), ("one_run_audit", privacy.OneRunDPAudit())]


def _attacks(sensitive: str | None) -> Named:
    import skeval.privacy as privacy

    metrics: Named = [
        ("membership", privacy.MembershipInference()),
        ("membership_f1", privacy.MembershipDisclosureF1()),
        ("singling_out_univariate", privacy.SinglingOutRisk("univariate")),
        ("singling_out_multivariate", privacy.SinglingOutRisk("multivariate")),
        ("linkability", privacy.LinkabilityRisk()),
        ("inference", privacy.InferenceRiskAll()),
        ("anonymeter", privacy.AnonymeterRisk()),
        ("reconstruction", privacy.RecordReconstruction()),
    ]
    if sensitive is not None:
        metrics.append(("attribute_inference", privacy.AttributeInferenceRisk(sensitive)))
    return metrics


def _syneval() -> Named:
    import skeval.fidelity as fidelity
    import skeval.privacy as privacy

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
    ]


def _quality() -> Named:
    import skeval.fidelity as fidelity

    return [
        ("column_shapes/ks_complement", fidelity.KSComplement()),
        ("column_shapes/tv_complement", fidelity.TVComplement(nan="drop")),
        ("column_pair_trends/correlation", fidelity.CorrelationSimilarity(min_correlation=0.5)),
        (
            "column_pair_trends/contingency",
            fidelity.ContingencySimilarity(min_association=0.3, numeric_pairs=False),
        ),
    ]


def _diagnostic() -> Named:
    import skeval.diagnostic as diagnostic

    return [
        ("data_validity/boundary_adherence", diagnostic.BoundaryAdherence()),
        ("data_validity/category_adherence", diagnostic.CategoryAdherence()),
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
