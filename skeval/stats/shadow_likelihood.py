"""Likelihood ratios of a record's score, with it and without it in the training rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Moments", "likelihood_ratio", "moments", "offline_score"]

_LEAST = 1e-6  # of the spread of all scores: what counts as none


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of each record's scores, with it and without it.

    Attributes
    ----------
    mean_in, sd_in, mean_out, sd_out : ndarray of shape (n_records,)
        Or of shape (n_models, n_records), where each model is left out in turn.
    """

    mean_in: np.ndarray
    sd_in: np.ndarray
    mean_out: np.ndarray
    sd_out: np.ndarray


def likelihood_ratio(scores: np.ndarray, known: Moments) -> np.ndarray:
    """Return the log ratio of normal densities of scores, with the record to without it.

    References
    ----------
    N. Carlini et al., "Membership inference attacks from first principles", IEEE S&P 2022,
    arXiv:2112.03570.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shadow_likelihood import Moments, likelihood_ratio
    >>> one = np.ones(1)
    >>> likelihood_ratio(np.array([1.5]), Moments(2 * one, one, 0 * one, one)).tolist()
    [1.0]
    """
    inside = (scores - known.mean_in) / known.sd_in
    outside = (scores - known.mean_out) / known.sd_out
    found: np.ndarray = (outside**2 - inside**2) / 2.0 + np.log(known.sd_out / known.sd_in)
    return found


def offline_score(scores: np.ndarray, known: Moments) -> np.ndarray:
    """Return how many standard deviations scores are above those without the record.

    Its normal distribution function is the published score, in the same order; that one has no
    digits left far above.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shadow_likelihood import Moments, offline_score
    >>> one = np.ones(1)
    >>> offline_score(np.array([1.5]), Moments(one, one, 0 * one, one)).tolist()
    [1.5]
    """
    found: np.ndarray = (scores - known.mean_out) / known.sd_out
    return found


def moments(
    scores: np.ndarray,
    inside: np.ndarray,
    *,
    per_record: bool,
    left_out: np.ndarray | None = None,
) -> Moments:
    """Return the moments of records over models.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_records)
        Of each record by each model.
    inside : ndarray of shape (n_models, n_records), bool
        Which models learnt from which records; at least two with and two without each.
    per_record : bool
        Whether standard deviations are each record's own, or pooled over all records.
    left_out : ndarray of shape (n_models,), int, optional
        The group of each model: each then has moments of the models of other groups alone.

    Returns
    -------
    Moments
        Standard deviations are at least a millionth of that of all scores.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.shadow_likelihood import moments
    >>> scores = np.array([[2.0], [4.0], [0.0], [1.0]])
    >>> inside = np.array([[True], [True], [False], [False]])
    >>> found = moments(scores, inside, per_record=False)
    >>> found.mean_in.tolist(), found.mean_out.tolist(), found.sd_in.round(3).tolist()
    ([3.0], [0.5], [1.414])
    """
    # of one layout: sums over models depend on how these lie in memory
    scores, inside = np.ascontiguousarray(scores), np.ascontiguousarray(inside)
    middle = scores.mean(axis=0)
    centred = scores - middle
    # sorted, sums do not depend on the order of the records
    least = max(float(np.sort(scores, axis=None).std()) * _LEAST, 1e-12)
    found = []
    for mask in (inside, ~inside):
        counts, totals, squares = (
            _summed(np.where(mask, part, 0.0), left_out)
            for part in (np.ones_like(centred), centred, centred**2)
        )
        means = totals / np.maximum(counts, 1.0)
        within = np.maximum(squares - counts * means**2, 0.0)
        free = counts - 1.0
        if not per_record:
            within = np.sort(within, axis=-1).sum(axis=-1, keepdims=True) + 0.0 * within
            free = free.sum(axis=-1, keepdims=True) + 0.0 * free
        sd = np.maximum(np.sqrt(within / np.maximum(free, 1.0)), least)
        found += [means + middle, sd]
    return Moments(*found)


def _summed(parts: np.ndarray, left_out: np.ndarray | None) -> np.ndarray:
    """Return sums over models; for each model over those that are not of its group."""
    total: np.ndarray = parts.sum(axis=0)
    if left_out is None:
        return total
    same = (left_out[:, None] == left_out).astype(np.float64)
    return total - same @ parts
