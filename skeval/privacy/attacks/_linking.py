"""Which real rows have one synthetic row nearest to both of their parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL
from skeval.privacy.attacks._risks import Attack
from skeval.privacy.attacks._targets import n_targets, near_rows, nearest_synthetic, places, targets
from skeval.stats.risks import random_link_rate, scores_p_value
from skeval.steps import column_key, ranges

__all__ = ["linkability", "random_halves"]

Parts = tuple[tuple[str, ...], tuple[str, ...]]

_UNITS = 2.0**32  # the engine rounds sums of distances over columns to one part of it
_LISTED = 16  # rows near to both parts together that are looked at first
_PAIRS = 2**20  # held at once
_DRAWS = 20  # of halves, for each that is wanted


def random_halves(names: Sequence[str], n_splits: int, seed: int) -> list[Parts]:
    """Return random halves of the columns, none twice; they do not depend on the columns' order."""
    ordered, rng = sorted(names), np.random.default_rng(seed)
    found: dict[frozenset[tuple[str, ...]], Parts] = {}
    for _ in range(_DRAWS * n_splits):
        mixed = rng.permutation(len(ordered))
        middle = len(ordered) // 2
        first, second = (
            tuple(ordered[j] for j in sorted(part)) for part in (mixed[:middle], mixed[middle:])
        )
        found.setdefault(frozenset((first, second)), (first, second))
        if len(found) == n_splits:
            break
    return list(found.values())


def linkability(
    context: Context,
    splits: Sequence[Parts],
    n_neighbors: int,
    ties: str,
    *,
    n_attacks: int | None,
    seed: int,
) -> Attack:
    """Return how often both parts of a row lead to the same synthetic row, for each split."""
    n, n_synthetic = n_targets(context, n_attacks), context.n_rows("synthetic")
    k = min(n_neighbors, n_synthetic)
    links = np.stack([_links(context, parts, k, ties, n_attacks, seed) for parts in splits])
    train, holdout = links[:, :n], links[:, n:]
    return Attack(
        successes=tuple(float(count) for count in train.sum(axis=1)),
        n=n,
        control=tuple(float(count) for count in holdout.sum(axis=1)),
        n_control=n,
        guessed=n * random_link_rate(n_synthetic, k),
        n_guessed=n,
        p_value=scores_p_value(train.mean(axis=0), holdout.mean(axis=0), seed=seed),
        details={"n_splits": len(splits)},
    )


@shared
def _links(
    context: Context, parts: Parts, k: int, ties: str, n_attacks: int | None, seed: int
) -> np.ndarray:
    """Tell of each target whether a synthetic row is among the k nearest to both of its parts."""
    keys = [column_key(context.schema, part) for part in parts]
    near = [nearest_synthetic(context, key, k, n_attacks, seed) for key in keys]
    if ties == "first":
        return _in_common(near[0][1], near[1][1])
    radii = [_units(d[:, -1], len(p)) for (d, _), p in zip(near, parts, strict=True)]
    union = tuple(dict.fromkeys((*parts[0], *parts[1])))
    listed, found = nearest_synthetic(
        context, column_key(context.schema, union), 1 if k == 1 else _LISTED, n_attacks, seed
    )
    # what is near enough to both parts is no farther than this from the two together
    farthest = radii[0] + radii[1] + 1.0
    within = _units(listed, len(union)) <= farthest[:, None]
    if k == 1 and len(union) == len(parts[0]) + len(parts[1]):
        return within[:, 0]  # a sum is that of both least ones only if both are the least
    linked = _both_within(context, parts, radii, found, n_attacks, seed)
    linked = (linked & within).any(axis=1)
    unsure = np.flatnonzero(within[:, -1] & ~linked)  # there may be further rows as near
    everything = np.arange(context.n_rows("synthetic"))
    for chunk in np.array_split(unsure, -(-unsure.size * everything.size // _PAIRS) or 1):
        candidates = np.broadcast_to(everything, (chunk.size, everything.size))
        radii_here = [radius[chunk] for radius in radii]
        linked[chunk] = _both_within(
            context, parts, radii_here, candidates, n_attacks, seed, chunk
        ).any(axis=1)
    return linked


def _in_common(found: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Tell whether two lists of rows have one in common, list by list."""
    both = np.sort(np.concatenate([found, others], axis=1), axis=1)
    common: np.ndarray = (both[:, 1:] == both[:, :-1]).any(axis=1)
    return common


def _units(distances: np.ndarray, n_columns: int) -> np.ndarray:
    """Return sums over columns as the whole numbers that the engine rounds them to."""
    return np.rint(distances * n_columns * _UNITS)


def _both_within(
    context: Context,
    parts: Parts,
    radii: Sequence[np.ndarray],
    candidates: np.ndarray,
    n_attacks: int | None,
    seed: int,
    chosen: np.ndarray | slice = slice(None),
) -> np.ndarray:
    """Tell which candidates are near enough to both parts, shape (n_targets, n_candidates)."""
    near = np.ones(candidates.shape, dtype=np.bool_)
    for part, radius in zip(parts, radii, strict=True):
        key = column_key(context.schema, part)
        asked = targets(context, key, n_attacks, seed)[chosen]
        sums = _sums(context, part, asked, near_rows(context, key), candidates)
        near &= np.rint(sums * _UNITS) <= radius[:, None] + 1.0
    return near


def _sums(
    context: Context, part: Sequence[str], asked: np.ndarray, rows: np.ndarray, which: np.ndarray
) -> np.ndarray:
    """Return the sums over columns of differences between 0 and 1, as the engine has them."""
    there = places(context.schema)
    nominal, scales = context.schema.columns(*NOMINAL), ranges(context)
    total = np.zeros(which.shape)
    for j, name in enumerate(sorted(part, key=there.__getitem__)):
        a, b, scale = asked[:, j, None], rows[which, j], scales[there[name]]
        if name in nominal or scale < 1e-300:
            total += (a != b) & ~(np.isnan(a) & np.isnan(b))
            continue
        gap = np.minimum(np.abs(a - b) / scale, 1.0)
        total += np.where(np.isnan(gap), np.isnan(a) != np.isnan(b), gap)
    return total
