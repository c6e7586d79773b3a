"""Screen for sequences of words that synthetic texts share with training texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import SCREEN_TAGS
from skeval.results.result import Result
from skeval.stats.matches import MatchLists
from skeval.stats.row_scores import row_mean
from skeval.steps.contrasts import set_against
from skeval.text.corpus import Key, corpus
from skeval.text.spans import N_LISTED, gram_numbers
from skeval.text.text_screen import TextScreen
from skeval.utils.formatting import percent
from skeval.utils.parameters import Count


@declared
class NGramNovelty(TextScreen):
    r"""Fraction of n-grams of the synthetic texts that do not occur in the training texts.

    All texts contain phrases that also occur in other texts. A model that has memorized its texts
    uses phrases of training texts more often than phrases of other texts. The baseline is the
    fraction of n-grams that do not occur in the holdout. A value below the baseline indicates
    memorization, even if no text and no long passage is repeated. The score ranges from 0 (all
    n-grams occur) to 1 (all are new). Higher is better.

    Parameters
    ----------
    n : int, default=5
        Number of words. For small n, nearly all phrases occur in the training texts. For large n,
        only copied passages occur there.

    Warnings
    --------
    This is a screening metric, which can find a leak but cannot rule one out.

    See Also
    --------
    LongestCommonSubstring : Measures the length of the repeated passages.
    TextExactMatch : Compares whole texts. Describes the test and the baseline.

    Notes
    -----
    With G(s) the distinct n-grams of a text s, and G(T) the n-grams of all training texts,

    .. math:: 1 - \frac{\sum_{s \in S} |G(s) \cap G(T)|}{\sum_{s \in S} |G(s)|}

    over the distinct synthetic texts S. A text of fewer than n words has one n-gram that contains
    all its words. Words are defined as in :class:`LongestCommonSubstring`. N-grams are compared by
    64-bit hashes.

    The test uses up to 16 real texts for each n-gram. The interval treats texts, not n-grams, as
    independent.

    References
    ----------
    R. T. McCoy et al., "How much do language models copy from their training data?", TACL 11 (2023)
    652-670, doi:10.1162/tacl_a_00567.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import NGramNovelty
    >>> train = pd.DataFrame({"note": ["She came in with a cough", "Fell on ice"]})
    >>> synthetic = pd.DataFrame({"note": ["He came in with fever", "Slept well"]})
    >>> NGramNovelty(n=2).fit(train, schema={"note": "text"}).score(synthetic)
    0.6
    """

    tags = replace(SCREEN_TAGS, needs=frozenset({"text"}), greater_is_better=True)
    _what = "n-grams of the synthetic texts that do not occur in the training texts"

    n: Count = 5

    def _obstacle(self, context: Context, key: Key) -> str:
        lacking, none = super()._obstacle(context, key), "no synthetic text has a word."
        return lacking or ("" if known_grams(context, self.n, *key, "train")[1].any() else none)

    def _compare_with_role(self, context: Context, key: Key, role: str) -> float:
        known, totals = known_grams(context, self.n, *key, role)
        return float(1.0 - known.sum() / totals.sum())

    def _lists(self, context: Context, key: Key) -> MatchLists:
        return gram_lists(context, self.n, *key)

    def _details(self, context: Context, key: Key, result: Result) -> Result:
        known, totals = known_grams(context, self.n, *key, "train")
        low, high = row_mean((known, totals)).interval
        own = result.value  # rounding must not exclude the value
        between = min(own, 1.0 - high), max(own, 1.0 - low)
        details = {**result.details, "n": self.n, "n_grams": int(totals.sum())}
        return replace(result, interval=between, details=details)

    def _summary(self, result: Result) -> str:
        lead = (
            f"{percent(result.value)} of the {result.details['n']}-grams of the synthetic "
            "texts do not "
            "occur in training texts"
        )
        return set_against(lead, result)


def known_grams(
    context: Context, n: int, columns: tuple[str, ...], group: str | None, role: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return how many runs of each distinct synthetic text a role has, and how many there are."""
    texts = corpus(context, columns, group)
    owners, grams = gram_numbers(context, n, columns, group)
    known = np.zeros(int(grams.max(initial=-1)) + 1, dtype=np.bool_)
    known[grams[texts.held[role][owners]]] = True
    of_text = np.bincount(owners, weights=known[grams], minlength=texts.texts.size)
    totals = np.bincount(owners, minlength=texts.texts.size)
    mine = texts.held["synthetic"]
    return of_text[mine], totals[mine]


def gram_lists(context: Context, n: int, columns: tuple[str, ...], group: str | None) -> MatchLists:
    """Return the real texts that have each run of the synthetic ones, weighted by their number."""
    texts = corpus(context, columns, group)
    owners, grams = gram_numbers(context, n, columns, group)
    weights = np.bincount(grams[texts.held["synthetic"][owners]])
    real = np.zeros(texts.texts.size, dtype=np.bool_)
    real[texts.numbers("train", "holdout")] = True
    order = np.flatnonzero(real[owners])
    order = order[np.argsort(grams[order], kind="stable")]  # owners ascend within a run
    sorted_grams = grams[order]
    first = np.searchsorted(sorted_grams, sorted_grams)
    kept = order[np.arange(order.size) - first < N_LISTED]
    return MatchLists.of_pairs(grams[kept], owners[kept], weights, int(weights.sum()))
