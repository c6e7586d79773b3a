"""Words as hashes, runs of them, features of texts: exact on texts that are easy to count."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from skeval import Context
from skeval.exceptions import InvalidParameterError
from skeval.steps.samples import holdout_in_place
from skeval.steps.texts import text_columns, text_numbers, text_source, units_of

TRAIN = ["to be or not to be", "that is the question", None, "to be", ""]
HOLDOUT = ["whether it is nobler", "to be or not to be"]
SYNTHETIC = ["to be", "to be", "question the question", None]
ODD = [
    "",
    "   ",
    "\U0001f642\U0001f643",
    "word",
    "שלום עולם",
    "e\u0301t\u00e9",
    "नमस्ते दुनिया",
    "日本語",
]


class Encoder:
    """Counts of letters, as an embedder that knows no fit."""

    def encode(self, texts):
        return np.array([[text.count(letter) for letter in "aeiou"] for text in texts], dtype=float)


def context_of(*tables):
    train, *others = [pd.DataFrame({"note": pd.Series(rows, dtype=object)}) for rows in tables]
    synthetic = others.pop() if others else train
    real = Context.of(train, others[0] if others else None, schema={"note": "text"})
    return real.with_synthetic(synthetic)


CONTEXT = context_of(TRAIN, HOLDOUT, SYNTHETIC)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_counts_runs_of_words(n):
    words = [text.split() for text in TRAIN if text]
    runs = Counter(tuple(own[i : i + n]) for own in words for i in range(len(own) - n + 1))
    units = units_of(CONTEXT, "train", "note", "words", n)
    assert sorted(units.counts()) == sorted(runs.values())


def test_runs_of_characters_do_not_reach_over_texts():
    units = units_of(context_of(["ab", "ba", "a"]), "train", "note", "characters", 2)
    assert units.counts().tolist() == [1, 1]
    np.testing.assert_array_equal(units.row_lengths, [1, 1, 0])


def test_lengths_of_odd_texts():
    context = context_of([*ODD, None, "x " * 500_000])
    words, characters = (units_of(context, "train", "note", u) for u in ("words", "characters"))
    np.testing.assert_array_equal(words.row_lengths, [0, 0, 0, 1, 2, 1, 2, 3, np.nan, 500_000])
    # composed first: two letters with accents are three characters with the one between
    np.testing.assert_array_equal(characters.row_lengths[:6], [0, 3, 2, 4, 9, 3])


def test_equal_words_of_two_tables_have_one_key():
    train, synthetic = (units_of(CONTEXT, role, "note") for role in ("train", "synthetic"))
    assert len(np.intersect1d(train.keys, synthetic.keys)) == 4  # to, be, the, question
    accents = context_of(["\u00c9t\u00e9", "e\u0301te\u0301"])
    assert units_of(accents, "train", "note").keys.size == 1


def test_rows_in_the_synthetic_place_are_not_read_again(monkeypatch):
    fresh = holdout_in_place(CONTEXT, 1, seed=0)
    before = units_of(CONTEXT, "holdout", "note")
    monkeypatch.setattr("skeval.steps.texts._hash_units", None)
    units = units_of(fresh, "synthetic", "note")
    assert units.keys is before.keys
    assert units.which.size == 1


def test_numbers_tell_texts_apart_in_all_tables():
    numbers = {role: text_numbers(CONTEXT, role, ["note"])[:, 0] for role in ("train", "synthetic")}
    np.testing.assert_array_equal(np.isnan(numbers["train"]), [False, False, True, False, False])
    assert numbers["synthetic"][0] == numbers["synthetic"][1] == numbers["train"][3]
    frame = text_numbers(CONTEXT, CONTEXT.synthetic, ["note"])
    np.testing.assert_array_equal(frame[:, 0], numbers["synthetic"])


def test_tfidf_is_that_of_scikit_learn():
    texts = [text for text in TRAIN + HOLDOUT if text]
    context = context_of(texts)
    numbers = text_numbers(context, "train", ["note"])[:, 0]
    ours = text_source(context, "note").encoder(numbers).transform(numbers).toarray()
    theirs = TfidfVectorizer(token_pattern=r"\w+", min_df=2).fit_transform(texts).toarray()
    np.testing.assert_array_equal(ours[:, -1], 0.0)  # none is missing
    gram, expected = ours[:, :-1] @ ours[:, :-1].T, theirs @ theirs.T
    np.testing.assert_allclose(gram, expected, atol=1e-12)


def test_encoders_learn_from_the_texts_they_are_given():
    numbers = text_numbers(CONTEXT, "train", ["note"])[:, 0]
    encoder = text_source(CONTEXT, "note").encoder(numbers[[1, 1]])  # that is the question
    features = encoder.transform(numbers).toarray()
    assert features.shape == (5, 5)
    np.testing.assert_allclose((features[:, :4] ** 2).sum(axis=1), [0, 1, 0, 0, 0])
    np.testing.assert_array_equal(features[:, 4], [0, 0, 1, 0, 0])


@pytest.mark.parametrize("vectorizer", [Encoder(), HashingVectorizer(n_features=8)])
def test_other_vectors(vectorizer):
    numbers = text_numbers(CONTEXT, "train", ["note"])[:, 0]
    encoder = text_source(CONTEXT, "note", vectorizer).encoder(numbers)
    features = encoder.transform(numbers)
    assert features.shape[0] == 5
    again = text_source(CONTEXT, "note", vectorizer, CONTEXT.synthetic).encoder(numbers)
    dense = [
        f.toarray() if hasattr(f, "toarray") else f for f in (features, again.transform(numbers))
    ]
    np.testing.assert_allclose(*dense)


def test_columns_of_texts():
    schema = CONTEXT.schema.with_kinds(note="text")
    assert (
        text_columns(schema, None)
        == text_columns(schema, 3)
        == text_columns(schema, ["note"])
        == ("note",)
    )
    with pytest.raises(InvalidParameterError, match="columns names age"):
        text_columns(schema, ["age"])
