"""The people that reconstruction attacks are tried on: codes of what is known of them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skeval.context import Context, shared
from skeval.preprocessing import NOMINAL, Cells, inner_edges, numbers
from skeval.privacy.attacks.membership_rows import drawing_order
from skeval.stats.disclosure import joint_classes

__all__ = ["People", "Secrets", "in_own_order", "people", "secrets", "seed_of"]

_MOST_LEVELS = 8
_ROLES = ("train", "holdout", "synthetic")


def seed_of(what: str, seed: int) -> int:
    """Return a seed of its own for each purpose."""
    return zlib.crc32(f"{what} {seed}".encode())


@shared
def in_own_order(context: Context, seed: int) -> Context:
    """Return a context whose synthetic rows stand in an order of their own, at random.

    Of equally near rows the first is found, which must not be a matter of how the rows came.
    """
    order = drawing_order(context, "synthetic", seed)
    return context.standing_in(context.synthetic.iloc[order].reset_index(drop=True))


# --------------------------------------------------------------------------------------- secrets


@dataclass(frozen=True)
class Secrets:
    """The secret of each row as a level.

    Attributes
    ----------
    levels : dict of str to ndarray of shape (n_rows,), int
        By role: 0 for the most common real level; -1 for missing, `n_levels` for what no real row
        has.
    n_levels : int
        Number of levels of the real rows.
    """

    levels: Mapping[str, np.ndarray]
    n_levels: int


@shared
def secrets(context: Context, secret: str) -> Secrets:
    """Return a column as levels: numbers and dates in two halves, rare categories as one level."""
    if context.schema.kinds[secret] in NOMINAL:
        codes = {role: context[role][secret].cat.codes.to_numpy(np.int64) for role in _ROLES}
    else:
        codes = _halves({role: numbers(context[role][[secret]]).ravel() for role in _ROLES})
    real = np.concatenate([codes[role] for role in ("train", "holdout")])
    counts = np.bincount(real[real >= 0], minlength=max(int(c.max()) for c in codes.values()) + 1)
    by_frequency = np.argsort(-counts, kind="stable")
    n_present = int((counts > 0).sum())
    n_levels = min(n_present, _MOST_LEVELS)
    level = np.full(counts.size + 1, -1)
    level[by_frequency] = np.minimum(np.arange(counts.size), n_levels - 1)
    level[by_frequency[n_present:]] = n_levels
    return Secrets({role: level[found] for role, found in codes.items()}, n_levels)


def _halves(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return 1 above, 0 up to what divides the real rows most evenly; -1 if missing."""
    real = np.concatenate([values[role] for role in ("train", "holdout")])
    distinct, counts = np.unique(real[~np.isnan(real)], return_counts=True)
    cut = np.inf
    if distinct.size > 1:
        shares = np.cumsum(counts)[:-1] / counts.sum()
        cut = distinct[np.abs(shares - 0.5).argmin()]
    return {
        role: np.where(np.isnan(found), -1, found > cut).astype(np.int64)
        for role, found in values.items()
    }


# ---------------------------------------------------------------------------------------- people


@dataclass(frozen=True)
class People:
    """A part of the population in which everybody is attacked: rows of the three tables.

    Attributes
    ----------
    rows : dict of str to ndarray
        By role, positions of rows whose secret is not missing: as many of train as of the holdout,
        in an order that is not that of the tables.
    codes : dict of str to ndarray of shape (n_rows, n_columns)
        What is known of them as whole numbers.
    """

    rows: Mapping[str, np.ndarray]
    codes: Mapping[str, np.ndarray]


@shared
def people(
    context: Context, columns: tuple[str, ...], secret: str, n_bins: int, max_rows: int, seed: int
) -> People:
    """Return the rows to attack: all, or those alike in a few columns where there are too many.

    Counts tell of single people only where everybody who is counted is known. A random sample of
    a large table would leave most of them out; a part that a range of values marks off leaves none.
    """
    levels = secrets(context, secret).levels
    kept = {role: np.flatnonzero(levels[role] >= 0) for role in _ROLES}
    codes = {role: _codes(context, role, columns, n_bins)[kept[role]] for role in _ROLES}
    rng = np.random.default_rng(seed_of("people", seed))
    inside = _part(codes, max_rows, rng)
    rows = {role: kept[role][inside[role]] for role in _ROLES}
    n_rows = min(max_rows, *(rows[role].size for role in ("train", "holdout")))
    for role in ("train", "holdout"):  # how well it goes depends on their number
        rows[role] = _drawn(context, role, rows[role], seed)[:n_rows]
    every = {role: _codes(context, role, columns, n_bins) for role in _ROLES}
    return People(rows, {role: every[role][rows[role]] for role in _ROLES})


def _part(
    codes: Mapping[str, np.ndarray], max_rows: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return which rows lie in a random range of the lexicographic order of the real rows."""
    n_train, n_holdout = (len(codes[role]) for role in ("train", "holdout"))
    fewest = min(n_train, n_holdout)
    if fewest <= max_rows:
        return {role: np.ones(len(part), dtype=np.bool_) for role, part in codes.items()}
    order = rng.permutation(codes["train"].shape[1])
    joint = joint_classes(np.concatenate([codes[role][:, order] for role in _ROLES]))
    keys = dict(zip(_ROLES, np.split(joint, [n_train, n_train + n_holdout]), strict=True))
    real = np.sort(np.concatenate([keys["train"], keys["holdout"]]))
    width = int(max_rows * real.size / fewest)
    start = int(rng.integers(real.size - width + 1))
    low, high = real[start], real[start + width - 1]
    return {role: (key >= low) & (key <= high) for role, key in keys.items()}


def _drawn(context: Context, role: str, rows: np.ndarray, seed: int) -> np.ndarray:
    place = np.empty(context.n_rows(role), dtype=np.int64)
    place[drawing_order(context, role, seed)] = np.arange(place.size)
    drawn: np.ndarray = rows[np.argsort(place[rows], kind="stable")]
    return drawn


def _codes(context: Context, role: str, columns: tuple[str, ...], n_bins: int) -> np.ndarray:
    """Return one code a value: categories as they are, numbers in bins; missing is one of them."""
    coded = np.empty((context.n_rows(role), len(columns)), dtype=np.int64)
    for j, name in enumerate(columns):
        if context.schema.kinds[name] in NOMINAL:
            coded[:, j] = context[role][name].cat.codes
        else:
            coded[:, j] = _bins(context, name, n_bins).codes(numbers(context[role][[name]]).ravel())
    return coded


@shared
def _bins(context: Context, column: str, n_bins: int) -> Cells:
    """Return bins of equal share of train and holdout together: edges must not tell them apart."""
    real = np.concatenate(
        [numbers(context[role][[column]]).ravel() for role in ("train", "holdout")]
    )
    edges = inner_edges(real[np.isfinite(real)], n_bins, "quantile")
    return Cells(0, edges=np.empty(0)) if edges is None else Cells(len(edges) + 1, edges=edges)
