"""Precision and recall of texts, and the frontier of divergences that MAUVE sums up."""

from __future__ import annotations

from dataclasses import KW_ONLY, replace
from typing import Annotated, Any, Literal

import numpy as np
from scipy.sparse import issparse
from scipy.special import rel_entr

from skeval.core.context import Context, shared
from skeval.core.declared import declared
from skeval.core.tags import TEXT_TAGS
from skeval.fidelity.prd import CurveMetric, curve_result
from skeval.results.result import Result, undefined_result
from skeval.stats.sampling_intervals import halves_interval
from skeval.steps.clusters import clustered_labels, clustered_rows, shares_of_labels
from skeval.steps.samples import holdout_in_place, named_seed, sample_positions, synthetic_sample
from skeval.steps.text_features import hstack_features
from skeval.steps.texts import text_columns, text_numbers, text_source
from skeval.tables.embedding import Vectorizer
from skeval.utils.parameters import AnyColumns, Count, Interval, Seed

_SCALE = 5.0  # factor of divergences in MAUVE
_N_MIXTURES = 25
_LARGEST = 1e6
_N_HALVINGS = 5  # number of random halves of each table


@declared
class TextPRD(CurveMetric):
    r"""Precision and recall of texts, based on clusters of their vectors.

    A generator may write types of texts that do not occur in the real data (low precision), or it
    may miss types of texts that do occur (low recall). Texts are converted to vectors, and real and
    synthetic texts are clustered together. The fractions of training and synthetic texts in the
    clusters give a curve of precision and recall. The score ranges from 0 (no common clusters) to 1
    (equal fractions). Higher is better.

    Parameters
    ----------
    vectorizer : "tfidf", transformer or object with `encode`, default="tfidf"
        Method that converts texts to vectors. "tfidf" uses the 1,000 most frequent words that occur
        in at least two texts, weighted by rarity. A scikit-learn transformer is fitted on the texts
        of both tables. An object with `encode`, such as a sentence embedder, is used without
        fitting.
    n_components : int, default=50
        Vectors with more dimensions and sparse vectors are projected to this number of dimensions
        (truncated SVD).
    n_clusters : int, default=20
        Number of clusters.
    n_runs : int, default=10
        Number of clusterings with different random centers, over which the curve is averaged.
    n_angles : int, default=1001
        Number of points of the curve.
    beta : float, default=8
        Must be above 1. In the first F score, recall counts `beta` times as much as precision. In
        the second F score, precision counts `beta` times as much as recall.
    headline : {"f_beta", "auc", "frontier"}, default="f_beta"
        The value: the mean of both F scores, the area under the curve, or the area under the
        frontier of divergences, which MAUVE reports.
    columns : None, int or list of str, default=None
        Text columns: all (None), the first *n*, or the named ones. Their vectors are concatenated.
    max_rows : int or None, default=10_000
        Maximum number of rows per table, sampled at random.
    random_state : int, default=0
        Seed of samples, projection and clusterings.

    Warnings
    --------
    Clusters represent topics and stock phrases, not style or grammar. Copies of the training texts
    score 1. Scores that use other vectors are not comparable.

    See Also
    --------
    skeval.fidelity.PRDCurve : Computes the curve for the other columns.
    TextTwoSampleTest : Tests whether a classifier can distinguish the texts.

    Notes
    -----
    The curve, its F scores and the tables in ``details`` are defined as in
    :class:`~skeval.fidelity.PRDCurve`. ``details["frontier"]`` is the area under the curve of

    .. math:: (e^{-5\,KL(Q | R)}, e^{-5\,KL(P | R)}), \qquad R = \lambda P + (1 - \lambda) Q

    with P and Q the fractions of training and synthetic texts in the clusters and 0 < l < 1. The
    area is 1 if they are equal, and 0 without common clusters. MAUVE computes the same area but
    clusters the states of a large language model after a PCA, once, with the number of clusters
    equal to a tenth of the number of texts. Here, vectors are TF-IDF or come from an embedder of
    your choice, there are few clusters, and the area is the mean over runs. Therefore the values
    are not comparable with published values. Compare the value with the baseline, which is the
    value of new real texts. The interval of value minus baseline uses fixed clusters and random
    halves of their texts.

    Clusters represent topics and stock phrases, not style. Copies of the training data score 1.

    References
    ----------
    M. S. M. Sajjadi et al., "Assessing generative models via precision and recall", NeurIPS 2018,
    arXiv:1806.00035.
    K. Pillutla et al., "MAUVE: measuring the gap between neural text and human text using
    divergence frontiers", NeurIPS 2021, arXiv:2102.01454.

    Examples
    --------
    >>> import pandas as pd
    >>> from skeval.text import TextPRD
    >>> kinds = ["the bill was too high", "a meter is broken", "please call me back"]
    >>> train = pd.DataFrame({"note": [f"{kinds[i % 3]} {i}" for i in range(90)]})
    >>> metric = TextPRD(n_clusters=3).fit(train, schema={"note": "text"})
    >>> lost = train[train["note"].str.startswith("the")]
    >>> details = metric.evaluate(pd.concat([lost] * 3)).details
    >>> details["f_beta"] < 0.5 < details["f_beta_inv"]
    True
    """

    tags = replace(TEXT_TAGS, display="PRDDisplay")

    _parts = ("precision", "recall", "f_beta", "f_beta_inv", "auc", "frontier")

    vectorizer: Vectorizer = "tfidf"
    n_components: Count = 50
    n_clusters: Annotated[int, Interval(2)] = 20
    n_runs: Count = 10
    n_angles: Annotated[int, Interval(3)] = 1001
    beta: Annotated[float, Interval(1, closed="neither")] = 8
    _: KW_ONLY
    headline: Literal["f_beta", "auc", "frontier"] = "f_beta"
    columns: AnyColumns = None
    max_rows: Annotated[int, Interval(20)] | None = 10_000
    random_state: Seed = 0

    def _prepare(self, context: Context) -> None:
        text_columns(context.schema, self.columns)

    def _compute(self, context: Context) -> Result:
        sizes = clustered_rows(context, True, self.max_rows)
        if min(sizes.values()) < self.n_clusters:
            return undefined_result(
                f"{self.n_clusters} clusters require at least {self.n_clusters} texts per "
                "table, but "
                f"there are only {min(sizes.values())}."
            )
        return self._of_clusters(*self._clusters(context))

    def _clusters(self, context: Context) -> tuple[np.ndarray, np.ndarray]:
        names = text_columns(context.schema, self.columns)
        n_rows = clustered_rows(context, True, self.max_rows)["train"]
        settings = (self.vectorizer, self.n_components, n_rows, self.n_clusters, self.n_runs)
        labels = clusters_of_texts(context, names, *settings, self.random_state)
        return labels[:, :n_rows], labels[:, n_rows:]

    def _of_clusters(self, train: np.ndarray, synthetic: np.ndarray) -> Result:
        histograms = shares_of_labels(train, synthetic)
        sizes = {"train": train.shape[1], "synthetic": synthetic.shape[1]}
        frontier = float(np.mean([frontier_area(real, other) for real, other in histograms]))
        headline = "f_beta" if self.headline == "frontier" else self.headline
        result = curve_result(histograms, sizes, self.n_angles, self.beta, headline)
        value = frontier if self.headline == "frontier" else result.value
        return replace(result, value=value, details={**result.details, "frontier": frontier})

    def _in_relation(self, context: Context, result: Result) -> Result:
        result = super()._in_relation(context, result)
        if result.baseline is None:
            return result
        n_rows = min(context.n_rows("synthetic"), context.n_rows("holdout"))
        at_size = result.details.get("at_baseline_size", {})
        value = at_size.get("value", result.value)
        difference = self._difference(context, n_rows, value, result.baseline)
        return replace(result, difference=difference)

    def _difference(
        self, context: Context, n_rows: int, value: float, fresh: float
    ) -> tuple[float, float] | None:
        """Return the interval of value minus baseline for fixed clusters and random halves."""
        if n_rows < 2 * self.n_clusters or np.isnan(value - fresh):
            return None
        halves, rng = [], np.random.default_rng(self.random_state)
        for other in (synthetic_sample(context, n_rows), holdout_in_place(context, n_rows)):
            train, texts = self._clusters(other)
            orders = (rng.permutation(texts.shape[1]) for _ in range(_N_HALVINGS))
            pairs = [np.array_split(order, 2) for order in orders]
            values = [
                [self._of_clusters(train, texts[:, half]).value for half in pair] for pair in pairs
            ]
            halves.append(np.array(values))
        return halves_interval(value - fresh, halves[0], halves[1])


