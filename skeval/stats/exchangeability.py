"""Whether two samples can be told apart by somebody who has seen half of each."""

from __future__ import annotations

import numpy as np
from scipy.stats import mannwhitneyu
from threadpoolctl import threadpool_limits

__all__ = ["blind_separation"]

_MAX_CODE = 254  # what the histograms of the classifier hold
_LEAF = 10


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
    If the rows are exchangeable, then so are, given the halves that the classifier learnt on, the
    rows of the other halves; hence their scores too, whatever the classifier does with them. So the
    test holds its size if the classifier is bad, the samples are of unequal size, or rows stand in
    both. Scores pooled over folds would lack this: each fold learns on what the others score.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.exchangeability import blind_separation
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> auc, p = blind_separation(rows[:100], rows[100:] + 2, categorical=np.zeros(2, dtype=bool))
    >>> auc > 0.9, p < 0.01
    (True, True)
    """
    # not at the top: half of what it imports is needed by nothing else
    from sklearn.ensemble import HistGradientBoostingClassifier

    rng = np.random.default_rng(seed)
    (seen, unseen), (other_seen, other_unseen) = (_halves(rows, rng) for rows in (first, second))
    learnt_from = np.concatenate([seen, other_seen])
    known = ~np.isnan(learnt_from).all(axis=0)
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
        classifier.fit(learnt_from[:, known], np.repeat([1, 0], [len(seen), len(other_seen)]))
        scores = [classifier.decision_function(rows[:, known]) for rows in (unseen, other_unseen)]
    test = mannwhitneyu(*scores, alternative="greater", method="asymptotic")
    return float(test.statistic) / (len(unseen) * len(other_unseen)), float(test.pvalue)


def _halves(rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(len(rows))
    return rows[order[: len(rows) // 2]], rows[order[len(rows) // 2 :]]
