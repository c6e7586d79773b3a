"""Distinct texts, who holds them, and who changes places."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skeval import Context
from skeval.text.corpus import corpus, words


def context(train, holdout, synthetic, **columns):
    tables = [
        pd.DataFrame({"note": texts, **{n: parts[i] for n, parts in columns.items()}})
        for i, texts in enumerate((train, holdout, synthetic))
    ]
    schema = {"note": "text", **dict.fromkeys(columns, "id")}
    return Context.of(*tables[:2], schema=schema).with_synthetic(tables[2])


def test_each_text_once():
    texts = corpus(context(["b x", "b x", None], ["a", " ", "b x"], ["c", "a", ""]), ("note",))
    assert texts.texts.tolist() == ["a", "b x", "c"]
    assert texts.held["train"].tolist() == [False, True, False]
    assert texts.numbers("holdout", "synthetic").tolist() == [0, 1, 2]
    assert texts.holders.toarray().tolist() == [[0, 0, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1], [0] * 6]
    assert (texts.n_train, texts.n_holdout) == (3, 3)


def test_authors_hold_texts():
    authors = [["ann", "ann", "bob"], ["eve", None, "bob"], ["x", "y", "z"]]
    given = context(["a", "b", "c"], ["d", "e", "f"], ["a", "b", "c"], author=authors)
    texts = corpus(given, ("note",), "author")
    assert (texts.n_train, texts.n_holdout, texts.n_in_both) == (1, 2, 1)
    held = {
        t: row.nonzero()[0].tolist()
        for t, row in zip(texts.texts, texts.holders.toarray(), strict=True)
    }
    assert held["a"] == held["b"] == [0]
    assert held["c"] == held["f"] == []  # bob stands in both tables
    assert sorted(held["d"] + held["e"]) == [1, 2]


def test_numbers_do_not_depend_on_where_texts_stand():
    one = corpus(context(["a", "b"], ["c", "d"], ["e", "f"]), ("note",))
    other = corpus(context(["f", "d"], ["b", "e"], ["c", "a"]), ("note",))
    assert one.texts.tolist() == other.texts.tolist()


def test_words_of_distinct_texts():
    given = context(["One two", "one TWO!"], ["...", "two"], ["three one", "two"])
    of_texts, texts = words(given, ("note",)), corpus(given, ("note",))
    assert of_texts.n_distinct == 3
    by_text = dict(zip(texts.texts, np.split(of_texts.ids, of_texts.starts[1:-1]), strict=True))
    assert by_text["One two"].tolist() == by_text["one TWO!"].tolist()
    assert by_text["..."].size == 0
    assert by_text["two"][0] == by_text["One two"][1]


def test_several_columns_are_pooled():
    tables = [pd.DataFrame({"a": [f"a {i}", "x"], "b": ["x", f"b {i}"]}) for i in range(3)]
    given = Context.of(*tables[:2], schema={"a": "text", "b": "text"}).with_synthetic(tables[2])
    texts = corpus(given, ("a", "b"))
    assert texts.n_texts("train") == 3
    assert texts.holders[[int(np.searchsorted(texts.texts, "x"))]].indices.tolist() == [0, 1, 2, 3]
