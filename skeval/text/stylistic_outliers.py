"""Screen for unusual writing styles of training texts that the synthetic texts imitate."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import KW_ONLY, replace
from functools import cache
from typing import Annotated, Any

import numpy as np
from scipy.sparse import csr_array

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import SCREEN_TAGS
from skeval.exceptions import MissingDependencyError
from skeval.results.result import Result, undefined_result
from skeval.results.verdict import Contrast
from skeval.stats.permutation_tests import least_p_value
from skeval.stats.row_scores import row_mean
from skeval.steps.contrasts import set_against
from skeval.tables.embedding import EMBEDDER, is_embedder
from skeval.text.corpus import (
    CorpusMetric,
    corpus,
    lacking_texts,
    sizes,
    text_exchange_p_value,
    words,
)
from skeval.text.vectors import (
    largest_in_blocks,
    mean_cosine_distance,
    nearest_similarity,
    places_among,
    text_vectors,
    unit_rows,
)
from skeval.utils.formatting import percent, risk_level
from skeval.utils.parameters import Count, Legal, OpenFraction

_MAX_COMPARED = 2000  # maximum number of outliers, which are compared with all texts
_FREQUENT = 30  # number of words that are treated as function words
_MIN_OCCURRENCES = 5  # minimum frequency of a word for Word2Vec
_FAR, _MAX_OUTLIERS = 2.0, 0.1  # standard deviations and high-risk fraction of SynEval
_FARTHEST = 10.0  # maximum standard deviations, so that one feature does not hide the others
_AT_ONCE = 2**21  # characters
_BLOCK = 2**24  # distances in memory at the same time
_KINDS = ("lower", "upper", "letter", "mark", "digit", "space", "stop", "comma", "other", "symbol")
_KIND_OF = {"Ll": 0, "Lu": 1, "L": 2, "M": 3, "N": 4, "Z": 5, "C": 5, "P": 8, "S": 9}
_STOPS = ".!?\u061f\u0964\u3002\uff01\uff1f\u2026"
_COMMAS = ",;:\u060c\u061b\u3001\uff0c\uff1b\uff1a"
_NAMED = ("style", "tfidf", "word2vec")
_NO_GENSIM = 'features="word2vec" requires gensim, which is not installed. Run pip install gensim.'
Features = Annotated[
    Any,
    Legal(
        f"{', '.join(map(repr, _NAMED))}, {EMBEDDER}",
        lambda value: value in _NAMED if isinstance(value, str) else is_embedder(value),
        "no such option",
    ),
]


@declared
class StylisticOutliers(CorpusMetric):
    r"""Fraction of synthetic texts among the nearest texts of training outliers.

    An author may write in capitals, without commas, or in long sentences. Anyone who knows the
    author recognizes this style in a text on any subject. If a generator imitates the style, it
    discloses that the author's texts were in the training data. Many of the texts that are most
    similar to such an outlier are then synthetic. The same fraction for outliers of the holdout is
    the baseline. A value far above the baseline indicates that unusual training texts are imitated.
    The score ranges from 0 (no synthetic texts) to 1 (only synthetic texts). Lower is better.

    Parameters
    ----------
    features : "style", "tfidf", "word2vec", transformer or object with encode, default="style"
        Features that define outliers. "style" uses the way of writing, "tfidf" the words weighted
        by rarity, and "word2vec" the mean of the Word2Vec vectors of the words, which requires
        gensim. You can also pass a transformer or an embedder.
    share : float, default=0.05
        Fraction of the distinct real texts that are outliers, that is, most distant from all other
        texts. The maximum is 2,000 texts.
    n_neighbors : int, default=5
        Number of most similar texts that are evaluated for each outlier.
    random_state : int, default=0
        Seed of the permutations and of Word2Vec.

    Raises
    ------
    MissingDependencyError
        If Word2Vec is requested and gensim is not installed.

    Warnings
    --------
    This is a screening metric, which can find a leak but cannot rule one out.

    See Also
    --------
    TextExactMatch : Describes how the labels are exchanged.
    TextMembershipInference : Attacks all training texts.
    skeval.privacy.Authenticity : Fraction of synthetic rows that are not noisy copies.

    Notes
    -----
    "style" uses the fractions of types of characters (small and capital letters, other scripts,
    digits, spaces, full stops, commas, other marks, symbols), the logarithm of the number of words,
    the length of words, their diversity (Herdan's C), and the rates of the 30 most frequent words
    of the real texts, which are function words in most languages. All features have mean 0 and
    standard deviation 1 over the real texts, and distances are Euclidean. Other features are
    vectors of length 1 with cosine distances.

    An outlier has a large mean distance to all texts, which does not require pairs. With unit
    vectors e and their mean,

    .. math:: \frac{1}{n} \sum_j (1 - \langle e_i, e_j \rangle) = 1 - \langle e_i, \bar e \rangle

    and with standardised vectors x, the mean squared distance is :math:`|x_i|^2` plus a constant.

    The value is the mean over training outliers of the fraction of synthetic texts among the
    `n_neighbors` nearest of all other texts. Real texts are pooled, so the outliers and their
    neighbors do not depend on the labels. Therefore the one-sided p-value, based on the mean for
    the training data minus the mean for the holdout, is exact. If the style of one author is
    copied, this is one leak for any number of texts. With `group`, a significant test requires
    several such authors.

    ``details["syneval"]`` contains the numbers of SynEval under its names for the chosen features.
    SynEval itself uses ``features="word2vec"``. Its outliers are texts whose mean distance to the
    other texts of their table is more than two standard deviations above the mean. `num_outliers`
    and `outlier_percentage` describe the synthetic and the training data, and `outlier_ratio` is
    the ratio of the two numbers. `risk_level` is high above 10%, or if the percentages differ by
    more than 10. Means of Word2Vec vectors measure topics and lengths, not style. For example,
    texts in capitals appear typical. TF-IDF has the same limitation. ``details["by_words"]``
    contains the result for "tfidf" in addition to "style".

    ``details`` contains the number of outliers of each table (``n_outliers``), the value for the
    holdout (``to_holdout``), and the mean distance of an outlier and of any text to all others. The
    interval treats outliers as independent.

    References
    ----------
    J. Burrows, "'Delta': a measure of stylistic difference and a guide to likely authorship",
    Literary and Linguistic Computing 17 (2002) 267-287, doi:10.1093/llc/17.3.267.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import StylisticOutliers
    >>> plain = [f"the dog of number {i} sleeps in the house by the sea" for i in range(40)]
    >>> loud, quoted = ["WHO DID THIS!!! NOT ME!!!"], ['"so," she said, "(maybe); but - why?"']
    >>> train, holdout, synthetic = (
    ...     pd.DataFrame({"note": notes})
    ...     for notes in (plain[::2] + loud, plain[1::2] + quoted, ["WHO WAS IT!!! NOT HER!!!"])
    ... )
    >>> metric = StylisticOutliers(n_neighbors=1).fit(train, holdout, schema={"note": "text"})
    >>> result = metric.evaluate(synthetic)
    >>> result.value, result.baseline
    (0.5, 0.0)
    """

    tags = replace(SCREEN_TAGS, needs=frozenset({"holdout", "text"}))

    features: Features = "style"
    _: KW_ONLY
    share: OpenFraction = 0.05
    n_neighbors: Count = 5

    def _prepare(self, context: Context) -> None:
        super()._prepare(context)
        if isinstance(self.features, str) and self.features == "word2vec":
            word2vec_class()

    def _repeated_outliers(
        self, context: Context, features: Any
    ) -> tuple[np.ndarray, np.ndarray, Any]:
        seed = self.random_state if isinstance(features, str) and features == "word2vec" else 0
        columns, group = self._key(context)
        return repeated_outliers(
            context, columns, group, features, float(self.share), self.n_neighbors, seed
        )

    def _compute(self, context: Context) -> Result:
        texts = corpus(context, *self._key(context))
        if lacking := lacking_texts(texts, "train", "holdout", "synthetic"):
            return undefined_result(lacking)
        outliers, repeated, _ = self._repeated_outliers(context, self.features)
        of_train = repeated[texts.held["train"][outliers]]
        if not of_train.size:
            return undefined_result(
                "there are no training texts among the outliers. Increase share."
            )
        return Result(float(of_train.mean()))

    def _in_relation(self, context: Context, result: Result) -> Result:
        if np.isnan(result.value):
            return result
        texts = corpus(context, *self._key(context))
        details = {
            **sizes(texts),
            **self._contrast_details(context),
            "syneval": self._as_syneval(context),
        }
        if isinstance(self.features, str) and self.features == "style":
            by_words = self._contrast_details(context, "tfidf")
            details["by_words"] = {n: by_words[n] for n in ("to_train", "to_holdout", "p_value")}
        to_holdout = details["to_holdout"]
        shown = Contrast(
            "synthetic texts among the texts most similar to an outlying training text",
            result.value,
            to_holdout,
            "of the holdout's",
            least_p=least_p_value(texts.n_train, texts.n_holdout),
        )
        tested = not math.isnan(to_holdout)
        return replace(
            result,
            interval=details.pop("interval"),
            p_value=details["p_value"] if tested else None,
            baseline=to_holdout if tested else None,
            contrast=shown if tested else None,
            advice=(
                "Remove texts with an unusual style from the training data, or train with noise."
            ),
            details=details,
        )

    def _as_syneval(self, context: Context) -> dict[str, Any]:
        """Return the numbers of SynEval with its names and rules."""
        texts, (columns, group) = corpus(context, *self._key(context)), self._key(context)
        by_style = isinstance(self.features, str) and self.features == "style"
        seed = self.random_state
        vectors = (
            style_vectors(context, columns, group)
            if by_style
            else other_vectors(context, columns, group, self.features, seed)
        )
        counted: dict[str, dict[str, Any]] = {}
        for role, name in (("synthetic", "synthetic"), ("train", "original")):
            places = np.concatenate([texts.cells[role, column] for column in columns])
            own = vectors[places[places >= 0]]
            apart = mean_squared_distance(own) if by_style else mean_cosine_distance(own)
            n_outliers, share = far_ones(apart), far_ones(apart) / max(1, apart.size)
            counted[name] = {
                "num_outliers": n_outliers,
                "outlier_percentage": 100.0 * share,
                "risk_level": risk_level(share, _MAX_OUTLIERS),
            }
        some, others = (counted[name] for name in ("synthetic", "original"))
        ratio = some["num_outliers"] / max(1, others["num_outliers"])
        gap = abs(some["outlier_percentage"] - others["outlier_percentage"]) / 100.0
        compared = {
            "outlier_ratio": ratio if others["num_outliers"] else float("inf"),
            "risk_level": risk_level(gap, _MAX_OUTLIERS),
        }
        return {**counted, "comparison": compared}

    def _contrast_details(self, context: Context, features: Any = None) -> dict[str, Any]:
        texts = corpus(context, *self._key(context))
        outliers, repeated, distances = self._repeated_outliers(context, features or self.features)
        of_train, of_holdout = (repeated[texts.held[r][outliers]] for r in ("train", "holdout"))
        trials = {"n_permutations": self.n_permutations, "seed": self.random_state}
        return {
            "n_outliers": [of_train.size, of_holdout.size],
            "interval": row_mean((of_train, np.ones(of_train.size, dtype=np.int64))).interval,
            "to_train": float(of_train.mean()) if of_train.size else float("nan"),
            "to_holdout": float(of_holdout.mean()) if of_holdout.size else float("nan"),
            "p_value": text_exchange_p_value(texts, outliers, repeated, **trials),
            "distances": distances,
        }

    def _summary(self, result: Result) -> str:
        lead = (
            f"{percent(result.value)} of the texts that are most similar to an outlying "
            "training text are "
            "synthetic"
        )
        return set_against(lead, result)


def mean_squared_distance(vectors: np.ndarray) -> np.ndarray:
    """Return the mean squared distance of each vector to all others."""
    n, norms = len(vectors), (vectors**2).sum(axis=1)
    total = norms.sum() - 2.0 * vectors @ vectors.sum(axis=0) + n * norms
    return np.asarray(total / max(n - 1, 1))


def far_ones(apart: np.ndarray) -> int:
    """Get how many of the mean distances are more than two standard deviations above the mean."""
    apart = np.round(apart, 9)
    return int((apart - apart.mean() > _FAR * apart.std()).sum()) if apart.size else 0


@shared
def repeated_outliers(
    context: Context,
    columns: tuple[str, ...],
    group: str | None,
    features: Any,
    share: float,
    n_neighbors: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """Return outlying real texts, which share of the nearest are synthetic, and distances."""
    texts = corpus(context, columns, group)
    real, synthetic = texts.numbers("train", "holdout"), texts.numbers("synthetic")
    by_style = isinstance(features, str) and features == "style"
    if by_style:
        vectors = style_vectors(context, columns, group)
        apart = (vectors[real] ** 2).sum(axis=1)
    else:
        vectors = other_vectors(context, columns, group, features, seed)
        apart = mean_cosine_distance(vectors[real])
    apart = np.round(apart, 9)
    n_outliers = min(_MAX_COMPARED, math.ceil(share * real.size))
    order = np.argsort(-apart, kind="stable")[:n_outliers]
    outliers = np.sort(real[order])
    nearest = nearest_negative_distance if by_style else nearest_similarity
    to_real = nearest(vectors, outliers, real, n_neighbors, itself=False)
    to_synthetic = nearest(vectors, outliers, synthetic, n_neighbors, itself=True)
    distances = {"of_outliers": float(apart[order].mean()), "of_all": float(apart.mean())}
    return outliers, share_of_nearest(to_synthetic, to_real), distances


def share_of_nearest(mine: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the fraction of the first type among the nearest texts. Ties count for the others."""
    k = mine.shape[1]
    both = np.column_stack([others, mine])
    order = np.argsort(-both, axis=1, kind="stable")[:, :k]
    exists = np.take_along_axis(both, order, axis=1) > -np.inf
    return ((order >= k) & exists).sum(axis=1) / np.maximum(exists.sum(axis=1), 1)


def other_vectors(
    context: Context, columns: tuple[str, ...], group: str | None, features: Any, seed: int
) -> Any:
    """Return unit vectors of all texts that are not of their style."""
    if isinstance(features, str) and features == "word2vec":
        return word2vec_vectors(context, columns, group, seed)
    return text_vectors(context, columns, group, features)


def nearest_negative_distance(
    vectors: np.ndarray, queries: np.ndarray, others: np.ndarray, n_kept: int, *, itself: bool
) -> np.ndarray:
    """Return minus the smallest squared distances of each query to the others, descending."""
    norms = (vectors**2).sum(axis=1)
    own = np.full(queries.size, -1) if itself else places_among(queries, others)

    def nearness(rows: np.ndarray) -> np.ndarray:
        products = 2.0 * vectors[rows] @ vectors[others].T
        return np.asarray(np.minimum(products - norms[others] - norms[rows][:, None], 0.0))

    # rounding errors of the products must not separate equal texts
    return np.round(largest_in_blocks(nearness, queries, own, others.size, n_kept), 6)


@shared
def style_vectors(context: Context, columns: tuple[str, ...], group: str | None) -> np.ndarray:
    """Return how each distinct text is written, standardised over the real ones."""
    # Shape (n_texts, n_features). The features are types of characters, numbers, length and
    # diversity of words, and rates of frequent words.
    texts, of_texts = corpus(context, columns, group), words(context, columns, group)
    real, n_words = texts.numbers("train", "holdout"), np.maximum(of_texts.lengths, 1)
    characters = kinds_of_characters(texts.texts.tolist())
    in_words = characters[:, [_KINDS.index(k) for k in ("lower", "upper", "letter", "digit")]]
    owners = np.repeat(np.arange(n_words.size), of_texts.lengths)
    shape = n_words.size, max(of_texts.n_distinct, 1)
    counts = csr_array((np.ones(owners.size), (owners, of_texts.ids)), shape=shape)
    counts.sum_duplicates()
    n_distinct = np.maximum(np.diff(counts.indptr), 1)
    totals = np.asarray(counts[real].sum(axis=0)).reshape(-1)
    frequent = np.sort(np.argsort(-totals, kind="stable")[:_FREQUENT])
    lengths = [
        np.log(n_words),
        np.log1p(in_words.sum(axis=1) / n_words),
        (1.0 + np.log(n_distinct)) / (1.0 + np.log(n_words)),
    ]
    blocks = (
        np.sqrt(characters / np.maximum(characters.sum(axis=1, keepdims=True), 1)),
        np.column_stack(lengths),
        np.sqrt(counts[:, frequent].toarray() / n_words[:, None]),
    )
    return np.column_stack([standardize_features(block, real) for block in blocks])


def standardize_features(features: np.ndarray, real: np.ndarray) -> np.ndarray:
    """Return features of mean 0 over the real texts whose variances add up to 1."""
    centre, scale = features[real].mean(axis=0), features[real].std(axis=0)
    varies = scale > 1e-9
    standard = (features[:, varies] - centre[varies]) / scale[varies]
    return np.clip(standard, -_FARTHEST, _FARTHEST) / np.sqrt(max(1, int(varies.sum())))


def kinds_of_characters(texts: list[str]) -> np.ndarray:
    """Return how many characters of each kind texts have, shape (n_texts, n_kinds)."""
    table, n_kinds = _kinds(), len(_KINDS)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    counts = np.zeros((len(texts), n_kinds), dtype=np.int64)
    cuts = np.searchsorted(lengths.cumsum(), np.arange(_AT_ONCE, lengths.sum(), _AT_ONCE))
    for part in np.split(np.arange(len(texts)), np.unique(cuts)):
        if part.size:
            joined = "".join(texts[i] for i in part).encode("utf-32-le", "surrogatepass")
            kinds = table[np.frombuffer(joined, dtype="<u4")]
            owners = np.repeat(np.arange(part.size), lengths[part])
            cells = np.bincount(owners * n_kinds + kinds, minlength=part.size * n_kinds)
            counts[part] = cells.reshape(part.size, n_kinds)
    return counts


@cache
def _kinds() -> np.ndarray:
    """Return the kind of each character there is."""
    categories = map(unicodedata.category, map(chr, range(0x110000)))
    table = np.array([_KIND_OF.get(c, _KIND_OF[c[0]]) for c in categories], dtype=np.int64)
    for kind, members in (("stop", _STOPS), ("comma", _COMMAS)):
        table[[ord(c) for c in members]] = _KINDS.index(kind)
    table[[ord(c) for c in "\t\n\r"]] = _KINDS.index("space")
    return table


def word2vec_class() -> Any:
    """Return gensim's Word2Vec, or raise an error that explains how to install it."""
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise MissingDependencyError(_NO_GENSIM) from error
    return Word2Vec


@shared
def word2vec_vectors(
    context: Context, columns: tuple[str, ...], group: str | None, seed: int
) -> np.ndarray:
    """Return the mean Word2Vec vector of each text, with length 1, trained on the real texts.

    Uses gensim's default settings. A text without a word that occurs five times has a zero vector.
    """
    texts, of_texts = corpus(context, columns, group), words(context, columns, group)
    names = np.char.mod("%d", np.arange(of_texts.n_distinct))  # the model need not know the words
    real = texts.numbers("train", "holdout")
    parts = np.split(of_texts.ids, of_texts.starts[1:-1])
    sentences = [names[parts[i]].tolist() for i in real]
    occurrences = np.bincount(np.concatenate([parts[i] for i in real]))
    if occurrences.max(initial=0) < _MIN_OCCURRENCES:
        return np.zeros((len(parts), 1))
    # with two workers, results would not be reproducible
    model = word2vec_class()(sentences, workers=1, seed=seed, min_count=_MIN_OCCURRENCES)
    known = model.wv.key_to_index
    place = np.array([known.get(name, -1) for name in names], dtype=np.int64)
    weights = csr_array(
        ((place[of_texts.ids] >= 0) * 1.0, np.maximum(place[of_texts.ids], 0), of_texts.starts),
        shape=(of_texts.lengths.size, max(len(known), 1)),
    )
    return np.asarray(unit_rows(weights @ np.asarray(model.wv.vectors, dtype=np.float64)))
