"""Names and numbers in free text: those of train that the release repeats, and phantoms.

Which rare entities of the real texts the synthetic ones repeat, and the test of their labels.

Nouns for persons in free text: those of train that the release repeats, and phantoms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from scipy.stats import hypergeom

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import ClaimTested
from skeval.core.needs import Unmet
from skeval.core.tags import SCREEN_TAGS
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.results.result import Result, undefined
from skeval.results.verdict import TEST_LEVEL, Contrast
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, list_contrast
from skeval.stats.relabelling import Relabelled, holm, least_p_value
from skeval.stats.risks import Matched
from skeval.steps.entities import Reading, mentions, row_groups, rows_read, texts_in_numbers
from skeval.steps.relabelled import with_claim
from skeval.text.coincidences import Coincidence, coincidence
from skeval.text.corpus import CorpusMetric
from skeval.text.recognizers import Names, PatternRecognizer, SpacyBackend, piped
from skeval.text.weightings import weightings_contrast
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count, Interval, Legal, has_methods

REAL = ("train", "holdout")
_SCALE = 8  # of the least weight: weights are rounded to whole numbers
_MAX_TIMES = 1000  # the greatest weight is of the least, where there is one weighting


@dataclass(frozen=True)
class RareKeys:
    """Rare entities, or phrases, of the real texts that the synthetic texts repeat."""

    units: np.ndarray
    starts: np.ndarray
    train_only: np.ndarray
    holdout_only: np.ndarray
    types: np.ndarray
    weights: np.ndarray
    n_synthetic: int
    n_rare: tuple[int, int]

    @property
    def share(self) -> float:
        """Share of the synthetic texts' entities that are rare and of train alone."""
        return float(self.train_only.sum() / self.n_synthetic) if self.n_synthetic else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's, of the share; None where the synthetic texts have no entity."""
        n = self.n_synthetic
        return wilson(int(self.train_only.sum()), n) if n else None

    @property
    def recall(self) -> tuple[float, float]:
        """Shares of the rare entities of either table alone that are repeated."""
        n_repeated = int(self.train_only.sum()), int(self.holdout_only.sum())
        train, holdout = (
            k / n if n else float("nan") for k, n in zip(n_repeated, self.n_rare, strict=True)
        )
        return train, holdout

    def by_chance(self, evidence: Evidence) -> float:
        """Return the share that random choices of what was train give on average."""
        if not self.n_synthetic:
            return 0.0
        n_each, how_many = np.unique(np.diff(self.starts), return_counts=True)
        n_real = evidence.n_train + evidence.n_holdout
        chances = hypergeom.pmf(n_each, n_real, n_each, evidence.n_train)
        return float(how_many @ chances) / self.n_synthetic

    def lists(self, weights: np.ndarray, chosen: np.ndarray) -> MatchLists:
        """Return the documents of some of the entities, with whole numbers as their weights."""
        least = max(weights[chosen].min(), weights[chosen].max() / _MAX_TIMES)
        whole = np.rint(_SCALE * np.maximum(weights / least, 1.0)).astype(np.int64)
        every = MatchLists(self.starts, self.units, whole, int(whole[chosen].sum()))
        return every.some(chosen)

    def test(
        self,
        sides: tuple[np.ndarray, np.ndarray],
        n_permutations: int,
        seed: int,
        chosen: np.ndarray,
    ) -> Relabelled:
        """Compare weights of what is of train alone, less the holdout's, with relabellings."""
        settings: dict[str, Any] = {"n_permutations": n_permutations, "seed": seed}
        weights = self.weights[:, chosen]
        scaled = weights[weights.sum(axis=1) > 0]
        scaled = scaled / scaled.sum(axis=1, keepdims=True)
        lists = self.lists(self.weights[0], chosen)
        if np.allclose(scaled, scaled[0]):  # one weighting: there is an exact test
            return list_contrast(lists, *sides, **settings)
        return weightings_contrast(lists, weights, *sides, **settings)


