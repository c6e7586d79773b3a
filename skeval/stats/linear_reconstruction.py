"""A secret of everybody, solved from the counts that a release gives of groups of people."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity

from skeval.stats.disclosure import joint_classes

__all__ = ["Queries", "column_sets", "count_queries", "guess_levels", "solve_counts"]

_HALF = 0.5 - 1e-9  # what rounding leaves of one half


@dataclass(frozen=True)
class Queries:
    """Counts of people with given values in a few columns, and what the release says of them.

    Attributes
    ----------
    members : csr_array of shape (n_queries, n_people)
        How many of each kind of people a query counts.
    matches : ndarray of shape (n_queries,)
        How many released rows it counts.
    secrets : ndarray of shape (n_queries, n_levels)
        How many of these have each level of the secret.
    """

    members: csr_array
    matches: np.ndarray
    secrets: np.ndarray

    def answers(self, scaling: str, n_people: int, n_released: int) -> np.ndarray:
        """Return how many of the people counted seem to have each level of the secret.

        Parameters
        ----------
        scaling : {"conditional", "share"}
            The number of people that a query counts, times the share of the released rows it
            counts that have the level; or all people, times the share of the whole release.
        n_people, n_released : int
            Numbers of people, and of released rows.

        Returns
        -------
        ndarray of shape (n_queries, n_levels)
        """
        if scaling == "share":
            return self.secrets * (n_people / n_released)
        counted = np.asarray(self.members.sum(axis=1)).ravel()
        found: np.ndarray = self.secrets * (counted / self.matches)[:, None]
        return found


def solve_counts(members: csr_array, answers: np.ndarray, solver: str = "highs-ipm") -> np.ndarray:
    """Return who has a secret, as the shares that explain counts of it best.

    Parameters
    ----------
    members : sparse array of shape (n_queries, n_people)
        How many of each kind of people a query counts; 1 or 0 where each kind is one person.
    answers : ndarray of shape (n_queries,)
        How many of them have the secret, with errors.
    solver : {"highs-ipm", "highs-ds", "highs"}, default="highs-ipm"
        The method of :func:`scipy.optimize.linprog`.

    Returns
    -------
    ndarray of shape (n_people,)
        ``y`` in [0, 1] that minimises the sum of ``|members y - answers|``.

    References
    ----------
    C. Dwork, F. McSherry, K. Talwar, "The price of privacy and the limits of LP decoding", STOC
    2007, doi:10.1145/1250790.1250804.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from skeval.stats.linear_reconstruction import solve_counts
    >>> members = csr_array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    >>> solve_counts(members, np.array([1.0, 1.0, 2.0, 2.0])).round(6) + 0.0
    array([1., 0., 1., 1.])
    """
    n_queries, n_people = members.shape
    surplus = identity(n_queries, format="csr")
    system = hstack([csr_array(members, dtype=np.float64), surplus, -surplus], format="csc")
    bounds = np.zeros((system.shape[1], 2))
    bounds[:n_people, 1], bounds[n_people:, 1] = 1.0, np.inf
    costs = np.repeat([0.0, 1.0], [n_people, 2 * n_queries])
    found = linprog(costs, A_eq=system, b_eq=answers, bounds=bounds, method=solver)
    if found.x is None:  # there is a solution always; the simplex method finds it at some length
        found = linprog(costs, A_eq=system, b_eq=answers, bounds=bounds, method="highs-ds")
    shares: np.ndarray = np.clip(found.x[:n_people], 0.0, 1.0)
    return shares


def guess_levels(
    queries: Queries, answers: np.ndarray, default: int, solver: str = "highs-ipm"
) -> np.ndarray:
    """Return the level of the secret of each kind of people that the answers speak for.

    One level against all others, for each level but the first of two; the level with the largest
    share is guessed, the first of them where several are.

    Parameters
    ----------
    queries : Queries
        Who is counted.
    answers : ndarray of shape (n_queries, n_levels)
        How many of them have each level.
    default : int
        The guess for people whom no query counts.
    solver : {"highs-ipm", "highs-ds", "highs"}, default="highs-ipm"
        As in :func:`solve_counts`.

    Returns
    -------
    ndarray of shape (n_kinds,), int
    """
    n_levels = answers.shape[1]
    counted = np.bincount(queries.members.indices, minlength=queries.members.shape[1]) > 0
    if n_levels == 2:
        guesses = (solve_counts(queries.members, answers[:, 1], solver) >= _HALF).astype(np.int64)
    else:
        solved = [solve_counts(queries.members, answer, solver) for answer in answers.T]
        guesses = np.argmax(np.round(solved, 9), axis=0)
    return np.where(counted, guesses, default)


def column_sets(n_columns: int, size: int, most: int, seed: int) -> list[tuple[int, ...]]:
    """Return all sets of so many columns, or a random choice of them where there are too many.

    Examples
    --------
    >>> from skeval.stats.linear_reconstruction import column_sets
    >>> column_sets(3, 2, 10, 0)
    [(0, 1), (0, 2), (1, 2)]
    """
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
    """Return counts of people by their values in sets of columns, as many as are asked for.

    Parameters
    ----------
    people : ndarray of shape (n_kinds, n_columns)
        Whole numbers: what is known of each kind of people.
    weights : ndarray of shape (n_kinds,)
        How many people are of each kind.
    released : ndarray of shape (n_released, n_columns)
        The same columns of the release.
    secrets : ndarray of shape (n_released,)
        Level of the secret of each released row, from 0; `n_levels` for one that nobody has.
    sets : list of tuple of int
        The sets of columns whose values are counted.
    n_levels : int
        Number of levels.
    n_queries : int
        Number of queries at most; drawn at random where there are more.
    n_min : int, default=1
        Queries that count fewer people are left out.
    scaling : {"conditional", "share"}, default="conditional"
        Where "conditional", queries that count no released row are left out.
    seed : int, default=0
        Of the draw.

    Returns
    -------
    Queries
    """
    parts = [
        _of_set(people[:, columns], weights, released[:, columns], secrets, n_levels)
        for columns in map(list, sets)
    ]
    matches = np.concatenate([part.matches for part in parts])
    counted = np.concatenate([part.sizes for part in parts])
    usable = np.flatnonzero((counted >= n_min) & ((matches > 0) | (scaling == "share")))
    if usable.size > n_queries:
        drawn = np.random.default_rng(seed).choice(usable.size, n_queries, replace=False)
        usable = usable[np.sort(drawn)]
    levels = np.concatenate([part.secrets for part in parts])
    return Queries(_members(parts, weights, usable), matches[usable], levels[usable])


@dataclass(frozen=True)
class _Counts:
    """The queries of one set of columns: the class of each kind of people, and class counts."""

    classes: np.ndarray
    sizes: np.ndarray
    matches: np.ndarray
    secrets: np.ndarray


def _of_set(
    people: np.ndarray,
    weights: np.ndarray,
    released: np.ndarray,
    secrets: np.ndarray,
    n_levels: int,
) -> _Counts:
    joint = joint_classes(np.concatenate([people, released]))
    of_people, of_released = joint[: len(people)], joint[len(people) :]
    present, classes = np.unique(of_people, return_inverse=True)
    place = np.full(int(joint.max()) + 1, -1)
    place[present] = np.arange(present.size)
    at = place[of_released]
    found = at >= 0
    width = n_levels + 1
    table = np.bincount(at[found] * width + secrets[found], minlength=present.size * width)
    by_level = table.reshape(present.size, width)
    sizes = np.bincount(classes.ravel(), weights=weights, minlength=present.size)
    return _Counts(classes.ravel(), sizes, by_level.sum(axis=1), by_level[:, :n_levels])


def _members(parts: list[_Counts], weights: np.ndarray, usable: np.ndarray) -> csr_array:
    """Return which kinds of people the usable queries count, and how many of each."""
    starts = np.cumsum([0, *(part.sizes.size for part in parts)])
    row_of = np.full(starts[-1], -1)
    row_of[usable] = np.arange(usable.size)
    rows, columns = [], []
    for start, part in zip(starts[:-1], parts, strict=True):
        row = row_of[start + part.classes]
        rows.append(row[row >= 0])
        columns.append(np.flatnonzero(row >= 0))
    where = np.concatenate(rows), np.concatenate(columns)
    values = weights[where[1]].astype(np.float64)
    return csr_array((values, where), shape=(usable.size, weights.size))
