"""Nouns for persons in free text: those of train that the release repeats, and phantoms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from skeval.exceptions import MissingDependencyError
from skeval.parameters import AnyColumns, Count, Interval, JobCount, Seed, has_methods
from skeval.text.entities import EntityLeakage, Folder, GroupColumn, Keep
from skeval.text.patterns import PatternRecognizer
from skeval.text.recognizers import Device, ModelName, Names, SpacyBackend, load_spacy, piped

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


class NominalRecognizer(SpacyBackend):
    """Find nouns for persons with the tagger of a spaCy pipeline, word by word.

    Proper nouns (PROPN), nouns that are the subject of their clause (SUBJECT), and nouns for kin,
    roles and relations (PERSON).

    Parameters
    ----------
    model : str, default="en_core_web_sm"
        A pipeline that is installed, or the path of one. It needs a tagger; without a parser there
        are no subjects.
    nouns : list of str or None, default=None
        The words, or their lemmas, that are PERSON, in lower case; None for some English ones.
    skip : list of str or None, default=None
        Further words that do not count, in lower case, besides the stop words of the language.
    min_length, max_length : int, default=2 and 30
        Least and greatest number of letters.
    n_process : int, default=1
        Processes that read; -1 for all cores.
    batch_size : int, default=256
        Texts at once.
    device : {"auto", "cpu", "gpu"}, default="auto"
        "auto" is a graphics card where spaCy can use one.

    See Also
    --------
    NominalMentions : Which of these a release repeats.

    Examples
    --------
    >>> from skeval.text import NominalRecognizer
    >>> NominalRecognizer(skip=["product", "price"])
    NominalRecognizer(skip=['product', 'price'])
    """

    def __init__(
        self,
        model: ModelName = "en_core_web_sm",
        *,
        nouns: Names = None,
        skip: Names = None,
        min_length: Count = 2,
        max_length: Count = 30,
        n_process: JobCount = 1,
        batch_size: Count = 256,
        device: Device = "auto",
    ) -> None:
        self.model = model
        self.nouns = nouns
        self.skip = skip
        self.min_length = min_length
        self.max_length = max_length
        self.n_process = n_process
        self.batch_size = batch_size
        self.device = device

    def _loaded(self) -> Any:
        pipeline = load_spacy(type(self).__name__, self.model, self.device)
        if not set(_TAGS) & set(pipeline.pipe_names):
            raise MissingDependencyError(
                f"{type(self).__name__}: the pipeline {self.model} has no tagger. One that has is "
                "installed by: python -m spacy download en_core_web_sm"
            )
        return pipeline

    def _read(self, model: Any, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        for doc in piped(self, model, texts, without=("ner", "entity_ruler", "senter")):
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


class NominalMentions(EntityLeakage):
    r"""Share of the synthetic texts' nouns for persons that one train text alone mentions.

    A text gives a person away without a name: "the widow of the lighthouse keeper". Near 0 the
    synthetic texts mention nobody in a way that one train text alone does; 1 if all mentions
    are such. A mention that one holdout text alone has, which the generator never saw, is a
    phantom, and such matches say how many there are by chance.

    Parameters
    ----------
    recognizer : "spacy" or object with recognize, default="spacy"
        What finds nouns; "spacy" is :class:`NominalRecognizer`, which needs the pipeline
        en_core_web_sm. There is no substitute for a tagger.
    columns : None, int or list of str, default=None
        The text columns; None for all, an int for the first so many, or names.
    group : str or None, default=None
        A column that says whose a row is; rows of one group change places together.
    keep : object with keeps, or None, default=None
        Which mentions count; None for all.
    max_documents : int, default=1
        A mention is rare that at most so many real documents, or groups, have.
    n_windows : int, default=4
        Phrases are a mention with up to 1, 2, ... so many words on both sides; 0 for none.
    n_max_texts : int or None, default=None
        How many rows of each table are read at most, drawn at random; None for all.
    memory : path or None, default=None
        A folder that keeps hashes and counts of what was recognized, no text.
    n_permutations : int, default=1999
        Number of relabellings behind the p-values, where these are not known exactly.
    random_state : int, default=0
        Seed of the relabellings and of the choice of rows.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if spaCy or the pipeline is not installed; it says how to get it.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    EntityLeakage : The same of names and numbers; explains value, test and details.

    Notes
    -----
    Value, baseline, p-value and ``details`` are those of :class:`EntityLeakage`, with words in the
    place of entities. Most rare words are no more than rare: the phrases around them point at
    somebody. ``details["syneval"]`` has the number, density and overlap that SynEval prints.

    Examples
    --------
    Any recognizer will do, where a language has no pipeline:

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

    def __init__(
        self,
        recognizer: Tagger = "spacy",
        columns: AnyColumns = None,
        group: GroupColumn = None,
        *,
        keep: Keep = None,
        max_documents: Count = 1,
        n_windows: Annotated[int, Interval(0, 20)] = 4,
        n_max_texts: Count | None = None,
        memory: Folder = None,
        n_permutations: Count = 1999,
        random_state: Seed = 0,
    ) -> None:
        super().__init__(
            recognizer,
            columns,
            group,
            keep=keep,
            max_documents=max_documents,
            n_windows=n_windows,
            n_max_texts=n_max_texts,
            memory=memory,
            n_permutations=n_permutations,
            random_state=random_state,
        )

    _nouns = ("nominal mention", "nominal mentions", "a nominal mention")

    def _recognizer(self) -> Any:
        return NominalRecognizer() if self.recognizer == "spacy" else self.recognizer

    @classmethod
    def _light(cls) -> dict[str, Any]:
        return {"recognizer": PatternRecognizer()}  # the default needs a model
