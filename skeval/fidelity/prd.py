"""Precision and recall of distributions, from clusters of rows or from a classifier."""

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

Scored = tuple[np.ndarray, np.ndarray]  # scores of real and of synthetic rows
Rates = tuple[np.ndarray, np.ndarray, np.ndarray]


class CurveMetric(Metric):
    """Base of the metrics of a curve of precision and recall, which two F scores sum up."""

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="PRDDisplay")

    def _summary(self, result: Result) -> str:
        beta = f"{result.details['beta']:g}"
        return (
            f"F{beta} is {percent(result.details['f_beta'])}, low where kinds of rows are lost, "
            f"and F1/{beta} {percent(result.details['f_beta_inv'])}, low where kinds are invented."
        )


@declared
class PRDCurve(CurveMetric):
    """Precision and recall of synthetic rows by clusters: 1 if equally filled, 0 if never shared.

    A generator may make rows that do not occur (low precision), or none of a kind that does occur
    (low recall). Real and synthetic rows are clustered together. How train and synthetic rows fill
    the clusters gives a curve: for each price of precision in recall, how much of both is to be
    had.

    Parameters
    ----------
    n_clusters : int, default=20
        Number of clusters.
    n_runs : int, default=10
        Number of clusterings from other random centres, over which the curve is averaged.
    n_angles : int, default=1001
        Number of points of the curve.
    beta : float, default=8
        Above 1: how many times recall counts as much as precision in the one F score, and precision
        as much as recall in the other.
    balance : bool, default=True
        Whether a sample of the larger table is taken, as large as the other one. Otherwise the
        larger table decides where clusters lie.
    headline : {"f_beta", "auc"}, default="f_beta"
        The value: the mean of both F scores, or the area under the curve.
    space : "euclidean" or transformer, default="euclidean"
        Space in which the means of clusters are taken: standardised numbers and one-hot categories.
    columns : None, int or list of str, default=None
        The columns to look at (in space "euclidean"); None for all but text and ids.
    max_rows : int or None, default=10_000
        Rows of each table that are clustered, a seeded sample.
    random_state : int, default=0
        Seed of samples and clusterings.

    See Also
    --------
    ClassifierPRD : From a classifier, without clusters.
    ImprovedPrecisionRecall : From nearest neighbours.

    Notes
    -----
    With P_c and Q_c the shares of train and synthetic rows in cluster c, precision at the slope l
    is ``sum_c min(l P_c, Q_c)``, and recall is precision over l; the slopes are tangents of evenly
    spaced angles. Halfway, at slope 1, both are 1 less the total variation distance of P and Q. The
    value is the mean of the greatest F scores with `beta` and with its inverse, which ``details``
    have as `f_beta` and `f_beta_inv`. Recall weighs more in the former: a low one says that kinds
    of rows are lost. Precision weighs more in the latter: a low one says that kinds are invented.
    The curve is in ``details["precision"]`` and ``details["recall"]``, that of the holdout in
    ``details["holdout"]``.

    Clusters are those of k-means in small batches; the runs replace restarts. Differences within
    clusters go unseen. Categories of many columns make clusters of single categories. With few rows
    chance alone bends the curve: read it against the holdout's. Copies of train score 1. Values
    beyond a million standard deviations count as that far.

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
                f"{self.n_clusters} clusters need as many rows of each table at least; "
                f"there are {min(sizes.values())}."
            )
        columns = column_key(context.schema, self.columns)
        clusters = (self.n_clusters, self.n_runs, self.balance, self.space, columns)
        settings = (*clusters, self.max_rows, self.random_state)
        histograms = cluster_histograms(context, *settings)
        return curve_result(histograms, sizes, self.n_angles, self.beta, self.headline)


@declared
class ClassifierPRD(CurveMetric):
    """Precision and recall of synthetic rows: 1 if the distributions agree, 0 if they are disjoint.

    A generator may make rows that do not occur (low precision), or none of a kind that does occur
    (low recall). The curve has for each price of the one against the other how much of both is to
    be had. It comes from the errors of a classifier of rows by table, without clusters or
    distances.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        Classifiers of scikit-learn; they see standardised and one-hot columns. For each point of
        the curve the best one counts. The default is gradient boosting of small trees (xgboost) and
        a logistic regression.
    n_angles : int, default=1001
        Number of points of the curve.
    beta : float, default=8
        Above 1: how many times recall counts as much as precision in the one F score, and precision
        as much as recall in the other.
    test_size : float, default=0.5
        Share of the synthetic rows that the classifier does not see.
    max_rows : int or None, default=10_000
        Rows of each table that are looked at, a seeded sample.
    columns : None, int or list of str, default=None
        The columns to look at; None for all but text, ids and the primary key.
    random_state : int, default=0
        Seed of samples, halves and classifiers.

    Warnings
    --------
    For any classifier the curve is an upper bound of the true one: a poor classifier makes any
    table look good.

    See Also
    --------
    PRDCurve : From clusters, without a classifier.
    TotalVariationLowerBound : One point of the curve, with a confidence.

    Notes
    -----
    At the slope l, precision is ``min_t l FP(t) + FN(t)``, synthetic rows being the positive
    ones, and recall is precision over l; the slopes are tangents of evenly spaced angles. Threshold
    t and classifier are chosen on one half of the unseen rows and judged on the other, and vice
    versa, since a minimum is too low on the rows that it was found on. Halfway, at slope 1,
    precision and recall are 1 less the classifier's estimate of the total variation distance.

    The value is the mean of the greatest F scores with `beta` and with its inverse, which
    ``details`` have as `f_beta`, in which recall weighs more, and `f_beta_inv`. The baseline is 1,
    what rows of the same distribution get but for chance. The rows are those of
    :class:`~skeval.fidelity.TotalVariationLowerBound`: real ones of the holdout, if there is one.

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
                "thresholds are chosen on some unseen rows and judged on others."
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
    """Return the mean curve of runs of clusterings, with its F scores and its area."""
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
    text = f"{counts} rows are clustered; the larger table decides where."
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
    """Return both halves of the scores, which are in random order."""
    n = scores.real.size // 2
    first = scores.real[:n], scores.synthetic[:n]
    return first, (scores.real[n:], scores.synthetic[n:])


