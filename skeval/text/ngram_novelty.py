"""Whether the passages of the release are new, or train has them."""

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
    r"""Share of the synthetic texts' runs of n words that train does not have: 0 to 1, all new.

    Everyone's sentences are made of phrases that others have used; a model that has memorised its
    texts uses those of train more than those of other people. A value below the baseline, the share
    that the holdout does not have, says so, even if no text and no long passage is repeated.

    Parameters
    ----------
    n : int, default=5
        Number of words. With few, all phrases are known; with many, only copied passages are.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release.

    See Also
    --------
    LongestCommonSubstring : How long the repeated passages are.
    TextExactMatch : Whole texts; explains test and baseline.

    Notes
    -----
    With G(s) the distinct runs of n words of a text s, and G(T) those of all train texts,

    .. math:: 1 - \frac{\sum_{s \in S} |G(s) \cap G(T)|}{\sum_{s \in S} |G(s)|}

    over the distinct texts S of the release. A text of fewer than n words has one run, of all its
    words, which equals another such run only. Words are as in :class:`LongestCommonSubstring`. Runs
    are compared by 64 bits of a hash.

    The test looks at up to 16 real texts that have a run. The interval takes the texts, and not the
    runs in them, to be independent.

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
    _what = "runs of words of the synthetic texts that train does not have"

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
        own = result.value  # rounding must not leave it out
        between = min(own, 1.0 - high), max(own, 1.0 - low)
        details = {**result.details, "n": self.n, "n_grams": int(totals.sum())}
        return replace(result, interval=between, details=details)

    def _summary(self, result: Result) -> str:
        lead = (
            f"{percent(result.value)} of the runs of {result.details['n']} words in synthetic "
            "texts stand in no train text"
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
