"""Membership inference on texts: by words, by vectors, by author."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from skeval.text import TextMembershipInference

SCHEMA = {"note": "text"}


def texts(seed, n=120):
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{k}" for k in rng.zipf(1.4, 30) % 4000) for _ in range(n)]


def rewritten(originals, seed):
    rng = np.random.default_rng(seed)
    parts = (np.array(text.split()) for text in originals)
    return [" ".join(rng.permutation(part)[:22]) + " and so on" for part in parts]


def table(notes, **columns):
    return pd.DataFrame({"note": notes, **columns})


class Directions:
    """A static embedder: each word is a direction, each text the mean of those of its words."""

    def encode(self, texts):
        hashed = HashingVectorizer(n_features=4000, norm="l1", alternate_sign=False)
        directions = np.random.default_rng(0).normal(size=(4000, 200)).astype(np.float32)
        return hashed.transform(texts) @ directions


@pytest.fixture(scope="module")
def tables():
    train, holdout = texts(0), texts(1)
    return table(train), table(holdout), table(rewritten(train, 2))


@pytest.mark.parametrize(
    "vectorizer", ["tfidf", HashingVectorizer(alternate_sign=False), Directions()]
)
def test_rewritten_texts_are_found(tables, vectorizer):
    train, holdout, synthetic = tables
    metric = TextMembershipInference(vectorizer).fit(train, holdout, schema=SCHEMA)
    result = metric.evaluate(synthetic)
    assert result.value > 0.85
    assert result.p_value < 1e-6
    assert result.interval[0] <= result.value <= result.interval[1]
    assert result.details["tpr_at_fpr"][0]["tpr"] > 0.5
    assert result.details["alert"]
    assert metric.evaluate(table(texts(5))).p_value > 0.01


def test_copies_rank_first(tables):
    train, holdout, _ = tables
    assert TextMembershipInference().fit(train, holdout, schema=SCHEMA).score(train) == 1.0


def test_labels_of_authors_change_places(tables):
    schema = {**SCHEMA, "who": "id"}
    train, holdout, synthetic = (
        t.assign(who=list(np.repeat([*names], 40)))
        for t, names in zip(tables, ("abc", "def", "xyz"), strict=True)
    )
    fitted = TextMembershipInference(group="who").fit(train, holdout, schema=schema)
    result = fitted.evaluate(synthetic)
    assert result.value > 0.9
    assert 0.02 < result.p_value < 0.1  # 1 of the 20 choices of three authors in six


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_texts_of_both_tables_are_no_evidence(tables):
    train, holdout, synthetic = tables
    more = [f"shared {i} text" for i in range(60)]
    both = [table([*t["note"], *more]) for t in (train, holdout)]
    alone = TextMembershipInference().fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    shared = TextMembershipInference().fit(*both, schema=SCHEMA).evaluate(table(more))
    assert shared.p_value > 0.2
    assert shared.value == pytest.approx(0.5, abs=0.1)
    assert alone.value > shared.value


def test_samples_are_drawn_of_both(tables):
    train, holdout, synthetic = tables
    metric = TextMembershipInference(max_texts=30).fit(train, holdout, schema=SCHEMA)
    curve = metric.evaluate(synthetic).details["curve"]
    assert (curve["n_members"], curve["n_others"]) == (30, 30)


def test_its_curve_is_drawn(tables):
    train, holdout, synthetic = tables
    result = TextMembershipInference().fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    assert len(result.display().frame()) > 2
