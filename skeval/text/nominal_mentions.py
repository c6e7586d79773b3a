"""Screen for nouns for individuals in training texts that the synthetic texts repeat."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import KW_ONLY
from typing import Annotated, Any

from skeval.core.declared import declared
from skeval.text.entity_leakage import EntityLeakage
from skeval.text.recognizers import Names, SpacyBackend, pipe_texts
from skeval.utils.parameters import Count, has_methods

_TAGS = ("tagger", "morphologizer", "pos")
_SUBJECTS = ("nsubj", "nsubjpass", "nsubj:pass")
# kin, roles and relations, those that SynEval looks for among them
PERSON_NOUNS = frozenset(
    re.findall(
        r"\w+",
        """
        mother father mom dad sister brother daughter son wife husband spouse partner grandmother
        grandfather aunt uncle cousin niece nephew family relative widow widower twin teacher
        student doctor nurse patient customer client employee employer manager director officer
        agent representative consultant advisor expert specialist professional worker staff member
        participant user friend colleague neighbor neighbour associate companion acquaintance
        contact connection ally supporter follower leader mentor mentee supervisor subordinate
        peer
        """,
    )
)
Tagger = Annotated[Any, has_methods(("recognize",), values=("spacy",))]


@declared
class NominalRecognizer(SpacyBackend):
    """Find nouns for individuals with the tagger of a spaCy pipeline, word by word.

    Proper nouns (PROPN), nouns that are the subject of their clause (SUBJECT), and nouns for kin,
    roles and relations (PERSON).

    Parameters
    ----------
    model : str, default="en_core_web_sm"
        Name or path of an installed pipeline with a tagger. Without a parser, SUBJECT is not
        available.
    nouns : list of str or None, default=None
        The words or lemmas of PERSON, in lower case. If None, a list of English words is used.
    skip : list of str or None, default=None
        Words to ignore in lower case, in addition to the stop words of the language.
    min_length, max_length : int, default=2 and 30
        Minimum and maximum number of letters.

    See Also
    --------
    NominalMentions : Measures which of these mentions a release repeats.

    Examples
    --------
    >>> from skeval.text import NominalRecognizer
    >>> NominalRecognizer(skip=["product", "price"])
    NominalRecognizer(skip=['product', 'price'])
    """

    _: KW_ONLY
    nouns: Names = None
    skip: Names = None
    min_length: Count = 2
    max_length: Count = 30

    _does = "tagger"

    def _is_able(self, pipeline: Any) -> bool:
        return not set(_TAGS).isdisjoint(pipeline.pipe_names)

    def _read(self, model: Any, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        for doc in pipe_texts(self, model, texts, without=("ner", "entity_ruler", "senter")):
            kinds = ((token, self._kind(token)) for token in doc)
            yield [(t.idx, t.idx + len(t.text), kind) for t, kind in kinds if kind]

    def _kind(self, token: Any) -> str:
        text = token.text
        lower = text.lower()
        if token.pos_ not in ("NOUN", "PROPN") or text.isdigit() or not any(map(str.isalnum, text)):
            return ""
        if not self.min_length <= len(text) <= self.max_length:
            return ""
        if token.is_stop or lower in (self.skip or ()):
            return ""
        if token.pos_ == "PROPN":
            return "PROPN"
        nouns = PERSON_NOUNS if self.nouns is None else self.nouns
        if lower in nouns or token.lemma_.lower() in nouns:
            return "PERSON"
        return "SUBJECT" if token.dep_ in _SUBJECTS else ""


@declared
class NominalMentions(EntityLeakage):
    r"""Fraction of nouns for individuals in the synthetic texts that occur in one training text.

    A text can identify an individual without a name, for example "the widow of the lighthouse
    keeper". The score ranges from 0 (no mention) to 1 (all mentions of the synthetic texts occur in
    exactly one training text). Lower is better. A mention that occurs in exactly one holdout text,
    which the generator never saw, is a phantom. Phantoms show how many matches are coincidences.

    Parameters
    ----------
    recognizer : "spacy" or object with recognize, default="spacy"
        Method that finds nouns. "spacy" is :class:`NominalRecognizer`, which requires the pipeline
        en_core_web_sm. There is no alternative without a tagger.

    Raises
    ------
    MissingInputError
        At fit, if spaCy or the pipeline is not installed.

    Warnings
    --------
    This is a screening metric, which can find a leak but cannot rule one out.

    See Also
    --------
    EntityLeakage : For names and numbers. Describes the value, the test and the details.

    Notes
    -----
    Value, baseline and ``details`` are defined as in :class:`EntityLeakage`, with words instead of
    entities. Most rare words alone do not identify anyone, but the phrases around them do. The
    p-value is therefore twice the smaller p-value of mentions and phrases. ``details["syneval"]``
    contains the numbers, densities and overlap that SynEval prints. Its risk is high if the density
    is above 0.15 or the overlap is above 50%.

    References
    ----------
    Formula of this project.

    Examples
    --------
    Any recognizer will do if a language has no pipeline:

    >>> import pandas as pd
    >>> from skeval.text import CallableRecognizer, NominalMentions
    >>> def last_words(texts):
    ...     cut = [text.rstrip(".").rpartition(" ") for text in texts]
    ...     return [[(w, "NOUN", len(a) + 1, len(a) + 1 + len(w))] for a, _, w in cut]
    >>> train, holdout, synthetic = (
    ...     pd.DataFrame({"note": [f"We saw her with the old {noun}." for noun in nouns]})
    ...     for nouns in (["miller", "nun"], ["actor", "smith"], ["miller", "man", "king", "cook"])
    ... )
    >>> metric = NominalMentions(CallableRecognizer(last_words))
    >>> metric.fit(train, holdout, schema={"note": "text"}).score(synthetic)
    0.25
    """

    recognizer: Tagger = "spacy"

    _nouns = ("nominal mention", "nominal mentions", "a nominal mention")
    _level = (0.5, 0.5)  # because the phrases identify individuals
    _printed = ("total_nominals", "avg_nominal_density"), 0.15

    def _recognizer(self) -> Any:
        return NominalRecognizer() if self.recognizer == "spacy" else self.recognizer
