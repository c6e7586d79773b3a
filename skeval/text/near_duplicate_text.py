"""Screen for synthetic texts that are almost equal to a training text."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from scipy.sparse import csr_array

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.exceptions import MetricWarning
from skeval.privacy.near_texts import NearPairs
from skeval.privacy.similar_texts import TokenSets
from skeval.results.result import Result
from skeval.results.verdict import TEST_LEVEL
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, longest_list
from skeval.steps.contrasts import set_against
from skeval.text.corpus import GroupColumn, Key, Words, corpus, words
from skeval.text.minhash import join_texts
from skeval.text.text_screen import TextScreen, copies_in_words, of_one_unit
from skeval.utils.formatting import percent
from skeval.utils.parameters import AnyColumns, Interval, OpenFraction

_ALONE = 2
_LOW_RECALL = 0.9
_MISSED = (
    "the number of similar texts is so large that MinHash finds {share} of the pairs at the "
    "threshold by "
    "{side}. Use join='exact' to find all pairs, which may need hours."
)


@declared
class NearDuplicateText(TextScreen):
    r"""Fraction of distinct synthetic texts that are almost equal to a training text.

    A language model that has memorized a letter may replace a name or move a sentence, so an exact
    comparison does not find the copy. Anyone who has seen the letter recognizes it. The score
    ranges from 0 (no text) to 1 (all texts). Lower is better.

    Parameters
    ----------
    threshold : float, default=0.8
        Minimum similarity of a near duplicate, in (0, 1).
    edit_length : int, default=40
        Maximum number of characters of texts that are also compared by letters. If few letters
        differ, they are near duplicates. If 0, only words are compared. Larger values need more
        time.
    join : {"auto", "exact", "minhash"}, default="auto"
        Search method. "exact" finds all near duplicates. "minhash" finds most of them and is
        suitable for any number of texts. "auto" is exact unless more than 100 million pairs must be
        compared by words or by letters. This occurs for tens of thousands of texts with few
        different words, or texts that mostly consist of phrases from forms.
    random_state : int, default=0
        Seed of the permutations and of MinHash.

    Warnings
    --------
    This is a screening metric, which can find a leak but cannot rule one out.

    See Also
    --------
    TextExactMatch : Explains the test, baseline and details.
    LongestCommonSubstring : Finds copied passages of a text.
    skeval.privacy.NearDuplicateShare : Finds rows that are similar in all columns.

    Notes
    -----
    The value is the fraction of distinct synthetic texts s for which there is a training text t
    with

    .. math:: J(s, t) = \frac{|a \cap b|}{|a \cup b|} \ge \mathrm{threshold}

    where a and b are the sets of lower-case words of s and t. A word is a run of letters, digits
    and underscores. Short texts are near also if their Levenshtein distance is at most
    ``1 - threshold`` times the length of the longer one. The order of words plays no part.

    The exact join finds all pairs. It looks up texts by their rarer words only, because two sets of
    the required similarity always share one of these. MinHash compares texts that agree in all r
    minima of one of b bands. Each minimum is the first word of a text in a random order of all
    words. MinHash finds two texts with probability

    .. math:: P(J) = 1 - (1 - J^r)^b

    The default threshold uses r = 8 and b = 25, so 99% of the pairs at the threshold are found, and
    more pairs above it. All candidates are compared in full, so a text below the threshold never
    counts. Short texts are searched by their pairs of letters. At threshold t, the sets of letter
    pairs of two such near duplicates have a Jaccard similarity of at least
    ``(2 t - 1) / (3 - 2 t)``. This bound is 0 for t up to 0.5, so no recall is guaranteed there. If
    more than 100 million pairs would still be compared, r (the number of minima per band) is
    increased, which decreases the recall. A warning is issued if the recall is below 90%.
    ``details["join"]`` contains for ``"words"`` and ``"letters"`` the join method (``by``), the
    ``recall`` at the threshold, and (``n_skipped``) the number of candidates skipped because there
    were still too many at the largest r (about 60). Training data and holdout are searched
    together, so the p-value is valid for any join. The value may be too low but never too high.

    Exact copies also count. If a text is similar to more than about 16 real texts, 16 of them are
    evaluated. The rest is as in :class:`TextExactMatch`.

    Texts that are paraphrased completely are not found.

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

    _what = "distinct synthetic texts with nearly the same words as a training text"

    columns: AnyColumns = None
    group: GroupColumn = None
    _: KW_ONLY
    threshold: OpenFraction = 0.8
    edit_length: Annotated[int, Interval(0)] = 40
    join: Literal["auto", "exact", "minhash"] = "auto"

    def _near(self, context: Context, key: Key) -> NearTexts:
        least, seed = float(self.threshold), self.random_state
        return near_pairs(context, *key, least, self.edit_length, self.join, seed)

    def _compare_with_role(self, context: Context, key: Key, role: str) -> float:
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
        # some texts are always similar, so a number expected by chance is not reported as a fact
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
        lead = (
            f"{share} of the distinct synthetic texts have nearly the same words as a training text"
        )
        return set_against(lead, result)


def word_sets(texts: np.ndarray, of_texts: Words, edit_length: int) -> TokenSets:
    """Return the set of words of each text. Texts without words have a unique token."""
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
    longest = _ALONE  # without a holdout, it is sufficient to know whether there is more than one
    if in_holdout.any():
        longest = longest_list(texts.n_texts("train"), int(in_holdout.sum()))
    pairs = NearPairs(queries.size, texts.held["train"][real], in_holdout[real], longest)
    sets = word_sets(texts.texts, words(context, columns, group), edit_length)
    left, right = sets.which[queries], sets.which[real]
    how, blocks = join_texts(sets, left, right, threshold, pairs.done, join, seed)
    for i, j in blocks:
        pairs.add(i, j)
    lists = pairs.lists(np.ones(queries.size, dtype=np.int64), queries.size)
    n_near = int(pairs.near_train.sum()), int(pairs.near_holdout.sum())
    return NearTexts(*n_near, replace(lists, values=real[lists.values]), how)
