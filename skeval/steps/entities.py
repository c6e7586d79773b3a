"""Entities that a recognizer finds in text columns, as hashes, which may be stored on disk."""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
import uuid
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import joblib
import numpy as np

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.steps.samples import drawn_positions, named_seed, sample_positions
from skeval.steps.texts import plain_texts, units_of, word_spans, words_of
from skeval.tables.keys import key_codes
from skeval.utils.files import replacing
from skeval.utils.formatting import risk_level

_ROLES = ("train", "holdout", "synthetic")
_MAX_OVERLAP = 50.0  # percent of the training entities, above which SynEval calls the risk high
_BLOCK = 2000  # texts recognized between two writes to the disk
_FORM = 2  # raised if the files on disk change
_MAX_WORDS = 4  # further words of an entity are ignored
_WORD = re.compile(r"\w(?:[\w'\u2019-]*\w)?")
_SEPARATED = re.compile(r"[\d\s()+./-]*\d[\d\s()+./-]*|[A-Z]{2}\d\d[ A-Z0-9]+")
_MARKS = "'\"\u2018\u2019\u201c\u201d\u00ab\u00bb.,;:!?()[]{}*_- "
_ONE_AT_A_TIME = Lock()  # models are not made for threads


class Entity(NamedTuple):
    """A part of a text that names somebody or something.

    Parameters
    ----------
    text : str
        The part itself, ``whole[start:end]``.
    label : str
        Its type, such as ``"PERSON"``, in the words of the recognizer.
    start, end : int
        Its place, in characters.

    See Also
    --------
    EntityLeakage : Counts those that are repeated.

    Examples
    --------
    >>> from skeval.text import Entity
    >>> Entity("Ada", "PERSON", 0, 3).label
    'PERSON'
    """

    text: str
    label: str
    start: int
    end: int


@dataclass(frozen=True)
class Reading:
    """How the texts of a table are read."""

    columns: tuple[str, ...]
    recognizer: Any
    keep: Any = None
    n_windows: int = 4
    n_max_texts: int | None = None
    seed: int = 0
    group: str | None = None
    memory: str | None = None

    @property
    def recognizer_info(self) -> dict[str, str]:
        """Backend, model and version of the recognizer."""
        said = getattr(self.recognizer, "about", None) or {
            "backend": type(self.recognizer).__name__
        }
        return {name: str(said.get(name, "")) for name in ("backend", "model", "version")}


class Recognized(NamedTuple):
    """The entities of one text, with types, hashes (n_entities, 1 + n_windows) and words."""

    # The first hash is the hash of the entity. The others are hashes of the phrases around it, or
    # 0 without a phrase. Lengths are the numbers of words of each entity, and `n_words` is the
    # number of words in the text. Places have the shape (n_entities, 2). They contain the position
    # of the first word of each entity among the words that tables have of the text, and the
    # number of its words.
    types: tuple[str, ...]
    hashes: np.ndarray
    lengths: np.ndarray
    places: np.ndarray
    n_words: int


@dataclass(frozen=True)
class Mentions:
    """Entities in the texts of one table."""

    rows: np.ndarray
    types: np.ndarray
    hashes: np.ndarray
    lengths: np.ndarray
    words: np.ndarray
    n_rows: int
    n_words: int


@shared
def row_groups(context: Context, group: str | None) -> dict[str, np.ndarray]:
    """Return the group of each row of both real tables as numbers. Without a column, all differ."""
    roles = [role for role in ("train", "holdout") if role in context]
    sizes = [context.n_rows(role) for role in roles]
    if group is None:
        numbers = np.arange(sum(sizes))
    else:
        named = [context.original_frame(role)[[group]] for role in roles]
        numbers = np.concatenate(key_codes(named[0], named[-1])[: len(roles)])
        alone = np.flatnonzero(numbers < 0)  # a row without a group is a group by itself
        numbers[alone] = numbers.max(initial=-1) + 1 + np.arange(alone.size)
    return dict(zip(roles, np.split(numbers, np.cumsum(sizes)[:-1]), strict=True))


