"""Classifier two-sample test of texts."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Any

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import TEXT_TAGS
from skeval.fidelity.two_sample import TwoSampleTest
from skeval.steps.classifiers import LINEAR, TREE, Chosen, Classifier
from skeval.steps.estimators import name_estimators
from skeval.steps.texts import text_columns
from skeval.tables.embedding import Vectorizer
from skeval.utils.parameters import AnyColumns


@declared
class TextTwoSampleTest(TwoSampleTest):
    """Accuracy of a classifier that separates synthetic from real texts.

    A classifier, which was trained on other texts of both tables, predicts for each text whether it
    is synthetic. It uses the words of the text, or the vectors of an embedder. Language models
    write fluent texts that a classifier recognizes by a few typical words. Therefore this test is
    strict, and the value indicates the size of the difference. The score ranges from 0.5
    (indistinguishable) to 1. Lower is better.

    Parameters
    ----------
    scoring : {"accuracy", "auc"}, default="accuracy"
        "accuracy" is the fraction of texts that are classified correctly. "auc" is the fraction of
        pairs of a synthetic and a real text in which the synthetic text has the higher score.
    vectorizer : "tfidf", transformer or object with `encode`, default="tfidf"
        Method that converts texts to features. "tfidf" uses the 1,000 most frequent words that
        occur in at least two texts, weighted by rarity, with vectors of length 1. A scikit-learn
        transformer is fitted on the training texts of each classifier. An object with `encode`,
        such as a sentence embedder, is used without fitting.
    estimator : classifier, optional
        A scikit-learn classifier, which receives a sparse matrix unless the vectors are dense. The
        default is a logistic regression. Logistic regression and gradient boosting of small trees
        are always run, and are in ``details["models"]``.
    columns : None, int or list of str, default=None
        Text columns to evaluate: all (None), the first *n*, or the named ones. Other columns are
        ignored.

    Warnings
    --------
    The default features ignore the order of words and the length of texts, and a few typical words
    are enough for a high value. Copies of training texts score 0.5.

    See Also
    --------
    skeval.fidelity.ClassifierTwoSampleTest : Tests all columns together.
    TextPRD : Finds kinds of texts that were invented or lost.

    Notes
    -----
    Value, interval, p-value and details are computed as in
    :class:`~skeval.fidelity.ClassifierTwoSampleTest`. Words and their weights are learned only from
    the training texts of the classifier. Therefore the test texts are exchangeable under the null
    hypothesis, and the p-value is exact. If texts of a column are missing, a feature indicates
    this. The result contains no words. ``details["top_features"]`` names columns.

    TF-IDF ignores the order of words and the length of texts. Use :class:`NGramSimilarity` and
    :class:`TextLengthSimilarity` to evaluate them. Equal texts are in the same fold, so copies of
    training texts score 0.5, and the summary reports them as copies.

    References
    ----------
    D. Lopez-Paz, M. Oquab, "Revisiting classifier two-sample tests", ICLR 2017, arXiv:1610.06545.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import TextTwoSampleTest
    >>> train = pd.DataFrame({"note": [f"call {i % 7} about bill {i}" for i in range(60)]})
    >>> metric = TextTwoSampleTest().fit(train, schema={"note": "text"})
    >>> synthetic = pd.DataFrame({"note": [f"invoice {i} was sent" for i in range(60)]})
    >>> metric.score(synthetic)
    1.0
    """

    tags = replace(TEXT_TAGS, greater_is_better=False, display="ValueDisplay")

    _rows_are = "text"

    vectorizer: Vectorizer = "tfidf"
    estimator: Classifier = None
    _: KW_ONLY
    columns: AnyColumns = None

    def _prepare(self, context: Context) -> None:
        text_columns(context.schema, self.columns)

    def _read(self, context: Context) -> Chosen:
        return Chosen((), text_columns(context.schema, self.columns), self.vectorizer)

    def _models(self) -> dict[str, Any]:
        given = {} if self.estimator is None else name_estimators([self.estimator])
        return {**given, LINEAR: LINEAR, TREE: TREE}
