"""Similarity of texts in lengths, words, and sequences of words or characters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, replace
from typing import Literal, NamedTuple

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import TEXT_TAGS
from skeval.fidelity.divergences import jensen_shannon_distance
from skeval.fidelity.ks_complement import KSComplement
from skeval.fidelity.similarity import marginal
from skeval.results.result import Result, mean_of_columns
from skeval.stats.distributions import total_variation
from skeval.steps.columns import ROLES, empty_column_warnings, mean_ignoring_nan
from skeval.steps.texts import text_columns, units_of
from skeval.tables.schema import TableSchema
from skeval.utils.formatting import format_baseline, percent
from skeval.utils.parameters import AnyColumns, Count

_MIN_BAR_ROWS = 10  # minimum number of real rows per bin
Unit = Literal["words", "characters"]


@declared
class TextLengthSimilarity(KSComplement):
    """Similarity of the distributions of text lengths.

    Text generators often write all texts with the same length, or stop at the end of their context
    window. For each text column, the score is one minus the Kolmogorov-Smirnov distance between the
    lengths of real and synthetic texts. The value is the mean over the text columns. The score
    ranges from 0 (no overlap) to 1 (equal distributions). Higher is better.

    Parameters
    ----------
    unit : {"words", "characters"}, default="words"
        Unit of the lengths.
    columns : None, int or list of str, default=None
        Text columns to evaluate: all (None), the first *n*, or the named ones.

    Warnings
    --------
    Only lengths are compared. Random words in texts of the correct length score 1.

    See Also
    --------
    skeval.fidelity.KSComplement : A similarity of numbers. Describes the intervals and p-values.
    VocabularySimilarity : Compares the frequencies of single words.

    Notes
    -----
    ``1 - sup_l |F_train(l) - F_synthetic(l)|`` over lengths l. Empty texts have length 0, and
    missing texts are ignored. Words consist of letters, digits, underscores and combining marks. In
    scripts without spaces between words, such as Chinese or Thai, each character is a word.
    Intervals and p-values are computed as in :class:`~skeval.fidelity.KSComplement`.
    ``details["marginals"]`` contains the fractions of lengths in each table, in bins that end at a
    quantile and contain at least ten real rows.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import TextLengthSimilarity
    >>> train = pd.DataFrame({"note": ["a b", "a b c", "a b c d", "a"]})
    >>> metric = TextLengthSimilarity().fit(train, schema={"note": "text"})
    >>> metric.score(train.assign(note="a b c"))
    0.5
    """

    tags = TEXT_TAGS

    unit: Unit = "words"
    _: KW_ONLY
    columns: AnyColumns = None

    def _prepare(self, context: Context) -> None:
        text_columns(context.schema, self.columns)

    def _lengths(self, context: Context) -> Context:
        """Return the context of lengths, also for contexts that already contain lengths."""
        names = text_columns(context.schema, self.columns)
        return lengths_of(context, names, self.unit) if context.schema.columns("text") else context

    def _compute(self, context: Context) -> Result:
        return super()._compute(self._lengths(context))

    def _in_relation(self, context: Context, result: Result) -> Result:
        lengths = self._lengths(context)
        result = super()._in_relation(lengths, result)
        names = lengths.schema.columns("continuous")
        marginals = {name: marginal(lengths, name, min_count=_MIN_BAR_ROWS) for name in names}
        return replace(result, details={**result.details, "marginals": marginals})

    def _summary(self, result: Result) -> str:
        return (
            f"The lengths of texts, in {self.unit}, agree to {percent(result.value)} on average"
            f"{format_baseline(result.baseline)}."
        )


@shared
def lengths_of(context: Context, columns: tuple[str, ...], unit: str) -> Context:
    """Return a context whose tables contain the lengths of texts as numbers."""
    tables = {}
    for role in ("train", "holdout", "synthetic"):
        if role in context:
            rows = {name: units_of(context, role, name, unit).row_lengths for name in columns}
            tables[role] = type(context.train)(rows)
    schema = TableSchema(dict.fromkeys(columns, "continuous"))
    real = Context(schema, {role: rows for role, rows in tables.items() if role != "synthetic"})
    return real.with_rows_as_synthetic(tables["synthetic"])


@declared
class RunSimilarity(Metric):
    """Base class of similarities of the frequencies of words or n-grams in texts.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        Text columns to evaluate: all (None), the first *n*, or the named ones.
    """

    tags = TEXT_TAGS
    _halved = True  # intervals: skeval/core/intervals.py

    _: KW_ONLY
    columns: AnyColumns = None

    def _prepare(self, context: Context) -> None:
        text_columns(context.schema, self.columns)

    def _runs(self, context: Context, unit: str = "words", n: int = 1) -> dict[str, Counted]:
        names = text_columns(context.schema, self.columns)
        return {name: counted_runs(context, name, unit, n) for name in names}


@declared
class VocabularySimilarity(RunSimilarity):
    r"""Similarity of the frequencies of words in texts.

    The metric compares how often each word occurs in the real and in the synthetic texts. It also
    shows whether words are new, for example because the generator uses another language. The score
    ranges from 0 (no common words) to 1 (equal frequencies). Higher is better.

    Parameters
    ----------
    measure : {"tv", "jaccard"}, default="tv"
        "tv" is one minus the total variation distance of the frequencies of words. "jaccard" is the
        fraction of all different words that both tables contain, for any frequency.

    Warnings
    --------
    The order of words has no effect, and even new real texts score much lower than 1. Copies of the
    training texts have the highest score.

    See Also
    --------
    NGramSimilarity : Compares sequences of words.
    TextTwoSampleTest : Tests whether a classifier can distinguish the texts.

    Notes
    -----
    .. math:: 1 - \frac{1}{2} \sum_w |p_w - q_w| \qquad \frac{|A \cap B|}{|A \cup B|}

    with p and q the fractions of the word w among all words of the training and of the synthetic
    texts, and A and B the sets of words. Words are compared in lower case. Most words are rare, so
    two samples of the same language differ. New real texts score much lower than 1, in particular
    if there are few texts. Therefore compare the value with the baseline, which uses the same
    number of texts. ``Result.difference`` contains an interval of the difference from the baseline.
    It is based on samples of texts, not words, because words of a text depend on each other.

    ``details["out_of_vocabulary"]`` is the fraction of the words of synthetic texts, counted by
    frequency, that do not occur in training texts, by column. ``details["lost"]`` is the fraction
    of the words of training texts that do not occur in synthetic texts. ``details["holdout"]``
    contains both for the holdout. ``details["n_words"]`` contains the numbers of distinct words.
    The words themselves are not stored.

    Copies of training texts have the highest score, so the metric gives no information about
    privacy.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import VocabularySimilarity
    >>> train = pd.DataFrame({"note": ["to be or not to be"]})
    >>> metric = VocabularySimilarity().fit(train, schema={"note": "text"})
    >>> metric.score(pd.DataFrame({"note": ["to be"]})), metric.score(train)
    (0.6666666666666667, 1.0)
    """

    _parts = ("out_of_vocabulary", "lost", "n_words")

    measure: Literal["tv", "jaccard"] = "tv"

    def _compute(self, context: Context) -> Result:
        words = self._runs(context)
        result = mean_agreement(context, words, self.measure)
        details = {
            "out_of_vocabulary": {name: _share(one.synthetic, -1) for name, one in words.items()},
            "lost": {name: _share(one.train, -2) for name, one in words.items()},
            "n_words": {
                name: {"train": one.n_train, "synthetic": one.n_synthetic}
                for name, one in words.items()
            },
        }
        return replace(result, details={**result.details, **details})

    def _summary(self, result: Result) -> str:
        new = percent(mean_ignoring_nan(result.details["out_of_vocabulary"]))
        fresh = format_baseline(result.baseline)
        return (
            "The words of synthetic texts agree with the training texts to "
            f"{percent(result.value)}{fresh}. "
            f"{new} of the words of synthetic texts do not occur in training texts."
        )


def _share(counts: np.ndarray, cell: int) -> float:
    return float(counts[cell] / counts.sum()) if counts.any() else float("nan")


@declared
class NGramSimilarity(RunSimilarity):
    """Similarity of the frequencies of n-grams in texts.

    Texts may contain the right words in the wrong order, or consist of stock phrases. The metric
    compares how often each sequence of `n` words occurs in the real and in the synthetic texts. The
    score ranges from 0 (no common n-grams) to 1 (equal frequencies). Higher is better.

    Parameters
    ----------
    n : int, default=2
        Length of the n-grams.
    unit : {"words", "characters"}, default="words"
        Unit of the n-grams.
    measure : {"jensen_shannon", "tv"}, default="jensen_shannon"
        One minus the Jensen-Shannon distance (base 2), or minus the total variation distance.

    Warnings
    --------
    Most n-grams occur once, so even new real texts have a low score. Compare the score with the
    baseline. A score above the baseline indicates copied phrases.

    See Also
    --------
    VocabularySimilarity : Compares the frequencies of single words.
    skeval.fidelity.JensenShannonDistance : Computes the distance for other columns.

    Notes
    -----
    N-grams do not extend over the end of a text, and a text with fewer words has no n-gram. Most
    n-grams occur once, so even new real texts agree little with the training texts, in particular
    for large n. Therefore compare the value with the baseline, which uses the same number of texts.
    N-grams are counted by 64-bit hashes. For five million n-grams, the probability that any two
    have the same hash is about one in a million. The n-grams themselves are not stored.

    A value above the baseline indicates that phrases of training texts are repeated. In this case,
    use the metrics of memorization.

    References
    ----------
    Formula of this project.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import NGramSimilarity
    >>> train = pd.DataFrame({"note": ["to be or not", "to be"]})
    >>> metric = NGramSimilarity(measure="tv").fit(train, schema={"note": "text"})
    >>> metric.score(train), metric.score(pd.DataFrame({"note": ["to be", "be to"]}))
    (1.0, 0.5)
    """

    n: Count = 2
    unit: Unit = "words"
    measure: Literal["jensen_shannon", "tv"] = "jensen_shannon"

    def _compute(self, context: Context) -> Result:
        return mean_agreement(context, self._runs(context, self.unit, self.n), self.measure)

    def _summary(self, result: Result) -> str:
        return (
            f"The frequencies of {self.n}-grams of {self.unit} agree with the training texts "
            f"to {percent(result.value)}"
            f"{format_baseline(result.baseline)}."
        )


class Counted(NamedTuple):
    """Frequencies of n-grams in training and synthetic texts, and numbers of distinct n-grams."""

    # The cells contain the n-grams of both tables, then all other training n-grams, then all other
    # synthetic n-grams, because this sum gives the exact divergences.

    train: np.ndarray
    synthetic: np.ndarray
    n_train: int
    n_synthetic: int

    def agreement(self, measure: str) -> float:
        """Return the similarity of both tables, or nan if the training texts have no n-gram."""
        if not self.n_train:
            return float("nan")
        if measure == "jaccard":
            n_shared = self.train.size - 2
            return n_shared / (self.n_train + self.n_synthetic - n_shared)
        distance = total_variation if measure == "tv" else jensen_shannon_distance
        return 1.0 - distance(self.train, self.synthetic)


@shared
def counted_runs(context: Context, column: str, unit: str = "words", n: int = 1) -> Counted:
    """Count the runs of `n` words or characters of both tables."""
    tables = [units_of(context, role, column, unit, n) for role in ROLES]
    every = [table.counts() for table in tables]
    used = [counts > 0 for counts in every]
    keys = [table.keys[own] for table, own in zip(tables, used, strict=True)]
    counts = [counts[own] for counts, own in zip(every, used, strict=True)]
    _, *places = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
    shared_counts = [own[at] for own, at in zip(counts, places, strict=True)]
    alone = [own.sum() - both.sum() for own, both in zip(counts, shared_counts, strict=True)]
    train = np.append(shared_counts[0], [alone[0], 0.0])
    synthetic = np.append(shared_counts[1], [0.0, alone[1]])
    return Counted(train, synthetic, keys[0].size, keys[1].size)


def mean_agreement(context: Context, runs: Mapping[str, Counted], measure: str) -> Result:
    """Return the mean similarity of text columns."""
    sizes = {name: (int(one.train.sum()), int(one.synthetic.sum())) for name, one in runs.items()}
    return mean_of_columns(
        {name: one.agreement(measure) for name, one in runs.items()},
        n_total=len(context.schema.kinds),
        greater_is_better=True,
        warnings=empty_column_warnings(sizes),
    )