@shared
def rows_read(context: Context, reading: Reading, role: str) -> np.ndarray:
    """Return the rows of a table that are read, which may be a sample of rows or of groups."""
    n_rows, n_max = context.n_rows(role), reading.n_max_texts
    seed = named_seed(role, reading.seed)
    if n_max is None or role == "synthetic" or reading.group is None:
        every = np.arange(n_rows)
        return every if n_max is None else drawn_positions(context, role, n_max, seed)
    groups = row_groups(context, reading.group)
    pooled = np.concatenate(list(groups.values()))
    # the number of groups that have this number of rows on average over both tables. Whole groups
    # stay exchangeable, but groups from which some rows are removed do not
    n_groups = max(1, int(n_max * np.unique(pooled).size / pooled.size))
    own = np.unique(groups[role])
    chosen = own[sample_positions(own.size, n_groups, seed)]
    return np.flatnonzero(np.isin(groups[role], chosen))


@shared
def real_texts(context: Context, reading: Reading) -> dict[str, Recognized]:
    """Return the entities in each distinct text of both real tables, found in one pass."""
    roles = [role for role in ("train", "holdout") if role in context]
    return recognize(_distinct(context, reading, roles), reading, {})


@shared
def mentions(context: Context, reading: Reading, role: str) -> Mentions:
    """Return the entities in the texts of a table. Training texts are not read again."""
    known = real_texts(context, reading)
    if role == "synthetic":
        known = recognize(_distinct(context, reading, [role]), reading, known)
    rows = rows_read(context, reading, role)
    places: list[int] = []
    parts: list[Recognized] = []
    n_words = 0
    words = [np.empty((0, _MAX_WORDS), dtype=np.uint64)]
    for column in reading.columns:
        first = len(parts)
        for place, text in zip(rows, plain_texts(context, role, column)[rows], strict=True):
            if isinstance(text, str):
                part = known[text]
                n_words += part.n_words
                if part.types:
                    places.append(place)
                    parts.append(part)
        words.append(_words(context, role, column, places[first:], parts[first:]))
    none = np.empty((0, 1 + reading.n_windows), dtype=np.uint64)
    return Mentions(
        rows=np.repeat(np.array(places, dtype=np.int64), [len(part.types) for part in parts]),
        types=np.array([kind for part in parts for kind in part.types], dtype=np.str_),
        hashes=np.concatenate([none, *(part.hashes for part in parts)]),
        lengths=np.concatenate([np.empty(0, np.int64), *(part.lengths for part in parts)]),
        words=np.concatenate(words),
        n_rows=rows.size,
        n_words=n_words,
    )


def _words(
    context: Context, role: str, column: str, rows: Sequence[int], parts: Sequence[Recognized]
) -> np.ndarray:
    """Return the first words of the entities in some rows of a column, mention after mention."""
    if not parts:
        return np.empty((0, _MAX_WORDS), dtype=np.uint64)
    units = units_of(context, role, column)
    text = np.repeat(units.which[np.asarray(rows)], [len(part.types) for part in parts])
    first, n_each = np.concatenate([part.places for part in parts]).T
    places = (units.starts[text] + first)[:, None] + np.arange(_MAX_WORDS)
    inside = np.arange(_MAX_WORDS) < n_each[:, None]
    inside &= places < units.starts[text + 1][:, None]
    found = np.zeros(places.shape, dtype=np.uint64)
    found[inside] = units.keys[units.codes[places[inside]]]
    return found


def _distinct(context: Context, reading: Reading, roles: Iterable[str]) -> list[str]:
    texts: dict[str, None] = {}
    for role in roles:
        rows = rows_read(context, reading, role)
        for column in reading.columns:
            values = plain_texts(context, role, column)[rows]
            texts |= dict.fromkeys(text for text in values if isinstance(text, str))
    return list(texts)


def recognize(
    texts: Sequence[str], reading: Reading, known: Mapping[str, Recognized]
) -> dict[str, Recognized]:
    """Return the entities in distinct texts, without reading the `known` texts again."""
    read = {text: known[text] for text in texts if text in known}
    new = [text for text in texts if text not in read]
    store = _Store(reading) if reading.memory is not None else None
    if store is not None and new:
        kept = store.load()
        read |= {text: kept[key] for text in new if (key := store.key(text)) in kept}
        new = [text for text in new if text not in read]
    for start in range(0, len(new), _BLOCK):
        block = new[start : start + _BLOCK]
        with _ONE_AT_A_TIME:
            given = reading.recognizer.recognize(block)
        checked = _check_entities(given, block, reading.recognizer_info["backend"])
        secret = store.secret if store is not None else b""
        parts = [
            _hash_entities(text, entities, reading, secret)
            for text, entities in zip(block, checked, strict=True)
        ]
        if store is not None:
            store.save(block, parts)
        read |= dict(zip(block, parts, strict=True))
    return read


