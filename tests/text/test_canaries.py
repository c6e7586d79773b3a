"""Canaries: their making, and what a release betrays of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import InvalidParameterError, TableError
from skeval.text import TextCanaryExposure, make_canaries
from skeval.text.canaries import exposures
from tests.snapshots import raises

SCHEMA = {"note": "text"}


def texts(seed, n=150):
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{k}" for k in rng.zipf(1.3, 30) % 3000) for _ in range(n)]


def table(notes):
    return pd.DataFrame({"note": notes})


@pytest.fixture(scope="module")
def canaries():
    return make_canaries(texts(0), 5, 199, random_state=1)


def test_canaries_begin_like_texts_and_end_in_rare_words(canaries):
    openings = {" ".join(text.split()[:10]) for text in texts(0)}
    every = [*canaries.planted, *canaries.references]
    assert len(set(every)) == 204
    assert all(" ".join(canary.split()[:10]) in openings for canary in every)
    counts = pd.Series(" ".join(texts(0)).split()).value_counts()
    assert counts[[word for canary in every for word in canary.split()[10:]]].max() <= 2
    assert canaries == make_canaries(texts(0), 5, 199, random_state=1)


@pytest.mark.parametrize("trace", ["coverage", "span"])
def test_planted_canaries_are_exposed(canaries, trace):
    metric = TextCanaryExposure(*canaries, trace=trace).fit(table(texts(0)), schema=SCHEMA)
    leaked = [
        f"{text[:80]} {' '.join(c.split()[8:16])}"
        for text, c in zip(texts(2), canaries.planted, strict=False)
    ]
    result = metric.evaluate(table([*texts(3), *leaked]))
    assert result.value > 6.0
    assert result.p_value < 0.001
    assert max(result.details["p_values"]) < 0.05
    assert result.details["greatest"] <= result.details["greatest_possible"] == np.log2(200)


def test_an_innocent_release_exposes_none(canaries):
    metric = TextCanaryExposure(*canaries).fit(table(texts(0)), schema=SCHEMA)
    p_values = [metric.evaluate(table(texts(seed))).p_value for seed in range(4, 12)]
    assert min(p_values) > 0.005


def test_exposure_is_rank_in_bits():
    references = np.arange(1.0, 8.0)
    assert exposures(np.array([9.0]), references) == 3.0
    assert exposures(np.array([0.0]), references) == 0.0
    assert exposures(np.array([5.0]), np.full(7, 5.0)) == 3.0 - np.log2(4.5)


def test_one_planted_canary_has_the_p_value_of_its_rank():
    references = [f"x{i} y{i} z{i}" for i in range(19)]
    metric = TextCanaryExposure(["a b c"], references).fit(table(["q r", "s t"]), schema=SCHEMA)
    result = metric.evaluate(table(["so a b c it is", "and x3 too"]))
    assert result.p_value == pytest.approx(1 / 20, rel=0.3)
    assert result.details["p_values"] == [1 / 20]


def test_no_text_is_planted_and_a_reference():
    with raises(InvalidParameterError):
        TextCanaryExposure(["a", "b"], ["b", "c"]).fit(table(["x y", "z"]), schema=SCHEMA)


def test_too_few_words_are_said():
    with raises(TableError):
        make_canaries(["a b c"], 10, 1000, suffix_words=2)
    with raises(TableError):
        make_canaries([" "], 1, 1)
    with raises(InvalidParameterError):
        make_canaries(texts(0), 0)
