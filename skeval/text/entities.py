"""Names and numbers in free text: those of train that the release repeats, and phantoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import InvalidParameterError, Sentence
from skeval.formatting import percent
from skeval.parameters import AnyColumns, Count, Interval, Legal, Seed, has_methods
from skeval.result import Result, undefined
from skeval.stats.relabelling import least_p_value
from skeval.steps.entities import Mentions, Reading, mentions
from skeval.steps.texts import text_columns
from skeval.tags import SCREEN_TAGS
from skeval.text.patterns import PatternRecognizer
from skeval.text.rare_entities import REAL, Evidence, RareKeys, described, evidence_of, joined
from skeval.verdict import TEST_LEVEL, Contrast

Recognizer = Annotated[Any, has_methods(("recognize",), values=("patterns",))]
Keep = Annotated[Any, has_methods(("keeps",), values=(None,))]
GroupColumn = Annotated[
    str | None, Legal("the name of a column or None", lambda v: v is None or isinstance(v, str), -1)
]
Folder = Annotated[
    Any,
    Legal(
        "a path or None",
        lambda v: v is None or isinstance(v, str) or hasattr(v, "__fspath__"),
        1,
        in_files=lambda v: v is None,
    ),
]


class EntityLeakage(Metric):
    r"""Share of the synthetic texts' entities that one train text alone mentions: 0 if none does.

    A generator that has memorised its texts writes names, addresses and numbers of real persons
    into new sentences. Somebody who knows a person looks for the name, and reads what stands around
    it. Common names occur without any leak: a match that could as well be of a stranger is a
    phantom. Names that holdout texts alone mention, which the generator never saw, count phantoms.

    Parameters
    ----------
    recognizer : "patterns" or object with recognize, default="patterns"
        What finds entities; see :class:`EntityRecognizer`. "patterns" is
        :class:`PatternRecognizer`, which needs no model: addresses, numbers, capitalised words.
        Names are found best by a model, as of :class:`SpacyRecognizer`.
    columns : None, int or list of str, default=None
        The text columns; None for all, an int for the first so many, or names. Those of a row are
        one document.
    group : str or None, default=None
        A column that says whose a row is, such as an author, if several rows are one person's:
        documents of one person change places together, and count once. None where each row is a
        document of its own.
    keep : object with keeps, or None, default=None
        Which entities count, as :class:`EntityFilter` says; None for all.
    max_documents : int, default=1
        An entity is rare that at most so many real documents, or groups, mention.
    n_windows : int, default=4
        Phrases are an entity with up to 1, 2, ... so many words on both sides; 0 for none.
    n_max_texts : int or None, default=None
        How many rows of each table are read at most, drawn at random; None for all.
    memory : path or None, default=None
        A folder that keeps what was recognized from one call to the next: hashes and counts, no
        text. See Notes.
    n_permutations : int, default=1999
        Number of relabellings behind the p-values; fewer are drawn where many reach what was
        observed, and none where a p-value is known exactly.
    random_state : int, default=0
        Seed of the relabellings and of the choice of rows.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Raises
    ------
    MissingInputError
        At fit, if the recognizer's package or model is not installed; it says how to get it.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release. A name that is misspelled,
    or that the recognizer does not see, hides from it.

    See Also
    --------
    NominalMentions : The same of nouns for persons.
    skeval.privacy.NearDuplicateShare : Texts that are copied as a whole.

    Notes
    -----
    Each distinct entity counts once, however often the synthetic texts repeat it. Case, spaces and
    marks at the ends do not matter. With E the synthetic texts' entities, and R(T), R(H) the rare
    ones that train and that the holdout alone mentions,

    .. math:: \mathrm{value} = \frac{|E \cap R(T)|}{|E|}, \qquad
        \mathrm{phantoms} = \frac{|E \cap R(H)|}{|E|}

    The baseline is the value by chance: given the synthetic texts and the pool of real documents,
    all choices of which were train are equally likely if none was learned. The share of train among
    the rare entities that are repeated is held against that of random choices. A kind of
    entities, of one type and number of words, weighs the more the more seldom it is repeated,
    whoever mentions it: full names more than names of towns; and a document that lists many weighs
    less for each, by the root. The p-value is one-sided, and exact if
    rows that belong together change places together (`group`). Where an author stands in both
    tables, documents were no samples of authors: these are left out, with a warning.

    A phrase around a common name may be as telling as a rare name. Phrases are tested alike, all
    windows together, and the p-value is twice the lesser of the two. ``details`` has both tests,
    each type with a p-value by itself and one after Holm, each window, and the share of train's
    and of the holdout's rare entities that are repeated (``recall``). ``syneval`` are
    the numbers that SynEval prints: distinct entities by type, their density, which is their number
    over that of words and no level of risk, and the percentage of train's that are repeated.

    Where `n_max_texts` leaves rows out, the value is that of the sample, in which more entities
    look rare and fewer are matched; ``standard_error`` is that of the share. The
    interval is Wilson's, of the share among many more entities from this generator.

    Entities are compared without case, spaces and marks at their ends, an article (the, a, an) or a
    title (Dr, Mr, Mrs, Ms, Prof) before them, and a genitive (Ada's); numbers written in groups by
    their letters and digits alone. So "Dr Smith" and "the Smith's" are one entity.

    Results hold counts, types and shares: never a name or a sentence. Nor does a folder of
    `memory`: its files hold keyed hashes, types and counts. Who has the folder can still try names
    one after the other, so keep it where the texts are kept.

    References
    ----------
    "Phantoms and Disclosures", arXiv:2606.16952, on matches that could as well be a stranger's.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import EntityLeakage
    >>> train, holdout, synthetic = (
    ...     pd.DataFrame({"note": [f"Please write to {who}@example.org again" for who in names]})
    ...     for names in (["ada", "ben", "eve"], ["kim", "lea", "max"], ["ada", "ben", "zoe", "b"])
    ... )
    >>> EntityLeakage().fit(train, holdout, schema={"note": "text"}).score(synthetic)
    0.5
    """

    tags = replace(SCREEN_TAGS, needs=frozenset({"holdout", "text"}), display="EntitiesDisplay")

    def __init__(
        self,
        recognizer: Recognizer = "patterns",
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
        self.recognizer = recognizer
        self.columns = columns
        self.group = group
        self.keep = keep
        self.max_documents = max_documents
        self.n_windows = n_windows
        self.n_max_texts = n_max_texts
        self.memory = memory
        self.n_permutations = n_permutations
        self.random_state = random_state

    _nouns = ("entity", "entities", "an entity")

    def unmet_need(self, context: Context) -> Sentence | None:
        """Return what the metric lacks, its recognizer's package or model included, or None."""
        if unmet := super().unmet_need(context):
            return unmet
        missing = getattr(self._recognizer(), "missing", lambda: None)()
        return Sentence(f"needs its recognizer. {missing}") if missing else None

    def _prepare(self, context: Context) -> None:
        mentions(context, self._reading(context), "train")

    def _recognizer(self) -> Any:
        return PatternRecognizer() if self.recognizer == "patterns" else self.recognizer

    def _reading(self, context: Context) -> Reading:
        columns = text_columns(context.schema, self.columns)
        if self.group is not None and self.group not in context.schema.kinds:
            raise InvalidParameterError(
                f"{type(self).__name__}: group names {self.group}, which is no column. Columns: "
                f"{', '.join(context.schema.kinds)}."
            )
        return Reading(
            columns=tuple(name for name in columns if name != self.group),
            recognizer=self._recognizer(),
            keep=self.keep,
            n_windows=self.n_windows,
            n_max_texts=self.n_max_texts,
            seed=self.random_state,
            group=self.group,
            memory=None if self.memory is None else str(self.memory),
        )

    def _evidence(self, context: Context) -> Evidence:
        return evidence_of(context, self._reading(context), self.max_documents)

    def _compute(self, context: Context) -> Result:
        evidence = self._evidence(context)
        if not evidence.n_real:
            return undefined(f"the real texts have no {self._nouns[0]} that the recognizer sees.")
        if not evidence.n_train or not evidence.n_holdout:
            return undefined(f"every {self.group} of a table stands in the other one too.")
        return Result(evidence.windows[0].share, warnings=evidence.warnings(self.group))

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        evidence, settings = self._evidence(context), (self.n_permutations, self.random_state)
        sets = {self._nouns[1]: evidence.windows[0]}
        if self.n_windows:
            sets[f"phrases around {self._nouns[2]}"] = joined(evidence.windows[1:])
        tests = {name: evidence.test(keys, *settings) for name, keys in sets.items()}
        best = min(tests, key=lambda name: tests[name].p_value)
        types = evidence.by_type(*settings)
        entities = evidence.windows[0]
        result = replace(
            result,
            p_value=min(1.0, len(tests) * tests[best].p_value),
            baseline=entities.by_chance(evidence),
            interval=entities.interval,
            contrast=Contrast(
                f"share of train, by weight, among {best} that synthetic texts repeat of "
                f"{self._alone('real')} alone",
                round(tests[best].observed, 12),
                round(tests[best].mean, 12),
                n_tests=len(tests),
                least_p=min(1.0, len(tests) * least_p_value(evidence.n_train, evidence.n_holdout)),
            ),
            details={
                **texts_in_numbers(context, self._reading(context)),
                "standard_error": standard_error(entities.share, entities.n_synthetic),
                "recall": dict(zip(REAL, entities.recall, strict=True)),
                "tests": {name: described(sets[name], test) for name, test in tests.items()},
                "types": types,
                "windows": {str(n): described(w) for n, w in enumerate(evidence.windows) if n},
            },
        )
        return replace(result, fact=self._fact(result, entities), advice=self._advice(types))

    def _alone(self, role: str) -> str:
        what = self.group or f"{role} text"
        return f"one {what}" if self.max_documents == 1 else f"at most {self.max_documents} {what}s"

    def _fact(self, result: Result, entities: RareKeys) -> str:
        k, other = int(entities.train_only.sum()), int(entities.holdout_only.sum())
        more = result.baseline is not None and result.value > result.baseline
        if not more or result.p_value is None or result.p_value > TEST_LEVEL:
            return ""
        stand, are = ("stands", "is") if k == 1 else ("stand", "are")
        return (
            f"{k:,} of the {entities.n_synthetic:,} {self._nouns[1]} in synthetic texts {stand} in "
            f"{self._alone('train')} alone; {f'{other:,}' if other else 'none'} {are} of "
            f"{self._alone('holdout')} alone."
        )

    def _advice(self, types: Mapping[str, Any]) -> str:
        most = [kind for kind, said in types.items() if said["train"] > said["holdout"]]
        named = f", {most[0]} above all" if most else ""
        return (
            f"Replace {self._nouns[1]} in the texts before the generator learns from them{named}, "
            "and drop synthetic texts that repeat one."
        )

    def _summary(self, result: Result) -> str:
        lead = (
            f"{percent(result.value)} of the {self._nouns[1]} in synthetic texts stand in "
            f"{self._alone('train')} and in no holdout text"
        )
        said = f"{lead}; by chance {percent(result.baseline)}"
        return f"{said}." if result.contrast is None else f"{said}; {result.contrast}."


def standard_error(share: float, n: int) -> float:
    """Return the standard error of a share of n; nan of nothing."""
    return float(np.sqrt(share * (1.0 - share) / n)) if n else float("nan")


def texts_in_numbers(context: Context, reading: Reading) -> dict[str, Any]:
    """Return by what texts were read, how many, and the numbers that SynEval prints of them."""
    by_role = {role: mentions(context, reading, role) for role in (*REAL, "synthetic")}
    pairs = {role: typed(found) for role, found in by_role.items()}
    original = pairs["train"]
    return {
        "recognizer": reading.about,
        "text_columns": list(reading.columns),
        "documents": reading.group or "rows",
        "n_rows": {role: context.n_rows(role) for role in by_role},
        "n_read": {role: found.n_rows for role, found in by_role.items()},
        "syneval": {
            **{
                name: {
                    "total": len(pairs[role]),
                    "density": len(pairs[role]) / max(1, by_role[role].n_words),
                }
                for role, name in (("synthetic", "synthetic"), ("train", "original"))
            },
            "overlap_percentage": 100.0
            * len(original & pairs["synthetic"])
            / max(1, len(original)),
        },
    }


def typed(found: Mentions) -> set[tuple[int, str]]:
    """Return the distinct entities of a table, of two types if they have two."""
    return set(zip(found.hashes[:, 0].tolist(), found.types.tolist(), strict=True))
