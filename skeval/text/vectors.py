"""Texts as vectors of length 1, and the texts that are nearest to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from skeval.core.context import Context, shared
from skeval.tables.embedding import vectors_of
from skeval.tables.transformers import fitted_transformer
from skeval.text.corpus import corpus, words

_BLOCK = 2**24  # products in memory at the same time
Vectors = Any  # csr_array or ndarray of shape (n_texts, n_features), each row of length 1 or 0


@shared
def text_vectors(
    context: Context, columns: tuple[str, ...], group: str | None = None, vectorizer: Any = "tfidf"
) -> Vectors:
    """Return a vector for each distinct text, from features fitted on the real texts."""
    texts = corpus(context, columns, group)
    real = texts.numbers("train", "holdout")
    if isinstance(vectorizer, str):
        return unit_rows(_tfidf(context, columns, group, real))
    everything = texts.texts.tolist()
    if hasattr(vectorizer, "encode"):
        return unit_rows(vectors_of(vectorizer, everything))
    fitted = fitted_transformer(vectorizer, sorted(everything[i] for i in real))
    features = fitted.transform(everything)
    if issparse(features):
        return unit_rows(csr_array(features, dtype=np.float64))
    return unit_rows(vectors_of(fitted, everything))


def _tfidf(
    context: Context, columns: tuple[str, ...], group: str | None, real: np.ndarray
) -> csr_array:
    of_texts = words(context, columns, group)
    counts = csr_array(
        (np.ones(of_texts.ids.size), of_texts.ids, of_texts.starts),
        shape=(of_texts.lengths.size, of_texts.n_distinct),
        copy=True,  # what is remembered is read-only
    )
    counts.sum_duplicates()
    n_texts = np.bincount(counts[real].indices, minlength=of_texts.n_distinct)
    counts.data = 1.0 + np.log(counts.data)
    idf = np.log((1.0 + real.size) / (1.0 + n_texts)) + 1.0
    counts.data *= idf[counts.indices]
    return counts


def unit_rows(vectors: Vectors) -> Vectors:
    """Return rows scaled to length 1. Rows of length 0 are not changed."""
    if issparse(vectors):
        lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
        return csr_array(diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ vectors)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def mean_cosine_distance(vectors: Vectors) -> np.ndarray:
    """Return the mean cosine distance of each vector of length 1 to all others."""
    # The mean of the scalar products is the product with the mean, so no pairs are needed.
    n = vectors.shape[0]
    own = np.asarray((vectors * vectors).sum(axis=1)).reshape(-1)
    totals = np.asarray(vectors @ np.asarray(vectors.sum(axis=0)).reshape(-1))
    return 1.0 - (totals - own) / max(n - 1, 1)


def nearest_similarity(
    vectors: Vectors, queries: np.ndarray, others: np.ndarray, n_kept: int = 1, *, itself: bool
) -> np.ndarray:
    """Return the largest scalar products of each query with any of the others."""
    own = np.full(queries.size, -1) if itself else places_among(queries, others)
    if issparse(vectors) and (vectors.nnz == 0 or vectors.data.min() >= 0):
        mine, theirs = vectors[queries], vectors[others].tocsc()
        from skeval.neighbors.text_kernels import largest_products

        largest = largest_products(
            mine.indptr.astype(np.int64),
            mine.indices.astype(np.int64),
            mine.data,
            theirs.indptr.astype(np.int64),
            theirs.indices.astype(np.int64),
            theirs.data,
            others.size,
            own,
            n_kept,
        )
        return np.round(np.where(largest < 0.0, -np.inf, largest), 9)

    def products(rows: np.ndarray) -> np.ndarray:
        found = vectors[rows] @ vectors[others].T
        return np.asarray(found.toarray() if issparse(found) else found)

    return largest_in_blocks(products, queries, own, others.size, n_kept)


def places_among(queries: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the place of each query among the others, -1 for none."""
    places = np.searchsorted(others, queries)
    inside = np.append(others, -1)[places] == queries
    return np.where(inside, places, -1)


def largest_in_blocks(
    nearness: Callable[[np.ndarray], np.ndarray],
    queries: np.ndarray,
    own: np.ndarray,
    n_others: int,
    n_kept: int,
) -> np.ndarray:
    """Return the largest values of each query in descending order, padded with -inf."""
    largest = np.full((queries.size, n_kept), -np.inf)
    k = min(n_kept, n_others)
    n_blocks = max(1, -(-queries.size * n_others // _BLOCK))
    for part in np.array_split(np.arange(queries.size), n_blocks) if k else []:
        values = nearness(queries[part])
        mine = np.flatnonzero(own[part] >= 0)
        values[mine, own[part][mine]] = -np.inf
        best = np.partition(values, n_others - k, axis=1)[:, n_others - k :]
        largest[part, :k] = -np.sort(-best, axis=1)
    return np.round(largest, 9)


def copied_or_nearest(vectors: Vectors, queries: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the largest similarity of each query with any of the others, or 1 for copies."""
    similarity = nearest_similarity(vectors, queries, others, itself=True)[:, 0]
    return np.clip(np.where(np.isin(queries, others), 1.0, similarity), 0.0, 1.0)
