"""Texts in spaces of neighbours: distances of vectors, and what an embedder must give."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skeval import TablePreprocessor
from skeval.exceptions import InvalidParameterError
from skeval.privacy import DCRShare, MembershipInference
from skeval.tables.embedding import TextEmbedder, vectors_of
from tests.snapshots import raises

SCHEMA = {"note": "text"}
RNG = np.random.default_rng(0)
WORDS = np.array([f"word{i}" for i in range(300)])


class Letters:
    def encode(self, texts):
        return [[text.count(letter) for letter in "abc"] for text in texts]


def notes(n_rows):
    words = RNG.choice(WORDS, (n_rows, 6))
    return pd.DataFrame({"note": [" ".join(row) for row in words], "x": RNG.normal(size=n_rows)})


TRAIN, HOLDOUT, SYNTHETIC = (notes(80) for _ in range(3))


def test_unrelated_texts_are_at_1_and_missing_ones_too():
    frame = pd.DataFrame({"note": ["a", "b", "aa", None, "ab", ""]})
    rows = TextEmbedder(Letters()).fit(frame).transform(frame)
    distances = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    assert distances[0, 1] == distances[0, 3] == pytest.approx(1.0)
    assert distances[0, 2] == pytest.approx(0.0, abs=1e-12)
    assert distances[0, 4] == pytest.approx(np.sqrt(1 - 1 / np.sqrt(2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "embedder",
    [
        make_pipeline(TfidfVectorizer(), TruncatedSVD(30, random_state=0)),
        HashingVectorizer(n_features=512),
    ],
    ids=["transformer", "hashing"],
)
def test_neighbours_find_copied_texts(embedder):
    space = TablePreprocessor(embedder=embedder)
    leaky = SYNTHETIC.assign(note=TRAIN["note"].to_numpy())
    for metric in (DCRShare(space=space), MembershipInference("distance", space=space)):
        metric.fit(TRAIN, HOLDOUT, schema=SCHEMA)
        assert metric.evaluate(leaky).p_value < 0.01 < metric.evaluate(SYNTHETIC).p_value


def test_declared_texts_are_texts_in_the_space():
    short = TRAIN.assign(note=["yes", "no"] * 40)
    space = TablePreprocessor(embedder=CountVectorizer())
    metric = DCRShare(space=space).fit(short, short[::-1].assign(x=HOLDOUT["x"]), schema=SCHEMA)
    assert 0.0 <= metric.score(SYNTHETIC) <= 1.0


@pytest.mark.slow
def test_the_classifier_of_membership_reads_texts():
    train, holdout, reference, synthetic = (notes(120) for _ in range(4))
    leaky = synthetic.assign(note=train["note"].to_numpy())
    for given in (reference, None):  # or half the holdout
        with_texts, without = (
            MembershipInference("classifier", given, text=text)
            .fit(train, holdout, schema=SCHEMA)
            .evaluate(leaky)
            for text in ("tfidf", None)
        )
        assert with_texts.value > without.value
        assert without.p_value > 0.01
        assert given is None or with_texts.p_value < 0.01


def test_what_an_embedder_must_give():
    wide = HashingVectorizer(n_features=2**14)
    with raises(InvalidParameterError):
        vectors_of(wide, ["a"])
    flat = type("Flat", (), {"encode": lambda self, texts: np.zeros(len(texts))})()
    with raises(InvalidParameterError):
        vectors_of(flat, ["a", "b"])
    with raises(InvalidParameterError):
        TablePreprocessor(SCHEMA, space="gower", embedder=Letters()).fit(TRAIN)
    with raises(InvalidParameterError):
        TablePreprocessor(SCHEMA, embedder="tfidf").fit(TRAIN)
    space = TablePreprocessor(SCHEMA, embedder=Letters())
    assert clone(space).embedder.encode(["abc"]) == [[1, 1, 1]]
    assert space.fit_transform(TRAIN).shape == (80, 6)
