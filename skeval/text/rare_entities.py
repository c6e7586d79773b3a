"""Which rare entities of the real texts the synthetic ones repeat, and the test of their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import hypergeom

from skeval.context import Context, shared
from skeval.exceptions import DegenerateInputWarning, MetricWarning
from skeval.stats.intervals import wilson
from skeval.stats.matches import MatchLists, list_contrast
from skeval.stats.relabelling import Relabelled, holm
from skeval.steps.entities import Reading, mentions, row_groups, rows_read

REAL = ("train", "holdout")
_MOST_WORDS = 3  # of an entity: more count as so many
_SCALE = 8  # of the least weight: weights are rounded to whole numbers


@dataclass(frozen=True)
class RareKeys:
    """Rare entities, or phrases, of the real texts that the synthetic texts repeat.

    Parameters
    ----------
    units : ndarray
        Numbers of the documents, or groups, that mention them, one entity after the other.
    starts : ndarray of shape (n_repeated + 1,)
        Entity `i` has the slice ``starts[i]:starts[i + 1]``.
    train_only, holdout_only : ndarray of bool of shape (n_repeated,)
        Where these are.
    types : ndarray of str of shape (n_repeated,)
        Empty strings for phrases.
    weights : ndarray of shape (n_repeated,)
        The more, the more seldom synthetic texts repeat what is of its kind.
    n_synthetic : int
        Number of distinct entities of the synthetic texts.
    n_rare : tuple of (int, int)
        Number of rare entities that train alone has, and the holdout alone.
    """

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
        """Share of the synthetic texts' entities that are rare and of train alone."""
        return float(self.train_only.sum() / self.n_synthetic) if self.n_synthetic else 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's, of the share; None where the synthetic texts have no entity."""
        n = self.n_synthetic
        return wilson(int(self.train_only.sum()), n) if n else None

    @property
    def recall(self) -> tuple[float, float]:
        """Shares of the rare entities of either table alone that are repeated."""
        n_repeated = int(self.train_only.sum()), int(self.holdout_only.sum())
        train, holdout = (
            k / n if n else float("nan") for k, n in zip(n_repeated, self.n_rare, strict=True)
        )
        return train, holdout

    def by_chance(self, evidence: Evidence) -> float:
        """Return the share that random choices of what was train give on average."""
        if not self.n_synthetic:
            return 0.0
        n_each, how_many = np.unique(np.diff(self.starts), return_counts=True)
        n_real = evidence.n_train + evidence.n_holdout
        chances = hypergeom.pmf(n_each, n_real, n_each, evidence.n_train)
        return float(how_many @ chances) / self.n_synthetic

    def lists(self, chosen: np.ndarray | None = None) -> MatchLists:
        """Return the documents of each entity, or of some, with whole numbers as weights."""
        weights = np.rint(_SCALE * self.weights / self.weights.min()).astype(np.int64)
        chosen = np.ones(weights.size, dtype=np.bool_) if chosen is None else chosen
        every = MatchLists(self.starts, self.units, weights, int(weights[chosen].sum()))
        return every.some(chosen)


@dataclass(frozen=True)
class Evidence:
    """Rare entities and the phrases around them, and which documents were train.

    Parameters
    ----------
    windows : tuple of RareKeys
        Entities, then phrases of 1, 2, ... words on both sides.
    in_train, in_holdout : ndarray of int of shape (n_units,)
        1 where a document, or group, stands in the table. Groups of both are in neither.
    n_real : int
        Number of distinct entities of the real texts.
    n_in_both : int
        Number of groups that stand in both tables.
    """

    windows: tuple[RareKeys, ...]
    in_train: np.ndarray
    in_holdout: np.ndarray
    n_real: int
    n_in_both: int

    @property
    def n_train(self) -> int:
        """Number of documents, or groups, of train alone."""
        return int(self.in_train.sum())

    @property
    def n_holdout(self) -> int:
        """Number of documents, or groups, of the holdout alone."""
        return int(self.in_holdout.sum())

    def warnings(self, group: str | None) -> tuple[MetricWarning, ...]:
        """Say which groups are left out."""
        if not self.n_in_both:
            return ()
        n, verb = self.n_in_both, "stands" if self.n_in_both == 1 else "stand"
        said = f"{n:,} of the values of {group} {verb} in train and in the holdout: what"
        return (DegenerateInputWarning(f"{said} these rows mention is left out."),)

    def test(
        self, keys: RareKeys, n_permutations: int, seed: int, chosen: np.ndarray | None = None
    ) -> Relabelled:
        """Hold the weighted share of train among repeated entities against random relabellings."""
        if not keys.weights[... if chosen is None else chosen].size:
            return Relabelled(0.0, 0.0, 0.0, 1.0)
        lists, settings = keys.lists(chosen), {"n_permutations": n_permutations, "seed": seed}
        test = list_contrast(lists, self.in_train, self.in_holdout, **settings)
        # of train alone, less of the holdout alone: where an entity is of one document, that is
        # the share of train twice, less one
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
    """Return the rare entities of train and holdout that the synthetic texts repeat."""
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
    types, lengths = (
        np.concatenate([getattr(found, name) for found in real]) for name in ("types", "lengths")
    )
    windows = tuple(
        rare_keys(
            np.concatenate([found.hashes[:, n] for found in real]),
            unit,
            types if n == 0 else None,
            lengths if n == 0 else None,
            by_role["synthetic"].hashes[:, n],
            (in_train, in_holdout),
            max_documents,
        )
        for n in range(1 + reading.n_windows)
    )
    n_real = np.unique(np.concatenate([found.hashes[:, 0] for found in real])).size
    return Evidence(windows, in_train, in_holdout, n_real, int(both.sum()))


