"""Groups of numbers around the value of one training row, such as an income with other cents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from skeval.core.context import Context
from skeval.stats.copied_rows import Copied, Copies
from skeval.tables.preprocessing import NUMERIC

_MIN_ROWS = 10  # minimum number of rows of a group, multiplied by the synthetic rows per real row
_CENTRAL = 128  # how many times closer the middle of a group is than any other real value
_TIMES_OTHERS = 3  # the group has more rows than other groups by this factor
_MAX_COMPARED = 250_000  # in larger tables, such groups are not searched for


def copies_close_to_values(context: Context, columns: Sequence[str]) -> Iterator[Copies]:
    """Yield the columns in which many synthetic values are close to one training value."""
    # A generator may produce groups of values for other reasons, for example if it replaces missing
    # cells by a mean. The middle of such a group is rarely so close to the value of a training row.
    roles = [role for role in ("train", "holdout") if role in context]
    if sum(map(context.n_rows, (*roles, "synthetic"))) > _MAX_COMPARED:
        return
    for name in context.schema.columns(*NUMERIC):
        if name in columns:
            real = np.concatenate([context.numbers(role, name) for role in roles])
            is_train = np.arange(real.size) < context.n_rows("train")
            found = values_around_one(real, is_train, context.numbers("synthetic", name))
            if found.beyond_chance:
                what = f"rows close to one value of {name}"
                yield Copies(
                    what, found, None, n_distinct=0, n_expected=0, form="copies of a value"
                )


def values_around_one(real: np.ndarray, is_train: np.ndarray, release: np.ndarray) -> Copied:
    """Return the size of the largest group around a training value, with the bound."""
    known = np.flatnonzero(np.isfinite(real))
    known = known[np.argsort(real[known], kind="stable")]
    values, is_train = real[known], is_train[known]
    numbers = np.sort(release[np.isfinite(release)])
    if values.size < 2 or not numbers.size:
        return Copied(0, 0)
    least = math.ceil(_MIN_ROWS * max(1.0, numbers.size / values.size))
    gaps = np.concatenate([[np.inf], np.diff(values), [np.inf]])
    apart = np.minimum(gaps[1:], gaps[:-1])
    after = np.clip(np.searchsorted(values, numbers), 1, values.size - 1)
    places = after - (numbers - values[after - 1] < values[after] - numbers)
    distances = np.abs(numbers - values[places])
    is_around = (distances > 0.0) & (2.0 * distances < apart[places])
    numbers, places, distances = (of[is_around] for of in (numbers, places, distances))
    sizes = np.bincount(places, minlength=values.size)
    ends, is_copied = np.cumsum(sizes), np.zeros(values.size, dtype=bool)
    for place in np.flatnonzero((sizes >= least) & is_train):
        around = slice(ends[place] - sizes[place], ends[place])
        to_middle = abs(float(np.median(numbers[around])) - values[place])
        off = max(to_middle, float(distances[around].min()))
        is_copied[place] = _CENTRAL * off <= apart[place]
    n, others = (int(sizes[chosen].max(initial=0)) for chosen in (is_copied, ~is_copied))
    return Copied(n, max(least - 1, _TIMES_OTHERS * others))
