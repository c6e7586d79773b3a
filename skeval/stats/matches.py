"""Rows that stand in another table too: their share, and what it is by chance."""

from __future__ import annotations

from typing import Literal

import numpy as np

from skeval.stats.relabelling import Relabelled

__all__ = ["digits_kept", "match_contrast", "matches", "summarised"]

_NOISE = 1e-12  # statistics that differ by less are equal: sums depend on their order
_WHOLE = 2.0**53  # from here on every float is a whole number
_TENS = np.array([float(f"1e{i}") for i in range(309)])
_BLOCK = 2**21  # counts held at once
_DRAWS_A_ROW = 16  # a count drawn costs about as much as so many rows dealt out


def digits_kept(values: np.ndarray, *, digits: int = 12, decimals: int | None = None) -> np.ndarray:
    """Return numbers rounded so that what is equal but for rounding errors is equal.

    Parameters
    ----------
    values : ndarray of float
        Missing (nan) and infinite ones stay what they are.
    digits : int, default=12
        Significant digits that are kept.
    decimals : int, optional
        If given, so many decimals are kept instead; negative for tens, hundreds and so on.

    Returns
    -------
    ndarray
        -0.0 becomes 0.0.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.matches import digits_kept
    >>> digits_kept(np.array([0.1 + 0.2, 1234.5678])) == np.array([0.3, 1234.5678])
    array([ True,  True])
    >>> digits_kept(np.array([0.1 + 0.2, 1234.5678]), decimals=-2)
    array([   0., 1200.])
    """
    numbers = np.asarray(values, dtype=np.float64)
    if decimals is not None:
        tiny = np.abs(numbers) < _WHOLE / 10.0 ** max(decimals, 0)
        return np.where(tiny, np.round(np.where(tiny, numbers, 0.0), decimals), numbers) + 0.0
    rough = np.isfinite(numbers) & (numbers != np.rint(numbers))
    rough |= np.isfinite(numbers) & (np.abs(numbers) >= 10.0**digits)
    kept = numbers + 0.0
    kept[rough] = _significant(numbers[rough], digits)
    return kept


def _significant(numbers: np.ndarray, digits: int) -> np.ndarray:
    """Round finite numbers other than 0; the result depends on the decimal number alone."""
    exponents = np.floor(np.log10(np.abs(numbers))).astype(np.int64)
    leading = np.rint(_shifted(numbers, digits - 1 - exponents)).astype(np.int64)
    # 9.99...9 rounds to one digit more, and log10 is off by one next to a power of ten
    for _ in range(2):
        over = np.abs(leading) >= 10**digits
        leading[over] = np.rint(leading[over] / 10.0).astype(np.int64)
        exponents[over] += 1
    return _shifted(leading.astype(np.float64), exponents - digits + 1)


