"""Screen for long passages that synthetic texts share with training texts."""

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
    r"""Mean length of the longest passage that a synthetic text shares with a training text.

    A language model that has memorized a text rarely writes all of it. It repeats a sentence or two
    exactly and continues differently. Ordinary phrases also occur in the training data and in the
    holdout. A value close to the baseline, which is usually four or five words, is therefore
    typical of the language, and a much larger value indicates memorized text. The score ranges from
    0 (no common word) to ``max_words`` (long quotations in every text). Lower is better.

    Parameters
    ----------
    max_words : int, default=25
        Number of words of a long passage. Longer passages count as this length, because otherwise a
        few copied texts, or texts that the tables share anyway, would dominate the mean. Long
        passages are reported as a fact if the holdout has no long passage.

    Warnings
    --------
    This is a screening metric, which can find a leak but cannot rule one out. It does not find a
    passage if words are replaced at short intervals.

    See Also
    --------
    NGramNovelty : Compares all short passages.
    TextExactMatch : Compares whole texts. Describes the test and the baseline.

    Notes
    -----
    With distinct synthetic texts S and distinct training texts T, each a sequence of words
    (letters, digits and underscores in lower case),

    .. math:: \frac{1}{|S|} \sum_{s \in S} \max_{t \in T} \max \{ k \le \mathrm{max\_words} :
        s_{i+1} \ldots s_{i+k} = t_{j+1} \ldots t_{j+k} \text{ for some } i, j \}

    In scripts without spaces, each character is a word. Punctuation is ignored. All suffixes of all
    texts are sorted once. The time grows slightly faster than the number of words, because texts
    are not compared in pairs.

    The test compares the mean length shared with the training data minus the mean length shared
    with the holdout with random assignments of documents or authors. It uses the 16 real texts with
    the longest passages for each synthetic text. If all 16 belong to one table, the passage of the
    other table has the length of the shortest of them, so ``details["difference"]`` may be slightly
    smaller than the difference of the two means. The interval is the mean plus and minus 1.96
    standard errors.

    ``details`` contains quantiles and the maximum of the full lengths for both tables
    (``to_train``, ``holdout_lengths``), and the fractions of synthetic texts with a passage of at
    least 8, 16, 32 and 64 words. Passages are never quoted.

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
    _what = "words in the longest passage shared with a training text, on average"

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
            "The longest passage that a synthetic text shares with a training text is "
            f"{number(result.value)} words long on average"
        )
        return set_against(lead, result)


def length_summary(lengths: np.ndarray) -> dict[str, object]:
    """Return quantiles of lengths, and the shares of those that are long."""
    quantiles = {name: float(np.quantile(lengths, q)) for name, q in _QUANTILES.items()}
    shares = {str(length): float((lengths >= length).mean()) for length in _LENGTHS}
    return {**quantiles, "longest": int(lengths.max()), "at_least": shares}


def mean_interval(values: np.ndarray) -> tuple[float, float] | None:
    """Return the interval of a mean of nonnegative numbers, or None for a single number."""
    if values.size < 2:
        return None
    mean = float(values.mean())
    half = 1.96 * float(values.std(ddof=1)) / np.sqrt(values.size)
    return max(0.0, mean - half), mean + half


def passages_in_words(k: int, n: int, max_words: int) -> str:
    """Return how many texts have a long passage of a training text, or an empty string."""
    if not k:
        return ""
    verb = "repeats" if k == 1 else "repeat"
    return (
        f"{k:,} of {format_count(n, 'distinct synthetic text')} {verb} {max_words} words or more "
        "of a training text, and none repeats as many of a holdout text."
    )
