"""Training rows that the synthetic data repeat with small changes, compared with real rows."""

from __future__ import annotations

import numpy as np

from skeval.core.context import Context, shared
from skeval.privacy.row_groups import grouped_copies
from skeval.stats.copied_rows import CHANCE, Copied, Copies, Form, Repeats
from skeval.steps.encoded_rows import encoded_matrix
from skeval.steps.nearest_others import nearest_of_tables
from skeval.steps.neighbors import index_of, nearest, reference_index
from skeval.steps.samples import drawn_positions

# How many times closer a near copy is than any other real row. In a table of few columns with many
# values, some fresh rows are 16 times closer, but few are 128 times closer.
_RATIO, _LARGE_RATIO = 16, 128
# of the first rule, and of two further rules. The rest is for agreeing_rows.py
_LEVEL, _FURTHER_LEVEL = 0.35 * CHANCE, 0.25 * CHANCE
_DOUBT = 0.05  # probability of more near copies of training rows than holdout rows predict
_MAX_COMPARED = 2000  # rows of a table among which different rows are counted


@shared
def near_copies(context: Context) -> Copies | None:
    """Count training rows with a near copy, or the near copies of one training row."""
    # A synthetic row is a near copy of a real row if every other real row is at least 16
    # times more distant from that real row. How often fresh rows are so close is predicted
    # from pairs of real rows and from the near copies of holdout rows, because a generator that
    # repeats common rows too often has both. If the count is within the bound, near copies are
    # counted for which the other real rows are 128 times more distant, and then groups of rows
    # (row_groups.py). Exact copies are counted elsewhere. None if the tables do not have a column
    # that can be measured, or fewer than three training rows.
    roles = tuple(role for role in ("train", "holdout") if role in context)
    if not context.schema.measured or context.n_rows("train") < 3:
        return None
    to_train = np.concatenate([nearest(context, role, "train", k=2)[0] for role in roles])
    closest, places = nearest_of_tables(context, "synthetic", roles)
    # distances to training rows exclude most rows, so that few are searched for in the holdout
    close, near = _is_close(*to_train.T), _is_close(closest, to_train[places, 0])
    asked = np.unique(np.concatenate([np.flatnonzero(close), places[near]]))
    to_holdout = _to_holdout(context, asked, len(to_train))
    others_of_real = np.minimum(to_train[:, 1], to_holdout)
    others = np.minimum(to_train[:, 0], to_holdout)[places]
    near &= _is_close(closest, others)
    is_train = np.arange(len(to_train)) < context.n_rows("train")

    def count_near_copies(ratio: int, chance: float) -> Copied:
        chosen = near & (closest > 0.0) & _is_close(closest, others, ratio)
        is_copied = np.bincount(places[chosen], minlength=len(to_train)) > 0
        pairs = (to_train[:, 0] > 0.0) & close & _is_close(to_train[:, 0], others_of_real, ratio)
        return _of_several(context, is_copied, is_train, pairs, chance)

    counted: list[tuple[Copied, Form]] = [
        (count_near_copies(_RATIO, _LEVEL), "near copies"),
        (count_near_copies(_LARGE_RATIO, _FURTHER_LEVEL), "near copies"),
        *grouped_copies(context, _FURTHER_LEVEL),
    ]
    found, form = next((pair for pair in counted if pair[0].beyond_chance), counted[0])
    typical = float(np.median(to_train[:, 0]))
    return Copies(
        "rows",
        found,
        None,
        n_distinct=_n_different(context, "synthetic", typical),
        n_expected=_n_different(context, "train", typical),
        form=form,
    )


def _is_close(distances: np.ndarray, others: np.ndarray, ratio: int = _RATIO) -> np.ndarray:
    """Return which distances are so much smaller than others that a row may be a near copy."""
    return np.asarray((others > 0.0) & (ratio * distances <= others))


def _to_holdout(context: Context, asked: np.ndarray, n_real: int) -> np.ndarray:
    """Return the distance of some real rows to the nearest holdout row, and infinity for others."""
    distances, n_train = np.full(n_real, np.inf), context.n_rows("train")
    if n_real == n_train:
        return distances
    index = reference_index(context, "holdout", "gower", None, None, 0)
    of_train, of_holdout = asked[asked < n_train], asked[asked >= n_train]
    distances[of_train] = index.kneighbors(encoded_matrix(context, "train")[of_train], 1)[0][:, 0]
    if n_real > n_train + 1:
        without_limit = np.full(of_holdout.size, np.inf)
        found, _ = index.others(of_holdout - n_train, 1, without_limit)
        distances[of_holdout] = found[:, 0]
    return distances


def _of_several(
    context: Context, is_copied: np.ndarray, is_train: np.ndarray, close: np.ndarray, chance: float
) -> Copied:
    """Return how many training rows have a changed copy, and the most that is expected."""
    n_train, n_holdout = (int(part.sum()) for part in (is_train, ~is_train))
    n, n_of_holdout = (int(is_copied[part].sum()) for part in (is_train, ~is_train))
    pairs = float(close[is_train].sum() / 2.0 + close[~is_train].sum())  # both training rows count
    exposure = ((n_train - 1.0) / 2.0 + n_holdout) / context.n_rows("synthetic")
    predicted, most = Repeats(pairs, exposure), 0
    if n_holdout:
        of_holdout = Repeats(n_of_holdout, n_holdout / n_train)
        predicted, most = predicted + of_holdout, of_holdout.bound(_DOUBT)
    return Copied(n, max(most, predicted.bound(chance)), repeats=predicted, chance=chance)


def _n_different(context: Context, role: str, close: float) -> int:
    """Return the number of different rows. Rows within a distance of each other count as one."""
    rows = encoded_matrix(context, role)[drawn_positions(context, role, _MAX_COMPARED, 0)]
    if close <= 0.0:
        return len(rows)
    within = index_of(context, rows, "gower").search.count_within(rows, np.nextafter(close, 0.0))
    return max(1, round(float((1.0 / np.maximum(within, 1)).sum())))