@dataclass(frozen=True)
class Evidence:
    """Rare entities and the phrases around them, and which documents were train."""

    windows: tuple[RareKeys, ...]
    in_train: np.ndarray
    in_holdout: np.ndarray
    n_real: int
    n_in_both: int

    @property
    def n_train(self) -> int:
        """Number of documents, or groups, of train alone."""
        return int(self.in_train.sum())

    @property
    def n_holdout(self) -> int:
        """Number of documents, or groups, of the holdout alone."""
        return int(self.in_holdout.sum())

    @property
    def matched(self) -> Matched:
        """Documents, or groups, with a rare entity that the synthetic texts repeat."""
        sides = self.in_train, self.in_holdout
        units = np.unique(self.windows[0].units)
        k_train, k_holdout = (int(side[units].sum()) for side in sides)
        return Matched(k_train, self.n_train, k_holdout, self.n_holdout)

    def warnings(self, group: str | None) -> tuple[MetricWarning, ...]:
        """Say which groups are left out."""
        if not self.n_in_both:
            return ()
        n, verb = self.n_in_both, "stands" if self.n_in_both == 1 else "stand"
        said = f"{n:,} of the values of {group} {verb} in train and in the holdout: what"
        return (DegenerateInputWarning(f"{said} these rows mention is left out."),)

    def test(
        self, keys: RareKeys, n_permutations: int, seed: int, chosen: np.ndarray | None = None
    ) -> Relabelled:
        """Compare the weighted share of train among repeated entities with random relabellings."""
        chosen = np.ones(keys.types.size, dtype=np.bool_) if chosen is None else chosen
        if not chosen.any():
            return Relabelled(0.0, 0.0, 0.0, 1.0, 1.0)
        test = keys.test((self.in_train, self.in_holdout), n_permutations, seed, chosen)
        # shares of train alone less those of the holdout alone: if an entity is of one document,
        # that is twice the share of train, less one
        return replace(
            test,
            observed=(1.0 + test.observed) / 2.0,
            mean=(1.0 + test.mean) / 2.0,
            spread=test.spread / 2.0,
        )

    def by_type(self, n_permutations: int, seed: int) -> dict[str, dict[str, float]]:
        """Return the test of each type of entities, the most significant first."""
        keys = self.windows[0]
        rows = {}
        for kind in np.unique(keys.types):
            chosen = keys.types == kind
            test = self.test(keys, n_permutations, seed, chosen)
            rows[str(kind)] = {
                "train": int(keys.train_only[chosen].sum()),
                "holdout": int(keys.holdout_only[chosen].sum()),
                "p_value": test.p_value,
            }
        adjusted = holm([row["p_value"] for row in rows.values()])
        for row, p_value in zip(rows.values(), adjusted, strict=True):
            row["p_adjusted"] = p_value
        return dict(sorted(rows.items(), key=lambda item: (item[1]["p_value"], item[0])))


@shared
def evidence_of(context: Context, reading: Reading, max_documents: int) -> Evidence:
    """Return the rare entities of train and holdout that the synthetic texts repeat."""
    by_role = {role: mentions(context, reading, role) for role in (*REAL, "synthetic")}
    groups = row_groups(context, reading.group)
    units, number = np.unique(
        np.concatenate([groups[role][rows_read(context, reading, role)] for role in REAL]),
        return_inverse=True,
    )
    n_train = by_role["train"].n_rows
    stands = [np.bincount(part, minlength=units.size) > 0 for part in np.split(number, [n_train])]
    both = stands[0] & stands[1]
    in_train, in_holdout = ((side & ~both).astype(np.int64) for side in stands)
    real = [by_role[role] for role in REAL]
    unit = np.searchsorted(
        units, np.concatenate([groups[role][by_role[role].rows] for role in REAL])
    )
    types = np.concatenate([found.types for found in real])
    windows = tuple(
        rare_keys(
            np.concatenate([found.hashes[:, n] for found in real]),
            unit,
            types if n == 0 else None,
            by_role["synthetic"].hashes[:, n],
            (in_train, in_holdout),
            max_documents,
            partial(coincidence, context, reading) if n == 0 else None,
        )
        for n in range(1 + reading.n_windows)
    )
    n_real = np.unique(np.concatenate([found.hashes[:, 0] for found in real])).size
    return Evidence(windows, in_train, in_holdout, n_real, int(both.sum()))


def rare_keys(
    hashes: np.ndarray,
    unit: np.ndarray,
    types: np.ndarray | None,
    synthetic: np.ndarray,
    sides: tuple[np.ndarray, np.ndarray],
    max_documents: int,
    known: Callable[[np.ndarray, np.ndarray], Coincidence] | None = None,
) -> RareKeys:
    """Return what at most `max_documents` real documents mention, and synthetic texts too."""
    present = hashes != 0
    distinct, key = np.unique(hashes[present], return_inverse=True)
    pairs = np.unique(np.column_stack([key, unit[present]]), axis=0)
    key_of, unit_of = pairs.T
    n_each = np.bincount(key_of, minlength=distinct.size)
    in_train, in_holdout = (
        np.bincount(key_of, weights=side[unit_of], minlength=distinct.size) for side in sides
    )
    # what a document of both tables mentions is nobody's alone
    rare = (n_each <= max_documents) & (in_train + in_holdout == n_each)
    own = rare & (in_train == n_each), rare & (in_holdout == n_each)
    others = np.unique(synthetic[synthetic != 0])
    repeated = rare & np.isin(distinct, others)
    kinds = np.zeros(distinct.size, dtype=np.str_)
    if types is not None:
        kinds = most_frequent(key, types[present], distinct.size)
    starts = np.concatenate([[0], np.cumsum(n_each[repeated])])
    units = unit_of[repeated[key_of]]
    weights = np.ones((1, int(repeated.sum())))
    if known is not None and weights.size:
        weights = known(distinct[repeated], kinds[repeated]).weightings()
    return RareKeys(
        units=units,
        starts=starts,
        train_only=own[0][repeated],
        holdout_only=own[1][repeated],
        types=kinds[repeated],
        weights=np.array([spread_out(row, units, starts) for row in weights]),
        n_synthetic=others.size,
        n_rare=(int(own[0].sum()), int(own[1].sum())),
    )


