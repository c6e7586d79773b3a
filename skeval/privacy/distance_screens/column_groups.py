"""Groups of columns with separate distances."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import average, leaves_list, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from skeval.core.context import Context, shared
from skeval.exceptions import InvalidParameterError
from skeval.stats.association import cramers_v
from skeval.tables.preprocessing import Discretizer
from skeval.utils.parameters import Legal

_MANY_COLUMNS = 10  # tables with more columns are divided into groups
_N_OF_EACH = 3
_N_BINS, _MAX_CATEGORIES = 10, 50


def check_groups(groups: Sequence[Sequence[str]], chosen: tuple[str, ...]) -> None:
    """Refuse groups with a column that the distances do not use."""
    if unknown := dict.fromkeys(c for group in groups for c in group if c not in chosen):
        raise InvalidParameterError(
            f"DCRShare: column_groups contains {', '.join(unknown)}, which the distances do not "
            f"use. Valid columns: {', '.join(chosen)}."
        )


def are_groups(value: object) -> bool:
    """Return whether `value` is "auto" or a list of lists of column names."""
    if isinstance(value, str):
        return value == "auto"
    return _is_list(value) and all(
        _is_list(group) and all(isinstance(name, str) for name in group)
        for group in value  # type: ignore[attr-defined]
    )


ColumnGroups = Annotated[
    str | list[list[str]],
    Legal(
        "'auto' or a non-empty list of non-empty lists of column names",
        are_groups,
        ["a column", "another"],
    ),
]


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) > 0


@shared
def related_and_random(
    context: Context, names: tuple[str, ...], seed: int
) -> dict[str, tuple[str, ...]]:
    """Return three groups of related and three of random columns, or none for few columns."""
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
    """Return Cramer's V of all pairs of columns, 0 for constant columns."""
    # It uses the training and holdout data together, because tests that exchange the labels of
    # the rows are valid only if the groups do not depend on the labels.
    real = pd.concat(
        [context[role][list(names)] for role in ("train", "holdout")], ignore_index=True
    )
    cutter = Discretizer(_N_BINS, strategy="quantile", max_categories=_MAX_CATEGORIES).fit(real)
    columns = dict(zip(cutter.cells_, cutter.transform(real).T.astype(np.int64), strict=True))
    sizes = dict(zip(cutter.cells_, cutter.n_cells_.tolist(), strict=True))
    values = np.eye(len(names))
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        shape = sizes[first], sizes[second]
        joint = columns[first] * shape[1] + columns[second]
        table = np.bincount(joint, minlength=shape[0] * shape[1]).reshape(shape)
        values[i, j] = values[j, i] = np.nan_to_num(cramers_v(table))
    return values


def related_groups(associations: np.ndarray) -> list[np.ndarray]:
    """Divide columns into three groups of related columns."""
    apart = squareform(1.0 - associations, checks=False)
    order = leaves_list(optimal_leaf_ordering(average(apart), apart))
    n, least = order.size, max(2, order.size // 5)
    across = associations[order[:-1], order[1:]]
    cuts = min(
        ((a, b) for a in range(least, n - 2 * least + 1) for b in range(a + least, n - least + 1)),
        key=lambda cut: across[cut[0] - 1] + across[cut[1] - 1],
    )
    return np.split(order, cuts)
