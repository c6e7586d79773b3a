"""The classifier two-sample test of texts: can a classifier tell synthetic from real ones."""

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
    """Accuracy of telling synthetic from real texts: 0.5 if no classifier can, 1 if one always can.

    A reader is shown one text at a time and says whether it is synthetic. Here the reader is a
    classifier that has learned from other texts of both tables; it goes by which words they have,
    or by the vectors of an embedder. Language models write fluent texts that a classifier tells at
    once, by a few pet words: this is a strict test, and its size says how strict it was.

    Parameters
    ----------
    scoring : {"accuracy", "auc"}, default="accuracy"
        Share of texts that are called rightly, or share of pairs of a synthetic and a real text in
        which the synthetic one has the higher score.
    vectorizer : "tfidf", transformer or object with `encode`, default="tfidf"
        What makes features of texts. "tfidf": the 1,000 most frequent words of those that two texts
        have, weighted by their rarity, each text of length 1. A transformer of scikit-learn is
        fitted on the texts that each classifier learns from; an object with `encode`, such as a
        sentence embedder, is taken as it is.
    estimator : classifier, optional
        A classifier of scikit-learn; it sees a sparse matrix, unless the vectors are dense. The
        default is a logistic regression. It and gradient boosting of small trees are run in any
        case, and are in ``details["models"]``.
    columns : None, int or list of str, default=None
        The text columns: all, the first *n*, or these. Other columns are not looked at.

    See Also
    --------
    skeval.fidelity.ClassifierTwoSampleTest : The test of all columns together.
    TextPRD : Whether kinds of texts are invented, or lost.

    Notes
    -----
    Value, interval, p-value and details are those of
    :class:`~skeval.fidelity.ClassifierTwoSampleTest`. Words and their weights are learned from the
    texts that the classifier learns from, and from no other: the texts of the test are exchangeable
    under the null, and its p-value exact. In a column of missing texts, that a text is missing is a
    feature. No word is in the result: ``details["top_features"]`` names columns.

    TF-IDF does not see the order of words, nor how long a text is; see :class:`NGramSimilarity` and
    :class:`TextLengthSimilarity`. Equal texts are in one fold, so that copies of train
    score 0.5, and the summary says that they are copies.

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
