"""The longest passages that texts of the release have in common with texts of train."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace

import numpy as np

from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import SCREEN_TAGS
from skeval.results.result import Result
from skeval.stats.matches import MatchLists
from skeval.steps.contrasts import set_against
from skeval.text.corpus import GroupColumn, Key
from skeval.text.spans import longest_shared_runs, run_lists
from skeval.text.text_screen import TextScreen
from skeval.utils.formatting import format_count, number
from skeval.utils.parameters import AnyColumns, Count

_QUANTILES = {"median": 0.5, "q90": 0.9, "q99": 0.99}
_LENGTHS = (8, 16, 32, 64)  # words


@declared
class LongestCommonSubstring(TextScreen):
    r"""Mean length of the longest passage that a synthetic text shares with train, in words.

    A language model that has memorised a text seldom writes all of it: it repeats a sentence or
    two, word for word, and goes on in its own. Ordinary phrases are repeated too, from train as
    from the holdout: a value like the baseline, four or five words, is what language is like. One
    far above it is memorised text; at ``max_words`` every text is quoted at length, at 0 no word
    is known.

    Parameters
    ----------
    max_words : int, default=25
        A passage of this number of words is long. Longer ones count as this long: a few texts that
        are copied as a whole, or that the tables share by themselves, would otherwise decide alone.
        Long passages are a fact if none of the holdout is long.

    Warnings
    --------
    This is a screen: it can raise an alarm and cannot clear a release. A word replaced here and
    there hides a passage from it.

    See Also
    --------
    NGramNovelty : Short passages, all of them.
    TextExactMatch : Whole texts; explains test and baseline.

    Notes
    -----
    With distinct texts S of the release and T of train, each a sequence of words, runs of letters,
    digits and underscores in lower case,

    .. math:: \frac{1}{|S|} \sum_{s \in S} \max_{t \in T} \max \{ k \le \mathrm{max\_words} :
        s_{i+1} \ldots s_{i+k} = t_{j+1} \ldots t_{j+k} \text{ for some } i, j \}

    In scripts without spaces each character is a word. Punctuation plays no part. All suffixes of
    all texts are put in order once, which takes a time that grows little faster than the number of
    words, so that no two texts are compared by themselves.

    The test compares the mean with train, less that with the holdout, with random choices of which
    documents, or authors, were train. It looks at the 16 real texts with the longest passages of
    each synthetic one. If all 16 are of one table, the other table's passage counts as long as the
    last of them, so that ``details["difference"]`` may be a little smaller than the difference of
    the two means. The interval is the mean with 1.96 standard errors.

    ``details`` has for both tables quantiles and the maximum of the whole lengths (``to_train``,
    ``holdout_lengths``), and the shares of synthetic texts with a passage of at least 8, 16, 32 and
    64 words. No passage is quoted.

    References
    ----------
    N. Carlini et al., "Quantifying memorization across neural language models", ICLR 2023,
    arXiv:2202.07646.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import LongestCommonSubstring
    >>> train = pd.DataFrame({"note": ["She came in with a cough", "Fell on ice"]})
    >>> synthetic = pd.DataFrame({"note": ["He came in with a fever", "Slept on ice"]})
    >>> LongestCommonSubstring().fit(train, schema={"note": "text"}).score(synthetic)
    3.0
    """

    tags = replace(SCREEN_TAGS, needs=frozenset({"text"}), bounds=(0.0, float("inf")))
    _what = "words in the longest passage shared with a train text, on average"

    columns: AnyColumns = None
    group: GroupColumn = None
    _: KW_ONLY
    max_words: Count = 25

    def _compare_with_role(self, context: Context, key: Key, role: str) -> float:
        return float(np.minimum(longest_shared_runs(context, role, *key), self.max_words).mean())

    def _lists(self, context: Context, key: Key) -> MatchLists:
        return run_lists(context, *key, self.max_words)

    def _details(self, context: Context, key: Key, result: Result) -> Result:
        lengths, greatest = longest_shared_runs(context, "train", *key), 0
        details = {**result.details, "to_train": length_summary(lengths)}
        if "to_holdout" in details:
            of_holdout = longest_shared_runs(context, "holdout", *key)
            details["holdout_lengths"], greatest = length_summary(of_holdout), int(of_holdout.max())
        long = int((lengths >= self.max_words).sum())
        # without a holdout nobody knows how long passages are by themselves
        compared = "to_holdout" in details and greatest < self.max_words
        return replace(
            result,
            interval=mean_interval(np.minimum(lengths, self.max_words)),
            fact=passages_in_words(long, lengths.size, self.max_words) if compared else "",
            details={**details, "n_long": long, "max_words": self.max_words},
        )

    def _summary(self, result: Result) -> str:
        lead = (
            "The longest passage that a synthetic text has in common with a train text is "
            f"{number(result.value)} words long on average"
        )
        return set_against(lead, result)


def length_summary(lengths: np.ndarray) -> dict[str, object]:
    """Return quantiles of lengths, and the shares of those that are long."""
    quantiles = {name: float(np.quantile(lengths, q)) for name, q in _QUANTILES.items()}
    shares = {str(length): float((lengths >= length).mean()) for length in _LENGTHS}
    return {**quantiles, "longest": int(lengths.max()), "at_least": shares}


def mean_interval(values: np.ndarray) -> tuple[float, float] | None:
    """Return the interval of a mean of numbers from 0 on; None of one number."""
    if values.size < 2:
        return None
    mean = float(values.mean())
    half = 1.96 * float(values.std(ddof=1)) / np.sqrt(values.size)
    return max(0.0, mean - half), mean + half


def passages_in_words(k: int, n: int, max_words: int) -> str:
    """Return how many texts have a long passage of train; empty if none has."""
    if not k:
        return ""
    verb = "repeats" if k == 1 else "repeat"
    return (
        f"{k:,} of {format_count(n, 'distinct synthetic text')} {verb} {max_words} words or more "
        "of a train text, none of the holdout."
    )
