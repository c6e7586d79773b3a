"""Membership scores for an attacker without access to the generator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from skeval.privacy.attacks.shadow.features import Extractor
from skeval.privacy.attacks.shadow.game import ALL, Arena, Rules
from skeval.privacy.attacks.shadow.row_features import row_distances

_TIE = float(np.nextafter(0.5, 0.0))  # like people at large: no sign of the row


@dataclass(frozen=True)
class Onlooker:
    """A score for each value of a target, in the place of features.

    Attributes
    ----------
    extractor : Extractor
        Reads tables, and knows the targets.
    distances : ndarray of shape (n_targets, n_values)
        From each to the nearest of the attacker's rows.
    counts : ndarray of shape (n_targets, n_values, n_queries)
        How many of these agree with it.
    n_rows : int
        How many they are; of longer tables as many rows are looked at.
    """

    extractor: Extractor
    distances: np.ndarray
    counts: np.ndarray
    n_rows: int

    def __call__(self, table: pd.DataFrame, target: int) -> list[np.ndarray]:
        """Return the scores of the values of the target; for `ALL`, of each target."""
        rows = self.extractor.reader.rows(_spread(table, self.n_rows))
        wanted = range(len(self.distances)) if target == ALL else [target]
        return [self._scores(rows, i) for i in wanted]

    def _scores(self, rows: np.ndarray, target: int) -> np.ndarray:
        own, found = self.extractor, []
        for value, row in enumerate(own.targets[target]):
            scores = []
            if "query" in own.names:
                counts = own.queries.features(rows, row, own.domain)
                scores.append(agreement_share(counts, self.counts[target, value]))
            if "closest" in own.names:
                nearest = float(row_distances(rows, row, own.domain).min())
                scores.append(nearness_share(nearest, float(self.distances[target, value])))
            found.append(np.mean(scores))
        return np.array(found)


def _spread(table: pd.DataFrame, n_rows: int) -> pd.DataFrame:
    """Return so many rows from all over a table, which may be sorted."""
    if len(table) <= n_rows:
        return table
    return table.iloc[np.linspace(0, len(table) - 1, n_rows).astype(np.int64)]


def onlooker_of(extractor: Extractor, arena: Arena, rules: Rules, n_synthetic: int) -> Onlooker:
    """Return the scores of an attacker without a generator.

    Parameters
    ----------
    extractor : Extractor
        Of features that are about rows.
    arena : Arena
        With the attacker's rows.
    rules : Rules
        Which rows they know.
    n_synthetic : int
        Rows of a synthetic table.
    """
    known = [_known(arena, rules, i) for i in range(arena.n_targets)]
    n_rows = min(n_synthetic, *(rows.size for rows in known))
    distances, counts = [], []
    for i, places in enumerate(known):
        rows = extractor.reader.rows(arena.table.iloc[places[:n_rows]])
        targets, domain = extractor.targets[i], extractor.domain
        distances.append([row_distances(rows, row, domain).min() for row in targets])
        counts.append([extractor.queries.features(rows, row, domain) for row in targets])
    return Onlooker(extractor, np.array(distances), np.array(counts), n_rows)


def _known(arena: Arena, rules: Rules, target: int) -> np.ndarray:
    """Return the rows that an attacker has, in an order by chance."""
    if rules.knowledge == "exact":
        return arena.known(target)
    if rules.knowledge == "auxiliary":
        return arena.shadow_pool
    known, n_missing = arena.half_known(rules.known_share)
    mixed = np.append(known, arena.shadow_pool[:n_missing])
    return np.random.default_rng(rules.seed).permutation(mixed)


@dataclass(frozen=True)
class Unlearnt:
    """Goes by scores as they are, where a distinguisher or a classifier has learnt.

    Attributes
    ----------
    threshold : float
        Of scores of one value.
    """

    threshold: float = 0.5

    def scores(self, features: np.ndarray) -> np.ndarray:
        """Return the scores of tables."""
        found: np.ndarray = features[:, 0]
        return found

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return which value has the highest score."""
        found: np.ndarray = features.argmax(axis=1)
        return found


def nearness_share(to_rows: float, to_own: float) -> float:
    """Return how much nearer a row is to a synthetic table than to other rows of its population.

    Parameters
    ----------
    to_rows, to_own : float
        Distances to the nearest synthetic row, and to the nearest of the other rows.

    Returns
    -------
    float
        The latter as a share of both: 1 where the row stands in the synthetic table, just below
        1/2 where both are equal.

    Examples
    --------
    >>> from skeval.privacy.attacks.shadow.no_box import nearness_share
    >>> nearness_share(0.0, 0.5), nearness_share(0.25, 0.75), nearness_share(0.1, 0.1) < 0.5
    (1.0, 0.75, True)
    """
    return _TIE if to_rows == to_own else to_own / (to_rows + to_own)


def agreement_share(counts: np.ndarray, own: np.ndarray) -> float:
    """Return how much more synthetic rows agree with a row than others of its population do.

    Parameters
    ----------
    counts, own : ndarray of shape (n_queries,)
        The log of one plus the number of synthetic rows, and of other rows, that agree with it.

    Returns
    -------
    float
        In (0, 1): the logistic function of the mean difference, just below 1/2 where it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.attacks.shadow.no_box import agreement_share
    >>> own = np.log1p([1.0, 1.0])
    >>> round(agreement_share(np.log1p([2.0, 2.0]), own), 3), agreement_share(own, own) < 0.5
    (0.6, True)
    """
    difference = float(np.mean(counts - own))
    return _TIE if difference == 0.0 else float(expit(difference))
