"""Vectors of texts, nearest ones, and contrasts of scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skeval import Context
from skeval.text.corpus import corpus, text_exchange_p_value
from skeval.text.vectors import mean_cosine_distance, nearest_similarity, text_vectors

TEXTS = [
    f"{a} {b} of the {c}" for a in ("red", "blue", "old") for b in ("hat", "car") for c in "wxyz"
]


def context(train, holdout, synthetic, **columns):
    tables = [pd.DataFrame({"note": texts}) for texts in (train, holdout, synthetic)]
    for name, parts in columns.items():
        tables = [t.assign(**{name: part}) for t, part in zip(tables, parts, strict=True)]
    schema = {"note": "text", **dict.fromkeys(columns, "id")}
    return Context.of(*tables[:2], schema=schema).with_synthetic(tables[2])


class Lengths:
    """An embedder of three numbers."""

    def encode(self, texts):
        return np.array([[len(t), t.count("e") + 1, t.count("a")] for t in texts], dtype=np.float32)


VECTORIZERS = {
    "tfidf": "tfidf",
    "sparse": TfidfVectorizer(),
    "dense": make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0)),
    "embedder": Lengths(),
}


@pytest.mark.parametrize("vectorizer", VECTORIZERS.values(), ids=VECTORIZERS)
def test_vectors_have_length_one(vectorizer):
    given = context(TEXTS[:9], TEXTS[9:18], [*TEXTS[18:], "unknown"])
    vectors = text_vectors(given, ("note",), None, vectorizer)
    lengths = np.sqrt((vectors * vectors).sum(axis=1))
    assert vectors.shape[0] == 25
    np.testing.assert_allclose(lengths[:-1], 1.0)


def test_own_tfidf_is_that_of_scikit_learn():
    given = context(TEXTS[:12], TEXTS[12:], TEXTS[:5])
    theirs = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+").fit_transform(sorted(TEXTS))
    ours = text_vectors(given, ("note",))
    np.testing.assert_allclose((ours @ ours.T).toarray(), (theirs @ theirs.T).toarray())


@pytest.mark.parametrize("dense", [True, False])
def test_nearest_agrees_with_all_pairs(dense):
    rng = np.random.default_rng(0)
    vectors = rng.random((40, 30)) * (rng.random((40, 30)) < 0.2)
    queries, others = np.array([3, 1, 30, 8]), np.arange(2, 35)
    products = vectors[queries] @ vectors[others].T
    given = vectors if dense else csr_array(vectors)
    got = nearest_similarity(given, queries, others, 3, itself=True)
    np.testing.assert_allclose(got, -np.sort(-products, axis=1)[:, :3], atol=1e-9)
    products[queries[:, None] == others] = -1.0
    got = nearest_similarity(given, queries, others, 40, itself=False)
    expected = -np.sort(-products, axis=1)
    np.testing.assert_allclose(got[:, :32], expected[:, :32], atol=1e-9)
    assert np.isneginf(got[:, 33:]).all()


def test_mean_distance_needs_no_pairs():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    distances = 1.0 - vectors @ vectors.T
    expected = distances.sum(axis=1) / 19
    np.testing.assert_allclose(mean_cosine_distance(vectors), expected)
    np.testing.assert_allclose(mean_cosine_distance(csr_array(vectors)), expected)


@pytest.mark.slow
def test_scores_are_exchanged_by_author_or_text():
    authors = [list("aabbccdd"), list("eeffgghh"), ["z"] * 8]
    given = context(TEXTS[:8], TEXTS[8:16], TEXTS[16:], who=authors)
    settings = {"n_permutations": 999, "seed": 0}
    for group, least in ((None, 1 / 12870), ("who", 1 / 70)):
        texts = corpus(given, ("note",), group)
        chosen = texts.numbers("train", "holdout")
        p_value = text_exchange_p_value(
            texts, chosen, texts.held["train"][chosen] * 1.0, **settings
        )
        assert p_value == pytest.approx(least, rel=0.01 if group is None else 0.6)


def test_a_text_of_both_tables_counts_in_both():
    given = context(["a b", "c d", "e f"], ["a b", "g h", "i j"], ["x"])
    texts = corpus(given, ("note",))
    chosen = texts.numbers("train", "holdout")
    scores = np.where(texts.texts[chosen] == "a b", 1.0, 0.0)
    assert text_exchange_p_value(texts, chosen, scores, n_permutations=99, seed=0) > 0.3
    only = texts.numbers("train")[1:]
    assert np.isnan(
        text_exchange_p_value(texts, only, np.ones(only.size), n_permutations=99, seed=0)
    )
