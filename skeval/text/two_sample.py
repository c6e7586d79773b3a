"""The classifier two-sample test of texts: can a classifier tell synthetic from real ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from skeval.context import Context
from skeval.fidelity.two_sample import ClassifierTwoSampleTest
from skeval.parameters import AnyColumns, Interval, OpenFraction, Seed
from skeval.steps.classifiers import LINEAR, MAX_ROWS, TREE, Chosen, Classifier, named
from skeval.steps.texts import text_columns
from skeval.tables.embedding import Vectorizer
from skeval.tags import TEXT_TAGS


class TextTwoSampleTest(ClassifierTwoSampleTest):
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
        Of scikit-learn; it sees a sparse matrix, unless the vectors are dense. The default is a
        logistic regression. It and gradient boosting of small trees are run in any case, and stand
        in ``details["models"]``.
    test : {"holdout", "permutation"}, default="holdout"
        The p-value is of unseen texts after one split, or of permuted labels, for which the
        classifier is fitted `n_folds` times a permutation.
    n_folds : int, default=5
        Number of folds behind the value.
    test_size : float, default=0.5
        Share of the synthetic texts that the classifier of the test does not see.
    n_permutations : int, default=199
        Number of permutations.
    max_rows : int or None, default=10_000
        Rows of each table that are looked at, a seeded sample.
    columns : None, int or list of str, default=None
        The text columns: all, the first *n*, or these. Other columns are not looked at.
    random_state : int, default=0
        Seed of samples, folds, permutations and classifiers.

    Attributes
    ----------
    context_ : Context
        The real tables.

    See Also
    --------
    skeval.fidelity.ClassifierTwoSampleTest : Of all columns together.
    TextPRD : Whether kinds of texts are invented, or lost.

    Notes
    -----
    Value, interval, p-value and details are those of
    :class:`~skeval.fidelity.ClassifierTwoSampleTest`. Words and their weights are learned from the
    texts that the classifier learns from, and from no other: the texts of the test are exchangeable
    under the null, and its p-value exact. In a column of missing texts, that a text is missing is a
    feature. No word stands in the result: ``details["top_features"]`` names columns.

    TF-IDF does not see the order of words, nor how long a text is; see :class:`NGramSimilarity` and
    :class:`TextLengthSimilarity`. A text that stands in both tables has opposite labels, so that
    copies of train score below 0.5, which is no sign of fidelity.

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

    def __init__(
        self,
        scoring: Literal["accuracy", "auc"] = "accuracy",
        vectorizer: Vectorizer = "tfidf",
        estimator: Classifier = None,
        test: Literal["holdout", "permutation"] = "holdout",
        *,
        n_folds: Annotated[int, Interval(2)] = 5,
        test_size: OpenFraction = 0.5,
        n_permutations: Annotated[int, Interval(19)] = 199,
        max_rows: Annotated[int, Interval(20)] | None = MAX_ROWS,
        columns: AnyColumns = None,
        random_state: Seed = 0,
    ) -> None:
        self.scoring = scoring
        self.estimator = estimator
        self.test = test
        self.n_folds = n_folds
        self.test_size = test_size
        self.n_permutations = n_permutations
        self.max_rows = max_rows
        self.columns = columns
        self.random_state = random_state
        self.vectorizer = vectorizer

    def _prepare(self, context: Context) -> None:
        text_columns(context.schema, self.columns)

    def _read(self, context: Context) -> Chosen:
        return Chosen((), text_columns(context.schema, self.columns), self.vectorizer)

    def _models(self) -> dict[str, Any]:
        given = {} if self.estimator is None else named([self.estimator])
        return {**given, LINEAR: LINEAR, TREE: TREE}
