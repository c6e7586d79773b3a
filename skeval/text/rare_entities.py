"""Rare entities of the real texts that synthetic texts repeat, and the test of their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import hypergeom

from skeval.core.context import Context, shared
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.stats.epsilon_bounds import Matched
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, list_contrast
from skeval.stats.multiple_testing import holm
from skeval.stats.permutation_tests import Relabelled
from skeval.steps.entities import Reading, mentions, row_groups, rows_read
from skeval.text.coincidences import Coincidence, coincidence
from skeval.text.weightings import weightings_contrast

REAL = ("train", "holdout")
_SCALE = 8  # times the smallest weight, because weights are rounded to integers
_MAX_TIMES = 1000  # maximum ratio of weights if there is one weighting


@dataclass(frozen=True)
class RareKeys:
    """Rare entities or phrases of the real texts that the synthetic texts repeat."""

    units: np.ndarray
    starts: np.ndarray
    train_only: np.ndarray
    holdout_only: np.ndarray
    types: np.ndarray
    weights: np.ndarray
    n_synthetic: int
    n_rare: tuple[int, int]

    @property
    def share(self) -> float:
        """Fraction of the synthetic entities that are rare and occur only in training texts."""
        return float(self.train_only.sum() / self.n_synthetic) if self.n_synthetic else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the fraction, or None if the synthetic texts have no entities."""
        n = self.n_synthetic
        return wilson(int(self.train_only.sum()), n) if n else None

    @property
    def recall(self) -> tuple[float, float]:
        """Fractions of the rare entities of only one table that are repeated."""
        n_repeated = int(self.train_only.sum()), int(self.holdout_only.sum())
        train, holdout = (
            k / n if n else float("nan") for k, n in zip(n_repeated, self.n_rare, strict=True)
        )
        return train, holdout

    def by_chance(self, evidence: Evidence) -> float:
        """Return the mean fraction over random assignments of the training documents."""
        if not self.n_synthetic:
            return 0.0
        n_each, how_many = np.unique(np.diff(self.starts), return_counts=True)
        n_real = evidence.n_train + evidence.n_holdout
        chances = hypergeom.pmf(n_each, n_real, n_each, evidence.n_train)
        return float(how_many @ chances) / self.n_synthetic

    def lists(self, weights: np.ndarray, chosen: np.ndarray) -> MatchLists:
        """Return the documents of some of the entities with integer weights."""
        least = max(weights[chosen].min(), weights[chosen].max() / _MAX_TIMES)
        whole = np.rint(_SCALE * np.maximum(weights / least, 1.0)).astype(np.int64)
        every = MatchLists(self.starts, self.units, whole, int(whole[chosen].sum()))
        return every.some(chosen)

    def test(
        self,
        sides: tuple[np.ndarray, np.ndarray],
        n_permutations: int,
        seed: int,
        chosen: np.ndarray,
    ) -> Relabelled:
        """Test the weights of training entities minus holdout entities by permutation."""
        settings: dict[str, Any] = {"n_permutations": n_permutations, "seed": seed}
        weights = self.weights[:, chosen]
        scaled = weights[weights.sum(axis=1) > 0]
        scaled = scaled / scaled.sum(axis=1, keepdims=True)
        lists = self.lists(self.weights[0], chosen)
        if np.allclose(scaled, scaled[0]):  # an exact test exists for a single weighting
            return list_contrast(lists, *sides, **settings)
        return weightings_contrast(lists, weights, *sides, **settings)


