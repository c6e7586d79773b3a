"""Texts as vectors of length 1, what is nearest to them, and contrasts of what they score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse

from skeval.context import Context, shared
from skeval.stats.relabelling import exchange_p_value, relabelling_test
from skeval.tables.embedding import vectors_of
from skeval.tables.transformers import learned
from skeval.text.corpus import Corpus, corpus, words

_BLOCK = 2**24  # products held at once
Vectors = Any  # csr_array or ndarray of shape (n_texts, n_features), each row of length 1 or 0


@shared
def text_vectors(
    context: Context, columns: tuple[str, ...], group: str | None = None, vectorizer: Any = "tfidf"
) -> Vectors:
    """Return a vector for each distinct text of all tables; what is learned is of the real ones.

    Parameters
    ----------
    context : Context
        The tables.
    columns : tuple of str
        Where texts stand.
    group : str, optional
        The column of authors.
    vectorizer : "tfidf", transformer or object with encode, default="tfidf"
        Words weighted by how rare they are among the real texts; a transformer of scikit-learn,
        sparse or dense, which learns from these unless it is fitted; or a sentence embedder.
    """
    texts = corpus(context, columns, group)
    real = texts.numbers("train", "holdout")
    if isinstance(vectorizer, str):
        return _unit(_tfidf(context, columns, group, real))
    everything = texts.texts.tolist()
    if hasattr(vectorizer, "encode"):
        return _unit(vectors_of(vectorizer, everything))
    fitted = learned(vectorizer, sorted(everything[i] for i in real))
    features = fitted.transform(everything)
    if issparse(features):
        return _unit(csr_array(features, dtype=np.float64))
    return _unit(vectors_of(fitted, everything))


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


def _unit(vectors: Vectors) -> Vectors:
    if issparse(vectors):
        lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
        return csr_array(diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ vectors)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def mean_cosine_distance(vectors: Vectors) -> np.ndarray:
    """Return the mean cosine distance of each vector of length 1 to all others.

    The mean of scalar products is the product with the mean: no pair is looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.text.vectors import mean_cosine_distance
    >>> mean_cosine_distance(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    array([0.5, 0.5, 1. ])
    """
    n = vectors.shape[0]
    own = np.asarray((vectors * vectors).sum(axis=1)).reshape(-1)
    totals = np.asarray(vectors @ np.asarray(vectors.sum(axis=0)).reshape(-1))
    return 1.0 - (totals - own) / max(n - 1, 1)


def nearest_similarity(
    vectors: Vectors, queries: np.ndarray, others: np.ndarray, n_kept: int = 1, *, itself: bool
) -> np.ndarray:
    """Return the largest scalar products of each query with any of the others.

    Parameters
    ----------
    vectors : csr_array or ndarray
        Of all texts; no number of a sparse one is negative.
    queries, others : ndarray of int
        Numbers of texts. The others ascend.
    n_kept : int, default=1
        How many.
    itself : bool
        Whether a query that is one of the others counts.

    Returns
    -------
    ndarray of shape (n_queries, n_kept)
        Descending, rounded to 9 decimals, so that equal ones are equal; -inf where there are no
        more.
    """
    own = np.full(queries.size, -1) if itself else _places(queries, others)
    if issparse(vectors) and (vectors.nnz == 0 or vectors.data.min() >= 0):
        mine, theirs = vectors[queries], vectors[others].tocsc()
        from skeval.neighbors.text_kernels import largest_products  # numba is imported on use

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


def _places(queries: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return where each query stands among the others, -1 for nowhere."""
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
    """Return the largest values of each query, descending; -inf where there are no more.

    Parameters
    ----------
    nearness : callable
        Returns the values of some queries with all others, shape (n, n_others).
    queries : ndarray of int
        Numbers of texts.
    own : ndarray of int of shape (n_queries,)
        Which of the others does not count; -1 for none.
    n_others, n_kept : int
        How many there are, and how many are kept.
    """
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
    """Return the largest similarity of each query with any of the others; 1 where it is one."""
    similarity = nearest_similarity(vectors, queries, others, itself=True)[:, 0]
    return np.clip(np.where(np.isin(queries, others), 1.0, similarity), 0.0, 1.0)


def exchanged(
    texts: Corpus, chosen: np.ndarray, scores: np.ndarray, *, n_permutations: int, seed: int
) -> float:
    """Return how often texts of train score so much above those of the holdout by chance.

    Parameters
    ----------
    texts : Corpus
        Who holds which text.
    chosen : ndarray of int
        Numbers of the texts that are scored; the choice and the scores depend on no label.
    scores : ndarray of shape (n_chosen,)
        In [0, 1].
    n_permutations, seed : int
        Of the relabellings of documents, or authors.

    Returns
    -------
    float
        One-sided p-value of the mean over the texts that train has, less that over those that the
        holdout has; exact where each unit has one text, scored 0 or 1. nan if a table has none.
    """
    holders = texts.holders[chosen]
    units = np.unique(holders.indices)
    n_train = int((units < texts.n_train).sum())
    if n_train == 0 or n_train == units.size:
        return float("nan")
    if holders.nnz == units.size and np.diff(holders.indptr).max() == 1:
        kept = np.diff(holders.indptr) == 1
        is_train, once = holders.indices < texts.n_train, np.ones(units.size, dtype=np.int64)
        sides = ((scores[kept][side], once[side]) for side in (is_train, ~is_train))
        train, holdout = sides
        return exchange_p_value([(train, holdout)], n_permutations=n_permutations, seed=seed)
    held = csr_array(holders[:, units], dtype=np.float32)

    def difference(labels: np.ndarray) -> np.ndarray:
        means = []
        for side in (labels, ~labels):
            there = held @ side.astype(np.float32) > 0
            means.append((scores @ there) / np.maximum(there.sum(axis=0), 1))
        return means[0] - means[1]

    return relabelling_test(
        difference, n_train, units.size - n_train, n_permutations=n_permutations, seed=seed
    ).p_value
