"""Groups of synthetic rows around single real rows, with noise in all columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skeval.core.context import Context
from skeval.neighbors.brute import gower_pairs
from skeval.privacy.agreeing_rows import agreeing_copies
from skeval.stats.copied_rows import Copied, Form, Repeats
from skeval.steps.column_choice import column_key
from skeval.steps.encoded_rows import encoded_matrix, gower_scale
from skeval.steps.nearest_others import nearest_of_tables
from skeval.steps.neighbors import pool_index, reference_index
from skeval.tables.preprocessing import NOMINAL

_MIN_ROWS, _MIN_AROUND_ONE = 5, 10  # minimum number of rows of a group, and of the only group
_TIMES_USUAL = 3  # minimum number of rows of a group, divided by synthetic rows per real row
_CENTRAL, _CENTRAL_ALONE = 4, 16  # how many times closer the middle is than any other real row
_NARROW, _CENTRAL_NARROW = 5, 64  # in fewer columns, the middle of any group is often close
_WIDE, _CENTRAL_WIDE = 8, 6  # in more columns, no middle is close to a real row by chance
_TIMES_OTHERS = 3  # the only group has more rows than other groups by this factor
_ROWS_PER_LEVEL = 20  # a category has at least this number of real rows on average
_MAX_CHOSEN = 250_000  # in larger tables, all columns are compared, to use searches that exist
_DOUBT = 0.05  # probability of more groups around training rows than holdout rows predict


@dataclass(frozen=True)
class Groups:
    """Real rows with a group of other rows around them."""

    rows: np.ndarray
    sizes: np.ndarray
    ratios: np.ndarray  # distance to the nearest other real row, divided by that to the middle


def grouped_copies(context: Context, chance: float) -> list[tuple[Copied, Form]]:
    """Return the training rows with a group around them, and the rows of the largest group."""
    # If a generator repeats a training row with noise in all columns, the copies may be as distant
    # from this row as other real rows are. However, the noise cancels out in the middle of the
    # copies, which is the row of their medians and most frequent categories. Therefore, a training
    # row counts if the middle of the synthetic rows around it is at least four times closer than
    # any other real row. A synthetic row is around a real row if every other real row is at least
    # twice as distant from that row.
    # If categories were replaced in the copies, only their numbers are close to the row. Therefore,
    # groups are also searched for in all numbers. If other columns were replaced, no distance is
    # small, but the copies agree with the row in the columns that are left (agreeing_rows.py).
    sets = _column_sets(context)
    found = [_copies_in_columns(context, columns, chance / len(sets)) for columns in sets]
    several, one = (
        next((count for count in counts if count.beyond_chance), counts[0])
        for counts in zip(*found, strict=True)
    )
    counted: list[tuple[Copied, Form]] = [(several, "near copies"), (one, "near copies of one")]
    if not _is_large(context) and not any(count.beyond_chance for count, _ in counted):
        several, one = agreeing_copies(context, sets[0])
        counted += [(several, "near copies in part"), (one, "near copies of one")]
    return counted


def _copies_in_columns(
    context: Context, columns: tuple[str, ...] | None, chance: float
) -> tuple[Copied, Copied]:
    roles = tuple(role for role in ("train", "holdout") if role in context)
    n_train, n_rows = context.n_rows("train"), context.n_rows("synthetic")
    n_real = sum(context.n_rows(role) for role in roles)
    n_columns = len(context.schema.measured if columns is None else columns)
    least = max(_MIN_ROWS, math.ceil(_TIMES_USUAL * n_rows / n_real))
    groups = _groups(context, "synthetic", roles, columns, least)
    is_train = groups.rows < n_train
    is_copied = groups.ratios >= _CENTRAL
    several = Copied(0, 0)
    if n_real > n_train:
        of_holdout = Repeats(float((is_copied & ~is_train).sum()), (n_real - n_train) / n_train)
        predicted = of_holdout
        if n_real - n_train >= n_rows:  # the holdout is another release of new rows
            fresh = _groups(context, "holdout", ("train",), columns, least)
            predicted += Repeats(
                float((fresh.ratios >= _CENTRAL).sum()), (n_real - n_train) / n_rows
            )
        most = max(of_holdout.bound(_DOUBT), predicted.bound(chance))
        n = int((is_copied & is_train).sum())
        several = Copied(n, most, repeats=predicted, chance=chance)
    central = _CENTRAL_NARROW if n_columns < _NARROW else _CENTRAL_ALONE
    around_one = _MIN_AROUND_ONE * max(1.0, n_rows / n_real)
    is_other = ~(is_train & (groups.ratios >= central / _CENTRAL))
    one = _largest_group(groups, is_train & (groups.ratios >= central), is_other, around_one)
    if not one.beyond_chance and n_columns >= _WIDE:
        # twice as many copies whose noise does not cancel out, for example if it has a direction
        is_close = is_train & (groups.ratios >= _CENTRAL_WIDE)
        one = _largest_group(groups, is_close, ~is_close, 2.0 * around_one)
    return several, one


def _largest_group(
    groups: Groups, is_copied: np.ndarray, is_other: np.ndarray, least: float
) -> Copied:
    """Return the number of rows of the largest group around a training row, with its bound."""
    # A generator may produce groups for other reasons. The middle of such a group is rarely at a
    # real row, and may be at a holdout row.
    n, others = (int(groups.sizes[chosen].max(initial=0)) for chosen in (is_copied, is_other))
    return Copied(n, max(math.ceil(least) - 1, _TIMES_OTHERS * others))


def _column_sets(context: Context) -> list[tuple[str, ...] | None]:
    """Return the columns without categories of few rows, and the numbers among them if enough."""
    # copies differ in categories of few rows
    if _is_large(context):
        return [None]
    n_real = sum(context.n_rows(role) for role in ("train", "holdout") if role in context)
    rare = {
        name
        for name in context.schema.columns(*NOMINAL)
        if context.column("train", name).nunique() * _ROWS_PER_LEVEL > n_real
    }
    left = [name for name in context.schema.measured if name not in rare]
    numbers = [name for name in left if context.schema.kinds[name] not in NOMINAL]
    chosen = [left, numbers] if _NARROW <= len(numbers) < len(left) else [left]
    return [column_key(context.schema, names) if names else None for names in chosen]


def _is_large(context: Context) -> bool:
    roles = (role for role in ("train", "holdout", "synthetic") if role in context)
    return sum(map(context.n_rows, roles)) > _MAX_CHOSEN


def _groups(
    context: Context,
    query: str,
    roles: tuple[str, ...],
    columns: tuple[str, ...] | None,
    least: int,
) -> Groups:
    """Return the real rows of some tables that have at least `least` rows of the query around."""
    closest, places = nearest_of_tables(context, query, roles, columns)
    n_real = sum(context.n_rows(role) for role in roles)
    rows = np.flatnonzero(np.bincount(places, minlength=n_real) >= least)
    if not rows.size:
        return Groups(rows, rows, np.empty(0))
    index = (
        pool_index(context, "gower", columns)
        if len(roles) > 1
        else reference_index(context, roles[0], "gower", columns, None, 0)
    )
    apart = index.others(rows, 1, np.full(rows.size, np.inf))[0][:, 0]
    of_row = np.zeros(n_real)
    of_row[rows] = apart
    is_around = (closest > 0.0) & (2.0 * closest < of_row[places])
    sizes = np.bincount(places[is_around], minlength=n_real)[rows]
    kept = sizes >= least
    rows, sizes, apart = rows[kept], sizes[kept], apart[kept]
    own = encoded_matrix(context, query, "gower", columns)
    scale, is_nominal = gower_scale(context, columns)
    members = np.flatnonzero(is_around)
    members = members[np.argsort(places[members], kind="stable")]
    starts = np.searchsorted(places[members], rows)
    middles = [
        _middle_row(own[members[start : start + size]], is_nominal)
        for start, size in zip(starts, sizes, strict=True)
    ]
    distances = np.empty(0)
    if middles:
        distances = gower_pairs(np.array(middles), index.rows[rows], scale, is_nominal)
    with np.errstate(divide="ignore"):
        return Groups(rows, sizes, apart / distances)


def _middle_row(rows: np.ndarray, is_nominal: np.ndarray) -> np.ndarray:
    """Return the medians of numbers and the most frequent categories, missing if most are."""
    middle = np.empty(rows.shape[1])
    for j, column in enumerate(rows.T):
        present = np.sort(column[~np.isnan(column)])
        if 2 * present.size < column.size:
            middle[j] = np.nan
        elif is_nominal[j]:
            values, n_rows = np.unique(present, return_counts=True)
            middle[j] = values[n_rows.argmax()]
        else:
            middle[j] = present[present.size // 2]  # the mean of two huge numbers is infinite
    return middle
