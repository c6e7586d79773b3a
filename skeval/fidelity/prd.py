"""Precision and recall of the synthetic law, from clusters of real and synthetic rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skeval._aggregate import undefined
from skeval._parameters import MATRIX_SPACE, Columns, Interval, Nullable, Options
from skeval.base import Metric
from skeval.context import Context
from skeval.exceptions import MetricWarning
from skeval.result import Result
from skeval.stats.prd import area_under, curve_of_histograms, max_f_beta
from skeval.steps import column_key, holdout_in_place, nothing_to_measure
from skeval.steps.clusters import cluster_histograms, clustered_rows
from skeval.tags import MetricTags

__all__ = ["PRDCurve"]

_OF_HOLDOUT = ("precision", "recall", "f_beta", "f_beta_inv", "auc")


class PRDCurve(Metric):
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
        In which the means of clusters are taken: standardised numbers and one-hot categories.
    columns : None, int or list of str, default=None
        The columns to look at (in space "euclidean"); None for all but text and ids.
    max_rows : int or None, default=10_000
        Rows of each table that are clustered, a seeded sample.
    random_state : int, default=0
        Seed of samples and clusterings.

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    With P_c and Q_c the shares of train and synthetic rows in cluster c, precision at the slope l
    is ``sum_c min(l P_c, Q_c)``, and recall is precision over l; the slopes are tangents of evenly
    spaced angles. Halfway, at slope 1, both are 1 less the total variation distance of P and Q. The
    value is the mean of the greatest F scores with `beta` and with its inverse, which stand in
    ``details`` as `f_beta`, where recall weighs more: a low one says that kinds of rows are lost;
    and `f_beta_inv`, where precision does: a low one says that kinds are invented. The curve is in
    ``details["precision"]`` and ``details["recall"]``, that of the holdout in
    ``details["holdout"]``.

    Clusters are those of k-means in small batches; the runs stand in for restarts. They see what is
    larger than themselves: what differs within all clusters goes unseen. Categories of many columns
    make clusters of single categories. With few rows chance alone bends the curve: read it against
    the holdout's. Copies of train score 1. Values beyond a million standard deviations count as
    that far.

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

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="PRDDisplay")
    _legal = {
        "n_clusters": Interval(int, 2, None),
        "n_runs": Interval(int, 1, None),
        "n_angles": Interval(int, 3, None),
        "beta": Interval(float, 1.0, None, "neither"),
        "balance": Options((True, False)),
        "headline": Options(("f_beta", "auc")),
        "space": MATRIX_SPACE,
        "columns": Columns(),
        "max_rows": Nullable(Interval(int, 20, None)),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        n_clusters: int = 20,
        n_runs: int = 10,
        n_angles: int = 1001,
        beta: float = 8,
        *,
        balance: bool = True,
        headline: str = "f_beta",
        space: Any = "euclidean",
        columns: int | list[str] | None = None,
        max_rows: int | None = 10_000,
        random_state: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_runs = n_runs
        self.n_angles = n_angles
        self.beta = beta
        self.balance = balance
        self.headline = headline
        self.space = space
        self.columns = columns
        self.max_rows = max_rows
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if nothing_to_measure(context, self.space):
            return undefined("no column of this table can be measured.")
        sizes = clustered_rows(context, self.balance, self.max_rows)
        if min(sizes.values()) < self.n_clusters:
            return undefined(
                f"{self.n_clusters} clusters need as many rows of each table at least; "
                f"there are {min(sizes.values())}."
            )
        histograms = cluster_histograms(
            context,
            self.n_clusters,
            self.n_runs,
            self.balance,
            self.space,
            column_key(context.schema, self.columns),
            self.max_rows,
            self.random_state,
        )
        curves = [
            curve_of_histograms(real, synthetic, self.n_angles) for real, synthetic in histograms
        ]
        precision, recall = np.mean(curves, axis=0)
        scores = {
            "f_beta": max_f_beta(precision, recall, self.beta),
            "f_beta_inv": max_f_beta(precision, recall, 1.0 / self.beta),
            "auc": area_under(precision, recall),
        }
        value = scores["auc"]
        if self.headline == "f_beta":
            value = (scores["f_beta"] + scores["f_beta_inv"]) / 2.0
        details = {"precision": precision, "recall": recall, **scores, "beta": self.beta}
        details |= {"n_clusters": histograms.shape[2], "n_rows": sizes}
        return Result(value, details=details, warnings=_unbalanced(sizes))

    def _with_baseline(self, context: Context, result: Result) -> Result:
        found = super()._with_baseline(context, result)
        n_fresh = min(context.n_rows("synthetic"), context.n_rows("holdout"))
        fresh = self._result(holdout_in_place(context, n_fresh)).details
        if "precision" not in fresh:
            return found
        of_holdout = {name: fresh[name] for name in _OF_HOLDOUT}
        return replace(found, details={**found.details, "holdout": of_holdout})


def _unbalanced(sizes: dict[str, int]) -> tuple[MetricWarning, ...]:
    if sizes["train"] == sizes["synthetic"]:
        return ()
    counts = " and ".join(f"{size} {role}" for role, size in sizes.items())
    return (MetricWarning(f"{counts} rows are clustered; the larger table decides where."),)