def _shifted(numbers: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Move the decimal point, in two steps: 10^320 and 10^-320 are no floats."""
    half = places // 2
    for part in (half, places - half):
        # a power of ten is a whole number, and 0.1 is not what it looks like
        numbers = numbers * _TENS[np.maximum(part, 0)] / _TENS[np.maximum(-part, 0)]
    return numbers


def matches(counts: np.ndarray, others: np.ndarray, count: str = "rows") -> tuple[int, int]:
    """Return how many rows of a table match another's, and of how many.

    Parameters
    ----------
    counts, others : ndarray of shape (n_values,)
        How often each distinct row stands in the table, and in the other one.
    count : {"rows", "multiset", "unique"}, default="rows"
        Rows whose value stands in the other table; pairs of equal rows, none in two pairs; or
        distinct rows.

    Returns
    -------
    n_matched, n : int

    Examples
    --------
    Three rows "a" and one "c", matched to two rows "a" and one "b":

    >>> import numpy as np
    >>> from skeval.stats.matches import matches
    >>> table, other = np.array([3, 0, 1]), np.array([2, 1, 0])
    >>> [matches(table, other, count) for count in ("rows", "multiset", "unique")]
    [(3, 4), (2, 4), (1, 2)]
    """
    if count == "unique":
        counts = np.minimum(counts, 1)
    matched = np.minimum(counts, others) if count == "multiset" else counts[others > 0]
    return int(matched.sum()), int(counts.sum())


def match_contrast(
    synthetic: np.ndarray,
    train: np.ndarray,
    holdout: np.ndarray,
    count: str = "rows",
    *,
    n_permutations: int,
    seed: int,
) -> Relabelled:
    """Hold the share matched to train, less that to the holdout, against relabelled real rows.

    Parameters
    ----------
    synthetic, train, holdout : ndarray of shape (n_values,)
        How often each distinct row stands in each table.
    count : {"rows", "multiset", "unique"}, default="rows"
        As in :func:`matches`.
    n_permutations : int
        Number of random relabellings.
    seed : int
        Of the relabellings.

    Returns
    -------
    Relabelled

    Notes
    -----
    Of the `c` pooled copies of a value, k are train in a relabelling, with the multivariate
    hypergeometric law over the values that any synthetic row has. A value of one copy counts +1 or
    -1 only: such values are drawn as one class, and what is drawn does not grow with the table.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.matches import match_contrast
    >>> train, holdout = np.array([1, 1, 1, 1, 0, 0, 0, 0]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> found = match_contrast(train, train, holdout, n_permutations=999, seed=0)
    >>> found.observed, round(found.p_value, 2)
    (1.0, 0.01)
    """
    used = (synthetic > 0) & (train + holdout > 0)
    copies = (train + holdout)[used]
    if count == "multiset":
        unit, cap = np.full(copies.size, 1.0 / synthetic.sum()), synthetic[used]
    else:
        weights = np.minimum(synthetic, 1) if count == "unique" else synthetic
        unit, cap = weights[used] / weights.sum(), np.ones(copies.size, dtype=np.int64)
    observed = float(_differences(train[used], copies, cap) @ unit)
    copies, cap, unit = _classes(copies, cap, unit)
    rest = int((train + holdout).sum() - copies.sum())
    counts = np.append(copies, rest)
    rng = np.random.default_rng(seed)
    method: Literal["count", "marginals"] = "marginals"  # draws value after value
    if counts.size * _DRAWS_A_ROW > counts.sum():
        method = "count"  # deals out all rows
    draws, width = np.empty(n_permutations), max(1, _BLOCK // counts.size)
    for start in range(0, n_permutations, width):
        n = min(width, n_permutations - start)
        drawn = rng.multivariate_hypergeometric(counts, int(train.sum()), size=n, method=method)
        draws[start : start + n] = _differences(drawn[:, :-1], copies, cap) @ unit
    return summarised(observed, draws)


def _differences(train: np.ndarray, copies: np.ndarray, cap: np.ndarray) -> np.ndarray:
    return np.minimum(train, cap) - np.minimum(copies - train, cap)


def _classes(
    copies: np.ndarray, cap: np.ndarray, unit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pool values in which each copy counts alike; sort, so that row order does not matter."""
    linear = copies <= cap
    units, which = np.unique(unit[linear], return_inverse=True)
    pooled = np.bincount(which, weights=copies[linear], minlength=units.size).astype(np.int64)
    order = np.lexsort((unit[~linear], cap[~linear], copies[~linear]))
    parts = zip((pooled, pooled, units), (copies, cap, unit), strict=True)
    joined = [np.concatenate([first, rest[~linear][order]]) for first, rest in parts]
    return joined[0], joined[1], joined[2]


def summarised(observed: float, draws: np.ndarray) -> Relabelled:
    """Return what was observed beside the mean, the spread and the tail of random draws.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.stats.matches import summarised
    >>> summarised(2.0, np.array([0.0, 1.0, 2.0])).p_value
    0.5
    """
    reached = int((draws >= observed - _NOISE).sum())
    return Relabelled(
        observed, float(draws.mean()), float(draws.std()), (1 + reached) / (draws.size + 1)
    )
