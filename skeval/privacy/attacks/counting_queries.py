"""Counting queries on a few columns, and the sensitive attributes that explain the counts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity

from skeval.stats.joint_classes import joint_classes

_HALF = 0.5 - 1e-9  # one half with a tolerance for rounding


@dataclass(frozen=True)
class Queries:
    """Counts of records with given values in a few columns, and counts of the synthetic data."""

    members: csr_array
    matches: np.ndarray
    secrets: np.ndarray

    def answers(self, scaling: str, n_people: int, n_released: int) -> np.ndarray:
        """Return the estimated number of counted records in each category of the attribute."""
        if scaling == "share":
            return self.secrets * (n_people / n_released)
        counted = np.asarray(self.members.sum(axis=1)).ravel()
        return np.asarray(self.secrets * (counted / self.matches)[:, None])


def solve_counts(members: csr_array, answers: np.ndarray, solver: str = "highs-ipm") -> np.ndarray:
    """Return the fraction of each record that explains the counts of an attribute best."""
    # Source: C. Dwork, F. McSherry, K. Talwar, "The price of privacy and the limits of LP
    # decoding", STOC 2007, doi:10.1145/1250790.1250804.
    n_queries, n_people = members.shape
    surplus = identity(n_queries, format="csr")
    system = hstack([csr_array(members, dtype=np.float64), surplus, -surplus], format="csc")
    bounds = np.zeros((system.shape[1], 2))
    bounds[:n_people, 1], bounds[n_people:, 1] = 1.0, np.inf
    costs = np.repeat([0.0, 1.0], [n_people, 2 * n_queries])
    program = {"A_eq": system, "b_eq": answers, "bounds": bounds}
    solved = linprog(costs, method=solver, **program)
    if solved.x is None:  # a solution exists, and the slower simplex method finds it
        solved = linprog(costs, method="highs-ds", **program)
    return np.asarray(np.clip(solved.x[:n_people], 0.0, 1.0))


def guess_levels(
    queries: Queries, answers: np.ndarray, default: int, solver: str = "highs-ipm"
) -> np.ndarray:
    """Return the most likely category of the attribute for each kind of record."""
    # Each category is compared with all others, except the first of two categories. The guess is
    # the first category with the largest fraction.
    n_levels = answers.shape[1]
    counted = np.bincount(queries.members.indices, minlength=queries.members.shape[1]) > 0
    if n_levels == 2:
        guesses = (solve_counts(queries.members, answers[:, 1], solver) >= _HALF).astype(np.int64)
    else:
        solved = [solve_counts(queries.members, answer, solver) for answer in answers.T]
        guesses = np.argmax(np.round(solved, 9), axis=0)
    return np.where(counted, guesses, default)


def column_sets(n_columns: int, size: int, most: int, seed: int) -> list[tuple[int, ...]]:
    """Return all sets of `size` columns, or a random sample if there are too many."""
    size = min(size, n_columns)
    if comb(n_columns, size) <= most:
        return list(combinations(range(n_columns), size))
    rng = np.random.default_rng(seed)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < most:
        drawn.add(tuple(sorted(rng.choice(n_columns, size, replace=False).tolist())))
    return sorted(drawn)


def count_queries(
    people: np.ndarray,
    weights: np.ndarray,
    released: np.ndarray,
    secrets: np.ndarray,
    *,
    sets: list[tuple[int, ...]],
    n_levels: int,
    n_queries: int,
    n_min: int = 1,
    scaling: str = "conditional",
    seed: int = 0,
) -> Queries:
    """Return at most `n_queries` counts of records by their values in sets of columns."""
    parts = [
        _counts(people[:, columns], weights, released[:, columns], secrets, n_levels)
        for columns in map(list, sets)
    ]
    classes, *counts = zip(*parts, strict=True)
    counted, matches, levels = (np.concatenate(one) for one in counts)
    usable = np.flatnonzero((counted >= n_min) & ((matches > 0) | (scaling == "share")))
    if usable.size > n_queries:
        drawn = np.random.default_rng(seed).choice(usable.size, n_queries, replace=False)
        usable = usable[np.sort(drawn)]
    # the kinds of records that the usable queries count, with their numbers
    row_of = np.full(counted.size, -1)
    row_of[usable] = np.arange(usable.size)
    starts = np.cumsum([0, *(part.size for part in counts[0])])[:-1]
    rows = np.concatenate([row_of[start + own] for start, own in zip(starts, classes, strict=True)])
    kinds = np.tile(np.arange(weights.size), len(classes))
    where = rows[rows >= 0], kinds[rows >= 0]
    shape = (usable.size, weights.size)
    members = csr_array((weights[where[1]].astype(np.float64), where), shape=shape)
    return Queries(members, matches[usable], levels[usable])


def _counts(
    people: np.ndarray,
    weights: np.ndarray,
    released: np.ndarray,
    secrets: np.ndarray,
    n_levels: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the class of each kind of record, and the counts and categories of each class."""
    joint = joint_classes(np.concatenate([people, released]))
    of_people, of_released = joint[: len(people)], joint[len(people) :]
    present, classes = np.unique(of_people, return_inverse=True)
    place = np.full(int(joint.max()) + 1, -1)
    place[present] = np.arange(present.size)
    at, width = place[of_released], n_levels + 1
    shared_class = at >= 0
    cells = at[shared_class] * width + secrets[shared_class]
    table = np.bincount(cells, minlength=present.size * width).reshape(present.size, width)
    sizes = np.bincount(classes.ravel(), weights=weights, minlength=present.size)
    return classes.ravel(), sizes, table.sum(axis=1), table[:, :n_levels]
