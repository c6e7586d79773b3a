"""Who was learnt from: guesses from scores of rows, and pairs of rows to guess within."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skeval._parameters import Interval
from skeval.context import Context
from skeval.preprocessing import NOMINAL, numbers

__all__ = ["Bits", "Guessed", "Guesses", "guess_ranked", "matched", "strata_of"]

_WHOLE = Interval(int, 0, None)


@dataclass(frozen=True)
class Bits:
    """None, or one number for each row of train and of the holdout."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is None or holds nothing but 0, 1 and nan."""
        if value is None:
            return True
        if not isinstance(value, list | tuple | np.ndarray):
            return False
        try:
            bits = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return bits.ndim == 1 and bool((np.isnan(bits) | (bits == 0.0) | (bits == 1.0)).all())

    def describe(self) -> str:
        """Name the choices."""
        return "None or a sequence of 0, 1 and nan"

    def invalid_example(self) -> object:
        """Return what is no bit."""
        return [2]


@dataclass(frozen=True)
class Guesses:
    """None, a number of guesses, or one for each side."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is None, a positive int or two ints from 0 on, not both 0."""
        if value is None:
            return True
        counts: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
        right_number = len(counts) == (2 if isinstance(value, list | tuple) else 1)
        whole = all(_WHOLE.accepts(count) for count in counts)
        return right_number and whole and sum(counts) > 0

    def describe(self) -> str:
        """Name the choices."""
        return "None, a positive int or two ints from 0 on"

    def invalid_example(self) -> object:
        """Return a number of guesses that cannot be."""
        return 0


@dataclass(frozen=True)
class Guessed:
    """What the attack did: coins tossed, guesses made, right ones."""

    n_canaries: int
    n_guesses: int
    n_correct: int


def guess_ranked(
    scores: np.ndarray, bits: np.ndarray, k_guesses: int | Sequence[int] | None
) -> Guessed:
    """Guess that the rows with the highest scores were in, and those with the lowest were not.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        In random order, which decides among equal ones.
    bits : ndarray of shape (n,)
        1 for rows that were in.
    k_guesses : int, two ints or None
        Guesses in all, or of either kind; None guesses on either side of the median.
    """
    if k_guesses is None:
        middle = np.median(scores) if scores.size else 0.0
        said_in, said_out = bits[scores > middle], bits[scores < middle]
    else:
        k_in, k_out = _sides(k_guesses, scores.size)
        order = np.argsort(-scores, kind="stable")
        said_in, said_out = bits[order[:k_in]], bits[order[order.size - k_out :]]
    n_correct = int((said_in == 1.0).sum() + (said_out == 0.0).sum())
    return Guessed(scores.size, said_in.size + said_out.size, n_correct)


def _sides(k_guesses: int | Sequence[int], n_rows: int) -> tuple[int, int]:
    """Return how many rows are guessed in and out: no row both."""
    if isinstance(k_guesses, Sequence):
        k_in = min(int(k_guesses[0]), n_rows)
        return k_in, min(int(k_guesses[1]), n_rows - k_in)
    total = min(int(k_guesses), n_rows)
    return total - total // 2, total // 2


def strata_of(context: Context, column: str) -> dict[str, np.ndarray]:
    """Return a number for each value of a column, by role; missing is one of them."""
    if context.schema.kinds[column] in NOMINAL:
        return {
            role: context[role][column].cat.codes.to_numpy(dtype=np.int64)
            for role in ("train", "holdout")
        }
    values = [numbers(context[role][[column]]).ravel() for role in ("train", "holdout")]
    codes = np.unique(np.concatenate(values), return_inverse=True, equal_nan=True)[1].ravel()
    n_train = values[0].size
    return {"train": codes[:n_train], "holdout": codes[n_train:]}


def matched(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of pairs of rows of one stratum, the first of either table first."""
    places = [_within(strata) for strata in (first, second)]
    n_strata = int(max(first.max(initial=-1), second.max(initial=-1))) + 2
    left_keys, right_keys = (
        place * n_strata + strata + 1 for place, strata in zip(places, (first, second), strict=True)
    )
    _, left, right = np.intersect1d(left_keys, right_keys, return_indices=True)
    return left, right


def _within(strata: np.ndarray) -> np.ndarray:
    """Return how many rows of its stratum stand before each row."""
    order = np.argsort(strata, kind="stable")
    ordered = strata[order]
    starts = np.searchsorted(ordered, ordered)
    place = np.empty_like(order)
    place[order] = np.arange(order.size) - starts
    return place
