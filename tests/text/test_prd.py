"""Precision and recall of texts: lost and invented kinds, the frontier's known values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from skeval.text import TextPRD
from skeval.text.prd import frontier_area

SCHEMA = {"note": "text"}
KINDS = ("the bill was much too high", "a meter is broken again", "please call me back soon")


def notes(n_rows, seed, kinds=KINDS):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"note": [f"{rng.choice(kinds)} {rng.integers(50)}" for _ in range(n_rows)]}
    )


class Encoder:
    def encode(self, texts):
        return HashingVectorizer(n_features=16).transform(texts).toarray()


TRAIN, HOLDOUT, FRESH = notes(150, 0), notes(150, 1), notes(150, 2)
LOST, INVENTED = notes(150, 3, KINDS[:1]), notes(150, 4, (*KINDS, "quite another story", "no idea"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
@pytest.mark.parametrize("vectorizer", ["tfidf", TfidfVectorizer(), Encoder()])
def test_lost_and_invented_kinds(vectorizer):
    metric = TextPRD(vectorizer, n_clusters=5, n_runs=3).fit(TRAIN, HOLDOUT, schema=SCHEMA)
    fresh, lost, invented = (metric.evaluate(table) for table in (FRESH, LOST, INVENTED))
    assert abs(fresh.value - fresh.baseline) < 0.06
    assert lost.details["f_beta"] < 0.6 < 0.9 < lost.details["f_beta_inv"]
    assert invented.details["f_beta_inv"] < 0.9 < invented.details["f_beta"]
    assert lost.details["frontier"] < invented.details["frontier"] < fresh.details["frontier"]
    assert set(fresh.details["holdout"]) >= {"precision", "recall", "frontier"}


def test_headlines():
    for headline in ("auc", "frontier"):
        metric = TextPRD(headline=headline, n_clusters=5, n_runs=2).fit(TRAIN, schema=SCHEMA)
        result = metric.evaluate(LOST)
        assert result.value == result.details[headline]
        assert metric.score(TRAIN) == pytest.approx(1.0, abs=1e-3)


def test_frontier_of_equal_and_of_disjoint_shares():
    p, q = np.array([0.2, 0.8, 0.0]), np.array([0.5, 0.5, 0.0])
    assert frontier_area(p, p) == pytest.approx(1.0)
    assert frontier_area(p, q) == pytest.approx(frontier_area(q, p))
    assert frontier_area(p, np.array([0.0, 0.0, 1.0])) < 0.01


@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_odd_texts_have_values():
    odd = pd.DataFrame(
        {"note": ["", " ", "\U0001f642", "one", "שלום", "e\u0301", "日本語", None] * 5}
    )
    assert TextPRD().fit(odd, odd, schema=SCHEMA).score(odd) == pytest.approx(1.0)
    same = pd.DataFrame({"note": ["same"] * 40})
    assert TextPRD().fit(same, schema=SCHEMA).score(same) == pytest.approx(1.0)
    assert 0.0 <= TextPRD().fit(same, schema=SCHEMA).score(odd) < 0.5
    assert np.isnan(TextPRD().fit(same, schema=SCHEMA).score(odd[:10]))


@pytest.mark.slow
def test_the_interval_of_value_minus_baseline_is_of_halves_of_the_texts(thirds):
    """Clusters stay: what is drawn is which texts fill them."""
    settings = {"n_components": 5, "n_clusters": 8, "n_runs": 3}
    train, holdout, fresh = thirds(0, 200)
    metric = TextPRD(**settings).fit(train, holdout, schema={"text": "text"})
    near = metric.evaluate(fresh).difference
    assert near[0] < 0.0 < near[1]
    one = holdout.sort_values("text").head(50)  # of a few articles, each paragraph four times
    assert metric.evaluate(fresh.assign(text=list(one["text"]) * 4)).difference[1] < near[1]
    assert metric.evaluate(fresh).difference == near
    few = TextPRD(**settings).fit(train, holdout.head(15), schema={"text": "text"})
    assert few.evaluate(fresh).difference is None
