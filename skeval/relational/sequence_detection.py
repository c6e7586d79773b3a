"""Classifiers that separate synthetic sequences from real sequences."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, replace
from typing import Annotated, Literal, cast

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.relational_context import RelationalContext
from skeval.core.tags import RELATIONAL_TAGS
from skeval.exceptions import MetricWarning
from skeval.fidelity.two_sample import ClassifierTwoSampleTest
from skeval.relational.detection import mean_interval
from skeval.relational.sequence_metric import SequenceMetric
from skeval.results.result import Result, mean_of_columns
from skeval.steps.classifiers import MAX_ROWS, Classifier
from skeval.steps.sequences import feature_context
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Interval, OpenFraction, Seed


@declared
class SequenceDetection(SequenceMetric):
    """AUC or accuracy of a classifier that separates synthetic from real sequences.

    A history may be unrealistic even if each of its rows is realistic. For example, it may be too
    long or too smooth, or later rows may not depend on earlier rows. The classifier receives a row
    of features for each sequence and predicts whether the sequence is synthetic. The score ranges
    from 0.5 (expected by chance) to 1. Lower is better.

    Parameters
    ----------
    scoring : {"auc", "accuracy"}, default="auc"
        "auc" is the fraction of pairs of a synthetic and a real sequence in which the synthetic
        sequence has the higher score. "accuracy" is the fraction of sequences that are classified
        correctly.
    estimator : classifier, optional
        A scikit-learn classifier, which receives standardized and one-hot encoded features. The
        default is gradient boosting of small trees on ranks.
    n_folds : int, default=5
        Number of folds used for the value.
    test_size : float, default=0.5
        Fraction of the synthetic sequences that the classifier of the test does not use for
        training.
    max_sequences : int or None, default=10_000
        Maximum number of sequences per table. Larger tables are sampled at random.
    columns : None, int or list of str, default=None
        Columns from which features are computed: all (None), the first *n*, or the named ones.
    random_state : int, default=0
        Seed of samples, folds and classifiers.

    Warnings
    --------
    The classifier uses features of a sequence, not all rows. Errors in the order of the middle rows
    have little effect.

    See Also
    --------
    skeval.fidelity.ClassifierTwoSampleTest : Evaluates single rows. Describes the test and the
        details.

    Notes
    -----
    The features include the length, duration and mean step of a sequence. For numerical columns,
    the features also include the first and last value, mean, standard deviation, mean difference
    and autocorrelation. For categorical columns, the features include the first and last value, the
    number of categories and the fraction of the most frequent pair of neighbors. The classifier
    does not use other information, for example the order of the middle rows.

    SDMetrics uses an LSTM network for the same task and returns one minus the AUC. Folds, splits
    and the p-value use sequences instead of rows, because rows of a sequence are not independent.
    If the table belongs to subjects with several sequences each, one sequence per subject is drawn
    at random. The p-value comes from one split, in which synthetic sequences are compared with
    sequences of the holdout. It is multiplied by the number of tables. The baseline is the score of
    the holdout sequences, which is close to 0.5.

    References
    ----------
    SDMetrics, "LSTMDetection", https://docs.sdv.dev/sdmetrics. D. Lopez-Paz, M. Oquab, "Revisiting
    classifier two-sample tests", ICLR 2017, arXiv:1610.06545.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skeval.relational import RelationalSchema, SequenceDetection, SequenceKey
    >>> rng = np.random.default_rng(0)
    >>> steps = rng.normal(size=(100, 20))
    >>> keys = {"share": np.repeat(np.arange(100), 20), "day": np.tile(np.arange(20), 100)}
    >>> train = pd.DataFrame(keys | {"price": steps.cumsum(axis=1).ravel()})
    >>> synthetic = train.assign(price=rng.permutation(train["price"]))
    >>> schema = RelationalSchema(["prices"], sequences={"prices": SequenceKey("share", "day")})
    >>> metric = SequenceDetection().fit({"prices": train}, schema=schema)
    >>> metric.score({"prices": synthetic}) > 0.95
    True
    """

    tags = replace(RELATIONAL_TAGS, greater_is_better=False, display="ValueDisplay")

    scoring: Literal["auc", "accuracy"] = "auc"
    estimator: Classifier = None
    _: KW_ONLY
    n_folds: Annotated[int, Interval(2)] = 5
    test_size: OpenFraction = 0.5
    max_sequences: Annotated[int, Interval(20)] | None = MAX_ROWS
    columns: Columns = None
    random_state: Seed = 0

    def _classifier_test(self) -> ClassifierTwoSampleTest:
        return ClassifierTwoSampleTest(
            self.scoring,
            self.estimator,
            n_folds=self.n_folds,
            test_size=self.test_size,
            max_rows=self.max_sequences,
            random_state=self.random_state,
        )

    def _features(self, context: RelationalContext, table: str) -> Context | None:
        return feature_context(context, table, self.columns, self.random_state)

    def _of_tables(self, context: RelationalContext, tables: tuple[str, ...]) -> Result:
        scores: dict[str, float] = {}
        intervals: list[tuple[float, float] | None] = []
        warnings: list[MetricWarning] = []
        for table in tables:
            features = self._features(context, table)
            if features is None:
                scores[table] = float("nan")
                continue
            # only the value, because the test is computed by `evaluate`
            result = self._classifier_test().fit_context(features.real)._result(features)
            scores[table] = result.value
            intervals.append(result.interval)
            warnings += result.warnings
        result = mean_of_columns(
            scores,
            n_total=len(tables),
            unit="table",
            greater_is_better=False,
            warnings=tuple(warnings),
        )
        return replace(result, interval=mean_interval(intervals))

    def _in_relation(self, context: Context, result: Result) -> Result:
        if math.isnan(result.value):
            return result
        relational = cast("RelationalContext", context)
        tested = {}
        for table, score in result.details["columns"].items():
            features = self._features(relational, table)
            if features is not None and not math.isnan(score):
                test = self._classifier_test().fit_context(features.real)
                tested[table] = test.evaluate_context(features)
        p_values = [r.p_value for r in tested.values() if r.p_value is not None]
        result = replace(
            result,
            p_value=min(1.0, len(p_values) * min(p_values)) if p_values else None,
            details={**result.details, "tables": {name: r.details for name, r in tested.items()}},
            warnings=(*result.warnings, *(w for r in tested.values() for w in r.warnings)),
        )
        result = super()._in_relation(context, result)
        return result if result.baseline is not None else replace(result, baseline=0.5)

    def _summary(self, result: Result) -> str:
        what = "sequences on the right side" if self.scoring == "accuracy" else "pairs in order"
        table = result.details["worst"]["column"]
        features = list(result.details["tables"][table]["top_features"])[:2]
        return (
            f"A classifier is correct for {percent(result.value)} of unseen {what} (50% "
            "expected by "
            f"chance). The most important features in {table} are "
            f"{' and '.join(map(str, features))}."
        )