def spread_out(weights: np.ndarray, units: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return weights by the root of how many of the greatest in the same document they make up."""
    # A document that lists twenty towns would else decide alone: labels change document by
    # document.
    if not weights.size:
        return weights
    repeated = np.repeat(weights, np.diff(starts))
    totals, greatest = np.bincount(units, weights=repeated), np.zeros(int(units.max()) + 1)
    np.maximum.at(greatest, units, repeated)
    n_alike = np.where(greatest > 0, totals / np.where(greatest > 0, greatest, 1.0), 1.0)
    spread: np.ndarray = weights / np.sqrt(np.maximum.reduceat(n_alike[units], starts[:-1]))
    return spread


def most_frequent(key: np.ndarray, types: np.ndarray, n_keys: int) -> np.ndarray:
    """Return the type that each key has most often, of equals the first in the alphabet."""
    kinds, kind = np.unique(types, return_inverse=True)
    counts = np.zeros((n_keys, kinds.size), dtype=np.int64)
    np.add.at(counts, (key, kind), 1)
    named: np.ndarray = kinds[counts.argmax(axis=1)] if kinds.size else kinds
    return named


def joined(windows: Sequence[RareKeys]) -> RareKeys:
    """Return the phrases of several windows as one set."""
    lengths = np.concatenate([np.diff(keys.starts) for keys in windows])
    train, holdout = (sum(keys.n_rare[i] for keys in windows) for i in (0, 1))
    names = ("units", "train_only", "holdout_only", "types")
    return RareKeys(
        **{name: np.concatenate([getattr(keys, name) for keys in windows]) for name in names},
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        weights=np.concatenate([keys.weights for keys in windows], axis=1),
        n_synthetic=sum(keys.n_synthetic for keys in windows),
        n_rare=(train, holdout),
    )


def described(keys: RareKeys, test: Relabelled | None = None) -> dict[str, float]:
    """Return counts of what is repeated, and the test of them."""
    said: dict[str, float] = {
        "synthetic": keys.n_synthetic,
        "train": int(keys.train_only.sum()),
        "holdout": int(keys.holdout_only.sum()),
    }
    if test is not None:
        said |= {
            "share_of_train": test.observed,
            "expected": test.mean,
            "null_standard_error": test.spread,
            "p_value": test.p_value,
        }
    return said


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
        What finds entities; see :class:`EntityRecognizer`. "patterns" is
        :class:`PatternRecognizer`, which needs no model: addresses, numbers, capitalised words.
        Names are found best by a model, as of :class:`SpacyRecognizer`.
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
                f"{self._alone('real')} alone",
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
                "tests": {name: described(sets[name], test) for name, test in tests.items()},
                "types": types,
                "windows": {str(n): described(w) for n, w in enumerate(evidence.windows) if n},
                **self._privacy(evidence.matched),
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
        said += "." if result.contrast is None else f"; {result.contrast}."
        return with_claim(said, result)


def standard_error(share: float, n: int) -> float:
    """Return the standard error of a share of n; nan of nothing."""
    return float(np.sqrt(share * (1.0 - share) / n)) if n else float("nan")


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

    See Also
    --------
    NominalMentions : Which of these a release repeats.

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


@declared
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
    Value, baseline and ``details`` are those of :class:`EntityLeakage`, with words in the place of
    entities. Most rare words are no more than rare: the phrases around them point at somebody. The
    p-value is therefore twice the lesser of that of mentions and that of phrases.
    ``details["syneval"]`` has the numbers, densities and overlap that SynEval prints. Its risk is
    high at a density above 0.15 or an overlap above 50%.

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
    _level = (0.5, 0.5)  # the phrases are what points at somebody
    _printed = ("total_nominals", "avg_nominal_density"), 0.15

    def _recognizer(self) -> Any:
        return NominalRecognizer() if self.recognizer == "spacy" else self.recognizer

    @classmethod
    def _light(cls) -> dict[str, Any]:
        return {"recognizer": PatternRecognizer()}  # the default needs a model
