"""Flair and GLiNER run behind the one method: their packages are real, their weights are made here."""

from __future__ import annotations

import pytest

from skeval.text import Entity

pytestmark = pytest.mark.peers

TEXTS = ["Ada went to Graz .", "", "Ben went to Graz . " * 300]
FLAIR = """
import os, tempfile
import flair, torch
from flair.data import Dictionary, Sentence
from flair.embeddings import OneHotEmbeddings
from flair.models import SequenceTagger
from skeval.text import FlairRecognizer

flair.set_seed(0)
sentences = []
for name in ("Ada", "Ben", "Carla"):
    sentence = Sentence(f"{name} went to Graz .", use_tokenizer=False)
    sentence[0:1].add_label("ner", "PER")
    sentence[3:4].add_label("ner", "LOC")
    sentences.append(sentence)
tags = Dictionary(add_unk=False)
tags.span_labels = True
words = Dictionary(add_unk=True)
for dictionary, items in ((tags, ["PER", "LOC"]), (words, "Ada Ben Carla went to Graz .".split())):
    for item in items:
        dictionary.add_item(item)
embedding = OneHotEmbeddings(vocab_dictionary=words, embedding_length=16)
tagger = SequenceTagger(embedding, tags, tag_type="ner", use_crf=False, hidden_size=32)
optimizer = torch.optim.Adam(tagger.parameters(), lr=0.05)
tagger.train()
for _ in range(25):
    for sentence in sentences:
        sentence.clear_embeddings()
    optimizer.zero_grad()
    tagger.forward_loss(sentences)[0].backward()
    optimizer.step()
path = os.path.join(tempfile.mkdtemp(), "tagger.pt")
tagger.save(path)
recognizer = FlairRecognizer(path)
found = {"entities": recognizer.recognize(given), "about": recognizer.about}
found["missing"] = FlairRecognizer("nobody/no-such-model").missing()
"""
GLINER = """
import os, tempfile
import torch
from gliner import GLiNER, GLiNERConfig
from transformers import BertConfig, BertModel, BertTokenizerFast
from skeval.text import GlinerRecognizer

home = tempfile.mkdtemp()
words = "[PAD] [UNK] [CLS] [SEP] [MASK] ada ben went to graz . person place".split()
with open(os.path.join(home, "vocab.txt"), "w") as file:
    file.write("\\n".join(words))
bert = os.path.join(home, "bert")
BertTokenizerFast(os.path.join(home, "vocab.txt")).save_pretrained(bert)
torch.manual_seed(0)
sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
BertModel(BertConfig(len(words) + 8, intermediate_size=16, **sizes)).save_pretrained(bert)
config = GLiNERConfig(model_name=bert, hidden_size=16, max_width=3, span_mode="markerV0")
GLiNER.from_config(config).save_pretrained(os.path.join(home, "model"))
recognizer = GlinerRecognizer(["person", "place"], os.path.join(home, "model"), threshold=0.01)
found = {"entities": recognizer.recognize(given), "about": recognizer.about}
found["missing"] = GlinerRecognizer(model="nobody/no-such-model").missing()
"""


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def test_flair(peer):
    found = peer("FLAIR", FLAIR, TEXTS)
    one, none, many = ([Entity(*entity) for entity in part] for part in found["entities"])
    assert one == [("Ada", "PER", 0, 3), ("Graz", "LOC", 12, 16)]
    assert none == []
    assert [e.text for e in many].count("Graz") == 300  # read in pieces, every sentence once
    assert all(TEXTS[2][e.start : e.end] == e.text for e in many)
    assert found["about"]["backend"] == "flair"
    assert "nobody/no-such-model could not be loaded" in found["missing"]


def test_gliner(peer):
    """Weights are drawn at random: what is found means nothing, and stands where it is said to."""
    found = peer("GLINER", GLINER, TEXTS)
    one, none, many = ([Entity(*entity) for entity in part] for part in found["entities"])
    assert one
    assert none == []
    assert max(e.end for e in many) > len(TEXTS[2]) - 30  # nothing behind the window is left out
    for text, part in zip(TEXTS, (one, none, many), strict=True):
        assert all(text[e.start : e.end] == e.text for e in part)
    assert {e.label for e in many} <= {"person", "place"}
    assert found["about"]["backend"] == "gliner"
    assert "nobody/no-such-model could not be loaded" in found["missing"]
