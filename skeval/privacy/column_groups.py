"""Groups of columns in which a copy may hide: named, related, random."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import average, leaves_list, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from skeval.context import Context, shared
from skeval.preprocessing import Discretizer
from skeval.stats.association import cramers_v

__all__ = ["ColumnGroups", "related_and_random", "related_groups"]

_MANY_COLUMNS = 10  # up to so many are looked at all at once only
_N_OF_EACH = 3
_N_BINS, _MAX_CATEGORIES = 10, 50


@dataclass(frozen=True)
class ColumnGroups:
    """A choice of groups of columns: "auto", or a list of lists of names."""

    def accepts(self, value: object) -> bool:
        """Tell whether `value` chooses groups."""
        if isinstance(value, str):
            return value == "auto"
        return _is_list(value) and all(
            _is_list(group) and all(isinstance(name, str) for name in group)
            for group in value  # type: ignore[attr-defined]
        )

    def describe(self) -> str:
        """Name the choices."""
        return "'auto' or a non-empty list of non-empty lists of column names"

    def invalid_example(self) -> object:
        """Return names that are not in groups."""
        return ["a column", "another"]


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0


@shared
def related_and_random(
    context: Context, names: tuple[str, ...], seed: int
) -> dict[str, tuple[str, ...]]:
    """Return three groups of related and three of random columns; none of few columns.

    Parameters
    ----------
    context : Context
        With train and holdout.
    names : tuple of str
        The columns to group, more than 10 of them.
    seed : int
        Of the random groups.

    Returns
    -------
    dict of str to tuple of str
        The columns of each group; both kinds of groups divide all columns among three.
    """
    if len(names) <= _MANY_COLUMNS:
        return {}
    ordered = tuple(sorted(names))  # the order of the table must not matter
    shuffled = np.random.default_rng(seed).permutation(len(ordered))
    parts = {
        "related": related_groups(_associations(context, ordered)),
        "random": np.array_split(shuffled, _N_OF_EACH),
    }
    return {
        f"{kind} {i}": tuple(ordered[j] for j in part)
        for kind, groups in parts.items()
        for i, part in enumerate(groups, start=1)
    }


def _associations(context: Context, names: tuple[str, ...]) -> np.ndarray:
    """Return Cramer's V of all pairs of columns, 0 where a column does not vary.

    It is taken of train and holdout together: groups that depended on which rows were train would
    spoil tests that exchange the labels of the two.
    """
    real = pd.concat(
        [context[role][list(names)] for role in ("train", "holdout")], ignore_index=True
    )
    cutter = Discretizer(_N_BINS, strategy="quantile", max_categories=_MAX_CATEGORIES).fit(real)
    columns = dict(zip(cutter.cells_, cutter.transform(real).T.astype(np.int64), strict=True))
    sizes = dict(zip(cutter.cells_, cutter.n_cells_.tolist(), strict=True))
    found = np.eye(len(names))
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        shape = sizes[first], sizes[second]
        joint = columns[first] * shape[1] + columns[second]
        table = np.bincount(joint, minlength=shape[0] * shape[1]).reshape(shape)
        found[i, j] = found[j, i] = np.nan_to_num(cramers_v(table))
    return found


def related_groups(associations: np.ndarray) -> list[np.ndarray]:
    """Divide columns into three groups of related ones.

    Parameters
    ----------
    associations : ndarray of shape (n_columns, n_columns)
        Symmetric, in [0, 1], 1 on the diagonal; of at least 6 columns.

    Returns
    -------
    list of ndarray
        Positions of the columns of each group: runs of the leaves of an average-linkage clustering,
        cut where neighbours are least related. Each has two columns and a fifth of all at least,
        since rows of a column or two mostly tie.

    Examples
    --------
    >>> import numpy as np
    >>> from skeval.privacy.column_groups import related_groups
    >>> block = np.kron(np.eye(3), np.full((2, 2), 0.8)) + 0.2 * np.eye(6)
    >>> sorted(sorted(group.tolist()) for group in related_groups(block))
    [[0, 1], [2, 3], [4, 5]]
    """
    apart = squareform(1.0 - associations, checks=False)
    order = leaves_list(optimal_leaf_ordering(average(apart), apart))
    n, least = order.size, max(2, order.size // 5)
    across = associations[order[:-1], order[1:]]
    cuts = min(
        ((a, b) for a in range(least, n - 2 * least + 1) for b in range(a + least, n - least + 1)),
        key=lambda cut: across[cut[0] - 1] + across[cut[1] - 1],
    )
    return np.split(order, cuts)
