"""Records whose sensitive attribute is reconstructed, with the attribute as categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skeval.core.context import Context, shared
from skeval.stats.joint_classes import joint_classes
from skeval.steps.member_rows import in_drawing_order
from skeval.steps.samples import named_seed
from skeval.tables.preprocessing import NOMINAL, Cells, inner_edges, numbers

_MAX_LEVELS = 8
_ROLES = ("train", "holdout", "synthetic")


@shared
def secrets(context: Context, secret: str) -> tuple[dict[str, np.ndarray], int]:
    """Return a column as categories, with numbers halved at a cut and rare categories pooled."""
    if context.schema.kinds[secret] in NOMINAL:
        codes = {role: context.column(role, secret).cat.codes.to_numpy(np.int64) for role in _ROLES}
    else:
        codes = _halves({role: numbers(context[role][[secret]]).ravel() for role in _ROLES})
    real = np.concatenate([codes[role] for role in ("train", "holdout")])
    counts = np.bincount(real[real >= 0], minlength=max(int(c.max()) for c in codes.values()) + 1)
    by_frequency = np.argsort(-counts, kind="stable")
    n_present = int((counts > 0).sum())
    n_levels = min(n_present, _MAX_LEVELS)
    level = np.full(counts.size + 1, -1)
    level[by_frequency] = np.minimum(np.arange(counts.size), n_levels - 1)
    level[by_frequency[n_present:]] = n_levels
    return {role: level[own] for role, own in codes.items()}, n_levels


def _halves(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return 1 above and 0 below the cut that divides the real rows most evenly, -1 if missing."""
    real = np.concatenate([values[role] for role in ("train", "holdout")])
    distinct, counts = np.unique(real[~np.isnan(real)], return_counts=True)
    cut = np.inf
    if distinct.size > 1:
        shares = np.cumsum(counts)[:-1] / counts.sum()
        cut = distinct[np.abs(shares - 0.5).argmin()]
    return {
        role: np.where(np.isnan(own), -1, own > cut).astype(np.int64)
        for role, own in values.items()
    }


@dataclass(frozen=True)
class People:
    """Attacked part of the population, as rows of the three tables."""

    rows: Mapping[str, np.ndarray]
    codes: Mapping[str, np.ndarray]
    secrets: Mapping[str, np.ndarray]
    n_levels: int

    @property
    def majority(self) -> int:
        """The most common level of the synthetic rows."""
        counts = np.bincount(self.secrets["synthetic"], minlength=self.n_levels)
        return int(counts[: self.n_levels].argmax())


@shared
def people(
    context: Context, columns: tuple[str, ...], secret: str, n_bins: int, max_rows: int, seed: int
) -> People:
    """Return the rows to attack: all, or a range of similar rows if there are too many."""
    # Counts identify single records only if all counted records are known. A random sample of a
    # large table does not contain most of them. A part that is defined by a range of values
    # contains all of them.
    levels, n_levels = secrets(context, secret)
    kept = {role: np.flatnonzero(levels[role] >= 0) for role in _ROLES}
    codes = {role: _codes(context, role, columns, n_bins) for role in _ROLES}
    rng = np.random.default_rng(named_seed("people", seed))
    inside = _part({role: codes[role][kept[role]] for role in _ROLES}, max_rows, rng)
    rows = {role: kept[role][inside[role]] for role in _ROLES}
    n_rows = min(max_rows, *(rows[role].size for role in ("train", "holdout")))
    for role in ("train", "holdout"):  # equal sizes, because the success depends on the size
        rows[role] = rows[role][in_drawing_order(context, role, rows[role], seed)[:n_rows]]
    known, hidden = ({role: one[role][rows[role]] for role in _ROLES} for one in (codes, levels))
    return People(rows, known, hidden, n_levels)


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


def _codes(context: Context, role: str, columns: tuple[str, ...], n_bins: int) -> np.ndarray:
    """Return a code for each value. Numbers are binned, and missing is a category."""
    coded = np.empty((context.n_rows(role), len(columns)), dtype=np.int64)
    for j, name in enumerate(columns):
        if context.schema.kinds[name] in NOMINAL:
            coded[:, j] = context.column(role, name).cat.codes
        else:
            coded[:, j] = _bins(context, name, n_bins).codes(numbers(context[role][[name]]).ravel())
    return coded


@shared
def _bins(context: Context, column: str, n_bins: int) -> Cells:
    """Return quantile bins of all real rows, so that training and holdout are treated equally."""
    real = np.concatenate(
        [numbers(context[role][[column]]).ravel() for role in ("train", "holdout")]
    )
    edges = inner_edges(real[np.isfinite(real)], n_bins, "quantile")
    return Cells(0, edges=np.empty(0)) if edges is None else Cells(len(edges) + 1, edges=edges)
