"""Lengths, words and runs of texts: known answers, baselines, odd texts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon

from skeval import Context
from skeval.exceptions import InvalidParameterError, MissingInputError
from skeval.fidelity import KSComplement
from skeval.text import NGramSimilarity, TextLengthSimilarity, VocabularySimilarity
from tests.snapshots import raises

SCHEMA = {"note": "text"}
WORDS = np.array([f"word{i}" for i in range(200)])
WEIGHTS = 1.0 / np.arange(1, 201)


def notes(n_rows, seed, shift=0):
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(8 + shift, n_rows)
    return pd.DataFrame(
        {"note": [" ".join(rng.choice(WORDS, k, p=WEIGHTS / WEIGHTS.sum())) for k in lengths]}
    )


TRAIN, HOLDOUT, SYNTHETIC = notes(300, 0), notes(200, 1), notes(300, 2)
ALL = [TextLengthSimilarity, VocabularySimilarity, NGramSimilarity]


def runs(table, n):
    words = [text.split() for text in table["note"]]
    return Counter(tuple(own[i : i + n]) for own in words for i in range(len(own) - n + 1))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_ngrams_against_counting(n):
    first, second = runs(TRAIN, n), runs(SYNTHETIC, n)
    keys = sorted({*first, *second})
    p, q = (np.array([counts[key] for key in keys], dtype=float) for counts in (first, second))
    metric = NGramSimilarity(n).fit(TRAIN, schema=SCHEMA)
    assert metric.score(SYNTHETIC) == pytest.approx(1 - jensenshannon(p, q, base=2), abs=1e-9)
    metric = NGramSimilarity(n, measure="tv").fit(TRAIN, schema=SCHEMA)
    tv = np.abs(p / p.sum() - q / q.sum()).sum() / 2
    assert metric.score(SYNTHETIC) == pytest.approx(1 - tv)


def test_vocabulary_against_counting():
    first, second = runs(TRAIN, 1), runs(SYNTHETIC.iloc[:20], 1)
    result = VocabularySimilarity("jaccard").fit(TRAIN, schema=SCHEMA).evaluate(SYNTHETIC.iloc[:20])
    assert result.value == pytest.approx(len({*first} & {*second}) / len({*first} | {*second}))
    new = sum(count for word, count in second.items() if word not in first)
    lost = sum(count for word, count in first.items() if word not in second)
    assert result.details["out_of_vocabulary"]["note"] == pytest.approx(new / second.total())
    assert result.details["lost"]["note"] == pytest.approx(lost / first.total())
    assert result.details["n_words"]["note"] == {"train": len(first), "synthetic": len(second)}


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_lengths_are_those_of_the_words_as_numbers():
    tables = [
        pd.DataFrame({"n": t["note"].str.split().str.len()}) for t in (TRAIN, HOLDOUT, SYNTHETIC)
    ]
    plain = KSComplement().fit(*tables[:2]).evaluate(tables[2])
    result = TextLengthSimilarity().fit(TRAIN, HOLDOUT, schema=SCHEMA).evaluate(SYNTHETIC)
    assert result.value == plain.value
    assert (result.baseline, result.p_value) == (plain.baseline, plain.p_value)
    # halves are drawn by what rows hold, here texts and there numbers
    assert result.interval == pytest.approx(plain.interval, abs=0.05)
    assert result.difference == pytest.approx(plain.difference, abs=0.05)
    assert result.metric == "TextLengthSimilarity"
    assert set(result.details["marginals"]["note"]["shares"]) == {"train", "holdout", "synthetic"}


@pytest.mark.parametrize(
    "metric", [VocabularySimilarity(), NGramSimilarity(), TextLengthSimilarity()]
)
def test_fresh_texts_are_as_good_as_the_baseline_and_others_are_not(metric):
    metric.fit(TRAIN, HOLDOUT, schema=SCHEMA)
    fresh = metric.evaluate(SYNTHETIC)
    low, high = fresh.difference
    assert low <= 0.0 <= high
    other = notes(300, 3, shift=4).replace(r"word(\d)\b", r"wort\1", regex=True)
    low, high = metric.evaluate(other).difference
    assert high < 0.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_odd_texts_have_values(kind):
    odd = [
        "",
        " ",
        "\U0001f642",
        "one",
        "שלום עולם",
        "e\u0301",
        "नमस्ते",
        "日本語",
        "x " * 500_000,
        None,
    ]
    table = pd.DataFrame({"note": odd})
    metric = kind().fit(table, table, schema=SCHEMA)
    assert metric.score(table) == pytest.approx(1.0)
    for texts in ([""] * 5, ["\U0001f642"] * 5, ["same same same"] * 5):
        one = pd.DataFrame({"note": texts})
        assert 0.0 <= kind().fit(table, table, schema=SCHEMA).score(one) <= 1.0


@pytest.mark.parametrize("kind", [VocabularySimilarity, NGramSimilarity])
@pytest.mark.filterwarnings("ignore::skeval.exceptions.DegenerateInputWarning")
def test_without_a_word(kind):
    empty, words = pd.DataFrame({"note": ["", ""]}), pd.DataFrame({"note": ["a b c", "d e"]})
    assert np.isnan(kind().fit(empty, schema=SCHEMA).score(words))
    assert kind().fit(words, schema=SCHEMA).score(empty) == 0.0


def test_asks_for_texts_by_name():
    with raises(MissingInputError):
        NGramSimilarity().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    with raises(InvalidParameterError):
        NGramSimilarity(columns=["x"]).fit(TRAIN.assign(x=1.0), schema=SCHEMA)


@pytest.mark.slow
def test_no_word_stands_in_a_result():
    secret = TRAIN.copy()
    secret.loc[3, "note"] = "my name is Aurelius Nightingale"
    for kind in ALL:
        text = kind().fit(secret, HOLDOUT, schema=SCHEMA).evaluate(secret).to_json().lower()
        assert "aurelius" not in text
        assert "nightingale" not in text


def test_memory_of_a_context_holds_no_word():
    known = []

    class Noted(Context):
        def recall(self, key, compute):
            known.append(super().recall(key, compute))
            return known[-1]

    VocabularySimilarity().fit_context(Noted.of(TRAIN, schema=SCHEMA)).score(SYNTHETIC)
    assert known
    assert "word1" not in repr(known)
