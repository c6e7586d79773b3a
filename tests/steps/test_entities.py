"""Entities become hashes of what is compared: the form of a name, and the words around it."""

from __future__ import annotations

import os

import numpy as np
import pytest

from skeval.core.context import Context
from skeval.datasets import make_mixed
from skeval.steps.entities import (
    Entity,
    Reading,
    mentions,
    normalize_entity,
    real_texts,
    recognize,
    row_groups,
    rows_read,
)
from skeval.text import CallableRecognizer, PatternRecognizer

MAILS = PatternRecognizer(kinds=["EMAIL"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada Lovelace", "ada  LOVELACE"),
        ("Ada", "Ada\u2019s"),
        ("the Smiths", "Smiths,"),
        ("Dr. Grace Hopper", "Grace Hopper"),
        ("Jos\u00e9", "Jose\u0301"),
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("+49 (30) 901-820", "+4930901820"),
        ("Stra\u00dfe", "STRASSE"),
    ],
)
def test_forms_of_one_name(one, other):
    assert normalize_entity(one) == normalize_entity(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Ada", "Adam"), ("3.14", "314a"), ("Bob Lee", "Lee Bob"), ("?", "!")]
)
def test_forms_of_two_names(one, other):
    assert normalize_entity(one) != normalize_entity(other)


def phrases(text, n_windows):
    [part] = recognize([text], Reading(("x",), MAILS, n_windows=n_windows), {}).values()
    return part


def test_phrases_are_of_the_words_on_both_sides():
    part = phrases("One two, three a@b.org four", 4)
    assert part.types == ("EMAIL",)
    assert part.n_words == 7  # three before, three in the address, one after
    hashes = part.hashes[0]
    assert (hashes[:4] > 0).all()
    assert hashes[4] == 0  # no word more
    assert np.unique(hashes).size == 5
    assert phrases("ONE two -- three A@B.ORG four.", 4).hashes.tolist() == [hashes.tolist()]
    other = phrases("zero two three a@b.org four", 4).hashes[0]
    assert (other[:3] == hashes[:3]).all()
    assert other[3] != hashes[3]
    assert phrases("a@b.org", 2).hashes[0, 1:].tolist() == [0, 0]
    assert phrases("none", 2).hashes.shape == (0, 3)


def test_a_marked_word_is_not_a_word_beside_it():
    """ "b" found in "a b c" is another phrase than "a b" found, with "c" behind."""

    def found(text, start, end):
        one = CallableRecognizer(lambda texts: [[(text[start:end], "X", start, end)]])
        return recognize([text], Reading(("x",), one, n_windows=2), {})[text].hashes[0]

    assert not set(found("a b c", 2, 3)[1:]) & set(found("a b c", 0, 3)[1:]) - {0}


def test_known_texts_are_not_read_again():
    known = recognize(["a@b.org"], Reading(("x",), MAILS), {})
    fails = CallableRecognizer(lambda texts: 1 / 0)
    assert recognize(["a@b.org"], Reading(("x",), fails), known) == known


def test_a_folder_keeps_types_and_numbers(tmp_path):
    reading = Reading(("x",), MAILS, memory=str(tmp_path / "a" / "b"))
    texts = ["so a@b.org", "none", "c@d.org and e@f.org"]
    first = recognize(texts, reading, {})
    again = recognize(texts[::-1], reading, {})
    for text in texts:
        assert first[text].types == again[text].types
        assert first[text].n_words == again[text].n_words
        assert (first[text].hashes == again[text].hashes).all()
    # another folder has another secret
    other = recognize(texts, Reading(("x",), MAILS, memory=str(tmp_path / "c")), {})
    assert not set(other[texts[0]].hashes[0, :2]) & set(first[texts[0]].hashes[0, :2])
    if os.name == "posix":
        assert (tmp_path / "a" / "b").stat().st_mode & 0o077 == 0


def test_a_function_with_another_body_is_another_recognizer(tmp_path):
    def readings():
        for label in ("ONE", "TWO"):
            namespace = {}
            exec(f"def find(texts): return [[(t, '{label}', 0, len(t))] for t in texts]", namespace)
            yield Reading(("x",), CallableRecognizer(namespace["find"]), memory=str(tmp_path))

    types = [recognize(["a"], reading, {})["a"].types for reading in readings()]
    assert types == [("ONE",), ("TWO",)]


def context(n=40):
    tables = [make_mixed(n, random_state=seed) for seed in range(3)]
    for seed, table in enumerate(tables):
        table["note"] = [f"write to person{i % 7 + seed}@example.org today" for i in range(n)]
        table["who"] = [f"g{seed}{i // 8}" for i in range(n)]
    return Context.of(*tables[:2], schema={"note": "text"}).with_synthetic(tables[2])


def test_mentions_of_a_table():
    reading = Reading(("note",), MAILS, n_windows=1)
    found = mentions(context(), reading, "train")
    assert found.rows.tolist() == list(range(40))
    assert found.hashes.shape == (40, 2)
    assert np.unique(found.hashes[:, 0]).size == 7
    assert (found.n_rows, found.n_words) == (40, 6 * 40)
    assert len(real_texts(context(), reading)) == 8


def test_rows_and_groups_that_are_read():
    tables = context()
    assert rows_read(tables, Reading(("note",), MAILS), "train").tolist() == list(range(40))
    some = Reading(("note",), MAILS, n_max_texts=10)
    drawn = {role: rows_read(tables, some, role) for role in ("train", "holdout", "synthetic")}
    assert {role: rows.size for role, rows in drawn.items()} == dict.fromkeys(drawn, 10)
    assert drawn["train"].tolist() != drawn["holdout"].tolist()
    groups = row_groups(tables, "who")
    assert np.unique(np.concatenate(list(groups.values()))).size == 10
    whole = rows_read(tables, Reading(("note",), MAILS, n_max_texts=17, group="who"), "train")
    assert whole.size == 16
    assert np.unique(groups["train"][whole]).size == 2


def test_an_entity():
    assert Entity("Ada", "PERSON", 0, 3).label == "PERSON"


def test_a_reading_says_who_recognizes():
    class Plain:
        def recognize(self, texts):
            return [[] for _ in texts]

    assert Reading(("x",), Plain()).recognizer_info == {
        "backend": "Plain",
        "model": "",
        "version": "",
    }
