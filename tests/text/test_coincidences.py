"""Names that two texts share weigh the more, the less else the texts have in common."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from skeval.core.context import Context
from skeval.steps.entities import Reading, mentions
from skeval.text import CallableRecognizer, EntityLeakage, PatternRecognizer
from skeval.text.coincidences import TextSets, coincidence

SCHEMA = {"note": "text"}
FILLER = [f"plain words of all texts {i % 2}" for i in range(60)]


def by_brackets(texts):
    return PatternRecognizer(kinds=["SPAN"]).recognize(texts)


def table(*texts):
    return pd.DataFrame({"note": [*texts, *FILLER]})


def known(train, holdout, synthetic):
    """Return what is known of each entity that a real text and a synthetic one have."""
    context = Context.of(train, holdout, schema=SCHEMA).with_synthetic(synthetic)
    reading = Reading(("note",), CallableRecognizer(by_brackets, "spans"), n_windows=0)
    real, other = (
        [mentions(context, reading, role) for role in roles]
        for roles in (("train", "holdout"), ("synthetic",))
    )
    hashes = np.concatenate([one.hashes[:, 0] for one in real])
    shared = np.isin(hashes, other[0].hashes[:, 0])
    found, first = np.unique(hashes[shared], return_index=True)
    types = np.concatenate([one.types for one in real])[shared][first]
    return coincidence(context, reading, found, types)


def test_a_name_in_texts_that_share_nothing_else_is_no_coincidence():
    none = table("no one")
    alone = known(table("we saw Ada Lovelace there"), none, table("he met Ada Lovelace"))
    subject = known(
        table("an orbit of quasars by Ada Lovelace"), none, table("quasars have an orbit Ada Lovelace")
    )  # fmt: skip
    # as many others are as near: all of them, or no other
    assert alone.nearness == pytest.approx([1.0])
    n_others = len(FILLER) + 1
    nearest = np.sqrt(2 / (n_others + 1) * 2 / (2 * n_others + 1))
    assert subject.nearness == pytest.approx([nearest])
    others = known(
        table("so Ada Lovelace met Kim Novak"), none, table("so Kim Novak met Ada Lovelace")
    )
    assert (alone.others.tolist(), others.others.tolist()) == ([False], [True, True])
    assert (subject.weightings() < alone.weightings())[:3].all()
    assert (others.weightings()[:3] < alone.weightings()[:3]).all()


def test_which_table_the_name_stands_in_does_not_matter():
    there, none = table("we saw Ada Lovelace there", "a Kim"), table("no one", "a b")
    synthetic = table("he met Ada Lovelace", "a Kim of towns")
    either = (known(*tables, synthetic).weightings() for tables in ((there, none), (none, there)))
    np.testing.assert_array_equal(*either)


def test_words_of_a_name_are_counted_in_other_texts_and_other_names():
    train = table("we saw Ada Lovelace there", "so said Kim", "the Ada Byron", "no ada is here")
    found = known(train, table("no one"), table("he met Ada Lovelace", "then came Kim"))
    by_length = np.argsort(found.single)
    assert found.single[by_length].tolist() == [False, True]
    # two other texts have "ada", one of them in another name; nobody else has "lovelace" or "kim"
    assert found.rarest[by_length].tolist() == [0.0, 0.0]
    assert found.commonest[by_length].tolist() == [2.0, 0.0]
    assert found.named[by_length].tolist() == [1.0, 0.0]
    assert found.small[by_length].tolist() == [0.0, 0.0]


def test_words_that_others_write_small_are_seen():
    train = table("we saw Green Stone there", *(["the green stone of all"] * 3))
    found = known(train, table("no one"), table("he met Green Stone"))
    assert (found.rarest[0], found.named[0], found.small[0]) == (3.0, 0.0, 3.0)


def test_articles_and_genitives_are_no_words_of_a_name():
    train = table("we saw the Ada Lovelace's there", *(["the s of all"] * 3))
    found = known(train, table("no one"), table("he met Ada Lovelace"))
    assert (found.commonest[0], found.single[0]) == (0.0, False)


def test_numbers_are_nobody_elses():
    train = table("write to ada@plain.org", *(["plain ada of org"] * 3))
    context = Context.of(train, table("x"), schema=SCHEMA).with_synthetic(table("ada@plain.org"))
    reading = Reading(("note",), PatternRecognizer(), n_windows=0)
    own = mentions(context, reading, "train")
    found = coincidence(context, reading, own.hashes[:1, 0], own.types[:1])
    assert (found.commonest[0], found.single[0]) == (0.0, False)


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
def test_names_of_8_in_400_texts_are_found_in_most_runs(thirds):
    assert found(thirds, 16, 8) >= 9


@pytest.mark.slow
@pytest.mark.calibration
def test_names_that_nobody_leaked_raise_few_alarms(thirds):
    """An exact test rejects 1 of 20 on average, and more than 4 once in four hundred times."""
    assert found(thirds, 20, 0) <= 4


def test_texts_without_a_word_are_no_yardstick_of_nearness():
    texts = [["" if i % 3 == 0 else f"word{i} word{i + 1}" for i in range(2100)], ["none"]]
    train, holdout = (pd.DataFrame({"note": one}) for one in texts)
    context = Context.of(train, holdout, schema=SCHEMA).with_synthetic(holdout)
    every = TextSets.from_context(context, ("note",))
    assert np.diff(every.held[every.sample(0, 2101)].indptr).min() == 1


@pytest.mark.slow
def test_a_text_of_many_names_takes_no_more_room_than_its_words():
    text = " ".join(f"[Ada{i} Lovelace{i}]" for i in range(2000))
    tables = pd.DataFrame({"note": [text]}), pd.DataFrame({"note": ["no one"]})
    tracemalloc.start()
    metric = EntityLeakage(CallableRecognizer(by_brackets, "spans"), n_windows=0)
    result = metric.fit(*tables, schema=SCHEMA).evaluate(tables[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.details["tests"]["entities"]["train"] == 2000
    assert peak < 50e6