def _check_entities(given: Any, texts: Sequence[str], backend: str) -> list[list[Entity]]:
    """Return checked entities, or raise an error that does not quote the texts."""
    try:
        lists = [[Entity(*entity) for entity in entities] for entities in given]
        sound = all(
            0 <= e.start < e.end <= len(text) and isinstance(e.label, str)
            for text, entities in zip(texts, lists, strict=True)
            for e in entities
        )
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise InvalidParameterError(
            f"recognizer: {backend} must return for each text a list of entities (text, label, "
            "start, end) that lie within the text."
        )
    return lists


def normalize_entity(text: str) -> str:
    """Return an entity in the form in which it is compared."""
    # Case, spaces, marks at the ends, a genitive, an article and a title are ignored. If a number
    # is written in groups, only digits and letters count.
    plain = unicodedata.normalize("NFKC", text)
    if _SEPARATED.fullmatch(plain):
        return "".join(char for char in plain if char.isalnum()).casefold()
    words = " ".join(plain.casefold().split())
    words = re.sub(r"^(?:(?:the|a|an|(?:dr|mr|mrs|ms|prof)\.?) )+", "", words)
    words = re.sub(r"['\u2019]s$", "", words)
    return words.strip(_MARKS) or words


def _hash_entities(
    text: str, entities: Sequence[Entity], reading: Reading, secret: bytes
) -> Recognized:
    words = [match.span() for match in _WORD.finditer(text)]
    plain = word_spans(text)
    starts, ends = [start for start, _ in words], [end for _, end in words]
    kept = [e for e in entities if reading.keep is None or reading.keep.keeps(e)]
    hashes = np.zeros((len(kept), 1 + reading.n_windows), dtype=np.uint64)
    lengths, places = np.zeros(len(kept), dtype=np.int64), np.zeros((len(kept), 2), np.int64)
    for i, (row, entity) in enumerate(zip(hashes, kept, strict=True)):
        name = normalize_entity(entity.text)
        row[0] = _number(name, secret)
        first, last = bisect_right(ends, entity.start), bisect_left(starts, entity.end)
        lengths[i], places[i] = last - first, _place(text, plain, entity, name)
        for n in range(1, reading.n_windows + 1):
            if first - n < 0 and last + n > len(words):
                break  # no word more than in the narrower window
            left, right = words[max(0, first - n) : first], words[last : last + n]
            around = [text[a:b].casefold() for a, b in left] + ["\0", name, "\0"]
            row[n] = _number(" ".join(around + [text[a:b].casefold() for a, b in right]), secret)
    return Recognized(tuple(e.label for e in kept), hashes, lengths, places, len(words))


def _place(
    text: str, words: Sequence[tuple[int, int]], entity: Entity, name: str
) -> tuple[int, int]:
    """Return the position of the compared form of an entity in a text, and its length in words."""
    first = bisect_right(words, (entity.start, entity.start))
    last = bisect_left(words, (entity.end, entity.end))
    own = [text[start:end].casefold() for start, end in words[first:last]]
    compared = words_of(name)
    if compared and compared[0] in own:  # words that are skipped, such as an article, do not count
        first += own.index(compared[0])
        last = min(last, first + len(compared))
    return first, last - first


def _number(text: str, secret: bytes) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8, key=secret).digest()
    return int.from_bytes(digest, "little") or 1  # 0 means none


