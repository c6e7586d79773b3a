"""Passages that texts share: their lengths, and whose they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.text import LongestCommonSubstring, NGramNovelty

SCHEMA = {"note": "text"}


def table(texts):
    return pd.DataFrame({"note": texts})


def sentences(seed, n=80, length=40):
    rng = np.random.default_rng(seed)
    common = 1.0 / np.arange(3, 2003)
    words = rng.choice(2000, (n, length), p=common / common.sum())
    return [" ".join(f"w{k}" for k in row) for row in words]


@pytest.fixture(scope="module")
def spliced():
    """Train, holdout, and texts of which a tenth hold fifteen words in a row of a train text."""
    train, holdout, fresh = (sentences(seed) for seed in range(3))
    for i in range(8):
        quoted = " ".join(train[i].split()[5:20])
        fresh[i] = f"{fresh[i][:60]} xx {quoted} xx {fresh[i][60:]}"
    return [table(texts) for texts in (train, holdout, fresh)]


def test_longest_run_is_that_of_difflib():
    from difflib import SequenceMatcher

    train, synthetic = sentences(0, 12), sentences(1, 12)
    expected = [
        max(
            SequenceMatcher(None, s.split(), t.split(), autojunk=False).find_longest_match().size
            for t in train
        )
        for s in synthetic
    ]
    metric = LongestCommonSubstring().fit(table(train), schema=SCHEMA)
    assert metric.score(table(synthetic)) == pytest.approx(np.mean(expected))


def test_quoted_passages_are_found(spliced):
    train, holdout, synthetic = spliced
    metric = LongestCommonSubstring(max_words=12).fit(train, holdout, schema=SCHEMA)
    result = metric.evaluate(synthetic)
    assert result.p_value < 0.01
    assert result.value > result.baseline + 0.8
    assert result.fact == (
        "8 of 80 distinct synthetic texts repeat 12 words or more "
        "of a training text, and none repeats as many of a holdout text."
    )
    assert result.details["to_train"]["longest"] == 15
    assert metric.evaluate(holdout).p_value > 0.9


def test_equal_tables_have_the_contrast_that_was_tested(spliced):
    train, holdout, synthetic = spliced
    result = LongestCommonSubstring().fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    exact = result.value - result.details["to_holdout"]
    assert result.details["difference"] == pytest.approx(exact, abs=0.05)


def test_new_phrases_are_counted():
    train, synthetic = table(["a b c d", "x y"]), table(["a b c e", "x y", "z", "b c d a"])
    novelty = NGramNovelty(n=2).fit(train, schema=SCHEMA)
    # of 3 + 1 + 1 + 3 pairs (one text is a word alone) train has ab, bc, xy, bc, cd
    assert novelty.score(synthetic) == pytest.approx(3 / 8)


def test_repeated_phrases_are_found(spliced):
    train, holdout, synthetic = spliced
    result = NGramNovelty(n=4).fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    assert result.p_value < 0.01
    assert result.contrast.supports_leak
    assert result.value < result.baseline


def test_short_texts_are_one_run_each():
    train, synthetic = table(["ok then", "yes"]), table(["yes", "no", "ok then"])
    assert NGramNovelty(n=5).fit(train, schema=SCHEMA).score(synthetic) == pytest.approx(1 / 3)
