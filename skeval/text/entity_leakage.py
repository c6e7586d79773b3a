"""Screen for names and numbers of training texts that are repeated in the synthetic texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.families import ClaimTested
from skeval.core.needs import Unmet
from skeval.core.tags import SCREEN_TAGS
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import TEST_LEVEL, Contrast
from skeval.stats.permutation_tests import least_p_value
from skeval.steps.contrasts import with_claim
from skeval.steps.entities import Reading, mentions, texts_in_numbers
from skeval.text.corpus import CorpusMetric
from skeval.text.patterns import PatternRecognizer
from skeval.text.rare_entities import (
    REAL,
    Evidence,
    RareKeys,
    evidence_of,
    join_windows,
    repeat_details,
)
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count, Interval, Legal, has_methods

Recognizer = Annotated[Any, has_methods(("recognize",), values=("patterns",))]
Keep = Annotated[Any, has_methods(("keeps",), values=(None,))]
Folder = Annotated[
    Any,
    Legal(
        "a path or None", lambda v: v is None or isinstance(v, str) or hasattr(v, "__fspath__"), 1
    ),
]


@declared
class EntityLeakage(CorpusMetric, ClaimTested):
    r"""Fraction of entities in the synthetic texts that occur in exactly one training text.

    A generator that has memorized its texts may write real names, addresses and numbers into new
    sentences. Anyone who knows an individual can search for the name and read the words around it.
    Common names also occur without a leak, and such coincidental matches are called phantoms. The
    number of phantoms is estimated from names that occur only in holdout texts, which the generator
    never saw. The score ranges from 0 (no entity) to 1 (all entities). Lower is better.

    Parameters
    ----------
    recognizer : "patterns" or object with recognize, default="patterns"
        Method that finds entities. "patterns" is :class:`PatternRecognizer`, which finds addresses,
        numbers and capitalized words without a model. Names are found best by a model such as
        :class:`SpacyRecognizer`. A custom recognizer has a method ``recognize(texts)`` that returns
        a list of :class:`Entity` for each text. It may also have ``about``, a dict of strings with
        `backend`, `model` and `version`, which is used for results and `memory`.
    columns : None, int or list of str, default=None
        Text columns: all free-text columns (None), the first *n* of them, or the named ones. All
        texts of a row are one document.
    group : str or None, default=None
        Column that identifies the individual of a row, such as an author, if an individual can have
        several rows. Documents of the same individual are permuted together and count once. If
        None, each row is a separate document.
    keep : object with keeps, or None, default=None
        Rule that selects entities, such as :class:`EntityFilter`. If None, all entities count.
    max_documents : int, default=1
        Maximum number of real documents or groups that mention a rare entity.
    n_windows : int, default=4
        Maximum number of words of a phrase on both sides of an entity. Phrases of 1, 2, ... words
        are tested in addition to entities. If 0, no phrases are tested.
    n_max_texts : int or None, default=None
        Maximum number of rows per table, sampled at random. If None, all rows are used.
    memory : path or None, default=None
        Folder that stores recognized entities between calls as hashes and counts without text. See
        Notes.
    random_state : int, default=0
        Seed of the permutations and of the sample of rows.

    Raises
    ------
    MissingInputError
        At fit, if the package or the model of the recognizer is not installed.

    Warnings
    --------
    This is a screening metric, which can find a leak but cannot rule one out. It does not find a
    name that is misspelled or that the recognizer does not detect.

    See Also
    --------
    NominalMentions : Fraction of repeated nouns for individuals.
    skeval.privacy.NearDuplicateShare : Finds texts that are copied completely.

    Notes
    -----
    Each distinct entity counts once, however often the synthetic texts repeat it. Case, spaces and
    marks at the ends do not matter. Let E be the entities of the synthetic texts, R(T) the rare
    entities that occur in the training texts and not in the holdout texts, and R(H) the rare
    entities that occur only in the holdout texts. Then

    .. math:: \mathrm{value} = \frac{|E \cap R(T)|}{|E|}, \qquad
        \mathrm{phantoms} = \frac{|E \cap R(H)|}{|E|}

    The baseline is the value expected by chance. Given the synthetic texts and the pool of real
    documents, all assignments of documents to the training data are equally likely if no document
    was learned. The test compares the weighted fraction of training entities among the repeated
    rare entities with random assignments. The weight of an entity is the logarithm of the
    likelihood ratio of a leak. The weight is lower if the synthetic text and the real text are
    similar in their other words, because a common subject explains the match. It is also lower if
    many other entities contain its words, and if the texts share further entities. A single word
    that is not an address or a number has the lowest weight. Four weightings are tested together,
    for any name, for names with a word that occurs in no other text, for names that only consist of
    such words, and for names whose words also occur in lower case. The strongest result counts. The
    weights do not depend on the labels. If a document contains many entities, each weight is
    reduced with the square root of their number. The p-value is one-sided, and it is exact if rows
    that belong together are permuted together (`group`). If an author occurs in both tables, the
    documents are not a sample of authors, so such authors are skipped with a warning.

    A phrase around a common name can be as revealing as a rare name. Phrases are tested in the same
    way, with all window sizes together. The p-value is the smaller of the p-value of entities
    divided by 0.8 and the p-value of phrases divided by 0.2. ``details`` contains both tests, each
    type with its p-value before and after Holm correction, each window size, and the fraction of
    rare training and holdout entities that are repeated (``recall``). ``epsilon`` contains lower
    bounds on epsilon for one document or group, as in :class:`skeval.privacy.ExactMatchShare`,
    based on documents with a rare entity that is repeated. ``syneval`` contains the numbers that
    SynEval prints. These are the number of entities (`total_entities`), this number divided by the
    number of words (`avg_entity_density`), the distinct entities by type (`total`, `density`), and
    the percentage of training entities that are repeated. Their `risk_level` is high if a density
    is above 0.1 or an overlap is above 50%.

    If `n_max_texts` is set, the value refers to the sample, in which more entities are rare and
    fewer entities are matched. ``standard_error`` is the standard error of the value. The interval
    is Wilson's interval for the fraction among many more entities from this generator.

    Entities are compared without case, spaces, punctuation at their ends, articles (the, a, an),
    titles (Dr, Mr, Mrs, Ms, Prof) and genitive (Ada's). Numbers in groups are compared by letters
    and digits only. For example, "Dr Smith" and "the Smith's" are one entity.

    Results contain counts, types and fractions, but no names or sentences. The files of `memory`
    contain keyed hashes, types and counts. Anyone with access to this folder can test names one by
    one, so store the folder as securely as the texts.

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

    # leaks of names are weaker than copies of texts, which are also found in smaller fractions
    tags = replace(
        SCREEN_TAGS, needs=frozenset({"holdout", "text"}), display="EntitiesDisplay", weight=2.0
    )

    recognizer: Recognizer = "patterns"
    _: KW_ONLY
    keep: Keep = None
    max_documents: Count = 1
    n_windows: Annotated[int, Interval(0, 20)] = 4
    n_max_texts: Count | None = None
    memory: Folder = None

    _nouns = ("entity", "entities", "an entity")
    _level = (0.8, 0.2)  # parts of the level for entities and for phrases around them
    _printed = ("total_entities", "avg_entity_density"), 0.1  # names and limit of SynEval

    def missing_input(self, context: Context) -> Unmet | None:
        """Return the unmet need, such as a missing package or model, or None."""
        if unmet := super().missing_input(context):
            return unmet
        missing = getattr(self._recognizer(), "missing", lambda: None)()
        return Unmet(f"requires its recognizer. {missing}") if missing else None

    def _prepare(self, context: Context) -> None:
        mentions(context, self._reading(context), "train")

    def _recognizer(self) -> Any:
        return PatternRecognizer() if self.recognizer == "patterns" else self.recognizer

    def _reading(self, context: Context) -> Reading:
        columns, group = self._key(context)
        return Reading(
            columns=columns,
            recognizer=self._recognizer(),
            keep=self.keep,
            n_windows=self.n_windows,
            n_max_texts=self.n_max_texts,
            seed=self.random_state,
            group=group,
            memory=None if self.memory is None else str(self.memory),
        )

    def _evidence(self, context: Context) -> Evidence:
        return evidence_of(context, self._reading(context), self.max_documents)

    def _compute(self, context: Context) -> Result:
        evidence = self._evidence(context)
        if not evidence.n_real:
            return undefined_result(
                f"the real texts have no {self._nouns[0]} that the recognizer sees."
            )
        if not evidence.n_train or not evidence.n_holdout:
            return undefined_result(
                f"every {self.group} of a table also occurs in the other table."
            )
        return Result(evidence.windows[0].share, warnings=evidence.warnings(self.group))

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        evidence, settings = self._evidence(context), (self.n_permutations, self.random_state)
        sets = {self._nouns[1]: evidence.windows[0]}
        if self.n_windows:
            sets[f"phrases around {self._nouns[2]}"] = join_windows(evidence.windows[1:])
        tests = {name: evidence.test(keys, *settings) for name, keys in sets.items()}
        parts = dict(zip(tests, self._level if len(tests) > 1 else (1.0,), strict=True))
        best = min(tests, key=lambda name: tests[name].p_value / parts[name])
        types = evidence.by_type(*settings)
        entities = evidence.windows[0]
        result = replace(
            result,
            p_value=min(1.0, tests[best].p_value / parts[best]),
            baseline=entities.by_chance(evidence),
            interval=entities.interval,
            contrast=Contrast(
                f"weighted fraction of training data among {best} that synthetic texts repeat from "
                f"{self._describe_limit('real')} only",
                round(tests[best].observed, 12),
                round(tests[best].mean, 12),
                n_tests=len(tests),
                least_p=min(
                    1.0, least_p_value(evidence.n_train, evidence.n_holdout) / max(parts.values())
                ),
                least_here=min(1.0, *(test.least / parts[n] for n, test in tests.items())),
            ),
            details={
                **texts_in_numbers(context, self._reading(context), *self._printed),
                "standard_error": standard_error(entities.share, entities.n_synthetic),
                "recall": dict(zip(REAL, entities.recall, strict=True)),
                "tests": {name: repeat_details(sets[name], test) for name, test in tests.items()},
                "types": types,
                "windows": {str(n): repeat_details(w) for n, w in enumerate(evidence.windows) if n},
                **self._privacy(evidence.match_counts),
            },
        )
        return replace(result, fact=self._fact(result, entities), advice=self._advice(types))

    def _describe_limit(self, role: str) -> str:
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
            f"{self._describe_limit('train')} alone; {f'{other:,}' if other else 'none'} {are} of "
            f"{self._describe_limit('holdout')} alone."
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
            f"{percent(result.value)} of the {self._nouns[1]} in the synthetic texts occur in "
            f"{self._describe_limit('train')} and in no holdout text"
        )
        said = f"{lead} ({percent(result.baseline)} expected by chance)"
        said += "." if result.contrast is None else f"; {result.contrast}."
        return with_claim(said, result)


def standard_error(share: float, n: int) -> float:
    """Return the standard error of a fraction of n, or nan for n = 0."""
    return float(np.sqrt(share * (1.0 - share) / n)) if n else float("nan")
