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
    scores: np.ndarray, inside: np.ndarray, *, per_record: bool, leave_one_out: bool = False
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
    leave_one_out : bool, default=False
        Whether each model has moments of the others alone.

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
    middle = scores.mean(axis=0)
    centred = scores - middle
    least = max(float(scores.std()) * _LEAST, 1e-12)
    found = []
    for mask in (inside, ~inside):
        counts = mask.sum(axis=0).astype(np.float64)
        totals = np.where(mask, centred, 0.0).sum(axis=0)
        squares = np.where(mask, centred**2, 0.0).sum(axis=0)
        if leave_one_out:  # each model's own part is taken off
            counts = counts - mask
            totals = totals - np.where(mask, centred, 0.0)
            squares = squares - np.where(mask, centred**2, 0.0)
        means = totals / np.maximum(counts, 1.0)
        within = np.maximum(squares - counts * means**2, 0.0)
        free = counts - 1.0
        if not per_record:
            within = within.sum(axis=-1, keepdims=True) + 0.0 * within
            free = free.sum(axis=-1, keepdims=True) + 0.0 * free
        sd = np.maximum(np.sqrt(within / np.maximum(free, 1.0)), least)
        found += [means + middle, sd]
    return Moments(*found)
