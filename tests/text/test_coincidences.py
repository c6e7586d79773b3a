"""Names that two texts share weigh the more, the less else the texts have in common."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.steps.entities import Reading, mentions
from skeval.text import CallableRecognizer, EntityLeakage, PatternRecognizer
from skeval.text.coincidences import surprise

SCHEMA = {"note": "text"}
FILLER = [f"plain words of all texts {i % 2}" for i in range(60)]


def by_brackets(texts):
    return PatternRecognizer(kinds=["SPAN"]).recognize(texts)


def table(*texts):
    return pd.DataFrame({"note": [*texts, *FILLER]})


def worth(train, holdout, synthetic, max_hashes=9):
    """Return the surprise of each entity that a real text and a synthetic one have."""
    context = Context.of(train, holdout, schema=SCHEMA).with_synthetic(synthetic)
    reading = Reading(("note",), CallableRecognizer(by_brackets, "spans"), n_windows=0)
    real, other = (
        [mentions(context, reading, role) for role in roles]
        for roles in (("train", "holdout"), ("synthetic",))
    )
    hashes = np.concatenate([one.hashes[:, 0] for one in real])
    known = np.isin(hashes, other[0].hashes[:, 0])
    found, first = np.unique(hashes[known], return_index=True)
    lengths, types = (
        np.concatenate([getattr(one, name) for one in real])[known][first]
        for name in ("lengths", "types")
    )
    return surprise(context, reading, found, lengths, types).tolist()


def test_a_name_in_texts_that_share_nothing_else_is_a_surprise():
    alone = table("we saw Ada Lovelace there"), table("no one"), table("he met Ada Lovelace")
    assert worth(*alone) == [1.0]
    # on one subject: two rare words are shared besides, or another name
    subject = table("an orbit of quasars by Ada Lovelace"), alone[1], table(
        "quasars have an orbit Ada Lovelace"
    )  # fmt: skip
    assert worth(*subject) == [0.02]
    others = (
        table("so Ada Lovelace met Kim Novak"),
        alone[1],
        table("so Kim Novak met Ada Lovelace"),
    )
    assert worth(*others) == [0.02, 0.02]


def test_which_table_the_name_stands_in_does_not_matter():
    there, none = table("we saw Ada Lovelace there", "a Kim"), table("no one", "a b")
    synthetic = table("he met Ada Lovelace", "a Kim of towns")
    assert worth(there, none, synthetic) == worth(none, there, synthetic)


def test_common_words_and_single_ones_are_no_surprise():
    train = table("we saw Ada Lovelace there", "so said Kim", *(["an Ada too"] * 3))
    synthetic = table("he met Ada Lovelace", "then came Kim")
    both = sorted(worth(train, table("no one"), synthetic))
    assert both == [pytest.approx(0.05), 1.0]


def test_openings_of_sentences_are_no_part_of_a_name():
    names = [
        [one.text for one in found]
        for found in PatternRecognizer().recognize(
            ["Later Ada Lovelace wrote.", "However Ada Lovelace left. Perhaps Kim Novak did."]
        )
    ]
    assert names == [["Ada Lovelace"], ["Ada Lovelace", "Kim Novak"]]


def with_names(thirds, seed, n_leaked):
    """Give each of 400 paragraphs a name of its own; some synthetic ones that of a train one."""
    rng, tables = np.random.default_rng(seed), thirds(seed)
    syllables = ["ba", "lo", "ni", "ru", "se", "ta", "wi", "go", "me", "ka"]

    def name():
        first, last = ("".join(rng.choice(syllables, n)).capitalize() for n in (2, 4))
        return f"{first} {last}"

    own = [[name() for _ in range(len(one))] for one in tables]
    own[2][:n_leaked] = own[0][:n_leaked]
    return [
        one.assign(text=[f"{text} It was signed by {who} there." for text, who in zip(one["text"], names, strict=True)])
        for one, names in zip(tables, own, strict=True)
    ]  # fmt: skip


def found(thirds, n_runs, n_leaked):
    schema, p_values = {"text": "text", "article": "id"}, []
    for seed in range(n_runs):
        train, holdout, synthetic = with_names(thirds, seed, n_leaked)
        metric = EntityLeakage(columns=["text"], n_windows=1).fit(train, holdout, schema=schema)
        p_values.append(metric.evaluate(synthetic).p_value)
    return int(np.sum(np.array(p_values) <= 0.05))


@pytest.mark.slow
@pytest.mark.calibration
def test_names_of_8_in_400_texts_are_found_in_about_half_of_the_runs(thirds):
    assert found(thirds, 16, 8) >= 6


@pytest.mark.slow
@pytest.mark.calibration
def test_names_that_nobody_leaked_raise_few_alarms(thirds):
    """An exact test rejects 1 of 20 on average, and more than 4 once in four hundred times."""
    assert found(thirds, 20, 0) <= 4
