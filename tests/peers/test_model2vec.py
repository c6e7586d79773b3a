"""Membership inference by a real sentence embedder: it knows texts again that are in other words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.text import TextMembershipInference

pytestmark = pytest.mark.peers

PEER = """
import importlib.util
from pathlib import Path
from model2vec import StaticModel

home = Path(next(iter(importlib.util.find_spec("mostlyai").submodule_search_locations)))
model = StaticModel.from_pretrained(home / "qa" / "assets" / "embedders" / "potion-base-8M")
found = model.encode(given).tolist()
"""
SAME = """
doctor physician; car automobile; dog puppy; house home; child kid; money cash; lawyer attorney; ship boat;
garden backyard; street road; movie film; sofa couch; shop store; job occupation; woman lady; rabbit bunny;
stone rock; forest woods; ocean sea; meal dinner; teacher instructor; picture photograph; illness disease;
infant baby; airplane aircraft; present gift; jail prison; soldier troops; bicycle bike; cup mug;
fall autumn; rain drizzle; church chapel; king monarch; wine champagne; violin fiddle; pistol handgun;
knife dagger; priest clergyman; student pupil; thief burglar; hat cap; trousers pants; cabin hut
"""
WORDS = np.array([pair.split() for pair in SAME.replace("\n", " ").split(";")])
SCHEMA = {"note": "text"}


class Static:
    """The embedder in the interpreter that has it."""

    def __init__(self, peer):
        self.peer = peer

    def encode(self, texts):
        return np.array(self.peer("model2vec", PEER, list(texts)), dtype=np.float32)


def drawn(seed, n=150):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(len(WORDS), 5, replace=False) for _ in range(n)])


def table(concepts, wording):
    return pd.DataFrame({"note": [" ".join(WORDS[row, wording]) for row in concepts]})


def test_texts_in_other_words_are_known_again(peer):
    train, holdout = drawn(0), drawn(1)
    tables = table(train, 0), table(holdout, 0)
    by_meaning = TextMembershipInference(Static(peer)).fit(*tables, schema=SCHEMA)
    found = by_meaning.evaluate(table(train, 1))
    assert found.value > 0.8
    assert found.p_value < 1e-9
    assert by_meaning.evaluate(table(drawn(2), 1)).p_value > 0.01
    # no word of train stands in the release
    by_words = TextMembershipInference().fit(*tables, schema=SCHEMA).evaluate(table(train, 1))
    assert by_words.value == pytest.approx(0.5)


def test_copies_rank_first(peer):
    train, holdout = table(drawn(0), 0), table(drawn(1), 0)
    metric = TextMembershipInference(Static(peer)).fit(train, holdout, schema=SCHEMA)
    assert metric.score(train) == 1.0