@dataclass(frozen=True)
class Evidence:
    """Rare entities and the phrases around them, and which documents were train."""

    windows: tuple[RareKeys, ...]
    in_train: np.ndarray
    in_holdout: np.ndarray
    n_real: int
    n_in_both: int

    @property
    def n_train(self) -> int:
        """Number of documents or groups that occur only in the training data."""
        return int(self.in_train.sum())

    @property
    def n_holdout(self) -> int:
        """Number of documents or groups that occur only in the holdout."""
        return int(self.in_holdout.sum())

    @property
    def match_counts(self) -> Matched:
        """Documents, or groups, with a rare entity that the synthetic texts repeat."""
        sides = self.in_train, self.in_holdout
        units = np.unique(self.windows[0].units)
        k_train, k_holdout = (int(side[units].sum()) for side in sides)
        return Matched(k_train, self.n_train, k_holdout, self.n_holdout)

    def warnings(self, group: str | None) -> tuple[MetricWarning, ...]:
        """Return warnings about skipped groups."""
        if not self.n_in_both:
            return ()
        n, verb = self.n_in_both, "stands" if self.n_in_both == 1 else "stand"
        said = f"{n:,} of the values of {group} {verb} in the training data and in the holdout"
        return (DegenerateInputWarning(f"{said}. The entities of their rows are ignored."),)

    def test(
        self, keys: RareKeys, n_permutations: int, seed: int, chosen: np.ndarray | None = None
    ) -> Relabelled:
        """Test the weighted training fraction of repeated entities by permutation."""
        chosen = np.ones(keys.types.size, dtype=np.bool_) if chosen is None else chosen
        if not chosen.any():
            return Relabelled(0.0, 0.0, 0.0, 1.0, 1.0)
        test = keys.test((self.in_train, self.in_holdout), n_permutations, seed, chosen)
        # The difference of the training and the holdout fraction. For entities of one document,
        # this is twice the training fraction minus one.
        return replace(
            test,
            observed=(1.0 + test.observed) / 2.0,
            mean=(1.0 + test.mean) / 2.0,
            spread=test.spread / 2.0,
        )

    def by_type(self, n_permutations: int, seed: int) -> dict[str, dict[str, float]]:
        """Return the test of each type of entities, the most significant first."""
        keys = self.windows[0]
        rows = {}
        for kind in np.unique(keys.types):
            chosen = keys.types == kind
            test = self.test(keys, n_permutations, seed, chosen)
            rows[str(kind)] = {
                "train": int(keys.train_only[chosen].sum()),
                "holdout": int(keys.holdout_only[chosen].sum()),
                "p_value": test.p_value,
            }
        adjusted = holm([row["p_value"] for row in rows.values()])
        for row, p_value in zip(rows.values(), adjusted, strict=True):
            row["p_adjusted"] = p_value
        return dict(sorted(rows.items(), key=lambda item: (item[1]["p_value"], item[0])))


@shared
def evidence_of(context: Context, reading: Reading, max_documents: int) -> Evidence:
    """Return the rare entities of the real texts that the synthetic texts repeat."""
    by_role = {role: mentions(context, reading, role) for role in (*REAL, "synthetic")}
    groups = row_groups(context, reading.group)
    units, number = np.unique(
        np.concatenate([groups[role][rows_read(context, reading, role)] for role in REAL]),
        return_inverse=True,
    )
    n_train = by_role["train"].n_rows
    stands = [np.bincount(part, minlength=units.size) > 0 for part in np.split(number, [n_train])]
    both = stands[0] & stands[1]
    in_train, in_holdout = ((side & ~both).astype(np.int64) for side in stands)
    real = [by_role[role] for role in REAL]
    unit = np.searchsorted(
        units, np.concatenate([groups[role][by_role[role].rows] for role in REAL])
    )
    types = np.concatenate([found.types for found in real])
    windows = tuple(
        rare_keys(
            np.concatenate([found.hashes[:, n] for found in real]),
            unit,
            types if n == 0 else None,
            by_role["synthetic"].hashes[:, n],
            (in_train, in_holdout),
            max_documents,
            partial(coincidence, context, reading) if n == 0 else None,
        )
        for n in range(1 + reading.n_windows)
    )
    n_real = np.unique(np.concatenate([found.hashes[:, 0] for found in real])).size
    return Evidence(windows, in_train, in_holdout, n_real, int(both.sum()))