@shared
def clusters_of_texts(
    context: Context,
    columns: tuple[str, ...],
    vectorizer: Any,
    n_components: int,
    n_rows: int,
    n_clusters: int,
    n_runs: int,
    seed: int,
) -> np.ndarray:
    """Return the cluster of each text, first for training texts, for each run."""
    vectors = text_vectors(context, columns, vectorizer, n_components, n_rows, seed)
    return clustered_labels(*vectors, n_clusters, n_runs, seed)


@shared
def text_vectors(
    context: Context,
    columns: tuple[str, ...],
    vectorizer: Any,
    n_components: int,
    n_rows: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of `n_rows` texts of the training and of the synthetic data."""
    # Texts are sorted by their numbers, so that rounding does not depend on the order of rows.
    drawn = []
    for role in ("train", "synthetic"):
        numbers = text_numbers(context, role, columns)
        numbers = numbers[np.lexsort(numbers.T[::-1])]
        drawn.append(numbers[sample_positions(len(numbers), n_rows, named_seed(role, seed))])
    pooled = np.concatenate(drawn)
    sources = [text_source(context, name, vectorizer) for name in columns]
    parts = [one.encoder(own).transform(own) for one, own in zip(sources, pooled.T, strict=True)]
    vectors = _project_features(hstack_features(parts), n_components, seed)
    return vectors[: len(drawn[0])], vectors[len(drawn[0]) :]


def _project_features(features: Any, n_components: int, seed: int) -> np.ndarray:
    """Return dense vectors of at most `n_components` dimensions."""
    if min(features.shape) <= n_components:
        dense = features.toarray() if issparse(features) else features
        return np.clip(dense, -_LARGEST, _LARGEST)
    from sklearn.decomposition import TruncatedSVD

    vectors: np.ndarray = TruncatedSVD(n_components, random_state=seed).fit_transform(features)
    return vectors


def frontier_area(real: np.ndarray, synthetic: np.ndarray) -> float:
    """Return the area under the frontier of divergences of two histograms."""
    # Both ends of the curve, at the axes, are added to its 25 points, and the trapezoid rule
    # is taken.
    weights = np.linspace(1e-6, 1.0 - 1e-6, _N_MIXTURES)[:, None]
    mixtures = weights * real + (1.0 - weights) * synthetic
    x, y = (
        np.exp(-_SCALE * rel_entr(shares, mixtures).sum(axis=1)) for shares in (synthetic, real)
    )
    x, y = np.concatenate([[0.0], x[::-1], [1.0]]), np.concatenate([[1.0], y[::-1], [0.0]])
    order = np.lexsort((-y, x))
    x, y = x[order], y[order]
    return float(((y[1:] + y[:-1]) / 2.0 * np.diff(x)).sum())
