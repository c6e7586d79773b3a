"""Recognizers of entities in texts, with models behind a common interface."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY
from functools import cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from sklearn.base import BaseEstimator

from skeval.core.declared import declared
from skeval.exceptions import MissingDependencyError
from skeval.steps.entities import Entity
from skeval.utils.dependencies import import_optional
from skeval.utils.parameters import Count, Fraction, JobCount, Legal, check_parameters, legal_sets


def package_version(package: str) -> str:
    """Return the version of a package that is installed, or "unknown"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


_SPACY_PIECE = 100_000  # characters read at once
_FLAIR_PIECE = 4_000
_GLINER_PIECE = 1_000  # GLiNER ignores text outside of its window without a warning
_SURROGATES = re.compile("[\ud800-\udfff]")
_NOT_FOR_ENTITIES = ("tagger", "morphologizer", "attribute_ruler", "lemmatizer", "parser", "senter")

Names = Annotated[
    Sequence[str] | None,
    Legal(
        "None or a non-empty list of strings",
        lambda value: (
            value is None
            or (
                isinstance(value, list | tuple)
                and len(value) > 0
                and all(isinstance(name, str) for name in value)
            )
        ),
        [],
    ),
]
Device = Literal["auto", "cpu", "gpu"]
Function = Annotated[Callable[[list[str]], Any], Legal("a function", callable, "no function")]
ModelName = Annotated[
    str, Legal("the name of a model", lambda v: isinstance(v, str) and bool(v), "")
]


@declared
class EntityFilter(BaseEstimator):
    """Select entities by their types and letters.

    Parameters
    ----------
    labels : list of str or None, default=None
        Types that count. If None, all types count.
    min_length, max_length : int, default=1 and 1000
        Minimum and maximum number of characters.
    numbers : bool, default=True
        Whether entities without letters count.
    addresses : bool, default=True
        Whether mail addresses, links and entities that end in a word with a dot count.
    capitals : bool, default=True
        Whether words in capitals count.
    fragments : bool, default=True
        Whether entities with a word that ends in ``-`` or ``&`` count.

    See Also
    --------
    EntityLeakage : Accepts a filter.

    Examples
    --------
    >>> from skeval.text import Entity, EntityFilter
    >>> rule = EntityFilter.syneval()
    >>> rule.keeps(Entity("Ada", "PER", 0, 3)), rule.keeps(Entity("NASA", "ORG", 0, 4))
    (True, False)
    """

    labels: Names = None
    _: KW_ONLY
    min_length: Count = 1
    max_length: Count = 1000
    numbers: bool = True
    addresses: bool = True
    capitals: bool = True
    fragments: bool = True

    @classmethod
    def syneval(cls, labels: Names = ("PER", "ORG", "LOC", "MISC")) -> EntityFilter:
        """Return the rule of SynEval: 2 to 50 characters, words, four types of Flair's models."""
        return cls(
            labels,
            min_length=2,
            max_length=50,
            numbers=False,
            addresses=False,
            capitals=False,
            fragments=False,
        )

    def keeps(self, entity: Entity) -> bool:
        """Return whether an entity counts."""
        text = entity.text
        words = text.split() or [""]
        address = "http" in text.lower() or "@" in text or "." in words[-1]
        return (
            (self.labels is None or entity.label in self.labels)
            and self.min_length <= len(text) <= self.max_length
            and (self.numbers or not (text.isdigit() or not any(map(str.isalnum, text))))
            and (self.addresses or not address)
            and (self.capitals or not (text.isupper() and len(text) > 1))
            and (self.fragments or not any(word.endswith(("-", "&")) for word in words))
        )


