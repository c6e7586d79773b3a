"""Ready suites of tables with texts: what they measure, and that odd texts leave no hole."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite, TablePreprocessor, make_suite
from skeval.exceptions import TextLeftOutWarning
from skeval.privacy import DCRShare
from skeval.text import EntityLeakage, NominalMentions, TextExactMatch

SCHEMA = {"note": "text"}
ODD = {
    "of all kinds": [
        *("", " ", "word", "\U0001f642\U0001f643", "שלום עולם", "مرحبا بالعالم", "e\u0301te\u0301"),
        *(
            "नमस्ते दुनिया",
            "日本語テキスト",
            None,
            "mixed שלום and 日本 words",
            "\x00\x01",
            "a\u202eb",
        ),
    ],
    "empty": [""],
    "missing": [None],
    "one text": ["the very same text again"],
    "one word": ["yes", "no"],
    "long": ["x y " * 5_000, "abc " * 10],
}


def table(texts, seed, n_rows=40):
    rng = np.random.default_rng(seed)
    notes = [texts[i] for i in rng.integers(0, len(texts), n_rows)]
    return pd.DataFrame({"x": rng.normal(size=n_rows), "note": pd.Series(notes, dtype=object)})


def of_texts(preset):
    return {n: type(m) for n, m in make_suite(preset).metrics if "text" in m.tags.needs}


def evaluated(suite, tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return suite.fit(*tables[:2], schema=SCHEMA).evaluate(tables[2])


@pytest.mark.parametrize("name", ODD)
@pytest.mark.slow
def test_odd_texts_have_a_value_or_a_reason(name):
    tables = [table(ODD[name], seed, 8 if name == "long" else 40) for seed in range(3)]
    metrics = {**dict(make_suite("report").metrics), **dict(make_suite("privacy").metrics)}
    of_text = [(n, m) for n, m in metrics.items() if "text" in m.tags.needs]
    result = evaluated(MetricSuite(of_text, on_error="raise"), tables)
    assert len(result) == len(of_text) >= 11
    holes = [n for n, one in result.items() if np.isnan(one.value) and not one.warnings]
    assert not holes
    json.loads(result.to_json())


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["report", "syneval", "privacy"])
@pytest.mark.parametrize("name", ["of all kinds", "empty", "one text"])
def test_whole_suites_of_odd_texts(name, preset):
    suite = make_suite(preset).set_params(on_error="raise")
    result = evaluated(suite, [table(ODD[name], seed) for seed in range(3)])
    explained = {n: one.warnings or one.error for n, one in result.items() if np.isnan(one.value)}
    assert all(explained.values())


def test_presets_have_their_text_half():
    report, privacy, syneval = (of_texts(p) for p in ("report", "privacy", "syneval"))
    assert set(of_texts("fidelity").values()) < set(report.values())
    assert set(of_texts("screens")) | set(of_texts("attacks")) == set(privacy)
    # the report leaves out what finds no leak that others do not
    assert set(privacy) - set(report) == {"stylistic_outliers"}
    assert {EntityLeakage, NominalMentions} < set(syneval.values())
    for preset in ("utility", "quality", "diagnostic"):
        suite = make_suite(preset, target="x")
        assert not any("text" in metric.tags.needs for _, metric in suite.metrics)


def test_a_missing_package_leaves_its_metric_out_with_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    tables = [
        table(["somebody called us about it", "nobody did so today"], seed) for seed in range(3)
    ]
    metrics = [("nominal", NominalMentions()), ("copies", TextExactMatch())]
    result = evaluated(MetricSuite(metrics), tables)
    assert "install" in result["nominal"].error
    assert result["copies"].value == 1.0


@pytest.mark.slow
def test_what_leaves_texts_out_is_named_once():
    tables = [table(["a b c", "d e f"], seed) for seed in range(3)]

    class Letters:
        def encode(self, texts):
            return np.array([[len(text), text.count("a")] for text in texts], dtype=float)

    notices = {}
    for name, space in (("plain", "gower"), ("embedded", TablePreprocessor(embedder=Letters()))):
        suite = MetricSuite([("shares", DCRShare(space=space)), ("copies", TextExactMatch())])
        found = [n for n in evaluated(suite, tables).notices if isinstance(n, TextLeftOutWarning)]
        notices[name] = [str(notice) for notice in found]
    assert len(notices["plain"]) == 1
    assert "note" in notices["plain"][0]
    assert notices["embedded"] == []
