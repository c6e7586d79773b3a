"""Membership inference on texts: by words, by vectors, by author."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import HashingVectorizer

from skeval.text import TextMembershipInference
from tests.calibrations import Claim, rate_of

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


def of_authors(rng, first, n_authors=15, n_each=10):
    """Texts of authors who have words of their own, some of them common ones and some rare."""
    notes, authors = [], []
    for author in range(first, first + n_authors):
        own = rng.zipf(1.3, 8) % 800
        share = rng.uniform(0.0, 1.0)
        for _ in range(n_each):
            mine = rng.random(15) < share
            words = np.where(mine, rng.choice(own, 15), rng.zipf(1.3, 15) % 800)
            notes.append(" ".join(f"w{word}" for word in words))
            authors.append(f"a{author}")
    return pd.DataFrame({"note": notes, "author": authors})


def covers(seed, group):
    """Return whether the interval holds 0.5 where nothing was learned of anybody."""
    rng = np.random.default_rng(seed)
    train, holdout, synthetic = (of_authors(rng, 15 * k) for k in range(3))
    metric = TextMembershipInference(group=group, n_permutations=19)
    schema = {"note": "text", "author": "categorical"}
    low, high = metric.fit(train, holdout, schema=schema).evaluate(synthetic).interval
    return low <= 0.5 <= high


def test_the_interval_knows_the_authors():
    """As many texts of as few authors say less than they would if each were of another."""
    rng = np.random.default_rng(0)
    tables = [of_authors(rng, 15 * k) for k in range(3)]
    schema = {"note": "text", "author": "categorical"}
    widths = []
    for group in (None, "author"):
        metric = TextMembershipInference(group=group, n_permutations=19)
        result = metric.fit(*tables[:2], schema=schema).evaluate(tables[2])
        widths.append(np.diff(result.interval)[0])
        attack = result.details["attacks"]["nearest_synthetic_text"]
        assert attack["interval"] == list(result.interval)
    assert widths[1] > 1.2 * widths[0]


@pytest.mark.slow
def test_the_interval_holds_one_half_where_authors_repeat_themselves():
    found = rate_of((covers(seed, "author") for seed in range(200)), Claim(0.95, 0.91, 0.99))
    assert found.holds, found