def rare_keys(
    hashes: np.ndarray,
    unit: np.ndarray,
    types: np.ndarray | None,
    synthetic: np.ndarray,
    sides: tuple[np.ndarray, np.ndarray],
    max_documents: int,
    known: Callable[[np.ndarray, np.ndarray], Coincidence] | None = None,
) -> RareKeys:
    """Return keys that occur in at most `max_documents` real documents and in synthetic texts."""
    present = hashes != 0
    distinct, key = np.unique(hashes[present], return_inverse=True)
    pairs = np.unique(np.column_stack([key, unit[present]]), axis=0)
    key_of, unit_of = pairs.T
    n_each = np.bincount(key_of, minlength=distinct.size)
    in_train, in_holdout = (
        np.bincount(key_of, weights=side[unit_of], minlength=distinct.size) for side in sides
    )
    # a key in a document of both tables does not identify one of them
    rare = (n_each <= max_documents) & (in_train + in_holdout == n_each)
    own = rare & (in_train == n_each), rare & (in_holdout == n_each)
    others = np.unique(synthetic[synthetic != 0])
    repeated = rare & np.isin(distinct, others)
    kinds = np.zeros(distinct.size, dtype=np.str_)
    if types is not None:
        kinds = most_frequent(key, types[present], distinct.size)
    starts = np.concatenate([[0], np.cumsum(n_each[repeated])])
    units = unit_of[repeated[key_of]]
    weights = np.ones((1, int(repeated.sum())))
    if known is not None and weights.size:
        weights = known(distinct[repeated], kinds[repeated]).weightings()
    return RareKeys(
        units=units,
        starts=starts,
        train_only=own[0][repeated],
        holdout_only=own[1][repeated],
        types=kinds[repeated],
        weights=np.array([spread_out(row, units, starts) for row in weights]),
        n_synthetic=others.size,
        n_rare=(int(own[0].sum()), int(own[1].sum())),
    )


def spread_out(weights: np.ndarray, units: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return weights divided by the root of the number of large weights in the same document."""
    # Otherwise a document with twenty towns would dominate, because labels are permuted by
    # document.
    if not weights.size:
        return weights
    repeated = np.repeat(weights, np.diff(starts))
    totals, greatest = np.bincount(units, weights=repeated), np.zeros(int(units.max()) + 1)
    np.maximum.at(greatest, units, repeated)
    n_alike = np.where(greatest > 0, totals / np.where(greatest > 0, greatest, 1.0), 1.0)
    spread: np.ndarray = weights / np.sqrt(np.maximum.reduceat(n_alike[units], starts[:-1]))
    return spread


def most_frequent(key: np.ndarray, types: np.ndarray, n_keys: int) -> np.ndarray:
    """Return the most frequent type of each key, or the alphabetically first one for ties."""
    kinds, kind = np.unique(types, return_inverse=True)
    counts = np.zeros((n_keys, kinds.size), dtype=np.int64)
    np.add.at(counts, (key, kind), 1)
    named: np.ndarray = kinds[counts.argmax(axis=1)] if kinds.size else kinds
    return named


def join_windows(windows: Sequence[RareKeys]) -> RareKeys:
    """Return the phrases of several windows as one set."""
    lengths = np.concatenate([np.diff(keys.starts) for keys in windows])
    train, holdout = (sum(keys.n_rare[i] for keys in windows) for i in (0, 1))
    names = ("units", "train_only", "holdout_only", "types")
    return RareKeys(
        **{name: np.concatenate([getattr(keys, name) for keys in windows]) for name in names},
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        weights=np.concatenate([keys.weights for keys in windows], axis=1),
        n_synthetic=sum(keys.n_synthetic for keys in windows),
        n_rare=(train, holdout),
    )


def repeat_details(keys: RareKeys, test: Relabelled | None = None) -> dict[str, float]:
    """Return counts of repeated keys, and their test."""
    said: dict[str, float] = {
        "synthetic": keys.n_synthetic,
        "train": int(keys.train_only.sum()),
        "holdout": int(keys.holdout_only.sum()),
    }
    if test is not None:
        said |= {
            "share_of_train": test.observed,
            "expected": test.mean,
            "null_standard_error": test.spread,
            "p_value": test.p_value,
        }
    return said
