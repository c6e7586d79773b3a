"""Copies of texts, exact and near: known values, groups, and what is said of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.exceptions import MetricWarning
from skeval.text import LongestCommonSubstring, NearDuplicateText, NGramNovelty, TextExactMatch
from tests.snapshots import warns

SCHEMA = {"note": "text"}
AUTHORS = {"note": "text", "author": "id"}


def notes(*texts, **columns):
    return pd.DataFrame({"note": list(texts), **columns})


def numbered(start, n=60):
    rng = np.random.default_rng(start)
    return [" ".join(f"w{k}" for k in rng.integers(0, 5000, 12)) for _ in range(n)]


def test_each_form_counts_once():
    train, synthetic = notes("Ab  c", "d"), notes("ab c", "AB C", "ab c ", "e", "d.")
    assert TextExactMatch().fit(train, schema=SCHEMA).score(synthetic) == 1 / 3
    assert TextExactMatch(form="exact").fit(train, schema=SCHEMA).score(synthetic) == 0.0


def test_copies_are_a_fact_and_a_leak():
    train, holdout, fresh = (notes(*numbered(seed)) for seed in range(3))
    synthetic = pd.concat([fresh, train[:8]])
    result = TextExactMatch().fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    assert result.value == 8 / 68
    assert result.p_value < 0.01
    assert result.contrast.supports_leak
    assert result.fact.startswith(
        "8 of 68 distinct synthetic texts equal a training text, and all of these"
    )
    assert result.baseline == result.details["to_holdout"] == 0.0


@pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
def test_a_common_text_is_no_leak():
    train, holdout, fresh = (notes(*numbered(seed), *["see above"] * 9) for seed in range(3))
    result = TextExactMatch().fit(train, holdout, schema=SCHEMA).evaluate(fresh)
    assert result.value == pytest.approx(1 / 61)
    assert result.baseline == pytest.approx(1 / 61)
    assert result.p_value > 0.5


def test_without_a_holdout_there_is_a_value():
    for metric in (TextExactMatch(), NearDuplicateText(), LongestCommonSubstring(), NGramNovelty()):
        result = metric.fit(notes(*numbered(0)), schema=SCHEMA).evaluate(notes(*numbered(0)))
        assert result.p_value is None
        assert result.value == {"LongestCommonSubstring": 12.0, "NGramNovelty": 0.0}.get(
            type(metric).__name__, 1.0
        )


def test_one_author_is_one_leak():
    """Twenty copied texts of one author say as little as one: labels of authors change places."""
    texts = [numbered(seed, 20) for seed in range(11)]
    train, holdout = (
        notes(*[t for part in parts for t in part], author=np.repeat(names, 20))
        for parts, names in ((texts[:5], list("abcde")), (texts[5:10], list("fghij")))
    )
    synthetic = notes(*texts[0], *texts[10], author=["z"] * 40)
    metric = TextExactMatch().fit(train, holdout, schema=AUTHORS)
    assert metric.evaluate(synthetic).p_value < 0.001
    by_author = TextExactMatch(group="author").fit(train, holdout, schema=AUTHORS)
    assert by_author.evaluate(synthetic).p_value == pytest.approx(0.5, abs=0.05)
    all_of_train = notes(*train["note"], author=["z"] * 100)
    assert by_author.evaluate(all_of_train).p_value < 0.02


def test_authors_in_both_tables_do_not_change_places():
    train, holdout = notes("a b", "c d", author=["x", "y"]), notes("e f", "g h", author=["y", "x"])
    metric = TextExactMatch(group="author").fit(train, holdout, schema=AUTHORS)
    with warns(MetricWarning):
        result = metric.evaluate(train)
    assert result.value == 1.0
    assert result.p_value is None
    assert result.details["n_authors_in_both"] == 2


def test_near_copies_with_edits_are_found():
    train, holdout, fresh = (notes(*numbered(seed)) for seed in range(3))
    edited = [text.replace("w1", "x1", 1) for text in train["note"][:10]]
    swapped = [" ".join(text.split()[::-1]) for text in train["note"][10:20]]
    synthetic = pd.concat([fresh, notes(*edited, *swapped)])
    result = NearDuplicateText(threshold=0.7).fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    assert result.value == pytest.approx(20 / 80)
    assert result.p_value < 0.001
    assert TextExactMatch().fit(train, holdout, schema=SCHEMA).score(synthetic) < 0.1


def test_short_texts_are_near_by_letters():
    train, synthetic = notes("Johann Smith", "none"), notes("Johan Smith", "Jon Schmidt")
    assert NearDuplicateText().fit(train, schema=SCHEMA).score(synthetic) == 0.5
    assert NearDuplicateText(edit_length=0).fit(train, schema=SCHEMA).score(synthetic) == 0.0


def test_near_texts_agree_with_all_pairs():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefghij"), 8)) + " tail" * 9 for _ in range(90)]
    train, synthetic = notes(*texts[:50]), notes(*texts[50:])
    sets = [set(text.split()) for text in texts]
    near = [
        any(len(s & t) / len(s | t) >= 0.75 for t in sets[:50])
        for s in dict(zip(texts[50:], sets[50:], strict=True)).values()
    ]
    metric = NearDuplicateText(threshold=0.75).fit(train, schema=SCHEMA)
    assert metric.score(synthetic) == pytest.approx(np.mean(near))
