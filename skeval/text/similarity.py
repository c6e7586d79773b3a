"""How alike texts are in what can be counted: lengths, words, runs of words or characters."""

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

_MIN_BAR_ROWS = 10  # real rows a bar
Unit = Literal["words", "characters"]


@declared
class TextLengthSimilarity(KSComplement):
    """Agreement of the lengths of texts: 1 where they are the same, 0 where they do not overlap.

    Generators of text are apt to write all texts of one length, or to stop where their window ends.
    An analyst draws the share of texts up to a length as a curve, for real and for synthetic texts;
    the column's score is 1 minus their greatest vertical distance, the value is the mean over the
    text columns.

    Parameters
    ----------
    unit : {"words", "characters"}, default="words"
        What is counted.
    columns : None, int or list of str, default=None
        The text columns: all, the first *n*, or these.

    See Also
    --------
    skeval.fidelity.KSComplement : The same of numbers, with its intervals and p-values.
    VocabularySimilarity : Which words they are.

    Notes
    -----
    ``1 - sup_l |F_train(l) - F_synthetic(l)|`` over lengths l. Empty texts have length 0, missing
    ones are left out. Words are runs of letters, digits, underscores and combining marks; in
    scripts that put no space between words, such as Chinese or Thai, each character is one.
    Intervals and p-values are those of :class:`~skeval.fidelity.KSComplement`.
    ``details["marginals"]`` has the shares of lengths in each table, in bars that end at a quantile
    and of which none is drawn of fewer than ten real rows.

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
        """Return the context of lengths; one that is made of it for a baseline is one already."""
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
    """Return a context whose tables hold the lengths of texts, as numbers."""
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
    """Base of agreements of how often words, or runs of them, occur in texts.

    Parameters
    ----------
    columns : None, int or list of str, default=None
        The text columns: all, the first *n*, or these.
    """

    tags = TEXT_TAGS
    _halved = True  # intervals: sampling_interval in skeval/stats/halves.py

    _: KW_ONLY
    columns: AnyColumns = None

    def _prepare(self, context: Context) -> None:
        text_columns(context.schema, self.columns)

    def _runs(self, context: Context, unit: str = "words", n: int = 1) -> dict[str, Counted]:
        names = text_columns(context.schema, self.columns)
        return {name: counted_runs(context, name, unit, n) for name in names}


@declared
class VocabularySimilarity(RunSimilarity):
    r"""Agreement of the words of texts: 1 where they are as frequent, 0 where none is shared.

    An analyst counts how often each word occurs in the real and in the synthetic texts, and asks
    how much of the one count would have to change to give the other; and whether words are new, as
    if a generator knows another language than the source.

    Parameters
    ----------
    measure : {"tv", "jaccard"}, default="tv"
        "tv" is one minus the total variation distance of the frequencies of words. "jaccard" is the
        share of all different words that both tables have, at any frequency.

    See Also
    --------
    NGramSimilarity : Whether words follow each other as they do in train.
    TextTwoSampleTest : Whether a classifier tells the texts apart.

    Notes
    -----
    .. math:: 1 - \frac{1}{2} \sum_w |p_w - q_w| \qquad \frac{|A \cap B|}{|A \cup B|}

    with p and q the shares of the word w among all words of train and of the synthetic texts, and A
    and B the sets of words; words are in lower case. Most words are rare, so that no two samples of
    a language agree: fresh real texts score far below 1, the farther the fewer texts there are.
    Only the baseline, of as many texts, says what is good. An interval of the difference to it is
    in ``Result.difference``; texts are drawn, not words, since words of a text go together.

    ``details["out_of_vocabulary"]`` is the share of the words of synthetic texts, each counted as
    often as it occurs, that train does not have, by column; ``details["lost"]`` the share of
    train's that synthetic texts do not have. ``details["holdout"]`` has both for the holdout too.
    ``details["n_words"]`` has the numbers of distinct words. No word is kept.

    Texts that were copied from train agree best: this is no measure of privacy.

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
            f"The words of synthetic texts agree with train's to {percent(result.value)}{fresh}; "
            f"{new} of those used do not stand in train."
        )


def _share(counts: np.ndarray, cell: int) -> float:
    return float(counts[cell] / counts.sum()) if counts.any() else float("nan")


@declared
class NGramSimilarity(RunSimilarity):
    """Agreement of runs of words: 1 where they are as frequent, 0 where none is shared.

    Texts may have the right words in the wrong order, or stock phrases in place of language. An
    analyst counts how often each run of `n` words occurs in the real and in the synthetic texts.

    Parameters
    ----------
    n : int, default=2
        Length of the runs.
    unit : {"words", "characters"}, default="words"
        What runs are of.
    measure : {"jensen_shannon", "tv"}, default="jensen_shannon"
        One minus the Jensen-Shannon distance (base 2), or minus the total variation distance.

    See Also
    --------
    VocabularySimilarity : Single words.
    skeval.fidelity.JensenShannonDistance : The same for the cells of other columns.

    Notes
    -----
    Runs do not reach over the end of a text; a text of fewer words has none. Most runs occur once,
    so that even fresh real texts agree little with train, and the less the longer the runs are:
    only the baseline, of as many texts, says what is good. Runs are counted by 64 bits of a hash,
    exactly but for a chance of about one in a million that any two of five million are taken for
    the same. No run is kept.

    A value above that of the baseline says that phrases of train are repeated: look at the metrics
    of memorisation.

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
            f"Runs of {self.n} {self.unit} are as frequent as in train to {percent(result.value)}"
            f"{format_baseline(result.baseline)}."
        )


class Counted(NamedTuple):
    """How often runs occur in train and in synthetic texts."""

    # And how many distinct ones there are.
    #
    # The cells are the runs that both have, then all others of train, then all others of
    # synthetic texts: total variation and Jensen-Shannon divergence are those of all runs.

    train: np.ndarray
    synthetic: np.ndarray
    n_train: int
    n_synthetic: int

    def agreement(self, measure: str) -> float:
        """Return the similarity of both tables; nan if train has no run."""
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
