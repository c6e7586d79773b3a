"""Features of texts and of other columns for classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack, issparse

from skeval.exceptions import InvalidParameterError
from skeval.tables.preprocessing import OneHot, Ranks
from skeval.tables.transformers import fitted_transformer

_MAX_WORDS, _MIN_TEXTS = 1000, 2  # words that are features occur in at least two texts
_MAX_INDEXED = np.iinfo(np.int32).max
Features = Any  # ndarray, or csr_array
_DENSE_BYTES = 2**30  # memory limit for classifiers that do not accept sparse features


class TextEncoder(Protocol):
    """Features of texts, learned from some of the texts."""

    def transform(self, numbers: np.ndarray) -> Features:
        """Return the features of texts by their numbers, shape (n_texts, n_features)."""


@dataclass(frozen=True)
class TextSource:
    """The distinct texts of a column over all tables, from which encoders learn."""

    numbers: np.ndarray
    counts: csr_array
    texts: np.ndarray
    vectors: np.ndarray
    vectorizer: Any

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Return the places of texts by their numbers, with missing texts after the last."""
        places = np.searchsorted(self.numbers, numbers)
        return np.where(np.isnan(numbers), self.numbers.size, places)

    def encoder(self, numbers: np.ndarray) -> TextEncoder:
        """Learn features from the texts of these numbers, including repeated numbers."""
        rows = self.rows(numbers[~np.isnan(numbers)])
        if isinstance(self.vectorizer, str):
            return _TfIdf.from_rows(self, rows)
        if hasattr(self.vectorizer, "encode"):
            seen = self.vectors[rows] if rows.size else self.vectors[-1:]
            scales = seen.std(axis=0)
            return _Embedded(self, seen.mean(axis=0), np.where(scales > 1e-9, scales, 1.0))
        return _Fitted(self, fitted_transformer(self.vectorizer, [*self.texts[rows]] or [""]))


@dataclass(frozen=True)
class _TfIdf:
    """TF-IDF features of frequent words with norm 1, and an indicator of missing texts."""

    source: TextSource
    kept: np.ndarray
    weights: np.ndarray

    @classmethod
    def from_rows(cls, source: TextSource, rows: np.ndarray) -> _TfIdf:
        counts = source.counts[rows]
        n_texts = np.bincount(counts.indices, minlength=counts.shape[1])
        totals = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1])
        order = np.argsort(-totals, kind="stable")
        kept = np.sort(order[n_texts[order] >= _MIN_TEXTS][:_MAX_WORDS])
        return cls(source, kept, np.log((1.0 + rows.size) / (1.0 + n_texts[kept])) + 1.0)

    def transform(self, numbers: np.ndarray) -> Features:
        weighted = self.source.counts[self.source.rows(numbers)][:, self.kept] @ diags_array(
            self.weights, shape=(self.kept.size, self.kept.size)
        )
        norms = np.sqrt(weighted.multiply(weighted).sum(axis=1))
        unit = diags_array(1.0 / np.maximum(norms, 1e-12)) @ weighted
        missing = np.isnan(numbers)[:, None].astype(np.float64)
        return hstack_features([csr_array(unit), missing])


@dataclass(frozen=True)
class _Embedded:
    """Vectors of an embedder, standardized with the texts that were learned."""

    source: TextSource
    centres: np.ndarray
    scales: np.ndarray

    def transform(self, numbers: np.ndarray) -> Features:
        vectors = (self.source.vectors[self.source.rows(numbers)] - self.centres) / self.scales
        return np.column_stack([vectors, np.isnan(numbers)])


@dataclass(frozen=True)
class _Fitted:
    """Features of texts from a custom transformer."""

    source: TextSource
    transformer: Any

    def transform(self, numbers: np.ndarray) -> Features:
        texts = np.append(self.source.texts, "")[self.source.rows(numbers)]
        features = self.transformer.transform([*texts])
        return csr_array(features) if issparse(features) else np.asarray(features, dtype=float)


def hstack_features(parts: Sequence[Features]) -> Features:
    """Return concatenated features, sparse if a part is, with 32-bit indices for trees."""
    if not any(map(issparse, parts)):
        return np.hstack(parts)
    joined = csr_array(hstack([csr_array(part) for part in parts], format="csr"))
    if max(joined.nnz, *joined.shape) <= _MAX_INDEXED:
        joined.indices = joined.indices.astype(np.int32, copy=False)
        joined.indptr = joined.indptr.astype(np.int32, copy=False)
    return joined


@dataclass(frozen=True)
class WithTexts:
    """Encoder of rows whose last columns are numbers of texts."""

    plain: Ranks | OneHot
    texts: list[TextEncoder]
    shift: float
    dense_for: str = ""

    def transform(self, rows: np.ndarray) -> Features:
        """Return the features, sparse if text features are and the classifier accepts them."""
        features = hstack_features(self._parts(rows))
        if not (self.dense_for and issparse(features)):
            return features
        if (n_bytes := 8 * np.prod(features.shape, dtype=float)) > _DENSE_BYTES:
            raise InvalidParameterError(
                f"{self.dense_for} requires dense features. The features of the texts, "
                f"{features.shape[0]:,} rows and {features.shape[1]:,} columns, would need "
                f"{n_bytes / 2**30:,.1f} GiB, and the limit is 1 GiB. Pass a classifier that "
                "accepts sparse features, or a vectorizer with fewer features, such as "
                "make_pipeline(TfidfVectorizer(), TruncatedSVD(100))."
            )
        return features.toarray()

    @property
    def owners(self) -> np.ndarray:
        """The column of the rows to which each feature belongs."""
        none = np.full((1, len(self.plain.nominal) + len(self.texts)), np.nan)
        n_first, *n_texts = [part.shape[1] for part in self._parts(none)]
        places = len(self.plain.nominal) + np.arange(len(n_texts))
        return np.concatenate([self.plain.owners[:n_first], np.repeat(places, n_texts)])

    def _parts(self, rows: np.ndarray) -> list[Features]:
        n_plain = len(self.plain.nominal)
        numbers = rows[:, n_plain:].T
        texts = [one.transform(own) for one, own in zip(self.texts, numbers, strict=True)]
        return [self.plain.transform(rows[:, :n_plain]) + self.shift, *texts]


def reads_sparse(estimator: Any) -> bool:
    """Return whether a classifier accepts sparse features, which is assumed by default."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return True
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.sparse)