def slopes(n_angles: int) -> np.ndarray:
    """Return the slopes at which a curve is taken: tangents of evenly spaced angles."""
    return np.tan(np.linspace(1e-10, np.pi / 2.0 - 1e-10, n_angles))


def curve_of_histograms(
    real: np.ndarray, synthetic: np.ndarray, n_angles: int = 1001
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of one histogram against another."""
    # With slope l, precision is `sum_c min(l real_c, synthetic_c)`, and recall is precision
    # over l.
    at = slopes(n_angles)
    # cell by cell: as many numbers as angles are held at a time
    precision = np.zeros(n_angles)
    for share_real, share_synthetic in zip(real, synthetic, strict=True):
        precision += np.minimum(at * share_real, share_synthetic)
    return np.clip(precision, 0.0, 1.0), np.clip(precision / at, 0.0, 1.0)


def area_under(precision: np.ndarray, recall: np.ndarray) -> float:
    """Return the area under a curve that goes from recall to precision, its ends at the axes."""
    heights = (precision[1:] + precision[:-1]) / 2.0
    return float((heights * -np.diff(recall)).sum())


def curve_of_scores(
    models: Sequence[tuple[Scored, Scored]], n_angles: int = 1001
) -> tuple[np.ndarray, np.ndarray]:
    """Return precision and recall of synthetic rows against real ones."""
    # With slope l, precision is `min_t l FP(t) + FN(t)` and recall is precision over l; both
    # are upper bounds of the true curve, for any classifier.
    #
    # Source: L. Simon, R. Webster, J. Rabin, "Revisiting precision and recall definition for
    # generative model evaluation", ICML 2019, arXiv:1905.05441.
    at = slopes(n_angles)
    chosen_on = [[_rates(first) for first, _ in models], [_rates(second) for _, second in models]]
    risks = [
        np.array([_carried_over(rates, [pair[side] for pair in models], slope) for slope in at])
        for rates, side in zip(chosen_on, (1, 0), strict=True)
    ]
    # reading all rows as synthetic, or none, costs the slope, or 1
    precision = np.minimum(np.mean(risks, axis=0), np.minimum(at, 1.0))
    return precision, np.clip(precision / at, 0.0, 1.0)


def max_f_beta(precision: np.ndarray, recall: np.ndarray, beta: float) -> float:
    """Return the greatest F score on a curve; a beta above 1 gives weight to recall."""
    square = beta**2
    scores = (1.0 + square) * precision * recall / (square * precision + recall + 1e-10)
    return float(scores.max())


def _rates(scored: Scored) -> Rates:
    """Return FP and FN at each threshold between different scores, and the thresholds."""
    real, synthetic = (np.sort(scores) for scores in scored)
    thresholds = np.concatenate([[-np.inf], np.unique(np.concatenate(scored))])
    false_positives = 1.0 - np.searchsorted(real, thresholds, side="right") / real.size
    false_negatives = np.searchsorted(synthetic, thresholds, side="right") / synthetic.size
    return false_positives, false_negatives, thresholds


def _carried_over(chosen_on: list[Rates], tested_on: list[Scored], slope: float) -> float:
    """Return the risk, on other rows, of the classifier and threshold that are best on some."""
    risks = [slope * rates[0] + rates[1] for rates in chosen_on]
    best = int(np.argmin([risk.min() for risk in risks]))
    threshold = chosen_on[best][2][int(risks[best].argmin())]
    real, synthetic = tested_on[best]
    return float(slope * (real > threshold).mean() + (synthetic <= threshold).mean())
