"""Names and numbers in free text: those of train that the release repeats, and phantoms."""

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
    r"""Share of the synthetic texts' entities that one train text alone mentions: 0 if none does.

    A generator that has memorised its texts writes names, addresses and numbers of real persons
    into new sentences. Somebody who knows a person looks for the name, and reads the words around
    it. Common names occur without any leak: a match that could as well be of a stranger is a
    phantom. Names that holdout texts alone mention, which the generator never saw, count phantoms.

    Parameters
    ----------
    recognizer : "patterns" or object with recognize, default="patterns"
        What finds entities. "patterns" is :class:`PatternRecognizer`, which needs no model:
        addresses, numbers, capitalised words. Names are found best by a model, as of
        :class:`SpacyRecognizer`. Your own recognizer has a method ``recognize(texts)`` that returns
        a list of :class:`Entity` for each text, and may have ``about``, a dict of strings with
        `backend`, `model` and `version`, which results quote and `memory` depends on.
    columns : None, int or list of str, default=None
        The text columns: all of free text, the first *n* of these, or names. Those of a row are one
        document.
    group : str or None, default=None
        A column that says whose a row is, such as an author, if several rows are one person's.
        Documents of one person change places together, and count once. None if each row is a
        document of its own.
    keep : object with keeps, or None, default=None
        Which entities count, as :class:`EntityFilter` says; None for all.
    max_documents : int, default=1
        The most real documents, or groups, that mention a rare entity.
    n_windows : int, default=4
        The most words of a phrase on both sides of an entity; phrases of 1, 2, ... words are tested
        too. 0 for none.
    n_max_texts : int or None, default=None
        The most rows of each table that are read, drawn at random; None for all.
    memory : path or None, default=None
        A folder that keeps what was recognized from one call to the next: hashes and counts, no
        text. See Notes.
    random_state : int, default=0
        Seed of the relabellings and of the choice of rows.

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
    the rare entities that are repeated is compared with that of random choices. An entity weighs
    as the logarithm of how much likelier it is where some leaked. That falls with how near its two
    texts are, among all others, by the words besides it: a common subject explains it. It falls
    with how many other entities have its words, and with further entities that the texts share. A
    word by itself that is no address or number weighs least. Four weightings are tested as one,
    by labels in common: any name; names with a word that no other text has; names of such words
    only; names of words that others write small. The strongest decides. Labels play no part in a
    weight. A document that lists many entities weighs less for each, by the root. The p-value is
    one-sided, and exact
    if rows that belong together change places together (`group`). If both tables have an author,
    documents were no samples of authors: such authors are left out, with a warning.

    A phrase around a common name may be as telling as a rare name. Phrases are tested alike, all
    windows together. The p-value is the lesser of that of entities over 0.8 and that of phrases
    over 0.2. ``details`` has both tests, each type with a p-value by itself and one after Holm,
    each window, and the share of train's and of the holdout's rare entities that are repeated
    (``recall``). ``epsilon`` has lower bounds of the epsilon of one document, or group, as
    :class:`skeval.privacy.ExactMatchShare` has them of rows: those count that mention a rare
    entity which is repeated. ``syneval`` are the numbers that SynEval prints: all entities
    (`total_entities`) over all words (`avg_entity_density`), distinct ones by type (`total`,
    `density`), and the percentage of train's that are repeated. Their `risk_level` is SynEval's
    rule: high where a density is above 0.1, or an overlap above 50%.

    If `n_max_texts` leaves rows out, the value is that of the sample, in which more entities look
    rare and fewer are matched; ``standard_error`` is that of the share. The
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

    # names are the faintest leak of texts, and copies of texts are found at a smaller share as well
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
    _level = (0.8, 0.2)  # of the level: of entities, and of phrases around them
    _printed = ("total_entities", "avg_entity_density"), 0.1  # by SynEval, and its bound

    def unmet_need(self, context: Context) -> Unmet | None:
        """Return what the metric lacks, its recognizer's package or model included, or None."""
        if unmet := super().unmet_need(context):
            return unmet
        missing = getattr(self._recognizer(), "missing", lambda: None)()
        return Unmet(f"needs its recognizer. {missing}") if missing else None

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
            return undefined_result(f"every {self.group} of a table stands in the other one too.")
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
                f"share of train, by weight, among {best} that synthetic texts repeat of "
                f"{self._describe_limit('real')} alone",
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
            f"{percent(result.value)} of the {self._nouns[1]} in synthetic texts stand in "
            f"{self._describe_limit('train')} and in no holdout text"
        )
        said = f"{lead}; by chance {percent(result.baseline)}"
        said += "." if result.contrast is None else f"; {result.contrast}."
        return with_claim(said, result)


def standard_error(share: float, n: int) -> float:
    """Return the standard error of a share of n; nan of nothing."""
    return float(np.sqrt(share * (1.0 - share) / n)) if n else float("nan")
