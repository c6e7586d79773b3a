"""Texts that are planted in the training data, and their exposure in the synthetic data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import ATTACK_TAGS
from skeval.exceptions import InvalidParameterError, TableError
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.multiple_testing import holm
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.roc import auc
from skeval.stats.row_scores import exchange_p_value
from skeval.steps.texts import text_columns, word_hashes, words_of
from skeval.text.corpus import corpus, lacking_texts, words
from skeval.text.spans import gram_hashes
from skeval.utils.formatting import as_float, number, percent
from skeval.utils.parameters import AnyColumns, Count, Legal, Seed, check_parameters, legal_sets

_MAX_GRAM_LENGTH = 8  # words
_WHAT = "pairs of a planted and a reference canary in which the release is more like the planted"


def _are_texts(value: object) -> bool:
    """Return whether `value` is a sequence of strings, one at least, each once."""
    if isinstance(value, str) or not isinstance(value, list | tuple | np.ndarray | pd.Series):
        return False
    texts = list(value)
    return bool(texts) and all(isinstance(t, str) for t in texts) and len({*texts}) == len(texts)


CanaryTexts = Annotated[
    list[str] | tuple[str, ...], Legal("a list of different strings", _are_texts, [])
]


class Canaries(NamedTuple):
    """Texts to plant in the training data, and similar texts to compare them with.

    Parameters
    ----------
    planted : list of str
        Add each text to the training data once or several times before the generator is trained.
    references : list of str
        Do not give these texts to the generator.

    See Also
    --------
    make_canaries : Draw planted and reference canaries.
    TextCanaryExposure : Measures how much the release reveals of the canaries.

    Examples
    --------
    >>> from skeval.text import Canaries
    >>> Canaries(["a b c"], ["a c b"]).references
    ['a c b']
    """

    planted: list[str]
    references: list[str]


def make_canaries(
    texts: Sequence[str],
    n_planted: Count = 10,
    n_references: Count = 1000,
    *,
    prefix_words: Count = 10,
    suffix_words: Count = 10,
    random_state: Seed = 0,
) -> Canaries:
    """Make canaries, which begin like a real text and end with an unlikely sequence of rare words.

    A model that writes like its training texts rarely repeats a canary that is different from all
    of them, even if it has memorized the canary. A canary with a realistic beginning is more likely
    to be generated, and its end identifies it.

    Parameters
    ----------
    texts : sequence of str
        Real texts whose beginnings may be quoted, for example holdout texts.
    n_planted : int, default=10
        Number of canaries to plant.
    n_references : int, default=1000
        Number of canaries that are not planted. A p-value of 0.001 for a single canary requires
        999.
    prefix_words : int, default=10
        Number of words from a real text at the beginning of each canary.
    suffix_words : int, default=10
        Number of rare words at the end of each canary.
    random_state : int, default=0
        Seed.

    Returns
    -------
    Canaries
        The planted canaries are a random sample.

    Raises
    ------
    InvalidParameterError
        If a number is not positive.
    TableError
        If the texts have too few words to make this number of different canaries.

    See Also
    --------
    TextCanaryExposure : Measures how much the release reveals of the canaries.

    References
    ----------
    M. Meeus et al., "The canary's echo: auditing privacy risks of LLM-generated synthetic text",
    ICML 2025, arXiv:2502.14921.

    Examples
    --------
    >>> from skeval.text import make_canaries
    >>> texts = [f"the patient of bed {i} slept well and ate all of his soup" for i in range(50)]
    >>> canaries = make_canaries(texts, 1, 9, prefix_words=3, suffix_words=4)
    >>> canaries.planted[0].split()[:3], len(canaries.planted[0].split()), len(canaries.references)
    (['the', 'patient', 'of'], 7, 9)
    """
    given = {
        "n_planted": n_planted,
        "n_references": n_references,
        "prefix_words": prefix_words,
        "suffix_words": suffix_words,
        "random_state": random_state,
    }
    check_parameters("make_canaries", given, legal_sets(make_canaries))
    distinct = [text for text in dict.fromkeys(map(str, texts)) if text.strip()]
    openings = [part for part in map(str.split, distinct) if len(part) >= prefix_words]
    openings = openings or [text.split() for text in distinct]
    tokens, counts = np.unique([w for text in distinct for w in words_of(text)], return_counts=True)
    # the rarer half of the different words
    rare = tokens[np.argsort(counts, kind="stable")][: max(1, tokens.size // 2)]
    n = n_planted + n_references
    if not openings or rare.size ** float(suffix_words) < 10 * n:
        raise TableError(
            f"make_canaries: {len(distinct)} texts with {tokens.size} different words are too few "
            f"for {n} different canaries. Give more texts or a larger suffix_words."
        )
    rng, made = np.random.default_rng(random_state), dict[str, None]()
    while len(made) < n:
        opening = openings[rng.integers(len(openings))][:prefix_words]
        made[" ".join([*opening, *rng.choice(rare, suffix_words).tolist()])] = None
    drawn = list(made)
    return Canaries(drawn[:n_planted], drawn[n_planted:])


@declared
class TextCanaryExposure(Metric):
    r"""Exposure of planted canaries in the synthetic texts, in bits.

    The data owner plants artificial texts in the training data, trains the generator, and searches
    for traces of these texts in the synthetic data. Similar canaries that were not planted show how
    many traces are expected by chance. An exposure of b bits means that the canary ranks in the top
    2^-b of all candidates. Because the planted canaries are known, the metric can find a leak
    without a holdout. The score ranges from 0 (all references rank above the canaries) to log2(R),
    where R is the number of references plus 1. Lower is better.

    Parameters
    ----------
    planted : list of str
        The canaries that were planted in the training data. See :func:`make_canaries`.
    references : list of str
        Similar canaries that were not planted.
    columns : None, int or list of str, default=None
        Columns whose texts are evaluated: all free-text columns (None), the first *n* of them, or
        the named columns of any type.
    trace : {"coverage", "span"}, default="coverage"
        Definition of a trace. "coverage" counts the sequences of 1 to 8 words of a canary that
        occur in the synthetic data, with a higher weight for rare sequences. "span" is the length
        of the longest sequence.
    n_permutations : int, default=1999
        Number of random permutations of the planted canaries for the p-value.
    random_state : int, default=0
        Seed of the permutations.

    Attributes
    ----------
    context_ : Context
        The fitted tables (not used).

    Raises
    ------
    InvalidParameterError
        At fit, if a text is both planted and a reference.

    Warnings
    --------
    Canaries show how well the generator memorizes similar texts. A low value does not rule out a
    leak of other texts.

    See Also
    --------
    make_canaries : Draw planted and reference canaries.
    skeval.privacy.OneRunDPAudit : A lower bound on epsilon from planted rows.
    TextMembershipInference : An attack on real texts, without planted texts.

    Notes
    -----
    The exposure of a planted canary that has rank r among the R candidates (all references and the
    canary itself; ties count half) is

    .. math:: \mathrm{exposure} = \log_2 R - \log_2 r

    and the value is the mean over planted canaries. The baseline is the mean for a canary that was
    not planted, about 1.44 bits. The planted canaries are a random choice. Therefore the p-value,
    which compares their mean rank with random choices, is exact. For one planted canary, it is the
    rank divided by R. The smallest possible p-value depends on the number of references.

    ``details`` contains the exposure of each planted canary, the maximum, the p-value of each
    canary from its rank after Holm correction (``p_values``), and the fraction of pairs in which a
    planted canary ranks higher (``auc``). Canaries are never quoted.

    Real texts may be less or more exposed than canaries, for example if they are more likely than a
    canary. To see how exposure grows with repetition, plant a canary several times.

    References
    ----------
    N. Carlini et al., "The secret sharer: evaluating and testing unintended memorization in neural
    networks", USENIX Security 2019, arXiv:1802.08232.
    M. Meeus et al., "The canary's echo: auditing privacy risks of LLM-generated synthetic text",
    ICML 2025, arXiv:2502.14921.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import TextCanaryExposure
    >>> train = pd.DataFrame({"note": ["Slept well in the end", "Ate all of his soup"]})
    >>> references = [f"He ate all of his {word}" for word in ("lamp", "sofa", "desk")]
    >>> metric = TextCanaryExposure(["He ate all of his moss"], references)
    >>> synthetic = pd.DataFrame({"note": ["Was all of his moss", "She ate a lamp"]})
    >>> metric.fit(train, schema={"note": "text"}).score(synthetic)
    2.0
    """

    tags = replace(ATTACK_TAGS, needs=frozenset({"text"}), bounds=(0.0, float("inf")))

    planted: CanaryTexts
    references: CanaryTexts
    columns: AnyColumns = None
    _: KW_ONLY
    trace: Literal["coverage", "span"] = "coverage"
    n_permutations: Count = 1999
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        text_columns(context.schema, self.columns)
        if both := len({*self.planted} & {*self.references}):
            raise InvalidParameterError(
                f"TextCanaryExposure: {both} planted canaries are also references. "
                "References must not occur in the training data."
            )

    def _compute(self, context: Context) -> Result:
        columns = text_columns(context.schema, self.columns)
        if lacking := lacking_texts(corpus(context, columns), "synthetic"):
            return undefined_result(lacking)
        return Result(float(exposures(*self._traces(context)).mean()))

    def _traces(self, context: Context) -> tuple[np.ndarray, np.ndarray]:
        columns = text_columns(context.schema, self.columns)
        of_texts, texts = words(context, columns), corpus(context, columns)
        mine = np.repeat(texts.held["synthetic"], of_texts.lengths)
        lengths = of_texts.lengths[texts.held["synthetic"]]
        release = of_texts.keys[of_texts.ids[mine]], np.concatenate([[0], np.cumsum(lengths)])
        every = traces([*self.planted, *self.references], *release, self.trace)
        return every[: len(self.planted)], every[len(self.planted) :]

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        planted, references = self._traces(context)
        each, n = exposures(planted, references), references.size + 1
        pooled = np.concatenate([planted, references])
        ranks = (rankdata(pooled) - 0.5) / pooled.size
        sides = [
            (part, np.ones(part.size, dtype=np.int64))
            for part in (ranks[: planted.size], ranks[planted.size :])
        ]
        trials: dict[str, Any] = {"n_permutations": self.n_permutations, "seed": self.random_state}
        above = auc(planted, references)
        return replace(
            result,
            p_value=exchange_p_value([(sides[0], sides[1])], **trials),
            baseline=float(np.log2(n) - np.log2(np.arange(1, n + 1)).mean()),
            contrast=Contrast(
                _WHAT, above, 0.5, least_p=least_p_value(planted.size, references.size)
            ),
            advice="Train for fewer steps, without repeated texts, or with noise.",
            details={
                "n_planted": planted.size,
                "n_references": references.size,
                "greatest_possible": float(np.log2(n)),
                "exposures": each,
                "greatest": float(each.max()),
                "p_values": holm([(1 + int((references >= s).sum())) / n for s in planted]),
                "auc": above,
            },
        )

    def _summary(self, result: Result) -> str:
        n = result.details["n_planted"]
        lead = f"{n:,} planted canaries are" if n != 1 else "The planted canary is"
        return (
            f"{lead} exposed by {number(result.value)} bits, compared with "
            f"{number(result.baseline)} for a canary that was not planted. A planted canary "
            "ranks above "
            f"a reference in {percent(as_float(result.details['auc']))} of the pairs."
        )


def exposures(planted: np.ndarray, references: np.ndarray) -> np.ndarray:
    """Return the exposure of each planted canary in bits. Ties with references count half."""
    above = (references[None, :] > planted[:, None]).sum(axis=1)
    tied = (references[None, :] == planted[:, None]).sum(axis=1)
    return np.asarray(np.log2(references.size + 1) - np.log2(1.0 + above + tied / 2.0))


def traces(
    canaries: Sequence[str], hashes: np.ndarray, starts: np.ndarray, trace: str
) -> np.ndarray:
    """Return how much of each canary the release has."""
    lengths, own = word_hashes(list(canaries))
    own_starts = np.concatenate([[0], np.cumsum(lengths)])
    longest = int(lengths.max(initial=0)) if trace == "span" else _MAX_GRAM_LENGTH
    amounts = np.zeros(len(canaries))
    for n in range(1, longest + 1):
        grams, owners = gram_hashes(own, own_starts, n, whole=False)
        known = pd.Index(np.unique(grams))
        places = known.get_indexer(gram_hashes(hashes, starts, n, whole=False)[0])
        counts = np.bincount(places[places >= 0], minlength=known.size)[known.get_indexer(grams)]
        there = counts > 0
        if not there.any():
            break
        if trace == "span":
            amounts[owners[there]] = n
        else:
            bits = np.log2(max(places.size, 1) / counts[there])
            amounts += np.bincount(owners[there], weights=bits, minlength=amounts.size)
    return np.round(amounts, 9)