def rare_keys(
    hashes: np.ndarray,
    unit: np.ndarray,
    types: np.ndarray | None,
    lengths: np.ndarray | None,
    synthetic: np.ndarray,
    sides: tuple[np.ndarray, np.ndarray],
    max_documents: int,
) -> RareKeys:
    """Return what at most `max_documents` real documents mention, and synthetic texts too.

    Parameters
    ----------
    hashes, unit : ndarray of shape (n_mentions,)
        Of each mention in a real text, what it is (0 counts nothing) and in which document.
    types : ndarray of str of shape (n_mentions,) or None
        Its type; the most frequent one is that of the entity.
    lengths : ndarray of shape (n_mentions,) or None
        Words of the entity.
    synthetic : ndarray
        The hashes in synthetic texts.
    sides : tuple of (ndarray, ndarray)
        1 where a document stands in train alone, and in the holdout alone.
    max_documents : int
        How many documents mention what is rare.
    """
    present = hashes != 0
    distinct, key = np.unique(hashes[present], return_inverse=True)
    pairs = np.unique(np.column_stack([key, unit[present]]), axis=0)
    key_of, unit_of = pairs.T
    n_each = np.bincount(key_of, minlength=distinct.size)
    in_train, in_holdout = (
        np.bincount(key_of, weights=side[unit_of], minlength=distinct.size) for side in sides
    )
    # what a document of both tables mentions is nobody's alone
    rare = (n_each <= max_documents) & (in_train + in_holdout == n_each)
    own = rare & (in_train == n_each), rare & (in_holdout == n_each)
    others = np.unique(synthetic[synthetic != 0])
    repeated = rare & np.isin(distinct, others)
    kinds, stratum = np.zeros(distinct.size, dtype=np.str_), np.zeros(distinct.size, np.int64)
    if types is not None and lengths is not None:
        kinds = most_frequent(key, types[present], distinct.size)
        words = np.zeros(distinct.size, dtype=np.int64)
        np.maximum.at(words, key, lengths[present])
        stratum = np.unique(kinds, return_inverse=True)[1] * _MOST_WORDS
        stratum += np.clip(words, 1, _MOST_WORDS) - 1
    starts = np.concatenate([[0], np.cumsum(n_each[repeated])])
    units = unit_of[repeated[key_of]]
    return RareKeys(
        units=units,
        starts=starts,
        train_only=own[0][repeated],
        holdout_only=own[1][repeated],
        types=kinds[repeated],
        weights=spread_out(weights_of(stratum, rare, repeated)[repeated], units, starts),
        n_synthetic=others.size,
        n_rare=(int(own[0].sum()), int(own[1].sum())),
    )


def spread_out(weights: np.ndarray, units: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return weights over the root of the sum of those in the same document.

    A document that lists twenty towns would else decide alone: labels change document by document.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.text.rare_entities import spread_out
    >>> spread_out(np.ones(5), np.array([0, 0, 0, 0, 1]), np.arange(6)).tolist()
    [0.5, 0.5, 0.5, 0.5, 1.0]
    """
    if not weights.size:
        return weights
    totals = np.bincount(units, weights=np.repeat(weights, np.diff(starts)))
    spread: np.ndarray = weights / np.sqrt(np.maximum.reduceat(totals[units], starts[:-1]))
    return spread


def most_frequent(key: np.ndarray, types: np.ndarray, n_keys: int) -> np.ndarray:
    """Return the type that each key has most often, of equals the first in the alphabet.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.text.rare_entities import most_frequent
    >>> most_frequent(np.array([0, 0, 0, 1]), np.array(["ORG", "GPE", "ORG", "GPE"]), 2).tolist()
    ['ORG', 'GPE']
    """
    kinds, kind = np.unique(types, return_inverse=True)
    counts = np.zeros((n_keys, kinds.size), dtype=np.int64)
    np.add.at(counts, (key, kind), 1)
    named: np.ndarray = kinds[counts.argmax(axis=1)] if kinds.size else kinds
    return named


def weights_of(stratum: np.ndarray, rare: np.ndarray, repeated: np.ndarray) -> np.ndarray:
    """Return a weight for each entity: one over the share of its stratum that is repeated.

    Common names are repeated by chance, and full names hardly ever: if each has the same chance to
    leak, the sum with these weights stands out most from what is chance. Labels play no part.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.text.rare_entities import weights_of
    >>> stratum, every = np.array([0, 0, 0, 1, 1, 1]), np.ones(6, dtype=bool)
    >>> weights_of(stratum, every, np.array([1, 1, 1, 1, 0, 0], dtype=bool)).round(2).tolist()
    [1.14, 1.14, 1.14, 2.67, 2.67, 2.67]
    """
    n_rare = np.bincount(stratum, weights=rare)
    n_repeated = np.bincount(stratum, weights=repeated)
    weights: np.ndarray = ((n_rare + 1.0) / (n_repeated + 0.5))[stratum]
    return weights


def joined(windows: Sequence[RareKeys]) -> RareKeys:
    """Return the phrases of several windows as one set."""
    lengths = np.concatenate([np.diff(keys.starts) for keys in windows])
    train, holdout = (sum(keys.n_rare[i] for keys in windows) for i in (0, 1))
    return RareKeys(
        units=np.concatenate([keys.units for keys in windows]),
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        train_only=np.concatenate([keys.train_only for keys in windows]),
        holdout_only=np.concatenate([keys.holdout_only for keys in windows]),
        types=np.concatenate([keys.types for keys in windows]),
        weights=np.concatenate([keys.weights for keys in windows]),
        n_synthetic=sum(keys.n_synthetic for keys in windows),
        n_rare=(train, holdout),
    )


def described(keys: RareKeys, test: Relabelled | None = None) -> dict[str, float]:
    """Return counts of what is repeated, and the test of them."""
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
