"""Texts of the release that repeat a text of train: as it stands, or nearly.

Nearly equal texts among very many: candidates by MinHash, each of them compared in full.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.families import ClaimTested
from skeval.core.tags import SCREEN_TAGS
from skeval.exceptions import MetricWarning
from skeval.privacy.near_texts import (
    NearPairs,
    TokenSets,
    by_letters,
    by_words,
    edits,
    letter_runs,
    n_candidates,
    similar_by_letters,
    similar_by_words,
)
from skeval.results.result import Result, undefined
from skeval.results.verdict import TEST_LEVEL
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, held_contrast, longest_list
from skeval.stats.repeats import Copies, copies_of
from skeval.stats.risks import Matched
from skeval.steps.relabelled import contrast_of, set_against, with_claim
from skeval.steps.texts import folded
from skeval.text.corpus import (
    Corpus,
    CorpusMetric,
    GroupColumn,
    Key,
    Words,
    corpus,
    lacking_texts,
    sizes,
    words,
)
from skeval.utils.formatting import counted, percent
from skeval.utils.parameters import AnyColumns, Interval, OpenFraction

MAX_CANDIDATES = 10**8  # of a join; by words up to a minute
_HASHES, _RECALL, _MAX_ROWS = 256, 0.99, 64
_AT_ONCE = 2**17  # pairs looked at at once
_EDGE = "\0"  # before and behind a short text
_EXACT = {"by": "exact", "recall": 1.0, "n_skipped": 0}

Pairs = Iterator[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Banding:
    """Bands of minima of random orders: sets that agree in all rows of any band are candidates."""

    n_rows: int
    n_bands: int

    def recall(self, similarity: float) -> float:
        """Return the chance that sets of a Jaccard similarity are candidates."""
        # With similarity s, r rows and b bands this is 1 - (1 - s^r)^b.
        return float(1.0 - (1.0 - similarity**self.n_rows) ** self.n_bands)

    @classmethod
    def of(cls, similarity: float) -> Banding:
        """Return the strictest banding that finds 99% of the sets of a similarity, if one does."""
        for n_rows in range(_MAX_ROWS, 0, -1):
            missed = 1.0 - similarity**n_rows
            n_bands = np.ceil(np.log(1.0 - _RECALL) / np.log(missed)) if missed < 1.0 else np.inf
            if n_bands <= _HASHES // n_rows:
                return cls(n_rows, int(n_bands))
        return cls(1, _HASHES)

    @property
    def stricter(self) -> Banding:
        """The banding with a quarter more rows, of all hashes."""
        n_rows = self.n_rows + -(-self.n_rows // 4)
        return Banding(n_rows, _HASHES // n_rows)


class MinHashJoin:
    """The pairs of sets that agree in a band."""

    # Bands get more rows, and the recall falls, until there are no more than 100 million
    # candidates. If sets that agree in most of their tokens are still more, each row on the
    # left looks at the same number of each band, from a random place on. Left and right alone
    # decide: which texts are of train and which of the holdout is not known here.

    def __init__(
        self,
        sets: csr_array,
        left: np.ndarray,
        right: np.ndarray,
        similarity: float,
        seed: int,
        max_candidates: int,
    ) -> None:
        lowest, banding = minima(sets, seed), Banding.of(similarity)
        while True:
            keys = band_keys(lowest, banding)
            self._bands = [_Band.of(of_sets[left], of_sets[right]) for of_sets in keys]
            n_found = int(sum(band.counts.sum() for band in self._bands))
            if n_found <= max_candidates or banding.stricter.n_rows > _MAX_ROWS:
                break
            banding = banding.stricter
        self.left, self.right, self._keys = left, right, keys
        self._most = right.size
        if n_found > max_candidates:
            self._most = max(1, max_candidates // (len(self._bands) * left.size))
        looked_at = sum(np.minimum(band.counts, self._most).sum() for band in self._bands)
        self.about = {
            "by": "minhash",
            "recall": banding.recall(similarity),
            "n_skipped": n_found - int(looked_at),
        }
        self._turn = np.random.default_rng(seed).random(left.size)

    def pairs(
        self, done: np.ndarray, near: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> Pairs:
        """Yield blocks of positions in `left` and in `right` of the candidates that are near."""
        # Each pair comes once; if candidates are skipped, perhaps again. `done` says
        # whether a position on the left needs no more; it may change between blocks.
        for number, band in enumerate(self._bands):
            for part in _parts(np.minimum(band.counts, self._most)):
                i, j = self._candidates(band, part[~done[part]])
                alike = near(i, j)
                i, j = i[alike], j[alike]
                for before, keys in zip(self._bands[:number], self._keys, strict=False):
                    known = keys[self.left[i]] == keys[self.right[j]]
                    known &= before.counts[i] <= self._most
                    i, j = i[~known], j[~known]
                yield i, j

    def _candidates(self, band: _Band, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the candidates of some rows on the left; if there are too many, from some on."""
        size = band.counts[rows]
        n = np.minimum(size, self._most)
        place = np.arange(n.sum()) - np.repeat(n.cumsum() - n, n)
        first = np.where(n < size, self._turn[rows] * size, 0.0).astype(np.int64)
        place = (place + np.repeat(first, n)) % np.repeat(size, n)
        return np.repeat(rows, n), band.order[np.repeat(band.starts[rows], n) + place]


