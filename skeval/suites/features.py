"""Names of options, details, plots and reports in other libraries, and their equivalents."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from skeval.core.catalogue import METRIC_PACKAGES

PUBLIC = (
    *METRIC_PACKAGES,
    "skeval",
    "skeval.plotting",
    "skeval.results",
    "skeval.suites",
    "skeval.tables",
    "skeval.scale",
    "skeval.generators",
    "skeval.model_selection",
    "skeval.reporting",
    "skeval.datasets",
)
_DCR = 'DCROverfittingProtection(ties="holdout", scale="reference", chance="half")'

# by library: names there, and the equivalent, which begins with a public name of skeval
FEATURES: dict[str, dict[str, str]] = {
    "Aindo": {
        "output path": "report(train, holdout, synthetic, path)",
        "Schema": "RelationalSchema.from_aindo(schema)",
        "n_max_train, n_max_test": "report(..., n_max_train=, n_max_test=), by table as a mapping",
        "columns per section": "ReportColumns(univ=, biv=, knn=, phik=)",
        "columns per table": "report(..., columns={table: ReportColumns(...)})",
        "nearest neighbour distances, 1-NN real-real, 1-NN synthetic-synthetic": (
            'NNDistanceDistributions, details["quantiles"]'
        ),
        "split of the real data": 'PrivacyScore(mode="split")',
        "histograms of TSPR and TTPR": "ProximityDisplay, .plot() of a result of PrivacyScore",
        "phik matrix": 'PhikMatrixDifference, details["train"], ["synthetic"]',
        "univariate distributions": "plot_column(train, synthetic, column)",
        "bivariate distributions": "plot_pair(train, synthetic, columns)",
        "q, quantile of TTPR": "PrivacyScore(q=0.1)",
        "privacy stats by table": "compute_privacy_stats(tables, tables), a dict of PrivacyStats",
        "privacy_score_std": "PrivacyStats.privacy_score_std",
        "risk, negative risk": "PrivacyStats.risk, no less than 0",
    },
    "SDMetrics": {
        "distance of numbers": _DCR,
        "distance of categories, Hamming distance": "DCROverfittingProtection, space gower",
        "distance of rows, Gower distance": "DCROverfittingProtection, space gower",
        "distance of missing values": "DCROverfittingProtection, missing is a separate value",
        "boolean columns": 'TableSchema({"column": "boolean"})',
        "datetime columns": 'TableSchema({"column": "datetime"})',
        "ID columns, PII columns": 'TableSchema({"column": "id"})',
        "ties of distances": 'DCROverfittingProtection(ties="holdout")',
        "range per reference table": 'DCROverfittingProtection(scale="reference")',
        "score at equal sizes, score at unequal sizes": _DCR,
        "closer_to_training, closer_to_holdout": 'DCROverfittingProtection, details["sdmetrics"]',
        "synthetic_data_percentages": 'DCROverfittingProtection, details["sdmetrics"]',
        "compute_breakdown": 'DCROverfittingProtection, details["sdmetrics"]',
        "median_DCR_to_real_data": 'DCRBaselineProtection, details["sdmetrics"]',
        "num_rows_subsample, num_iterations": (
            "DCROverfittingProtection(num_rows_subsample=, num_iterations=)"
        ),
        "equal sizes of train and validation": "DCROverfittingProtection, expects fractions of "
        "rows",
        "no validation set": "DCRBaselineProtection().fit(train)",
        "SingleTableMetadata, single table metadata": "TableSchema.from_sdv(metadata)",
        "MultiTableMetadata, multi table metadata": "RelationalSchema.from_sdv(metadata)",
        "sequential metadata, sequence_key, sequence_index": "SequenceKey(key, index)",
        "QualityReport, multi table QualityReport, quality report": 'make_suite("quality")',
        "DiagnosticReport, multi table DiagnosticReport, diagnostic report": (
            'make_suite("diagnostic")'
        ),
        "get_details, get_properties, get_score": "SuiteResult.properties(), .frame()",
        "get_visualization": "Result.plot()",
        "load_demo": "make_mixed(), load_flights()",
        "get_column_plot, visualization utilities": "plot_column(train, synthetic, column)",
        "get_column_pair_plot": "plot_pair(train, synthetic, columns)",
        "get_cardinality_plot": "plot_cardinality(train, synthetic, schema)",
        "get_column_line_plot": "plot_lines(train, synthetic, schema)",
        "SVCParentChildDetection": 'ParentChildDetection(estimator="svc")',
        "MultiSingleTableMetric": "PerTable(metric)",
        "your own metric, SingleTableMetric": "Metric",
    },
    "the lecture": {
        "syntactical accuracy": 'make_suite("diagnostic")',
        "efficiency": "efficiency_curve(generator, table)",
        "histograms of attributes": "plot_column(train, synthetic, column)",
        "relations of pairs": "plot_pair(train, synthetic, columns)",
        "correlations of attributes": "CorrelationSimilarity",
        "alpha, beta": 'PRDCurve, details["precision"], ["recall"]',
        "PRD figure": "PRDDisplay, .plot() of a result of PRDCurve",
        "F8 against F1/8": "plot_f_beta(results)",
        "any classifier": "TotalVariationLowerBound(estimator)",
        "true and estimated total variation": "TotalVariationLowerBound",
        "train on synthetic test on real": "TSTR(target)",
        "accuracy": 'TSTR(target, scoring="accuracy")',
        "precision": 'TSTR(target, scoring="precision")',
        "recall": 'TSTR(target, scoring="recall")',
        "F1": 'TSTR(target, scoring="f1")',
        "mse": 'TSTR(target, scoring="neg_mean_squared_error")',
        "XGBoost": "TSTR(target), the default estimator",
        "fairness properties, demographic parity": "FairnessGap(target, sensitive)",
        "select a model on synthetic data": "SelectionRegret(target)",
        "epsilon, delta": "DPAudit(generator, delta=)",
        "adjacent data sets": 'DPAudit(generator, adjacency="add_remove")',
        "choice of adjacent data sets": "DPAudit(generator, base=, target=)",
        "audit of one release": "OneRunDPAudit",
        "membership inference by retraining": "ShadowMembershipInference(generator)",
        "attribute inference by retraining": "ShadowAttributeInference(generator, secret)",
        "comparison with anonymisation": "PrivacyGain(attack, MondrianAnonymization())",
        "several synthetic data sets": "evaluate_draws(suite, tables)",
        "multi-faceted framework": "OverallScore, pareto_front(table)",
    },
    "SynEval": {
        "PrivacyEvaluator, selected_metrics": 'make_suite("syneval"), or skeval evaluate --metrics',
        "FidelityEvaluator": 'make_suite("fidelity"), make_suite("quality")',
        "UtilityEvaluator": 'make_suite("utility", target=)',
        "DiversityEvaluator": "CategoryCoverage, RangeCoverage, DensityCoverage",
        "exact match threshold": "ExactMatchShare(alert=0.05)",
        "original duplication rate": 'ExactMatchShare, details["duplicates"]',
        "approximate matching, edit distance, Jaccard": "NearDuplicateText, NearDuplicateShare",
        "RandomForest, random forest of tables": (
            'ClassifierTwoSampleTest("auc", RandomForestClassifier(100))'
        ),
        "TF-IDF, max_features": 'TextTwoSampleTest("auc", "tfidf", RandomForestClassifier(100))',
        "distinguishability_auc": 'ClassifierTwoSampleTest("auc"), details["syneval"]',
        "AUC threshold": 'ClassifierTwoSampleTest("auc", alert=0.7)',
        "original_confidence": 'ClassifierTwoSampleTest("auc"), details["original_confidence"]',
        "interpretation, explanation": "Result.summary",
        "ROC curve": "ROCDisplay, .plot() of a result of MembershipInference",
        "precision@k": 'MembershipInference, details["precision_at"]',
        "permutation baseline": 'ClassifierTwoSampleTest(test="permutation")',
        "confidence intervals": "Result.interval",
        "ims_syn_train, IMS passed": 'IdenticalMatchShare, details["syneval"]',
        "syn_train_5pct, train_train_5pct, DCR passed": (
            'DCRPercentile(baseline="train_loo"), details["syneval"]'
        ),
        "NNDR d2/d1, NNDR train_train_5pct, NNDR passed": (
            'NNDR(convention="d2/d1", baseline="train_loo"), details["syneval"]'
        ),
        "total_entities, avg_entity_density, overlap_percentage, entity risk_level": (
            'EntityLeakage(recognizer), details["syneval"]'
        ),
        "entity filters": "EntityFilter.syneval()",
        "Flair": "FlairRecognizer()",
        "spaCy": "SpacyRecognizer()",
        "device": "SpacyRecognizer(device=)",
        "batches": "SpacyRecognizer(batch_size=)",
        "caching": 'EntityLeakage(recognizer, memory="folder")',
        "total_nominals, avg_nominal_density, nominal risk_level": (
            'NominalMentions(recognizer), details["syneval"]'
        ),
        "num_outliers, outlier_percentage, outlier_ratio": (
            'StylisticOutliers("word2vec"), details["syneval"]'
        ),
        "Word2Vec": 'StylisticOutliers("word2vec")',
        "univariate singling out": 'SinglingOutRisk("univariate")',
        "multivariate singling out": 'SinglingOutRisk("multivariate", n_cols=4)',
        "attack_rate, baseline_rate, control_rate": 'LinkabilityRisk, details["syneval"]',
        "risk beyond guessing": 'LinkabilityRisk(reference="baseline")',
        "error of risk": 'LinkabilityRisk, details["syneval"]["error"]',
        "inference of all columns": "InferenceRiskAll",
        "risk levels": "LinkabilityRisk(levels=(0.3, 0.5))",
        "two tables only": 'make_suite("syneval").fit(train)',
    },
    "MDA": {
        "minimum distance of each point": "MinimumDistanceAccumulation",
        "MDA curve, accumulation curve": 'MinimumDistanceAccumulation, details["curve"]',
        "MDA threshold": "MinimumDistanceAccumulation(threshold=0.1)",
        "normalised distances": 'MinimumDistanceAccumulation(scale="observed")',
        "points of both tables": 'MinimumDistanceAccumulation, details["pooled"]',
        "perfect curve": "MinimumDistanceAccumulation, 0; MDAResemblance, 1",
        "imputation by forests, imputation probability p": "RandomForestImputation(p)",
        "areas by p": "RandomForestImputation(p), MinimumDistanceAccumulation",
        "areas by threshold": "MDADisplay, .plot() of MinimumDistanceAccumulation([...])",
    },
    "scikit-learn": {
        "fit and score": "Metric.fit(train, holdout).score(synthetic)",
        "Pipeline": "MetricSuite",
        "ColumnTransformer, preprocessor": "TablePreprocessor, or space=ColumnTransformer(...)",
        "renderers": "PDFRenderer, HTMLRenderer, FigureRenderer",
        "GridSearchCV, search of generators": "make_generator_scorer(metric)",
        "cross_validate, cross-validated privacy": "cross_validate_generator(generator, X, suite)",
        "custom metric, make_scorer": "Metric",
    },
}


class Feature(NamedTuple):
    """Equivalent of a feature that is not a metric."""

    name: str
    source: str  # library, empty for names of skeval
    ours: str

    @property
    def public(self) -> str:
        """The public name at the beginning of the equivalent."""
        return re.match(r"\w*", self.ours)[0]  # type: ignore[index]


def plain(name: str) -> str:
    """Return a normalized name, without case, spaces and signs between words."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@cache
def _elsewhere() -> dict[str, Feature]:
    return {
        plain(name): Feature(name, source, ours)
        for source, names in reversed(FEATURES.items())  # the first source wins
        for several, ours in names.items()
        for name in several.split(", ")
    }


@cache
def _public_features() -> dict[str, Feature]:
    """Return the public names."""
    names = (name for module in PUBLIC for name in import_module(module).__all__)
    return {plain(name): Feature(name, "", name) for name in names}


def feature_of(name: str) -> Feature | None:
    """Return the equivalent of an option, detail, plot or class, or None."""
    return _elsewhere().get(plain(name)) or _public_features().get(plain(name))


def features_of(public: str) -> list[str]:
    """Return the names in other libraries for options and details of a metric."""
    return [one.name for one in _elsewhere().values() if one.public == public]


def public_object(name: str) -> Any:
    """Return the class or function of a public name."""
    for module in map(import_module, PUBLIC):
        if name in module.__all__:
            return getattr(module, name)
    raise KeyError(name)
