"""Whether train and holdout are samples of one population: without that, no contrast of them holds.

It is called blind because it looks at no synthetic row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from scipy.stats import mannwhitneyu
from threadpoolctl import threadpool_limits

from skeval.context import Context, shared
from skeval.exceptions import HoldoutShiftWarning
from skeval.steps.neighbors import rows_of
from skeval.steps.samples import measured_on, nothing_to_measure
from skeval.tables.preprocessing import NOMINAL

_MOST_ROWS = 10_000
_FEWEST_ROWS = 20
_ALARM = 0.01
_SHIFTED = (
    "Train and holdout are no samples of one population: a classifier that has seen half of each "
    "tells the other halves apart (AUC {auc:.2f}, p {p}). Whatever contrasts the two is void: it "
    "cannot tell what was memorised from what differs. Divide one table at random into the two."
)
_MAX_CODE = 254  # what the histograms of the classifier hold
_LEAF = 10


@dataclass(frozen=True)
class HoldoutShift:
    """How well train and holdout can be told apart.

    Parameters
    ----------
    auc : float
        Share of pairs of a train row and a holdout row, unseen both, that a classifier puts in
        order; 0.5 if the tables are exchangeable.
    p_value : float
        One-sided; of the null hypothesis that they are.
    n_train, n_holdout : int
        Numbers of rows looked at.
    """

    auc: float
    p_value: float
    n_train: int
    n_holdout: int


@shared
def holdout_shift(context: Context, seed: int = 0) -> HoldoutShift | None:
    """Return how well train and holdout can be told apart by the columns that can be measured.

    Of each table, 10,000 rows at most are looked at. Where a person has several rows and the tables
    were divided by persons, they may be told apart too, and rightly so: tests that take rows for
    independent do not hold there.

    Parameters
    ----------
    context : Context
        The real tables.
    seed : int, default=0
        Of the samples and the halves.

    Returns
    -------
    HoldoutShift or None
        None without a holdout, without a column that can be measured, or with fewer than 20 rows
        in a table.

    Examples
    --------
    >>> from skeval import Context
    >>> from skeval.steps.holdout_shift import holdout_shift
    >>> from skeval.datasets import make_mixed
    >>> shift = holdout_shift(Context.of(make_mixed(random_state=0), make_mixed(random_state=1)))
    >>> shift.p_value > 0.01
    True
    """
    if "holdout" not in context or nothing_to_measure(context, "gower"):
        return None
    train, holdout = (
        rows_of(context, role, "gower", None, _MOST_ROWS, seed) for role in ("train", "holdout")
    )
    if min(len(train), len(holdout)) < _FEWEST_ROWS:
        return None
    n_columns = train.shape[1]
    is_nominal = np.arange(n_columns) >= n_columns - len(context.schema.columns(*NOMINAL))
    auc, p_value = blind_separation(train, holdout, categorical=is_nominal, seed=seed)
    return HoldoutShift(auc, p_value, len(train), len(holdout))


@singledispatch
def independent_rows(context: Context) -> Context | None:
    """Return a context of rows that are independent, as those of one table are; None if unknown.

    What several tables give is registered in skeval/__init__.py.
    """
    return context


def shift_notices(context: Context) -> tuple[HoldoutShiftWarning, ...]:
    """Return a warning if train and holdout can be told apart at a level of 1%, else nothing.

    Of several tables, the subjects with all their rows are looked at, since rows are not
    independent: the first subject, where there are several.
    """
    rows = independent_rows(context)
    shift = None if rows is None else holdout_shift(measured_on(rows, "sampled"))
    if shift is None or shift.p_value >= _ALARM:
        return ()
    p = f"= {shift.p_value:.1g}" if shift.p_value >= 1e-16 else "< 1e-16"
    return (HoldoutShiftWarning(_SHIFTED.format(auc=shift.auc, p=p)),)


def blind_separation(
    first: np.ndarray, second: np.ndarray, *, categorical: np.ndarray, seed: int = 0
) -> tuple[float, float]:
    """Return how well a classifier tells unseen rows of two samples apart, and a p-value.

    The classifier (gradient boosting of small trees) learns on a random half of each sample and
    scores the other halves.

    Parameters
    ----------
    first, second : ndarray of shape (n, n_features), (m, n_features)
        Numbers, and codes of categories that mean the same in both; missing is nan.
    categorical : ndarray of bool, shape (n_features,)
        Which features are codes. A feature with codes above 254 is taken as a number, since the
        classifier has room for no more.
    seed : int, default=0
        Of the halves.

    Returns
    -------
    auc : float
        Share of pairs of unseen rows in which the row of `first` has the higher score, ties half.
    p_value : float
        Of the one-sided Mann-Whitney test on the scores; 1 if all are equal.

    Notes
    -----
    If the rows are exchangeable, then so are, given the halves that the classifier learned on, the
    rows of the other halves; hence their scores too, whatever the classifier does with them. So the
    test holds its size if the classifier is bad, the samples are of unequal size, or rows stand in
    both. Scores pooled over folds would lack this: each fold learns on what the others score.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.steps.holdout_shift import blind_separation
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> auc, p = blind_separation(rows[:100], rows[100:] + 2, categorical=np.zeros(2, dtype=bool))
    >>> auc > 0.9, p < 0.01
    (True, True)
    """
    # not at the top: half of what it imports is needed by nothing else
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    (seen, unseen), (other_seen, other_unseen) = (_halves(rows, rng) for rows in (first, second))
    learned_from = np.concatenate([seen, other_seen])
    known = ~np.isnan(learned_from).all(axis=0)
    if not known.any():
        return 0.5, 1.0
    highest = np.fmax.reduce(np.concatenate([first, second]), axis=0)
    is_code = (categorical & (highest <= _MAX_CODE))[known]
    classifier = HistGradientBoostingClassifier(
        max_iter=50,
        max_leaf_nodes=8,
        min_samples_leaf=_LEAF,
        categorical_features=is_code,
        early_stopping=False,
        random_state=seed,
    )
    # threads that wait for a busy core make this a hundred times slower, never twice as fast
    with threadpool_limits(1, user_api="openmp"):
        classifier.fit(learned_from[:, known], np.repeat([1, 0], [len(seen), len(other_seen)]))
        scores = [classifier.decision_function(rows[:, known]) for rows in (unseen, other_unseen)]
    test = mannwhitneyu(*scores, alternative="greater", method="asymptotic")
    return float(test.statistic) / (len(unseen) * len(other_unseen)), float(test.pvalue)


def _halves(rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(len(rows))
    return rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]