class _Backend(BaseEstimator):
    """Base class of recognizers, with parameter checks and splitting of long texts."""

    model: str
    _packages: ClassVar[tuple[str, ...]] = ()  # to install
    _piece = _SPACY_PIECE

    @property
    def about(self) -> dict[str, str]:
        """Backend, model and version of both."""
        package = self._packages[0]
        return {"backend": package, "model": str(self.model), "version": package_version(package)}

    def recognize(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Return the entities of each text, in their order."""
        name = type(self).__name__
        check_parameters(name, self.get_params(deep=False), legal_sets(type(self)))
        model = self._load_model()
        pieces = [
            (i, start, part)
            for i, t in enumerate(texts)
            for start, part in split_text(t, self._piece)
        ]
        entities: list[list[Entity]] = [[] for _ in texts]
        read = self._read(model, [part for _, _, part in pieces])
        for (i, offset, _), spans in zip(pieces, read, strict=True):
            for start, end, label in spans:
                a, b = offset + start, offset + end
                entities[i].append(Entity(texts[i][a:b], label, a, b))
        return entities

    def missing(self) -> str:
        """Return the missing package or model and how to get it, or an empty string."""
        try:
            self._load_model()
        except ImportError as error:
            return str(error)
        return ""

    def _load_model(self) -> Any:
        raise NotImplementedError

    def _read(self, model: Any, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        raise NotImplementedError


def split_text(text: str, longest: int) -> Iterator[tuple[int, str]]:
    """Yield the parts of a text that is too long for a model, and their start positions."""
    text = _SURROGATES.sub("\ufffd", text)  # models cannot encode surrogates
    start = 0
    while len(text) - start > longest:
        space = text.rfind(" ", start, start + longest)
        end = space + 1 if space > start else start + longest
        yield start, text[start:end]
        start = end
    if text[start:].strip():
        yield start, text[start:]


@declared
class SpacyBackend(_Backend):
    """Base class of recognizers that run a spaCy pipeline.

    Parameters
    ----------
    model : str, default="en_core_web_sm"
        Name or path of an installed pipeline.
    n_process : int, default=1
        Number of processes. If -1, all cores are used. Must be 1 on a graphics card.
    batch_size : int, default=256
        Number of texts in a batch.
    device : {"auto", "cpu", "gpu"}, default="auto"
        "auto" uses a graphics card if spaCy supports it.
    """

    _packages = ("spacy",)
    _does: ClassVar[str]  # the part of a pipeline that is asked for

    model: ModelName = "en_core_web_sm"
    _: KW_ONLY
    n_process: JobCount = 1
    batch_size: Count = 256
    device: Device = "auto"

    @property
    def about(self) -> dict[str, str]:
        """Backend, model and version of both."""
        return spacy_about(type(self).__name__, self.model, self.device)

    def _load_model(self) -> Any:
        pipeline = load_spacy(type(self).__name__, self.model, self.device)
        if not self._is_able(pipeline):
            raise MissingDependencyError(
                f"{type(self).__name__}: the pipeline {self.model} has no {self._does}. "
                "Install a pipeline "
                "with this component: python -m spacy download en_core_web_sm"
            )
        return pipeline

    def _is_able(self, pipeline: Any) -> bool:
        raise NotImplementedError


@declared
class SpacyRecognizer(SpacyBackend):
    """Find people, places, organizations and other entities with a spaCy pipeline.

    See Also
    --------
    PresidioRecognizer : Combines patterns and spaCy.
    PatternRecognizer : Requires no model.

    Notes
    -----
    Components that entities do not require, such as tagger and parser, are disabled. The small
    English model reads about 6,000 words per second on one core. Its types are the OntoNotes types,
    such as PERSON, ORG and GPE, including dates and numbers.

    Examples
    --------
    >>> from skeval.text import SpacyRecognizer
    >>> SpacyRecognizer("de_core_news_sm", n_process=2)
    SpacyRecognizer(model='de_core_news_sm', n_process=2)
    """

    _does = "component that finds entities"

    def _is_able(self, pipeline: Any) -> bool:
        return any("doc.ents" in pipeline.get_pipe_meta(n).assigns for n in pipeline.pipe_names)

    def _read(self, model: Any, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        for doc in pipe_texts(self, model, texts, without=_NOT_FOR_ENTITIES):
            yield [(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]


def pipe_texts(recognizer: Any, pipeline: Any, texts: list[str], *, without: Sequence[str]) -> Any:
    """Return the documents that a pipeline makes of texts, in their order."""
    idle = [name for name in without if name in pipeline.pipe_names]
    on_card = "cupy" in type(import_module("thinc.api").get_current_ops()).__name__.lower()
    return pipeline.pipe(
        texts,
        batch_size=recognizer.batch_size,
        n_process=1 if on_card else recognizer.n_process,
        disable=idle,
    )


def spacy_about(owner: str, model: str, device: str) -> dict[str, str]:
    """Return backend, model and version of a spaCy pipeline."""
    meta = load_spacy(owner, model, device).meta
    name = f"{meta.get('lang', '')}_{meta.get('name', '')}"
    read = f"{package_version('spacy')}, model {meta.get('version', 'unknown')}"
    return {
        "backend": "spacy",
        "model": name if name == model else f"{model} ({name})",
        "version": read,
    }


def load_spacy(owner: str, model: str, device: str) -> Any:
    """Return a spaCy pipeline, which is loaded only once."""
    spacy = import_optional(owner, "spacy", "pip install 'skeval[text]'")
    if not spacy.util.is_package(model) and not Path(model).is_dir():
        raise MissingDependencyError(
            f"{owner}: the spaCy pipeline {model} is not installed. Run: "
            f"python -m spacy download {model}"
        )
    return _spacy(model, device)


@cache
def _spacy(model: str, device: str) -> Any:
    spacy = import_module("spacy")
    if device == "gpu":
        spacy.require_gpu()
    elif device == "auto":
        spacy.prefer_gpu()
    return spacy.load(model)


@declared
class FlairRecognizer(_Backend):
    """Find people, places, organizations and miscellaneous names with a Flair tagger.

    Parameters
    ----------
    model : str, default="flair/ner-english-large"
        A tagger of the Hugging Face hub, which Flair downloads at first use, or the path of one.
    batch_size : int, default=32
        Texts at once.

    See Also
    --------
    SpacyRecognizer : Faster and less accurate.

    Examples
    --------
    >>> from skeval.text import FlairRecognizer
    >>> FlairRecognizer("flair/ner-english-fast")
    FlairRecognizer(model='flair/ner-english-fast')
    """

    _packages = ("flair",)
    _piece = _FLAIR_PIECE

    model: ModelName = "flair/ner-english-large"
    _: KW_ONLY
    batch_size: Count = 32

    def _load_model(self) -> Any:
        import_optional(type(self).__name__, "flair", "pip install flair")
        return _flair(self.model)

    def _read(self, model: Any, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        sentence = import_module("flair.data").Sentence
        for start in range(0, len(texts), self.batch_size):
            sentences = [sentence(text) for text in texts[start : start + self.batch_size]]
            model.predict(sentences, mini_batch_size=self.batch_size)
            for one in sentences:
                spans = one.get_spans(model.label_type)
                yield [(s.start_position, s.end_position, s.tag) for s in spans]


@cache
def _flair(model: str) -> Any:
    return _load_from_hub(
        "FlairRecognizer", model, import_module("flair.models").SequenceTagger.load
    )


@declared
class GlinerRecognizer(_Backend):
    """Find entities of any types that are named in words, with a GLiNER model.

    Parameters
    ----------
    labels : list of str or None, default=None
        Types to find. None uses person, organization, location, email, phone number and address.
    model : str, default="urchade/gliner_multi_pii-v1"
        A model of the Hugging Face hub, which GLiNER downloads at first use, or the path of one.
    threshold : float, default=0.5
        Minimum score of an entity.
    batch_size : int, default=8
        Texts at once.

    See Also
    --------
    SpacyRecognizer : Faster, with fixed types.

    Examples
    --------
    >>> from skeval.text import GlinerRecognizer
    >>> GlinerRecognizer(["person", "disease"])
    GlinerRecognizer(labels=['person', 'disease'])
    """

    _packages = ("gliner",)
    _piece = _GLINER_PIECE

    labels: Names = None
    model: ModelName = "urchade/gliner_multi_pii-v1"
    _: KW_ONLY
    threshold: Fraction = 0.5
    batch_size: Count = 8

    def _load_model(self) -> Any:
        import_optional(type(self).__name__, "gliner", "pip install gliner")
        return _gliner(self.model)

    def _read(self, model: Any, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        asked = list(self.labels or _GLINER_LABELS)
        settings = {"threshold": self.threshold, "batch_size": self.batch_size}
        for spans in model.inference(texts, asked, **settings):
            yield [(span["start"], span["end"], span["label"]) for span in spans]


_GLINER_LABELS = ("person", "organization", "location", "email", "phone number", "address")


@cache
def _gliner(model: str) -> Any:
    load = import_module("gliner").GLiNER.from_pretrained
    device = "cuda" if import_module("torch").cuda.is_available() else "cpu"
    return _load_from_hub("GlinerRecognizer", model, partial(load, map_location=device))


@declared
class PresidioRecognizer(_Backend):
    """Find personal data with the patterns of Microsoft Presidio and a spaCy pipeline.

    Parameters
    ----------
    model : str, default="en_core_web_sm"
        Name of an installed spaCy pipeline. Nothing is downloaded.
    entities : list of str or None, default=None
        Presidio types that count, such as ``"PERSON"``. If None, all types count.
    threshold : float, default=0.4
        Minimum score of an entity.
    language : str, default="en"
        Language of the texts, as the pipeline names it.

    See Also
    --------
    PatternRecognizer : Uses a few patterns and requires no other package.

    Notes
    -----
    If entities overlap, the one with the highest score counts, then the longest.

    Examples
    --------
    >>> from skeval.text import PresidioRecognizer
    >>> PresidioRecognizer(entities=["PERSON", "IBAN_CODE"])
    PresidioRecognizer(entities=['PERSON', 'IBAN_CODE'])
    """

    _packages = ("presidio-analyzer", "spacy")

    model: ModelName = "en_core_web_sm"
    _: KW_ONLY
    entities: Names = None
    threshold: Fraction = 0.4
    language: ModelName = "en"

    @property
    def about(self) -> dict[str, str]:
        """Backend, model and version of both."""
        read = spacy_about(type(self).__name__, self.model, "cpu")
        said = f"{package_version('presidio-analyzer')}, spacy {read['version']}"
        return {"backend": "presidio", "model": read["model"], "version": said}

    def _load_model(self) -> Any:
        name = type(self).__name__
        import_optional(name, "presidio_analyzer", "pip install presidio-analyzer")
        load_spacy(name, self.model, "cpu")  # otherwise, Presidio would download it
        return _presidio(self.model, self.language)

    def _read(self, model: Any, texts: list[str]) -> Iterator[list[tuple[int, int, str]]]:
        settings = {"entities": self.entities, "score_threshold": self.threshold}
        for text in texts:
            found = model.analyze(text, language=self.language, **settings)
            best = sorted(found, key=lambda r: (-r.score, r.start - r.end, r.start, r.entity_type))
            apart: list[tuple[int, int, str]] = []
            for r in best:
                if all(r.end <= start or r.start >= end for start, end, _ in apart):
                    apart.append((r.start, r.end, r.entity_type))
            yield sorted(apart)


@cache
def _presidio(model: str, language: str) -> Any:
    presidio = import_module("presidio_analyzer")
    provider = import_module("presidio_analyzer.nlp_engine").NlpEngineProvider(
        nlp_configuration={
            "nlp_engine_name": "spacy",
            "models": [{"lang_code": language, "model_name": model}],
        }
    )
    return presidio.AnalyzerEngine(
        nlp_engine=provider.create_engine(), supported_languages=[language]
    )


@declared
class CallableRecognizer(BaseEstimator):
    """Find entities with a custom function.

    Parameters
    ----------
    function : callable
        Function that receives a list of texts and returns for each text a list of :class:`Entity`,
        or of tuples (text, label, start, end).
    name : str, default="a function"
        Name of the recognizer in results.
    version : str, default=""
        Version of the function. Data on disk are identified by name, version and the code of the
        function.

    See Also
    --------
    EntityLeakage : Accepts any object with the method ``recognize``.

    Examples
    --------
    >>> from skeval.text import CallableRecognizer
    >>> def tickets(texts):
    ...     return [[(t[:4], "TICKET", 0, 4)] if t.startswith("T-") else [] for t in texts]
    >>> CallableRecognizer(tickets, "tickets").recognize(["T-77 is open", "no ticket"])
    [[Entity(text='T-77', label='TICKET', start=0, end=4)], []]
    """

    function: Function
    name: str = "a function"
    _: KW_ONLY
    version: str = ""

    @property
    def about(self) -> dict[str, str]:
        """Backend, model and version."""
        model = getattr(self.function, "__qualname__", type(self.function).__name__)
        return {"backend": self.name, "model": model, "version": self.version}

    def recognize(self, texts: Sequence[str]) -> list[list[Entity]]:
        """Return the entities of each text, as the function finds them."""
        return [[Entity(*entity) for entity in part] for part in self.function(list(texts))]


def _load_from_hub(owner: str, model: str, load: Callable[[str], Any]) -> Any:
    """Load a model from the hub, or raise an error that explains how to get it."""
    try:
        return load(model)
    except (OSError, ValueError) as error:
        raise MissingDependencyError(
            f"{owner}: the model {model} could not be loaded ({type(error).__name__}). Models are "
            "downloaded at first use. If this computer has no network, run on another computer: "
            f"hf download {model}, and pass the folder as model."
        ) from error