@dataclass(frozen=True)
class _Band:
    """The places where the right has the key of each row on the left: a slice of `order`."""

    order: np.ndarray
    starts: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> _Band:
        order = np.argsort(right, kind="stable")
        starts, ends = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
        return cls(order, starts, ends - starts)


def _parts(counts: np.ndarray) -> list[np.ndarray]:
    """Return the rows that have candidates, in parts with about `_AT_ONCE` of these."""
    rows = np.flatnonzero(counts)
    return np.split(rows, np.flatnonzero(np.diff(counts[rows].cumsum() // _AT_ONCE)) + 1)


def minima(sets: csr_array, seed: int) -> np.ndarray:
    """Return of each set the first token in each of 256 random orders, shape (256, n_sets).

    Two sets have the same one with a chance that is their Jaccard similarity.
    """
    rng = np.random.default_rng(seed)
    lowest = np.empty((_HASHES, sets.shape[0]), dtype=np.uint32)
    for row in lowest:
        order = rng.permutation(sets.shape[1]).astype(np.uint32)
        np.minimum.reduceat(order[sets.indices], sets.indptr[:-1], out=row)
    return lowest


def band_keys(lowest: np.ndarray, banding: Banding) -> list[np.ndarray]:
    """Return for each band a number of each set, equal where all minima of the band are."""
    factors = np.random.default_rng(0).integers(2**63, size=banding.n_rows, dtype=np.uint64)
    bands = lowest[: banding.n_bands * banding.n_rows].reshape(banding.n_bands, banding.n_rows, -1)
    # others have the same number once in 2^62 pairs or so, and are compared in full like all
    return [(2 * factors + 1) @ band.astype(np.uint64) for band in bands]


def joined(
    sets: TokenSets,
    left: np.ndarray,
    right: np.ndarray,
    threshold: float,
    done: np.ndarray,
    join: str,
    seed: int,
) -> tuple[dict[str, dict[str, Any]], Pairs]:
    """Return how texts of one column are joined, and the pairs that are similar."""
    how: dict[str, dict[str, Any]] = {side: dict(_EXACT) for side in ("words", "letters")}
    hashed_sides = _hashed_sides(sets, left, right, threshold, join)
    by_word = similar_by_words(sets, left, right, threshold, done)
    if "words" in hashed_sides:
        words = MinHashJoin(sets.columns[0], left, right, threshold, seed, MAX_CANDIDATES)
        how["words"] = words.about
        by_word = words.pairs(
            done, lambda i, j: by_words(sets.columns, left[i], right[j], threshold)
        )
    edited = None
    if "letters" in hashed_sides:
        codes, texts, _ = sets.letters[0]
        mine, theirs = (np.unique(codes[rows][codes[rows] >= 0]) for rows in (left, right))
        runs = letter_runs(np.array([_EDGE + text + _EDGE for text in texts], dtype=object), 2)
        letters = MinHashJoin(runs, mine, theirs, runs_in_common(threshold), seed, MAX_CANDIDATES)
        how["letters"] = letters.about
        edited = partial(_edited, letters)
    by_letter = similar_by_letters(sets, 0, left, right, threshold, done, edited)
    return how, chain(by_word, by_letter)


def _hashed_sides(
    sets: TokenSets, left: np.ndarray, right: np.ndarray, threshold: float, join: str
) -> set[str]:
    """Return what is joined by MinHash, of words and letters."""
    if join == "exact":
        return set()
    numbers = (np.inf, np.inf)
    if join == "auto":
        numbers = n_candidates(sets, left, right, threshold)
    any_short = (sets.letters[0][0][left] >= 0).any() and (sets.letters[0][0][right] >= 0).any()
    sides = zip(("words", "letters"), numbers, (True, any_short), strict=True)
    return {side for side, n, present in sides if present and n > MAX_CANDIDATES}


def runs_in_common(threshold: float) -> float:
    """Return the least Jaccard similarity of the pairs of letters of two texts with few edits."""
    # An edit changes at most two of the L + 1 pairs of a text, its edges being letters too;
    # with up to (1 - t) L edits this leaves (2 t - 1) / (3 - 2 t).
    return max(0.0, (2.0 * threshold - 1.0) / (3.0 - 2.0 * threshold))


def _edited(
    hashed: MinHashJoin,
    texts: np.ndarray,
    _grams: csr_array,
    left: np.ndarray,
    _right: np.ndarray,
    threshold: float,
) -> Pairs:
    """Yield the candidates that differ in few letters, of the texts on the left still open."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)

    def near(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        a, b = hashed.left[i], hashed.right[j]
        most = edits(np.maximum(lengths[a], lengths[b]), threshold)
        alike = (a != b) & (np.abs(lengths[a] - lengths[b]) <= most)
        alike[alike] = by_letters(texts[a[alike]], texts[b[alike]], threshold)
        return alike

    for i, j in hashed.pairs(~np.isin(hashed.left, left), near):
        yield hashed.left[i], hashed.right[j]


ADVICE = (
    "Drop the texts that repeat one of train, take out of train what stands there more than once, "
    "and train for fewer steps or with noise."
)
_ALONE = 2
_LOW_RECALL = 0.9
_MISSED = (
    "so many texts are so alike that MinHash finds {share} of the pairs at the threshold by "
    "{side}; join='exact' finds all, and may take hours."
)
ONE_SIDED = "no author stands in one table alone, so that no labels can be exchanged."


@declared
class TextScreen(CorpusMetric):
    """Base of the screens that compare what texts share with train and with the holdout.

    Each distinct text counts once. Authors write a class attribute `_what`, which says what a
    contrast compares, and the methods below.
    """

    tags = replace(SCREEN_TAGS, needs=frozenset({"text"}))
    _what: ClassVar[str]

    @abstractmethod
    def _measured(self, context: Context, key: Key, role: str) -> float:
        """Return what the synthetic texts have in common with those of a role."""

    @abstractmethod
    def _lists(self, context: Context, key: Key) -> MatchLists:
        """Return what matches, for the test."""

    @abstractmethod
    def _details(self, context: Context, key: Key, result: Result) -> Result:
        """Return the result with its interval, fact and further details."""

    def _compute(self, context: Context) -> Result:
        key = self._key(context)
        if lacking := self._lacking(context, key):
            return undefined(lacking)
        return Result(self._measured(context, key, "train"))

    def _lacking(self, context: Context, key: Key) -> str:
        """Return why nothing can be measured; empty if it can."""
        return lacking_texts(corpus(context, *key), "train", "synthetic")

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        key = self._key(context)
        texts = corpus(context, *key)
        result = replace(result, details=sizes(texts))
        if "holdout" in context and not lacking_texts(texts, "holdout"):
            result = self._against_holdout(context, key, result)
        return replace(self._details(context, key, result), advice=ADVICE)

    def _against_holdout(self, context: Context, key: Key, result: Result) -> Result:
        to_holdout, texts = self._measured(context, key, "holdout"), corpus(context, *key)
        details = {**result.details, "to_holdout": to_holdout}
        if min(texts.n_train, texts.n_holdout) == 0:
            lacking = undefined(ONE_SIDED).warnings
            return replace(result, details=details, warnings=(*result.warnings, *lacking))
        trials = {"n_permutations": self.n_permutations, "seed": self.random_state}
        lists = self._lists(context, key)
        test = held_contrast(lists, texts.holders, texts.n_train, **trials)
        high_leaks, (_, most) = not self.tags.greater_is_better, self.tags.bounds
        contrast = contrast_of(
            context,
            self._what,
            result.value,
            test if high_leaks else replace(test, on_train=1.0 - test.on_train),
            reference="of the holdout",
            high_leaks=high_leaks,
            share=most == 1.0,
            sizes=(texts.n_train, texts.n_holdout),
        )
        details |= {
            "difference": test.observed,
            "expected": test.mean,
            "null_standard_error": test.spread,
        }
        return replace(
            result,
            p_value=test.p_value,
            baseline=contrast.expected if contrast else None,
            contrast=contrast,
            details=details,
        )


@declared
class TextExactMatch(TextScreen, ClaimTested):
    r"""Share of distinct synthetic texts that train has too: 0 if it has none, 1 if it has all.

    The author of a complaint, a diagnosis or a letter finds it in the release word for word, and so
    does everyone who has read it. Short and common texts ("ok", "see above") repeat by themselves,
    in the holdout as in train: what is more than that was memorised.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The columns whose texts are looked at: all of free text, the first *n* of these, or names of
        any columns. A copy may be in another of them than its source.
    form : {"folded", "exact"}, default="folded"
        "folded": letter case, white space and ways to write the same character make no text another
        one. "exact": every character counts.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release. A word changed hides a copy
    from it.

    See Also
    --------
    NearDuplicateText : Texts with some words changed.
    LongestCommonSubstring : Passages of a text.
    skeval.privacy.ExactMatchShare : Rows that agree in every cell.

    Notes
    -----
    With distinct texts S of the release and T of train,

    .. math:: \frac{|S \cap T|}{|S|}

    The baseline is the same with the holdout. If the tables are of unequal size, it is the average
    over random choices of which real rows (or authors) were train. The p-value is one-sided: if
    nothing was learned of any one text, all such choices are equally likely, even if the release
    has other faults. A test of few authors has no small p-value. Authors of both tables do not
    change places and are left out of the test (``details["n_authors_in_both"]``).

    Blank and missing cells are no texts; without any text, the value is nan. ``details`` has the
    numbers of distinct texts, the value for the holdout (``to_holdout``), the difference of the
    shares that was tested, its mean over relabellings (``expected``) and its spread. A ``fact``
    counts the copies for any p-value; no text is quoted. The interval is Wilson's.

    If there is a holdout, ``details["epsilon"]`` has lower bounds of the epsilon of one row's, or
    author's, texts, as :class:`skeval.privacy.ExactMatchShare` has them of rows: those count that
    have a text of the release which no other one has.

    References
    ----------
    N. Carlini et al., "Extracting training data from large language models", USENIX Security 2021,
    arXiv:2012.07805.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import TextExactMatch
    >>> train = pd.DataFrame({"note": ["Has a cough.", "Fell on ice.", "Sleeps badly."]})
    >>> synthetic = pd.DataFrame({"note": ["fell on ice.", "Has a cold."]})
    >>> TextExactMatch().fit(train, schema={"note": "text"}).score(synthetic)
    0.5
    """

    _what = "distinct synthetic texts that equal a train text"

    columns: AnyColumns = None
    group: GroupColumn = None
    _: KW_ONLY
    form: Literal["folded", "exact"] = "folded"

    def _measured(self, context: Context, key: Key, role: str) -> float:
        k, n = shared_forms(context, *key, self.form, role)
        return k / n

    def _lists(self, context: Context, key: Key) -> MatchLists:
        return equal_texts(context, *key, self.form)

    def _details(self, context: Context, key: Key, result: Result) -> Result:
        k, n = shared_forms(context, *key, self.form, "train")
        texts, lists = corpus(context, *key), equal_texts(context, *key, self.form)
        alone = of_one_unit(lists, texts)
        of_epsilon = {}
        if result.p_value is not None:
            of_epsilon = self._privacy(units_alone(lists, texts))
        return replace(
            result,
            interval=wilson(k, n),
            fact=copies_in_words(k, n, alone, "equal" if k != 1 else "equals"),
            copies=(text_copies(context, *key, self.form),),
            details={**result.details, "n_matched": k, "n_matched_alone": alone, **of_epsilon},
        )

    def _summary(self, result: Result) -> str:
        lead = f"{percent(result.value)} of the distinct synthetic texts equal a train text"
        return with_claim(set_against(lead, result), result)


@declared
class NearDuplicateText(TextScreen):
    r"""Share of distinct synthetic texts that nearly repeat a train text: 0 if none, 1 if all.

    A language model that has memorised a letter writes it out with a name replaced or a sentence
    moved, so that no exact comparison finds it. Everyone who has seen the letter recognises it.

    Parameters
    ----------
    threshold : float, default=0.8
        The least similarity of a near duplicate, in (0, 1).
    edit_length : int, default=40
        Texts of at most this number of characters are near duplicates too if few of their letters
        differ; 0 for words alone. More characters take more time.
    join : {"auto", "exact", "minhash"}, default="auto"
        How near texts are looked for. "exact" finds them all. "minhash" finds most of them among
        any number of texts. "auto" is exact unless more than 100 million pairs would have to be
        compared, by words or by letters: some ten thousand texts made of few different words, or
        phrases from forms that fill most of each text.
    random_state : int, default=0
        Seed of the relabellings and of MinHash.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    TextExactMatch : Explains the test, baseline and details.
    LongestCommonSubstring : Passages of a text.
    skeval.privacy.NearDuplicateShare : Rows that are near in all columns.

    Notes
    -----
    The value is the share of distinct synthetic texts s for which train has a text t with

    .. math:: J(s, t) = \frac{|a \cap b|}{|a \cup b|} \ge \mathrm{threshold}

    where a and b are the sets of words, runs of letters, digits and underscores in lower case.
    Short texts are near also if their Levenshtein distance is at most ``1 - threshold`` times the
    length of the longer one. The order of words plays no part.

    The exact join finds all pairs that there are: common words are not looked up, since similar
    sets share a rare one. MinHash compares texts that agree in all r minima of one of b bands, each
    minimum being the first word of a text in a random order of all words. It finds two texts with

    .. math:: P(J) = 1 - (1 - J^r)^b

    With the default threshold r is 8 and b is 25, so that 99% of the pairs at the threshold are
    found, and more of those above it; what is found is compared in full, so that no text counts
    that is not near. Short texts are looked for in the same way by their pairs of letters, of which
    near ones have a Jaccard similarity of at least ``(2 t - 1) / (3 - 2 t)`` with a threshold of t;
    up to t = 0.5 this promises nothing. If more than 100 million pairs would be compared even so,
    bands get more rows, and the recall falls; a warning says so below 90%.
    ``details["join"]`` has for ``"words"`` and for ``"letters"`` which join it was (``by``), the
    ``recall`` at the threshold, and how many candidates were left out because bands of some 60 rows
    still had too many (``n_skipped``). Train and holdout are searched as one, so that the p-value
    holds with any join; the value may be too low, never too high.

    Exact copies count too. If a text is near more than 16 real ones or so, 16 are looked at. All
    else is as in :class:`TextExactMatch`.

    A text put in other words altogether is no near duplicate.

    References
    ----------
    K. Lee et al., "Deduplicating training data makes language models better", ACL 2022,
    doi:10.18653/v1/2022.acl-long.577.
    R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search", WWW 2007,
    doi:10.1145/1242572.1242591.
    A. Z. Broder, "On the resemblance and containment of documents", Compression and Complexity of
    Sequences 1997, doi:10.1109/SEQUEN.1997.666900.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import NearDuplicateText
    >>> train = pd.DataFrame({"note": ["Came in with a cough and fever on Monday", "Fell on ice"]})
    >>> synthetic = pd.DataFrame({"note": ["Came in with a cough and fever on Friday", "Is well"]})
    >>> metric = NearDuplicateText(threshold=0.7).fit(train, schema={"note": "text"})
    >>> metric.score(synthetic)
    0.5
    """

    _what = "distinct synthetic texts with nearly the words of a train text"

    columns: AnyColumns = None
    group: GroupColumn = None
    _: KW_ONLY
    threshold: OpenFraction = 0.8
    edit_length: Annotated[int, Interval(0)] = 40
    join: Literal["auto", "exact", "minhash"] = "auto"

    def _near(self, context: Context, key: Key) -> NearTexts:
        least, seed = float(self.threshold), self.random_state
        return near_pairs(context, *key, least, self.edit_length, self.join, seed)

    def _measured(self, context: Context, key: Key, role: str) -> float:
        near = self._near(context, key)
        k = near.to_train if role == "train" else near.to_holdout
        return k / corpus(context, *key).n_texts("synthetic")

    def _lists(self, context: Context, key: Key) -> MatchLists:
        return self._near(context, key).lists

    def _details(self, context: Context, key: Key, result: Result) -> Result:
        near, texts = self._near(context, key), corpus(context, *key)
        k, n = near.to_train, texts.n_texts("synthetic")
        verb = "has" if k == 1 else "have"
        missed = tuple(
            MetricWarning(_MISSED.format(share=percent(how["recall"]), side=side))
            for side, how in near.join.items()
            if how["recall"] < _LOW_RECALL
        )
        said = copies_in_words(k, n, of_one_unit(near.lists, texts), f"{verb} nearly the words of")
        # some texts always are alike: what is no more than chance is no fact about train
        beyond = result.p_value is None or result.p_value <= TEST_LEVEL
        return replace(
            result,
            interval=wilson(k, n),
            fact=said if beyond else "",
            warnings=(*result.warnings, *missed),
            details={**result.details, "n_matched": k, "join": near.join},
        )

    def _summary(self, result: Result) -> str:
        share = percent(result.value)
        lead = f"{share} of the distinct synthetic texts have nearly the words of a train text"
        return set_against(lead, result)


def of_one_unit(lists: MatchLists, texts: Corpus) -> int:
    """Return how many of the matches are to one text that one document or author has."""
    heads, alone = _alone(lists, texts)
    return int(lists.weights[alone & texts.held["train"][heads]].sum())


def _alone(lists: MatchLists, texts: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Return the first text of each list, and which lists are of one text that one unit has."""
    heads = lists.values[lists.starts[:-1]]
    return heads, (np.diff(lists.starts) == 1) & (np.diff(texts.holders.indptr)[heads] == 1)


def units_alone(lists: MatchLists, texts: Corpus) -> Matched:
    """Return how many documents or authors have a text of the release that no other one has."""
    heads, alone = _alone(lists, texts)
    units = np.unique(texts.holders[heads[alone]].indices)
    k = int((units < texts.n_train).sum())
    return Matched(k, texts.n_train, units.size - k, texts.n_holdout)


def copies_in_words(k: int, n: int, alone: int, verb: str) -> str:
    """Return how many texts are copies; empty if none is."""
    if not k:
        return ""
    unique = {0: "", k: ", all of them one that is unique there"}.get(
        alone, f", {alone:,} of them one that is unique there"
    )
    if k == 1:
        unique = ", unique there" if alone else ""
    return f"{k:,} of {counted(n, 'distinct synthetic text')} {verb} a train text{unique}."


@shared
def forms(context: Context, columns: tuple[str, ...], group: str | None, form: str) -> np.ndarray:
    """Return the number of the form that each distinct text has."""
    texts = corpus(context, columns, group).texts
    if form == "exact":
        return np.arange(texts.size)
    every = np.array([folded(text) for text in texts], dtype=object)
    return pd.factorize(every, sort=True)[0]


def shared_forms(
    context: Context, columns: tuple[str, ...], group: str | None, form: str, role: str
) -> tuple[int, int]:
    """Return how many distinct synthetic texts a role has too, and how many there are."""
    texts, codes = corpus(context, columns, group), forms(context, columns, group, form)
    mine, theirs = (np.unique(codes[texts.held[who]]) for who in ("synthetic", role))
    return int(np.isin(mine, theirs).sum()), mine.size


def text_copies(context: Context, columns: tuple[str, ...], group: str | None, form: str) -> Copies:
    """Return how many texts of the release are copies, and of texts that one real cell holds."""
    texts, codes = corpus(context, columns, group), forms(context, columns, group, form)
    n_forms = int(codes.max(initial=-1)) + 1
    counts = {
        role: sum(
            np.bincount(codes[cells[cells >= 0]], minlength=n_forms)
            for (of, _), cells in texts.cells.items()
            if of == role
        )
        for role in texts.held
    }
    return copies_of("texts", {role: np.asarray(counted) for role, counted in counts.items()})


def equal_texts(
    context: Context, columns: tuple[str, ...], group: str | None, form: str
) -> MatchLists:
    """Return the real texts of the form of each distinct synthetic one."""
    texts, codes = corpus(context, columns, group), forms(context, columns, group, form)
    mine = np.unique(codes[texts.held["synthetic"]])
    real = texts.numbers("train", "holdout")
    real = real[np.isin(codes[real], mine)]
    lists = np.searchsorted(mine, codes[real])
    return MatchLists.of_pairs(lists, real, np.ones(mine.size, dtype=np.int64), mine.size)


def word_sets(texts: np.ndarray, of_texts: Words, edit_length: int) -> TokenSets:
    """Return the set of words of each text; one without words has a token of its own."""
    wordless = np.flatnonzero(of_texts.lengths == 0)
    n_tokens = np.maximum(of_texts.lengths, 1)
    starts = np.concatenate([[0], np.cumsum(n_tokens)])
    tokens = np.empty(starts[-1], dtype=np.int32)
    has_words = np.repeat(of_texts.lengths > 0, n_tokens)
    tokens[has_words] = of_texts.ids
    tokens[~has_words] = of_texts.n_distinct + np.arange(wordless.size)
    shape = texts.size, of_texts.n_distinct + wordless.size
    sets = csr_array((np.ones(tokens.size), tokens, starts), shape=shape)
    sets.sum_duplicates()
    sets.data[:] = 1.0
    short = [text.lower() if len(text) <= edit_length else None for text in texts]
    return TokenSets(np.arange(texts.size), [sets], [np.array(short, dtype=object)])


@dataclass(frozen=True)
class NearTexts:
    """How many synthetic texts are near train and the holdout, which are near, and the join."""

    to_train: int
    to_holdout: int
    lists: MatchLists
    join: dict[str, dict[str, Any]]


@shared
def near_pairs(
    context: Context,
    columns: tuple[str, ...],
    group: str | None,
    threshold: float,
    edit_length: int,
    join: str,
    seed: int,
) -> NearTexts:
    """Return how many synthetic texts are near train and the holdout, and which are near."""
    texts = corpus(context, columns, group)
    queries, real = texts.numbers("synthetic"), texts.numbers("train", "holdout")
    in_holdout = texts.held.get("holdout", np.zeros(texts.texts.size, dtype=np.bool_))
    longest = _ALONE  # without a holdout it is enough to know whether there is more than one
    if in_holdout.any():
        longest = longest_list(texts.n_texts("train"), int(in_holdout.sum()))
    pairs = NearPairs(queries.size, texts.held["train"][real], in_holdout[real], longest)
    sets = word_sets(texts.texts, words(context, columns, group), edit_length)
    left, right = sets.which[queries], sets.which[real]
    how, blocks = joined(sets, left, right, threshold, pairs.done, join, seed)
    for i, j in blocks:
        pairs.add(i, j)
    lists = pairs.lists(np.ones(queries.size, dtype=np.int64), queries.size)
    n_near = int(pairs.near_train.sum()), int(pairs.near_holdout.sum())
    return NearTexts(*n_near, replace(lists, values=real[lists.values]), how)
