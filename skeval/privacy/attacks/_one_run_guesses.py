"""Who was learnt from: guesses from scores of rows, and pairs of rows to guess within."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from skeval._parameters import Interval
from skeval.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.preprocessing import NOMINAL, numbers
from skeval.privacy.attacks._densities import plain_rows
from skeval.privacy.attacks.membership_rows import drawing_order

__all__ = [
    "Bits",
    "Guessed",
    "Guesses",
    "draw_seed",
    "guess_ranked",
    "in_random_order",
    "matched",
    "reference_among",
    "strata_of",
    "tossed",
]

_WHOLE = Interval(int, 0, None)
# whoever is refused with fair coins, one in ten thousand, still has the pairs; splits of 4 to 1 and
# 2 to 1 are refused from some 40 and 130 rows on
_HARDLY = 1e-4


@dataclass(frozen=True)
class Bits:
    """None, or numbers in a list, an array or a Series, which :func:`tossed` reads."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` is None or holds things in a row."""
        held = all(hasattr(value, name) for name in ("__len__", "__iter__"))
        return value is None or (held and not isinstance(value, str | bytes))

    def describe(self) -> str:
        """Name the choices."""
        return "None or a sequence of 0, 1 and nan"

    def invalid_example(self) -> object:
        """Return what holds no bits."""
        return 2


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


def tossed(included: Any, n_train: int, n_holdout: int) -> np.ndarray:
    """Return how the coin of each row fell, train first: 1 in, 0 out, nan for a row without one.

    Parameters
    ----------
    included : sequence of 0, 1 and nan, or None
        None: train rows were in and holdout rows were not.
    n_train, n_holdout : int
        Rows of the tables.

    Raises
    ------
    InvalidParameterError
        If that is not what it holds, or the coins are not fair.
    """
    n_rows, coins = n_train + n_holdout, np.repeat([1.0, 0.0], [n_train, n_holdout])
    if included is not None:
        coins = _bits(included)
    if coins.size != n_rows:
        raise InvalidParameterError(
            f"OneRunDPAudit: included must have a number for each of {n_rows} rows, train first, "
            f"and has {coins.size}."
        )
    n_in, n_coins = int((coins == 1.0).sum()), int((~np.isnan(coins)).sum())
    if n_coins == 0:
        raise InvalidParameterError("OneRunDPAudit: included must give a row a coin.")
    if 2.0 * binom.cdf(min(n_in, n_coins - n_in), n_coins, 0.5) < _HARDLY:
        raise InvalidParameterError(
            f"OneRunDPAudit: {n_in} of {n_coins} rows were in, which fair coins hardly do; a split "
            "of sizes that were chosen goes with design='pairs'."
        )
    return coins


def _bits(included: Any) -> np.ndarray:
    try:
        bits = np.array([np.nan if pd.isna(bit) else float(bit) for bit in included])
    except (TypeError, ValueError):
        bits = np.array([np.inf])
    if not (np.isnan(bits) | (bits == 0.0) | (bits == 1.0)).all():
        raise InvalidParameterError(
            "OneRunDPAudit: included must be None or a sequence of 0, 1 and nan."
        )
    return bits


@shared
def draw_seed(context: Context, seed: int) -> int:
    """Return the seed of what is drawn of two tables: one of its own for each split of the rows.

    A seed alone would match the same places of any two tables of these sizes, places by what the
    rows hold. With some seeds that favours one side: a release that knows nothing is then refuted
    in 15% of splits or more, and with others in none. Drawn anew for each split, it is 5%.
    """
    contents = hashlib.sha256(f"{seed}".encode())
    for role in ("train", "holdout"):
        rows = plain_rows(context, role, "gower", None)
        rows = np.where(np.isnan(rows), np.nan, rows)[np.lexsort(rows.T[::-1])]
        contents.update(f"{rows.shape}".encode() + rows.tobytes())
    return int.from_bytes(contents.digest()[:4], "big")


def in_random_order(context: Context, seed: int) -> np.ndarray:
    """Return the positions in both tables, train first, in an order that tells neither apart."""
    orders = [drawing_order(context, role, seed) for role in ("train", "holdout")]
    places = np.concatenate([orders[0], orders[0].size + orders[1]])
    drawn: np.ndarray = np.random.default_rng(seed).permutation(places)
    return drawn


def reference_among(context: Context, coins: np.ndarray, seed: int) -> np.ndarray:
    """Return positions of the rows that calibrate, in both tables: whoever was in is not looked at.

    A quarter as many as there are coins: holdout rows without a coin, all of them, and if these
    are fewer, rows with a coin, of either table. A reference of the holdout alone would leave more
    rows that were in than rows that were not, and its size must not depend on how the coins fell.

    Parameters
    ----------
    context : Context
        With train and holdout.
    coins : ndarray of shape (n_train + n_holdout,)
        As :func:`tossed` gives them.
    seed : int
        Of the draw.
    """
    order = in_random_order(context, seed)
    has_coin = ~np.isnan(coins[order])
    free = order[~has_coin & (order >= context.n_rows("train"))]
    n_wanted = max(int(has_coin.sum()) // 4, 1)
    return np.concatenate([free, order[has_coin][: max(0, n_wanted - free.size)]])


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
