"""Vectors of texts by any embedder: scikit-learn's transformers, sentence embedders."""

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

_MAX_FEATURES = 4096  # of a matrix that is dense
EMBEDDER = "a transformer of scikit-learn that takes texts, or an object with encode(texts)"


def is_embedder(value: object) -> bool:
    """Return whether `value` turns texts into vectors: by `encode`, or as scikit-learn's do."""
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
    """Return the vectors of texts by an object with `encode`, or by a fitted transformer."""
    encode = getattr(embedder, "encode", None) or embedder.transform
    vectors = encode(list(texts))
    if issparse(vectors) and vectors.shape[1] <= _MAX_FEATURES:
        vectors = vectors.toarray()
    kind = type(embedder).__name__
    if issparse(vectors):
        raise InvalidParameterError(
            f"{kind} gives {vectors.shape[1]:,} features a text; reduce them, such as by "
            "make_pipeline(TfidfVectorizer(), TruncatedSVD(100))."
        )
    matrix = np.asarray(vectors, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != len(texts) or not np.isfinite(matrix).all():
        raise InvalidParameterError(
            f"{kind} must give one vector of finite numbers a text, got an array of shape "
            f"{matrix.shape} for {len(texts)} texts."
        )
    return matrix


class TextEmbedder(TransformerMixin, BaseEstimator):
    """Text columns as vectors: unrelated texts at a distance of 1, as levels of a category are."""

    # Vectors have a length of the square root of 1/2, so that the distance of two texts is at
    # most the square root of 2, and 1 where their vectors are at right angles. A missing text
    # is at 1 from all others.

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
        """Return the vectors of all columns side by side, and for each whether it is missing."""
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
