"""Precision and recall curves of distributions, from clusters of rows or from a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

import numpy as np

from skeval.core.base import Metric
from skeval.core.context import Context
from skeval.core.declared import declared
from skeval.core.tags import MetricTags
from skeval.exceptions import MetricWarning
from skeval.results.result import Result, undefined_result
from skeval.steps.classifiers import MAX_ROWS, Classifiers, Scores, candidates, split, too_few
from skeval.steps.clusters import cluster_histograms, clustered_rows
from skeval.steps.column_choice import column_key, nothing_to_measure
from skeval.utils.formatting import percent
from skeval.utils.parameters import Columns, Count, Interval, MatrixSpace, OpenFraction, Seed

Scored = tuple[np.ndarray, np.ndarray]  # scores of the real and the synthetic rows
Rates = tuple[np.ndarray, np.ndarray, np.ndarray]


class CurveMetric(Metric):
    """Base of the metrics of a precision-recall curve, which is summarized by two F scores."""

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="PRDDisplay")

    def _summary(self, result: Result) -> str:
        beta = f"{result.details['beta']:g}"
        return (
            f"F{beta} is {percent(result.details['f_beta'])} (low if kinds of rows are missing), "
            f"and F1/{beta} is {percent(result.details['f_beta_inv'])} (low if kinds are invented)."
        )


@declared
class PRDCurve(CurveMetric):
    """Precision and recall of the synthetic distribution, estimated from clusters of rows.

    A generator may create kinds of rows that do not occur in the real data (low precision), or it
    may miss kinds of rows that do occur (low recall). The metric clusters real and synthetic rows
    together and compares the fractions of training and synthetic rows in each cluster. The result
    is a curve of precision and recall for all trade-offs between the two. The score ranges from 0
    (no cluster is shared) to 1 (equal fractions in all clusters). Higher is better.

    Parameters
    ----------
    n_clusters : int, default=20
        Number of clusters.
    n_runs : int, default=10
        Number of clusterings with different random centers over which the curve is averaged.
    n_angles : int, default=1001
        Number of points of the curve.
    beta : float, default=8
        Must be above 1. In the first F score, recall counts `beta` times as much as precision. In
        the second F score, precision counts `beta` times as much as recall.
    balance : bool, default=True
        Whether the larger table is sampled to the size of the smaller one. Otherwise the larger
        table dominates the location of the clusters.
    headline : {"f_beta", "auc"}, default="f_beta"
        The value is the mean of both F scores, or the area under the curve.
    space : "euclidean" or transformer, default="euclidean"
        Space for the clustering. "euclidean" uses standardized numbers and one-hot categories.
    columns : None, int or list of str, default=None
        Columns to use (in space "euclidean"). If None, all columns except text and ID columns are
        used.
    max_rows : int or None, default=10_000
        Maximum number of rows per table. If a table has more rows, a random sample is used.
    random_state : int, default=0
        Seed of the samples and clusterings.

    Warnings
    --------
    Differences within a cluster are not detected, and small tables score below 1 even without
    differences. Compare the curve with the baseline. Copies of the training data score 1.

    See Also
    --------
    ClassifierPRD : Uses a classifier instead of clusters.
    ImprovedPrecisionRecall : Uses nearest neighbors.

    Notes
    -----
    Precision at the slope l is ``sum_c min(l P_c, Q_c)``, where P_c and Q_c are the fractions of
    training and synthetic rows in cluster c. Recall is precision divided by l. The slopes are the
    tangents of evenly spaced angles. At slope 1, both are one minus the total variation distance
    between P and Q. The value is the mean of the maximum F scores for `beta` and for its inverse,
    which are `f_beta` and `f_beta_inv` in ``details``. `f_beta` weights recall more, so a low
    `f_beta` indicates that kinds of rows are missing. `f_beta_inv` weights precision more, so a low
    `f_beta_inv` indicates that kinds of rows are invented. The curve is in ``details["precision"]``
    and ``details["recall"]``, and the curve of the holdout is in ``details["holdout"]``.

    The clusters are computed with mini-batch k-means. Each run starts once, because the curve is a
    mean over several runs. Differences within a cluster are not detected. If many columns are
    categorical, the clusters often separate single categories. For small tables, the curve is below
    1 even without differences, so compare the curve with the curve of the holdout. Copies of the
    training data score 1. Values are clipped at a million standard deviations.

    References
    ----------
    M. S. M. Sajjadi et al., "Assessing generative models via precision and recall", NeurIPS 2018,
    arXiv:1806.00035.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import PRDCurve
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> part = fresh[fresh["age"] > fresh["age"].median()]
    >>> details = PRDCurve().fit(train).evaluate(part).details
    >>> details["f_beta"] < details["f_beta_inv"]
    True
    """

    _parts = ("precision", "recall", "f_beta", "f_beta_inv", "auc")

    n_clusters: Annotated[int, Interval(2)] = 20
    n_runs: Count = 10
    n_angles: Annotated[int, Interval(3)] = 1001
    beta: Annotated[float, Interval(1, closed="neither")] = 8
    _: KW_ONLY
    balance: bool = True
    headline: Literal["f_beta", "auc"] = "f_beta"
    space: MatrixSpace = "euclidean"
    columns: Columns = None
    max_rows: Annotated[int, Interval(20)] | None = 10_000
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined_result("no column of this table can be measured.")
        sizes = clustered_rows(context, self.balance, self.max_rows)
        if min(sizes.values()) < self.n_clusters:
            return undefined_result(
                f"each table must have at least n_clusters={self.n_clusters} rows, but one table "
                f"has {min(sizes.values())}."
            )
        columns = column_key(context.schema, self.columns)
        clusters = (self.n_clusters, self.n_runs, self.balance, self.space, columns)
        settings = (*clusters, self.max_rows, self.random_state)
        histograms = cluster_histograms(context, *settings)
        return curve_result(histograms, sizes, self.n_angles, self.beta, self.headline)


@declared
class ClassifierPRD(CurveMetric):
    """Precision and recall of the synthetic distribution, estimated with a classifier.

    A generator may create kinds of rows that do not occur in the real data (low precision), or it
    may miss kinds of rows that do occur (low recall). The metric computes a curve of precision and
    recall for all trade-offs between the two, from the errors of a classifier that separates real
    from synthetic rows. Clusters and distances are not required. The score ranges from 0 (disjoint
    distributions) to 1 (equal distributions). Higher is better.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        One or more scikit-learn classifiers. They receive standardized and one-hot encoded columns.
        Each point of the curve uses the best classifier. The default is gradient boosting with
        small trees (xgboost) and a logistic regression.
    n_angles : int, default=1001
        Number of points of the curve.
    beta : float, default=8
        Must be above 1. In the first F score, recall counts `beta` times as much as precision. In
        the second F score, precision counts `beta` times as much as recall.
    test_size : float, default=0.5
        Fraction of the synthetic rows that are reserved for the test.
    max_rows : int or None, default=10_000
        Maximum number of rows per table. If a table has more rows, a random sample is used.
    columns : None, int or list of str, default=None
        Columns to use. If None, all columns except text, ID and primary key columns are used.
    random_state : int, default=0
        Seed of the samples, halves and classifiers.

    Warnings
    --------
    For any classifier, the curve is an upper bound on the true curve. Therefore a weak classifier
    makes any table look good.

    See Also
    --------
    PRDCurve : Uses clusters instead of a classifier.
    TotalVariationLowerBound : One point of the curve, with a confidence level.

    Notes
    -----
    At the slope l, precision is ``min_t l FP(t) + FN(t)``, where synthetic rows are the positive
    class. Recall is precision divided by l. The slopes are the tangents of evenly spaced angles.
    The threshold t and the classifier are selected on one half of the unseen rows and evaluated on
    the other half, and vice versa, because the minimum is too low on the rows that selected it. At
    slope 1, precision and recall are one minus the total variation distance that the classifier
    estimates.

    The value is the mean of the maximum F scores for `beta` and for its inverse, which are `f_beta`
    (weights recall more) and `f_beta_inv` in ``details``. The baseline is 1, the value of equal
    distributions except for random errors. The rows are the same as in
    :class:`~skeval.fidelity.TotalVariationLowerBound`, so the real rows are holdout rows if there
    is a holdout.

    References
    ----------
    L. Simon, R. Webster, J. Rabin, "Revisiting precision and recall definition for generative model
    evaluation", ICML 2019, arXiv:1905.05441.

    M. S. M. Sajjadi et al., "Assessing generative models via precision and recall", NeurIPS 2018,
    arXiv:1806.00035.

    Examples
    --------
    >>> from skeval.datasets import make_mixed
    >>> from skeval.fidelity import ClassifierPRD
    >>> train, fresh = make_mixed(random_state=0), make_mixed(random_state=1)
    >>> metric = ClassifierPRD().fit(train)
    >>> metric.score(fresh) > 0.9, metric.score(fresh.assign(visits=fresh["visits"] + 9)) < 0.5
    (True, True)
    """

    estimator: Classifiers = None
    n_angles: Annotated[int, Interval(3)] = 1001
    beta: Annotated[float, Interval(1, closed="neither")] = 8
    _: KW_ONLY
    test_size: OpenFraction = 0.5
    max_rows: Annotated[int, Interval(20)] | None = MAX_ROWS
    columns: Columns = None
    random_state: Seed = 0

    def _compute(self, context: Context) -> Result:
        if reason := too_few(context, self.columns):
            return undefined_result(reason)
        halves = (self.columns, self.test_size, self.max_rows, self.random_state)
        models = candidates(self.estimator)
        splits = {name: split(context, which, *halves) for name, which in models.items()}
        one = next(iter(splits.values()))
        if one.scores.real.size < 2:
            return undefined_result(
                "too few unseen rows to select thresholds on one part and evaluate them on another."
            )
        scored = [_halves(one.scores) for one in splits.values()]
        precision, recall = curve_of_scores(scored, self.n_angles)
        details = {
            **_of_curve(precision, recall, self.beta),
            "models": list(splits),
            "real_rows": one.real_rows,
            "n_tested": one.scores.real.size,
            "n_learned": one.n_learned,
        }
        mean = (details["f_beta"] + details["f_beta_inv"]) / 2.0
        return Result(mean, baseline=1.0, details=details)


def curve_result(
    histograms: np.ndarray, sizes: Mapping[str, int], n_angles: int, beta: float, headline: str
) -> Result:
    """Return the mean curve of several clusterings with its F scores and its area."""
    curves = [curve_of_histograms(real, other, n_angles) for real, other in histograms]
    precision, recall = np.mean(curves, axis=0)
    details = {
        **_of_curve(precision, recall, beta),
        "auc": area_under(precision, recall),
        "n_clusters": histograms.shape[2],
        "n_rows": dict(sizes),
    }
    mean = (details["f_beta"] + details["f_beta_inv"]) / 2.0
    counts = " and ".join(f"{size} {role}" for role, size in sizes.items())
    text = f"{counts} rows are clustered. The larger table dominates the location of clusters."
    return Result(
        mean if headline == "f_beta" else details[headline],
        details=details,
        warnings=(MetricWarning(text),) if sizes["train"] != sizes["synthetic"] else (),
    )


def _of_curve(precision: np.ndarray, recall: np.ndarray, beta: float) -> dict[str, Any]:
    """Return a curve with its F scores."""
    scores = {
        "f_beta": max_f_beta(precision, recall, beta),
        "f_beta_inv": max_f_beta(precision, recall, 1.0 / beta),
    }
    return {"precision": precision, "recall": recall, **scores, "beta": beta}


def _halves(scores: Scores) -> tuple[Scored, Scored]:
    """Return both halves of the scores. The order of the scores is random."""
    n = scores.real.size // 2
    first = scores.real[:n], scores.synthetic[:n]
    return first, (scores.real[n:], scores.synthetic[n:])


def slopes(n_angles: int) -> np.ndarray:
    """Return the slopes of the points of a curve, the tangents of evenly spaced angles."""
    return np.tan(np.linspace(1e-10, np.pi / 2.0 - 1e-10, n_angles))


def curve_of_histograms(
    real: np.ndarray, synthetic: np.ndarray, n_angles: int = 1001
) -> tuple[np.ndarray, np.ndarray]:
    """Return the precision and recall of one histogram with respect to another."""
    # At slope l, precision is `sum_c min(l real_c, synthetic_c)` and recall is precision divided
    # by l.
    at = slopes(n_angles)
    # the loop over the cells limits memory to one number per angle
    precision = np.zeros(n_angles)
    for share_real, share_synthetic in zip(real, synthetic, strict=True):
        precision += np.minimum(at * share_real, share_synthetic)
    return np.clip(precision, 0.0, 1.0), np.clip(precision / at, 0.0, 1.0)


def area_under(precision: np.ndarray, recall: np.ndarray) -> float:
    """Return the area under a curve of precision against recall."""
    heights = (precision[1:] + precision[:-1]) / 2.0
    return float((heights * -np.diff(recall)).sum())


def curve_of_scores(
    models: Sequence[tuple[Scored, Scored]], n_angles: int = 1001
) -> tuple[np.ndarray, np.ndarray]:
    """Return the precision and recall of synthetic rows with respect to real rows."""
    # At slope l, precision is `min_t l FP(t) + FN(t)` and recall is precision divided by l. Both
    # are upper bounds on the true curve for any classifier.
    #
    # Source: L. Simon, R. Webster, J. Rabin, "Revisiting precision and recall definition for
    # generative model evaluation", ICML 2019, arXiv:1905.05441.
    at = slopes(n_angles)
    chosen_on = [[_rates(first) for first, _ in models], [_rates(second) for _, second in models]]
    risks = [
        np.array([_carried_over(rates, [pair[side] for pair in models], slope) for slope in at])
        for rates, side in zip(chosen_on, (1, 0), strict=True)
    ]
    # classifying all or no rows as synthetic has the risk `slope` or 1
    precision = np.minimum(np.mean(risks, axis=0), np.minimum(at, 1.0))
    return precision, np.clip(precision / at, 0.0, 1.0)


def max_f_beta(precision: np.ndarray, recall: np.ndarray, beta: float) -> float:
    """Return the maximum F score on a curve. If beta is above 1, recall has more weight."""
    square = beta**2
    scores = (1.0 + square) * precision * recall / (square * precision + recall + 1e-10)
    return float(scores.max())


def _rates(scored: Scored) -> Rates:
    """Return FP and FN for all thresholds between distinct scores, and the thresholds."""
    real, synthetic = (np.sort(scores) for scores in scored)
    thresholds = np.concatenate([[-np.inf], np.unique(np.concatenate(scored))])
    false_positives = 1.0 - np.searchsorted(real, thresholds, side="right") / real.size
    false_negatives = np.searchsorted(synthetic, thresholds, side="right") / synthetic.size
    return false_positives, false_negatives, thresholds


def _carried_over(chosen_on: list[Rates], tested_on: list[Scored], slope: float) -> float:
    """Return the risk of the best classifier and threshold of some rows on other rows."""
    risks = [slope * rates[0] + rates[1] for rates in chosen_on]
    best = int(np.argmin([risk.min() for risk in risks]))
    threshold = chosen_on[best][2][int(risks[best].argmin())]
    real, synthetic = tested_on[best]
    return float(slope * (real > threshold).mean() + (synthetic <= threshold).mean())
