"""Embedding of texts with scikit-learn transformers or sentence embedders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin

from skeval.exceptions import InvalidParameterError
from skeval.tables.transformers import fitted_transformer, with_fitted_transformers
from skeval.utils.parameters import Legal

_MAX_FEATURES = 4096  # maximum number of features of a dense matrix
EMBEDDER = "a scikit-learn transformer that accepts texts, or an object with encode(texts)"


def is_embedder(value: object) -> bool:
    """Return whether `value` has the method `encode`, or the methods of a transformer."""
    transforms = all(hasattr(value, name) for name in ("fit", "transform", "get_params"))
    return not isinstance(value, type | str) and (hasattr(value, "encode") or transforms)


Embedder = Annotated[
    Any,
    Legal(f"None, {EMBEDDER}", lambda value: value is None or is_embedder(value), "no embedder"),
]
Vectorizer = Annotated[
    Any,
    Legal(
        f"'tfidf', {EMBEDDER}",
        lambda value: value == "tfidf" if isinstance(value, str) else is_embedder(value),
        "no such option",
    ),
]


def vectors_of(embedder: Any, texts: Sequence[str]) -> np.ndarray:
    """Compute the vectors of texts with an object with `encode`, or with a fitted transformer."""
    encode = getattr(embedder, "encode", None) or embedder.transform
    vectors = encode(list(texts))
    if issparse(vectors) and vectors.shape[1] <= _MAX_FEATURES:
        vectors = vectors.toarray()
    kind = type(embedder).__name__
    if issparse(vectors):
        raise InvalidParameterError(
            f"{kind} returns {vectors.shape[1]:,} features per text, but at most "
            f"{_MAX_FEATURES:,} are supported. Reduce them, for example with "
            "make_pipeline(TfidfVectorizer(), TruncatedSVD(100))."
        )
    matrix = np.asarray(vectors, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != len(texts) or not np.isfinite(matrix).all():
        raise InvalidParameterError(
            f"{kind} must return one vector of finite numbers per text, got an array of shape "
            f"{matrix.shape} for {len(texts)} texts."
        )
    return matrix


class TextEmbedder(TransformerMixin, BaseEstimator):
    """Encode text columns as vectors, such that unrelated texts have distance 1."""

    # Two categories have distance 1, too. Vectors have a length of sqrt(1/2), so the distance of
    # two texts is at most sqrt(2), and 1 if their vectors are orthogonal. A missing text has
    # distance 1 from all other texts.

    def __init__(self, embedder: Embedder = None) -> None:
        self.embedder = embedder

    def __sklearn_clone__(self) -> Self:
        return with_fitted_transformers(super().__sklearn_clone__(), self)

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Learn from the distinct texts of each column."""
        self.embedders_ = {
            name: self.embedder
            if hasattr(self.embedder, "encode")
            else fitted_transformer(self.embedder, sorted(set(_present(values))) or [""])
            for name, values in X.items()
        }
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return the vectors of all columns, each followed by an indicator of missing texts."""
        parts = []
        for name, embedder in self.embedders_.items():
            which, distinct = pd.factorize(X[name].map(str, na_action="ignore"))
            vectors = vectors_of(embedder, [*distinct, ""])
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = vectors / np.maximum(lengths, 1e-12)
            vectors[-1] = 0.0
            parts += [vectors[which], (which < 0)[:, None]]
        return np.column_stack(parts) / np.sqrt(2.0)


def _present(values: pd.Series) -> list[str]:
    return [str(value) for value in values.dropna()]