class _Store:
    """A folder with hashes of the entities. Texts, or parts of texts, are never written."""

    # Hashes are keyed by a secret of the folder. Files are added, and never changed, so that
    # several processes may share a folder.

    def __init__(self, reading: Reading) -> None:
        folder = Path(str(reading.memory))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.secret = _secret(folder / "secret")
        parts = [
            _FORM,
            reading.recognizer_info,
            reading.n_windows,
            type(reading.recognizer).__qualname__,
        ]
        parts += [joblib.hash(_settings(part)) for part in (reading.recognizer, reading.keep)]
        name = self._digest(json.dumps(parts, sort_keys=True)).hex()
        self._folder, self._n_windows = folder / name, reading.n_windows
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def key(self, text: str) -> bytes:
        return self._digest(text)

    def _digest(self, text: str) -> bytes:
        given = text.encode("utf-8", "replace")
        return hashlib.blake2b(given, digest_size=16, key=self.secret).digest()

    def load(self) -> dict[bytes, Recognized]:
        kept: dict[bytes, Recognized] = {}
        for path in sorted(self._folder.glob("*.npz")):
            try:
                with path.open("rb") as file, np.load(file) as arrays:
                    kept |= _unpack_entities(arrays)
            except (OSError, ValueError, KeyError, zipfile.BadZipFile):
                continue  # an incomplete file of a full disk, whose texts are read again
        return kept

    def save(self, texts: Sequence[str], parts: Sequence[Recognized]) -> None:
        keys = [self.key(text) for text in texts]
        kinds = sorted({kind for part in parts for kind in part.types})
        number = {kind: i for i, kind in enumerate(kinds)}
        path = self._folder / f"{self._digest(''.join(k.hex() for k in keys)).hex()}.npz"
        none = np.empty((0, 1 + self._n_windows), dtype=np.uint64)
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(
                file,
                texts=np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, 16),
                n_words=np.array([part.n_words for part in parts], dtype=np.int64),
                n_entities=np.array([len(part.types) for part in parts], dtype=np.int64),
                lengths=np.concatenate([part.lengths for part in parts]),
                places=np.concatenate([part.places for part in parts]),
                kinds=np.array(kinds, dtype=np.str_),
                types=np.array([number[k] for p in parts for k in p.types], dtype=np.int64),
                hashes=np.concatenate([none, *(p.hashes for p in parts)]),
            )


def _unpack_entities(file: Any) -> dict[bytes, Recognized]:
    kinds = [str(kind) for kind in file["kinds"]]
    ends = np.cumsum(file["n_entities"])
    starts = ends - file["n_entities"]
    types, hashes, lengths, places, n_words = (
        file[name] for name in ("types", "hashes", "lengths", "places", "n_words")
    )
    return {
        bytes(key): Recognized(
            tuple(kinds[i] for i in types[start:end]),
            hashes[start:end],
            lengths[start:end],
            places[start:end],
            int(words),
        )
        for key, start, end, words in zip(file["texts"], starts, ends, n_words, strict=True)
    }


def _settings(part: Any) -> Any:
    """Return the settings on which the result of a recognizer depends, as far as they are known."""
    if hasattr(part, "get_params"):
        return {name: _settings(value) for name, value in part.get_params(deep=False).items()}
    code = getattr(part, "__code__", None)
    # a function of the same name may have another body
    return part if code is None else (part.__qualname__, code.co_code, repr(code.co_consts))


def _secret(path: Path) -> bytes:
    """Return the bytes of a file that only its owner may read, and create it if necessary."""
    if not path.exists():
        drafted = path.with_name(f".secret-{uuid.uuid4().hex}")
        with os.fdopen(os.open(drafted, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(32))
        with suppress(FileExistsError):
            os.link(drafted, path)  # complete or not at all, and never twice
        drafted.unlink()
    return path.read_bytes()


def texts_in_numbers(
    context: Context, reading: Reading, names: tuple[str, str], most: float
) -> dict[str, Any]:
    """Return the recognizer, the numbers of texts, and the numbers that SynEval prints."""
    # `names` are the names that SynEval uses for a number and a density. Above the density `most`,
    # the risk is high.
    by_role = {role: mentions(context, reading, role) for role in _ROLES if role in context}
    pairs = {role: typed_entities(found) for role, found in by_role.items()}
    original = pairs["train"]
    overlap = 100.0 * len(original & pairs["synthetic"]) / max(1, len(original))
    printed: dict[str, Any] = {}
    for role, name in (("synthetic", "synthetic"), ("train", "original")):
        n_words, n_all = max(1, by_role[role].n_words), len(by_role[role].types)
        density = n_all / n_words
        printed[name] = {
            "total": len(pairs[role]),
            "density": len(pairs[role]) / n_words,
            names[0]: n_all,
            names[1]: density,
            "risk_level": risk_level(density, most),
        }
    return {
        "recognizer": reading.recognizer_info,
        "text_columns": list(reading.columns),
        "documents": reading.group or "rows",
        "n_rows": {role: context.n_rows(role) for role in by_role},
        "n_read": {role: found.n_rows for role, found in by_role.items()},
        "syneval": {
            **printed,
            "overlap_percentage": overlap,
            "risk_level": risk_level(overlap, _MAX_OVERLAP),
        },
    }


def typed_entities(found: Mentions) -> set[tuple[int, str]]:
    """Return the distinct entities of a table. An entity with two types occurs twice."""
    return set(zip(found.hashes[:, 0].tolist(), found.types.tolist(), strict=True))
