"""Texts that nobody expects have defined values, and results quote none of them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skeval.exceptions import InvalidParameterError, MetricWarning
from skeval.text import (
    LongestCommonSubstring,
    NearDuplicateText,
    NGramNovelty,
    StylisticOutliers,
    TextCanaryExposure,
    TextExactMatch,
    TextMembershipInference,
)
from tests.snapshots import raises

SCHEMA = {"note": "text"}
METRICS = {
    "exact": TextExactMatch(),
    "near": NearDuplicateText(),
    "substring": LongestCommonSubstring(),
    "novelty": NGramNovelty(),
    "style": StylisticOutliers(),
    "words": StylisticOutliers("tfidf"),
    "membership": TextMembershipInference(),
    "canary": TextCanaryExposure(["one two three"], ["one two four", "zwei drei"]),
}
of_each = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
RARE = "only-this-person"
TEXTS = {
    "one word": ["yes", "no", "perhaps", "soon", "never", "later"],
    "emoji": ["😀", "😀😀", "👩‍👩‍👧", "🇮🇹🇫🇷", "😀 ok", "☃"],
    "right to left": ["שלום עולם", "مرحبا بالعالم", "سلام دنیا", "שלום", "السلام عليكم", "מה נשמע"],
    "combining": [
        "cafe\u0301 au lait",
        "café au lait",
        "a\u0300\u0301\u0302" * 3,
        "नमस्ते दुनिया",
        "हिन्दी भाषा",
        "e\u0301",
    ],
    "no spaces": [
        "我们今天去公园",
        "我们明天去公园",
        "สวัสดีชาวโลก",
        "こんにちは世界",
        "さようなら世界",
        "今天天气很好",
    ],
    "mixed": [
        "Hello мир 世界",
        "Привет world",
        "你好 world 😀",
        "مرحبا world",
        "Ğünler world",
        "hi",
    ],
    "surrogates": [
        "\ud800 broken",
        "half \udfff",
        "\x00 zero",
        "\u200b",
        "\u2028 line",
        "tab\tand\nline",
    ],
    "punctuation": ["!!!", "...", "?", "--", "(.)", "#"],
    "blank": ["", " ", "\n", "word", "", "a b"],
}


def table(texts) -> pd.DataFrame:
    return pd.DataFrame({"note": pd.Series(texts, dtype=object)})


def evaluated(metric, *tables):
    train, holdout, synthetic = map(table, tables)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        return metric.fit(train, holdout, schema=SCHEMA).evaluate(synthetic)


def is_defined(metric, result) -> bool:
    low, high = metric.tags.bounds
    return bool(low <= result.value <= high) or bool(result.warnings)


@of_each
@pytest.mark.parametrize("kind", TEXTS)
def test_odd_texts_have_values(metric, kind):
    texts = TEXTS[kind]
    for tables in ((texts[:3], texts[3:], texts[1:5]), (texts, texts, texts)):
        result = evaluated(metric, *tables)
        assert is_defined(metric, result)
        assert result.p_value is None or 0.0 < result.p_value <= 1.0 or np.isnan(result.p_value)


@of_each
def test_tables_of_one_text(metric):
    assert is_defined(metric, evaluated(metric, ["a b c"] * 9, ["a b c"] * 9, ["a b c"] * 9))
    assert is_defined(metric, evaluated(metric, ["a b c"] * 9, ["d e f"] * 9, ["a b c"] * 9))


@of_each
def test_no_text_at_all_is_said(metric):
    result = evaluated(metric, ["a b", "c d"], ["e f", "g h"], ["", None])
    assert np.isnan(result.value)
    assert "synthetic" in str(result.warnings[0])


@pytest.mark.slow
@of_each
def test_texts_of_a_megabyte(metric):
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(3000)])
    long = [" ".join(rng.choice(words, 150_000)) for _ in range(2)]
    again = "again " * 40_000
    tables = [long[0], again, "x"], [long[1], again + "b", "y"], [long[0][:500_000], "z " + again]
    assert is_defined(metric, evaluated(metric, *tables))


@of_each
def test_results_quote_nobody(metric):
    common = [f"patient {i} of ward {i % 7} slept well" for i in range(40)]
    tables = [*common[:20], f"{RARE} was here"], common[20:], [*common[::3], f"{RARE} was here"]
    said = evaluated(metric, *tables).to_json()
    assert "slept" not in said
    assert RARE not in said


@of_each
def test_unknown_columns_are_named(metric):
    for name in ("group", "columns"):
        if name in metric.get_params():
            wrong = clone(metric).set_params(**{name: "author" if name == "group" else ["author"]})
            with raises(InvalidParameterError):
                wrong.fit(table(["a b"]), table(["c d"]), schema=SCHEMA)


@of_each
def test_copies_in_a_table_change_nothing(metric):
    texts = [f"note {i} says {word} of {i * i}" for i in range(30) for word in ("this", "that")]
    train, holdout, synthetic = texts[:20], texts[20:40], [*texts[:5], *texts[40:]]
    once = evaluated(metric, train, holdout, synthetic).value
    again = [
        evaluated(metric, train, holdout, synthetic * 3).value,
        evaluated(metric, train * 2, holdout, synthetic).value,
    ]
    np.testing.assert_array_equal(again, [once, once])
