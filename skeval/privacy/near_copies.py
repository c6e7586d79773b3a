"""Training rows that the synthetic data repeat with small changes, beyond what real rows show."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats.repeats import CHANCE, Copied, Copies, Repeats
from skeval.steps.neighbors import encoded, index_of, nearest
from skeval.steps.samples import drawn_positions

RATIO = 16  # how many times closer a near copy is than any other real row
_MIN_AROUND_ONE = 10  # near copies of one training row that are more than a coincidence
_TIMES_HOLDOUT = 3  # and more than around any holdout row by this factor
_DOUBT = 0.05  # chance of more near copies of training rows than those of holdout rows predict
_MAX_COMPARED = 2000  # rows of a table among which different rows are counted


@shared
def near_copies(context: Context) -> Copies | None:
    """Count training rows with a near copy, or the near copies of one training row.

    A synthetic row is a near copy of a real row if every other training row is at least 16 times
    more distant from that real row. How often fresh rows are so close is predicted from pairs of
    real rows and from the near copies of holdout rows: a generator that repeats common rows too
    often has both. Exact copies are counted elsewhere, except if one row has many copies. None if
    the tables do not have a column that can be measured, or fewer than three training rows.
    """
    roles = [role for role in ("train", "holdout") if role in context]
    if not context.schema.measured or context.n_rows("train") < 3:
        return None
    to_train = np.concatenate([nearest(context, role, "train", k=2)[0] for role in roles])
    changed, every = _around(context, roles, to_train[:, 0])
    is_train = np.arange(len(to_train)) < context.n_rows("train")
    train = _of_several(context, changed, is_train, to_train)
    place = int(np.where(is_train & (changed > 0), every, 0).argmax())
    around_one = int(every[place]) if changed[place] else 0
    most = max(_MIN_AROUND_ONE - 1, _TIMES_HOLDOUT * int(every[~is_train].max(initial=0)))
    of_one = not train.beyond_chance and around_one > most
    close = float(np.median(to_train[:, 0]))
    return Copies(
        "rows",
        Copied(around_one, most) if of_one else train,
        None,
        n_distinct=_n_different(context, "synthetic", close),
        n_expected=_n_different(context, "train", close),
        form="near copies of one" if of_one else "near copies",
    )


def _around(
    context: Context, roles: list[str], to_train: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of changed copies of each real row, and of near copies of any kind."""
    found = [nearest(context, "synthetic", role) for role in roles]
    distances = np.column_stack([one[:, 0] for one, _ in found])
    of_role = distances.argmin(axis=1)
    rows, starts = np.arange(len(distances)), np.append(0, context.n_rows("train"))
    places = starts[of_role] + np.column_stack([at[:, 0] for _, at in found])[rows, of_role]
    closest = distances[rows, of_role]
    is_near = (to_train[places] > 0.0) & (RATIO * closest <= to_train[places])
    changed, every = (
        np.bincount(places[chosen], minlength=to_train.size)
        for chosen in (is_near & (closest > 0.0), is_near)
    )
    return changed, every


def _of_several(
    context: Context, changed: np.ndarray, is_train: np.ndarray, to_train: np.ndarray
) -> Copied:
    """Return how many training rows have a changed copy, and the most that is expected."""
    n_train, n_holdout = (int(part.sum()) for part in (is_train, ~is_train))
    n, n_of_holdout = (int((changed[part] > 0).sum()) for part in (is_train, ~is_train))
    close = (to_train[:, 0] > 0.0) & (RATIO * to_train[:, 0] <= to_train[:, 1])
    pairs = float(close[is_train].sum() / 2.0 + close[~is_train].sum())  # both of train count
    exposure = ((n_train - 1.0) / 2.0 + n_holdout) / context.n_rows("synthetic")
    predicted, most = Repeats(pairs, exposure), 0
    if n_holdout:
        of_holdout = Repeats(n_of_holdout, n_holdout / n_train)
        predicted, most = predicted + of_holdout, of_holdout.bound(_DOUBT)
    return Copied(n, max(most, predicted.bound(CHANCE)), repeats=predicted)


def _n_different(context: Context, role: str, close: float) -> int:
    """Return the effective number of different rows: rows within a distance are one."""
    rows = encoded(context, role)[drawn_positions(context, role, _MAX_COMPARED, 0)]
    if close <= 0.0:
        return len(rows)
    within = index_of(context, rows, "gower").search.count_within(rows, np.nextafter(close, 0.0))
    return int(len(rows) ** 2 / max(int(within.sum()), len(rows)))
