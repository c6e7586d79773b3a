"""Texts of a style of their own: which they are, and whether they turn up again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import Context
from skeval.exceptions import MetricWarning
from skeval.text import StylisticOutliers
from skeval.text.stylistic_outliers import (
    kinds_of_characters,
    nearest_negative_distance,
    style_vectors,
)
from tests.snapshots import raises, warns

SCHEMA = {"note": "text"}
WORDS = [
    *["the", "a", "of", "and", "to", "in", "is", "was", "for", "on"],
    *(f"thing{i}" for i in range(300)),
]


def plain(seed, n):
    rng = np.random.default_rng(seed)
    weights = np.array([0.05] * 10 + [0.5 / 300] * 300)
    return [" ".join(rng.choice(WORDS, 25, p=weights)).capitalize() + "." for _ in range(n)]


def loud(seed, n):
    return [text.upper().replace(" ", "! ", 6) for text in plain(seed, n)]


def quoting(seed, n):
    return [", ".join(f'"{w}"' for w in text.split()) for text in plain(seed, n)]


def numeric(seed, n):
    return [" ".join(f"{w}{i * 37}" for i, w in enumerate(t.split())) for t in plain(seed, n)]


def table(*parts):
    return pd.DataFrame({"note": [text for part in parts for text in part]})


@pytest.fixture(scope="module")
def styles():
    """A few odd texts in train and as many in the holdout; the release has those of train."""
    train = table(plain(0, 200), loud(10, 8))
    holdout = table(plain(1, 200), quoting(11, 8))
    return train, holdout, table(plain(2, 200), loud(12, 30))


def test_a_style_that_turns_up_again_is_found(styles):
    train, holdout, synthetic = styles
    result = StylisticOutliers().fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    assert result.p_value < 0.01
    assert result.contrast.supports_leak
    assert result.details["by_words"]["p_value"] > 0.05  # the words are everyone's


def test_a_style_of_the_holdout_is_none(styles):
    train, holdout, synthetic = styles
    result = StylisticOutliers().fit(holdout, train, schema=SCHEMA).evaluate(synthetic)
    assert result.p_value > 0.5


def test_labels_of_authors_change_places(styles):
    train, holdout, synthetic = styles
    alone = [f"p{i}" for i in range(200)]
    one = [
        t.assign(who=[*(f"{s}{n}" for n in alone), *[s] * 8])
        for s, t in zip("th", styles, strict=False)
    ]
    tables = (*one, synthetic.assign(who="x"))
    schema = {**SCHEMA, "who": "id"}
    fitted = StylisticOutliers(group="who").fit(*tables[:2], schema=schema)
    by_author = fitted.evaluate(tables[2]).p_value
    by_text = StylisticOutliers().fit(train, holdout, schema=SCHEMA).evaluate(synthetic).p_value
    assert by_author > 0.05 > by_text  # one author of each table: a coin


def test_outliers_are_the_odd_texts(styles):
    train, holdout, synthetic = styles
    metric = StylisticOutliers(share=16 / 416).fit(train, holdout, schema=SCHEMA)
    details = metric.evaluate(synthetic).details
    assert sum(details["n_outliers"]) == 16
    assert min(details["n_outliers"]) >= 6
    assert details["distances"]["of_outliers"] > 2 * details["distances"]["of_all"]


def test_repeated_words_are_found_by_words():
    """An outlier of words that nobody else uses: neither capitals nor commas give it away."""
    rare = [" ".join(f"rare{i}x{j}" for j in range(25)) for i in range(24)]
    tables = [table(plain(0, 200), rare[:12]), table(plain(1, 200), rare[12:])]
    synthetic = table(plain(2, 200), [f"{text} again" for text in rare[:12]])
    for features in ("tfidf", "word2vec"):
        metric = StylisticOutliers(features, share=0.08).fit(*tables, schema=SCHEMA)
        p_value = metric.evaluate(synthetic).p_value
        assert (p_value < 0.01) == (features == "tfidf")


def test_word2vec_gives_equal_bits(styles):
    train, holdout, synthetic = styles
    results = [
        StylisticOutliers("word2vec").fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
        for _ in range(2)
    ]
    assert results[0].details["distances"] == results[1].details["distances"]


def test_word2vec_without_frequent_words():
    train, holdout = table(["one two", "three"]), table(["four", "five six"])
    metric = StylisticOutliers("word2vec", share=0.9).fit(train, holdout, schema=SCHEMA)
    assert metric.score(table(["seven"])) == 0.25  # all are alike: one of four others


def test_no_gensim_is_said(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with raises(ImportError):
        StylisticOutliers("word2vec").fit(table(["a b"]), table(["c d"]), schema=SCHEMA)


def test_outliers_all_of_the_holdout():
    train, holdout = table(plain(0, 40)), table(plain(1, 36), loud(2, 4))
    metric = StylisticOutliers(share=0.02).fit(train, holdout, schema=SCHEMA)
    with warns(MetricWarning):
        assert np.isnan(metric.evaluate(table(plain(3, 20))).value)


def test_characters_are_counted_in_blocks():
    texts = ["Ab1, ", "", "x" * 3_000_000, "é?!", "中文。"]
    counts = kinds_of_characters(texts)
    assert counts.sum(axis=1).tolist() == [len(text) for text in texts]
    assert counts[2, 0] == 3_000_000
    assert counts[4].tolist() == [0, 0, 2, 0, 0, 0, 1, 0, 0, 0]


def test_nearest_by_style_agrees_with_all_pairs():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 6))
    queries, others = np.arange(10), np.arange(5, 40)
    squared = ((vectors[queries, None] - vectors[None, others]) ** 2).sum(axis=2)
    squared[queries[:, None] == others] = np.inf
    got = nearest_negative_distance(vectors, queries, others, 4, itself=False)
    np.testing.assert_allclose(got, -np.sort(squared, axis=1)[:, :4], atol=2e-6)


def test_features_are_standard_over_the_real_texts(styles):
    context = Context.of(*styles[:2], schema=SCHEMA).with_synthetic(styles[2])
    vectors = style_vectors(context, ("note",), None)
    assert np.isfinite(vectors).all()
    assert np.abs(vectors).max() <= 10.0
