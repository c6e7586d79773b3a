"""Precision and recall of the synthetic law, from a classifier instead of clusters."""

from __future__ import annotations

from typing import Any

from skeval._aggregate import undefined
from skeval._parameters import Columns, Interval, Nullable
from skeval.base import Metric
from skeval.context import Context
from skeval.fidelity._classifiers import Classifiers, Scores
from skeval.fidelity.discriminator import MAX_ROWS, candidates, split, too_few
from skeval.result import Result
from skeval.stats.prd import Scored, curve_of_scores, max_f_beta
from skeval.tags import MetricTags

__all__ = ["ClassifierPRD"]


class ClassifierPRD(Metric):
    """Precision and recall of synthetic rows: 1 if both laws are one, 0 if they do not overlap.

    A generator may make rows that do not occur (low precision), or none of a kind that does occur
    (low recall). The curve has for each price of the one against the other how much of both is to
    be had. It comes from the errors of a classifier that tells the tables apart, without clusters
    or distances.

    Parameters
    ----------
    estimator : classifier or list of classifiers, optional
        Of scikit-learn; they see standardised and one-hot columns. For each point of the curve the
        best one counts. The default is gradient boosting of small trees (xgboost) and a logistic
        regression.
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

    Attributes
    ----------
    context_ : Context
        The real tables.

    Notes
    -----
    At the slope l, precision is ``min_t l FP(t) + FN(t)``, synthetic rows being the positive
    ones, and recall is precision over l; the slopes are tangents of evenly spaced angles. Threshold
    t and classifier are chosen on one half of the unseen rows and judged on the other, and vice
    versa, since a minimum is too low on the rows that it was found on. Halfway, at slope 1,
    precision and recall are 1 less the classifier's estimate of the total variation distance.

    The value is the mean of the greatest F scores with `beta` and with its inverse, which stand in
    ``details`` as `f_beta`, where recall weighs more, and `f_beta_inv`. For any classifier the
    curve is an upper bound of the true one: a poor classifier makes any table look good.
    The baseline is 1, what rows of the same law get but for chance. The rows are those of
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

    tags = MetricTags("fidelity", greater_is_better=True, bounds=(0.0, 1.0), display="PRDDisplay")
    _legal = {
        "estimator": Classifiers(several=True),
        "n_angles": Interval(int, 3, None),
        "beta": Interval(float, 1.0, None, "neither"),
        "test_size": Interval(float, 0.0, 1.0, "neither"),
        "max_rows": Nullable(Interval(int, 20, None)),
        "columns": Columns(),
        "random_state": Interval(int, 0, None),
    }

    def __init__(
        self,
        estimator: Any = None,
        n_angles: int = 1001,
        beta: float = 8,
        *,
        test_size: float = 0.5,
        max_rows: int | None = MAX_ROWS,
        columns: int | list[str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_angles = n_angles
        self.beta = beta
        self.test_size = test_size
        self.max_rows = max_rows
        self.columns = columns
        self.random_state = random_state

    def _compute(self, context: Context) -> Result:
        if reason := too_few(context, self.columns):
            return undefined(reason)
        halves = (self.columns, self.test_size, self.max_rows, self.random_state)
        splits = {
            name: split(context, which, *halves)
            for name, which in candidates(self.estimator).items()
        }
        one = next(iter(splits.values()))
        if one.scores.real.size < 2:
            return undefined("thresholds are chosen on some unseen rows and judged on others.")
        scored = [_halves(found.scores) for found in splits.values()]
        precision, recall = curve_of_scores(scored, self.n_angles)
        f_beta, f_beta_inv = (max_f_beta(precision, recall, b) for b in (self.beta, 1 / self.beta))
        return Result(
            (f_beta + f_beta_inv) / 2.0,
            baseline=1.0,
            details={
                "precision": precision,
                "recall": recall,
                "f_beta": f_beta,
                "f_beta_inv": f_beta_inv,
                "beta": self.beta,
                "models": list(splits),
                "real_rows": one.real_rows,
                "n_tested": one.scores.real.size,
                "n_learnt": one.n_learnt,
            },
        )


def _halves(scores: Scores) -> tuple[Scored, Scored]:
    """Return both halves of the scores, which are in random order."""
    n = scores.real.size // 2
    first = scores.real[:n], scores.synthetic[:n]
    return first, (scores.real[n:], scores.synthetic[n:])
